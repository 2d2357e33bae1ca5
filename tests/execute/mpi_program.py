"""A program for mpiexec: what the tests of the executor mpi run on every rank."""

import sys

from execute_work import process

from compass.domain.errors import CompassError
from compass.execute import opened
from compass.execute.mpi import among_ranks


def promises() -> int:
    from compass.testing import check_executor  # slow to import: only here

    with opened("mpi") as executor:
        check_executor(executor, many=200)
        found = {pid for _, pid in executor.map(process, range(20))}
        print(f"{executor.workers} workers, {len(found)} processes")
    with opened("mpi") as executor:  # a command may ask twice
        print(sorted(executor.map(abs, [-3])))
    return 3


def served() -> int:
    with opened("mpi") as executor:
        found = {pid for _, pid in executor.map(process, range(20))}
        print(f"{executor.workers} workers, {len(found)} processes")
    return 0


def refused() -> int:
    """Bad input, before anybody asked for a worker."""
    return 2


def broken() -> int:
    with opened("mpi") as executor:
        next(executor.map(abs, range(50)))
        raise RuntimeError("a defect")


def everywhere() -> int:
    """Opened by every rank, as in a script that nobody thought about."""
    try:
        with opened("mpi"):
            return 0
    except CompassError as error:
        print(error.hint)
        return 2


if __name__ == "__main__":
    case = sys.argv[1]
    if case in ("everywhere", "served"):  # as scripts are, without `among_ranks`
        sys.exit({"everywhere": everywhere, "served": served}[case]())
    sys.exit(among_ranks({"promises": promises, "refused": refused, "broken": broken}[case]))
