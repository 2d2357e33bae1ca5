"""Working processes and the queue in front of them."""

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from compass.domain.limits import ServerLimits
from compass.execute.child import Garbled, header, next_frame
from compass.execute.processors import cores
from compass.server import logs, memory
from compass.server.problems import (
    Refused,
    busy,
    closing,
    fault,
    lost_worker,
    refused_by,
    workspace_busy,
)
from compass.server.worker import LONGEST, PROGRESS, RESULT, TASK

Report = Callable[[dict[str, Any]], None]
_MEMORY_INTERVAL = 0.5  # seconds between two looks at the memory of a process
# What a process that opens people's files and models has no use for.
_SECRETS = ("COMPASS_TOKEN", "COMPASS_LLM_KEY")


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
                    raise refused_by(json.loads(answer))
                if report is not None:
                    report(json.loads(answer))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise await self._lost(short) from None
        except Garbled:
            await self.kill()
            raise fault() from None
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
            return fault()  # of ours: it has written to the log
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
    turn: "asyncio.Future[Worker]" = field(default_factory=asyncio.Future)


class Pool:
    """Some working processes. Work waits in turns: one piece of each workspace after the other."""

    def __init__(self, count: int, limits: ServerLimits) -> None:
        self.limits = limits
        threads = max(1, cores() // count)  # more would only get into each other's way
        self.workers = [Worker(limits.memory_bytes, threads) for _ in range(count)]
        self.idle = list(self.workers)
        self.waiting: dict[str, deque[_Ticket]] = {}
        self.held: dict[str, int] = {}  # pieces of work of each workspace, waiting or running
        self.closed = False

    @property
    def queued(self) -> int:
        """Pieces of work that wait."""
        return sum(len(line) for line in self.waiting.values())

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
        if self.queued >= self.limits.waiting:
            raise busy(self._patience(self.queued))

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
        report: Report | None = None,
        started: Callable[[], None] | None = None,
    ) -> bytes:
        """Wait for a process, then for its result; the time limit begins when it starts."""
        self.admit(owner)
        self.held[owner] = self.held.get(owner, 0) + 1
        try:
            worker = await self._turn(_Ticket(owner, warm))
            try:
                if started is not None:
                    started()
                async with asyncio.timeout(seconds):
                    result = await worker.do(task, given, report)
                worker.warm = warm or worker.warm
                return result
            except TimeoutError:
                raise Refused(
                    422,
                    "too-slow",
                    f"this took longer than the {seconds:g} s that the server allows",
                    hint="ask for less (fewer suggestions, no proof), or ask the operator for more",
                ) from None
            finally:
                self._free(worker)
        finally:
            self.held[owner] -= 1
            if not self.held[owner]:
                del self.held[owner]

    async def _turn(self, ticket: _Ticket) -> Worker:
        if self.idle:
            return self._take(ticket.warm)
        self.waiting.setdefault(ticket.owner, deque()).append(ticket)
        try:
            return await ticket.turn
        except asyncio.CancelledError:
            if ticket.turn.done() and not ticket.turn.cancelled():
                self._free(ticket.turn.result())  # its turn came in the same moment
            else:
                self._leave(ticket)
            raise

    def _take(self, warm: str | None) -> Worker:
        chosen = next((w for w in self.idle if warm is not None and w.warm == warm), self.idle[0])
        self.idle.remove(chosen)
        return chosen

    def _free(self, worker: Worker) -> None:
        """Give a process to the next in line."""
        self.idle.append(worker)
        while self.waiting and self.idle:
            owner = next(iter(self.waiting))
            line = self.waiting.pop(owner)
            ticket = line.popleft()
            if line:
                self.waiting[owner] = line  # at the end: the others come first
            if not ticket.turn.done():
                ticket.turn.set_result(self._take(ticket.warm))

    def _leave(self, ticket: _Ticket) -> None:
        line = self.waiting.get(ticket.owner)
        if line is not None and ticket in line:
            line.remove(ticket)
            if not line:
                del self.waiting[ticket.owner]

    async def close(self) -> None:
        """Take no more work, and end all processes."""
        self.closed = True
        for line in self.waiting.values():
            for ticket in line:
                if not ticket.turn.done():
                    ticket.turn.set_exception(closing())
        self.waiting.clear()
        await asyncio.gather(*(worker.kill() for worker in self.workers))
