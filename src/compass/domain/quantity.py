"""Numbers as people write them: `1.5 GiB`, `4 min 12 s`, `12,345`; and read back.

For reading only: JSON and CSV keep plain numbers in the unit of their column. What is written here
means the same when it is typed into a question (`read_duration`, `compass.domain.units`). The page
has the same rules (`web/src/show/quantity.ts`); `tests/domain/quantities.json` holds both to them.
"""

import math
import re
from decimal import ROUND_HALF_UP, Decimal

from compass.domain.base import Value
from compass.domain.units import UNITS, canonical

# Units that one reads beside each other, ascending: a value is told in one of its own family.
_FAMILIES = (
    ("ns", "us", "ms", "s"),
    ("mW", "W", "kW", "MW"),
    ("uJ", "mJ", "J", "kJ", "MJ", "GJ"),
    ("Wh", "kWh"),
    ("B", "KiB", "MiB", "GiB", "TiB"),
    ("KB", "MB", "GB", "TB", "PB"),
    ("Hz", "kHz", "MHz", "GHz"),
)
_FAMILY = {symbol: family for family in reversed(_FAMILIES) for symbol in family}
_FAMILY |= dict.fromkeys(("min", "h", "d"), _FAMILIES[0])
_LARGEST, _SMALLEST = 1e15, 1e-4  # beyond these, powers of ten
_LARGE = 1e9  # the same for what is no whole number: its last digits would mean nothing
_GROUPED = 10_000  # from here on thousands are set apart
_DIGITS = 12  # beyond them is what computing leaves behind: 0.30000000000000004
_MORE = 3  # digits beside the usual four that a narrow interval asks for, at most
_SHORT = 4  # digits of a value that is told in another unit than its own, nothing rounded off
_TENTH = 0.1  # from here on a value stays in its unit: 0.99 ms reads well beside 1.23 ms
_WIDTH = 30.0  # an interval so wide needs no decimals, of a tenth of it one, and so on
_MINUTE, _DAY = 60, 86_400
_IN_SECONDS = 120  # until then people say seconds, unless the column is in minutes or more
_WHOLE_MINUTES = 10_000  # from so many seconds on, about so long is told in minutes
DURATION = re.compile(
    r"(?P<days>\d+)-(?P<hh>\d\d):(?P<mm>\d\d)(?::(?P<ss>\d\d(?:\.\d+)?))?"
    r"|(?=\d+\s*(?:h|min)\s*\d)(?:(?P<h>\d+)\s*h\s*)?(?:(?P<min>\d+)\s*min\s*)?"
    r"(?:(?P<s>\d+(?:\.\d+)?)\s*s)?"
)


def number(value: float, decimals: int | None = None) -> str:
    """About this number: four digits, or so many decimals; whole numbers in full.

    Two digits are told in any case: beside a wide interval 0.43 must not read as 0.
    """
    size = abs(value)
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else _signed("∞", value)
    if size >= _LARGEST or 0 < size < _SMALLEST:
        return _signed(_power(size, 2), value)
    if size == math.floor(size):
        return _signed(_grouped(str(int(size))), value)
    if size >= _LARGE:
        return _signed(_power(size, 2), value)
    usual = _decimals(size, 1000.0)
    places = usual
    if decimals is not None:
        places = min(max(decimals, _decimals(size, 10.0)), usual + _MORE)
    text = _trimmed(_fixed(size, places))
    return _signed(_grouped(text), value)


def exact(value: float) -> str:
    """A number that somebody set or has in a table: nothing is rounded off."""
    if not math.isfinite(value) or value == math.floor(value):
        return number(value)
    kept = float(f"{abs(value):.{_DIGITS}g}")
    if kept >= _LARGEST or kept < _SMALLEST:
        return _signed(_power(kept, _DIGITS - 1), value)
    return _signed(_grouped(_trimmed(repr(kept))), value)


def setting(value: Value, unit: str | None = None) -> str:
    """A value that somebody sets, in the unit that is easiest to read and never rounded."""
    if value is None or isinstance(value, bool | str):
        return plain(value)
    return _written(float(value), unit, rounded=False)


def quantity(value: Value, unit: str | None = None) -> str:
    """A value that is predicted or was measured: four digits, in a unit that is easy to read."""
    if value is None or isinstance(value, bool | str):
        return plain(value)
    return _written(float(value), unit, rounded=True)


