"""Runs items with only a few under way at a time.

Results cannot pile up, and what has not begun can be cancelled.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from itertools import islice
from queue import SimpleQueue

from compass.execute.base import Item, Result


def windowed(
    submit: Callable[[Item], Future[Result]], items: Sequence[Item], ahead: int
) -> Iterator[tuple[int, Result]]:
    """Yields (position, result) as each is done, with at most `ahead` items under way.

    When an item fails, or nobody wants more, those that have not begun are dropped and those that
    have are waited for.
    """
    waiting: dict[Future[Result], int] = {}
    # Not `wait` for the first: a Ctrl-C while it takes the locks of all leaves some of them locked,
    # and whoever works on those for ever. This queue is in C.
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    following = iter(range(len(items)))
    try:
        while True:
            for position in islice(following, ahead - len(waiting)):
                future = submit(items[position])
                waiting[future] = position
                future.add_done_callback(done.put)
            if not waiting:
                return
            future = done.get()
            position = waiting.pop(future)
            result = future.result()
            del future  # or it would hold the result while the next one is made
            yield position, result
            del result
    finally:
        for future in waiting:
            future.cancel()
        wait(waiting)
