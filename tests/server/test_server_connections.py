"""Connections, bodies and places that are held for long: nobody can keep the others out."""

import json
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import psutil
import pytest
from server_case import (
    API,
    NOTHING,
    Server,
    answers,
    jobs_csv,
    left_over,
    serving,
    until,
    upload,
)

from compass.server import run

pytest_plugins = ("server_fixtures",)
_GUARD = 30.0  # seconds, for what never happens where a connection is not closed
HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def limits(**values: Any) -> list[str]:
    return [word for name, value in values.items() for word in ("--limit", f"{name}={value}")]


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for nobody."""
    allowed = limits(header_seconds=0.5, keep_alive_seconds=1, idle_seconds=0.5, ask_workers=1)
    with serving(NOTHING, tmp_path_factory.mktemp("hasty") / "state", *allowed) as running:
        yield running


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with few places, which waits for ever."""
    allowed = limits(
        connections=40,
        header_seconds=3600,
        keep_alive_seconds=1,
        idle_seconds=3600,
        uploads=8,
        uploads_per_workspace=2,
        streams=8,
        streams_per_workspace=2,
        workspaces=40,
        ask_workers=1,
    )
    with serving(NOTHING, tmp_path_factory.mktemp("narrow") / "state", *allowed) as running:
        until(lambda: logged(running, "offer"))  # that there is nothing to offer: now it is quiet
        yield running


