"""How a server leaves: others learn of it first; who connects meanwhile is not turned away."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
from server_case import API, NOTHING, serving, until

# As systemd starts it: the socket is file 3, and the variables name the process itself.
_GIVEN = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


def test_a_server_that_leaves_says_so_and_still_serves(tmp_path: Path) -> None:
    limits = ("--limit", "ask_workers=1", "--limit", "drain_seconds=86400")
    with serving(NOTHING, tmp_path / "state", *limits) as server, server.newcomer() as person:
        assert person.get("/readyz").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        refused = until(lambda: (r := person.get("/readyz")).status_code == 503 and r)
        assert refused.json()["code"] == "closing"
        assert int(refused.headers["retry-after"]) > 0
        assert person.get("/healthz").status_code == 200  # it lives, and must not be killed
        assert person.get(f"{API}/datasets").status_code == 200
        # Told again (this is what the end of the block does), it ends at once.


def _start(listening: socket.socket, state: Path) -> "subprocess.Popen[str]":
    given = (sys.executable, "-c", _GIVEN, str(listening.fileno()))
    words = ("serve", str(NOTHING), "--state", str(state), "--limit", "ask_workers=1")
    process = subprocess.Popen(
        [*given, "-m", "compass.cli.main", *words],
        pass_fds=[listening.fileno()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ,
    )
    assert process.stdout is not None
    assert any(line.startswith("stop with") for line in process.stdout)
    return process


def test_no_request_fails_while_one_server_follows_another(tmp_path: Path) -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}{API}/about"
    stop, statuses, failures = threading.Event(), [], []

    def ask() -> None:
        while not stop.is_set():
            try:
                found = httpx.get(
                    url, trust_env=False, timeout=120, headers={"Connection": "close"}
                )
                statuses.append(found.status_code)
            except httpx.HTTPError as error:
                failures.append(repr(error))

    def some_are_served() -> None:
        enough = len(statuses) + 5
        until(lambda: len(statuses) > enough)

    process = _start(listening, tmp_path / "state")
    asking = [threading.Thread(target=ask) for _ in range(3)]
    for one in asking:
        one.start()
    try:
        for _ in range(2):
            some_are_served()
            process.terminate()
            assert process.wait(timeout=120) == 0
            assert process.stdout is not None
            process.stdout.close()
            process = _start(listening, tmp_path / "state")
        some_are_served()
    finally:
        stop.set()
        for one in asking:
            one.join()
        process.terminate()
        process.wait(timeout=120)
        assert process.stdout is not None
        process.stdout.close()
        listening.close()
    assert failures == []
    assert set(statuses) == {200}
