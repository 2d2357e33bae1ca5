"""What is pending of an answer: who waits for it, and what becomes of it when it cannot come."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.domain.api import AnswerInfo, State
from compass.server import answers
from compass.server.problems import Refused, busy, lost_worker, too_large
from compass.server.routes import exports
from compass.server.service import Service
from compass.server.settings import ServerSettings
from compass.server.store import Workspace

NAME, ENGINE = "a" * 16, "e" * 16
PARTS = ("proof", "run next")

# What a working process makes of the n-th piece of work that it is given.
Making = Callable[[int], Awaitable[bytes]]


def written(*pending: str) -> bytes:
    head = {"text": "?", "no_answer": None, "query": {"prove": 1.0}}
    head |= {"suggestions": [], "population": None}
    return json.dumps(head | {"pending": pending}).encode()


def served(tmp_path: Path, making: Making) -> tuple[Service, Workspace, list[str]]:
    """A service with an answer of which everything is pending, and what its processes were given.

    Its engine is not read: working processes are stood in for.
    """
    service = Service(ServerSettings(state=tmp_path / "state"))
    workspace, _ = service.store.create()
    with workspace.making("engines", ENGINE) as draft:
        (draft / "about.json").write_text("{}")
    answers.keep(workspace, NAME, ENGINE, {}, written(*PARTS))
    given: list[str] = []

    async def do(task: str, _: Any, *, started: Callable[[], None], **__: object) -> bytes:
        started()
        given.append(task)
        return await making(len(given))

    service.ask_pool.do = do  # type: ignore[method-assign,assignment]
    return service, workspace, given


def played(service: Service, scene: Callable[[], Awaitable[None]]) -> None:
    async def play() -> None:
        await scene()
        await service.close()

    asyncio.run(play())


async def told(service: Service, workspace: Workspace) -> list[tuple[str, Any]]:
    running = service.completing(workspace, NAME)
    events = service.answer_events(workspace, NAME, running)
    return [(one.name, json.loads(one.data)) async for one in events]


def pending(workspace: Workspace) -> list[str]:
    return [one.value for one in workspace.get("answers", NAME, AnswerInfo).pending]


def test_a_busy_server_is_no_event_but_a_refusal(tmp_path: Path) -> None:
    async def refused(_: int) -> bytes:
        raise busy(7)

    service, workspace, _ = served(tmp_path, refused)

    async def scene() -> None:
        assert [name for name, _ in await told(service, workspace)] == ["answer"]
        with pytest.raises(Refused) as told_to_wait:
            await service.completed(workspace, NAME, 60)
        assert (told_to_wait.value.status, told_to_wait.value.retry_after) == (503, 7)
        service.ask_pool.closed = True
        with pytest.raises(Refused) as at_once:  # before a stream begins
            service.completing(workspace, NAME)
        assert at_once.value.passing

    played(service, scene)


def test_what_will_never_come_does_not_hide_what_there_is(tmp_path: Path) -> None:
    async def full(_: int) -> bytes:
        raise too_large("the workspace is full", "delete something")

    service, workspace, _ = served(tmp_path, full)

    async def scene() -> None:
        (first, view), (last, problem) = await told(service, workspace)
        assert (first, last, problem["code"]) == ("answer", "problem", "too-large")
        assert view["answer"]["pending"] == list(PARTS)
        why = await service.completed(workspace, NAME, 60)
        assert why is not None
        shown = json.loads(await service.answer_view(workspace, NAME, why))
        assert (shown["problem"]["code"], shown["answer"]) == ("too-large", view["answer"])

    played(service, scene)


def test_a_file_is_not_written_before_what_it_holds_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_PATIENCE", 0.01)
    ends = asyncio.Event()

    async def proving(_: int) -> bytes:
        await ends.wait()
        return written()

    async def lacking(workspace: Workspace, name: str) -> Any:
        return SimpleNamespace(pending=workspace.get("answers", name, AnswerInfo).pending)

    service, workspace, given = served(tmp_path, proving)
    service.answer = lacking  # type: ignore[method-assign]

    async def scene() -> None:
        for _ in range(2):
            with pytest.raises(Refused) as refused:
                await exports._whole(service, workspace, NAME)
            assert (refused.value.status, refused.value.retry_after) == (409, 1)
            assert refused.value.problem.code == "unfinished"
        ends.set()
        monkeypatch.setattr(exports, "_PATIENCE", 60)
        assert not (await exports._whole(service, workspace, NAME)).pending
        assert given == ["continue"]  # once: it went on between the requests

    played(service, scene)


def test_a_process_that_is_ended_from_outside_is_replaced_once(tmp_path: Path) -> None:
    async def ends(piece: int) -> bytes:
        if piece in {1, 3, 4}:
            raise lost_worker(9, "", short=False)
        return written("run next")

    service, workspace, given = served(tmp_path, ends)

    async def scene() -> None:
        why = await service.completed(workspace, NAME, 60)
        assert why is not None
        assert why.code == "worker-ended"  # of the second part, and not to be tried for ever
        assert (len(given), pending(workspace)) == (4, ["run next"])

    played(service, scene)


def test_after_its_proof_a_job_that_was_left_alone_ends(tmp_path: Path) -> None:
    begun, proved = asyncio.Event(), asyncio.Event()

    async def proving(_: int) -> bytes:
        begun.set()
        await proved.wait()
        return written("run next")

    service, workspace, given = served(tmp_path, proving)
    service.jobs.linger = 0

    async def scene() -> None:
        running = service.completing(workspace, NAME)
        assert running is not None
        assert running.task is not None
        with service.jobs.wanted(running):
            await asyncio.wait_for(begun.wait(), 60)
        await asyncio.sleep(0.01)
        assert (running.left, running.job.state) == (True, State.RUNNING)
        proved.set()
        await asyncio.wait([running.task])
        assert running.job.state is State.CANCELLED
        assert (given, pending(workspace)) == (["continue"], ["run next"])

    played(service, scene)


def test_an_answer_that_is_deleted_while_more_of_it_is_kept_stays_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is deleted as soon as its new file is there, before what is known about it says so."""
    service, workspace, _ = served(tmp_path, lambda _: asyncio.sleep(0, b""))
    before = workspace.get("answers", NAME, AnswerInfo)
    deleting = threading.Thread(target=workspace.remove, args=("answers", NAME))
    replace = os.replace

    def then_delete(draft: Path, path: Path) -> None:
        replace(draft, path)
        if path.name == answers.ANSWER:
            deleting.start()
            deleting.join(0.1)  # it waits its turn

    monkeypatch.setattr(os, "replace", then_delete)
    answers.complete(workspace, before, written())
    deleting.join()
    assert not workspace.there("answers", NAME)
    with pytest.raises(Refused) as told_so:
        answers.complete(workspace, before, written())
    assert told_so.value.status == 404
    assert not workspace.there("answers", NAME)
    asyncio.run(service.close())


def test_an_answer_is_not_read_where_everybody_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers, read = [], answers._read

    def reading(*given: Any) -> Any:
        readers.append(threading.current_thread())
        return read(*given)

    async def made(_: int) -> bytes:
        return written()

    monkeypatch.setattr(answers, "_read", reading)
    service, workspace, _ = served(tmp_path, made)

    async def scene() -> None:
        assert await service.completed(workspace, NAME, 60) is None
        assert pending(workspace) == []

    played(service, scene)
    assert readers
    assert threading.main_thread() not in readers
