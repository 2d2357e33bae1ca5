"""Jobs of a state that servers share, as two of its servers see them in one process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from database_case import Two, opened

from compass.domain.api import DatasetInfo, Job, State
from compass.server.database.jobs import DatabaseJobs
from compass.server.jobs import Running
from compass.server.problems import unreachable
from compass.server.store import ABOUT, Workspace, new_id, now
from postgres_lab import PostgresLab

Scene = Callable[[list[DatabaseJobs], list[Workspace]], Awaitable[None]]


@pytest.fixture(scope="module")
def two(postgres: PostgresLab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with opened(postgres, tmp_path_factory.mktemp("jobs") / "state") as found:
        yield found


async def working(_: Workspace, __: dict[str, Any], running: Running) -> dict[str, str]:
    """Work that goes on until it is cancelled."""
    running.began()
    await asyncio.Event().wait()
    return {}


def played(two: Two, scene: Scene) -> list[Job]:
    """What ended while two servers did something."""
    ended: list[Job] = []
    workspaces = two.both()

    def jobs(which: int) -> DatabaseJobs:
        return DatabaseJobs(
            {"fit": working, "read": working},
            ended=ended.append,
            note_end=lambda *_: None,
            store=two.stores[which],
            database=two.databases[which],
            most=lambda _: 9,
        )

    async def play() -> None:
        both = [jobs(0), jobs(1)]
        try:
            await scene(both, workspaces)
        finally:
            for one in both:
                await one.close()

    asyncio.run(play())
    two.stores[0].forget(workspaces[0])
    return ended


def unread(workspace: Workspace) -> str:
    """A dataset that is to be read."""
    name = new_id()
    about = DatasetInfo(id=name, name="d", created=now(), bytes=1, reader="csv")
    with workspace.making("datasets", name) as draft:
        (draft / ABOUT).write_text(about.model_dump_json())
    return name


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not is_so():
            await asyncio.sleep(0.05)


def test_a_job_of_the_other_is_told_when_it_changes_and_until_one_closes(two: Two) -> None:
    told: list[Job] = []
    seen = told.append

    async def scene(jobs: list[DatabaseJobs], workspaces: list[Workspace]) -> None:
        for one in jobs:
            one.resume([])
        begun = jobs[0].start(workspaces[0], "fit", {}, engine=new_id())

        async def follow() -> None:
            async for job in jobs[1].follow(workspaces[1], begun.job.id):
                seen(job)

        following = asyncio.create_task(follow())
        await until(lambda: bool(told) and told[-1].state is State.RUNNING)
        await asyncio.sleep(1)  # five looks
        jobs[1].drain()
        await following

    played(two, scene)
    # When it began, when it was at work, and when the server closed; not at each look.
    assert len(told) <= 4


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_dataset_that_nobody_will_read_is_removed(two: Two, cancelled: bool) -> None:
    async def scene(jobs: list[DatabaseJobs], workspaces: list[Workspace]) -> None:
        name = unread(workspaces[0])
        begun = jobs[0].start(workspaces[0], "read", {"dataset": name}, dataset=name)
        begun.attempts = 2  # as often as it may be tried
        if cancelled:
            jobs[0].claims.cancel(begun.key)
        jobs[0].claims.release(begun)  # as if its server had ended
        jobs[1].resume([])
        await until(lambda: not workspaces[1].has("datasets", name))
        found = jobs[1].get(workspaces[1], begun.job.id)
        assert found.state is (State.CANCELLED if cancelled else State.FAILED)

    played(two, scene)


def test_a_job_is_tried_again_where_the_database_did_not_answer(two: Two) -> None:
    async def scene(jobs: list[DatabaseJobs], workspaces: list[Workspace]) -> None:
        begun = jobs[0].start(workspaces[0], "fit", {}, engine=new_id())
        assert jobs[0].goes_on(begun, unreachable())
        assert not jobs[0].goes_on(begun, asyncio.CancelledError())

    played(two, scene)


def test_a_job_that_the_other_cancels_may_take_its_time_to_end(two: Two) -> None:
    put_away: list[str] = []

    async def slow(_: Workspace, __: dict[str, Any], running: Running) -> dict[str, str]:
        running.began()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(1)  # five looks
            put_away.append(running.job.id)
        return {}

    async def scene(jobs: list[DatabaseJobs], workspaces: list[Workspace]) -> None:
        jobs[0].work = {"fit": slow}
        for one in jobs:
            one.resume([])
        begun = jobs[0].start(workspaces[0], "fit", {}, engine=new_id())
        await until(lambda: begun.job.state is State.RUNNING)
        found = await jobs[1].cancel(workspaces[1], begun.job.id)
        assert found.state is State.CANCELLED
        assert put_away == [begun.job.id]

    assert [one.state for one in played(two, scene)] == [State.CANCELLED]
