"""The protocol of an executor, which runs a function on many items somewhere.

Decision 0025 (docs/decisions).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from compass.domain.errors import EnvironmentProblem

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerLost(EnvironmentProblem):
    """The worker that had an item died, more than once; `position` tells which item."""

    def __init__(self, message: str, *, hint: str = "", position: int = -1) -> None:
        super().__init__(message, hint=hint)
        self.position = position


class Executor(Protocol):
    """A place to run work. Register a class: `@registry.add("executor", "name")`.

    It is made with the text after the name (`processes:4` -> "4", `dask://host:8786` ->
    "//host:8786", plain `threads` -> "") and raises `BadInput` for a text it cannot use.
    """

    name: str
    workers: int

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position in `items`, result) as each is done, in any order.

        `work` and the items must be picklable: they may travel to another machine. Only a few
        items per worker are under way at a time, so that results cannot pile up. The first
        exception of `work` is raised here as it is; what is under way is then cancelled or waited
        for, as it is when the iterator is closed early. An item whose worker died is tried again
        elsewhere before `WorkerLost` is raised.
        """
        ...

    def close(self) -> None:
        """Lets go of the workers; work under way is cancelled where that is possible."""
        ...
