"""Jobs: followed, waited for, cancelled, and taken up again."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from compass.domain.api import Job, State
from compass.domain.errors import QueryProblem
from compass.domain.limits import ServerLimits
from compass.server.jobs import JOBS, Jobs, Running, StoredJob
from compass.server.listing import part_of
from compass.server.problems import Refused
from compass.server.store import Store, Workspace

NAME = "0" * 16

MADE = "0" * 16


class Work:
    """Work that goes on until it is told how to end."""

    def __init__(self) -> None:
        self.ends: asyncio.Queue[Exception | None] = asyncio.Queue()
        self.given: list[dict[str, Any]] = []

    async def __call__(
        self, workspace: Workspace, given: dict[str, Any], running: Running
    ) -> dict[str, str]:
        self.given.append(given)
        running.began()
        running.report({"stage": "learning", "done": 1, "total": 2})
        error = await self.ends.get()
        if error is not None:
            raise error
        return {"engine": MADE}


Scene = Callable[[Jobs, Work, Workspace], Awaitable[None]]


def played(tmp_path: Path, scene: Scene) -> list[Job]:
    ended: list[Job] = []

    async def play() -> None:
        store = Store(tmp_path / "state", ServerLimits())
        workspaces = store.everybody()[1:] or [store.create()[0]]
        work = Work()
        await scene(Jobs({"fit": work}, ended.append), work, workspaces[0])
        store.close()

    asyncio.run(play())
    return ended


async def machine_limits() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_job_is_followed_to_its_end(tmp_path: Path) -> None:
    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        running = jobs.start(here, "fit", {"x": 1}, engine=MADE)
        seen: list[Job] = []

        async def follow() -> None:
            seen.extend([job async for job in jobs.follow(here, running.job.id)])

        following = asyncio.create_task(follow())
        await machine_limits()
        assert not await jobs.wait(running, 0)
        assert jobs.get(here, running.job.id).stage == "learning"
        work.ends.put_nowait(None)
        assert await jobs.wait(running, 60)
        await following
        assert seen[0].state is State.RUNNING
        assert (seen[0].done, seen[0].total) == (1, 2)
        assert seen[-1].state is State.DONE
        assert seen[-1].ended is not None
        # From now on it is told from disk.
        assert jobs.running == {}
        assert jobs.get(here, running.job.id) == seen[-1]
        assert part_of([here], JOBS, 10, None, jobs.live([here])) == ([seen[-1]], None)

    assert [job.state for job in played(tmp_path, scene)] == [State.DONE]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (QueryProblem("no", hint="do"), 422, "query-problem"),
        (Refused(413, "too-large", "no", hint="do"), 413, "too-large"),
        (OSError(28, "No space left on device"), 503, "disk"),
    ],
)
def test_a_job_that_fails_tells_why(
    tmp_path: Path, error: Exception, status: int, code: str
) -> None:
    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        running = jobs.start(here, "fit", {})
        work.ends.put_nowait(error)
        with pytest.raises(Refused) as told:
            await jobs.wait(running, 60)
        assert (told.value.status, told.value.problem.code) == (status, code)
        kept = jobs.get(here, running.job.id)
        assert kept.state is State.FAILED
        assert kept.problem == told.value.problem

    assert [job.state for job in played(tmp_path, scene)] == [State.FAILED]


def test_a_job_that_is_cancelled_stays_so(tmp_path: Path) -> None:
    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        running = jobs.start(here, "fit", {})
        await machine_limits()
        cancelled = await jobs.cancel(here, running.job.id)
        assert cancelled.state is State.CANCELLED
        assert await jobs.cancel(here, running.job.id) == cancelled
        assert not await jobs.wait(running, 60)
        with pytest.raises(Refused):
            await jobs.cancel(here, MADE)

    assert [job.state for job in played(tmp_path, scene)] == [State.CANCELLED]


def stored(here: Workspace) -> StoredJob:
    (name,) = here.names("jobs")
    return here.get("jobs", name, StoredJob)


def left(tmp_path: Path, *, closing: bool) -> None:
    """A server that ends while a job runs: in good order, or not."""

    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        if here.names("jobs"):
            assert jobs.resume([here])[0] == 1
        else:
            jobs.start(here, "fit", {"x": 1}, engine=MADE)
        await machine_limits()
        assert work.given == [{"x": 1}]
        if closing:
            await jobs.close()
        else:  # nothing more is written
            jobs.closing = True
            for running in jobs.running.values():
                running.kept = False

    assert played(tmp_path, scene) == []


def test_a_job_is_taken_up_again_once(tmp_path: Path) -> None:
    left(tmp_path, closing=False)

    async def second(jobs: Jobs, work: Work, here: Workspace) -> None:
        assert stored(here).attempts == 1
        assert jobs.resume([here])[0] == 1
        work.ends.put_nowait(None)
        (running,) = jobs.running.values()
        assert await jobs.wait(running, 60)
        assert stored(here).job.engine == MADE

    assert [job.state for job in played(tmp_path, second)] == [State.DONE]


def test_a_job_that_ends_servers_is_given_up(tmp_path: Path) -> None:
    left(tmp_path, closing=False)
    left(tmp_path, closing=False)

    async def third(jobs: Jobs, work: Work, here: Workspace) -> None:
        assert stored(here).attempts == 2
        assert jobs.resume([here])[0] == 0
        job = stored(here).job
        assert job.state is State.FAILED
        assert job.problem is not None
        assert job.problem.code == "interrupted"
        assert work.given == []

    played(tmp_path, third)


def test_servers_that_are_stopped_in_good_order_do_not_count(tmp_path: Path) -> None:
    for _ in range(4):
        left(tmp_path, closing=True)

    async def fifth(jobs: Jobs, work: Work, here: Workspace) -> None:
        assert stored(here).attempts == 0
        assert jobs.resume([here])[0] == 1
        work.ends.put_nowait(None)
        (running,) = jobs.running.values()
        assert await jobs.wait(running, 60)

    played(tmp_path, fifth)


def test_a_short_job_is_kept_only_when_it_turns_out_long(tmp_path: Path) -> None:
    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        short = jobs.start(here, "fit", {}, kept=False)
        long = jobs.start(here, "fit", {}, kept=False)
        await machine_limits()
        assert here.names("jobs") == []
        jobs.keep(long)
        assert here.names("jobs") == [long.job.id]
        work.ends.put_nowait(None)
        work.ends.put_nowait(None)
        assert await jobs.wait(short, 60)
        assert await jobs.wait(long, 60)
        assert here.names("jobs") == [long.job.id]

    played(tmp_path, scene)


def test_damaged_jobs_are_swept_away(tmp_path: Path) -> None:
    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        place = here.place("jobs", MADE)
        place.mkdir(parents=True)
        (place / "about.json").write_text('{"job": ')
        assert jobs.resume([here])[0] == 0
        assert here.names("jobs") == []

    played(tmp_path, scene)


def test_old_jobs_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compass.server.jobs._KEPT", 5)

    async def scene(jobs: Jobs, work: Work, here: Workspace) -> None:
        for _ in range(12):
            work.ends.put_nowait(None)
            assert await jobs.wait(jobs.start(here, "fit", {}), 60)
            assert 1 <= len(here.names("jobs")) <= 10
        assert len(here.names("jobs")) < 10

    played(tmp_path, scene)


def test_a_job_that_ends_in_a_fault_of_compass_is_not_said_to_run_for_ever(tmp_path: Path) -> None:
    async def broken(*_: object) -> dict[str, str]:
        raise ValueError("quotes people's data")

    async def scene() -> None:
        workspace, _ = Store(tmp_path, ServerLimits()).create()
        jobs = Jobs({"fit": broken}, lambda _: None)
        running = jobs.start(workspace, "fit", {})
        with pytest.raises(Refused) as refused:
            await jobs.wait(running, 10)
        assert refused.value.status == 500
        told = jobs.get(workspace, running.job.id)
        assert (told.state, told.problem and told.problem.code) == (State.FAILED, "fault")
        assert "people" not in told.model_dump_json()

    asyncio.run(scene())


def test_who_asks_the_same_meanwhile_waits_for_the_same_job(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Store(tmp_path, ServerLimits())
        (workspace, _), (other, _) = store.create(), store.create()
        ends = asyncio.Event()

        async def asking(_: Workspace, __: dict[str, Any], ___: Running) -> dict[str, str]:
            await ends.wait()
            return {}

        jobs = Jobs({"ask": asking}, lambda _: None)
        first = jobs.start(workspace, "ask", {}, kept=False, answer=NAME)
        assert jobs.about_answer(workspace, "ask", NAME) is first
        assert jobs.about_answer(other, "ask", NAME) is None
        assert jobs.about_answer(workspace, "complete", NAME) is None
        assert jobs.about_answer(workspace, "ask", "1" * 16) is None
        ends.set()
        await jobs.wait(first, 10)
        assert jobs.about_answer(workspace, "ask", NAME) is None

    asyncio.run(scene())


def test_a_job_that_nobody_waits_for_any_more_is_cancelled(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Store(tmp_path, ServerLimits())
        workspace, _ = store.create()

        async def never(_: Workspace, __: dict[str, Any], running: Running) -> dict[str, str]:
            await asyncio.Event().wait()
            return {}

        jobs = Jobs({"complete": never}, lambda _: None, linger=0)
        waiting = jobs.start(workspace, "complete", {}, kept=False, answer=NAME)
        with jobs.wanted(waiting):
            with jobs.wanted(waiting):
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert waiting.job.state is State.WAITING
        await asyncio.wait([task_of(waiting)])
        assert waiting.job.state is State.CANCELLED

    asyncio.run(scene())


def test_a_job_goes_on_for_who_looks_again_soon(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Store(tmp_path, ServerLimits())
        workspace, _ = store.create()
        ends = asyncio.Event()

        async def proving(_: Workspace, __: dict[str, Any], running: Running) -> dict[str, str]:
            running.soon_done = False
            running.began()
            await ends.wait()
            return {}

        jobs = Jobs({"complete": proving}, lambda _: None)
        begun = jobs.start(workspace, "complete", {}, kept=False, answer=NAME)
        for _ in range(3):
            with jobs.wanted(begun):
                assert not await jobs.wait(begun, 0.01)
            await asyncio.sleep(0.01)
            assert jobs.about_answer(workspace, "complete", NAME) is begun
        ends.set()
        with jobs.wanted(begun):
            assert await jobs.wait(begun, 60)

    asyncio.run(scene())


def test_one_that_will_soon_be_done_is_not_worth_ending_a_process_for(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Store(tmp_path, ServerLimits())
        workspace, _ = store.create()
        ends = asyncio.Event()

        async def proving(_: Workspace, given: dict[str, Any], running: Running) -> dict[str, str]:
            running.soon_done = given["soon"]
            running.began()
            await ends.wait()
            return {}

        jobs = Jobs({"complete": proving}, lambda _: None, linger=0)
        short, long = (
            jobs.start(workspace, "complete", {"soon": soon}, kept=False, answer=NAME)
            for soon in (True, False)
        )
        await asyncio.sleep(0)
        for one in (short, long):
            with jobs.wanted(one):
                pass
        await asyncio.wait([task_of(long)])
        assert long.job.state is State.CANCELLED
        ends.set()
        await asyncio.wait([task_of(short)])
        assert short.job.state is State.DONE

    asyncio.run(scene())


def task_of(running: Running) -> "asyncio.Task[None]":
    assert running.task is not None
    return running.task
