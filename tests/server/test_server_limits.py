"""What a server allows: each limit has a clear answer, and the server goes on."""

import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from server_case import (
    API,
    NOTHING,
    RECOMMEND,
    Server,
    ask,
    csv_of,
    gone,
    job_over,
    left_over,
    serving,
    shared_engine,
    until,
    upload,
)

from compass.server.sizes import size_of

pytest_plugins = ("server_fixtures",)


def limits(**values: Any) -> list[str]:
    return [word for name, value in values.items() for word in ("--limit", f"{name}={value}")]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Iterator[Server]:
    """A server that allows very little."""
    allowed = limits(
        upload_bytes="64KiB",
        body_bytes="4KiB",
        rows=300,
        columns=12,
        cells=2000,
        memory_bytes="1GiB",
        idle_seconds=0.5,
        ask_workers=1,
        waiting=4,
        waiting_per_workspace=3,
        workspaces=7,
        address_share=1,
        workspace_bytes="96KiB",
    )
    with serving(saved, tmp_path_factory.mktemp("strict") / "state", *allowed) as running:
        with running.newcomer() as client:
            shared_engine(client)
        yield running


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Iterator[Server]:
    """A server that gives a question half a minute, in which a process starts on a busy machine."""
    allowed = limits(query_seconds=30, ask_workers=1)
    with serving(saved, tmp_path_factory.mktemp("impatient") / "state", *allowed) as running:
        yield running


@pytest.fixture
def guest(strict: Server) -> Iterator[httpx.Client]:
    with strict.newcomer() as client:
        yield client
        client.delete(f"{API}/workspaces/mine")


def chunks(piece: bytes, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield piece


def refused(answer: httpx.Response, status: int, code: str, *parts: str) -> None:
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert told["code"] == code
    assert told["hint"]
    for part in parts:
        assert part in told["error"]
    if status in {429, 503}:
        assert int(answer.headers["retry-after"]) >= 1


def test_a_long_request(guest: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    path = f"{API}/chats"
    refused(guest.post(path, content=b" " * 5000, headers=headers), 413, "too-large", "4.0 KiB")
    sent = guest.post(path, content=chunks(b" " * 500, 10), headers=headers)
    refused(sent, 413, "too-large", "4.0 KiB")


def test_a_long_upload(strict: Server, guest: httpx.Client) -> None:
    refused(upload(guest, b"a,b\n" + b"1,2\n" * 20_000), 413, "too-large", "64 KiB")
    refused(upload(guest, chunks(b"1,2\n" * 250, 80)), 413, "too-large", "64 KiB")
    model = guest.post(f"{API}/models/upload", params={"name": "m.onnx"}, content=b"x" * 70_000)
    refused(model, 413, "too-large")
    assert guest.get(f"{API}/datasets").json() == []
    assert left_over(strict) == []


def test_a_body_that_is_announced_is_not_read(strict: Server, guest: httpx.Client) -> None:
    """The server must say no at once; it would otherwise wait for bytes that never come."""
    key = guest.headers["Compass-Workspace"]
    host, port = strict.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(
            f"POST {API}/datasets/upload?name=x.csv HTTP/1.1\r\nHost: {host}\r\n"
            f"Compass-Workspace: {key}\r\nContent-Length: 2147483648\r\n\r\n".encode()
        )
        assert line.recv(4096).startswith(b"HTTP/1.1 413")


def test_too_many_rows_columns_or_cells(guest: httpx.Client) -> None:
    tall = upload(guest, b"a,b\n" + b"1,2\n" * 400)
    refused(tall, 413, "too-large", "400 rows", "300")
    wide = upload(guest, csv_of({f"c{n}": [1, 2, 3] for n in range(13)}))
    refused(wide, 413, "too-large", "13 columns", "12")
    many = upload(guest, csv_of({f"c{n}": list(range(250)) for n in range(10)}))
    refused(many, 413, "too-large", "2,500 cells")
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": list(range(400))}), sink)
    refused(upload(guest, sink.getvalue().to_pybytes(), "x.parquet"), 413, "too-large", "400 rows")
    assert guest.get(f"{API}/datasets").json() == []


def test_more_memory_than_allowed(strict: Server, guest: httpx.Client) -> None:
    """A few bytes of Parquet that are 6 GB of text: 300 times the same label of 20 MB."""
    label = pa.array(["x" * 20_000_000])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), label)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"label": column}), sink, compression="zstd", store_schema=False)
    content = sink.getvalue().to_pybytes()
    assert len(content) < 64 * 1024
    refused(upload(guest, content, "bomb.parquet"), 413, "too-large", "memory")
    assert left_over(strict) == []
    assert ask(guest, shared_engine(guest)).status_code == 200


def test_an_upload_that_stops(strict: Server, guest: httpx.Client) -> None:
    key = guest.headers["Compass-Workspace"]
    host, port = strict.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(
            f"POST {API}/datasets/upload?name=x.csv HTTP/1.1\r\nHost: {host}\r\n"
            f"Compass-Workspace: {key}\r\nContent-Length: 1000\r\n\r\na,b\n1,2\n".encode()
        )
        until(lambda: left_over(strict))
        assert line.recv(4096).startswith(b"HTTP/1.1 408")
    assert left_over(strict) == []


