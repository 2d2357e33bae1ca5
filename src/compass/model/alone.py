"""Training on one thread, so that a table gives the same model on every machine of its kind.

Libraries of linear algebra add in another order on another number of threads, and on busy
processors their threads wait for each other: ten times longer for a matrix of 300 rows.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any

_lock = Lock()
_inside: list[Any] = []  # one entry for each block that is being run, the limits in the first


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products inside are made by one thread; afterwards as before."""
    import scipy.linalg  # noqa: F401  # brings a library of its own, which must be there to be found

    with _lock:
        # Two models may be trained at once: the last to finish gives the threads back.
        limit = None if _inside else import_module("threadpoolctl").threadpool_limits(1, "blas")
        _inside.append(limit)
    try:
        yield
    finally:
        with _lock:
            first = _inside[0]
            _inside.pop()
            if not _inside:
                first.restore_original_limits()