def line(server: Server, address: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine."""
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), _GUARD, source_address=(address, 0))


def to_the_end(one: socket.socket) -> bytes:
    """All that a server says until it closes the connection."""
    said = b""
    while part := one.recv(1 << 16):
        said += part
    return said


def told(said: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the problem of an answer."""
    head, _, body = said.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def open_lines(server: Server) -> list[Any]:
    found = psutil.Process(server.process.pid).net_connections("tcp")
    return [one for one in found if one.status != psutil.CONN_LISTEN]


def logged(server: Server, event: str) -> int:
    return sum(one["event"] == event for one in server.events())


# Time


def test_a_connection_that_says_nothing_is_closed(hasty: Server) -> None:
    with line(hasty) as silent:
        assert to_the_end(silent) == b""


def test_headers_that_do_not_end_are_refused(hasty: Server) -> None:
    with line(hasty) as slow:
        slow.sendall(HALF)
        status, problem = told(to_the_end(slow))
    assert (status, problem["code"]) == (408, "too-slow")
    assert problem["hint"]


def test_a_header_that_trickles_gains_no_time(hasty: Server) -> None:
    with line(hasty) as slow:
        slow.sendall(HALF)
        for _ in range(300):
            if select.select([slow], [], [], 0.1)[0]:
                break
            slow.sendall(b"x")
        assert slow.recv(12) == b"HTTP/1.1 408"


def test_the_second_request_of_a_connection_has_to_come_in_time_too(hasty: Server) -> None:
    with line(hasty) as slow:
        slow.sendall(WHOLE)
        assert slow.recv(1 << 16).startswith(b"HTTP/1.1 200")
        slow.sendall(HALF)
        assert told(to_the_end(slow))[0] == 408
    with line(hasty) as idle:
        idle.sendall(WHOLE)
        assert b"HTTP/1.1 408" not in to_the_end(idle)


def post(path: str, key: str, length: int) -> bytes:
    return (
        f"POST {API}/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCompass-Workspace: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("path", ["chats", "datasets/upload?name=x.csv"])
def test_a_body_that_stalls_or_trickles_is_refused(hasty: Server, path: str) -> None:
    with hasty.newcomer() as client:
        key = client.headers["Compass-Workspace"]
    with line(hasty) as stalled:
        stalled.sendall(post(path, key, 1000))
        status, problem = told(to_the_end(stalled))
        assert (status, problem["error"]) == (408, "no byte of the body came for 0.5 s")
    with line(hasty) as slow:
        slow.sendall(post(path, key, 1000))
        for _ in range(300):
            if select.select([slow], [], [], 0.1)[0]:
                break
            slow.sendall(b" ")
        status, problem = told(to_the_end(slow))
        assert (status, problem["code"]) == (408, "too-slow")
        assert "bytes of the body came within 0.5 s" in problem["error"]
        assert problem["hint"]
    until(lambda: not left_over(hasty))


def trickle(one: socket.socket) -> None:
    for _ in range(300):
        one.sendall(b"x")
        time.sleep(0.1)


def test_what_follows_a_refusal_does_not_hold_the_connection(hasty: Server) -> None:
    with line(hasty) as slow:
        slow.sendall(post("chats", "", 1 << 40))
        assert slow.recv(12) == b"HTTP/1.1 413"
        with pytest.raises(ConnectionError):
            trickle(slow)


def test_a_client_that_does_not_read_is_let_go(hasty: Server) -> None:
    until(lambda: not open_lines(hasty))
    with socket.socket() as deaf:
        deaf.settimeout(_GUARD)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, port = hasty.url.removeprefix("http://").split(":")
        deaf.connect((host, int(port)))
        deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100)
        until(lambda: open_lines(hasty), _GUARD)
        until(lambda: not open_lines(hasty), _GUARD)


# What cannot be read


@pytest.mark.parametrize("size", [40_000, 100_000, 5_000_000])
def test_an_address_that_is_too_long_is_answered(narrow: Server, size: int) -> None:
    """Not reset while it is on its way, whether it comes in one piece or in many."""
    for pieces in (1, 50):
        until(lambda: not open_lines(narrow))
        with line(narrow) as long:
            long.sendall(b"GET /healthz?x=")
            for _ in range(pieces):
                long.sendall(b"x" * (size // pieces))
            long.sendall(b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            long.shutdown(socket.SHUT_WR)
            status, problem = told(to_the_end(long))
        assert (status, problem["code"]) == (431, "headers-too-large")
        assert problem["hint"]


def test_a_client_of_http_gets_the_answer_to_a_long_address(narrow: Server) -> None:
    with narrow.client() as client:
        for size in (40_000, 60_000, 65_000):  # the longest that this client can send
            answer = client.get(f"/healthz?x={'x' * size}")
            assert (answer.status_code, answer.json()["code"]) == (431, "headers-too-large")


def test_what_is_no_http_is_answered(narrow: Server) -> None:
    with line(narrow) as other:
        other.sendall(b"\x16\x03\x01 nonsense\r\n\r\n" * 1000)
        other.shutdown(socket.SHUT_WR)
        status, problem = told(to_the_end(other))
    assert (status, problem["code"]) == (400, "unreadable")
    assert problem["hint"]
    assert [one for one in narrow.events() if one["level"] == "warning"] == []


def test_a_body_that_is_no_http_ends_the_connection(narrow: Server) -> None:
    with narrow.newcomer() as client:
        head = post("chats", client.headers["Compass-Workspace"], 0)
    with line(narrow) as other:
        other.sendall(head.replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        other.sendall(b"not a length\r\n")
        assert told(to_the_end(other))[0] == 400
    until(lambda: answers(narrow))


def test_a_refused_client_that_goes_on_is_let_go(hasty: Server) -> None:
    with line(hasty) as endless:
        endless.sendall(b"no request\r\n\r\n")
        assert endless.recv(12) == b"HTTP/1.1 400"
        with pytest.raises(ConnectionError):
            trickle(endless)


# Places


def test_one_address_cannot_have_all_connections(narrow: Server) -> None:
    until(lambda: not open_lines(narrow))
    with ExitStack() as held:
        for _ in range(20):
            held.enter_context(line(narrow))
        with line(narrow) as one_too_many:
            said = to_the_end(one_too_many)
        status, problem = told(said)
        assert (status, problem["code"]) == (503, "busy")
        assert problem["hint"]
        assert b"Retry-After: 10" in said
        with line(narrow, "127.0.0.2") as other:
            other.sendall(WHOLE)
            assert other.recv(1 << 16).startswith(b"HTTP/1.1 200")
    until(lambda: answers(narrow))


def test_a_full_server_waits_until_there_is_room(narrow: Server) -> None:
    until(lambda: not open_lines(narrow))
    with ExitStack() as held:
        for address in ("127.0.0.1", "127.0.0.2"):
            for _ in range(20):
                last = held.enter_context(line(narrow, address))
        patient = [held.enter_context(line(narrow, "127.0.0.3")) for _ in range(5)]
        for one in patient:
            one.sendall(WHOLE)
        until(lambda: logged(narrow, "connections-full"))
        last.close()
        assert patient[0].recv(1 << 16).startswith(b"HTTP/1.1 200")
    until(lambda: answers(narrow))
    assert logged(narrow, "connections-full") == 1


def test_without_descriptors_it_sleeps_and_says_so_once(narrow: Server) -> None:
    until(lambda: not open_lines(narrow))
    process = psutil.Process(narrow.process.pid)
    soft, hard = process.rlimit(psutil.RLIMIT_NOFILE)
    with ExitStack() as held:
        process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds() + 2, hard))
        held.callback(process.rlimit, psutil.RLIMIT_NOFILE, (soft, hard))
        for _ in range(10):
            held.enter_context(line(narrow))
        until(lambda: logged(narrow, "no-connections"))
    until(lambda: answers(narrow))
    assert logged(narrow, "no-connections") == 1


def half_sent(server: Server, client: httpx.Client, address: str = "127.0.0.1") -> socket.socket:
    """An upload that is on its way for ever."""
    one = line(server, address)
    one.sendall(post("datasets/upload?name=x.csv", client.headers["Compass-Workspace"], 9) + b"a")
    return one


def test_one_workspace_cannot_have_all_uploads(narrow: Server) -> None:
    with ExitStack() as held:
        greedy, other, third = (held.enter_context(narrow.newcomer()) for _ in range(3))
        for count, client in enumerate((greedy, greedy, other, other), 1):
            held.enter_context(half_sent(narrow, client))
            until(lambda: len(left_over(narrow)) == count)  # noqa: B023 - called within this turn
        refused = upload(greedy, b"a\n1\n")
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
        assert "2 uploads of this workspace" in refused.json()["error"]
        # Four of eight are of this address, which may have half of them; others are served.
        address = upload(third, b"a\n1\n")
        assert (address.status_code, address.json()["code"]) == (503, "busy")
        assert "this address" in address.json()["error"]
        held.enter_context(half_sent(narrow, third, "127.0.0.2"))
        until(lambda: len(left_over(narrow)) == 5)
    until(lambda: not left_over(narrow))


def test_one_address_cannot_have_all_workspaces(narrow: Server) -> None:
    keys = []
    with narrow.client() as greedy:
        while (made := greedy.post(f"{API}/workspaces")).status_code == 201:
            keys.append(made.json()["key"])
            assert len(keys) <= 20
        assert (made.status_code, made.json()["code"]) == (429, "too-many-workspaces")
        assert "this address" in made.json()["error"]
        elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(base_url=narrow.url, transport=elsewhere, timeout=_GUARD) as other:
            assert other.post(f"{API}/workspaces").status_code == 201
        for key in keys:
            greedy.delete(f"{API}/workspaces/mine", headers={"Compass-Workspace": key})
        assert greedy.post(f"{API}/workspaces").status_code == 201


def test_one_workspace_cannot_have_all_streams(narrow: Server) -> None:
    with ExitStack() as held:
        greedy, other = (held.enter_context(narrow.newcomer()) for _ in range(2))
        assert upload(greedy, jobs_csv(20)).status_code == 201
        (worker,) = narrow.workers()
        worker.suspend()  # so that what follows is never done
        held.callback(worker.kill)
        paths = [
            f"{API}/jobs/{upload(client, jobs_csv(20), wait=0).json()['id']}/events"
            for client in (greedy, other)
        ]
        lines: list[Iterator[str]] = []  # kept: who lets go of one closes its connection
        for client, path in ((greedy, paths[0]), (greedy, paths[0]), (other, paths[1])):
            stream = held.enter_context(client.stream("GET", path))
            assert stream.status_code == 200
            lines.append(stream.iter_lines())
            assert next(lines[-1]) == "event: job"
        refused = greedy.get(paths[0])
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-requests")
        assert "event streams" in refused.json()["error"]


def test_an_answer_is_sent_at_once() -> None:
    """asyncio turns off waiting for more to send only for sockets that say that they are TCP."""
    with run._socket("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
