"""Patterns that put values up for choice: 4 or 8?, mpiio vs hdf5, off or on?"""

import re

from compass.chat.english.goals import meant
from compass.chat.english.lexicon import PHRASES
from compass.chat.english.rules import sides
from compass.chat.english.scan import PARAMETERS, Equal, Scan
from compass.chat.english.tags import Tag
from compass.domain.base import Value
from compass.domain.goal import Extreme
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role

_VERSUS = frozenset({"vs", "versus"})
_WHICH = frozenset({"which one", "which", "what", "whichever"})
_SEPARATE = "aFmMOqrRdD<>"


def _is_open(scan: Scan, start: int, end: int) -> bool:
    """Whether values joined by `or` are what the question is about, not a bound beside it."""
    if not scan.is_question(end - 1):
        return _which_behind(scan, end)
    before = scan.tags[scan.sentence(start).start : start]
    if not set(before) & set(_SEPARATE) or (before.endswith(",") and scan.tags[end] == Tag.END):
        return True
    return _which_behind(scan, end)


def _which_behind(scan: Scan, end: int) -> bool:
    """... which one is faster?"""
    return any(
        scan.items[place].words.lower() in _WHICH
        for place in scan.at(range(end, min(end + 4, len(scan.tags))), Tag.WHICH)
        if scan.tags[place + 1 : place + 2] not in {"", "."}
    )


def _offered(scan: Scan, name: str, values: list[Value], place: int) -> bool:
    """Note that a parameter is asked for, among these values."""
    if len(set(values)) < 2:
        return False
    scan.equals.append(Equal(name, tuple(dict.fromkeys(values)), place, "|"))
    _ask(scan, name)
    return True


def _ask(scan: Scan, name: str) -> None:
    if scan.parameter(name).role is Role.KNOB and name not in scan.asked:
        scan.asked.append(name)


def labels_offered(scan: Scan, match: re.Match[str]) -> bool:
    """Mpiio vs hdf5; between double and mixed; compare O2 with O3; relu or gelu?"""
    if scan.kind is Kind.WHAT_IF:
        return False
    span = range(*match.span())
    marks = scan.at(span, Tag.INSTEAD)
    if any(scan.items[mark].words.lower() not in _VERSUS for mark in marks):
        return False
    which = scan.items[match.start()].words.lower() in {"which", "which one"}
    plain = not marks and match[0][0] not in "cB^" and not which
    if plain and not _is_open(scan, *match.span()):
        return False
    first, *rest = scan.at(span, Tag.LABEL)
    shared = {
        name
        for name, _ in _labels(scan, first)
        if all(scan.label(place, of=name) is not None for place in rest)
    }
    named = [scan.column(place, *PARAMETERS) for place in scan.at(span, Tag.COLUMN)]
    fitting = [name for name in named if name in shared] or sorted(shared)
    if not fitting or scan.outcome(fitting[0]):
        return False
    pairs = [scan.label(place, of=fitting[0]) for place in (first, *rest)]
    return _offered(scan, fitting[0], [p[1] for p in pairs if p is not None], match.start())


def _labels(scan: Scan, place: int) -> tuple[tuple[str, Value], ...]:
    mention = scan.items[place].label
    return mention.labels if mention is not None else ()


def numbers_offered(scan: Scan, match: re.Match[str]) -> bool:
    """4 or 8 io servers?; threads: 8, 16 or 32?; between 4 and 8 nodes, which is faster?"""
    if scan.kind is Kind.WHAT_IF:
        return False
    span = range(*match.span())
    marks = scan.at(span, Tag.INSTEAD)
    if any(scan.items[mark].words.lower() not in _VERSUS for mark in marks):
        return False
    marked = match[0][0] == "c" or bool(marks)
    if Tag.BETWEEN in match[0] and not _which_behind(scan, match.end()):
        return False
    if not marked and not _is_open(scan, *match.span()):
        return False
    places = scan.at(span, Tag.NUMBER)
    columns = scan.at(span, Tag.COLUMN)
    if columns:
        first = scan.column(columns[0], *PARAMETERS)
        name: str | None = scan.fitting(columns[0], places, first)
    else:
        name = scan.of_unit(scan.quantity(places[-1]), *PARAMETERS)
    if name is None or scan.outcome(name) or not isinstance(scan.parameter(name), Number):
        return False
    values = [_in_last_unit(scan, place, places[-1], name) for place in places]
    if None in values:
        return False
    return _offered(scan, name, values, match.start())


