"""The service behind the routes: the store, the working processes, and what they can do.

Decision 0027 (docs/decisions).
"""

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.answer import Answer, Curve, Suggestion
from compass.domain.api import AnswerInfo, DatasetInfo, EngineInfo, Job, ModelInfo, Problem
from compass.domain.base import Config
from compass.domain.limits import ServerLimits
from compass.server import answers, audit, logs
from compass.server.audit import AuditLog
from compass.server.file_checks import allowed
from compass.server.job_work import ENGINE, WORK
from compass.server.jobs import Jobs, Running, Work
from compass.server.language_model import language_model
from compass.server.listing import DATASETS, every
from compass.server.metrics import Metrics
from compass.server.people import UserShares, limits_of, owner_of_user
from compass.server.pool import Pool
from compass.server.problems import Refused, no_suggestion, not_found
from compass.server.settings import CHAT_WORKER_BYTES, ServerSettings, machine_limits
from compass.server.slots import Slots, WorkspaceCreators
from compass.server.store import Kind, Store, Workspace, answer_id
from compass.server.streams import Event, Events
from compass.server.tasks import CATALOGUE

if TYPE_CHECKING:
    from compass.server.database.connection import StateDatabase

_FREQUENT = ("ask", "complete")  # jobs that are only counted
_LIST_THREADS = 4  # lists that are read at once
_TURN = 0.1  # seconds between two looks whether another server is done


def _database(settings: ServerSettings) -> "StateDatabase | None":
    if settings.store is None:
        return None
    from compass.server.database.connection import StateDatabase

    return StateDatabase(settings.store.get_secret_value())


def _store(
    settings: ServerSettings, limits: ServerLimits, database: "StateDatabase | None"
) -> Store:
    if database is None:
        return Store(settings.state, limits)
    from compass.server.database.store import DatabaseStore

    try:
        return DatabaseStore(settings.state, limits, database)
    except BaseException:
        database.close()
        raise


def _slots(what: str, most: int, of_workspace: int, limits: ServerLimits) -> Slots:
    return Slots(what, most, min(of_workspace, most), limits.of_address(most))


