"""The page: how its files are served, who may load them, and what is said where it is not built."""

import asyncio
import gzip
import tempfile
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from compass.server import page
from compass.server.app import create_app
from compass.server.document import document
from compass.server.settings import ServerSettings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of two files."""
    place = tmp_path / "page"
    build(place)
    monkeypatch.setattr(page, "BUILT", place)
    return place


def build(place: Path) -> None:
    (place / "assets").mkdir(parents=True)
    (place / "index.html").write_text("<!doctype html><title>Compass</title>")
    (place / "assets" / "index-abc.js").write_text("1")
    (place / "secret.txt").write_text("not of the page")


def asked(
    state: Path, path: str, token: str | None = None, encoding: str = "gzip"
) -> httpx.Response:
    secret = None if token is None else SecretStr(token)
    fresh = Path(tempfile.mkdtemp(dir=state))  # one server each: they do not share a state
    return asked_of(create_app(ServerSettings(state=fresh / "state", token=secret)), path, encoding)


def asked_of(app: FastAPI, path: str, encoding: str = "gzip") -> httpx.Response:
    async def ask() -> httpx.Response:
        inside = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=inside, base_url="http://localhost") as client:
            return await client.get(path, headers={"Accept-Encoding": encoding})

    return asyncio.run(ask())


@pytest.mark.usefixtures("built")
def test_the_page_is_at_the_root_and_asked_for_anew(tmp_path: Path) -> None:
    found = asked(tmp_path, "/")
    assert found.status_code == 200
    assert found.headers["content-type"].startswith("text/html")
    assert found.headers["cache-control"] == "no-cache"
    assert "script-src" not in found.headers["content-security-policy"]
    assert found.headers["content-security-policy"].startswith("default-src 'self';")


@pytest.mark.usefixtures("built")
def test_files_named_after_their_content_are_kept_for_good(tmp_path: Path) -> None:
    found = asked(tmp_path, "/assets/index-abc.js")
    assert found.status_code == 200
    assert "javascript" in found.headers["content-type"]
    assert "immutable" in found.headers["cache-control"]
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_compressed_file_goes_to_browsers_that_take_it(built: Path, tmp_path: Path) -> None:
    (built / "assets" / "index-abc.js.gz").write_bytes(gzip.compress(b"packed"))
    packed = asked(tmp_path, "/assets/index-abc.js", encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip"
    assert "javascript" in packed.headers["content-type"]
    assert packed.text == "packed"
    plain = asked(tmp_path, "/assets/index-abc.js", encoding="identity")
    assert "content-encoding" not in plain.headers
    assert plain.text == "1"


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    "path",
    ["/assets/nothing.js", "/secret.txt", "/assets/../secret.txt", "/assets/%2e%2e/secret.txt"],
)
def test_nothing_else_is_served(tmp_path: Path, path: str) -> None:
    found = asked(tmp_path, path)
    assert found.status_code == 404
    assert found.json()["code"] == "http"


@pytest.mark.usefixtures("built")
def test_the_page_needs_no_token_and_everything_else_does(tmp_path: Path) -> None:
    token = "a-long-token"
    assert asked(tmp_path, "/", token).status_code == 200
    assert asked(tmp_path, "/assets/index-abc.js", token).status_code == 200
    for path in ("/api/v1/about", "/openapi.json", "/metrics"):
        assert asked(tmp_path, path, token).json()["code"] == "no-token"


def test_without_the_page_the_server_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "BUILT", tmp_path / "nothing")
    found = asked(tmp_path, "/")
    assert found.status_code == 404
    for part in ("make page", "Node.js", "compass ask --server http://localhost"):
        assert part in found.text
    assert asked(tmp_path, "/api/v1/about").status_code == 200


def test_a_page_that_is_built_while_the_server_runs_is_served_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "page"
    monkeypatch.setattr(page, "BUILT", place)
    app = create_app(ServerSettings(state=tmp_path / "state"))
    for path in ("/", "/assets/index-abc.js"):
        assert asked_of(app, path).status_code == 404
    build(place)
    for path in ("/", "/assets/index-abc.js"):
        assert asked_of(app, path).status_code == 200


def test_the_document_names_every_operation_once_and_no_machine() -> None:
    told = document()
    names = [one["operationId"] for path in told["paths"].values() for one in path.values()]
    assert len(names) == len(set(names)) > 40
    assert {"datasets_upload", "engines_points", "answers_ask", "jobs_cancel"} <= set(names)
    assert told == document()
    assert "/" not in told["paths"]
