"""Rows shared among threads: kernels run without the interpreter's lock."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from compass.execute.processors import cores


def over_rows(
    run: Callable[[int, int], object], rows: int, *, enough: int, threads: int | None = None
) -> None:
    """Call `run(start, stop)` on ranges that cover all rows, on several threads if it pays.

    `enough` is how many rows a thread needs to be worth starting. `run` must treat every row by
    itself; then results do not depend on the number of threads.
    """
    wanted = min(threads or cores(), rows // max(enough, 1))
    if wanted <= 1:
        run(0, rows)
        return
    # More pieces than threads: a thread that is held up does not hold up the rest.
    pieces = min(2 * wanted, rows)
    edges = [rows * piece // pieces for piece in range(pieces + 1)]
    with ThreadPoolExecutor(wanted) as pool:
        for done in [pool.submit(run, a, b) for a, b in pairwise(edges)]:
            done.result()
