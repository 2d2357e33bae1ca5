"""How far a prediction within an experiment can be relied on: Algorithm 1 on the runs made so far.

There are too few runs to put some aside, so each is compared with the others: novelty is the mean
distance to the nearest runs, its rank that among the runs themselves. Uncertainty is the width of
the predicted interval, its rank that among the predictions made before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop.calibration import error_of
from compass.domain.answer import Label, Prediction
from compass.domain.experiment import ExperimentRun
from compass.domain.space import Space
from compass.settings import TrustSettings
from compass.trust.distance import Scale, distances
from compass.trust.rank import Ranks

Floats = NDArray[np.float64]

_LEAST = 10  # runs; of fewer, nothing is said about what is usual
_SAMPLE = 500  # runs whose novelty is looked at: ranks are known to about 1 / 500 then


@dataclass(frozen=True, eq=False)
class Labels:
    """The runs of an experiment, laid out for labels."""

    scale: Scale
    placed: Floats  # the runs as the scale places them
    novelty: Ranks
    width: Ranks | None  # of the intervals predicted before; None: there are too few
    near: float  # the distance that counts as close
    neighbours: int
    settings: TrustSettings

    @classmethod
    def of(
        cls, X: Floats, widths: Sequence[float], space: Space, settings: TrustSettings
    ) -> "Labels | None":
        """Laid out from runs X [n, d] and the widths of earlier intervals; None: too few runs."""
        if len(X) < _LEAST:
            return None
        scale = Scale.learn(X, space, None)
        placed = scale.place(X)
        k = min(settings.neighbours, len(X) - 1)
        looked = _sampled(len(X))
        own = np.array([_nearest(scale, placed, placed[:, i], k + 1, 1) for i in looked])
        novelty = Ranks.of(own)
        known = np.array([width for width in widths if np.isfinite(width)])
        return cls(
            scale,
            placed,
            novelty,
            Ranks.of(known) if len(known) >= _LEAST else None,
            novelty.percentile(settings.close_percentile),
            k,
            settings,
        )

    def label(self, x: Floats, width: float) -> Label:
        """The label of a configuration x [d] with a predicted interval of this width."""
        point = self.scale.place(x[None])[:, 0]
        away = np.sort(distances(self.scale.kind, self.placed, point))
        ood = float(self.novelty.below(away[: self.neighbours].mean()[None])[0])
        if ood > self.settings.unsupported:
            return Label.UNSUPPORTED
        # An interval whose width cannot be ranked yet is not known to be usual.
        wide = self.width is None or not np.isfinite(width)
        uq = 1.0 if wide or self.width is None else float(self.width.below(np.array([width]))[0])
        doubtful = max(ood, uq) > self.settings.caution or away[0] > self.near
        return Label.CAUTION if doubtful else Label.TRUSTED


def told_errors(runs: Sequence[ExperimentRun], outcome: str | None, positive: bool) -> Floats:
    """By how many half-widths predictions of an outcome were off [k], in the order of the runs."""
    found = []
    for run in runs:
        for one in run.predicted:
            measured = run.outcomes.get(one.name)
            if one.name != outcome or not isinstance(measured, int | float):
                continue
            if isinstance(one.value, int | float) and one.low is not None and one.high is not None:
                told = float(one.value), one.low, one.high
                widened = run.widening.get(one.name, 1.0)
                found.append(error_of(float(measured), told, widened=widened, positive=positive))
    off = np.array(found, dtype=np.float64)
    return np.asarray(off[np.isfinite(off)])


def interval_width(one: Prediction, *, positive: bool, widened: float) -> float:
    """How wide an interval was before it was widened, as a factor where outcomes are positive.

    One that reaches below 0 has then no width: it was told when the outcomes were not.
    """
    if one.low is None or one.high is None:
        return math.nan
    if not positive:
        return (one.high - one.low) / widened
    return math.log(one.high / one.low) / widened if one.low > 0 else math.nan


def _sampled(runs: int) -> NDArray[np.int64]:
    """The places of the runs that are compared with all: every one, or always the same sample."""
    if runs <= _SAMPLE:
        return np.arange(runs)
    return np.sort(np.random.default_rng(0).choice(runs, _SAMPLE, replace=False))


def _nearest(scale: Scale, placed: Floats, point: Floats, upto: int, skip: int) -> float:
    """The mean distance of a point to the nearest runs, without the first `skip` of them."""
    return float(np.sort(distances(scale.kind, placed, point))[skip:upto].mean())
