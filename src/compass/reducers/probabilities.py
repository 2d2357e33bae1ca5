"""How probably each row of a batch is kept: all alike, by score, or by stratum."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.errors import BadInput, unknown
from compass.domain.space import Space
from compass.reducers.columns import Cells, bins_of, is_label
from compass.reducers.draws import proportional
from compass.reducers.pilot import features_of
from compass.reducers.score import Scorer

Floats = NDArray[np.float64]

_STRATA = 10_000


class KeepProbability(Protocol):
    """Gives every row of a batch the probability that it is kept."""

    @property
    def looks_at(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns that it takes numbers or labels from, and those it takes labels from."""
        ...

    def of(self, columns: Mapping[str, Cells], rows: int) -> Floats:
        """float64[n], above 0 and at most 1."""
        ...


@dataclass(frozen=True)
class EqualProbability:
    """The same probability for every row."""

    keep: float

    @property
    def looks_at(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Nothing."""
        return (), ()

    def of(self, columns: Mapping[str, Cells], rows: int) -> Floats:
        """The share that is to be kept."""
        del columns
        return np.full(rows, self.keep)


@dataclass(frozen=True)
class ByScore:
    """min(1, a + b * score): more for rows that the pilot model does not know well."""

    scorer: Scorer
    a: float
    b: float

    @property
    def looks_at(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Features and outcomes."""
        features = tuple(one.name for one in self.scorer.features)
        return (*features, *(one.target.name for one in self.scorer.targets)), ()

    def of(self, columns: Mapping[str, Cells], rows: int) -> Floats:
        """The probability from the score of each row."""
        bins = bins_of(columns, self.scorer.features, rows)
        return self.scorer.probabilities(columns, bins, self.a, self.b)


@dataclass(frozen=True)
class ByStratum:
    """One probability for each combination of labels; combinations that are new are kept."""

    names: tuple[str, ...]
    probabilities: Mapping[tuple[Value, ...], float]

    @property
    def looks_at(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the strata, whose values are taken as labels."""
        return (), self.names

    def of(self, columns: Mapping[str, Cells], rows: int) -> Floats:
        """The probability of the stratum that each row is in."""
        place, found = combinations(columns, self.names, rows)
        probability = np.array([self.probabilities.get(stratum, 1.0) for stratum in found])
        result: Floats = probability[place]
        return result


def combinations(
    columns: Mapping[str, Cells], names: Sequence[str], rows: int
) -> tuple[NDArray[np.int64], list[tuple[Value, ...]]]:
    """The labels of each row, as a position in a list of the combinations that there are."""
    place = np.zeros(rows, dtype=np.int64)
    found: list[tuple[Value, ...]] = [()]
    for name in names:
        codes, labels = columns[name].codes()
        wide = len(labels) + 1
        place = place * wide + np.where(codes < 0, len(labels), codes)
        seen, place = np.unique(place, return_inverse=True)
        found = [(*found[int(one) // wide], [*labels, None][int(one) % wide]) for one in seen]
    return place, found


def label_features(space: Space, types: Mapping[str, pa.DataType]) -> tuple[str, ...]:
    """The features that hold labels: what strata are made of when nobody says."""
    found = tuple(name for name in features_of(space) if is_label(types[name]))
    if not found:
        raise BadInput(
            "no feature holds labels to make strata of",
            hint="name columns (--by nodes), or choose another method: guided, uniform",
        )
    return found


def strata(
    columns: Mapping[str, Cells],
    by: Sequence[str],
    usable: NDArray[np.bool_],
    keep: float,
    floor: float,
) -> ByStratum:
    """Probabilities that fall with the root of how common a stratum is among the usable rows."""
    for name in by:
        if name not in columns:
            raise unknown("column", name, tuple(columns))
    per_column = [columns[name].codes() for name in by]
    found: list[tuple[Value, ...]] = [
        tuple(None if codes[row] < 0 else labels[codes[row]] for codes, labels in per_column)
        for row in np.flatnonzero(usable)
    ]
    counts = Counter(found)
    if len(counts) > _STRATA:
        raise BadInput(
            f"{', '.join(by)} make more than {_STRATA:,} strata",
            hint="name columns with fewer different values: --by",
        )
    rarity = np.array([counts[stratum] ** -0.5 for stratum in found])
    a, b = proportional(rarity, keep, floor)
    return ByStratum(
        tuple(by), {stratum: min(1.0, a + b * n**-0.5) for stratum, n in counts.items()}
    )
