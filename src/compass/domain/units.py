"""Units that people write beside numbers, and how they convert."""

import math

from compass.domain.errors import QueryProblem

# symbol -> (dimension, size of one in the dimension's base unit)
UNITS: dict[str, tuple[str, float]] = {
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
    "d": ("time", 86400.0),
    "mW": ("power", 1e-3),
    "W": ("power", 1.0),
    "kW": ("power", 1e3),
    "MW": ("power", 1e6),
    "uJ": ("energy", 1e-6),
    "mJ": ("energy", 1e-3),
    "J": ("energy", 1.0),
    "kJ": ("energy", 1e3),
    "MJ": ("energy", 1e6),
    "GJ": ("energy", 1e9),
    "Wh": ("energy", 3600.0),
    "kWh": ("energy", 3.6e6),
    "B": ("memory", 1.0),
    "KB": ("memory", 1e3),
    "MB": ("memory", 1e6),
    "GB": ("memory", 1e9),
    "TB": ("memory", 1e12),
    "PB": ("memory", 1e15),
    "KiB": ("memory", 2.0**10),
    "MiB": ("memory", 2.0**20),
    "GiB": ("memory", 2.0**30),
    "TiB": ("memory", 2.0**40),
    "Hz": ("frequency", 1.0),
    "kHz": ("frequency", 1e3),
    "MHz": ("frequency", 1e6),
    "GHz": ("frequency", 1e9),
}

_SPELLINGS: dict[str, str] = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "usec": "us",
    "µs": "us",  # the micro sign ...
    "μs": "us",  # ... and the Greek letter
    "microsecond": "us",
    "microseconds": "us",
    "nanosecond": "ns",
    "nanoseconds": "ns",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "watt": "W",
    "watts": "W",
    "kilowatt": "kW",
    "kilowatts": "kW",
    "joule": "J",
    "joules": "J",
    "byte": "B",
    "bytes": "B",
}
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
