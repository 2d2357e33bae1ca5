"""Patterns of outcomes that must not get worse: what they are now, or anything better."""

import re
from typing import Literal as OneOf

from compass.chat.english.goals import concept_at
from compass.chat.english.lists import columns_until
from compass.chat.english.phrases import OR_BETTER
from compass.chat.english.scan import Direction, Scan
from compass.chat.english.tags import Tag
from compass.domain.goal import Change, Extreme, Same
from compass.domain.query import Kind
from compass.domain.space import Number, Role

Side = OneOf["less", "more"]

# With a parameter, both mean that it is kept.
_NOT_MORE = frozenset(
    {"without increasing", "without raising", "without more", "without using more"}
)
_NOT_LESS = frozenset(
    {"without decreasing", "without lowering", "without reducing", "without less"}
)
_DEMANDS = ("must", "should", "may", "can", "shall", "do not", "never")


def better_side(better: Direction) -> Side:
    """The side on which an outcome is better."""
    return "less" if better == "minimize" else "more"


def equally(scan: Scan, match: re.Match[str]) -> bool:
    """It stays equally fast: the time is to stay the same; or no slower: that or less."""
    place = scan.at(range(*match.span()), Tag.EQUALLY)[0]
    found = concept_at(scan, place)
    if found is None:
        return False
    name, better = found
    phrase = scan.items[place].phrase
    if phrase is None or not phrase.or_better:
        scan.goals[name] = Same()
        return True
    return _leave(scan, match, [name], better_side(better))


def as_possible(scan: Scan, match: re.Match[str]) -> bool:
    """At least as fast as possible: the best there is."""
    found = concept_at(scan, scan.at(range(*match.span()), Tag.EQUALLY)[0])
    if found is None:
        return False
    scan.goal(found[0], Extreme(direction=found[1]))
    return True


def spared(scan: Scan, match: re.Match[str]) -> bool:
    """Accuracy must not suffer; without sacrificing accuracy: the column tells what better is."""
    phrase = scan.items[scan.at(range(*match.span()), Tag.EQUALLY)[0]].phrase
    if phrase is None or phrase.concept:
        return False
    return _leave(scan, match, _columns(scan, match), None)


def not_moved(scan: Scan, match: re.Match[str]) -> bool:
    """Do not increase the runtime; gflops should not drop by more than 5 %; no more energy."""
    span = range(*match.span())
    verbs = scan.at(span, Tag.MOVES)
    if len(verbs) == 1:
        side: Side = "less" if scan.tags[verbs[0]] in Tag.UP else "more"
        return _leave(scan, match, _columns(scan, match), side)
    # Neither increase the cost nor reduce the accuracy: each verb has its own columns.
    for verb, until in zip(verbs, [*verbs[1:], match.end()], strict=True):
        named = [scan.column(p, Role.OUTCOME) for p in scan.at(range(verb, until), Tag.COLUMN)]
        _leave(scan, match, named, "less" if scan.tags[verb] in Tag.UP else "more")
    return True


def without_moving(scan: Scan, match: re.Match[str]) -> bool:
    """Without increasing the energy."""
    words = scan.items[scan.at(range(*match.span()), Tag.UNTOUCHED)[0]].words.lower()
    if words not in _NOT_MORE | _NOT_LESS:
        return False
    side: Side = "less" if words in _NOT_MORE else "more"
    return _leave(scan, match, _columns(scan, match), side)


def same_or(scan: Scan, match: re.Match[str]) -> bool:
    """The same runtime or less; at least the same gflops."""
    names = _columns(scan, match)
    if not all(_is_number(scan, name) for name in names):
        return False
    sign = scan.at(range(*match.span()), Tag.SIGNS)[0]
    any_better = scan.items[sign].words.lower() in OR_BETTER
    side: Side = "less" if scan.tags[sign] in Tag.AT_MOST + Tag.OR_LESS else "more"
    return _leave(scan, match, names, None if any_better else side)


