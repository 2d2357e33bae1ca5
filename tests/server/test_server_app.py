"""Faults and full disks, which no request can bring about on purpose."""

import asyncio
import json
import logging
from pathlib import Path

import httpx
import pytest

from compass.server import logs
from compass.server.app import create_app
from compass.server.problems import Refused
from compass.server.settings import ServerSettings

pytest_plugins = ("server_fixtures",)
SECRET = "zxqv"


async def _boom() -> None:
    raise KeyError(SECRET)


async def _full() -> None:
    raise OSError(28, "No space left on device", f"/home/{SECRET}")


async def _endless() -> None:
    await asyncio.Event().wait()


async def _late() -> None:
    raise Refused(503, "busy", "later", hint="wait", retry_after=7)


def asked(tmp_path: Path, path: str) -> httpx.Response:
    app = create_app(ServerSettings(state=tmp_path / "state"))
    app.add_api_route("/boom", _boom)
    app.add_api_route("/full", _full)
    app.add_api_route("/late", _late)
    app.add_api_route("/endless", _endless)

    async def ask() -> httpx.Response:
        inside = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=inside, base_url="http://localhost") as client:
            asking = asyncio.create_task(client.get(path))
            if path == "/endless":  # as a server does that stops and has waited long enough
                await asyncio.sleep(0.1)
                asking.cancel()
            return await asking

    answer = asyncio.run(ask())
    app.state.service.store.close()
    return answer


@pytest.mark.parametrize(
    ("path", "status", "code", "wait"),
    [
        ("/boom", 500, "fault", None),
        ("/full", 503, "disk", "60"),
        ("/late", 503, "busy", "7"),
        ("/endless", 503, "closing", "5"),
        ("/nowhere", 404, "http", None),
    ],
)
def test_failures_have_one_shape(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    logged: None,
    path: str,
    status: int,
    code: str,
    wait: str | None,
) -> None:
    logs.configure()
    answer = asked(tmp_path, path)
    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert answer.json()["hint"]
    assert answer.headers.get("retry-after") == wait
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" in answer.headers
    # The operator learns what kind of fault and where; nobody learns what it was about.
    said = capsys.readouterr().err
    assert SECRET not in said + answer.text
    told = [json.loads(line) for line in said.splitlines()]
    faults = [one["fault"] for one in told if "fault" in one]
    if path == "/boom":
        assert faults[0].startswith("KeyError at test_server_app.py:")
        assert faults[0].endswith("in _boom")
    assert [one["status"] for one in told if one["event"] == "request"] == [status]


def test_other_libraries_are_logged_by_name_only(
    capsys: pytest.CaptureFixture[str], logged: None
) -> None:
    logs.configure()
    logging.getLogger("asyncio").error("Task exception: KeyError(%r)", SECRET)
    logging.getLogger("some.library").warning(f"column {SECRET} is odd")
    logging.getLogger("uvicorn.error").error("Exception in %s\n", SECRET)
    said = capsys.readouterr().err
    assert SECRET not in said
    events = [json.loads(line)["event"] for line in said.splitlines()]
    assert events == ["asyncio", "some.library", "Exception in %s"]
