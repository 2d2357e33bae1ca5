"""Predicted outcomes as sums over trees, and what goals ask of those sums."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from compass.domain.space import Number, Space
from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.targets import in_numbers
from compass.generate.task import SearchTask
from compass.model.trees.flat import FlatForest
from compass.model.trees.joined import AVERAGED_RAW
from compass.rules import Rule
from compass.rules.linear import linear_form

_CURVED = 1e-12  # exponentials and logarithms are rounded differently by different libraries
_SIGMOID_TIE = 1e-15  # raw values so close to 0 that both scores may round to the same number


@dataclass(frozen=True, eq=False)
class OutcomeSum:
    """One predicted outcome: link(offset + the sum over all trees of factor * leaf value)."""

    name: str
    parts: tuple[tuple[FlatForest, float], ...]
    offset: Floats  # [raw columns]
    link: str

    @property
    def raws(self) -> int:
        """Raw columns."""
        return len(self.offset)

    @property
    def forests(self) -> tuple[FlatForest, ...]:
        """The ensembles without their factors."""
        return tuple(forest for forest, _ in self.parts)


@dataclass(frozen=True, eq=False)
class Band:
    """`low <= weights . raw <= high`: what a goal asks of one outcome."""

    outcome: str
    weights: Floats  # [raw columns]
    low: float
    high: float


@dataclass(frozen=True)
class GoalBands:
    """A goal in words and as bands that hold together exactly when it is met."""

    text: str
    target: Target
    bands: tuple[Band, ...]


def outcomes_of(task: SearchTask) -> dict[str, OutcomeSum] | str:
    """The outcomes that goals and rules speak of; a sentence where one of them is not a sum."""
    parts = task.predict.parts
    needed = dict.fromkeys([t.name for t in task.targets])
    needed |= dict.fromkeys(
        n for n in task.outcomes if any(n in r.names for r in task.outcome_rules)
    )
    if not needed:
        return {}
    if parts is None:
        return "The model is not made of trees, so nothing can be proved about its predictions."
    found = {}
    for name in needed:
        outcome = _outcome(name, parts[name])
        if outcome is None:
            return (
                f"{name} is averaged over several contexts by a model whose predictions are not "
                "sums over trees, so nothing can be proved about it."
            )
        found[name] = outcome
    for target in task.targets:
        if target.least and found[target.name].link not in ("identity", "sigmoid"):
            return (
                f"The probability of {target.name} is not a sum over trees, so nothing can be "
                "proved about how likely it is."
            )
    return found


def _outcome(name: str, forests: Iterable[FlatForest]) -> OutcomeSum | None:
    forests = tuple(forests)
    links = {forest.link for forest in forests}
    if len(links) != 1 or (len(forests) > 1 and not links <= {*AVERAGED_RAW}):
        return None
    share = 1.0 / len(forests)
    offset = np.sum([forest.offset for forest in forests], axis=0) * share
    parts = tuple((forest, share / forest.divisor) for forest in forests)
    return OutcomeSum(name, parts, np.asarray(offset, dtype=np.float64), links.pop())


def goals_of(task: SearchTask, outcomes: Mapping[str, OutcomeSum]) -> tuple[GoalBands, ...]:
    """Ranges and classes that must be met; a direction alone asks nothing."""
    found = []
    for target in task.targets:
        outcome = outcomes[target.name]
        if target.is_class:
            bands = _class_bands(outcome, task.labels[target.name], target.least)
        else:
            bands = _range_bands(outcome, target.low, target.high)
        if bands or target.is_class:
            found.append(GoalBands(in_numbers(target), target, bands))
    return tuple(found)


def band_of(rule: Rule, outcomes: Mapping[str, OutcomeSum]) -> Band | None:
    """The band that a rule sets for one outcome alone, such as `runtime <= 40`; None: no such rule.

    Predictions that are not plain sums cannot be calculated with, but they can be bounded.
    """
    if len(rule.names) != 1 or (name := rule.names[0]) not in outcomes:
        return None
    outcome = outcomes[name]
    single = Space(parameters=(Number(name=name, low=0.0, high=1.0),))
    form = linear_form(rule.expression, single)
    if outcome.link != "exp" or form is None or set(form.coefficients) != {name}:
        return None
    factor = form.coefficients[name]
    edge, below = -form.constant / factor, form.op in ("<=", "<")
    if form.op == "==":
        return Band(name, np.ones(1), *unlinked(outcome.link, edge, edge))
    if form.op == "!=":
        return None
    low, high = (-math.inf, edge) if below == (factor > 0) else (edge, math.inf)
    return Band(name, np.ones(1), *unlinked(outcome.link, low, high))


def _range_bands(outcome: OutcomeSum, low: float, high: float) -> tuple[Band, ...]:
    if math.isinf(low) and math.isinf(high):
        return ()
    bounds = unlinked(outcome.link, low, high)
    return (Band(outcome.name, np.ones(1), *bounds),)


def unlinked(link: str, low: float, high: float) -> tuple[float, float]:
    """The raw range of a predicted range, never narrower than it."""
    if link == "identity":
        return low, high
    assert link == "exp"
    return _log(low, -1), _log(high, 1)


def _log(value: float, sign: int) -> float:
    if value <= 0:  # exponentials that underflow are 0
        return -math.inf if sign < 0 or value < 0 else -700.0
    if math.isinf(value):
        return value
    raw = math.log(value)
    return raw + sign * _CURVED * max(1.0, abs(raw))


def linked(link: str, raw: float) -> float:
    """The prediction of a raw value."""
    if link == "identity":
        return raw
    return math.exp(raw) if raw < 709 else math.inf


def _class_bands(outcome: OutcomeSum, wanted: int, least: float) -> tuple[Band, ...]:
    """The wanted class is not behind any other and has at least this score.

    One score alone is always ahead. Scores that are exponentials over their sum are no bands of raw
    values: see `outcomes_of`.
    """
    if outcome.link == "sigmoid":
        sign = 1.0 if wanted == 1 else -1.0
        low = -_SIGMOID_TIE
        if 0.5 < least < 1:
            low = math.log(least / (1 - least)) * (1 - _CURVED)
        return (Band(outcome.name, np.array([sign]), low, math.inf),)
    found = []
    if least and outcome.link == "identity":
        alone = np.zeros(outcome.raws)
        alone[wanted] = 1.0
        found.append(Band(outcome.name, alone, least, math.inf))
    for other in range(outcome.raws):
        if other != wanted:
            weights = np.zeros(outcome.raws)
            weights[wanted], weights[other] = 1.0, -1.0
            slack = 0.0 if outcome.link == "identity" else _CURVED
            found.append(Band(outcome.name, weights, -slack, math.inf))
    return tuple(found)
