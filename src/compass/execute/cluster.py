"""Runs work on the workers of a Dask scheduler, wherever they are."""

import pickle
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from queue import Empty, SimpleQueue
from typing import Any

from compass.domain.errors import EnvironmentProblem
from compass.execute.base import Item, Result, WorkerLost
from compass.execute.pickles import pickled, result_of, unpickled_result

_PACKAGE = "compass-hpc"
_HEAVY = 1_000_000  # bytes of a function with its data that are worth sending once per worker
_LOOK = 2.0  # seconds of silence after which the cluster is looked at
_TRIES = 3
EXTRA = "pip install 'compass-hpc[dask]'"


def distributed() -> Any:
    """The package dask.distributed, or how to get it."""
    try:
        import distributed as package
    except ImportError as error:
        raise EnvironmentProblem(
            f"this executor needs dask.distributed: {error}", hint=EXTRA
        ) from error
    return package


def tls_keys(folder: str = "") -> Any:
    """Keys of one program: nobody else on the machine or network can hand its workers code.

    With a folder they are files in it, for workers that are started by others.
    """
    package = distributed()
    try:
        keys = package.Security.temporary()
    except ImportError as error:
        raise EnvironmentProblem(
            f"this executor needs the package cryptography: {error}", hint=EXTRA
        ) from error
    if not folder:
        return keys
    files: dict[str, Any] = {"require_encryption": True}
    for role in ("client", "scheduler", "worker"):
        for part, text in keys.get_tls_config_for_role(role).items():
            if part in ("ca_file", "cert", "key"):
                name = "tls_ca_file" if part == "ca_file" else f"tls_{role}_{part}"
                files[name] = _private_file(Path(folder) / f"{name}.pem", text)
    return package.Security(**files)


def _private_file(file: Path, text: str) -> str:
    file.touch(mode=0o600)
    file.write_text(text)
    return str(file)


# Dask opens a web server in any case; here it is out of everybody's way.
NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}


def connected(address: Any, *, seconds: float = 30.0) -> Any:
    """A client of the scheduler at an address, or of a cluster object."""
    package = distributed()
    with warnings.catch_warnings():
        # Versions are compared below, in words that say what to do.
        warnings.simplefilter("ignore", package.versions.VersionMismatchWarning)
        return package.Client(address, timeout=seconds, set_as_default=False)


def check_versions(client: Any) -> None:
    """Raise unless the workers have this version of Compass and of Python."""
    own = {"Compass": version(_PACKAGE), "Python": python_version().rpartition(".")[0]}
    theirs = {
        "Compass": client.run(version, _PACKAGE, on_error="return"),
        "Python": client.run(python_version, on_error="return"),
    }
    for what, found in theirs.items():
        for worker, answer in found.items():
            if isinstance(answer, PackageNotFoundError):
                raise EnvironmentProblem(
                    f"the Dask worker {worker} has no Compass",
                    hint=f"install compass-hpc {own['Compass']} where the workers run",
                )
            if isinstance(answer, BaseException):
                raise EnvironmentProblem(f"the Dask worker {worker} does not answer: {answer}")
            if answer != own[what] and not (
                what == "Python" and answer.startswith(own[what] + ".")
            ):
                raise EnvironmentProblem(
                    f"the Dask worker {worker} has {what} {answer}, this program has {own[what]}",
                    hint="install the same versions where the workers run",
                )


def threads_of(client: Any) -> int:
    """How many items the workers can do at once."""
    return sum(client.nthreads().values())


