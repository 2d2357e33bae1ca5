"""Working processes and the queue in front of them."""

import asyncio
import json
import os
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from compass.domain.limits import ServerLimits
from compass.execute.child import Garbled, header, next_frame
from compass.execute.processors import cores
from compass.server import logs, memory
from compass.server.people import UserShares
from compass.server.problems import (
    FAULT,
    Refused,
    busy,
    closing,
    fault,
    lost_worker,
    refused_by,
    workspace_busy,
)
from compass.server.worker import CONTINUABLE, LONGEST, PROGRESS, RESULT, TASK

Report = Callable[[dict[str, Any]], None]
_MEMORY_INTERVAL = 0.5  # seconds between two looks at the memory of a process
_TURNS = 16  # pieces of work that go before what waits for later, when there always is some
_MOMENT = 2.0  # seconds that an answer waits for the process that began it; else it is begun anew
# What a process that opens people's files and models has no use for.
_SECRETS = ("COMPASS_TOKEN", "COMPASS_LLM_KEY", "COMPASS_STORE", "PGPASSWORD")


class Worker:
    """One working process; it is started when there is work and replaced when it dies."""

    def __init__(self, memory: int, threads: int = 1) -> None:
        self.memory = memory
        self.threads = threads
        self.process: asyncio.subprocess.Process | None = None
        self.warm: str | None = None  # what it worked on last, and still has in memory
        self.held = 0  # bytes of memory, as far as is known

    async def do(self, task: str, given: dict[str, Any], report: Report | None) -> bytes:
        """Do a piece of work; when this is cancelled, the process is killed."""
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        content = json.dumps({"task": task, "given": given}).encode()
        short = memory.shortages()
        watching = asyncio.create_task(self._watch_memory(process.pid))
        try:
            process.stdin.write(header(TASK, len(content)) + content)
            await process.stdin.drain()
            while True:
                kind, answer = await next_frame(process.stdout, 2 * LONGEST)
                if kind == RESULT:
                    return answer
                if kind != PROGRESS:
                    refused = refused_by(json.loads(answer))
                    if refused.status == FAULT:  # it has told what it could, and ends
                        await self.kill()
                    raise refused
                if report is not None:
                    report(json.loads(answer))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise await self._lost(short) from None
        except Garbled:
            await self.kill()
            raise fault(logs.note_fault(what="a working process wrote no frame")) from None
        except (asyncio.CancelledError, TimeoutError):
            await self.kill()
            raise
        finally:
            watching.cancel()

    async def _started(self) -> asyncio.subprocess.Process:
        if self.process is None or self.process.returncode is not None:
            self.warm = None
            self.held = 0
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "compass.server.worker",
                str(self.memory),
                str(os.getpid()),
                str(self.threads),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=1 << 20,
                env={name: os.environ[name] for name in os.environ if name not in _SECRETS}
                | {"OMP_NUM_THREADS": str(self.threads)},
            )
        return self.process

    async def _lost(self, short_before: int) -> Refused:
        """The error for a process that ended by itself, or was ended by somebody else."""
        process, self.process = self.process, None
        code = await process.wait() if process is not None else 0
        if code >= 0:
            return fault(logs.note_fault(what=f"a working process ended with {code}"))
        short = memory.shortages() > short_before
        logs.trouble("worker-lost", signal=-code, held=self.held, limit=self.memory, short=short)
        return lost_worker(-code, memory.described(self.held, self.memory), short=short)

    async def _watch_memory(self, pid: int) -> None:
        """Note how much memory the process holds: when it is gone, it cannot be asked."""
        while True:
            self.held = memory.resident(pid) or self.held
            await asyncio.sleep(_MEMORY_INTERVAL)

    async def kill(self) -> None:
        """End the process now."""
        process, self.process, self.warm = self.process, None, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@dataclass(eq=False)
class _Ticket:
    owner: str
    warm: str | None
    near: Worker | None = None  # the process that began the answer
    later: bool = False
    long: bool = False
    turn: "asyncio.Future[Worker]" = field(default_factory=asyncio.Future)


