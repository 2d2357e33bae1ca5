"""Units that people write beside numbers, and how they convert."""

import math

from compass.domain.errors import QueryProblem

# dimension -> size of one of each unit in the dimension's base unit
_SIZES = {
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
    "power": {"mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6},
    "energy": {"uJ": 1e-6, "mJ": 1e-3, "J": 1.0, "kJ": 1e3, "MJ": 1e6, "GJ": 1e9}
    | {"Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9},
    "memory": {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
    | {"kbit": 125.0, "Mbit": 1.25e5, "Gbit": 1.25e8}
    | {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40},
    "voltage": {"mV": 1e-3, "V": 1.0, "kV": 1e3},
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
}
# symbol -> (dimension, size)
UNITS = {
    symbol: (dimension, size)
    for dimension, sizes in _SIZES.items()
    for symbol, size in sizes.items()
}
_WORDS = {
    "s": "sec secs second seconds",
    "ms": "msec millisecond milliseconds",
    "us": "usec µs μs microsecond microseconds",  # the micro sign and the Greek letter
    "ns": "nanosecond nanoseconds",
    "min": "mins minute minutes",
    "h": "hr hrs hour hours",
    "d": "day days",
    "W": "watt watts",
    "kW": "kilowatt kilowatts",
    "J": "joule joules",
    "B": "byte bytes",
}
_SPELLINGS = {word: symbol for symbol, words in _WORDS.items() for word in words.split()}
# A spelling in any case that means one thing only (mW and MW, mJ and MJ differ by case alone).
_FOLDED: dict[str, str] = {}
for _symbol in UNITS:
    _key = _symbol.lower()
    _FOLDED[_key] = "" if _key in _FOLDED else _symbol


def canonical(symbol: str) -> str | None:
    """The one spelling of a unit, or None when it is not a unit (or not clear which)."""
    if symbol in UNITS:
        return symbol
    folded = symbol.lower()
    return _SPELLINGS.get(folded) or _FOLDED.get(folded) or None


def convert(value: float, unit: str, to: str | None, *, column: str) -> float:
    """A value in `unit`, converted to the unit of a column."""
    if to is None:
        raise QueryProblem(
            f"{column} has no known unit, so {value:g} {unit} cannot be compared with it",
            hint=f"write a plain number, or give the column a unit (--unit {column}={unit})",
        )
    source, target = canonical(unit), canonical(to)
    if source is None or target is None:
        if unit == to:
            return value
        raise QueryProblem(
            f"{column} is in {to}, which does not convert from {unit}", hint="write a plain number"
        )
    dimension, factor = UNITS[source]
    other_dimension, other_factor = UNITS[target]
    if dimension != other_dimension:
        raise QueryProblem(
            f"{column} is in {to} ({other_dimension}), but {value:g} {unit} is {dimension}",
            hint=f"use a unit of {other_dimension}",
        )
    converted = value if source == target else value * factor / other_factor
    if not math.isfinite(converted):
        raise QueryProblem(
            f"{value:g} {unit} is too large to tell in {to}", hint="write a smaller number"
        )
    return converted
