"""What a run is worth to a decision: what candidates may give, and which of them to measure.

Pure functions of arrays: S draws of what m candidates may give, one column per candidate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.acquire.runnable import apart as further
from compass.generate import loss
from compass.generate.objectives import objective_values, objectives, preference
from compass.generate.task import SearchTask
from compass.learn.reliability import Reliability
from compass.prepare.geometry import Geometry
from compass.trust.normal import below

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROUNDING = 1e-9  # share of the usual size below which a difference is rounding
_NOTHING = 1e-6  # a gain below this share of the largest one is none


def joint(members: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Standard normal draws float64[draws, m] that vary together as the members [t, m] do.

    Where members tell two candidates apart in the same way, a surprise at one is a surprise at the
    other. Where all members agree they say nothing, and the candidate varies on its own. Every
    draw comes with its mirror image, so that means over draws are those of the model.
    """
    apart = members - members.mean(axis=0)
    size = np.sqrt((apart**2).mean(axis=0))
    alike = size <= _ROUNDING * np.maximum(np.abs(members).max(axis=0), 1e-300)
    unit = np.where(alike, 0.0, apart / np.where(alike, 1.0, size))
    half = (draws + 1) // 2
    drawn = rng.standard_normal((half, len(members))) @ unit / np.sqrt(len(members))
    own = rng.standard_normal((half, int(alike.sum())))
    drawn[:, alike] = own
    return np.concatenate([drawn, -drawn])[:draws]


def expected_move(half: Floats, reliability: Reliability, runs: Integers) -> Floats:
    """How far one more run may move what is believed of each candidate, [m].

    `half` [m] is one standard deviation of a new run around the prediction, and `runs` [m] counts
    those made before. Only the model's error can be learnt: the scatter of single runs stays.
    """
    known = reliability.error + reliability.noise
    share = reliability.error / known if reliability.error else 1.0
    error, noise = share * half**2, (1 - share) * half**2
    total = noise + runs * error
    left = np.where(runs > 0, np.divide(error * noise, np.where(total > 0, total, 1.0)), error)
    spread = left + noise
    return np.asarray(np.where(spread > 0, left / np.sqrt(np.where(spread > 0, spread, 1.0)), 0.0))


def numbers_drawn(centre: Floats, deviation: Floats, z: Floats, *, positive: bool) -> Floats:
    """What a number may be, [S, m]: around `centre` [m] by `deviation` [m] along draws z [S, m].

    A time or a power is never below 0: there a deviation is a factor.
    """
    if not positive or (centre <= 0).any():
        return np.asarray(centre + deviation * z)
    return np.asarray(centre * np.exp(np.log1p(deviation / centre) * z))


def classes_drawn(scores: Floats, z: Floats, first: int) -> Floats:
    """Which class may come out, [S, m] positions, from scores [m, classes] along draws z [S, m].

    Low draws are the class `first`, so that candidates which vary together get it together.
    """
    order = [first, *(k for k in range(scores.shape[1]) if k != first)]
    total = scores.sum(axis=1, keepdims=True)
    upto = np.cumsum(scores[:, order] / np.where(total > 0, total, 1.0), axis=1)
    place = (below(z)[:, :, None] > upto[None, :, :-1]).sum(axis=2)
    return np.asarray(np.array(order, dtype=np.float64)[place])


@dataclass(frozen=True, eq=False)
class Result:
    """How good outcomes are for a question: [S, m] each."""

    miss: Floats  # how far goals and conditions are missed; 0: all are met
    value: Floats  # what is minimised, or the distance from the baseline

    def losses(self, worst: float) -> Floats:
        """One number to minimise: whatever misses a goal is worse than all that meets it."""
        return np.where(self.miss > 0, worst + self.miss, np.minimum(self.value, worst))


def result(task: SearchTask, X: Floats, outcomes: Mapping[str, Floats]) -> Result:
    """How good outcomes [S, m] (classes as positions) of configurations X [m, d] are."""
    shape = next(iter(outcomes.values())).shape
    miss = np.zeros(shape)
    for target in task.targets:
        y = outcomes[target.name]
        if target.is_class:
            miss += y != task.labels[target.name]
            continue
        miss += loss.valid_range(y, target.low, target.high, target.scale)
    if task.outcome_rules:
        columns = [outcomes[name].ravel() for name in task.outcomes]
        extended = np.column_stack([np.tile(X, (shape[0], 1)), *columns])
        for rule in task.outcome_rules:
            miss += rule.violation(extended).reshape(shape)
    value = preference(objective_values(task.targets, outcomes, shape))
    if task.proximity and not objectives(task.targets):
        value += loss.proximity(X, task.start, task.geometry)
    return Result(miss, value)


@dataclass(frozen=True)
class Incumbent:
    """The decision that would be made without a further run."""

    loss: float  # what it costs
    place: int = -1  # which candidate it is; -1: none of them
    other: float = np.inf  # what the best other decision costs, should this one disappoint
    name: str = ""  # what it is called
    predicted: bool = False  # whether it is a suggestion, which nobody has run

    @property
    def described(self) -> str:
        """The name, and of a suggestion that it is only predicted."""
        return f"{self.name}, as predicted" if self.predicted else self.name


def batch(
    losses: Floats,
    incumbent: Incumbent,
    X: Floats,
    geometry: Geometry,
    *,
    apart: float,
    n: int,
    pending: Sequence[int] | Integers = (),
) -> list[tuple[int, float]]:
    """Up to n candidates X [m, d] to measure together, and what each adds to the others.

    `losses` [S, m] are draws of what each may cost. Each next one has the largest mean improvement
    over the best of today and of those chosen already, draw by draw: what varies with them adds
    nothing. To measure the decision of today itself improves it where it turns out worse than the
    best other one. No two are within `apart`, nor within it of a `pending` one, which counts as
    chosen.
    """
    found = np.full(len(losses), np.inf)  # the best of those chosen already
    base, held = incumbent.loss, incumbent.place
    open_ = np.ones(losses.shape[1], dtype=np.bool_)
    for place in pending:
        found = np.minimum(found, losses[:, place])
        open_ &= further(X, X[place], geometry, apart)
        open_[place] = False
    chosen: list[tuple[int, float]] = []
    while len(chosen) < n and open_.any():
        gains = np.maximum(np.minimum(base, found)[:, None] - losses, 0.0).mean(axis=0)
        if held >= 0 and open_[held]:
            kept = np.minimum(losses[:, held], found)
            gains[held] = (kept - np.minimum(kept, incumbent.other)).mean()
        # Rounded, so that of candidates which are the same the first is taken.
        size = float(f"{gains.max():.6g}") or 1.0
        place = int(np.argmax(np.where(open_, np.round(gains / size, 9), -1.0)))
        gain = float(gains[place])
        if gain <= _NOTHING * (chosen[0][1] if chosen else abs(incumbent.loss) * _ROUNDING):
            break
        chosen.append((place, gain))
        found = np.minimum(found, losses[:, place])
        if place == held:
            base = incumbent.other
        open_ &= further(X, X[place], geometry, apart)
        open_[place] = False
    return chosen