def beside_now(scan: Scan, match: re.Match[str]) -> bool:
    """At most 5 % above what it is now: no worse; at least 5 % below it: a change."""
    share = _share(scan, match)
    names = _columns(scan, match)
    if share is None or not all(_is_number(scan, name) for name in names):
        return False
    bound, side = [scan.tags[place] for place in scan.at(range(*match.span()), Tag.BOUNDS)]
    if bound == "<":
        return _leave(scan, match, names, "less" if side == ">" else "more")
    for name in names:
        scan.goals[name] = Change(direction="reduce" if side == "<" else "increase", by=share)
    return True


def _leave(scan: Scan, match: re.Match[str], names: list[str], side: Side | None) -> bool:
    """Outcomes are left as they are, or go to this side (None: the better one).

    A parameter is kept: there is no goal of a parameter.
    """
    if _asks(scan, match):
        scan.observed.extend(name for name in names if scan.outcome(name))
        return True
    share = _share(scan, match)
    if share is None and scan.at(range(*match.span()), Tag.NUMBER_OR_SHARE):
        # An amount that cannot be a share of it: better shown than dropped.
        scan.unused_words.append(scan.verbatim(match.start(), match.end()))
        return True
    for name in names:
        if scan.outcome(name):
            beyond = side or better_side(scan.better(name))
            number = _is_number(scan, name)
            scan.goals[name] = Same(tolerance=share, beyond=beyond if number else None)
        elif name not in scan.keep:
            scan.keep.append(name)
    return True


def _asks(scan: Scan, match: re.Match[str]) -> bool:
    """What if ..., does the cost not increase?: nothing is demanded."""
    if scan.kind is not Kind.WHAT_IF or scan.tags[match.start()] != Tag.COLUMN:
        return False
    verb = scan.items[
        scan.at(
            range(*match.span()), Tag.NOT + Tag.EQUALLY + Tag.SAME + Tag.AT_MOST + Tag.AT_LEAST
        )[0]
    ]
    return not verb.words.lower().startswith(_DEMANDS) and verb.tag in Tag.NOT + Tag.EQUALLY


def _columns(scan: Scan, match: re.Match[str]) -> list[str]:
    return [scan.column(place, Role.OUTCOME) for place in scan.at(range(*match.span()), Tag.COLUMN)]


def _share(scan: Scan, match: re.Match[str]) -> float | None:
    """By how much it may get worse; None: there is no amount, or it is no share."""
    places = scan.at(range(*match.span()), Tag.SHARE)
    value = scan.quantity(places[0]).value if places else 0.0
    return value if 0 < value < 1 else None


def _is_number(scan: Scan, name: str) -> bool:
    return scan.outcome(name) and isinstance(scan.parameter(name), Number)


# Behind a verb: columns up to the first of which something else is said.
_STATED = r"[ikstow=@]*[mMOrRdDqFQkzZV<>=BL!~%XHxe]"
_OBJECTS = columns_until(rf"{_STATED}|s+[.]", _STATED)
_SUBJECTS = r"C(?:[&,|]+C)*"
_ROOM = r"(?:b?[<>]?[%V]|b?[%V][dDrR])?"  # by more than 5 %
PATTERNS = (
    (r"k?@?Qi?h", as_possible),
    (r"k?@?Q", equally),
    (rf"Q[<>]?%[io]*C|Q[io]*(?:{_OBJECTS}){_ROOM}|(?:{_SUBJECTS})[is]*Q{_ROOM}", spared),
    (rf"![is]*[rRdD][io]*(?:{_OBJECTS})(?:[|][rRdD][io]*(?:{_OBJECTS}))+", not_moved),
    (rf"![is]*[rRdD][io]*(?:{_OBJECTS})(?:b?[<>]?[%V]|(?![rRb%VHX]))", not_moved),
    (rf"(?:{_SUBJECTS})[is]*![is]*[rRdD](?:b?[<>]?[%V]|(?![b%VHXC]))", not_moved),
    (rf"Z(?:{_OBJECTS}){_ROOM}", without_moving),
    (rf"[kZ]?z(?:{_OBJECTS})[{{}}]|[kZ]?(?:{_SUBJECTS})[ikZ]*z[{{}}]", same_or),
    (rf"[<>]z(?:{_OBJECTS})", same_or),
    (r"C[is]*[<>]%[<>](?=[zTw@.,&]|$)", beside_now),
)