def _in_last_unit(scan: Scan, place: int, last: int, name: str) -> Value | None:
    """4 or 8 MB: the 4 are MB too."""
    return scan.value(place, name) if place == last else scan.old_value([place, last], name)


def is_better(scan: Scan, match: re.Match[str]) -> bool:
    """Is fp8 faster than int8?: which of the two, by what the adjective speaks of."""
    if scan.kind is Kind.WHAT_IF or not scan.is_question(match.start()):
        return False
    span = range(*match.span())
    words = (
        scan.items[scan.at(span, Tag.BOUNDS + Tag.COMPARATIVE)[0]]
        .words.lower()
        .removesuffix(" than")
    )
    concept = next((p.concept for p in PHRASES.get((words,), ()) if p.concept), "")
    if not concept or len(scan.at(span, Tag.LABEL)) != 2:
        return False
    first, second = (scan.label(place) for place in scan.at(span, Tag.LABEL))
    wanted = meant(scan, "fast" if concept == "slow" else concept)
    if first is None or second is None or wanted is None or first[0] != second[0]:
        return False
    if scan.outcome(first[0]) or not _offered(scan, first[0], [first[1], second[1]], match.start()):
        return False
    scan.goal(wanted[0], Extreme(direction=wanted[1]))
    return True


def number_better(scan: Scan, match: re.Match[str]) -> bool:
    """Is a dropout of 0.3 better than 0.1?"""
    span = range(*match.span())
    sign = scan.items[scan.at(span, Tag.BOUNDS)[0]].words.lower()
    if not sign.endswith(" than") or scan.kind is Kind.WHAT_IF:
        return False
    name = scan.column(match.start(), *PARAMETERS)
    values = [scan.value(place, name) for place in scan.at(span, Tag.NUMBER)]
    if None in values or scan.outcome(name) or not scan.is_question(match.start()):
        return False
    return _offered(scan, name, values, match.start())


def switch_offered(scan: Scan, match: re.Match[str]) -> bool:
    """Hyperthreading off or on?; exclusive or shared nodes?"""
    name = scan.column(match.start(), *PARAMETERS)
    parameter = scan.parameter(name)
    if not isinstance(parameter, Category) or None in sides(parameter):
        return False
    words = {scan.items[place].words.lower() for place in range(*match.span())}
    if (Tag.WITH in match[0] and "on" not in words) or not _is_open(scan, *match.span()):
        return False
    _ask(scan, name)
    return scan.kind is not Kind.WHAT_IF


PATTERNS = (
    (r"[cB^][so=]*L(?:[,|&oTI]+L)+C?", labels_offered),
    (r"LIL(?:,?IL)*C?", labels_offered),
    (r"ai?L(?:[,|&]+L)+C?", labels_offered),
    (r"(?:C[i=o]*)?L(?:[,|]+L)+C?", labels_offered),
    (r"[cB]?V(?:[,|I&]*V)*[|I&]V[io]?C", numbers_offered),
    (r"c?C[io=]*V(?:[,|I]*V)*[|I]V(?!C)", numbers_offered),
    (r"V(?:[,|I]*V)*[|I]V(?!C)", numbers_offered),
    (r"C[io=]*V[<>]V(?!C)", number_better),
    (r"LC?[<>q]T?o?LC?", is_better),
    (r"C[i=]*[yYo]\|[yYo]", switch_offered),
    (r"C\|wC?(?=\.)", switch_offered),
)
