"""The case: the rows that Compass learns from, and questions that can be answered."""

from collections.abc import Callable

import numpy as np

from benchmarks.peers.case import Case, Floats, Question, movable
from benchmarks.peers.forest import grow
from benchmarks.peers.jobs import COLUMNS, NAMES, RULES, SEED, draw
from benchmarks.peers.run_compass import engine

FASTER = 0.2  # the goal: this share faster than predicted at the start, or more
TRIES = 2000  # random changes of a start among which one has to reach the goal
CANDIDATES = 400


def prepare(
    questions: int, seed: int, faster: float = FASTER, draw_number: int = 1
) -> tuple[Case, Callable[[Floats], Floats]]:
    """The case, and the prediction of the forest that the judge uses.

    Another `draw_number` gives other questions: whatever was tuned was tuned on the first.
    """
    store = engine(seed).store
    here = store.view_of(NAMES)
    settings = store.settings.forest
    X, y = here.X[here.train], store.prepared.column("runtime")[here.train]
    labels = np.array([column.is_label for column in COLUMNS])
    scale = np.where(labels, 1.0, X.std(axis=0))
    blank = Question(tuple(X[0]), 0.0)
    case = Case(X, y, tuple(scale), settings.trees, settings.depth, seed, (), blank)
    predict = grow(case).predict
    found = choose(predict, questions + 1, np.random.default_rng([SEED, draw_number]), faster)
    return Case(
        X, y, case.scale, case.trees, case.depth, seed, tuple(found[:-1]), found[-1]
    ), predict


def choose(
    predict: Callable[[Floats], Floats],
    count: int,
    rng: np.random.Generator,
    faster: float = FASTER,
) -> list[Question]:
    """Jobs that were never learnt, for which random legal changes show that the goal exists."""
    found: list[Question] = []
    for start in draw(CANDIDATES, rng):
        ceiling = float((1 - faster) * predict(start[None, :])[0])
        if predict(_changes(start, rng)).min() <= ceiling:
            found.append(Question(tuple(start), ceiling))
        if len(found) == count:
            return found
    raise RuntimeError(f"only {len(found)} of {CANDIDATES} jobs can be made {faster:.0%} faster")


def _changes(start: Floats, rng: np.random.Generator) -> Floats:
    """Legal jobs [n, d] that differ from a start in columns that both variants may move."""
    X = np.repeat(start[None, :], TRIES, axis=0)
    other = draw(TRIES, rng)
    for j, name in enumerate(NAMES):
        if name in movable("fixed"):
            taken = rng.random(TRIES) < 0.5
            X[taken, j] = other[taken, j]
    legal = np.all([rule.excess(X, NAMES) <= 0 for rule in RULES], axis=0)
    return np.concatenate([start[None, :], X[legal]])
