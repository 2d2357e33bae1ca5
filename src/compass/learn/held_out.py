"""What held-out runs say of a model: its signed errors, its scores, and how errors carry over.

Decision 0032 (docs/decisions).
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.learn.features import FeatureView
from compass.model.base import Fitted
from compass.prepare.geometry import nearest_rows
from compass.prepare.split import configurations
from compass.prepare.weigh import median
from compass.trust.chance import Errors, Hits
from compass.trust.interval import counted
from compass.trust.pairs.index import PairScale
from compass.trust.rank import sample

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_CHECKED = 2000  # held-out runs that tell errors: more move a quantile by less than it is known
_PAIRED = 200  # held-out runs that are compared with the nearest run learnt from
_AMONG = 10_000  # runs among which the nearest is looked for
_FAR = 5.0  # median sizes beyond which an error is cut off: single runs must not decide


@dataclass(frozen=True)
class Carry:
    """Which share of the error at a measured run is expected again at configurations near it.

    A model that fits well errs by the scatter of single runs, which tells nothing about the next
    configuration; a model that is too smooth errs alike in a whole region.
    """

    seen: float = 0.0  # from a run that was learnt from
    unseen: float = 0.0  # from a run that was held out


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The runs that a model did not see, with what it predicts of them."""

    view: FeatureView
    rows: Rows  # [v] positions
    y: Floats  # [n] outcome of all runs
    model: Fitted
    _placed: dict[int, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, view: FeatureView, y: Floats, model: Fitted) -> "HeldOut":
        """The held-out runs of a view whose outcome y [n] is known; a sample of many."""
        known = view.valid[np.isfinite(y[view.valid])]
        return cls(view, known[sample(len(known), _CHECKED, view.seed)], y, model)

    @cached_property
    def predicted(self) -> Floats:
        """What the model says of them, [v, outputs]."""
        return self.model.predict(self.view.X[self.rows])

    def placed(self, scale: PairScale) -> Floats:
        """Their coordinates [d, v] in a scale."""
        if id(scale) not in self._placed:
            self._placed.clear()
            self._placed[id(scale)] = np.ascontiguousarray(scale.place(self.view.X[self.rows]).T)
        return self._placed[id(scale)]

    def errors(self, *, usual: float, log: bool) -> Errors:
        """The errors of a number; see `Errors`."""
        predicted = self.predicted[:, 0]
        spread = self.model.spread(self.view.X[self.rows])
        missed = self._missed(self.rows, predicted, log)
        own = spread / predicted if log else spread
        weight, unseen, _ = self._counted()
        return Errors.of(missed, own, weight, unseen, usual=usual, log=log)

    def hits(self, label: int) -> Hits:
        """How often a class was right, by its score."""
        scores = self.predicted[:, label]
        weight, unseen, _ = self._counted()
        right = (self.y[self.rows] == label).astype(np.float64)
        return Hits.of(scores, right, weight, unseen)

    def carry(self, *, log: bool) -> Carry:
        """How far errors carry over, from the nearest runs of held-out ones."""
        view = self.view
        some = self.rows[sample(len(self.rows), _PAIRED, view.seed)]
        learnt = view.train[np.isfinite(self.y[view.train])]
        return Carry(
            seen=self._carried(some, learnt, log), unseen=self._carried(some, self.rows, log)
        )

    def _carried(self, some: Rows, among: Rows, log: bool) -> float:
        """The share of the error at the nearest of `among` that the error of each row repeats."""
        view = self.view
        among = among[sample(len(among), _AMONG, view.seed)]
        if len(some) < 3 or len(among) < 2:
            return 0.0
        columns, geometry = np.arange(view.X.shape[1]), view.geometry({})
        kinds = configurations(view.X[among])
        near = []
        for row in some:
            others = among[kinds != configurations(view.X[[row]])[0]]
            if not len(others):
                return 0.0
            near.append(others[nearest_rows(view.X[others], view.X[row], columns, geometry, 1)[0]])
        own, other = (self._cut(np.asarray(rows), log) for rows in (some, near))
        total = float((other**2).sum())
        if not total:
            return 0.0
        share = float((own * other).sum()) / total
        doubt = float(np.sqrt(((own - share * other) ** 2).mean() / total))
        # Within its own error the share may be none: only what is sure of it counts.
        return float(np.clip(share - doubt, 0.0, 1.0))

    def _cut(self, rows: Rows, log: bool) -> Floats:
        missed = self._missed(rows, self.model.predict(self.view.X[rows])[:, 0], log)
        limit = _FAR * median(np.abs(missed))
        return np.clip(missed, -limit, limit)

    def _missed(self, rows: Rows, predicted: Floats, log: bool) -> Floats:
        """Outcome less prediction [v]; of logarithms where these are learnt."""
        if not log:
            return np.asarray(self.y[rows] - predicted)
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(self.y[rows] > 0, np.log(self.y[rows]), -np.inf)
        return np.asarray(y - np.log(predicted))

    def _counted(self) -> tuple[Floats, float, int]:
        group, weight = self.view.prepared.group, self.view.prepared.weight[self.rows]
        unit = configurations(self.view.X[self.rows]) if group is None else group[self.rows]
        return counted(weight, unit, groups=group is not None)
