"""The jobs of servers that share a state: each is done by one of them, and followed at any.

A job that another server does is a `Running` here too, which is brought up to date by looking at
the database; whoever waits for it need not know where it is done.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from compass.domain.api import DatasetInfo, Job, State
from compass.domain.errors import CompassError
from compass.server import audit, logs
from compass.server.database.claims import Claim, Claims, Key
from compass.server.database.connection import StateDatabase
from compass.server.database.tables import DEAD_AFTER
from compass.server.jobs import Jobs, Running, StoredJob, Work
from compass.server.people import Person, being, current
from compass.server.problems import Refused
from compass.server.store import Store, Workspace, new_id, now

_LOOK = 0.2  # seconds between two looks at the database
_TAKE = 5  # looks between two for jobs that nobody does
_MOST = 8  # jobs that are taken at once: others take the rest
_PRUNE = 150  # looks between two removals of jobs that are over
_DATABASE = "database"  # the code of a problem that is none of the job
_TAKEN_IN = {"read": "dataset", "tell": "runs"}  # by kind of job, which dataset is of no use else


class DatabaseJobs(Jobs):
    """All jobs of a state, as one of its servers sees them."""

    def __init__(
        self,
        work: dict[str, Work],
        *,
        ended: Callable[[Job], None],
        note_end: Callable[[Workspace, Job], None],
        store: Store,
        database: StateDatabase,
        most: Callable[[str], int],
    ) -> None:
        super().__init__(work, ended=ended, note_end=note_end)
        self.store = store
        self.database = database
        self.claims = Claims(database)
        self.most = most  # pieces of work of a user, waiting or running
        self._watched: dict[Key, Running] = {}  # jobs that other servers do
        self._told: dict[Key, tuple[Job, int]] = {}  # what others know of one's own jobs
        self._looking: asyncio.Task[None] | None = None

    def start(
        self,
        workspace: Workspace,
        kind: str,
        given: dict[str, Any],
        *,
        kept: bool = True,
        **about: str,
    ) -> Running:
        """Begin a job, unless one about the same is under way at another server."""
        job = Job(id=new_id(), kind=kind, created=now(), **about)
        running = Running(workspace, job, given, kept=kept, saves=self._save)
        someone = current()
        there = self.claims.add(
            running,
            "/".join((kind, *about.values())),
            of_workspace=workspace.limits.waiting_per_workspace,
            of_user=None if someone is None else self.most(someone.name),
        )
        audit.note(job=job.id if there is None else there.stored.job.id, **about)
        if there is None:
            return self._going(running)
        own = self.running.get(there.key)
        return self._watch(workspace, there) if own is None else own

    def _going(self, running: Running) -> Running:
        """Do a job that is claimed already."""
        self.running[running.key] = running
        running.task = asyncio.create_task(self._run(running))
        return running

    def _watch(self, workspace: Workspace, claim: Claim) -> Running:
        """Follow a job that another server does."""
        known = self._watched.get(claim.key)
        if known is not None:
            return known
        stored = claim.stored
        watched = Running(workspace, stored.job, stored.given, stored.attempts, claim.kept)
        watched.elsewhere = True
        self._watched[claim.key] = watched
        watched.task = asyncio.create_task(self._until_over(watched))
        return watched

    async def _until_over(self, watched: Running) -> None:
        while not watched.job.state.over:
            await watched.changed.wait()

    def _save(self, running: Running) -> None:
        if not self.claims.save(running):
            self._lose(running)

    def keep(self, running: Running) -> None:
        """Keep a job that was thought to be short."""
        running.kept = True
        self.claims.keep(running.key)

    def _leave(self, running: Running) -> None:
        if running.elsewhere:
            running.left = True
        elif not running.job.state.over and self._wanted_elsewhere(running):
            self.linger_on(running)
        else:
            super()._leave(running)

    def _wanted_elsewhere(self, running: Running) -> bool:
        try:
            return self.claims.wanted(running.key, self.linger)
        except Refused:
            return False

    # Ends

    def goes_on(self, running: Running, error: BaseException | None = None) -> bool:
        """Whether a job that is stopped here goes on elsewhere, or is tried again."""
        return super().goes_on(running, error) or _of_database(error)

    def _failed(self, running: Running, error: CompassError) -> None:
        if _of_database(error):
            self._follow_on(running)  # it is let go, and tried again
            return
        super()._failed(running, error)

    def _end(self, running: Running) -> None:
        self.running.pop(running.key, None)
        self._told.pop(running.key, None)
        try:
            if not self.claims.end(running):
                return  # another server has it, and tells how it ends
            self.ended(running.job)
            self.note_end(running.workspace, running.job)
            if running.kept:
                self._prune(running.workspace)
        except (OSError, Refused):
            pass  # logged; it is let go, and its work is found done

    def _put_off(self, running: Running) -> None:
        self.running.pop(running.key, None)
        if running.elsewhere:
            return
        running.attempts = max(0, running.attempts - 1)
        running.update(state=State.WAITING, stage="", done=0, total=0)
        with suppress(Refused):  # logged; the others find this server dead
            self.claims.release(running)

    def _lose(self, running: Running) -> None:
        """Leave a job alone that another server has taken, as this one seemed dead."""
        logs.trouble("job-lost", kind=running.job.kind, job=running.job.id)
        task = running.task
        self._follow_on(running)
        if task is not None:
            task.cancel()

    def _follow_on(self, running: Running) -> None:
        """Let go of a job; those who follow it here see how it goes on."""
        running.elsewhere = True
        self.running.pop(running.key, None)
        self._told.pop(running.key, None)
        self._watched[running.key] = running
        running.task = asyncio.create_task(self._until_over(running))

    # What is known of jobs

    def found(self, workspace: Workspace, name: str) -> Running | None:
        """A job that can be followed; None: it is over, or there is none."""
        key = (workspace.id, name)
        own = self.running.get(key) or self._watched.get(key)
        if own is not None:
            return own
        claim = self.claims.get(key)
        return None if claim is None or claim.over else self._watch(workspace, claim)

    def get(self, workspace: Workspace, name: str) -> Job:
        """The state of a job."""
        own = self.running.get((workspace.id, name))
        if own is not None:
            return own.job
        claim = self.claims.get((workspace.id, name))
        if claim is not None:
            return claim.stored.job
        return workspace.get("jobs", name, StoredJob).job

    def of(self, workspace: Workspace) -> list[Job]:
        """The jobs of a workspace that are not over, at all servers."""
        return [one.stored.job for one in self.claims.live([workspace.id])]

    def live(self, workspaces: Sequence[Workspace]) -> dict[tuple[str, str], Job]:
        """The jobs of workspaces that are not over, as lists show them."""
        known = {one.key: one.stored.job for one in self.claims.live([w.id for w in workspaces])}
        known |= {key: self.running[key].job for key in known if key in self.running}
        return {key: job.brief() for key, job in known.items()}

    async def cancel(self, workspace: Workspace, name: str) -> Job:
        """End a job, wherever it is done; one that is over stays as it is."""
        if (workspace.id, name) in self.running:
            return await super().cancel(workspace, name)
        running = self.found(workspace, name)
        if running is None:
            return self.get(workspace, name)
        self.claims.cancel(running.key)
        if running.task is not None:
            await asyncio.wait([running.task], timeout=2 * DEAD_AFTER)
        return running.job

    # Looking at the database

    def resume(self, workspaces: list[Workspace]) -> tuple[int, set[str]]:
        """Begin to look at the database; take jobs that nobody does."""
        del workspaces  # jobs are found without them
        taken = self.claims.take(_MOST)
        for claim in taken:
            self._take(claim)
        self._looking = asyncio.create_task(self._look_on())
        return len(taken), set()

    async def _look_on(self) -> None:
        looks = 0
        while True:
            try:
                await self._look(tells=looks % _TAKE == 0)
                if looks % _TAKE == 0:
                    await self._take_free()
                if looks % _PRUNE == 0:
                    await asyncio.to_thread(self.claims.prune)
            except Refused:
                pass  # logged; the database may be there again in a moment
            except Exception as error:
                logs.note_fault(error)  # or nobody would look any more
            looks += 1
            await asyncio.sleep(_LOOK)

    async def _look(self, *, tells: bool) -> None:
        """Bring what others do up to date; `tells` them for which of it somebody waits here."""
        own = dict(self.running)
        now_told = {key: (one.job, one.pending) for key, one in own.items()}
        changed = [one for key, one in own.items() if self._told.get(key) != now_told[key]]
        watched = dict(self._watched)
        wanted = [key for key, one in watched.items() if one.followers and tells]
        found = await asyncio.to_thread(self.claims.look, changed, list(watched), wanted)
        self._told = {key: told for key, told in now_told.items() if key in self.running}
        for key, running in own.items():
            if self.running.get(key) is running:
                self._compare(running, found.get(key))
        for key, one in watched.items():
            self._follow(one, found.get(key))
        server = self.database.server
        own_ones = (key for key, one in found.items() if one.server == server and not one.over)
        await self._let_go([key for key in own_ones if key not in self.running])

    def _compare(self, running: Running, claim: Claim | None) -> None:
        """A job of this server, and what the database says of it."""
        if claim is None or claim.server != self.database.server:
            self._lose(running)
        elif claim.cancelled and running.task is not None and not running.task.cancelling():
            running.task.cancel()  # once: its work may take longer to end than one look

    def _follow(self, watched: Running, claim: Claim | None) -> None:
        """A job of another server, and what the database says of it."""
        if claim is None:
            self._forget(watched)
            return
        before = watched.job, watched.pending
        if claim.pending is not None:
            watched.pending = claim.pending
        job = claim.stored.job
        if claim.over and job.problem is not None and claim.status is not None:
            watched.problem = Refused.of(claim.status, job.problem)
            watched.problem.retry_after = claim.retry_after
        if (job, watched.pending) != before:
            watched.update(**dict(job))
        if claim.over:
            self._watched.pop(watched.key, None)

    def _forget(self, watched: Running) -> None:
        """A job whose workspace was deleted, or that ended so long ago that only that is known."""
        self._watched.pop(watched.key, None)
        try:
            job = watched.workspace.get("jobs", watched.job.id, StoredJob).job
        except Refused:
            job = watched.job.model_copy(update={"state": State.CANCELLED, "ended": now()})
        watched.update(**dict(job))

    def _discard(self, running: Running) -> None:
        """Remove a dataset that a job which came to nothing was to read or to take in."""
        name = running.given.get(_TAKEN_IN.get(running.job.kind, ""))
        with suppress(OSError, Refused):  # logged; it is shown as one that could not be read
            if name and not running.workspace.get("datasets", name, DatasetInfo).ready:
                running.workspace.remove("datasets", name)

    async def _let_go(self, keys: Collection[Key]) -> None:
        """Jobs that this server has by the database, and does not do: others may."""
        if keys:
            await asyncio.to_thread(self.claims.drop, keys)

    async def _take_free(self) -> None:
        """Take over jobs whose server is dead, or has let them go."""
        if self.closing or not self.database.knows_others:
            return
        for claim in await asyncio.to_thread(self.claims.take, _MOST):
            if self.closing:
                await self._let_go([claim.key])
            else:
                self._take(claim)

    def _take(self, claim: Claim) -> None:
        stored, (owner, _) = claim.stored, claim.key
        try:
            workspace = self.store.shared if owner == "shared" else self.store.named(owner)
        except Refused:
            return  # deleted meanwhile, and the claim with it
        running = Running(
            workspace, stored.job, stored.given, stored.attempts, claim.kept, saves=self._save
        )
        logs.event("job-taken", kind=stored.job.kind, job=stored.job.id, attempts=stored.attempts)
        if claim.cancelled:
            running.update(state=State.CANCELLED, ended=now())
            self._end(running)
            self._discard(running)
            return
        # As if whoever asked for it had asked here.
        with being(None if claim.person is None else Person(name=claim.person)):
            if not self._again(running):
                self._end(running)
                self._discard(running)
            elif stored.job.kind == "complete":
                self.linger_on(running)

    def drain(self) -> None:
        """End all streams that follow jobs, also those of other servers."""
        super().drain()
        for watched in self._watched.values():
            watched.update()

    async def close(self) -> None:
        """Leave all jobs to the other servers, or to the next one."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        for watched in self._watched.values():
            if watched.task is not None:
                watched.task.cancel()
        await super().close()


def _of_database(error: BaseException | None) -> bool:
    return isinstance(error, Refused) and error.problem.code == _DATABASE
