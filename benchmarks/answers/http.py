"""What a server of the embedded data sends: whole replies to requests and conversations."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

LISTED = ("/about", "/datasets", "/engines", "/plugins", "/catalogue", "/nothing", "/answers/none")
QUESTIONS: dict[str, dict[str, Any]] = {
    "recommend": {
        "question": "Recommend a configuration X = {threads: ?, schedule: ?} to achieve"
        " Y = {runtime_ms: minimize} where C = {kernel: spmv, precision: double}",
        "count": 3,
    },
    "reconfigure": {
        "question": "Reconfigure X = {threads: ?, flags: ?} to achieve Y = {runtime_ms:"
        " reduce by 30%}",
        "run": 53,
    },
    "what if": {
        "question": "What if we change X = {threads: old -> 2}, how would that affect"
        " Y = {runtime_ms, gflops}",
        "run": 53,
        "curve": ["threads"],
    },
    "what if of many": {
        "question": "What if we change X = {threads: 1 -> 2}, how would that affect"
        " Y = {runtime_ms} where C = {kernel: matmul}",
    },
    "impossible": {
        "question": "Reconfigure X = {threads: ?} to achieve Y = {runtime_ms: <= 1e-9}",
        "run": 53,
    },
    "conflict": {
        "question": "Recommend a configuration X = {threads: ?} to achieve Y = {runtime_ms:"
        " minimize} where C = {threads > 2, threads < 1}",
    },
    "unknown column": {"question": "Reconfigure X = {thread: ?} to achieve Y = {runtime_ms: 5}"},
    "no sentence": {"question": "Recommend X to achieve"},
    "no baseline": {"question": "Reconfigure X = {threads: ?} to achieve Y = {runtime_ms: < 5}"},
    "too many": {"question": "Recommend", "count": 0},
}
CONVERSATIONS = (
    (
        "which settings make spmv fastest on 24 MiB? change threads, schedule and flags",
        "yes",
        "yes",
        "why?",
        "what about 1 thread?",
        "yes",
        "undo",
    ),
    ("make row 53 30% faster, change only flags and threads", "yes", "more options"),
    ("what if I use 2 threads for matmul?", "yes", "yes"),
    ("hello", "why is the sky blue?", "help"),
    ("make row 53 faster without changing the threads", "yes", "yes", "use at most 1 thread"),
    ("minimize runtime where kernel is foobar", "yes"),
)
DIFFERENT = {"created", "seconds", "started", "finished", "versions", "updated", "bytes", "expires"}
IDENTITY = re.compile(r"\b[0-9a-z]{16,64}\b")


def http_replies() -> Iterator[tuple[str, Any]]:
    """Whole replies by name, without what differs from start to start."""
    with _served() as url:
        key = httpx.post(f"{url}/api/v1/workspaces").json()["key"]
        headers = {"Compass-Workspace": key}
        with httpx.Client(base_url=f"{url}/api/v1", timeout=300, headers=headers) as http:
            engine = _learnt(http)
            yield "http: health", http.get(f"{url}/healthz").status_code
            for path in LISTED:
                yield f"http: {path}", _told(http.get(path))
            for name, question in QUESTIONS.items():
                reply = http.post(f"/engines/{engine}/answers", params={"wait": 60}, json=question)
                yield f"http: {name}", _told(reply)
            for number, said in enumerate(CONVERSATIONS):
                yield f"http: conversation {number}", _conversation(http, engine, said)


def _learnt(http: httpx.Client) -> str:
    """The id of the offered engine, once it has learnt all of its outcomes."""
    for _ in range(600):
        found = http.get("/engines").json()
        if found and found[0]["learnt"] == len(found[0]["outcomes"]):
            return str(found[0]["id"])
        time.sleep(0.5)
    raise RuntimeError("nothing was learnt")


def _conversation(http: httpx.Client, engine: str, said: tuple[str, ...]) -> list[Any]:
    chat = http.post("/chats", json={"engine": engine}).json()["id"]
    return [
        _told(http.post(f"/chats/{chat}/messages", params={"wait": 60}, json={"text": text}))
        for text in said
    ]


def _told(reply: httpx.Response) -> Any:
    return {"status": reply.status_code, "body": _plain(reply.json())}


def _plain(found: Any) -> Any:
    """A reply without times, and with ids as what they are."""
    if isinstance(found, dict):
        return {name: _plain(value) for name, value in found.items() if name not in DIFFERENT}
    if isinstance(found, list):
        return [_plain(one) for one in found]
    if isinstance(found, str):
        return IDENTITY.sub("ID", found)
    return found


@contextmanager
def _served() -> Iterator[str]:
    """The address of a server with a state of its own."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COMPASS_")}
    with tempfile.TemporaryDirectory() as state:
        words = ["serve", "--port", "0", "--state", str(Path(state)), "--surrogate", "forest"]
        process = subprocess.Popen(
            [sys.executable, "-m", "compass.cli.main", *words],
            stdout=subprocess.PIPE,
            text=True,
            env=plain,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found = [word for word in line.split() if word.startswith("http://127.0.0.1")]
                if found:
                    yield found[0].rstrip("/.,")
                    return
            raise RuntimeError("the server did not start")
        finally:
            process.terminate()
            process.wait(60)
