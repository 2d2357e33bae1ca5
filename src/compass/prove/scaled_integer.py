"""Numbers of rules and predictions as whole-number expressions with a bound on their error.

A scaled integer stands for a float that rules or models compute: expression * unit, give or take
`error`. Every constraint on such numbers is widened by their errors, so that whatever the
floats obey is never excluded.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.generate.base import Floats

Ints = NDArray[np.int64]
Expr = Any  # a linear expression of the solver, or an int
Lit = Any  # a Boolean variable of the solver or its negation

LARGEST = 2**46  # sums and products stay far from the solver's limits
_EPS = 2.0**-50
_TOLERANCE, _ROUNDING = 1.001e-9, 1.001e-12  # a little more than rules allow


@dataclass(frozen=True)
class ScaledInteger:
    """expression * unit +- error, where it is a number at all."""

    expr: Expr
    unit: Fraction
    low: int
    high: int
    error: float = 0.0
    nones: tuple[Lit, ...] = ()  # it is `none` where one of these is true
    terms: float = 0.0  # no sum of the sizes of its terms is larger than this or `size`

    @property
    def fixed(self) -> bool:
        """Whether it is a constant."""
        return self.low == self.high

    @property
    def size(self) -> float:
        """No value is larger than this."""
        return float(max(abs(self.low), abs(self.high)) * self.unit) + self.error

    @property
    def scale(self) -> float:
        """What the rounding of its floats is measured by, at most."""
        return max(self.size, self.terms)

    @property
    def least(self) -> float:
        """No value is smaller than this, by magnitude."""
        if self.low <= 0 <= self.high:
            return 0.0
        return max(float(min(abs(self.low), abs(self.high)) * self.unit) - self.error, 0.0)


def constant(value: float) -> ScaledInteger:
    """A number that does not vary."""
    exact = Fraction(str(value))
    error = 0.0 if exact == Fraction(value) else abs(value) * _EPS
    numerator = exact.numerator
    return ScaledInteger(numerator, Fraction(1, exact.denominator), numerator, numerator, error)


def lattice(values: Floats) -> tuple[Fraction, Ints, float]:
    """A unit, whole numbers [k] and an error: values = whole numbers * unit +- error."""
    largest = float(np.abs(values).max(initial=0.0))
    for denominator in (1, 2, 4, 8, 10, 16, 100, 1000, 10**4, 10**5, 10**6, 10**8):
        whole = np.round(values * denominator)
        error = float(np.abs(values - whole / denominator).max(initial=0.0))
        if error <= 1e-14 * largest and largest * denominator < LARGEST:
            return Fraction(1, denominator), whole.astype(np.int64), error
    unit = Fraction(2) ** (math.ceil(math.log2(largest)) - 40)
    whole = np.round(values / float(unit))
    return unit, whole.astype(np.int64), float(unit)


def times(a: ScaledInteger, factor: ScaledInteger) -> ScaledInteger | None:
    """a * constant."""
    assert factor.fixed
    number = int(factor.low)
    ends = sorted((a.low * number, a.high * number))
    exact = a.error == 0 and factor.error == 0 and (a.unit * factor.unit).denominator == 1
    size = abs(float(number * factor.unit))
    error = a.error * size + factor.error * a.size + a.error * factor.error
    error += 0.0 if exact else a.size * size * _EPS
    unit = a.unit * factor.unit
    terms = a.scale * size
    return bounded(ScaledInteger(a.expr * number, unit, ends[0], ends[1], error, a.nones, terms))


def scaled(a: ScaledInteger, factor: Fraction) -> ScaledInteger:
    """a * factor; the expression stays the same."""
    unit = a.unit * abs(factor)
    turned = negative(a) if factor < 0 else a
    error = a.error * float(abs(factor)) + float(max(abs(a.low), abs(a.high)) * unit) * _EPS
    return replace(turned, unit=unit, error=error, terms=a.scale * float(abs(factor)))


def negative(a: ScaledInteger) -> ScaledInteger:
    """-a."""
    return replace(a, expr=-1 * a.expr, low=-a.high, high=-a.low)


def add(a: ScaledInteger, b: ScaledInteger) -> ScaledInteger | None:
    """a + b."""
    unit = _common(a.unit, b.unit)
    p, q = int(a.unit / unit), int(b.unit / unit)
    if max(p * max(abs(a.low), abs(a.high)), q * max(abs(b.low), abs(b.high))) > LARGEST:
        return None
    exact = a.error == 0 and b.error == 0 and unit.denominator == 1
    error = a.error + b.error + (0.0 if exact else (a.size + b.size) * _EPS)
    return bounded(
        ScaledInteger(
            p * a.expr + q * b.expr,
            unit,
            p * a.low + q * b.low,
            p * a.high + q * b.high,
            error,
            a.nones + b.nones,
            a.scale + b.scale,
        )
    )


def bounded(a: ScaledInteger) -> ScaledInteger | None:
    """The number, or None when its numbers are too large for the solver."""
    return a if max(abs(a.low), abs(a.high)) <= LARGEST else None


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The largest unit that both are multiples of."""
    return Fraction(
        math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
        a.denominator * b.denominator,
    )


@dataclass(frozen=True)
class IntegerComparison:
    """What `left op right` says about the whole number `expr` = (left - right) / unit."""

    expr: Expr
    low: int | None  # at least
    high: int | None  # at most
    other_than: int | None = None


def compare(
    op: str, left: ScaledInteger, right: ScaledInteger, *, whole: bool, decimal: bool = False
) -> IntegerComparison | None:
    """The widest whole-number statement that contains everything `left op right` accepts.

    `whole`: rules compare these two exactly; `decimal`: but for rounding. None: the numbers are
    too large to say anything.
    """
    gap = add(left, negative(right))
    if gap is None:
        return None
    noise = left.error + right.error
    noise += 0.0 if whole and noise == 0 else (left.size + right.size) * _EPS
    slack = noise
    if not whole or noise:
        slack += _ROUNDING * (left.scale + right.scale)
        slack += 0.0 if decimal else _TOLERANCE * max(left.size, right.size)
    steps = math.floor(slack / float(gap.unit) + 1e-6) if slack else 0
    # Where equal whole numbers mean equal floats, `<` and `!=` exclude equality.
    exact = noise <= 1e-13 * (left.scale + right.scale)
    sharp = steps == 0 and ((decimal and exact) or noise <= 1e-10 * max(left.least, right.least))
    match op:
        case "<=":
            return IntegerComparison(gap.expr, None, steps)
        case ">=":
            return IntegerComparison(gap.expr, -steps, None)
        case "<":
            return IntegerComparison(gap.expr, None, -1 if sharp else steps)
        case ">":
            return IntegerComparison(gap.expr, 1 if sharp else -steps, None)
        case "==":
            return IntegerComparison(gap.expr, -steps, steps)
        case _:
            return IntegerComparison(gap.expr, None, None, 0 if sharp else None)


def intervals(members: Sequence[float], operand: ScaledInteger) -> list[tuple[int, int]]:
    """The whole numbers of an operand that may count as equal to one of the members."""
    found = []
    unit = float(operand.unit)
    for member in members:
        slack = operand.error + (_TOLERANCE + _EPS) * max(abs(member), operand.size)
        slack += _ROUNDING * (operand.scale + abs(member))
        first = math.ceil((member - slack) / unit - 1e-9)
        last = math.floor((member + slack) / unit + 1e-9)
        if first <= last:
            found.append((first, last))
    return found
