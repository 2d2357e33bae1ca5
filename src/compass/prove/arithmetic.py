"""The numbers inside a rule as whole-number expressions of the solver."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from compass.domain.expression import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Literal,
    Name,
    Negative,
    children,
    names_in,
)
from compass.domain.space import Category
from compass.prove.model import SolverModel
from compass.prove.scaled_integer import (
    LARGEST,
    ScaledInteger,
    add,
    bounded,
    constant,
    lattice,
    negative,
    scaled,
    times,
)
from compass.prove.variables import AxisVars
from compass.rules import Rule
from compass.rules.functions import BUILT_IN
from compass.rules.values import number, size_of

_EPS = 2.0**-50
_FINE = 10**6  # a quotient is exact to one part in so many of its unit
_POWERS = 4  # exponents that are written out as products


class RuleArithmetic:
    """Numbers of one rule; every subexpression is made once."""

    def __init__(
        self,
        model: SolverModel,
        rule: Rule,
        columns: Mapping[str, AxisVars],
        fixed: Mapping[str, float],
        predicted: Mapping[str, ScaledInteger],
    ) -> None:
        self.model = model
        self.rule = rule
        self.columns = columns
        self.fixed = fixed
        self.predicted = predicted
        self._made: dict[Expression, ScaledInteger | None] = {}

    def linear(self, node: Expression) -> bool:
        """Whether a condition compares sums of columns times constants."""
        match node:
            case Literal(value):
                return isinstance(value, int | float)
            case Name(name):
                return not isinstance(self.rule.parameters[name], Category)
            case Negative() | Comparison() | Arithmetic("+" | "-"):
                return all(self.linear(child) for child in children(node))
            case Arithmetic("*", left, right):
                sides = (self._free(left), self._free(right))
                return not all(sides) and self.linear(left) and self.linear(right)
            case _:
                return False

    def has_modulo(self, node: Comparison) -> bool:
        """Whether a side of a comparison is a remainder."""
        return any(isinstance(side, Arithmetic) and side.op == "%" for side in children(node))

    def number(self, node: Expression) -> ScaledInteger | None:
        """A numeric expression; None: it cannot be encoded."""
        if node not in self._made:
            self._made[node] = self._number(node)
        return self._made[node]

    def _free(self, node: Expression) -> bool:
        return any(name not in self.fixed for name in names_in(node))

    def _number(self, node: Expression) -> ScaledInteger | None:
        if not self._free(node):
            return self._constant(node)
        match node:
            case Name(name):
                return self._column(name)
            case Negative(operand):
                inner = self.number(operand)
                return None if inner is None else negative(inner)
            case Arithmetic():
                found = self._arithmetic(node)
            case Call("floor" | "ceil" as function, (Arithmetic("/", top, bottom),)):
                found = self._quotient(function, top, bottom)
            case Call("min" | "max" | "abs" as function, arguments):
                found = self._min_max(function, arguments)
            case _:
                found = None
        return self._tabulated(node) if found is None else found

    def _column(self, name: str) -> ScaledInteger | None:
        if name in self.predicted:
            return self.predicted[name]
        if isinstance(self.rule.parameters[name], Category):
            return None
        return self.columns[name].value()

    def _constant(self, node: Expression) -> ScaledInteger | None:
        if isinstance(node, Literal) and isinstance(node.value, bool):
            return constant(float(node.value))
        columns = {name: np.asarray(float(value)) for name, value in self.fixed.items()}
        if any(isinstance(self.rule.parameters[n], Category) for n in names_in(node)):
            return None
        with np.errstate(all="ignore"):
            table = self.rule.table(columns)
            computed, terms = number(node, table), float(size_of(node, table))
        value = float(computed.values)
        if computed.none is not None and bool(computed.none):
            return None  # a table says what none means
        if not math.isfinite(value):
            return None
        return bounded(replace(constant(value), terms=terms))

    def _arithmetic(self, node: Arithmetic) -> ScaledInteger | None:
        a, b = self.number(node.left), self.number(node.right)
        if a is None or b is None:
            return None
        match node.op:
            case "+":
                return add(a, b)
            case "-":
                return add(a, negative(b))
            case "*":
                return self._product(a, b)
            case "/":
                return self._divided(a, b)
            case "%":
                return self._remainder(a, b)
            case _:
                return self._power(a, b)

    def _product(self, a: ScaledInteger, b: ScaledInteger) -> ScaledInteger | None:
        if b.fixed:
            return times(a, b)
        if a.fixed:
            return times(b, a)
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        unit = a.unit * b.unit
        exact = a.error == b.error == 0 and unit.denominator == 1
        error = a.error * b.size + b.error * a.size + (0.0 if exact else a.size * b.size * _EPS)
        nones = a.nones + b.nones
        if bounded(ScaledInteger(0, unit, min(corners), max(corners))) is None:
            return None
        if nones:  # with none, the columns' whole numbers mean nothing
            return None
        made = self.model.made(min(corners), max(corners))
        self.model.cp.add_multiplication_equality(made, [a.expr, b.expr])
        terms = a.scale * b.scale
        return ScaledInteger(made, unit, min(corners), max(corners), error, terms=terms)

    def _divided(self, a: ScaledInteger, b: ScaledInteger) -> ScaledInteger | None:
        if b.fixed:
            if b.low == 0 or b.error:
                return None
            return scaled(a, 1 / (b.low * b.unit))
        if b.low <= 0 or a.error or b.error or a.nones or b.nones:
            return None
        fine = min(_FINE, LARGEST // (max(abs(a.low), abs(a.high)) + 1))
        if fine < 1000:
            return None
        return self._whole_quotient(a, b, fine)

    def _whole_quotient(self, a: ScaledInteger, b: ScaledInteger, fine: int) -> ScaledInteger:
        most = max(abs(a.low), abs(a.high)) * fine // b.low + 1
        made = self.model.made(-most if a.low < 0 else 0, most)
        self.model.cp.add_division_equality(made, a.expr * fine, b.expr)
        unit = a.unit / b.unit / fine
        low = -most if a.low < 0 else 0
        size = float(most * unit)
        terms = a.scale / b.least * (b.scale / b.least)
        return ScaledInteger(made, unit, low, most, float(unit) * 1.001 + size * _EPS, terms=terms)

    def _quotient(self, function: str, top: Expression, bottom: Expression) -> ScaledInteger | None:
        """floor or ceil of a quotient of whole numbers that are not negative."""
        a, b = self.number(top), self.number(bottom)
        if a is None or b is None or a.error or b.error or a.nones or b.nones:
            return None
        if a.low < 0 or b.low <= 0 or not a.unit == b.unit == 1:
            return None
        shift = b.expr - 1 if function == "ceil" else 0
        most = a.high // b.low + 1
        made = self.model.made(0, most)
        self.model.cp.add_division_equality(made, a.expr + shift, b.expr)
        return ScaledInteger(made, Fraction(1), 0, most)

    def _remainder(self, a: ScaledInteger, b: ScaledInteger) -> ScaledInteger | None:
        plain = a.unit == b.unit == 1 and not (a.error or b.error or a.nones or b.nones)
        if not plain or a.low < 0 or b.low <= 0:
            return None
        made = self.model.made(0, min(b.high - 1, a.high))
        self.model.cp.add_modulo_equality(made, a.expr, b.expr)
        return ScaledInteger(made, Fraction(1), 0, min(b.high - 1, a.high), terms=a.scale + b.scale)

    def _power(self, a: ScaledInteger, b: ScaledInteger) -> ScaledInteger | None:
        whole = b.low * b.unit if b.fixed and b.error == 0 else Fraction(-1)
        if whole.denominator != 1 or not 1 <= whole <= _POWERS:
            return None
        made: ScaledInteger | None = a
        for _ in range(int(whole) - 1):
            made = None if made is None else self._product(made, a)
        return made

    def _min_max(self, function: str, arguments: tuple[Expression, ...]) -> ScaledInteger | None:
        parts = [self.number(argument) for argument in arguments]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or any(part.nones for part in known):
            return None
        if function == "abs":
            known = [known[0], negative(known[0])]
        unit = known[0].unit
        for part in known[1:]:
            shared = add(ScaledInteger(0, unit, 0, 0), ScaledInteger(0, part.unit, 0, 0))
            unit = unit if shared is None else shared.unit
        factors = [int(part.unit / unit) for part in known]
        choose: Callable[[list[int]], int] = min if function == "min" else max
        low = choose([f * part.low for f, part in zip(factors, known, strict=True)])
        high = choose([f * part.high for f, part in zip(factors, known, strict=True)])
        if max(abs(low), abs(high)) > LARGEST:
            return None
        made = self.model.made(low, high)
        terms = [f * part.expr for f, part in zip(factors, known, strict=True)]
        cp = self.model.cp
        equal = cp.add_min_equality if function == "min" else cp.add_max_equality
        equal(made, terms)
        error, scale = max(part.error for part in known), max(part.scale for part in known)
        return ScaledInteger(made, unit, low, high, error, terms=scale)

    def _tabulated(self, node: Expression) -> ScaledInteger | None:
        """An expression of one listed column: its value for each of them."""
        names = [name for name in names_in(node) if name not in self.fixed]
        column = self.columns.get(names[0]) if len(names) == 1 else None
        if column is None or column.listed is None or not _built_in(node):
            return None
        if isinstance(self.rule.parameters[names[0]], Category) or column.axis.none:
            return None
        columns = {name: np.asarray(float(value)) for name, value in self.fixed.items()}
        columns[names[0]] = column.listed
        with np.errstate(all="ignore"):
            table = self.rule.table(columns)
            computed = number(node, table)
        values = np.broadcast_to(computed.values, column.listed.shape)
        if computed.none is not None or not np.isfinite(values).all():
            return None
        unit, whole, error = lattice(values)
        codes = column.codes()
        made = self.model.made(int(whole.min()), int(whole.max()))
        pairs = np.column_stack([codes, whole]).tolist()
        self.model.cp.add_allowed_assignments([column.var, made], pairs)
        terms = float(np.max(size_of(node, table)))
        return ScaledInteger(made, unit, int(whole.min()), int(whole.max()), error, terms=terms)


def _built_in(node: Expression) -> bool:
    if isinstance(node, Call) and node.function not in BUILT_IN:
        return False
    return all(_built_in(child) for child in children(node))