class _Line:
    """Work that waits in turns: one piece of each workspace after the other."""

    def __init__(self) -> None:
        self._of: dict[str, deque[_Ticket]] = {}

    def __len__(self) -> int:
        return sum(len(tickets) for tickets in self._of.values())

    def __iter__(self) -> Iterator[_Ticket]:
        return (ticket for tickets in self._of.values() for ticket in tickets)

    def add(self, ticket: _Ticket) -> None:
        """Wait behind the work of the same workspace."""
        self._of.setdefault(ticket.owner, deque()).append(ticket)

    def take(self, ticket: _Ticket) -> None:
        """Its turn has come: now the other workspaces come first."""
        self.remove(ticket)
        rest = self._of.pop(ticket.owner, None)
        if rest is not None:
            self._of[ticket.owner] = rest

    def remove(self, ticket: _Ticket) -> None:
        """Wait no longer."""
        tickets = self._of.get(ticket.owner)
        if tickets is not None and ticket in tickets:
            tickets.remove(ticket)
            if not tickets:
                del self._of[ticket.owner]


class Pool:
    """Some working processes, and the work that waits for them.

    What is to be done `later` (proofs, runs to make next) waits until nobody waits for an answer,
    but no longer than `_TURNS` answers, so that it is done even where somebody always asks. What
    takes `long` leaves a process to those who come next. Decision 0037 (docs/decisions).
    """

    def __init__(self, count: int, limits: ServerLimits, users: UserShares | None = None) -> None:
        self.limits = limits
        self.users = users or UserShares(lambda _: limits.waiting_per_user)
        threads = max(1, cores() // count)  # more would only get into each other's way
        self.workers = [Worker(limits.memory_bytes, threads) for _ in range(count)]
        self.idle = list(self.workers)
        self.waiting = _Line()
        self.later = _Line()
        self.held: dict[str, int] = {}  # pieces of work of each workspace, waiting or running
        self.aside = 0  # pieces of work that wait for something else before they wait for a process
        self.closed = False
        self._began: OrderedDict[str, Worker] = OrderedDict()  # answers that can be continued
        self._long: set[Worker] = set()  # processes that do what takes long
        self._moment: dict[Worker, float] = {}  # until when somebody waits for one that works
        self._passed = 0  # pieces of work that came before what waits for later

    @property
    def queued(self) -> int:
        """Pieces of work that wait."""
        return len(self.waiting) + len(self.later) + self.aside

    @property
    def busy(self) -> int:
        """Processes that work."""
        return len(self.workers) - len(self.idle)

    def admit(self, owner: str) -> None:
        """Refuse work that may not even wait."""
        if self.closed:
            raise closing()
        held = self.held.get(owner, 0)
        if held >= self.limits.waiting_per_workspace:
            raise workspace_busy(self._patience(held), held)
        self.users.check()
        if self.queued >= self.limits.waiting:
            raise busy(self._patience(self.queued))

    @contextmanager
    def reserved(self, owner: str) -> Iterator[None]:
        """Count work that waits for something else, such as a model, as if it waited here."""
        self.admit(owner)
        self.held[owner] = self.held.get(owner, 0) + 1
        self.aside += 1
        try:
            with self.users.one():
                yield
        finally:
            self.aside -= 1
            self._release(owner)

    def _release(self, owner: str) -> None:
        self.held[owner] -= 1
        if not self.held[owner]:
            del self.held[owner]

    def _patience(self, pieces: int) -> int:
        return min(60, 1 + pieces // (4 * len(self.workers)))

    async def do(
        self,
        task: str,
        given: dict[str, Any],
        *,
        owner: str,
        seconds: float,
        warm: str | None = None,
        answer: str | None = None,
        later: bool = False,
        long: bool = False,
        report: Report | None = None,
        started: Callable[[], None] | None = None,
    ) -> bytes:
        """Wait for a process, then for its result; the time limit begins when it starts.

        `answer` names the answer that is begun, or gone on with, where it was begun if possible.
        """
        self.admit(owner)
        self.held[owner] = self.held.get(owner, 0) + 1
        counted = ExitStack()
        counted.enter_context(self.users.one())
        try:
            near = None if answer is None else self._began.get(answer)
            worker = await self._turn(_Ticket(owner, warm, near, later, long))
            try:
                if started is not None:
                    started()
                async with asyncio.timeout(seconds):
                    result = await worker.do(task, given, report)
                worker.warm = warm or worker.warm
                self._remember(answer, worker)
                return result
            except TimeoutError:
                raise Refused(
                    422,
                    "too-slow",
                    f"this took longer than the {seconds:g} s that the server allows",
                    hint="ask for less (fewer suggestions, no proof), or ask the operator for more",
                ) from None
            finally:
                if worker.process is None:
                    self._forget(worker)
                self._free(worker)
        finally:
            counted.close()
            self._release(owner)

    def _remember(self, answer: str | None, worker: Worker) -> None:
        if answer is not None:
            self._began[answer] = worker
            while len(self._began) > CONTINUABLE * len(self.workers):
                self._began.popitem(last=False)

    def _forget(self, worker: Worker) -> None:
        """Nothing can be gone on with in a process that has ended."""
        for answer in [one for one, where in self._began.items() if where is worker]:
            del self._began[answer]
        for ticket in self.later:
            if ticket.near is worker:
                ticket.near = None

    async def _turn(self, ticket: _Ticket) -> Worker:
        line = self.later if ticket.later else self.waiting
        line.add(ticket)
        self._give_turns()
        try:
            return await ticket.turn
        except asyncio.CancelledError:
            if ticket.turn.done() and not ticket.turn.cancelled():
                self._free(ticket.turn.result())  # its turn came in the same moment
            else:
                line.remove(ticket)
            raise

    def _free(self, worker: Worker) -> None:
        self.idle.append(worker)
        self._long.discard(worker)
        self._moment.pop(worker, None)
        self._give_turns()

    def _give_turns(self) -> None:
        """Give processes that are free to those whose turn it is."""
        while self.idle and (ticket := self._next()) is not None:
            (self.later if ticket.later else self.waiting).take(ticket)
            self._passed = 0 if ticket.later else self._passed + bool(len(self.later))
            if not ticket.turn.done():
                worker = self._taken(ticket)
                if ticket.long:
                    self._long.add(worker)
                loop = asyncio.get_running_loop()
                self._moment[worker] = loop.time() + _MOMENT
                loop.call_later(_MOMENT, self._give_turns)
                ticket.turn.set_result(worker)

    def _next(self) -> _Ticket | None:
        """Whose turn it is, when a process is free."""
        answer = next(iter(self.waiting), None)
        if answer is not None and self._passed < _TURNS:
            return answer
        return self._next_later() or answer

    def _next_later(self) -> _Ticket | None:
        """Of what is done later, what can be gone on with where it was begun; else the first.

        What was begun in a process that will be free in a moment waits for it.
        """
        room = len(self._long) < max(1, len(self.workers) - 1)
        possible = [ticket for ticket in self.later if room or not ticket.long]
        near = (ticket for ticket in possible if ticket.near in self.idle)
        now = asyncio.get_running_loop().time()
        others = (t for t in possible if t.near is None or self._moment.get(t.near, now) <= now)
        return next(near, next(others, None))

    def _taken(self, ticket: _Ticket) -> Worker:
        warm = (w for w in self.idle if ticket.warm is not None and w.warm == ticket.warm)
        near = ticket.near if ticket.near in self.idle else None
        chosen = near or next(warm, self.idle[0])
        self.idle.remove(chosen)
        return chosen

    async def close(self) -> None:
        """Take no more work, and end all processes."""
        self.closed = True
        for line in (self.waiting, self.later):
            for ticket in list(line):
                line.remove(ticket)
                if not ticket.turn.done():
                    ticket.turn.set_exception(closing())
        await asyncio.gather(*(worker.kill() for worker in self.workers))
