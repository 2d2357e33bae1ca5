"""Rows as networks take them: mode-specific normalisation of numbers, one column per label.

As in CTGAN (Xu et al. 2019, section 4.2): a number is told by the mode of a Gaussian mixture that
it belongs to, and by where it lies in it: (value - mean) / (4 deviations).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.execute.arrays import checked, damaged, floats, whole
from compass.prepare.legal import snap
from compass.synth.base import Arrays, Floats

_FEW = 0.005  # weight below which a mode is none
_ROWS = 5000  # that the mixtures are fitted on
_WIDE = 4.0  # deviations that become 1
_ARRAYS = {
    "counts": whole("columns", least=1),
    "numbers": whole("columns", least=0, below=2),
    "means": floats("modes"),
    "deviations": floats("modes", above=0),
}


@dataclass(frozen=True, eq=False)
class Block:
    """Where a column is in the matrix: its scalar, if it is a number, and its mode or label."""

    scalar: int | None
    first: int
    count: int


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of every number, and the labels of every category."""

    space: Space
    counts: NDArray[np.int64]  # [d] modes or labels
    numbers: NDArray[np.int64]  # [d] 1: a number
    means: Floats  # [sum of the modes of the numbers]
    deviations: Floats

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Where each column is."""
        found, at = [], 0
        for count, is_number in zip(self.counts.tolist(), self.numbers.tolist(), strict=True):
            found.append(Block(at if is_number else None, at + is_number, count))
            at += count + is_number
        return tuple(found)

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return int(self.counts.sum() + self.numbers.sum())

    def _of(self, place: int) -> tuple[Floats, Floats]:
        """Means and deviations of the modes of one number."""
        first = int((self.counts * self.numbers)[:place].sum())
        own = slice(first, first + int(self.counts[place]))
        return self.means[own], self.deviations[own]

    def encode(self, X: Floats, rng: np.random.Generator) -> Floats:
        """X [n, d] as the matrix [n, width]; the mode of a number is drawn by its chances."""
        found = np.zeros((len(X), self.width))
        row = np.arange(len(X))
        for place, block in enumerate(self.blocks):
            column = X[:, place]
            if block.scalar is None:
                found[row, block.first + column.astype(np.int64)] = 1.0
                continue
            means, deviations = self._of(place)
            apart = (column[:, None] - means) / deviations
            chances = np.exp(-0.5 * np.square(apart) + 0.5 * np.square(apart).min(axis=1)[:, None])
            chances /= deviations
            chances /= chances.sum(axis=1, keepdims=True)
            mode = (np.cumsum(chances, axis=1) < rng.random(len(X))[:, None]).sum(axis=1)
            mode = np.minimum(mode, block.count - 1)
            found[row, block.scalar] = np.clip(apart[row, mode] / _WIDE, -0.99, 0.99)
            found[row, block.first + mode] = 1.0
        return found

    def decode(self, matrix: Floats) -> Floats:
        """The legal rows [n, d] that a matrix [n, width] means."""
        X = np.empty((len(matrix), len(self.space)))
        for place, (block, parameter) in enumerate(zip(self.blocks, self.space, strict=True)):
            mode = matrix[:, block.first : block.first + block.count].argmax(axis=1)
            if block.scalar is None:
                X[:, place] = mode
                continue
            means, deviations = self._of(place)
            value = matrix[:, block.scalar] * _WIDE * deviations[mode] + means[mode]
            X[:, place] = snap(parameter, value)
        return X

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def restore(cls, arrays: Arrays, space: Space) -> "Modes":
        """The modes whose `arrays()` these are."""
        what = "the saved synthesizer"
        found, sizes = checked(arrays, _ARRAYS, what, {"columns": len(space)})
        kinds = [int(isinstance(parameter, Number)) for parameter in space]
        labels = [len(p.values) for p in space if isinstance(p, Category)]
        known = found["counts"][found["numbers"] == 0].tolist()
        modes = int((found["counts"] * found["numbers"]).sum())
        if found["numbers"].tolist() != kinds or known != labels or modes != sizes["modes"]:
            raise damaged(what, "its columns do not fit together")
        return cls(space, **found)


def modes_of(X: Floats, space: Space, most: int, seed: int) -> Modes:
    """The modes of X [n, d]: a variational mixture of at most so many normal distributions."""
    counts, means, deviations = [], [], []
    for place, parameter in enumerate(space):
        if isinstance(parameter, Category):
            counts.append(len(parameter.values))
            continue
        centre, wide = _mixture(X[:, place], most, seed)
        counts.append(len(centre))
        means.append(centre)
        deviations.append(wide)
    return Modes(
        space,
        np.array(counts, dtype=np.int64),
        np.array([int(isinstance(one, Number)) for one in space], dtype=np.int64),
        np.concatenate(means) if means else np.empty(0),
        np.concatenate(deviations) if deviations else np.empty(0),
    )


def _mixture(column: Floats, most: int, seed: int) -> tuple[Floats, Floats]:
    """Means and deviations of the modes of one number."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    rng = np.random.default_rng(seed)
    some = column if len(column) <= _ROWS else rng.choice(column, _ROWS, replace=False)
    scale = float(some.std()) or 1.0
    different = len(np.unique(some))
    if different < 2:
        return np.array([some[0]]), np.array([scale])
    mixture: Any = BayesianGaussianMixture(
        n_components=min(most, different),
        weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=0.001,
        n_init=1,
        random_state=seed,
    )
    with warnings.catch_warnings():
        # Not converged is good enough: modes are a way to write numbers, nothing is concluded.
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(((some - some.mean()) / scale)[:, None])
    kept = mixture.weights_ > _FEW
    centre = mixture.means_[kept, 0] * scale + some.mean()
    wide = np.sqrt(mixture.covariances_[kept, 0, 0]) * scale
    return centre, np.maximum(wide, 1e-6 * scale)