class OnCluster:
    """What the executors on a Dask scheduler have in common."""

    _client: Any = None
    _cluster: Any = None  # one that was started here, and ends with the executor
    _patience = 60.0  # seconds that the cluster may be without any worker

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position in `items`, result) as each is done, in any order."""
        call = _ClusterMap(self._client, pickled(work), items, self._patience)
        try:
            while call.left:
                call.submit()
                for position, result in call.completed():
                    yield position, unpickled_result(result)
        finally:
            call.cancel()

    def close(self) -> None:
        """Leaves the cluster; one that was started here ends."""
        for thing in (self._client, self._cluster):
            if thing is not None:
                with suppress(OSError, TimeoutError):
                    thing.close()


class _ClusterMap:
    """One call of `map`: what is to be done, and what is under way."""

    def __init__(self, client: Any, work: bytes, items: Sequence[Any], patience: float) -> None:
        self.client = client
        self.work = work
        self.items = items
        self.patience = patience
        self.waiting = deque(range(len(items)))
        self.suspects = deque[int]()  # they may end workers: tried when nothing else runs
        self.deaths = Counter[int]()
        self.running: dict[str, tuple[int, Any]] = {}  # under way, by key
        self.done: SimpleQueue[Any] = SimpleQueue()
        self._scattered: Any = None  # the function, where it is sent once
        self._window = 0

    @property
    def left(self) -> int:
        """Items that are not done."""
        return len(self.waiting) + len(self.suspects) + len(self.running)

    def submit(self) -> None:
        """Submits items so that every worker is busy, and few wait for one."""
        if not self.running or not self._window:
            self._window = max(4, 3 * threads_of(self.client))
        while self.waiting and len(self.running) < self._window:
            self._submit(self.waiting.popleft())
        if self.suspects and not self.running:
            self._submit(self.suspects.popleft())

    def _submit(self, position: int) -> None:
        import dask

        work: Any = self.work
        if len(work) > _HEAVY:
            if self._scattered is None:
                self._scattered = self.client.scatter(work, broadcast=True, hash=False)
            work = self._scattered
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            future = self.client.submit(result_of, work, pickled(self.items[position]), pure=False)
        self.running[future.key] = (position, future)
        future.add_done_callback(self.done.put)

    def completed(self) -> list[tuple[int, bytes]]:
        """The next items that are done, with their pickled results; lost ones are tried again."""
        futures = [self._next_done()]
        with suppress(Empty):
            while True:
                futures.append(self.done.get_nowait())
        ended = [self.running.pop(future.key) for future in futures]
        try:  # one journey for all of them
            return [
                (position, result)
                for (position, _), result in zip(ended, self.client.gather(futures), strict=True)
            ]
        except Exception:
            found = []
            for position, future in ended:
                try:
                    found.append((position, future.result()))
                except Exception as problem:
                    self._retry_or_raise(position, problem)
            return found

    def _next_done(self) -> Any:
        alive = time.monotonic()
        while True:
            try:
                return self.done.get(timeout=_LOOK)
            except Empty:
                if self.client.status != "running":
                    raise EnvironmentProblem(
                        "the connection to the Dask scheduler is lost",
                        hint="see whether it still runs, and start again",
                    ) from None
                now = time.monotonic()
                alive = now if threads_of(self.client) else alive
                if now - alive > self.patience:
                    raise EnvironmentProblem(
                        f"the Dask cluster has had no worker for {self.patience:.0f} s",
                        hint="see whether they were killed, or start more of them",
                    ) from None

    def _retry_or_raise(self, position: int, problem: Exception) -> None:
        """Tries an item again that Dask lost, or raises; exceptions of the work are results."""
        package = distributed()
        self.deaths[position] += 1
        if isinstance(problem, pickle.UnpicklingError | ImportError | AttributeError):
            raise EnvironmentProblem(
                f"a Dask worker cannot do this work: {problem}",
                hint="install the same packages where the workers run",
            ) from problem
        if isinstance(problem, package.scheduler.KilledWorker):
            if self.deaths[position] > 1:
                raise WorkerLost(
                    f"item {position} ended the Dask workers that had it, also alone",
                    hint="it may need more memory than a worker has; see the logs of the workers",
                    position=position,
                ) from problem
            # All items that a dead worker had in store are suspects.
            self.suspects.append(position)
            return
        lost = isinstance(problem, package.client.FutureCancelledError | TimeoutError | OSError)
        if lost and self.deaths[position] < _TRIES and self.client.status == "running":
            # Data that only a dead worker had, or a result that was lost with it.
            self._scattered = None
            self.waiting.append(position)
            return
        raise EnvironmentProblem(
            f"the Dask cluster lost item {position}: {problem}",
            hint="see whether the scheduler still runs, and start again",
        ) from problem

    def cancel(self) -> None:
        """Cancels what has not begun; what has is forgotten when it ends."""
        if self.running and self.client.status == "running":
            self.client.cancel([future for _, future in self.running.values()])
        self.running.clear()