def estimate(
    value: float, low: float, high: float, unit: str | None = None
) -> tuple[str, tuple[str, str] | None]:
    """A prediction and the ends of its interval, with as many digits as the interval is wide.

    The ends are in the unit that stands behind the prediction, or have their own. None: there are
    none.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return quantity(value, unit), None
    largest = max(abs(value), abs(low), abs(high))
    symbol, size = _scaled(largest, unit, rounded=True)
    if symbol == "s" and _is_long(largest, size):
        return quantity(value, unit), (quantity(low, unit), quantity(high, unit))
    width = abs(high - low) * size
    decimals = _decimals(width, _WIDTH) if width else None
    one, first, last = (number(part * size, decimals) for part in (value, low, high))
    return (f"{one} {symbol}" if symbol else one), (first, last)


def read_duration(text: str) -> float | None:
    """The seconds of `4 min 12 s`, `2 h 30 min` or `1-12:00`; None: it is no such thing."""
    found = DURATION.fullmatch(text.strip())
    if found is None:
        return None
    parts = {name: float(part or 0) for name, part in found.groupdict().items()}
    hours, minutes = parts["hh"] + parts["h"], parts["mm"] + parts["min"]
    return parts["days"] * _DAY + hours * 3600 + minutes * 60 + parts["ss"] + parts["s"]


def plain(value: Value) -> str:
    """A label as it is; truth values and a missing one as they are typed: true, false, none."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return str(value)


def _written(value: float, unit: str | None, *, rounded: bool) -> str:
    text = number if rounded else exact
    symbol, size = _scaled(value, unit, rounded=rounded)
    if symbol == "s" and _is_long(value, size):
        told = _duration(abs(value) * size, rounded=rounded)
        if told is not None:
            return _signed(told, value)
        symbol, size = unit or "s", 1.0
    written = text(value if size == 1.0 else value * size)
    return f"{written} {symbol}" if symbol else written


def _is_long(value: float, size: float) -> bool:
    """Whether so many times `size` seconds are told in minutes."""
    return abs(value) * size >= (_MINUTE if size > 1 else _IN_SECONDS)


def _scaled(value: float, unit: str | None, *, rounded: bool) -> tuple[str | None, float]:
    """The unit that a value is told in, and what it is multiplied with for that."""
    own = None if unit is None else canonical(unit)
    if own not in _FAMILY or not value or not math.isfinite(value):
        return unit, 1.0
    _, factor = UNITS[own]
    if own in ("min", "h", "d") and abs(value) * factor >= _MINUTE:
        return "s", factor
    if own in _FAMILY[own] and _TENTH <= abs(value) < 1:
        return own, 1.0
    for symbol in reversed(_FAMILY[own]):
        size = factor / UNITS[symbol][1]
        if symbol == own:
            size = 1.0
        if abs(value) * size < 1:
            continue
        if rounded or symbol == own or _digits(value * size) <= _SHORT:
            return symbol, size
    return (_FAMILY[own][0], factor / UNITS[_FAMILY[own][0]][1]) if rounded else (unit, 1.0)


def _duration(seconds: float, *, rounded: bool) -> str | None:
    """A minute or more as `4 min 12 s`, a day or more as `1-12:30`; None: it has odd fractions."""
    if seconds >= _LARGEST:
        return None
    if rounded:
        places = 0 if seconds >= 1000 else 1 if seconds >= 100 else 2
        if seconds >= _WHOLE_MINUTES:
            seconds = float(_fixed(seconds / 60, 0)) * 60
    else:
        places = 3
        if _trimmed(_fixed(seconds, places)) != _trimmed(repr(float(f"{seconds:.{_DIGITS}g}"))):
            return None
    whole, _, fraction = _fixed(seconds, places).partition(".")
    days, left = divmod(int(whole), _DAY)
    hours, minutes, rest = left // 3600, left % 3600 // 60, left % 60
    tail = f".{fraction}".rstrip("0").rstrip(".")
    if days:
        end = f":{rest:02}{tail}" if rest or tail else ""
        return f"{days}-{hours:02}:{minutes:02}{end}"
    parts = [f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes)
    parts += [f"{rest}{tail} s"] * bool(rest or tail)
    return " ".join(parts)


def _digits(value: float) -> int:
    """How many digits a number needs when nothing is rounded off."""
    text = f"{abs(value):.{_DIGITS - 1}e}".partition("e")[0]
    return len(text.replace(".", "").rstrip("0"))


def _decimals(size: float, bound: float) -> int:
    """Decimals so that the last one is a thousandth of the bound, or of what is smaller."""
    places = 0
    while size < bound and places < 12:
        bound, places = bound / 10, places + 1
    return places


def _fixed(size: float, decimals: int) -> str:
    """Rounded half up, as JavaScript does it: the page says the same."""
    return str(Decimal(size).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def _power(size: float, decimals: int) -> str:
    mantissa, _, power = f"{size:.{decimals}e}".partition("e")
    return f"{_trimmed(mantissa)}e{int(power)}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _grouped(text: str) -> str:
    whole, dot, rest = text.partition(".")
    return f"{int(whole):,}{dot}{rest}" if int(whole) >= _GROUPED else text


def _signed(text: str, value: float) -> str:
    return f"-{text}" if value < 0 else text
