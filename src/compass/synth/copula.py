"""A Gaussian copula: each column by its own distribution, all together by one correlation.

Numbers and labels become uniform by their ranks; a value that many rows share is a stretch, within
which each row has a place by chance. Conditions are stretches of the normal scores: those of the
columns that are asked about are drawn by a Gibbs sampler, all others from what these imply.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Category, Number, Space
from compass.execute.arrays import checked, damaged, floats, whole
from compass.prepare.legal import snap
from compass.rules import Domain
from compass.rules.domains import domain_of
from compass.settings import SynthesisSettings
from compass.synth.base import Arrays, Floats, Tell, anywhere, narrowed, within

_POINTS = 1000  # quantiles that a number without a grid is kept by
_EDGE = 1e-6  # uniform numbers stay this far from 0 and 1
_RIDGE = 1e-3  # share of the unit matrix, so that the correlation can be inverted
_ARRAYS = {
    "values": floats("points", some=True),
    "ends": floats("points", least=0),
    "starts": whole("columns+1", least=0, ascending=True),
    "smooth": whole("columns", least=0, below=2),
    "correlation": floats("columns", "columns"),
    "sweeps": whole(1, least=1),
}


@dataclass(frozen=True, eq=False)
class Marginal:
    """The distribution of one column, as stretches of the uniform numbers.

    Value k of a column with few values takes the stretch ends[k - 1] .. ends[k]. A smooth column
    goes from one of its values to the next between these ends.
    """

    values: Floats  # [k] ascending
    ends: Floats  # [k] ascending, the last is 1; of a smooth column the first is 0
    smooth: bool

    @classmethod
    def of(cls, column: Floats, smooth: bool) -> "Marginal":
        """The distribution of a column [n]."""
        values, counts = np.unique(column, return_counts=True)
        if smooth and len(values) > 1:
            ends = np.linspace(0.0, 1.0, _POINTS)
            return cls(np.quantile(column, ends), ends, True)
        return cls(values, np.cumsum(counts) / counts.sum(), False)

    def uniform(self, column: Floats, rng: np.random.Generator) -> Floats:
        """The column [m] as uniform numbers; a value that was never seen has the nearest place."""
        if self.smooth:
            low = np.searchsorted(self.values, column, side="left")
            high = np.searchsorted(self.values, column, side="right")
            between = np.interp(column, self.values, self.ends)
            first = self.ends[np.clip(low, 0, len(self.ends) - 1)]
            last = self.ends[np.clip(high - 1, 0, len(self.ends) - 1)]
            tied = high - low > 1
            drawn = np.where(tied, first + rng.random(len(column)) * (last - first), between)
            return np.asarray(np.clip(drawn, _EDGE, 1 - _EDGE))
        place = np.searchsorted(self.values, column).clip(0, len(self.values) - 1)
        lower = (place > 0) & (
            np.abs(self.values[np.maximum(place - 1, 0)] - column)
            < np.abs(self.values[place] - column)
        )
        place = place - lower
        first = np.where(place > 0, self.ends[place - 1], 0.0)
        drawn = first + rng.random(len(column)) * (self.ends[place] - first)
        return np.asarray(np.clip(drawn, _EDGE, 1 - _EDGE))

    def value(self, uniform: Floats) -> Floats:
        """The values of uniform numbers."""
        if self.smooth:
            return np.asarray(np.interp(uniform, self.ends, self.values))
        place = np.searchsorted(self.ends, uniform, side="left").clip(0, len(self.values) - 1)
        return np.asarray(self.values[place])

    def stretches(self, domain: Domain) -> Floats:
        """The uniform numbers whose values lie in a domain, as [k, 2] from and to; none: [0, 2]."""
        if self.smooth:
            return self._smooth_stretches(domain)
        inside = within(domain, self.values)
        first = np.concatenate([[0.0], self.ends[:-1]])
        return np.column_stack([first[inside], self.ends[inside]])

    def _smooth_stretches(self, domain: Domain) -> Floats:
        if domain.values is not None:  # single values of what is measured without a grid
            near = within(Domain(self.values[0], self.values[-1]), domain.values)
            at = np.interp(domain.values[near], self.values, self.ends)
            return np.column_stack([at, at])
        low, high = max(domain.low, self.values[0]), min(domain.high, self.values[-1])
        if low > high:
            return np.empty((0, 2))
        first = np.searchsorted(self.values, low, side="left")
        last = np.searchsorted(self.values, high, side="right") - 1
        start = self.ends[first] if first < len(self.values) and self.values[first] == low else None
        stop = self.ends[last] if last >= 0 and self.values[last] == high else None
        return np.array(
            [
                [
                    np.interp(low, self.values, self.ends) if start is None else start,
                    np.interp(high, self.values, self.ends) if stop is None else stop,
                ]
            ]
        )


@dataclass(frozen=True, eq=False)
class GaussianCopula:
    """The distributions of the columns and the correlation of their normal scores."""

    space: Space
    marginals: tuple[Marginal, ...]
    correlation: Floats  # [d, d]
    sweeps: int
    name: str = "copula"
    legal: tuple[Domain, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "legal", tuple(domain_of(one) for one in self.space))

    def sample(self, given: Floats, domains: Sequence[Domain], rng: np.random.Generator) -> Floats:
        """Rows float64[m, d]: those of `given`, with values drawn where it is NaN."""
        from scipy.special import ndtr, ndtri

        drawn = np.array(given)
        patterns, inverse = np.unique(np.isnan(given), axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(inverse.ravel() == number)
            scores = np.zeros((len(rows), len(self.marginals)))
            known = np.flatnonzero(~pattern).tolist()
            missing = np.flatnonzero(pattern).tolist()
            for place in known:
                uniform = self.marginals[place].uniform(given[rows, place], rng)
                scores[:, place] = ndtri(uniform)
            asked = [place for place in missing if narrowed(domains[place], self.legal[place])]
            self._gibbs(scores, known, asked, domains, rng)
            rest = [place for place in missing if place not in asked]
            self._conditional(scores, [*known, *asked], rest, rng)
            for place in missing:
                uniform = ndtr(scores[:, place])
                drawn[rows, place] = self._values(place, uniform, domains[place], rng)
        return drawn

    def _values(
        self, place: int, uniform: Floats, domain: Domain, rng: np.random.Generator
    ) -> Floats:
        """Legal values of uniform numbers, inside the domain."""
        marginal, parameter = self.marginals[place], self.space.parameters[place]
        if narrowed(domain, self.legal[place]):
            if not len(marginal.stretches(domain)):
                return anywhere(domain, len(uniform), rng)
            found = marginal.value(uniform)
            if domain.values is not None and marginal.smooth:
                at = np.searchsorted((domain.values[1:] + domain.values[:-1]) / 2, found)
                return domain.values[at]
            if domain.values is None:
                # Rounding on the way through normal scores must not leave the range.
                numbers = np.clip(found, domain.low, domain.high)
                found = (
                    numbers
                    if domain.none is None
                    else np.where(found == domain.none, found, numbers)
                )
            return snap(parameter, found)
        return snap(parameter, marginal.value(uniform))

    def _gibbs(
        self,
        scores: Floats,
        known: list[int],
        asked: list[int],
        domains: Sequence[Domain],
        rng: np.random.Generator,
    ) -> None:
        """Draw the scores of the columns that are asked about, in place."""
        stretches = [self.marginals[j].stretches(domains[j]) for j in asked]
        free = [j for j, found in zip(asked, stretches, strict=True) if not len(found)]
        bound = [(j, found) for j, found in zip(asked, stretches, strict=True) if len(found)]
        drawn = list(known)
        for j, found in bound:  # a first draw, one after the other
            self._truncated(scores, j, drawn, found, rng)
            drawn.append(j)
        for _ in range(self.sweeps if len(bound) > 1 else 0):
            for j, found in bound:
                self._truncated(scores, j, [k for k in drawn if k != j], found, rng)
        self._conditional(scores, drawn, free, rng)

    def _moments(
        self, scores: Floats, known: Sequence[int], j: Sequence[int]
    ) -> tuple[Floats, Floats]:
        """Mean [m, k] and covariance [k, k] of columns where others are known."""
        known, j = list(known), list(j)
        if not known:
            return np.zeros((len(scores), len(j))), self.correlation[np.ix_(j, j)]
        slope = np.linalg.solve(
            self.correlation[np.ix_(known, known)], self.correlation[np.ix_(known, j)]
        )
        left = self.correlation[np.ix_(j, j)] - self.correlation[np.ix_(j, known)] @ slope
        return scores[:, known] @ slope, left

    def _truncated(
        self, scores: Floats, j: int, known: list[int], stretches: Floats, rng: np.random.Generator
    ) -> None:
        """Draw one column inside stretches of its uniform numbers, given the known ones."""
        from scipy.special import ndtr, ndtri

        mean, left = self._moments(scores, known, [j])
        centre, spread = mean[:, 0], float(np.sqrt(max(left[0, 0], 1e-12)))
        ends = ndtri(np.clip(stretches, _EDGE, 1 - _EDGE))  # [k, 2]
        low, high = ((ends[None, :, side] - centre[:, None]) / spread for side in (0, 1))
        # In the tail where both are small, so that a difference of chances is exact.
        flip = low > 0
        a, b = np.where(flip, -high, low), np.where(flip, -low, high)
        mass = np.maximum(ndtr(b) - ndtr(a), 0.0)  # [m, k]
        total = mass.sum(axis=1)
        lost = total <= 1e-300
        width = np.maximum(stretches[:, 1] - stretches[:, 0], 0.0)
        even = (width + 1e-12) / (width + 1e-12).sum()
        chances = np.where(lost[:, None], even[None, :], mass / np.where(lost, 1.0, total)[:, None])
        pick = (np.cumsum(chances, axis=1) < rng.random(len(scores))[:, None]).sum(axis=1)
        pick = np.minimum(pick, len(stretches) - 1)
        row = np.arange(len(scores))
        u = rng.random(len(scores))
        first, last = ndtr(a[row, pick]), ndtr(b[row, pick])
        inner = ndtri(np.clip(first + u * (last - first), 1e-300, 1 - 1e-16))
        inner = np.where(flip[row, pick], -inner, inner)
        found = centre + spread * inner
        lowest, highest = ends[pick, 0], ends[pick, 1]
        scores[:, j] = np.clip(np.where(lost, lowest, found), lowest, highest)

    def _conditional(
        self, scores: Floats, known: list[int], rest: list[int], rng: np.random.Generator
    ) -> None:
        """Draw the scores of other columns given the known ones, in place."""
        if not rest:
            return
        mean, left = self._moments(scores, known, rest)
        values, vectors = np.linalg.eigh(left)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        scores[:, rest] = mean + rng.standard_normal((len(scores), len(rest))) @ root.T

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        sizes = [len(one.values) for one in self.marginals]
        return {
            "values": np.concatenate([one.values for one in self.marginals]),
            "ends": np.concatenate([one.ends for one in self.marginals]),
            "starts": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            "smooth": np.array([one.smooth for one in self.marginals], dtype=np.int64),
            "correlation": self.correlation,
            "sweeps": np.array([self.sweeps]),
        }


def _is_smooth(parameter: Number | Category, column: Floats) -> bool:
    """Whether a column is a number without a grid that hardly any two rows share."""
    if isinstance(parameter, Category) or parameter.optional:
        return False
    if parameter.step is not None or parameter.allowed is not None:
        return False
    return len(np.unique(column)) > max(20, len(column) // 20)


@registry.add("synthesizer", "copula")
class Copula:
    """The columns' own distributions, tied by the correlation of their normal scores."""

    name = "copula"

    @staticmethod
    def fit(
        X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> GaussianCopula:
        """Learn from X float64[n, d]."""
        from scipy.special import ndtri

        rng = np.random.default_rng(seed)
        marginals, scores = [], np.empty(X.shape)
        for place, parameter in enumerate(space):
            tell("learning columns", place, len(space))
            column = X[:, place]
            marginals.append(Marginal.of(column, _is_smooth(parameter, column)))
            scores[:, place] = ndtri(marginals[-1].uniform(column, rng))
        scores -= scores.mean(axis=0)
        norms = np.sqrt((scores**2).sum(axis=0))
        norms[norms == 0] = 1.0
        correlation = (scores / norms).T @ (scores / norms)
        np.fill_diagonal(correlation, 1.0)
        correlation = (1 - _RIDGE) * correlation + _RIDGE * np.eye(len(space))
        return GaussianCopula(space, tuple(marginals), correlation, settings.sweeps)

    @staticmethod
    def restore(arrays: Arrays, space: Space) -> GaussianCopula:
        """What was learnt and gave these arrays."""
        found, sizes = checked(arrays, _ARRAYS, "the saved synthesizer", {"columns": len(space)})
        starts = found["starts"].tolist()
        if starts[0] != 0 or starts[-1] != sizes["points"] or 0 in np.diff(starts):
            raise damaged("the saved synthesizer", "its columns do not fit together")
        marginals = tuple(
            Marginal(found["values"][a:b], found["ends"][a:b], bool(smooth))
            for a, b, smooth in zip(starts, starts[1:], found["smooth"], strict=False)
        )
        return GaussianCopula(space, marginals, found["correlation"], int(found["sweeps"][0]))
