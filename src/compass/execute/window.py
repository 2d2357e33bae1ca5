"""Only a few items at a time: what comes back cannot pile up, what has not begun can be dropped."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def windowed(
    submit: Callable[[Item], Future[Result]], items: Sequence[Item], ahead: int
) -> Iterator[tuple[int, Result]]:
    """Yields (position, result) as each is done, with at most `ahead` items under way.

    When an item fails, or nobody wants more, those that have not begun are dropped and those that
    have are waited for.
    """
    waiting: dict[Future[Result], int] = {}
    following = iter(range(len(items)))
    try:
        while True:
            for position in islice(following, ahead - len(waiting)):
                waiting[submit(items[position])] = position
            if not waiting:
                return
            done = wait(waiting, return_when=FIRST_COMPLETED).done
            while done:
                future = done.pop()
                position = waiting.pop(future)
                result = future.result()
                del future  # or it would hold the result while the next one is made
                yield position, result
                del result
    finally:
        for future in waiting:
            future.cancel()
        wait(waiting)
