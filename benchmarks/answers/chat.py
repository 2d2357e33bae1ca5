"""What the conversation replies to sentences of the corpus, and what a server sends."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from tests.chat.corpus_case import sentences, tables

from compass.chat.dialogue import begin, respond

EVERY = 3  # one sentence in so many
ASKED = (
    (
        "which settings make spmv fastest on 24 MiB? change threads, schedule and flags",
        "yes",
        "yes",
    ),
    ("make row 53 30% faster, change only flags and threads", "yes"),
    ("what if I use 2 threads for matmul?", "yes", "yes"),
    ("hello", "why is the sky blue?", "help"),
)


def dialogues() -> Iterator[tuple[str, Any]]:
    """Replies to sentences without a past, and to a few conversations over HTTP."""
    for sentence in sentences("develop")[::EVERY]:
        space = tables()[sentence.table]
        conversation, _ = begin(space)
        conversation, reply = respond(conversation, sentence.text, space)
        yield f"chat: {sentence.id}", json.loads(reply.model_dump_json())
    yield from _over_http()


def _over_http() -> Iterator[tuple[str, Any]]:
    """What a server of the embedded data sends, without what differs from start to start."""
    with tempfile.TemporaryDirectory() as state:
        process, url = _serve(Path(state))
        try:
            key = {"Compass-Workspace": "answers-" + "0" * 24}
            with httpx.Client(base_url=f"{url}/api/v1", timeout=300, headers=key) as http:
                yield "http: health", http.get(f"{url}/healthz").status_code
                for path in ("/datasets", "/engines", "/nothing"):
                    reply = http.get(path)
                    yield (
                        f"http: {path}",
                        {"status": reply.status_code, "keys": _keys(reply.json())},
                    )
        finally:
            process.terminate()
            process.wait(60)


def _keys(found: Any) -> Any:
    """The shape of a reply: names of fields, not what stands in them."""
    if isinstance(found, dict):
        return {name: _keys(value) for name, value in found.items()}
    if isinstance(found, list):
        return [_keys(found[0])] if found else []
    return type(found).__name__


def _serve(state: Path) -> tuple["subprocess.Popen[str]", str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COMPASS_")}
    words = [
        sys.executable,
        "-m",
        "compass.cli.main",
        "serve",
        "--port",
        "0",
        "--state",
        str(state),
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=plain)
    assert process.stdout is not None
    for line in process.stdout:
        found = [word for word in line.split() if word.startswith("http://127.0.0.1")]
        if found:
            return process, found[0].rstrip("/.,")
    raise RuntimeError("the server did not start")
