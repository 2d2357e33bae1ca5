"""The variables of a proof: which cell every column is in, and its value where rules need it."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from compass.generate.base import Floats
from compass.generate.task import SearchTask
from compass.prove.axes import Axis
from compass.prove.scaled_integer import LARGEST, Expr, Ints, Lit, ScaledInteger, lattice
from compass.rules.domains import grid

_STEPS = 2**18  # a column without a grid has at least so many steps
_NEGLIGIBLE = 1e-6  # cost of one such step
_SAFE = 2**60  # the solver's numbers have 63 bits


@dataclass
class AxisVars:
    """The variables of one axis; the value is made when a rule asks for it."""

    axis: Axis
    upto: list[Lit]  # [cells - 1] whether it is in cell i or below
    cp: Any  # the CpModel that the variables belong to
    task: SearchTask
    unit: Fraction = Fraction(1)
    whole: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    none_code: int | None = None
    _value: ScaledInteger | None = None
    var: Any = None

    @property
    def none(self) -> Lit | None:
        """Whether the column is none; None where it cannot be."""
        if not self.axis.none:
            return None
        return ~self.upto[-1] if self.upto else self.cp.new_constant(1)

    @property
    def nones(self) -> tuple[Lit, ...]:
        """The literals that make it none."""
        return () if self.none is None else (self.none,)

    @property
    def gridless(self) -> bool:
        """Whether a rule speaks of its value, and that is a real number."""
        return self.var is not None and self.listed is None and self.axis.domain.step is None

    def is_cell(self, cell: int) -> list[Lit]:
        """Literals that hold together exactly in one cell."""
        found = [self.upto[cell]] if cell < len(self.upto) else []
        return found + ([~self.upto[cell - 1]] if cell > 0 else [])

    def cost(self, whole: Ints) -> Expr:
        """The sum that is whole[i] in cell i; whole [cells]."""
        if not self.upto:
            return int(whole[0])
        rises = (whole[:-1] - whole[1:]).tolist()
        return _weighted(self.upto, rises) + int(whole[-1])

    @cached_property
    def listed(self) -> Floats | None:
        """All values in the cells where they are listed, the level none included."""
        values = self.axis.domain.values
        if values is None:
            return self.axis.last if self.axis.none and not self.upto else None
        index = np.minimum(np.searchsorted(self.axis.last, values), len(self.axis) - 1)
        inside = (self.axis.first[index] <= values) & (values <= self.axis.last[index])
        return values[inside]

    def value(self) -> ScaledInteger:
        """The value as a whole-number variable, tied to the cells."""
        if self._value is None:
            domain = self.axis.domain
            if self.listed is not None:
                self._value = self._of_values(self.listed)
            elif domain.step is not None:
                self._value = self._of_grid(domain.origin, domain.step)
            else:
                self._value = self._of_range()
        return self._value

    def codes(self) -> Ints:
        """The whole number of every listed value."""
        self.value()
        return self.whole

    def decoded(self, cell: int, whole: int) -> float:
        """The value of the column that a whole number in a cell stands for."""
        if whole == self.none_code:
            return float(self.axis.last[-1])
        if self.listed is not None:
            return float(self.listed[np.flatnonzero(self.whole == whole)[0]])
        domain = self.axis.domain
        if domain.step is not None:
            return float(grid(domain.origin, domain.step, np.asarray(float(whole))))
        inside = np.clip(whole * float(self.unit), self.axis.first[cell], self.axis.last[cell])
        return float(np.clip(inside, domain.low, domain.high))

    def _of_values(self, values: Floats) -> ScaledInteger:
        from ortools.sat.python.cp_model import Domain

        numbers = values[:-1] if self.axis.none else values
        self.unit, whole, error = lattice(numbers)
        self.whole = whole
        if self.axis.none:
            self.none_code = int(whole.max(initial=-1)) + 1
            self.whole = np.append(whole, self.none_code)
        self.var = self.cp.new_int_var_from_domain(
            Domain.from_values(self.whole.tolist()), self.axis.name
        )
        index = np.searchsorted(values, self.axis.last)
        begin = np.searchsorted(values, self.axis.first)
        self._tie(self.whole[begin], self.whole[index])
        return self._listed_value(whole, error)

    def _of_grid(self, origin: float, step: float) -> ScaledInteger:
        self.unit, (shift, stride), _ = lattice(np.array([origin, step]))
        first = np.round((self._numbers(self.axis.first) - origin) / step).astype(np.int64)
        last = np.round((self._numbers(self.axis.last) - origin) / step).astype(np.int64)
        self._numbered(first, last)
        exact = self.unit == 1 and float(origin).is_integer() and float(step).is_integer()
        ends = shift + stride * np.array([first[0], last[-1]])
        largest = float(np.abs(ends).max() * self.unit)
        error = 0.0 if exact else 1e-12 * largest
        expr = int(stride) * self.var + int(shift)
        return ScaledInteger(expr, self.unit, int(ends[0]), int(ends[1]), error, self.nones)

    def _of_range(self) -> ScaledInteger:
        geometry, column = self.task.geometry, self.axis.column
        low, high = self._numbers(self.axis.first), self._numbers(self.axis.last)
        width = max(float(high[-1] - low[0]), 1e-12 * max(abs(float(low[0])), 1e-290))
        dear = geometry.weight[column] / geometry.scale[column]
        unit = min(width / _STEPS, _NEGLIGIBLE / dear if dear > 0 else np.inf)
        unit = max(unit, max(abs(float(low[0])), abs(float(high[-1]))) / (LARGEST / 4))
        self.unit = Fraction(2) ** math.ceil(math.log2(unit))
        size = float(self.unit)
        first, last = np.round(low / size), np.round(high / size)
        self._numbered(first.astype(np.int64), last.astype(np.int64))
        ends = int(first[0]), int(last[-1])
        return ScaledInteger(self.var, self.unit, *ends, error=size * 0.501, nones=self.nones)

    def _numbers(self, cells: Floats) -> Floats:
        return cells[:-1] if self.axis.none else cells

    def _numbered(self, first: Ints, last: Ints) -> None:
        """A variable over these whole numbers; the level none is one more."""
        from ortools.sat.python.cp_model import Domain

        spans = [[int(first[0]), int(last[-1])]]
        if self.axis.none:
            self.none_code = int(last[-1]) + 2
            first, last = np.append(first, self.none_code), np.append(last, self.none_code)
            spans.append([self.none_code, self.none_code])
        self.var = self.cp.new_int_var_from_domain(Domain.from_intervals(spans), self.axis.name)
        self._tie(first, last)

    def _tie(self, first: Ints, last: Ints) -> None:
        """Cells and values say the same."""
        for i, upto in enumerate(self.upto):
            self.cp.add(self.var <= int(last[i])).only_enforce_if(upto)
            self.cp.add(self.var >= int(first[i + 1])).only_enforce_if(~upto)

    def _listed_value(self, whole: Ints, error: float) -> ScaledInteger:
        low, high = (int(whole.min()), int(whole.max())) if len(whole) else (0, 0)
        return ScaledInteger(self.var, self.unit, low, high, error, self.nones)


def cost_steps(axis: Axis, unit: float) -> Ints:
    """The cost of every cell in whole units, rounded down, [cells]."""
    return np.floor(axis.cost / unit * (1 - 1e-12)).astype(np.int64)


def finer_cost(variables: AxisVars, unit: float, cp: Any) -> Expr | None:
    """The cost of a column inside its cells, from below; None when the cells say it all.

    Only where rules hold the value: elsewhere it is the nearest member of its cell.
    """
    axis, task = variables.axis, variables.task
    weight, scale = task.geometry.weight[axis.column], task.geometry.scale[axis.column]
    start = float(task.start[axis.column])
    if variables.var is None or axis.single or weight <= 0:
        return None
    if task.geometry.category[axis.column]:
        return _moved(variables, math.floor(weight / unit), cp)
    if start == task.geometry.none[axis.column]:
        return None  # every number is as far away
    value = variables.value()
    slope = math.floor(float(value.unit) * weight / scale / unit * (1 - 1e-12))
    if slope <= 0:
        return None
    at = Fraction(start) / value.unit
    slack = Fraction(value.error) / value.unit
    ends = max(abs(value.low), abs(value.high), abs(math.ceil(at))) + 1
    if slope * ends > _SAFE:
        return None
    cost = cp.new_int_var(0, 2 * slope * ends, f"cost of {axis.name}")
    number = [~none for none in variables.nones]
    for bound in (
        cost >= slope * value.expr - math.ceil(slope * (at + slack)),
        cost >= math.floor(slope * (at - slack)) - slope * value.expr,
    ):
        added = cp.add(bound)
        if number:
            added.only_enforce_if(number)
    return cost


def _moved(variables: AxisVars, cost: int, cp: Any) -> Expr | None:
    """The cost of a label: all or nothing."""
    assert variables.listed is not None
    index = np.flatnonzero(variables.listed == variables.task.start[variables.axis.column])
    if not len(index):
        return None
    moved = cp.new_bool_var(f"{variables.axis.name} moved")
    cp.add(variables.var == int(variables.codes()[index[0]])).only_enforce_if(~moved)
    return cost * moved


def _weighted(literals: list[Lit], factors: list[int]) -> Expr:
    from ortools.sat.python.cp_model import LinearExpr

    kept = [(lit, f) for lit, f in zip(literals, factors, strict=True) if f]
    if not kept:
        return 0
    return LinearExpr.weighted_sum([lit for lit, _ in kept], [f for _, f in kept])
