"""The legal values of a column, and how rules cut them down."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from compass.domain.space import Category, Number, Space
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.intervals import Interval

LISTED = 4096  # grids up to this size are kept as explicit values
_DECIMALS = 13  # places up to which a grid is one of decimals
_GRID = 1e-9  # share of a step that rounding may cost


@dataclass(frozen=True, eq=False)
class Domain:
    """The legal encoded values of one column.

    `low` and `high` bound the numbers (low > high: no number is left). `values` lists every legal
    code in ascending order when there are finitely many, `none` included. `step` and `origin`
    describe a grid. `none` is the code of the level none, None where it is not legal.
    """

    low: float
    high: float
    values: FloatArray | None = None
    step: float | None = None
    origin: float = 0.0
    none: float | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is legal any more."""
        return self.low > self.high and self.none is None

    @property
    def whole(self) -> bool:
        """Whether every legal number is a whole number."""
        if self.values is not None:
            return bool(np.all(np.floor(self.numbers) == self.numbers))
        return self.step is not None and self.step.is_integer() and self.origin.is_integer()

    @property
    def numbers(self) -> FloatArray:
        """The listed values that are numbers."""
        assert self.values is not None
        return self.values if self.none is None else self.values[self.values != self.none]

    @property
    def count(self) -> float:
        """How many legal values there are; infinite on a continuous range."""
        if self.values is not None:
            return float(len(self.values))
        extra = 0.0 if self.none is None else 1.0
        if self.low > self.high:
            return extra
        if self.low == self.high:
            return 1.0 + extra
        if self.step is None or math.isinf(self.high - self.low):
            return math.inf
        return math.floor((self.high - self.low) / self.step + _GRID) + 1.0 + extra

    def clip(self, within: Interval) -> "Domain":
        """The numbers between these bounds; `none` is not a number and stays."""
        if within[0] <= self.low and self.high <= within[1]:
            return self
        if self.values is not None:
            keep = (self.values >= within[0]) & (self.values <= within[1])
            return self.keep(keep if self.none is None else keep | (self.values == self.none))
        low, high = max(self.low, within[0]), min(self.high, within[1])
        if self.step is not None:
            low, high = self._inwards(low, high)
        return listed(replace(self, low=low, high=high))

    def _inwards(self, low: float, high: float) -> Interval:
        """The first and last grid points between two bounds."""
        assert self.step is not None
        if not math.isinf(low):
            place = (low - self.origin) / self.step
            low = self._point(math.ceil(place - _GRID * (1.0 + abs(place) * 1e-3)))
        if not math.isinf(high):
            place = (high - self.origin) / self.step
            high = self._point(math.floor(place + _GRID * (1.0 + abs(place) * 1e-3)))
        return low, high

    def _point(self, steps: int) -> float:
        assert self.step is not None
        return float(grid(self.origin, self.step, np.asarray(float(steps))))

    def keep(self, which: BoolArray) -> "Domain":
        """The listed values that are marked."""
        assert self.values is not None
        if which.all():
            return self
        return of_values(self.values[which], self.none)

    def without_none(self) -> "Domain":
        """The same without the level none."""
        if self.none is None:
            return self
        if self.values is not None:
            return of_values(self.numbers, None)
        return replace(self, none=None)

    def only_none(self) -> "Domain":
        """Nothing but the level none, where it is legal."""
        return of_values(np.array([] if self.none is None else [self.none]), self.none)

    def join(self, other: "Domain") -> "Domain":
        """What is legal in either."""
        none = self.none if self.none is not None else other.none
        if self.values is not None and other.values is not None:
            return of_values(np.union1d(self.values, other.values), none)
        wide = self if self.values is None else other
        low, high = min(self.low, other.low), max(self.high, other.high)
        return replace(wide, low=low, high=high, none=none)


def of_values(values: FloatArray, none: float | None) -> Domain:
    """The domain of exactly these codes, ascending."""
    if none is not None and not (values == none).any():
        none = None
    numbers = values if none is None else values[values != none]
    if len(numbers) == 0:
        return Domain(math.inf, -math.inf, values, none=none)
    return Domain(float(numbers[0]), float(numbers[-1]), values, none=none)


def listed(domain: Domain, limit: int = LISTED) -> Domain:
    """The domain with its values listed, when there are at most `limit` of them."""
    if domain.values is not None or domain.count > limit:
        return domain
    numbers: FloatArray = np.array([])
    if domain.low == domain.high:
        numbers = np.array([domain.low])
    elif domain.low < domain.high and domain.step is not None:
        count = math.floor((domain.high - domain.low) / domain.step + _GRID) + 1
        first = round((domain.low - domain.origin) / domain.step)
        numbers = grid(domain.origin, domain.step, first + np.arange(count, dtype=np.float64))
    if domain.none is not None:
        numbers = np.append(numbers, domain.none)
    return of_values(numbers, domain.none)


def grid(origin: float, step: float, steps: FloatArray) -> FloatArray:
    """The points of a grid. Shape of `steps`.

    Decimals are the floats next to them: 0.1 + 2 * 0.1 is 0.3, not 0.30000000000000004.
    """
    for places in range(_DECIMALS):
        unit = 10.0**places
        first, each = round(origin * unit), round(step * unit)
        if first / unit == origin and each / unit == step:
            return np.asarray((first + each * steps) / unit)
    return np.asarray(origin + step * steps)


def domain_of(parameter: Number | Category) -> Domain:
    """The legal values of one column."""
    if isinstance(parameter, Category):
        return of_values(np.arange(len(parameter.values), dtype=np.float64), None)
    none = parameter.none_code if parameter.optional else None
    if parameter.allowed is not None:
        legal = [*parameter.allowed] if none is None else [*parameter.allowed, none]
        return of_values(np.array(legal, dtype=np.float64), none)
    step = parameter.step
    high = parameter.high
    if step is not None:
        last = math.floor((high - parameter.low) / step + _GRID)
        high = float(grid(parameter.low, step, np.asarray(float(last))))
    return listed(Domain(parameter.low, high, None, step, parameter.low, none))


def domains_of(space: Space, names: Iterable[str]) -> dict[str, Domain]:
    """The legal values of these columns before any rule."""
    return {name: domain_of(space[name]) for name in names}


def fixed_at(value: float, parameter: Number | Category | None) -> Domain:
    """The domain of a column that is fixed; a missing value stays missing (NaN)."""
    none = None
    if isinstance(parameter, Number) and value == parameter.none_code:
        none = value
    return of_values(np.array([float(value)]), none)
