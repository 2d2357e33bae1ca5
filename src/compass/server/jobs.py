"""Jobs: started, followed, waited for, cancelled, and resumed after a restart."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from compass.domain.api import Job, Problem, State
from compass.domain.base import Noun
from compass.domain.errors import CompassError
from compass.server import audit, logs
from compass.server.listing import Listing
from compass.server.problems import Refused, disk_problem, fault, problem_of
from compass.server.store import Workspace, new_id, now

_KEPT = 200  # finished jobs that a workspace keeps
_ATTEMPTS = 2  # a job that was running twice when the server died is not tried again
# Seconds that a job goes on for nobody: who looks now and then, or opens a stream again that broke,
# finds it where it was.
_LINGER = 10.0

# Does the work of a job of a workspace; reports progress; returns what it made.
Work = Callable[[Workspace, dict[str, Any], "Running"], Awaitable[dict[str, str]]]


class StoredJob(Noun):
    """A job on disk: its state, and what is needed to run it again."""

    job: Job
    given: dict[str, Any]
    attempts: int = 0


JOBS = Listing("jobs", StoredJob, Job, lambda stored: stored.job.brief())


@dataclass(eq=False)
class Running:
    """A job that is waiting, running, or has ended a moment ago."""

    workspace: Workspace
    job: Job
    given: dict[str, Any]
    attempts: int = 0
    kept: bool = True  # on disk
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    problem: Refused | None = None
    followers: int = 0  # who waits for it, of a job that is only done while somebody does
    lingering: asyncio.TimerHandle | None = None  # until it counts as left alone
    left: bool = False  # nobody has waited for it for some time
    pending: int = 0  # parts that are to come, of a job that completes an answer
    soon_done: bool = True  # whether it ends within seconds, once it has begun
    elsewhere: bool = False  # another server does it: here it is only followed
    saves: "Callable[[Running], None] | None" = None  # keeps it; none: as a thing on disk

    @property
    def key(self) -> tuple[str, str]:
        """By what it is found: its workspace and its name."""
        return self.workspace.id, self.job.id

    def update(self, **fields: Any) -> None:
        """Change its fields and wake everybody who follows it."""
        self.job = self.job.model_copy(update=fields)
        self.changed.set()
        self.changed = asyncio.Event()

    def report(self, shown: dict[str, Any]) -> None:
        """Note the progress that a working process reports."""
        self.update(stage=shown["stage"], done=shown["done"], total=shown["total"])

    def began(self) -> None:
        """Note that a working process has started on it."""
        # Counted here: work that only waited when a server died is not to blame for that.
        self.attempts += 1
        self.update(state=State.RUNNING)
        self.save()

    def save(self) -> None:
        """Keep it as it is now."""
        if self.saves is not None:
            self.saves(self)
        elif self.kept:
            stored = StoredJob(job=self.job, given=self.given, attempts=self.attempts)
            self.workspace.put("jobs", self.job.id, stored)


class Jobs:
    """All jobs of a server."""

    def __init__(
        self,
        work: dict[str, Work],
        ended: Callable[[Job], None],
        linger: float = _LINGER,
        note_end: Callable[[Workspace, Job], None] = lambda *_: None,
    ) -> None:
        self.note_end = note_end
        self.work = work
        self.ended = ended
        self.linger = linger
        self.running: dict[tuple[str, str], Running] = {}
        self.closing = False

    def start(
        self,
        workspace: Workspace,
        kind: str,
        given: dict[str, Any],
        *,
        kept: bool = True,
        **about: str,
    ) -> Running:
        """Begin a job; `about` names what it makes or learns from: dataset, engine or answer."""
        job = Job(id=new_id(), kind=kind, created=now(), **about)
        audit.note(job=job.id, **about)
        return self._begin(Running(workspace, job, given, kept=kept))

    def about_answer(self, workspace: Workspace, kind: str, answer: str) -> Running | None:
        """The job of a kind that is about an answer right now: who wants the same waits for it."""
        for (owner, _), running in self.running.items():
            same = owner == workspace.id and (running.job.kind, running.job.answer) == (
                kind,
                answer,
            )
            if same and not running.job.state.over:
                return running
        return None

    @contextmanager
    def wanted(self, running: Running) -> Iterator[None]:
        """Somebody waits for a job; some time after nobody does any more, it is cancelled."""
        running.followers += 1
        running.left = False
        if running.lingering is not None:
            running.lingering.cancel()
        try:
            yield
        finally:
            running.followers -= 1
            self.linger_on(running)

    def linger_on(self, running: Running) -> None:
        """Go on with a job for some time, unless somebody waits for it."""
        if not running.followers:
            loop = asyncio.get_running_loop()
            running.lingering = loop.call_later(self.linger, self._leave, running)

    def _leave(self, running: Running) -> None:
        """Cancel a job that nobody waits for any more.

        One that has a working process and will soon be done is left alone: to end it is to end the
        process, and the next one has to load the engine again.
        """
        running.left = True
        begun = running.job.state is State.RUNNING and running.soon_done
        if running.task is not None and not begun:
            running.task.cancel()

    def keep(self, running: Running) -> None:
        """Keep a job on disk that was thought to be short, so that it survives a restart."""
        running.kept = True
        running.save()

    def _begin(self, running: Running) -> Running:
        running.save()
        self.running[running.key] = running
        running.task = asyncio.create_task(self._run(running))
        return running

    async def _run(self, running: Running) -> None:
        try:
            made = await self.work[running.job.kind](running.workspace, running.given, running)
            running.update(state=State.DONE, ended=now(), **made)
        except asyncio.CancelledError:
            if self.goes_on(running):
                self._put_off(running)
                return
            running.update(state=State.CANCELLED, ended=now())
        except CompassError as error:
            if self.closing and isinstance(error, Refused) and error.problem.code == "closing":
                return
            self._failed(running, error)
        except OSError as error:
            logs.trouble("disk", error)
            self._failed(running, disk_problem(error))
        except Exception as error:
            # Or it would seem to run for ever.
            self._failed(running, fault(logs.note_fault(error, job=running.job.kind)))
        finally:
            if running.job.state.over:
                self._end(running)

    def goes_on(self, running: Running, error: BaseException | None = None) -> bool:
        """Whether a job that is stopped here goes on elsewhere: in the next server, or another."""
        del error  # what stopped it
        return self.closing or running.elsewhere

    def _put_off(self, running: Running) -> None:
        """Leave a job to the next server; that it was stopped in good order does not count."""
        running.attempts = max(0, running.attempts - 1)
        with suppress(OSError, Refused):
            running.save()

    def _failed(self, running: Running, error: CompassError) -> None:
        status, problem = problem_of(error)
        running.problem = error if isinstance(error, Refused) else Refused.of(status, problem)
        running.update(state=State.FAILED, ended=now(), problem=problem)

    def _end(self, running: Running) -> None:
        self.ended(running.job)
        self.note_end(running.workspace, running.job)
        try:
            running.save()
            if running.kept:
                self._prune(running.workspace)
        except (OSError, Refused):
            pass  # a full disk must not hide how the job ended; it is still shown from memory
        if running.kept:
            # From now on it is read from disk.
            self.running.pop(running.key, None)
        elif len(self.running) > _KEPT:
            ended = [key for key, one in self.running.items() if one.job.state.over]
            for key in ended[:-_KEPT]:
                del self.running[key]

    @staticmethod
    def _prune(workspace: Workspace) -> None:
        names = workspace.names("jobs")
        if len(names) <= 2 * _KEPT:
            return
        over = []
        for name in names:
            with suppress(Refused):
                job = workspace.get("jobs", name, StoredJob).job
                over += [job] if job.state.over else []
        for job in sorted(over, key=lambda job: job.created)[:-_KEPT]:
            workspace.remove("jobs", job.id)

    def found(self, workspace: Workspace, name: str) -> Running | None:
        """A job that can be followed; None: it is over, or there is none."""
        return self.running.get((workspace.id, name))

    def get(self, workspace: Workspace, name: str) -> Job:
        """The state of a job."""
        running = self.running.get((workspace.id, name))
        return running.job if running else workspace.get("jobs", name, StoredJob).job

    def of(self, workspace: Workspace) -> list[Job]:
        """The jobs of a workspace that are not over."""
        own = [one.job for one in self.running.values() if one.workspace is workspace]
        return [job for job in own if not job.state.over]

    def live(self, workspaces: Sequence[Workspace]) -> dict[tuple[str, str], Job]:
        """The jobs of workspaces that are in memory, as lists show them."""
        found = [one for one in self.running.values() if one.workspace in workspaces]
        return {(one.workspace.id, one.job.id): one.job.brief() for one in found}

    async def wait(self, running: Running, seconds: float) -> bool:
        """Whether a job ended within this time; a job that failed raises its problem."""
        if running.task is not None and not running.job.state.over:
            await asyncio.wait([running.task], timeout=seconds)
        if running.problem is not None:
            raise running.problem
        return running.job.state is State.DONE

    async def follow(self, workspace: Workspace, name: str) -> AsyncIterator[Job]:
        """A job each time something about it is new, until it is over or the server closes."""
        running = self.found(workspace, name)
        if running is None:
            yield self.get(workspace, name)
            return
        while True:
            changed = running.changed
            yield running.job
            if running.job.state.over or self.closing:
                return
            await changed.wait()

    async def less_pending(self, running: Running, parts: int) -> None:
        """Wait until fewer parts are pending, the job is over, or the server closes."""
        while running.pending >= parts and not (running.job.state.over or self.closing):
            await running.changed.wait()

    async def cancel(self, workspace: Workspace, name: str) -> Job:
        """End a job; one that is over stays as it is."""
        running = self.running.get((workspace.id, name))
        if running is None:
            return self.get(workspace, name)
        if running.task is not None and not running.job.state.over:
            running.task.cancel()
            await asyncio.wait([running.task])
        return running.job

    def resume(self, workspaces: list[Workspace]) -> tuple[int, set[str]]:
        """Take up the jobs that a server left when it ended.

        How many, and the datasets that jobs which are over read or were to take in.
        """
        count, ended = 0, set()
        for workspace in workspaces:
            for name in workspace.names("jobs"):
                try:
                    stored = workspace.get("jobs", name, StoredJob)
                except Refused as refused:
                    workspace.set_aside("jobs", name, refused.problem.error)
                    continue
                running = Running(workspace, stored.job, stored.given, stored.attempts)
                if self._again(running):
                    count += 1
                else:
                    ended |= {stored.given.get(key) for key in ("dataset", "runs")}
        return count, {one for one in ended if isinstance(one, str)}

    def _again(self, running: Running) -> bool:
        """Go on with a job of an earlier server, unless it is over or ended servers before."""
        if running.job.state.over:
            return False
        if running.attempts >= _ATTEMPTS or running.job.kind not in self.work:
            why = Problem(
                error="the server ended while this was running, more than once",
                hint="start it again, with less data if it was large",
                code="interrupted",
            )
            running.update(state=State.FAILED, ended=now(), problem=why)
            running.save()
            return False
        running.update(state=State.WAITING, stage="", done=0, total=0)
        self._begin(running)
        return True

    def drain(self) -> None:
        """End all streams that follow jobs."""
        self.closing = True
        for running in self.running.values():
            running.update()

    async def close(self) -> None:
        """Leave all jobs as they are on disk, for the next server."""
        self.drain()
        tasks = [one.task for one in self.running.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
