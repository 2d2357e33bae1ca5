"""How work travels: a function, an item and a result as bytes, an exception as a result.

Only bytes that this program made itself are ever unpacked here.
"""

import pickle
import traceback
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from compass.domain.errors import CompassError, EnvironmentProblem


def packed(thing: object) -> bytes:
    """A function, item or result, ready to travel."""
    return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)


def answer(work: bytes, item: bytes) -> bytes:
    """Does the work on the item, where it arrived; what goes wrong is part of the answer."""
    try:
        do, given = _unpacked(work), pickle.loads(item)  # noqa: S301 - made by `packed`
    except Exception as problem:
        told = EnvironmentProblem(
            f"a worker cannot take this work: {type(problem).__name__}: {problem}",
            hint="install the same packages where the workers run",
        )
        return packed((False, told))
    try:
        return packed((True, do(given)))
    except Exception as problem:
        return packed((False, _told(problem)))


def opened_answer(frame: bytes) -> Any:
    """The result in an answer, or the exception that the work raised."""
    well, result = pickle.loads(frame)  # noqa: S301 - made by `answer`
    if well:
        return result
    raise result


@lru_cache(maxsize=2)
def _unpacked(work: bytes) -> Callable[[Any], Any]:
    """The function, unpacked once for all items that a worker gets."""
    found: Callable[[Any], Any] = pickle.loads(work)  # noqa: S301 - made by `packed`
    return found


def _told(problem: Exception) -> Exception:
    """The exception, if it can travel; otherwise one that says the same."""
    if not isinstance(problem, CompassError):
        # The traceback stays behind: its text goes along for whoever looks for the cause.
        problem.add_note("".join(traceback.format_exception(problem)).rstrip())
    try:
        again = pickle.loads(pickle.dumps(problem))  # noqa: S301
    except Exception:
        again = None
    if type(again) is type(problem):
        return problem
    told = RuntimeError(f"{type(problem).__name__}: {problem}")
    for note in getattr(problem, "__notes__", ()):
        told.add_note(note)
    return told
