"""Random rules as text, with their meaning in exact arithmetic that shares nothing with Compass.

Where real numbers, quotients or functions such as logarithms take part, a comparison whose sides
almost agree is doubtful: it counts as the reader leans, for a configuration or against it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.fuzz.columns import Column

Row = Mapping[str, Any]
FOR, AGAINST = 1, -1
_DOUBT = Fraction(1, 10**7)
_NONE = "none"
Amount = Fraction | str | None  # the level none, or None where there is no value


@dataclass(frozen=True)
class Number:
    """A numeric expression."""

    text: str
    value: Callable[[Row], Amount]
    exact: bool = True  # decimals, calculated with + - * and the like


@dataclass(frozen=True)
class Condition:
    """A condition: true, false or None for unknown."""

    text: str
    truth: Callable[[Row, int], bool | None]

    def holds(self, row: Row) -> bool:
        """Whether a row obeys it, doubts in its favour."""
        return self.truth(row, FOR) is True

    def surely(self, row: Row) -> bool:
        """Whether a row obeys it beyond doubt."""
        return self.truth(row, AGAINST) is True


def conditions(rng: np.random.Generator, cols: Sequence[Column], row: Row) -> list[Condition]:
    """Up to four conditions that the row obeys, and now and then one that it does not."""
    found = []
    for _ in range(int(rng.integers(0, 5))):
        one = _condition(rng, cols, row, int(rng.integers(0, 3)))
        if one.surely(row) or rng.random() < 0.1:
            found.append(one)
    return found


def _condition(rng: np.random.Generator, cols: Sequence[Column], row: Row, depth: int) -> Condition:
    if depth == 0:
        return _atom(rng, cols, row)
    one, two = (_condition(rng, cols, row, depth - 1) for _ in range(2))
    match str(rng.choice(["not", "and", "or", "implies"])):
        case "not":
            return Condition(f"not ({one.text})", lambda r, lean: _not(one.truth(r, -lean)))
        case "and":
            return Condition(
                f"({one.text}) and ({two.text})",
                lambda r, lean: _not(_or(_not(one.truth(r, lean)), _not(two.truth(r, lean)))),
            )
        case "or":
            return Condition(
                f"({one.text}) or ({two.text})",
                lambda r, lean: _or(one.truth(r, lean), two.truth(r, lean)),
            )
        case _:
            return Condition(
                f"({one.text}) -> ({two.text})",
                lambda r, lean: _or(_not(one.truth(r, -lean)), two.truth(r, lean)),
            )


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _or(one: bool | None, two: bool | None) -> bool | None:
    if one or two:
        return True
    return None if one is None or two is None else False


def _atom(rng: np.random.Generator, cols: Sequence[Column], row: Row) -> Condition:
    labels = [column for column in cols if column.kind == "label"]
    optional = [column for column in cols if column.kind == "optional"]
    draw = rng.random()
    if labels and draw < 0.15:
        return _about_label(rng, labels[int(rng.integers(len(labels)))])
    if optional and draw < 0.3:
        return _about_none(rng, optional[int(rng.integers(len(optional)))])
    numbers = [column for column in cols if column.number]
    if draw < 0.45:
        return _strict_at_zero(rng, numbers)
    left = _number(rng, numbers, int(rng.integers(0, 3)))
    if draw > 0.9:
        members = sorted({int(rng.integers(-3, 9)) for _ in range(3)})
        parts = [_compared("==", left, _literal(Fraction(m))) for m in members]
        text = f"{left.text} in {{{', '.join(map(str, members))}}}"
        return Condition(text, lambda r, lean: _any([part.truth(r, lean) for part in parts]))
    op = str(rng.choice(["<", "<=", ">", ">=", "==", "!="], p=[0.25, 0.2, 0.25, 0.2, 0.05, 0.05]))
    here = left.value(row)
    if isinstance(here, Fraction) and rng.random() < 0.6:
        # Next to what the row has: this is where strictness matters.
        near = here + Fraction(int(rng.integers(-1, 2)), int(rng.choice([1, 10])))
        return _compared(op, left, _literal(Fraction(round(near * 100), 100)))
    if rng.random() < 0.5:
        return _compared(op, left, _literal(Fraction(0)))
    return _compared(op, left, _number(rng, numbers, int(rng.integers(0, 2))))


def _strict_at_zero(rng: np.random.Generator, numbers: Sequence[Column]) -> Condition:
    """A sum without a constant that must not be 0: there a share of its terms is no slack."""
    one = _number(rng, numbers, 0)
    if rng.random() < 0.4:
        one = _number(rng, numbers, 1)
    op, turned = ("<", ">=") if rng.random() < 0.5 else (">", "<=")
    if rng.random() < 0.5:
        return _compared(op, one, _literal(Fraction(0)))
    other = _compared(turned, one, _literal(Fraction(0)))
    return Condition(f"not ({other.text})", lambda r, lean: _not(other.truth(r, -lean)))


def _any(parts: list[bool | None]) -> bool | None:
    return True if True in parts else None if None in parts else False


def _about_label(rng: np.random.Generator, column: Column) -> Condition:
    value = column.values[int(rng.integers(len(column.values)))]
    said = '"' + value + '"' if "'" in value else f"'{value}'"
    if rng.random() < 0.5:
        return Condition(f"{column.text} == {said}", lambda r, _: r[column.name] == value)
    return Condition(f"{column.text} != {said}", lambda r, _: r[column.name] != value)


def _about_none(rng: np.random.Generator, column: Column) -> Condition:
    if rng.random() < 0.3:
        return Condition(f"{column.text} == none", lambda r, _: r[column.name] is None)
    op, limit = str(rng.choice(["<", "<=", ">", "!="])), int(rng.integers(-3, 9))
    return _compared(op, _column(column), _literal(Fraction(limit)))


def _compared(op: str, left: Number, right: Number) -> Condition:
    exact = left.exact and right.exact

    def truth(row: Row, lean: int) -> bool | None:
        a, b = left.value(row), right.value(row)
        if a is None or b is None:
            return None
        if isinstance(a, str) or isinstance(b, str):
            both = isinstance(a, str) and isinstance(b, str)
            return {"==": both, "!=": not both}.get(op, False)
        gap = a - b
        if not exact and 0 < abs(gap) <= _DOUBT * max(1, abs(a), abs(b)):
            return lean == FOR
        return {
            "<": gap < 0,
            "<=": gap <= 0,
            ">": gap > 0,
            ">=": gap >= 0,
            "==": gap == 0,
            "!=": gap != 0,
        }[op]

    return Condition(f"{left.text} {op} {right.text}", truth)


def _literal(value: Fraction) -> Number:
    text = str(int(value)) if value.denominator == 1 else repr(float(value))
    return Number(text if value >= 0 else f"({text})", lambda _: value)


def _column(column: Column) -> Number:
    def value(row: Row) -> Amount:
        cell = row[column.name]
        return _NONE if cell is None else Fraction(repr(cell))

    return Number(column.text, value, column.kind != "real")


def _number(rng: np.random.Generator, cols: Sequence[Column], depth: int) -> Number:
    if depth == 0:
        return _column(cols[int(rng.integers(len(cols)))])
    a = _number(rng, cols, depth - 1)
    simple = rng.random() < 0.4
    b = _literal(Fraction(str(rng.choice([2, 3, 0.5, 0.1])))) if simple else _number(rng, cols, 0)
    choices = ["+", "-", "*", "min", "max", "abs"]
    choices += ["%", "floor", "ceil", "round", "/"] if a.exact and b.exact else []
    choices += ["sqrt", "log2"]
    operation = str(rng.choice(choices))
    if operation in ("sqrt", "log2", "abs", "floor", "ceil", "round"):
        function = _ONE[operation]
        text = f"{operation}({a.text})"
        return Number(
            text, lambda r: _applied(function, a.value(r)), a.exact and operation in _FINE
        )
    join = _TWO[operation]
    text = (
        f"{operation}({a.text}, {b.text})"
        if operation in ("min", "max")
        else (f"({a.text} {operation} {b.text})")
    )
    exact = a.exact and b.exact and operation != "/"
    return Number(text, lambda r: _applied(join, a.value(r), b.value(r)), exact)


def _applied(function: Callable[..., Any], *operands: Amount) -> Amount:
    if any(isinstance(one, str) for one in operands):
        return _NONE
    if any(one is None for one in operands):
        return None
    try:
        return Fraction(function(*operands))
    except (ArithmeticError, ValueError):
        return None


_FINE = ("abs", "floor", "ceil", "round")
_ONE: dict[str, Callable[[Fraction], Any]] = {
    "sqrt": math.sqrt,
    "log2": math.log2,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
}
_TWO: dict[str, Callable[[Fraction, Fraction], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
    "min": min,
    "max": max,
}
