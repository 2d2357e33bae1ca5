"""Conditions that a message states and no pattern took: the reply must name them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from compass.chat.english.lexicon import KNOWN_WORDS
from compass.chat.english.scan import PARAMETERS, Scan
from compass.chat.english.tags import Tag
from compass.chat.english.words import stem, word_set
from compass.domain.space import Category

_OWN = frozenset({"my", "our", "your", "his", "her", "their", "its"})
_MEANS = frozenset({"with", "using", "via", "with the", "without"})  # what is to be used, or not
_BARE = frozenset({"for", "on"})  # a name behind it is a condition, `for my thesis` is not
# Nouns behind a preposition that limit nothing.
_ASIDES = word_set(
    "ages stability safety certain fun tomorrow production publication comparison testing "
    "benchmarking purpose demand board regard regards ease care caution confidence problems "
    "issues trouble fuss errors crashing luck due respect"
)
_OPENING = frozenset({"where", "when", "whenever", "if"})
_ASSUMING = frozenset(
    {"given", "assuming", "assume", "provided", "such"}
)  # these are not parts themselves
_BEHIND = r"(?=[,.&tofb]|$)"
_STATED = re.compile(r"(?:[^i=<>Cw]|[Cw](?![i=!<>]))*[Cw][i=!<>].+|oC[ow]+")
_ENDS = re.compile("[amMFOrR.]")  # from there on something else is asked for
_VALUE = re.compile(r"C[i=!]+(w+)")
_EQUATED = re.compile(r"w+[i=]+w+")
_SET = re.compile(r"sCt(w+)")
_NAMED = re.compile(r"[so~]C(w+)")
_KIND = re.compile(r"[so~!=](w+)C|[,&](w+)C(?=[,.&]|$)")
_USED = re.compile(rf"[so!](w+){_BEHIND}")
_LISTED = re.compile(rf"C&(w+){_BEHIND}")


@dataclass(frozen=True, slots=True)
class UnmatchedCondition:
    """Words that state a condition, where they stand, and the value that their column lacks."""

    start: int
    end: int
    words: str
    column: str | None = None
    value: str = ""


def unmatched_conditions(scan: Scan) -> list[UnmatchedCondition]:
    """The conditions that no pattern took, in the order of the message."""
    found: list[UnmatchedCondition] = []
    for finder in (_clauses, _equated, _values, _kinds, _means, _members):
        for one in finder(scan):
            taken = any(one.start < other.end and other.start < one.end for other in found)
            if not taken:
                found.append(one)
    return sorted(found, key=lambda one: one.start)


def is_unknown(scan: Scan, place: int) -> bool:
    """Whether a word is neither everyday English nor a word of the table."""
    low = scan.items[place].words.lower()
    return (
        len(low) > 1
        and low not in KNOWN_WORDS
        and low not in _ASIDES
        and stem(low) not in scan.index.hits
    )


def _clauses(scan: Scan) -> Iterator[UnmatchedCondition]:
    """Where colour is red and kernel is foobar: what `where` opens, up to the end of it."""
    for place in scan.at(range(len(scan.tags)), Tag.WITH):
        if scan.items[place].words.lower() != "where":
            continue
        end = scan.tags.find(Tag.END, place)
        start = place
        clauses = range(place, len(scan.tags) if end < 0 else end)
        for stop in (*scan.at(clauses, Tag.AND + Tag.COMMA), end):
            clause = _clause(scan, start, len(scan.tags) if stop < 0 else stop)
            if clause is not None:
                yield clause
            start = stop + 1


def _clause(scan: Scan, start: int, stop: int) -> UnmatchedCondition | None:
    """One statement, up to the first part that was understood or asks for something else."""
    taken = (p for p in range(start, stop) if p in scan.used or _ENDS.match(scan.tags[p]))
    tags = scan.tags[start : next(taken, stop)].rstrip("tob|")
    if not _STATED.fullmatch(tags):
        return None
    end = start + len(tags)
    words, value = scan.verbatim(start, end), re.match(r"o?C[i=!]+", tags)
    if value is None:
        return UnmatchedCondition(start, end, words)
    column = scan.column(start + tags.index(Tag.COLUMN), *PARAMETERS)
    return UnmatchedCondition(start, end, words, column, scan.verbatim(start + value.end(), end))


def _equated(scan: Scan) -> Iterator[UnmatchedCondition]:
    """When colour is red; such that colour is red; colour = red."""
    for match in _EQUATED.finditer(scan.tags):
        place, before = match.start(), match.start() - 1
        if scan.used & set(range(*match.span())) or not is_unknown(scan, place):
            continue
        opened = before >= 0 and scan.items[before].words.lower() in _OPENING
        assumed = bool(_skipped(scan, before, place) & _ASSUMING)
        equated = any(scan.items[p].words in {"=", "=="} for p in range(*match.span()))
        if opened or assumed or equated:
            yield UnmatchedCondition(*match.span(), scan.verbatim(*match.span()))


def _skipped(scan: Scan, before: int, place: int) -> frozenset[str]:
    """The words between two parts, which are no parts themselves: the, my, given."""
    start = scan.items[before].end if before >= 0 else 0
    return frozenset(token.low for token in scan.source.found[start : scan.items[place].start])


def _values(scan: Scan) -> Iterator[UnmatchedCondition]:
    """Kernel is foobar; for kernel foobar; set the schedule to foobar."""
    for pattern in (_VALUE, _SET, _NAMED):
        for match in _not_understood(scan, pattern):
            column = match.start() + match[0].index("C")
            name = scan.column(column, *PARAMETERS)
            close = pattern is not _NAMED or _is_close(scan, match)
            if close and (pattern is _SET or isinstance(scan.parameter(name), Category)):
                words = scan.verbatim(column, match.end())
                value = scan.verbatim(*match.span(1))
                yield UnmatchedCondition(column, match.end(), words, name, value)


def _is_close(scan: Scan, match: re.Match[str]) -> bool:
    """For kernel foobar, but not: in the queue forever."""
    items = scan.items[match.start() : match.end()]
    together = all(a.end == b.start for a, b in pairwise(items))
    return together and not items[0].words.lower().endswith(" the")


def _kinds(scan: Scan) -> Iterator[UnmatchedCondition]:
    """With shared memory; on the nightly queue; ..., foobar kernel."""
    for match in _not_understood(scan, _KIND):
        name = scan.column(match.end() - 1, *PARAMETERS)
        start, end = match.start() + 1, match.end()
        words, value = scan.verbatim(start, end), scan.verbatim(start, end - 1)
        if isinstance(scan.parameter(name), Category):
            yield UnmatchedCondition(start, end, words, name, value)
        elif scan.items[match.start()].words.lower() in _MEANS:
            yield UnmatchedCondition(start, end, words)


def _means(scan: Scan) -> Iterator[UnmatchedCondition]:
    """With hyperthreading; for gemm; on frontier."""
    for match in _not_understood(scan, _USED):
        words = scan.items[match.start()].words.lower()
        between = _skipped(scan, match.start(), match.start(1))
        if (words in _MEANS and not between & _OWN) or (words in _BARE and not between):
            yield UnmatchedCondition(*match.span(), scan.verbatim(*match.span()))


def _members(scan: Scan) -> Iterator[UnmatchedCondition]:
    """Threads and bananas: what stands in a list beside a column."""
    for match in _LISTED.finditer(scan.tags):
        places = range(*match.span(1))
        if any(is_unknown(scan, place) for place in places):
            yield UnmatchedCondition(*match.span(1), scan.verbatim(*match.span(1)))


def _not_understood(scan: Scan, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Where a pattern stands with an unknown word in it, and no part of it was understood."""
    for match in pattern.finditer(scan.tags):
        free = not scan.used & set(range(*match.span()))
        words = scan.at(range(*match.span()), Tag.WORD)
        if free and any(is_unknown(scan, place) for place in words):
            yield match