class Service:
    """One server's state and its working processes."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.limits = machine_limits(settings.limits)
        self.database = _database(settings)
        self.store = _store(settings, self.limits, self.database)
        # Of servers that share a state, each has a file of its own.
        self.audit = AuditLog(self.store.root, self.database.server if self.database else "")
        self.metrics = Metrics()
        self.users = UserShares(self._waiting_most)
        self.ask_pool = Pool(self.limits.ask_workers, self.limits, self.users)
        self.fit_pool = Pool(self.limits.fit_workers, self.limits, self.users)
        # Of their own: a message must not wait for questions that take minutes.
        small = min(self.limits.memory_bytes, CHAT_WORKER_BYTES)
        self.chat_pool = Pool(
            self.limits.chat_workers,
            self.limits.model_copy(update={"memory_bytes": small}),
            self.users,
        )
        self.jobs = self._jobs()
        self.uploads = _slots(
            "uploads", self.limits.uploads, self.limits.uploads_per_workspace, self.limits
        )
        self.streams = _slots(
            "event streams", self.limits.streams, self.limits.streams_per_workspace, self.limits
        )
        most = self.limits.of_address(self.limits.workspaces)
        self.creators = WorkspaceCreators(most, self.store.unused)
        self._chat_locks: dict[str, asyncio.Lock] = {}
        self.list_threads = ThreadPoolExecutor(_LIST_THREADS, thread_name_prefix="list")
        self.model = language_model(settings)
        self.leaving = False  # told to stop, but still serving: those who ask are sent elsewhere
        self.unlearnt: dict[str, tuple[str, ...]] = {}  # outcomes by engine, as far as looked at

    def _jobs(self) -> Jobs:
        work: dict[str, Work] = {kind: partial(one, self) for kind, one in WORK.items()}
        if self.database is None:
            return Jobs(work, ended=self._noted, note_end=self.audit.ended)
        from compass.server.database.jobs import DatabaseJobs

        return DatabaseJobs(
            work,
            ended=self._noted,
            note_end=self.audit.ended,
            store=self.store,
            database=self.database,
            most=self._waiting_most,
        )

    def _noted(self, job: Job) -> None:
        """Count a job that has ended, and tell the operator of one that failed."""
        self.metrics.jobs.labels(job.kind, job.state.value).inc()
        if job.kind not in _FREQUENT or job.problem is not None:
            logs.event("job", kind=job.kind, state=job.state, code=job.problem and job.problem.code)

    @asynccontextmanager
    async def chat_turn(self, workspace: Workspace, chat: str) -> AsyncIterator[None]:
        """Lock a conversation: two messages at once are handled one after the other."""
        key = f"{workspace.id}/{chat}"
        lock = self._chat_locks.setdefault(key, asyncio.Lock())
        try:
            async with lock, self.alone(f"chat {key}"):
                yield
        finally:
            if not lock.locked() and self._chat_locks.get(key) is lock:
                del self._chat_locks[key]

    @asynccontextmanager
    async def alone(self, what: str) -> AsyncIterator[None]:
        """Do what no other server of this state does meanwhile; without others, at once."""
        if self.database is None:
            yield
            return
        while not await asyncio.to_thread(self.database.lock, what):
            await asyncio.sleep(_TURN)
        try:
            yield
        finally:
            # Not given up before it is done: a request that is cancelled would leave it locked.
            await asyncio.shield(asyncio.to_thread(self.database.unlock, what))

    def _waiting_most(self, user: str) -> int:
        return limits_of(owner_of_user(user), self.limits, self.settings).waiting_per_user

    def resume(self) -> int:
        """Resume the jobs that an earlier server left; return how many."""
        count, ended = self.jobs.resume(self.store.everybody())
        if self.database is not None:
            return count  # what seems left over may be what another server is about to work on
        live = self.jobs.running.values()
        wanted = {one.given.get(key) for one in live for key in ("dataset", "runs")}
        for workspace in self.store.everybody()[1:]:
            for about in every(workspace, DATASETS):
                if about.ready or about.id in wanted:
                    continue
                if about.id in ended:  # its job came to nothing, which was reported
                    workspace.remove("datasets", about.id)
                else:
                    workspace.set_aside("datasets", about.id, "no job tells what to do with it")
        return count

    @property
    def idle(self) -> bool:
        """Whether there is no work, running or waiting, and no stream is open."""
        pools = (self.ask_pool, self.fit_pool, self.chat_pool)
        return not (self.streams.now or any(one.busy or one.queued for one in pools))

    @property
    def ready(self) -> bool:
        """Whether new requests should still be sent here."""
        reached = self.database is None or self.database.reached
        return reached and not (self.leaving or self.ask_pool.closed)

    def drain(self) -> None:
        """Take no more work and end the event streams; work under way goes on."""
        for pool in (self.ask_pool, self.fit_pool, self.chat_pool):
            pool.closed = True
        self.jobs.drain()

    async def close(self) -> None:
        """End all work; what is on disk stays for the next server."""
        await self.jobs.close()
        await self.ask_pool.close()
        await self.fit_pool.close()
        self.list_threads.shutdown(wait=False, cancel_futures=True)
        await self.chat_pool.close()
        if self.model is not None:
            self.model.close()
        self.store.close()

    # Where things are

    def owner_of(self, workspace: Workspace, kind: Kind, name: str) -> Workspace:
        """The workspace that has a thing: one's own, or the one that everybody may use."""
        for one in (workspace, self.store.shared):
            if one.there(kind, name):
                return one
        raise not_found(kind.removesuffix("s"))

    def dataset(self, workspace: Workspace, name: str) -> DatasetInfo:
        """A dataset that this workspace may use."""
        owner = self.owner_of(workspace, "datasets", name)
        found = owner.get("datasets", name, DatasetInfo)
        # Where the operator has what is offered to everybody is nobody's business.
        return found.model_copy(update={"path": None}) if owner.shared else found

    def ready_dataset(self, workspace: Workspace, name: str) -> DatasetInfo:
        """A dataset that this workspace may use and that has been read."""
        found = self.dataset(workspace, name)
        if not found.ready:
            raise Refused(
                409,
                "not-ready",
                "this dataset is still being read, or could not be",
                hint="look at its job",
            )
        return found

    def engine(self, workspace: Workspace, name: str) -> EngineInfo:
        """An engine that this workspace may use."""
        return self.owner_of(workspace, "engines", name).get("engines", name, EngineInfo)

    def engine_path(self, workspace: Workspace, name: str) -> Path:
        """Where an engine is saved."""
        return self.owner_of(workspace, "engines", name).place("engines", name) / ENGINE

    def data_path(self, workspace: Workspace, name: str) -> Path:
        """The file of a dataset; one that was named by path is looked at again each time."""
        owner = self.owner_of(workspace, "datasets", name)
        about = owner.get("datasets", name, DatasetInfo)
        if about.catalogue is not None:
            return Path(f"{CATALOGUE}{about.catalogue}")
        if about.path is None:
            return owner.place("datasets", name) / f"runs.{about.reader}"
        if owner.shared:
            return Path(about.path)
        return allowed(about.path, self.settings.folders)

    def dataset_task(
        self, workspace: Workspace, name: str, study: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """A dataset as a working process needs it, with its own study unless one is given."""
        about = self.ready_dataset(workspace, name)
        if study is None:
            study = about.study.model_dump(mode="json", exclude_defaults=True)
        path = str(self.data_path(workspace, name))
        return {"path": path, "study": study, "called": about.name}

    def model_task(self, workspace: Workspace, name: str, columns: Any = None) -> dict[str, Any]:
        """A model that somebody brought, as a working process needs it."""
        about = workspace.get("models", name, ModelInfo)
        path = workspace.place("models", name) / "model"
        return {"path": str(path), "name": about.name, "columns": columns}

    # Work that is done at once

    async def run_task(self, workspace: Workspace, task: str, given: dict[str, Any]) -> Any:
        """Run a short task in a working process and return its result as JSON values."""
        return json.loads(await self.run_task_bytes(workspace, task, given))

    async def run_engine_task(
        self, workspace: Workspace, engine: str, task: str, **given: Any
    ) -> Any:
        """Run a short task about an engine that this workspace may use."""
        path = str(self.engine_path(workspace, engine))
        return await self.run_task(workspace, task, {"engine": path, **given})

    async def run_task_bytes(self, workspace: Workspace, task: str, given: dict[str, Any]) -> bytes:
        """Run a short task and return its result as the bytes of JSON."""
        return await self.ask_pool.do(
            task,
            given,
            owner=workspace.id,
            seconds=self.limits.query_seconds,
            warm=given.get("engine") or given.get("path"),
        )

    # Answers

    def answer_job(
        self, workspace: Workspace, engine: str, question: dict[str, Any]
    ) -> tuple[str, Running | None]:
        """The name of an answer, and the job that makes it unless it is there already."""
        made = answer_id(engine, question)
        audit.note(answer=made)
        if workspace.has("answers", made):
            return made, None
        running = self.jobs.about_answer(workspace, "ask", made)
        if running is None:
            self.ask_pool.admit(workspace.id)
            work = {"answer": made, "engine": engine, "question": question}
            running = self.jobs.start(workspace, "ask", work, kept=False, answer=made)
        return made, running

    def completing(self, workspace: Workspace, name: str) -> Running | None:
        """The job that works on what is pending of an answer; None: nothing is.

        It goes on as long as somebody waits for it (`Jobs.wanted`).
        """
        pending = workspace.get("answers", name, AnswerInfo).pending
        if not pending:
            return None
        running = self.jobs.about_answer(workspace, "complete", name)
        if running is None:
            self.ask_pool.admit(workspace.id)
            work = {"answer": name}
            running = self.jobs.start(workspace, "complete", work, kept=False, answer=name)
            running.pending = len(pending)
            self.jobs.linger_on(running)
        return running

    async def completed(self, workspace: Workspace, name: str, seconds: float) -> Problem | None:
        """Wait for what is pending of an answer, so long at most; why it will never come, if so.

        What may go well another time (a server that is busy, or closes) is raised.
        """
        running = self.completing(workspace, name) if seconds > 0 else None
        if running is None:
            return None
        with self.jobs.wanted(running):
            try:
                await self.jobs.wait(running, seconds)
            except Refused as refused:
                if refused.passing:
                    raise
                return refused.problem
        return None

    async def answer_view(
        self, workspace: Workspace, name: str, problem: Problem | None = None
    ) -> bytes:
        """An answer, where it is kept, and why there will not be more of it, as JSON."""
        _, written = await asyncio.to_thread(answers.view, workspace, name, problem)
        return written

    async def answer_events(
        self, workspace: Workspace, name: str, running: Running | None
    ) -> Events:
        """An answer each time there is more of it, until it is whole or no more comes for now.

        `running` is the job that completes it. Why there will never be more is an event too.
        """
        with nullcontext() if running is None else self.jobs.wanted(running):
            about, written = await asyncio.to_thread(answers.view, workspace, name)
            yield Event("answer", written)
            while running is not None and about.pending:
                await self.jobs.less_pending(running, len(about.pending))
                if running.pending >= len(about.pending):  # no more will come
                    break
                about, written = await asyncio.to_thread(answers.view, workspace, name)
                yield Event("answer", written)
        if running is not None and running.problem is not None and not running.problem.passing:
            yield Event("problem", running.problem.problem.model_dump_json().encode())

    async def answer(self, workspace: Workspace, name: str) -> Answer:
        """An answer, read in a thread: one of many suggestions takes its time."""
        return await asyncio.to_thread(answers.parsed, workspace, name)

    async def suggestion(self, workspace: Workspace, name: str, which: int) -> Suggestion:
        """One suggestion of an answer, counted from 1."""
        return self.nth(await self.answer(workspace, name), which)

    @staticmethod
    def nth(answer: Answer, which: int) -> Suggestion:
        """One suggestion of an answer that was read before, counted from 1."""
        if which > len(answer):
            raise no_suggestion(len(answer), answer.no_answer)
        return answer[which - 1]

    async def curves(
        self,
        workspace: Workspace,
        engine: str,
        run: int | Config,
        parameters: tuple[str, ...],
        outcomes: tuple[str, ...],
    ) -> list[Curve]:
        """How outcomes answer to single parameters around a run or a configuration."""
        found = await self.run_engine_task(
            workspace, engine, "curves", run=run, parameters=parameters, outcomes=outcomes
        )
        return [Curve.model_validate(one) for one in found]
