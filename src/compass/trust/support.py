"""Which past runs are near a configuration, and how unusual it is (Algorithm 1, steps 1 and 2)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.settings import TrustSettings
from compass.trust.blocks import Blocks
from compass.trust.distance import CATEGORY, Scale, distances
from compass.trust.rank import TIE, Floats, Ranks, Rows, sample


@dataclass(frozen=True, eq=False)
class Support:
    """The training runs, laid out for questions of nearness."""

    scale: Scale
    blocks: Blocks  # of the training rows
    neighbours: int  # k
    ranks: Ranks  # of the mean distances of the validation rows
    tau: float  # the distance that counts as close

    @classmethod
    def build(
        cls,
        X_train: Floats,
        X_valid: Floats,
        space: Space,
        settings: TrustSettings,
        seed: int,
        *,
        train_weight: Floats | None = None,
        valid_weight: Floats | None = None,
    ) -> "Support":
        """Learn what is near from encoded rows float64[n, d], one column per parameter.

        Weights of training rows enter the standard deviations; neighbours and support are counted
        in rows. Weights of validation rows enter the shares and the percentile.
        """
        scale = Scale.learn(X_train, space, train_weight)
        blocks = Blocks.build(scale.kind, scale.place(X_train))
        chosen = sample(X_valid.shape[0], settings.validation_rows, seed)
        novelty = blocks.nearest(scale.place(X_valid[chosen]), settings.neighbours)
        ranks = Ranks.of(novelty, None if valid_weight is None else valid_weight[chosen])
        tau = ranks.percentile(settings.close_percentile) if settings.tau is None else settings.tau
        return cls(scale, blocks, settings.neighbours, ranks, tau)

    def novelty(self, X: Floats) -> Floats:
        """Mean distance float64[n] of X float64[n, d] to the k nearest training rows."""
        return self.blocks.nearest(self.scale.place(X), self.neighbours)

    def ood(self, X: Floats) -> Floats:
        """Share float64[n] of validation rows that are strictly nearer to the training rows."""
        return self.ranks.below(self.novelty(X))

    def distances(self, x: Floats) -> Floats:
        """Distance float64[n] of every training row to x float64[d]."""
        found = np.empty(self.blocks.position.size)
        point = self.scale.place(x[np.newaxis])[:, 0]
        found[self.blocks.position] = distances(self.scale.kind, self.blocks.rows, point)
        return found

    def support(self, x: Floats) -> tuple[Rows, Floats]:
        """The training rows within tau of x float64[d]: positions and distances, nearest first."""
        return self.around(x[np.newaxis])[1][0]

    def around(self, X: Floats) -> tuple[Floats, list[tuple[Rows, Floats]]]:
        """`ood` of X float64[n, d] and the `support` of each, in one pass over the rows."""
        reach = self.tau * (1 + TIE)
        novelty, close = self.blocks.around(self.scale.place(X), self.neighbours, reach)
        return self.ranks.below(novelty), close

    def unseen(self, X: Floats) -> list[list[int]]:
        """The columns of each row of X float64[n, d] whose label no training row has.

        A number that never varied in training counts as a label: of others nothing is known.
        """
        return self._strange(X, labels=True)

    def has_unseen(self, X: Floats) -> NDArray[np.bool_]:
        """Whether each row of X float64[n, d] has such a label."""
        return np.array([bool(columns) for columns in self.unseen(X)], dtype=np.bool_)

    def outside(self, X: Floats) -> list[list[int]]:
        """The columns of each row of X float64[n, d] whose number is beyond all training rows."""
        return self._strange(X, labels=False)

    def _strange(self, X: Floats, *, labels: bool) -> list[list[int]]:
        placed = self.scale.place(X)
        strange = np.zeros(placed.shape, dtype=np.bool_)
        for c, (values, (low, high, seen)) in enumerate(zip(placed, self._known, strict=True)):
            if labels and seen is not None:
                strange[c] = ~np.isin(values, seen)
            elif not labels and seen is None:
                strange[c] = (values < low) | (values > high)  # `none` is NaN: never beyond
        if not strange.any():
            return [[] for _ in X]
        return [self.scale.column[one].tolist() for one in strange.T]

    @cached_property
    def _known(self) -> list[tuple[float, float, Floats | None]]:
        """Of each coordinate the range of the training rows; of labels, which there are."""
        return [
            (float(np.nanmin(row)), float(np.nanmax(row)), np.unique(row) if label else None)
            for row, label in zip(self.blocks.rows, self.scale.kind == CATEGORY, strict=True)
        ]
