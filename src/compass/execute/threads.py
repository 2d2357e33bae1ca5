"""The executor `threads`: threads of this process."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from compass import registry
from compass.execute.base import Item, Result
from compass.execute.options import count_of
from compass.execute.window import windowed


@registry.add("executor", "threads")
class Threads:
    """Threads of this process, the default: `threads`, `threads:4`."""

    name = "threads"

    def __init__(self, text: str = "") -> None:
        self.workers = count_of(self.name, text)
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="compass")

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position in `items`, result) as each is done, in any order."""

        def submit(item: Item) -> Future[Result]:
            return self._pool.submit(work, item)

        return windowed(submit, items, 2 * self.workers)

    def close(self) -> None:
        """Waits for the items that have begun, and drops the others."""
        self._pool.shutdown(wait=True, cancel_futures=True)
