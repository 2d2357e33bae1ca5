"""An executor: one item after another in this process, each tried again before it counts."""

from collections.abc import Callable, Iterator, Sequence

from compass import registry
from compass.domain.errors import BadInput
from compass.execute.base import Item, Result


@registry.add("executor", "patient")
class Patient:
    """Tries an item again when the file system is away for a moment: `patient:3`."""

    name = "patient"
    workers = 1

    def __init__(self, text: str = "") -> None:
        if text and not text.isdecimal():
            raise BadInput(f"patient:{text} names no number of tries", hint="write patient:3")
        self.tries = max(1, int(text or 2))

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position, result) in order."""
        for position, item in enumerate(items):
            yield position, self._try(work, item)

    def _try(self, work: Callable[[Item], Result], item: Item) -> Result:
        for _ in range(self.tries - 1):
            try:
                return work(item)
            except OSError:
                continue
        return work(item)

    def close(self) -> None:
        """There is nothing to let go of."""