def test_a_client_that_leaves(strict: Server, guest: httpx.Client) -> None:
    key = guest.headers["Compass-Workspace"]
    host, port = strict.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(
            f"POST {API}/datasets/upload?name=x.csv HTTP/1.1\r\nHost: {host}\r\n"
            f"Compass-Workspace: {key}\r\nContent-Length: 1000\r\n\r\na,b\n1,2\n".encode()
        )
        until(lambda: left_over(strict))
    until(lambda: not left_over(strict))
    assert guest.get(f"{API}/datasets").json() == []


def test_a_full_workspace(guest: httpx.Client) -> None:
    table = csv_of({"a": list(range(200)), "text": ["x" * 190] * 200})
    assert upload(guest, table).status_code == 201
    assert upload(guest, table).status_code == 201
    refused(upload(guest, table), 413, "too-large", "96 KiB")
    refused(upload(guest, chunks(table, 1)), 413, "too-large", "96 KiB")
    first = guest.get(f"{API}/datasets").json()[0]["id"]
    guest.delete(f"{API}/datasets/{first}")
    assert upload(guest, table).status_code == 201


def test_too_many_workspaces(strict: Server) -> None:
    made = []
    with strict.client() as client:
        while (answer := client.post(f"{API}/workspaces")).status_code == 201:
            made.append(answer.json()["key"])
        refused(answer, 429, "too-many-workspaces", "7")
        for key in made:
            client.delete(f"{API}/workspaces/mine", headers={"Compass-Workspace": key})
    assert 1 <= len(made) <= 7


def halted(server: Server) -> psutil.Process:
    """Its asker, made to stand still, so that whatever is asked takes for ever."""
    (worker,) = server.workers()
    worker.suspend()
    return worker


def test_a_question_that_takes_too_long(impatient: Server) -> None:
    with impatient.newcomer() as client:
        engine = shared_engine(client)
        # On a busy machine even a quick question may take too long: it is asked again.
        until(lambda: ask(client, engine, seed=1).status_code == 200)
        worker = halted(impatient)
        refused(ask(client, engine, seed=2), 422, "too-slow", "30 s")
        assert gone([worker])
        until(lambda: ask(client, engine, seed=2).status_code == 200)


def test_too_much_work_of_one_and_of_all(strict: Server, guest: httpx.Client) -> None:
    engine = shared_engine(guest)
    assert ask(guest, engine, seed=1).status_code == 200
    worker = halted(strict)
    jobs = [ask(guest, engine, seed=seed, wait=0) for seed in (11, 12, 13)]
    assert [job.status_code for job in jobs] == [202, 202, 202]
    refused(ask(guest, engine, seed=14), 429, "too-many-requests", "3 pieces")
    refused(
        guest.get(f"{API}/engines/{engine}/importance?outcome=runtime"), 429, "too-many-requests"
    )
    with strict.newcomer() as other, strict.newcomer() as third:
        more = [ask(other, engine, seed=seed, wait=0) for seed in (11, 12)]
        assert [job.status_code for job in more] == [202, 202]
        refused(ask(third, engine, seed=11), 503, "busy")
        assert third.get("/healthz").status_code == 200
        assert third.get(f"{API}/jobs").status_code == 200
        # One that is cancelled while it waits makes room for another.
        other.delete(f"{API}/jobs/{more[1].json()['id']}")
        late = ask(third, engine, seed=11, wait=0)
        assert late.status_code == 202
        worker.resume()
        assert [job_over(guest, job.json()["id"])["state"] for job in jobs] == ["done"] * 3
        assert job_over(other, more[0].json()["id"])["state"] == "done"
        assert job_over(third, late.json()["id"])["state"] == "done"
        other.delete(f"{API}/workspaces/mine")
        third.delete(f"{API}/workspaces/mine")


def test_deep_questions_end_in_time(impatient: Server) -> None:
    """A proof gets the seconds that were asked for, but never more than a question may take."""
    with impatient.newcomer() as client:
        proved = ask(client, shared_engine(client), RECOMMEND, prove=3600)
    assert proved.status_code in {200, 422}
    if proved.status_code == 422:
        assert proved.json()["code"] == "too-slow"


def test_processes_do_not_pile_up(strict: Server) -> None:
    assert len(strict.workers()) <= 2
    assert os.listdir(strict.state / "passing") == []


def test_uploads_at_the_same_time_share_the_room_of_the_workspace(tmp_path: Path) -> None:
    words = ("--limit", "workspace_bytes=3MB", "--limit", "ask_workers=1")
    with serving(NOTHING, tmp_path / "state", *words) as server, server.newcomer() as client:
        go_on = threading.Event()

        def slowly() -> Any:
            yield b"nodes,runtime\n" + b"1,2\n" * 500_000
            go_on.wait(30)
            yield b"3,4\n"

        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(upload, client, slowly())
            until(lambda: size_of(server.state / "passing") > 1_900_000)
            second = upload(client, b"nodes,runtime\n" + b"1,2\n" * 400_000)
            go_on.set()
            assert first.result().status_code == 201
        assert (second.status_code, second.json()["code"]) == (413, "too-large")
