"""Quantities that people write, in the terms of a column."""

import math

from compass.chat.english.link import Index, dimension_of
from compass.chat.english.synonyms import MONEY
from compass.chat.english.words import QuantityForm, TextQuantity, compact
from compass.domain.base import Value
from compass.domain.errors import BadInput
from compass.domain.space import Category, Number, Role
from compass.domain.units import convert
from compass.prepare.names import words

_PERCENT = frozenset({"pct", "percent", "percentage", "share"})


_KIBI = 0.075  # 1024 ** 3 is 7.4 % more than 1000 ** 3
_PERIODS = {"d": "day", "h": "hour", "s": "s", "min": "min"}
# Columns that count in millions or so by their names.
_SCALED = dict.fromkeys(("mio", "million", "millions", "m"), 1e6) | dict.fromkeys(
    ("b", "bn", "billion", "billions"), 1e9
)


def whole(value: Value) -> Value:
    """8 instead of 8.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def number_of(quantity: TextQuantity, name: str, index: Index) -> float | None:
    """A quantity in the unit of a column; None if it is not of that kind."""
    parameter = index.parameters[name]
    if not isinstance(parameter, Number):
        return None
    if quantity.form is QuantityForm.SHARE:
        return _percentage(quantity.value, parameter)
    if quantity.form is QuantityForm.FRACTION and quantity.value < 1:
        shared = parameter.high <= 1.5 or parameter.unit == "%" or _PERCENT & set(words(name))
        return _percentage(quantity.value, parameter) if shared else None
    if quantity.form is not QuantityForm.NUMBER:
        return None
    converted = _in_unit(quantity, parameter, index)
    if converted is None:
        return None
    scale = _SCALED.get("".join(words(name)[-1:]), 1.0) if quantity.unit is None else 1.0
    if scale > 1 and converted >= scale:
        converted /= scale  # 500 million rows, of rows_mio
    value = float(f"{converted:.12g}")
    return value if math.isfinite(value) else None


def _percentage(share: float, parameter: Number) -> float | None:
    """A percentage as the column counts it: 0.9 or 90."""
    counted = parameter.role is not Role.OUTCOME and parameter.step is not None
    if counted and parameter.unit is None and not _PERCENT & set(words(parameter.name)):
        return None  # 80 % of a count of processes is none
    if parameter.high <= 1.5:
        return float(f"{share:.12g}")
    named = _PERCENT & set(words(parameter.name)) or parameter.unit == "%"
    if named or parameter.high <= 100:
        return float(f"{share * 100:.12g}")
    return None


def _in_unit(quantity: TextQuantity, parameter: Number, index: Index) -> float | None:
    """A quantity in the unit of a column; money and rates count by the name too."""
    unit, to, name = quantity.unit, parameter.unit, parameter.name
    if unit is None:
        return quantity.value
    if unit == "$":
        money = index.stems[name] & MONEY and to in {None, "$", "USD", "EUR"}
        return quantity.value if money else None
    if unit == to:
        return quantity.value
    if to is None and (compact(unit),) == words(name)[-1:]:
        return quantity.value  # 7B, of params_b
    try:
        if "/" not in unit:
            return convert(quantity.value, unit, to, column=name)
        if to is None:
            above, below = unit.split("/")
            named = {above.casefold(), "per", _PERIODS.get(below, below)} <= {*words(name)}
            return quantity.value if named or compact(unit) in words(name) else None
        (above, below), (over, under) = unit.split("/"), (to.split("/") * 2)[:2]
        value = convert(quantity.value, above, over, column=name)
        return value / convert(1.0, below, under, column=name)
    except BadInput:
        return None


def fits(quantity: TextQuantity, name: str, index: Index, *, wide: float = 1.0) -> bool:
    """Whether a quantity can be a value of a column: of its kind, and in its range."""
    parameter, value = index.parameters[name], number_of(quantity, name, index)
    if value is None or not isinstance(parameter, Number):
        return False
    return parameter.low / wide <= value <= parameter.high * wide


def columns_of_unit(quantity: TextQuantity, index: Index) -> tuple[str, ...]:
    """The columns that a quantity with a unit may be about: those in whose range it is."""
    if quantity.unit is None:
        return ()
    own_unit = quantity.unit in index.own_units.values()
    per = tuple(
        p.name
        for p in index.space
        if isinstance(p, Number)
        and p.unit is None
        and "/" in (quantity.unit or "")
        and number_of(quantity, p.name, index) is not None
    )
    if per:
        return per
    names = () if own_unit else index.measured_in(dimension_of(quantity.unit) or "")
    if not names:
        own = (
            p
            for p in index.space
            if isinstance(p, Number)
            and (
                p.unit == quantity.unit
                or (p.unit is None and words(p.name)[-1:] == (quantity.unit,))
            )
        )
        first = sorted(own, key=lambda p: p.role is not Role.OUTCOME)
        names = tuple(p.name for p in first if p.role is not Role.IGNORED)
    legal = [name for name in names if fits(quantity, name, index, wide=2.0)]
    found = legal or [n for n in names if number_of(quantity, n, index) is not None]
    return index.plainest(found)


def value_of(quantity: TextQuantity, name: str, index: Index) -> Value | None:
    """A quantity as a value of a column; None if it cannot be one of it."""
    parameter = index.parameters[name]
    if isinstance(parameter, Category):
        plain = whole(quantity.value)
        here = (v for v in parameter.values if not isinstance(v, bool))
        return next((v for v in here if v == plain or str(v) == str(plain)), None)
    number = number_of(quantity, name, index)
    if number is None:
        return None
    near = [v for v in parameter.allowed or () if quantity.unit and _binary(number, float(v))]
    return whole(near[0] if near and number not in (parameter.allowed or ()) else number)


def _binary(number: float, value: float) -> bool:
    """Whether numbers differ by no more than thousands and 1024: 1 KB is 1024 bytes."""
    return value > 0 and number > 0 and abs(number / value - 1) < _KIBI
