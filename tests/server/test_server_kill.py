"""Ends that nobody chose, and one in good order: what was kept stays, nothing half is there.

One state lives through five servers: the first is killed amid an upload, a fit and two questions;
the second takes up what was left, and is told to stop; the next two are killed amid the same
learning.
"""

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_case import (
    API,
    RECONFIGURE,
    Server,
    answers,
    ask,
    dataset,
    gone,
    job_over,
    learnt,
    left_over,
    prepared,
    shared_engine,
    stages,
    start,
    until,
)

pytest_plugins = ("server_fixtures",)


@contextmanager
def running(source: Path, state: Path) -> Iterator[Server]:
    """A server that ends somehow."""
    server = start(source, state, "--limit", "ask_workers=1")
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
    before = len(left_over(server))
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(
            f"POST {API}/datasets/upload?name=half.csv HTTP/1.1\r\nHost: {host}\r\n"
            f"Compass-Workspace: {key}\r\nContent-Length: 100000\r\n\r\na,b\n1,2\n".encode()
        )
        until(lambda: len(left_over(server)) > before)
        yield


def fitting(client: httpx.Client, data: str, seconds: float, seed: int) -> dict[str, Any]:
    """Learning that has begun, and goes on for so long at least."""
    engine = prepared(client, data, tune=seconds, seed=seed)
    path = f"{API}/engines/{engine}/outcomes"
    job = client.post(path, params={"wait": 0}, json={"outcome": "runtime"}).json()
    return under_way(client, job["id"])


def under_way(client: httpx.Client, job: str) -> dict[str, Any]:
    def begun() -> Any:
        now = client.get(f"{API}/jobs/{job}").json()
        assert now["state"] in {"waiting", "running"}, now
        return now if now["stage"] else None

    return dict(until(begun))


def asking(client: httpx.Client) -> bool:
    """Whether a question is being answered."""
    jobs = client.get(f"{API}/jobs").json()
    return any(job["kind"] == "ask" and job["state"] == "running" for job in jobs)


@dataclass(frozen=True)
class Killed:
    """What a person had and was doing when the server was killed."""

    state: Path
    key: str
    data: str
    engine: str
    seen: dict[str, str]
    fit: dict[str, Any]
    question: dict[str, Any]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Killed:
    state = tmp_path_factory.mktemp("kept") / "state"
    with running(saved, state) as server, server.newcomer() as client:
        key = client.headers["Compass-Workspace"]
        engine = shared_engine(client)
        data = dataset(client, 120)
        answer = ask(client, engine).json()["id"]
        paths = (
            *("datasets", "engines", "answers", f"datasets/{data}/rows"),
            *(f"answers/{answer}", f"answers/{answer}/exports/csv"),
        )
        seen = {path: client.get(f"{API}/{path}").text for path in paths}
        fit = fitting(client, data, 2, seed=1)
        workers = server.workers()
        assert len(workers) == 2
        for worker in workers:
            worker.suspend()  # so that nothing ends before the server does
        question = ask(client, engine, RECONFIGURE, run=3, wait=0).json()
        with ThreadPoolExecutor(1) as aside, half_sent(server, key):
            cut_off = aside.submit(ask, client, engine, RECONFIGURE, run=4)
            until(lambda: len([j for j in client.get(f"{API}/jobs").json() if j["answer"]]) > 1)
            server.kill()
            with pytest.raises(httpx.TransportError):
                cut_off.result()
        until(lambda: gone(workers))
        assert len(left_over(server)) == 1  # half an upload
    return Killed(state, key, data, engine, seen, fit, question)


@pytest.fixture(scope="module")
def second(killed: Killed, saved: Path) -> Iterator[Server]:
    """The server that follows."""
    with running(saved, killed.state) as server:
        yield server


@pytest.fixture(scope="module")
def client(killed: Killed, second: Server) -> Iterator[httpx.Client]:
    with second.client(killed.key) as client:
        yield client


def test_a_question_whose_job_was_told_is_answered(client: httpx.Client, killed: Killed) -> None:
    done = job_over(client, killed.question["id"])
    assert done["state"] == "done"
    found = client.get(f"{API}/answers/{done['answer']}").json()
    assert found["answer"]["query"]["baseline"] == {"kind": "row", "row": 3}
    assert found == ask(client, killed.engine, RECONFIGURE, run=3).json()
    assert client.delete(f"{API}/answers/{done['answer']}").status_code == 204


