"""The executor `mpi`: the ranks of an MPI program.

`mpiexec -n 4 compass reduce ... --executor mpi` starts the whole program four times. `among_ranks`
makes one program of it: rank 0 runs the command, the others do the work that it hands out.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.execute.base import Item, Result
from compass.execute.pickles import pickled, result_of, unpickled_result
from compass.execute.window import windowed

_shared: list[Any] = []  # the pool of all other ranks, while `among_ranks` runs the command


@registry.add("executor", "mpi")
class Mpi:
    """The other ranks of an MPI program: `mpiexec -n 4 compass ... --executor mpi`."""

    name = "mpi"

    def __init__(self, text: str = "") -> None:
        if text:
            raise BadInput(
                f"the executor mpi takes no options, '{text}' was given",
                hint="the number of ranks is said to mpiexec: mpiexec -n 4 compass ...",
            )
        self._pool, self._own = _pool()
        self.workers = int(self._pool.num_workers)

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position in `items`, result) as each is done, in any order."""
        do = partial(result_of, pickled(work))

        def submit(item: Item) -> Future[bytes]:
            future: Future[bytes] = self._pool.submit(do, pickled(item))
            return future

        for position, result in windowed(submit, items, 2 * self.workers):
            yield position, unpickled_result(result)

    def close(self) -> None:
        """Lets the ranks go, unless the command may ask for them again."""
        if self._own:
            self._pool.shutdown(wait=True, cancel_futures=True)


def among_ranks(command: Callable[[], int]) -> int:
    """Run the command on rank 0 while all other ranks work for it; gives the exit code.

    The other ranks are released however the command ends.
    """
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except ImportError:
        return command()  # whoever asks for the executor is told what is missing
    if MPI.COMM_WORLD.Get_size() < 2:
        return command()
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
        if pool is None:
            return 0
        _shared.append(pool)
        try:
            return command()
        finally:
            _shared.remove(pool)
    return 0  # a rank that was released


def _pool() -> tuple[Any, bool]:
    """The pool of the other ranks, and whether it is ours to close."""
    if _shared:
        return _shared[-1], False
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor, _core
    except ImportError as error:
        raise EnvironmentProblem(
            f"the executor mpi needs mpi4py and an MPI library: {error}",
            hint="pip install 'compass-hpc[mpi]', and load the MPI module of your cluster",
        ) from error
    if MPI.COMM_WORLD.Get_size() < 2:
        raise EnvironmentProblem(
            "the executor mpi has no ranks to work on: this program was started alone",
            hint="start it with mpiexec -n 4 (of the MPI that mpi4py was built for)",
        )
    if _core.SharedPool is None:
        raise EnvironmentProblem(
            "every rank runs this script, so none is free to work",
            hint="start it with mpiexec -n 4 python -m mpi4py.futures script.py",
        )
    return MPIPoolExecutor(), True
