"""Ends that nobody chose, and one in good order: what was kept stays, nothing half is there."""

import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_case import (
    API,
    QUICK,
    RECONFIGURE,
    Server,
    answers,
    ask,
    dataset,
    gone,
    job_over,
    left_over,
    shared_engine,
    stages,
    start,
    until,
)

pytest_plugins = ("server_fixtures",)
ONE_ASKER = ("--limit", "askers=1")


@dataclass(frozen=True)
class Kept:
    """What a person had before anything went wrong."""

    state: Path
    key: str
    data: str
    answer: str
    seen: dict[str, Any]


VIEWS = ("datasets", "engines", "answers", "workspaces/mine")


def seen_by(client: httpx.Client, kept: "Kept | None" = None, **ids: str) -> dict[str, Any]:
    data = kept.data if kept else ids["data"]
    answer = kept.answer if kept else ids["answer"]
    paths = (*VIEWS, f"datasets/{data}/rows", f"answers/{answer}", f"answers/{answer}/exports/csv")
    return {path: client.get(f"{API}/{path}").text for path in paths}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Kept:
    """A state with a dataset and an answer; its server was killed as it stood."""
    state = tmp_path_factory.mktemp("kept") / "state"
    with running(saved, state) as server, server.newcomer() as client:
        engine = shared_engine(client)
        data = dataset(client, 120)
        answer = ask(client, engine).json()["id"]
        seen = seen_by(client, data=data, answer=answer)
        key = client.headers["Compass-Workspace"]
        workers = server.kill()
        until(lambda: gone(workers))
    return Kept(state, key, data, answer, seen)


@pytest.fixture
def kept(before: Kept, tmp_path: Path) -> Kept:
    """The same, to be spoilt."""
    shutil.copytree(before.state, tmp_path / "state")
    return Kept(tmp_path / "state", before.key, before.data, before.answer, before.seen)


@contextmanager
def running(source: Path, state: Path) -> Iterator[Server]:
    """A server that ends somehow."""
    server = start(source, state, *ONE_ASKER)
    try:
        yield server
    finally:
        for worker in server.workers() if server.process.poll() is None else ():
            worker.kill()
        server.process.kill()
        server.process.wait()
        assert server.process.stdout is not None
        server.process.stdout.close()