def test_a_fit_is_taken_up_again_and_ends(client: httpx.Client, killed: Killed) -> None:
    assert job_over(client, killed.fit["id"])["state"] == "done"
    made = killed.fit["engine"]
    assert client.get(f"{API}/engines/{made}").json()["options"]["seed"] == 1
    answer = ask(client, made).json()
    assert answer["answer"]["suggestions"]
    assert client.delete(f"{API}/answers/{answer['id']}").status_code == 204
    assert client.delete(f"{API}/engines/{made}").status_code == 204


def test_everything_else_is_as_it_was(client: httpx.Client, second: Server, killed: Killed) -> None:
    assert second.events()[0]["resumed"] == 2
    job_over(client, killed.fit["id"])
    now = {path: client.get(f"{API}/{path}").text for path in killed.seen}
    assert now == killed.seen
    assert left_over(second) == []


def test_a_working_process_that_dies_is_replaced(
    client: httpx.Client, second: Server, killed: Killed
) -> None:
    job_over(client, killed.fit["id"])
    workers = second.workers()
    for worker in workers:
        worker.suspend()
    with ThreadPoolExecutor(1) as aside:
        asked = aside.submit(ask, client, killed.engine, seed=2)
        until(lambda: asking(client))
        for worker in workers:
            worker.kill()
        told = asked.result()
    assert (told.status_code, told.json()["code"]) == (503, "worker-ended")
    assert "from outside by signal 9 (SIGKILL)" in told.json()["error"]
    assert "more memory" not in told.text  # it was not that
    assert ask(client, killed.engine, seed=2).status_code == 200


@pytest.fixture(scope="module")
def left(client: httpx.Client, second: Server, killed: Killed) -> dict[str, Any]:
    """A fit that was under way when the second server was told to stop."""
    job_over(client, killed.fit["id"])
    assert ask(client, killed.engine, seed=3).status_code == 200
    job = fitting(client, killed.data, 600, seed=4)
    workers = second.workers()
    for worker in workers:
        worker.suspend()
    with ThreadPoolExecutor(1) as aside:
        stream = stages(client, job["id"])
        assert next(stream)["state"] == "running"
        asked = aside.submit(ask, client, killed.engine, seed=5)
        until(lambda: asking(client))
        second.process.send_signal(signal.SIGTERM)
        until(lambda: not answers(second))
        assert second.process.poll() is None  # a question is still to be answered
        for worker in workers:
            worker.resume()
        assert asked.result().status_code == 200
        assert [one["state"] for one in stream][-1] == "running"  # the stream ends, the job not
    assert second.process.wait(120) == 0
    assert gone(workers)
    return job


def test_it_stops_in_good_order(second: Server, killed: Killed, left: dict[str, Any]) -> None:
    assert second.events()[-1]["event"] == "stopped"
    stored = killed.state / "workspaces" / killed.key.partition(".")[0] / "jobs" / left["id"]
    text = (stored / "about.json").read_text()
    # The next server takes it up, and that it was stopped is not held against it.
    assert '"state":"running"' in text
    assert '"attempts":0' in text


def test_a_fit_that_is_killed_twice_is_given_up(
    killed: Killed, left: dict[str, Any], saved: Path
) -> None:
    for _ in range(2):
        with running(saved, killed.state) as server, server.client(killed.key) as person:
            assert server.events()[0]["resumed"] == 1
            under_way(person, left["id"])
            workers = server.kill()
            until(lambda: gone(workers))  # noqa: B023 - called within this turn
    with running(saved, killed.state) as server, server.client(killed.key) as person:
        assert server.events()[0]["resumed"] == 0
        failed = person.get(f"{API}/jobs/{left['id']}").json()
        assert failed["state"] == "failed"
        assert failed["problem"]["code"] == "interrupted"
        assert learnt(person, left["engine"]) == []
        for path in ("datasets", f"datasets/{killed.data}", "engines"):
            assert person.get(f"{API}/{path}").status_code == 200
        kept = [path for path in killed.seen if path.startswith("answers/")]
        assert {p: person.get(f"{API}/{p}").text for p in kept} == {p: killed.seen[p] for p in kept}
        assert left_over(server) == []
        assert server.stop() == 0
