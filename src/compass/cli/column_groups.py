"""The columns of a table as a list to read: by role, one line each where that is possible."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from compass.domain.quantity import quantity
from compass.domain.space import Role

if TYPE_CHECKING:
    from compass.prepare.report import ColumnReport

_HEADS = {
    Role.OUTCOME: "Outcomes: what is measured",
    Role.KNOB: "Knobs: what can be set",
    Role.CONTEXT: "Context: what is given",
    Role.IGNORED: "Ignored",
}
_NAME = 0.4  # of the width: names up to there stand before their values, longer ones above them
_MANY = 20  # columns of a role; among more, those that are alike share an entry
_ALIKE = 3  # columns that share an entry, at least
_INDENT = "  "
_NUMBERED = re.compile(r"(.*\D)(\d{1,9})", re.DOTALL)
_RUN = 4  # names that are counted through, at least, to be told by the first and the last


def column_groups(columns: "Sequence[ColumnReport]", width: int) -> list[tuple[str, list[str]]]:
    """A heading for each role that there is, and the lines below it, no wider than `width`."""
    groups = []
    for role, head in _HEADS.items():
        some = [one for one in columns if one.role is role]
        if not some:
            continue
        made = _ignored(some, width) if role is Role.IGNORED else _listed(some, width)
        title, colon, about = head.partition(":")
        groups.append((f"{title} ({len(some):,}){colon}{about}", made))
    return groups


def _listed(columns: "Sequence[ColumnReport]", width: int) -> list[str]:
    alike: dict[tuple[str, str], list[ColumnReport]] = {}
    for one in columns:
        alike.setdefault((_values(one), _about(one)), []).append(one)
    most = int(_NAME * width)
    room = max((len(one.name) for one in columns if len(one.name) <= most), default=0)
    lines = []
    for (values, about), some in alike.items():
        if len(columns) > _MANY and len(some) >= _ALIKE:
            head = f"{len(some):,} columns"
            lines += _entry(head, values, about, some[0].distinct, max(room, len(head)), width)
            lines += _names([one.name for one in some], width, 2 * _INDENT)
        else:
            for one in some:
                lines += _entry(one.name, values, about, one.distinct, room, width)
    return lines


def _entry(name: str, values: str, about: str, distinct: int, room: int, width: int) -> list[str]:
    """A name, its values, and what else is known: on one line, or below it where that is long."""
    margin = len(_INDENT) + room + 2
    lines = []
    start = f"{_INDENT}{name:<{room}}  "
    if len(name) > room:
        lines.append(_INDENT + name)  # whole, to be copied
        start = " " * margin
    line = start + _shortened(values, distinct, width - margin)
    if about and len(line) + 2 + len(about) <= width:
        return [*lines, f"{line}  {about}"]
    lines.append(line.rstrip())
    return lines + textwrap.wrap(
        about, width, initial_indent=" " * margin, subsequent_indent=" " * margin
    )


def _ignored(columns: "Sequence[ColumnReport]", width: int) -> list[str]:
    """The columns that are left out, by the reason for it."""
    reasons: dict[str, list[str]] = {}
    for one in columns:
        why = "as stated" if one.stated else one.note or "not in use"
        reasons.setdefault(why, []).append(one.name)
    return [
        line
        for why, names in reasons.items()
        for line in _names(names, width, _INDENT, head=f"{why}: ")
    ]


def _names(names: Iterable[str], width: int, indent: str, head: str = "") -> list[str]:
    """`head: name, name, ...` on lines of this width; no name is broken over two."""
    # The blanks of a name are kept by what no line is broken at.
    kept = ", ".join(name.replace(" ", "\0") for name in _runs(names))
    lines = textwrap.wrap(
        head + kept,
        width,
        initial_indent=indent,
        subsequent_indent=2 * _INDENT,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace("\0", " ") for line in lines]


def _runs(names: Iterable[str]) -> list[str]:
    """Names that are counted through, `px01 .. px07`, as one."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    told = []
    for run in runs:
        told += [f"{run[0]} .. {run[-1]}"] if len(run) >= _RUN else run
    return told


def _follows(one: str, other: str) -> bool:
    first, second = _NUMBERED.fullmatch(one), _NUMBERED.fullmatch(other)
    if first is None or second is None or first[1] != second[1]:
        return False
    return int(second[2]) == int(first[2]) + 1


def _values(column: "ColumnReport") -> str:
    """The values that it may take, in its unit; of an outcome those that were measured."""
    if column.role is Role.OUTCOME and _is_range(column):
        return f"{quantity(column.low, column.unit)} to {quantity(column.high, column.unit)}"
    return f"{column.legal} {column.unit}" if column.unit else column.legal


def _is_range(column: "ColumnReport") -> bool:
    return column.kind == "number" and ".." in column.legal.replace("...", "")


def _about(column: "ColumnReport") -> str:
    """How many values a range holds, how many are missing, and why it was understood so."""
    distinct = f"{column.distinct:,} different" if _is_range(column) else ""
    missing = f"{column.missing:,} missing" if column.missing else ""
    labels = "labels" if column.kind == "category" and _counts(column) else ""
    note = "" if column.stated else column.note
    return "; ".join(part for part in (labels, distinct, missing, note, column.cells) if part)


def _counts(column: "ColumnReport") -> bool:
    """Whether its labels look like numbers, so that one would take it for a number."""
    return bool(column.common) and all(str(label)[:1].isdigit() for label, _ in column.common)


def _shortened(values: str, distinct: int, room: int) -> str:
    """A list of values that fits: the first of them, and how many there are."""
    if len(values) <= room:
        return values
    tail = f", ... ({distinct:,} values)"
    first = values.partition(", ...")[0][: max(room - len(tail), 1)]
    whole = first.rpartition(", ")[0]
    if whole:
        return f"{whole}{tail}"
    # One long label, such as a path: its beginning and its end tell most.
    label, ends = values.partition(", ")[0], max(room - len(tail) - 3, 8)
    if len(label) > ends + 3:
        label = f"{label[: ends - ends // 2]}...{label[len(label) - ends // 2 :]}"
    return f"{label}{tail}" if label != values else label
