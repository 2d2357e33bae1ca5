"""Messages are read in a working process: one that takes for ever holds up nobody."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from server_case import API, RECONFIGURE, Server, gone, serving, shared_engine, until

from compass.chat.dialogue import begin
from compass.domain.api import AnswerInfo
from compass.domain.limits import ServerLimits
from compass.domain.space import Number, Role, Space
from compass.server import answers
from compass.server.chat_tasks import ChatHandlers, ChatStep, _answer
from compass.server.store import Store, now
from compass.server.tasks import TaskHandlers

pytest_plugins = ("server_fixtures",)

NAME = "a" * 16
SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="runtime", role=Role.OUTCOME, low=1, high=3600, unit="s"),
    )
)
DRAFT = {
    "kind": "recommend",
    "ask": ["gpus"],
    "goals": {"runtime": {"kind": "extreme", "direction": "minimize"}},
}
Reply = tuple[int, str]


def begun(client: httpx.Client) -> str:
    made = client.post(f"{API}/chats", json={"engine": shared_engine(client)})
    assert made.status_code == 201, made.text
    return f"{API}/chats/{made.json()['id']}"


def said(client: httpx.Client, chat: str, text: str) -> httpx.Response:
    return client.post(f"{chat}/messages", json={"text": text})


def halted(server: Server, client: httpx.Client) -> tuple[str, psutil.Process]:
    """A conversation, and the process that reads it, which is made to stand still."""
    before = server.workers()
    chat = begun(client)
    (worker,) = [one for one in server.workers() if one not in before]
    worker.suspend()
    return chat, worker


def busy(client: httpx.Client) -> bool:
    """Whether a message is being read."""
    return 'compass_busy{pool="chat"} 1.0' in client.get("/metrics").text


def test_a_message_that_takes_too_long_is_answered_and_holds_up_nobody(
    tmp_path: Path, saved: Path
) -> None:
    limits = (
        "--limit",
        "ask_workers=1",
        "--limit",
        "chat_workers=1",
        "--limit",
        "message_seconds=3",
    )
    with (
        serving(saved, tmp_path / "state", *limits) as server,
        server.newcomer() as client,
        server.newcomer() as other,
        ThreadPoolExecutor(1) as thread,
    ):
        chat, worker = halted(server, client)
        waiting = thread.submit(said, client, chat, "recommend gpus to minimize runtime")
        until(lambda: busy(other))
        assert other.get("/healthz").status_code == 200
        assert other.get(f"{API}/engines").status_code == 200
        assert not waiting.done()
        told = waiting.result().json()
        assert "could not read this message" in told["reply"]["text"]
        assert "fewer words" in told["reply"]["text"]
        assert told["reply"]["expecting"] == "kind"
        assert told["conversation"]["turns"][-2]["text"] == "recommend gpus to minimize runtime"
        assert gone([worker])
        assert client.get(chat).json() == told
        begun(other)  # the next process starts
        again = said(client, chat, "recommend gpus to minimize runtime").json()
        assert again["conversation"]["draft"]["ask"] == ["gpus"]

        (worker,) = [one for one in server.workers() if one.create_time() > worker.create_time()]
        worker.suspend()
        waiting = thread.submit(said, client, chat, "at most 8 nodes")
        until(lambda: busy(other))
        assert server.stop() == 0
        # What was being read when the server was told to stop got its reply.
        assert "could not read" in waiting.result().json()["reply"]["text"]


@contextmanager
def language_model(reply: Callable[[], Reply]) -> Iterator[tuple[str, list[str | None]]]:
    """The address of a language model, and the keys that were sent to it."""
    keys: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers["Authorization"])
            status, content = reply()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [{"message": {"content": content}}]}).encode())

        def log_request(self, code: object = "-", size: object = "-") -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", keys
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_language_model_is_asked_by_the_server_which_has_the_key(
    tmp_path: Path, saved: Path
) -> None:
    replies: list[Reply] = [(200, json.dumps(DRAFT)), (500, "")]
    with language_model(lambda: replies.pop(0)) as (url, keys):
        words = ("--llm", url, "--llm-model", "tiny", "--limit", "ask_workers=1")
        state = tmp_path / "state"
        with (
            serving(saved, state, *words, COMPASS_LLM_KEY="s3cret") as server,
            server.newcomer() as client,
        ):
            before = server.workers()
            chat = begun(client)
            (worker,) = [one for one in server.workers() if one not in before]
            assert "COMPASS_LLM_KEY" not in worker.environ()
            told = said(client, chat, "gpus for something quick").json()
            assert told["conversation"]["draft"]["ask"] == ["gpus"]
            assert list(told["conversation"]["draft"]["goals"]) == ["runtime"]
            told = said(client, begun(client), "recommend gpus to minimize runtime").json()
            assert "I read this by rules (it answered with status 500)" in told["reply"]["text"]
            assert told["conversation"]["draft"]["ask"] == ["gpus"]
    assert keys == ["Bearer s3cret"] * 2


# In the working process


@pytest.fixture
def about(tmp_path: Path) -> str:
    """What is known about an engine, as far as a conversation needs it."""
    path = tmp_path / "about.json"
    path.write_text(json.dumps({"space": SPACE.model_dump(mode="json")}))
    return str(path)


def step(written: bytes) -> ChatStep:
    return ChatStep.model_validate_json(written)


def given(about: str, **more: Any) -> dict[str, Any]:
    conversation, _ = begin(SPACE)
    return {"about": about, "conversation": conversation.model_dump(mode="json"), **more}


def silent(_stage: str, _done: int, _total: int) -> None:
    pass


def test_a_process_says_what_a_model_is_to_be_asked_and_goes_on_with_its_reply(about: str) -> None:
    talks = ChatHandlers()
    work = given(about, text="recommend nodes to minimize runtime")
    wanted = step(talks.say(work | {"replies": []}, silent))
    assert wanted.step is None
    assert "recommend nodes" in wanted.messages[-1]["content"]
    draft = json.dumps(DRAFT | {"ask": ["nodes"], "where": ["nodes < 16"]})
    for reply, note in (
        ({"content": draft}, "made up a number"),
        ({"unusable": "it is busy"}, "it is busy"),
    ):
        found = step(talks.say(work | {"replies": [reply]}, silent))
        assert found.step is not None
        assert note in found.step[1].text
    without = step(talks.say(work | {"replies": None}, silent))
    assert without.step is not None
    assert without.step[0].draft.ask == ("nodes",)


@pytest.mark.parametrize("content", [None, b"", b'{"suggestions": [', b"\xff"])
def test_a_conversation_goes_on_without_an_answer_that_is_gone_or_damaged(
    about: str, tmp_path: Path, content: bytes | None
) -> None:
    known = AnswerInfo(id=NAME, engine=NAME, created=now(), text="?", answered=True)
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "about.json").write_text(known.model_dump_json())
    if content is not None:
        (folder / "answer.json").write_bytes(content)
    found = step(
        ChatHandlers().say(given(about, text="minimize runtime", answer=str(folder)), silent)
    )
    assert found.step is not None
    assert "runtime" in found.step[0].draft.goals


def test_an_answer_that_is_completed_while_a_message_waits_is_read_all_the_same(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, _ = Store(tmp_path, ServerLimits()).create()
    question: dict[str, Any] = {"question": RECONFIGURE, "run": 3, "generator": "c3g"}
    task = {"answer": NAME, "engine": str(saved), "question": question}
    handlers = TaskHandlers()
    found = handlers.ask(task, silent)
    answers.keep(workspace, NAME, NAME, question, found)
    whole = handlers.continue_answer(task | {"pending": json.loads(found)["pending"][-1:]}, silent)
    file_of = answers.file_of

    def then_completed(known: AnswerInfo) -> str:
        monkeypatch.setattr(answers, "file_of", file_of)
        if known.pending:
            answers.complete(workspace, known, whole)
        return file_of(known)

    monkeypatch.setattr(answers, "file_of", then_completed)
    read = _answer(str(workspace.place("answers", NAME)))
    assert read is not None
    assert read.pending == ()
