"""What is known of all rows after one pass: counts and moments that can be added up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.native import kernel

MOST_LABELS = 1000  # of one column that are counted one by one
_ADD = {np.dtype(kind): kernel(f"add_moments_{kind}") for kind in ("i4", "i8", "f8")}
_COUNT = {np.dtype(kind): kernel(f"count_labels_{kind}") for kind in ("i4", "i8")}


# Of one column: label -> usable rows, kept rows; None: too many labels to count.
Counts = Mapping[str, tuple[int, int]] | None


@dataclass(frozen=True)
class Moments:
    """Count, sum and sum of squares about `about`, least and greatest of one column."""

    about: float
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.about,
            self.count + other.count,
            self.total + other.total,
            self.squares + other.squares,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    @property
    def mean(self) -> float | None:
        """The mean; None without values."""
        return self.about + self.total / self.count if self.count else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation; None with fewer than two values."""
        if self.count < 2:
            return None
        between = self.squares - self.total**2 / self.count
        return float(np.sqrt(max(between, 0.0) / (self.count - 1)))


@dataclass(frozen=True)
class Tally:
    """What one fragment, or all of them, held and gave."""

    rows: int = 0  # that were read
    usable: int = 0  # of them, after filters and missing values
    kept: int = 0
    weight: float = 0.0  # sum of the weights of the kept rows
    squares: float = 0.0  # sum of their squares
    heaviest: float = 0.0
    expected: float = 0.0  # sum of the chances of the usable rows
    dropped: Mapping[str, int] = field(default_factory=dict)  # reason -> rows
    moments: Mapping[str, Moments] = field(default_factory=dict)  # of the usable rows
    estimates: Mapping[str, tuple[float, float]] = field(
        default_factory=dict
    )  # column -> weighted sum over the kept rows, and sum of the weights
    labels: Mapping[str, Counts] = field(default_factory=dict)
    problem: str = ""  # why the fragment could not be read, where that is allowed

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.rows + other.rows,
            self.usable + other.usable,
            self.kept + other.kept,
            self.weight + other.weight,
            self.squares + other.squares,
            max(self.heaviest, other.heaviest),
            self.expected + other.expected,
            _added(self.dropped, other.dropped),
            {
                name: self.moments.get(name, Moments(new.about)) + new
                for name, new in other.moments.items()
            }
            if other.moments
            else self.moments,
            {
                name: (known[0] + total, known[1] + weight)
                for name, (total, weight) in other.estimates.items()
                for known in [self.estimates.get(name, (0.0, 0.0))]
            }
            if other.estimates
            else self.estimates,
            _labels_added(self.labels, other.labels),
            self.problem or other.problem,
        )


def tally_of(stored: Mapping[str, Any]) -> Tally:
    """The tally whose fields were written as JSON."""
    moments = {name: Moments(**one) for name, one in stored["moments"].items()}
    labels = {
        name: found and {label: (int(a), int(b)) for label, (a, b) in found.items()}
        for name, found in stored["labels"].items()
    }
    estimates = {name: (a, b) for name, (a, b) in stored["estimates"].items()}
    return Tally(**{**stored, "moments": moments, "labels": labels, "estimates": estimates})


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


def _labels_added(one: Mapping[str, Counts], other: Mapping[str, Counts]) -> dict[str, Counts]:
    return {
        name: _counts_added(one.get(name, {}), other.get(name, {})) for name in {**one, **other}
    }


def _counts_added(one: Counts, other: Counts) -> Counts:
    if one is None or other is None:
        return None
    both = dict(one)
    for label, (usable, kept) in other.items():
        known = both.get(label, (0, 0))
        both[label] = (known[0] + usable, known[1] + kept)
    return both if len(both) <= MOST_LABELS else None


class RunningMoments:
    """The moments of the usable finite values of a column, batch after batch."""

    def __init__(self, about: float) -> None:
        self.about = about
        self._found = np.array([0.0, 0.0, 0.0, np.inf, -np.inf])

    def add(self, values: NDArray[Any], usable: NDArray[np.uint8]) -> None:
        """Takes in a batch."""
        _ADD[values.dtype](values, usable, self.about, self._found)

    def moments(self) -> Moments:
        """What was taken in so far."""
        return Moments(self.about, int(self._found[0]), *map(float, self._found[1:]))


class LabelCounts:
    """How often each label is among the usable and among the kept rows, batch after batch."""

    def __init__(self) -> None:
        self._found: Counts = {}
        self._labels: list[Value] = []  # of the batches that are not in `_found` yet
        self._every = np.zeros(1, dtype=np.int64)  # the last is for missing cells
        self._kept = np.zeros(1, dtype=np.int64)

    def add(
        self,
        codes: NDArray[Any],
        labels: list[Value],
        usable: NDArray[np.uint8],
        kept: NDArray[np.int64],
    ) -> None:
        """Takes in a batch."""
        if len(labels) > MOST_LABELS:
            self._found = None
        if self._found is None:
            return
        if labels != self._labels:
            self._settle()
            self._labels = labels
            self._every = np.zeros(len(labels) + 1, dtype=np.int64)
            self._kept = np.zeros_like(self._every)
        count = _COUNT[codes.dtype]
        count(codes, usable, self._every)
        count(codes[kept], np.ones(len(kept), dtype=np.uint8), self._kept)

    def _settle(self) -> None:
        new = {
            str(label): (int(self._every[i]), int(self._kept[i]))
            for i, label in enumerate(self._labels)
            if self._every[i]
        }
        self._found = _counts_added(self._found, new)
        self._labels = []

    def found(self) -> Counts:
        """What was taken in so far; None: too many labels to count."""
        self._settle()
        return self._found
