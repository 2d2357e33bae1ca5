"""Work as bytes for another process: pickles of a function, of an item and of its result.

Only bytes that this program made itself are ever unpickled here.
"""

import pickle
import traceback
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from compass.domain.errors import CompassError, EnvironmentProblem


def pickled(thing: object) -> bytes:
    """A function, item or result as bytes for another process."""
    return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)


def result_of(work: bytes, item: bytes) -> bytes:
    """Does the work on the item and pickles the result, or the exception that was raised."""
    try:
        do, given = _unpickled(work), pickle.loads(item)  # noqa: S301 - made by `pickled`
    except Exception as problem:
        refusal = EnvironmentProblem(
            f"a worker cannot take this work: {type(problem).__name__}: {problem}",
            hint="install the same packages where the workers run",
        )
        return pickled((False, refusal))
    try:
        return pickled((True, do(given)))
    except Exception as problem:
        return pickled((False, _transferable(problem)))


def unpickled_result(result: bytes) -> Any:
    """What `result_of` gave: returns the result, or raises the exception that the work raised."""
    succeeded, found = pickle.loads(result)  # noqa: S301 - made by `result_of`
    if succeeded:
        return found
    raise found


@lru_cache(maxsize=2)
def _unpickled(work: bytes) -> Callable[[Any], Any]:
    """The function, unpickled once for all items that a worker gets."""
    found: Callable[[Any], Any] = pickle.loads(work)  # noqa: S301 - made by `pickled`
    return found


def _transferable(problem: Exception) -> Exception:
    """The exception, if it can be pickled; otherwise one that says the same."""
    if not isinstance(problem, CompassError):
        # The traceback stays behind: its text goes along for whoever looks for the cause.
        problem.add_note("".join(traceback.format_exception(problem)).rstrip())
    try:
        again = pickle.loads(pickle.dumps(problem))  # noqa: S301
    except Exception:
        again = None
    if type(again) is type(problem):
        return problem
    same = RuntimeError(f"{type(problem).__name__}: {problem}")
    for note in getattr(problem, "__notes__", ()):
        same.add_note(note)
    return same
