"""How likely a new run meets a goal: signed errors on runs that the model did not see.

Intervals hold errors of either sign; a goal with one end is missed on one side only. What a run to
check with does not tell counts as a miss, so that a stated chance is kept with few runs too.

Decision 0032 (docs/decisions).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.execute.arrays import checked, floats
from compass.trust.interval import Conformal, size
from compass.trust.rank import Floats

_TELLING = 40  # held-out runs that tell how far spreads tell errors
_USUAL = 0.99  # squares of errors beyond this quantile are cut off: single runs must not decide
_USUALLY = 0.99  # of the runs: an error that is larger on its side is unusual
_ARRAYS = {
    # An error is infinite where the logarithm of 0 was to be predicted.
    "values": floats("errors", ascending=True, infinite=True, missing=True),
    "share": floats("errors+1", ascending=True, least=0),
}
_MOST = 10.0  # a floor that leaves spreads without a say


@dataclass(frozen=True, eq=False)
class Errors:
    """Scaled errors (outcome less prediction), ascending, and the share of new runs up to each.

    Of an outcome that is learnt as a logarithm they are errors of the logarithm, and spreads are
    shares of the prediction.
    """

    values: Floats  # [v]
    share: Floats  # [v + 1] of the first 0 .. v; the last is below 1: a new run may err more
    usual: float  # a usual spread; 0: spreads tell nothing
    log: bool
    floor: float = 0.0  # the part of an error that no spread tells, in usual errors

    @classmethod
    def of(
        cls,
        missed: Floats,
        spread: Floats,
        weight: Floats,
        unseen: float,
        *,
        usual: float,
        log: bool,
    ) -> "Errors":
        """From errors [v] of predictions with spreads [v] and weights [v]; a new run counts
        `unseen`.

        How far the spread tells the error is learnt from them: runs scatter however certain the
        model is, and a search for what is likely enough looks for small spreads.
        """
        floor = _floor(missed, size(spread, usual), weight) if usual else 0.0
        return cls._sorted(
            missed / _expected(spread, usual, floor), weight, unseen, usual, log, floor
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What is saved as arrays; the rest are plain numbers."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], **numbers: Any) -> "Errors":
        """The errors with these `arrays()` and numbers; damaged arrays are refused."""
        return cls(**checked(arrays, _ARRAYS, "saved errors")[0], **numbers)

    @classmethod
    def _sorted(
        cls, values: Floats, weight: Floats, unseen: float, usual: float, log: bool, floor: float
    ) -> "Errors":
        order = np.argsort(values, kind="stable")
        sums = np.concatenate([[0.0], np.cumsum(weight[order])])
        return cls(values[order], sums / (sums[-1] + unseen), usual, log, floor)

    @classmethod
    def symmetric(cls, known: Conformal) -> "Errors":
        """From the sizes of errors that are as likely above as below."""
        both = np.concatenate([-known.residuals, known.residuals])
        weight = np.concatenate([known.weights, known.weights]) / 2
        return cls._sorted(both, weight, known.unseen, known.usual, known.log, 0.0)

    def chance(self, predicted: Floats, spread: Floats, low: float, high: float) -> Floats:
        """The chance [n] that new runs with these predictions [n] lie between low and high.

        Predictions and ends are in units of the outcome; of a logarithm, `spread` is a share.
        """
        if self.log:
            with np.errstate(divide="ignore"):
                predicted, low, high = np.log(predicted), *np.log(np.maximum([low, high], 0.0))
        expected = _expected(spread, self.usual, self.floor)
        with np.errstate(invalid="ignore"):
            above, below = (high - predicted) / expected, (low - predicted) / expected
        upto = np.searchsorted(self.values, above, side="right")
        before = np.searchsorted(self.values, below, side="left")
        return np.asarray(np.maximum(self.share[upto] - self.share[np.minimum(before, upto)], 0.0))

    def carried(self, missed: float, spread: float, share: float) -> float:
        """What an error at the baseline lets expect of configurations near it.

        A share of it; and all of what is beyond the errors that the model usually makes: there it
        is wrong about something that these configurations have in common.
        """
        expected = float(_expected(np.array([spread]), self.usual, self.floor)[0])
        low, high = self.below(_USUALLY) * expected, self.above(_USUALLY) * expected
        beyond = missed - min(max(missed, low), high)
        return share * (missed - beyond) + (beyond if math.isfinite(beyond) else 0.0)

    def above(self, chance: float) -> float:
        """The scaled error that a new run stays below with this chance; inf: too few runs tell."""
        place = int(np.searchsorted(self.share, chance - 1e-12))
        return float(self.values[max(place - 1, 0)]) if place < len(self.share) else math.inf

    def below(self, chance: float) -> float:
        """The scaled error that a new run stays above with this chance; -inf: too few tell."""
        top = self.share[-1] - self.share[:-1]  # share of the runs from each value on
        place = int(np.searchsorted(-top, -(chance - 1e-12), side="right")) - 1
        return float(self.values[place]) if place >= 0 else -math.inf

    def shifted(self, low: float, high: float, spread: float, chance: float) -> tuple[float, float]:
        """The predictions between which a run with this spread lies in a range with this chance.

        Each end is moved inwards by the error on its side. Where nothing is left between them,
        both are the middle of the range: no prediction is likelier to meet it.
        """
        expected = float(_expected(np.array([spread]), self.usual, self.floor)[0])
        if self.log:
            # What is never negative has no lower end at 0 or below.
            low, high = (float(np.log(end)) if end > 0 else -math.inf for end in (low, high))
        top = high - max(self.above(chance), 0.0) * expected
        bottom = low - min(self.below(chance), 0.0) * expected
        if top < bottom and math.isfinite(low) and math.isfinite(high):
            top = bottom = (low + high) / 2
        if not self.log:
            return bottom, top
        with np.errstate(over="ignore"):
            return (-math.inf if bottom == -math.inf else float(np.exp(bottom))), float(np.exp(top))


def _expected(spread: Floats, usual: float, floor: float) -> Floats:
    """How large an error is to be expected, [n], for spreads [n]."""
    return np.asarray(np.sqrt(floor**2 + size(spread, usual) ** 2))


def _floor(missed: Floats, sizes: Floats, weight: Floats) -> float:
    """The floor with which errors [v] have the same size wherever the sizes [v] are.

    Squares of errors are fitted by a constant and the squares of the sizes, neither below 0; a few
    runs cannot tell, so that both then count alike.
    """
    known = np.isfinite(missed)
    if known.sum() < _TELLING:
        return 1.0
    squares, x = missed[known] ** 2, sizes[known] ** 2
    squares = np.minimum(squares, np.quantile(squares, _USUAL))
    share = weight[known] / weight[known].sum()
    slope = _slope(x, squares, share)
    constant = float((share * squares).sum() - slope * (share * x).sum())
    if slope <= 0:
        return _MOST
    if constant <= 0:
        return 0.0
    return min(float(np.sqrt(constant / slope)), _MOST)


def _slope(x: Floats, y: Floats, share: Floats) -> float:
    """The slope of y [v] over x [v], which count by their shares [v]."""
    apart = x - (share * x).sum()
    total = float((share * apart**2).sum())
    return float((share * apart * y).sum()) / total if total else 0.0


@dataclass(frozen=True, eq=False)
class Hits:
    """How often a class was right, by the score that the model gave it: never less with more."""

    scores: Floats  # [b] ascending: the lowest score of each block
    share: Floats  # [b] of the runs with such a score that were of the class

    @classmethod
    def of(cls, scores: Floats, right: Floats, weight: Floats, unseen: float) -> "Hits":
        """From the scores [v] of held-out runs and whether they were of the class, [v] of 0 or 1.

        Neighbouring scores are pooled until the shares rise (isotonic regression). A new run counts
        as a miss in every block.
        """
        order = np.argsort(scores, kind="stable")
        blocks: list[list[float]] = []  # lowest score, weight, weight of the hits
        for place in order:
            score, mass = float(scores[place]), float(weight[place])
            hit = mass * float(right[place])
            if blocks and blocks[-1][0] == score:
                blocks[-1][1] += mass
                blocks[-1][2] += hit
            else:
                blocks.append([score, mass, hit])
            while len(blocks) > 1 and _rate(blocks[-2]) >= _rate(blocks[-1]):
                _, mass, hit = blocks.pop()
                blocks[-1][1] += mass
                blocks[-1][2] += hit
        share = np.array([hit / (mass + unseen) if mass else 0.0 for _, mass, hit in blocks])
        return cls(np.array([block[0] for block in blocks]), np.maximum.accumulate(share))

    def chance(self, scores: Floats) -> Floats:
        """The chance [n] of the class for these scores [n] of it."""
        if not len(self.scores):
            return np.zeros(len(scores))
        place = np.searchsorted(self.scores, scores, side="right") - 1
        return np.asarray(np.where(place >= 0, self.share[np.maximum(place, 0)], 0.0))

    def least(self, chance: float) -> float:
        """The lowest score with at least this chance; inf where there is none."""
        place = int(np.searchsorted(self.share, chance - 1e-12))
        return float(self.scores[place]) if place < len(self.scores) else math.inf


def _rate(block: list[float]) -> float:
    return block[2] / block[1] if block[1] else 0.0
