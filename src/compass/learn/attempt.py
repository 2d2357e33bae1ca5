"""One attempt of one recipe, wherever there is a worker: what travels there and back."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial

from compass.domain.errors import CompassError
from compass.execute import Executor, cores, opened
from compass.learn.folds import Course, Leg, attempt, leg_of
from compass.model.base import Floats
from compass.model.one_thread import one_thread
from compass.model.recipe import Recipe
from compass.settings import Settings


@dataclass(frozen=True, eq=False)
class Try:
    """A recipe and the rows that it learns and is checked with."""

    recipe: Recipe
    leg: Leg
    wanted: bool = True  # what goes wrong is raised; otherwise it is a result
    until: float = math.inf  # time.time(), which machines share, after which it does not begin


@dataclass(frozen=True, eq=False)
class Tested:
    """How an attempt ended."""

    predicted: Floats
    error: float
    provable: bool
    seconds: float  # of the processor


class Late(Enum):
    """An attempt that did not begin in time."""

    LATE = "late"


def attempted(view: Course, given: Try | None) -> Tested | Late | str | None:
    """The end of an attempt, or why it failed; nothing for one that was called off.

    On one thread and from the course's seed: the same numbers on any worker of the same kind.
    """
    if given is None:
        return None
    if time.time() > given.until:
        return Late.LATE
    began = time.thread_time()
    try:
        with one_thread():
            predicted, error, sound = attempt(view, given.recipe, given.leg)
    except Exception as problem:  # one family that cannot learn this must not stop the others
        if given.wanted:
            raise
        return why(problem)
    return Tested(predicted, error, sound, time.thread_time() - began)


def fold_tests(
    view: Course, recipe: Recipe, parts: Sequence[int], executor: Executor
) -> list[Tested]:
    """How a recipe does on some of the folds, in their order."""
    tries = [Try(recipe, leg_of(view, part)) for part in parts]
    found = dict(executor.map(partial(attempted, view), tries))
    tests = [found[place] for place in range(len(tries))]
    return [test for test in tests if isinstance(test, Tested)]


@contextmanager
def workers(executor: Executor | None, settings: Settings) -> Iterator[Executor]:
    """The executor that was given, or as many threads as the settings allow."""
    with one_thread(), opened(executor or f"threads:{settings.threads or cores()}") as place:
        yield place


def why(problem: Exception) -> str:
    """What went wrong, in few words."""
    said = problem.message if isinstance(problem, CompassError) else str(problem)
    return said[:200] or type(problem).__name__
