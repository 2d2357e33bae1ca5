"""Training on one thread, so that a table gives the same model on every machine of its kind.

Numeric libraries add in another order on another number of threads, and on busy processors their
threads wait for each other: ten times longer for a matrix of 300 rows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock

_Undo = Callable[[], object]
_lock = Lock()
# Limits by what they limit: how many blocks need one, and what takes it away.
_limits: dict[str, tuple[int, _Undo]] = {}


@contextmanager
def one_thread(what: str = "blas") -> Iterator[None]:
    """Matrix products inside are made by one thread ("blas", "torch"); afterwards as before."""
    with _lock:
        # Two models may be trained at once: the last to finish gives the threads back.
        users, undo = _limits[what] if what in _limits else (0, _limit(what))
        _limits[what] = (users + 1, undo)
    try:
        yield
    finally:
        with _lock:
            users, undo = _limits.pop(what)
            if users > 1:
                _limits[what] = (users - 1, undo)
            else:
                undo()


def _limit(what: str) -> _Undo:
    if what == "torch":
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(1)
        return lambda: torch.set_num_threads(before)
    import_module("scipy.linalg")  # it brings a library of its own, which must be there to be found
    limits = import_module("threadpoolctl").threadpool_limits(1, "blas")
    undo: _Undo = limits.restore_original_limits
    return undo
