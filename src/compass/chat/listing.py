"""Values in a reply: lists that end where they get long, and tables of aligned columns."""

from collections.abc import Iterable, Mapping, Sequence

from compass.domain.base import Value
from compass.domain.quantity import quantity

_LIST = 240  # characters of a list of values: three lines of a terminal
_VALUE = 40  # characters of one value in a list
_WIDTH = 80
_NAMES = 26  # characters of the names in a table, at most
_BETWEEN = 2  # spaces between columns, and before a table: the page shows it in one width by them


def shortened(text: str, most: int) -> str:
    """A text of one line and at most this many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def settings_list(
    values: Mapping[str, Value], units: Mapping[str, str | None], most: int = _LIST
) -> str:
    """`nodes = 4, runtime = 12.5 s`; where that gets long, how many more there are."""
    parts: list[str] = []
    length = 0
    for name, value in values.items():
        part = f"{shortened(name, _VALUE)} = {cell(value, units.get(name), _VALUE)}"
        length += len(part) + 2
        if parts and length > most:
            return f"{', '.join(parts)} and {len(values) - len(parts)} more columns"
        parts.append(part)
    return ", ".join(parts)


def cell(value: Value, unit: str | None = None, most: int = _VALUE) -> str:
    """A value with its unit in at most this many characters."""
    # Of a number; a text has its unit in itself.
    of_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = quantity(value, unit if of_number else None)
    return shortened(text, most)


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Lines of aligned columns, indented, within the width of a terminal."""
    table = [[*row] for row in rows]
    columns = list(zip(*table, strict=True))
    names = min(_NAMES, max(len(text) for text in columns[0]))
    free = _WIDTH - names - _BETWEEN * len(columns)
    most = [names, *(free // (len(columns) - 1) for _ in columns[1:])]
    cut = [[shortened(text, most[place]) for place, text in enumerate(row)] for row in table]
    widths = [max(len(text) for text in column) for column in zip(*cut, strict=True)]
    gap = " " * _BETWEEN
    return "\n".join(
        gap + gap.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cut
    )
