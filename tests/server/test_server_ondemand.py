"""Open OnDemand: a WSGI server runs the app as Passenger does, and a user works through it."""

import runpy
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import httpx
import psutil
import pytest
import yaml
from server_case import API, RECOMMEND, dataset, prepared, upload

import compass as cp
from compass.server.ondemand import Forward

APP = Path(__file__).parents[2] / "deploy" / "ondemand"
PREFIX = "/pun/sys/compass"


class Threads(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Silent(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def below(app: Any) -> Any:
    """The app where Open OnDemand has it: below a path of its own."""

    def placed(environ: dict[str, Any], start: Any) -> Any:
        environ["SCRIPT_NAME"] = PREFIX
        environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(PREFIX)
        return app(environ, start)

    return placed


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app under a WSGI server, twice as two processes of Passenger would have it."""
    folder = tmp_path_factory.mktemp("ondemand")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPASS_ONDEMAND", str(folder))
        apps = [runpy.run_path(str(APP / "passenger_wsgi.py"))["application"] for _ in range(2)]
    turns = iter(range(10**9))

    def either(environ: dict[str, Any], start: Any) -> Any:
        return below(apps[next(turns) % 2])(environ, start)

    with make_server("127.0.0.1", 0, either, Threads, Silent) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()
        serving.join()
    started = [
        one
        for one in psutil.process_iter(["cmdline"])
        if str(folder / "compass.sock") in (one.info["cmdline"] or [])
    ]
    assert len(started) == 1  # one server, however many processes handed requests on
    started[0].terminate()
    started[0].wait(120)
    assert not (folder / "compass.sock").exists()


def test_a_question_is_asked_through_it(portal: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with cp.connect(portal) as server:
        client = httpx.Client(
            base_url=portal,
            headers={"Compass-Workspace": server.workspace},
            timeout=120,
            trust_env=False,
        )
        with client:
            made = prepared(client, dataset(client))
        engine = server.engine(made)
        # Learning is followed by a stream that ends again and again, and by looking in between.
        answer = engine.ask(RECOMMEND)
        assert answer[0].settings
        assert not answer.pending


def test_it_is_below_a_path_and_the_page_too(portal: str) -> None:
    with httpx.Client(trust_env=False, timeout=120) as client:
        assert client.get(f"{portal}/healthz").json()["status"] == "ok"
        assert client.get(f"{portal}/").headers["content-type"].startswith("text/html")
        assert client.get(f"{portal}{API}/datasets").json()["code"] == "no-workspace"
        origin = portal.removesuffix(PREFIX)
        own = client.post(f"{portal}{API}/workspaces", headers={"Origin": origin})
        assert own.status_code == 201
        other = client.post(f"{portal}{API}/workspaces", headers={"Origin": "https://evil.example"})
        assert other.json()["code"] == "wrong-origin"
        client.headers["Compass-Workspace"] = own.json()["key"]
        client.base_url = httpx.URL(portal)
        assert upload(client, b"", name="empty.csv").status_code in {400, 422}


def test_a_server_that_does_not_start_is_told(tmp_path: Path) -> None:
    from wsgiref.util import setup_testing_defaults

    from a2wsgi import ASGIMiddleware

    app = ASGIMiddleware(Forward(tmp_path, str(tmp_path / "nothing.csv"), ()))
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    said: list[str] = []
    body = b"".join(app(environ, lambda status, _, __=None: said.append(status)))
    assert said[0].startswith("503")
    assert b"did not start" in body
    assert b"nothing.csv" in (tmp_path / "server.log").read_bytes()


def test_the_manifest_is_one_of_open_ondemand() -> None:
    manifest = yaml.safe_load((APP / "manifest.yml").read_text())
    assert {"name", "description", "category"} <= set(manifest)
    assert set(manifest) <= {"name", "description", "category", "subcategory", "icon"}
    assert (APP / "bin" / "python").stat().st_mode & 0o111