@contextmanager
def half_sent(server: Server, key: str) -> Iterator[None]:
    """An upload that is on its way."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(
            f"POST {API}/datasets/upload?name=half.csv HTTP/1.1\r\nHost: {host}\r\n"
            f"Compass-Workspace: {key}\r\nContent-Length: 100000\r\n\r\na,b\n1,2\n".encode()
        )
        until(lambda: left_over(server))
        yield


def halt(server: Server) -> Callable[[], None]:
    """Make all working processes stand still; what makes them go on."""
    workers = server.workers()
    assert workers
    for worker in workers:
        worker.suspend()
    return lambda: [worker.resume() for worker in workers] and None


def slow_fit(client: httpx.Client, data: str, seconds: float, seed: int) -> dict[str, Any]:
    """A fit that has begun, and goes on for so long at least."""
    asked = {"dataset": data, **QUICK, "tune": seconds, "seed": seed}
    job = client.post(f"{API}/engines", params={"wait": 0}, json=asked).json()
    return under_way(client, job["id"])


def under_way(client: httpx.Client, job: str) -> dict[str, Any]:
    def begun() -> Any:
        now = client.get(f"{API}/jobs/{job}").json()
        assert now["state"] in {"waiting", "running"}, now
        return now if now["stage"] else None

    return dict(until(begun))


def test_killed_amid_an_upload_and_questions(kept: Kept, saved: Path) -> None:
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        engine = shared_engine(client)
        assert seen_by(client, kept) == kept.seen
        assert ask(client, engine, seed=1).status_code == 200
        known = seen_by(client, kept)
        halt(server)
        later = ask(client, engine, RECONFIGURE, run=3, wait=0).json()
        with (
            ThreadPoolExecutor(1) as aside,
            half_sent(server, kept.key),
        ):
            waiting = aside.submit(ask, client, engine, RECONFIGURE, run=4)
            until(lambda: len(client.get(f"{API}/jobs").json()) >= 2)
            workers = server.kill()
            with pytest.raises(httpx.TransportError):
                waiting.result()
        until(lambda: gone(workers))
        assert left_over(server)
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        # The question whose job was handed out is answered; the one that was cut off is nowhere.
        assert job_over(client, later["id"])["state"] == "done"
        found = client.get(f"{API}/answers/{later['answer']}").json()
        assert found == ask(client, engine, RECONFIGURE, run=3).json()
        assert client.delete(f"{API}/answers/{later['answer']}").status_code == 204
        now = seen_by(client, kept)
        now.pop("workspaces/mine")  # it counts the job, too
        assert now == {path: text for path, text in known.items() if path in now}
        assert left_over(server) == []
        again = ask(client, engine, seed=1).json()
        assert again["answer"]["suggestions"]
        assert server.stop() == 0


def test_killed_amid_fits(kept: Kept, saved: Path) -> None:
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        shared_engine(client)
        first = slow_fit(client, kept.data, 3, seed=1)
        halt(server)
        workers = server.kill()
        until(lambda: gone(workers))
        assert left_over(server)
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        assert server.events()[0]["resumed"] == 1
        assert left_over(server) or client.get(f"{API}/jobs/{first['id']}").json()
        assert job_over(client, first["id"])["state"] == "done"
        engine = client.get(f"{API}/engines/{first['engine']}").json()
        assert engine["options"]["seed"] == 1
        answer = ask(client, first["engine"]).json()
        second = slow_fit(client, kept.data, 600, seed=2)
        server.kill()
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        under_way(client, second["id"])
        server.kill()
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        assert server.events()[0]["resumed"] == 0
        failed = client.get(f"{API}/jobs/{second['id']}").json()
        assert failed["state"] == "failed"
        assert failed["problem"]["code"] == "interrupted"
        assert client.get(f"{API}/engines/{second['engine']}").status_code == 404
        assert client.get(f"{API}/engines/{first['engine']}").json() == engine
        assert client.get(f"{API}/answers/{answer['id']}").json() == answer
        assert client.get(f"{API}/answers/{kept.answer}").text == kept.seen[f"answers/{kept.answer}"]
        assert left_over(server) == []
        assert server.stop() == 0


def test_a_working_process_that_dies_is_replaced(kept: Kept, saved: Path) -> None:
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        engine = shared_engine(client)
        assert ask(client, engine, seed=1).status_code == 200
        (asker,) = server.workers()
        asker.suspend()
        with ThreadPoolExecutor(1) as aside:
            waiting = aside.submit(ask, client, engine, seed=2)
            until(lambda: any(j["kind"] == "ask" for j in client.get(f"{API}/jobs").json()))
            asker.kill()
            assert waiting.result().json()["code"] == "too-large"
        assert ask(client, engine, seed=2).status_code == 200
        job = slow_fit(client, kept.data, 600, seed=3)
        for worker in server.workers():
            worker.kill()
        failed = job_over(client, job["id"])
        assert failed["state"] == "failed"
        assert "working process" in failed["problem"]["error"]
        assert left_over(server) == []
        assert ask(client, engine, seed=3).status_code == 200
        assert server.stop() == 0


def test_it_stops_in_good_order(kept: Kept, saved: Path) -> None:
    with running(saved, kept.state) as server, server.client(kept.key) as client:
        engine = shared_engine(client)
        assert ask(client, engine, seed=1).status_code == 200
        job = slow_fit(client, kept.data, 600, seed=4)
        go_on = halt(server)
        with ThreadPoolExecutor(2) as aside:
            stream = stages(client, job["id"])
            assert next(stream)["state"] == "running"
            asked = aside.submit(ask, client, engine, seed=2)
            until(lambda: any(j["kind"] == "ask" for j in client.get(f"{API}/jobs").json()))
            workers = server.workers()
            server.process.send_signal(signal.SIGTERM)
            until(lambda: not answers(server))
            assert server.process.poll() is None
            go_on()
            assert asked.result().status_code == 200
            assert [one["state"] for one in stream][-1] == "running"  # it ends, the job does not
        assert server.process.wait(60) == 0
        until(lambda: gone(workers))
        assert server.events()[-1]["event"] == "stopped"
    # The fit is left to the next server, and that it was stopped is not held against it.
    stored = next((kept.state / "workspaces").glob(f"*/jobs/{job['id']}/about.json")).read_text()
    assert '"attempts":0' in stored
    assert '"state":"running"' in stored
