"""The executor `processes`: processes of this machine, which may die without harm to the rest.

Each worker has a pipe of its own and one item at a time, so it is known which item a dead worker
had. Processes are started afresh (spawned): a fork would copy the locks of Arrow's threads, but
not the threads.
"""

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from compass import registry
from compass.domain.errors import EnvironmentProblem
from compass.execute.base import Item, Result, WorkerLost
from compass.execute.child import exit_cause
from compass.execute.options import count_of
from compass.execute.pickles import pickled, result_of, unpickled_result

_TRIES = 3  # deaths of the workers of one item after which it is given up
_READY, _WORK, _ITEM = b"r", b"w", b"i"


@registry.add("executor", "processes")
class Processes:
    """Processes of this machine: `processes`, `processes:4`."""

    name = "processes"

    def __init__(self, text: str = "") -> None:
        self.workers = count_of(self.name, text)
        self._idle: list[_WorkerProcess] = []

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position in `items`, result) as each is done, in any order."""
        call = _ProcessMap(pickled(work), items)
        try:
            while call.left:
                self._fill(call)
                call.assign()
                for worker in call.ready():
                    frame = worker.receive()
                    if frame is None:
                        call.retry(worker)
                    elif frame == _READY:
                        worker.ready = True
                    else:
                        position = call.finished(worker)
                        result = unpickled_result(frame)
                        call.assign()  # nobody waits while the result is looked at
                        yield position, result
        finally:
            self._release(call.workers, self.workers)

    def close(self) -> None:
        """Ends the processes."""
        self._release(self._idle, 0)

    def _fill(self, call: "_ProcessMap") -> None:
        """As many workers as the call can use: idle ones first, then new ones."""
        while len(call.workers) < min(self.workers, call.left):
            call.workers.append(self._idle.pop() if self._idle else _WorkerProcess())

    def _release(self, workers: "list[_WorkerProcess]", room: int) -> None:
        """Up to `room` workers without an item stay idle for the next call; others are ended."""
        ended = []
        while workers:
            worker = workers.pop()
            if worker.ready and worker.position is None and len(self._idle) < room:
                self._idle.append(worker)
            else:
                worker.terminate()
                ended.append(worker)
        for worker in ended:
            worker.join()


class _ProcessMap:
    """One call of `map`: its items and its workers."""

    def __init__(self, work: bytes, items: Sequence[Any]) -> None:
        self.work = work
        self.items = items
        self.workers: list[_WorkerProcess] = []
        self.waiting = deque(range(len(items)))
        self.last = deque[int]()  # tried once more when nothing else takes memory or time
        self.deaths = Counter[int]()
        self.failed_starts = 0

    @property
    def left(self) -> int:
        """Items that are not done."""
        busy = sum(worker.position is not None for worker in self.workers)
        return len(self.waiting) + len(self.last) + busy

    def assign(self) -> None:
        """Gives an item to every worker that has none."""
        for worker in self.workers:
            if not worker.ready or worker.position is not None:
                continue
            position = self._next()
            if position is None:
                return
            if not worker.send(self.work, position, self.items[position]):
                self.waiting.appendleft(position)  # it died before it got the item

    def _next(self) -> int | None:
        if self.waiting:
            return self.waiting.popleft()
        free = all(worker.position is None for worker in self.workers)
        return self.last.popleft() if self.last and free else None

    def ready(self) -> "list[_WorkerProcess]":
        """The workers that have sent something, or have died; waits for the first."""
        by_end = {end: worker for worker in self.workers for end in (worker.pipe, worker.sentinel)}
        ready = wait(list(by_end))
        return list({id(by_end[end]): by_end[end] for end in ready}.values())  # type: ignore[index]

    def finished(self, worker: "_WorkerProcess") -> int:
        """The position of the item that a worker has done."""
        position = worker.position
        assert position is not None
        worker.position = None
        return position

    def retry(self, worker: "_WorkerProcess") -> None:
        """The item of a dead worker is tried again by another one, a few times."""
        self.workers.remove(worker)
        worker.join()
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts >= _TRIES:
                raise EnvironmentProblem(
                    f"the worker processes do not start ({worker.exit_cause})",
                    hint="in a script, put what runs below: if __name__ == '__main__':",
                )
        position = worker.position
        if position is None:
            return
        self.deaths[position] += 1
        if self.deaths[position] >= _TRIES:
            raise WorkerLost(
                f"item {position} ended its worker process {_TRIES} times ({worker.exit_cause})",
                hint="it may need more memory than there is, or a library it uses may be broken",
                position=position,
            )
        (self.last if self.deaths[position] == _TRIES - 1 else self.waiting).append(position)


class _WorkerProcess:
    """A process and the pipe to it."""

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.ready = False
        self.position: int | None = None
        self._work = b""
        self._process = spawn.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # or its end would not be seen here
        self.sentinel = self._process.sentinel

    def send(self, work: bytes, position: int, item: object) -> bool:
        """Hands over an item; False if nobody is there any more."""
        frame = _ITEM + pickled(item)
        try:
            if work is not self._work:
                self.pipe.send_bytes(_WORK + work)
                self._work = work
            self.pipe.send_bytes(frame)
        except OSError:
            return False
        self.position = position
        return True

    def receive(self) -> bytes | None:
        """What the worker sent, or None if it is dead."""
        try:
            return self.pipe.recv_bytes() if self.pipe.poll() else None
        except (EOFError, OSError):
            return None

    def terminate(self) -> None:
        """Tells the process to end at once."""
        self._process.terminate()

    def join(self) -> None:
        """Waits for the end of the process, and lets go of what it held."""
        self.pipe.close()
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    @property
    def exit_cause(self) -> str:
        """How the process ended."""
        return exit_cause(self._process.exitcode or 0)


def serve(pipe: Connection) -> None:
    """What a worker process runs: does what comes through the pipe until that is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, who ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work = b""
    try:
        pipe.send_bytes(_READY)
        while True:
            frame = pipe.recv_bytes()
            if frame[:1] == _WORK:
                work = frame[1:]
            else:
                pipe.send_bytes(result_of(work, frame[1:]))
    except (EOFError, OSError):
        return


def _end_with_parent() -> None:
    """No worker outlives the program, even if that is killed while the worker is busy."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
