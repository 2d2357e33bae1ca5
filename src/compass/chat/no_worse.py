"""Patterns of outcomes that must not get worse: what they are now, or anything better."""

import re
from typing import Literal as OneOf

from compass.chat.goals import LIST, concept_at
from compass.chat.phrases import OR_BETTER
from compass.chat.scan import Direction, Scan
from compass.domain.goal import Same
from compass.domain.space import Number, Role

Side = OneOf["less", "more"]

# Said of a parameter, both mean that it is left alone.
_NOT_MORE = frozenset(
    {"without increasing", "without raising", "without more", "without using more"}
)
_NOT_LESS = frozenset(
    {"without decreasing", "without lowering", "without reducing", "without less"}
)


def better_side(better: Direction) -> Side:
    """The side on which an outcome is better."""
    return "less" if better == "minimize" else "more"


def equally(scan: Scan, match: re.Match[str]) -> bool:
    """It stays equally fast: the time is to stay the same; or no slower: that or less."""
    place = match.end() - 1
    found = concept_at(scan, place)
    if found is None:
        return False
    name, better = found
    said = scan.items[place].part
    beyond = better_side(better) if said and said.or_better else None
    scan.goals[name] = Same(beyond=beyond)
    return True


def spared(scan: Scan, match: re.Match[str]) -> bool:
    """Accuracy must not suffer; without sacrificing accuracy: the column tells what better is."""
    return _left(scan, match, None)


def not_moved(scan: Scan, match: re.Match[str]) -> bool:
    """Do not increase the runtime; gflops should not drop; no more energy."""
    verb = scan.tags[scan.at(range(*match.span()), "rRdD")[0]]
    return _left(scan, match, "less" if verb in "RD" else "more")


def without_moving(scan: Scan, match: re.Match[str]) -> bool:
    """Without increasing the energy."""
    said = scan.items[scan.at(range(*match.span()), "Z")[0]].words.lower()
    if said not in _NOT_MORE | _NOT_LESS:
        return False
    return _left(scan, match, "less" if said in _NOT_MORE else "more")


def same_or(scan: Scan, match: re.Match[str]) -> bool:
    """The same runtime or less; at least the same gflops; at most 5 % above what it is now."""
    span = range(*match.span())
    sign = scan.at(span, "<>{}")[0]
    shares = scan.at(span, "%")
    tolerance = scan.quantity(shares[0]).value if shares else None
    outcomes = all(_is_outcome(scan, scan.column(p, Role.OUTCOME)) for p in scan.at(span, "C"))
    if not outcomes or (tolerance is not None and not 0 < tolerance < 1):
        return False
    if scan.items[sign].words.lower() in OR_BETTER:
        return _left(scan, match, None, tolerance)
    return _left(scan, match, "less" if scan.tags[sign] in "<{" else "more", tolerance)


def _left(
    scan: Scan, match: re.Match[str], side: Side | None, tolerance: float | None = None
) -> bool:
    """Outcomes are left as they are, or go to this side (None: the better one).

    A parameter is kept: that it stays within what it is now cannot be said of one.
    """
    for place in scan.at(range(*match.span()), "C"):
        name = scan.column(place, Role.OUTCOME)
        if _is_outcome(scan, name):
            beyond = side or better_side(scan.better(name))
            scan.goals[name] = Same(tolerance=tolerance, beyond=beyond)
        elif name not in scan.keep:
            scan.keep.append(name)
    return True


def _is_outcome(scan: Scan, name: str) -> bool:
    return scan.outcome(name) and isinstance(scan.parameter(name), Number)


PATTERNS = (
    (r"k?@?Q", equally),
    (rf"Q[io]*(?:{LIST})|(?:{LIST})[is]*Q", spared),
    (rf"![is]*[rRdD][io]*(?:{LIST})(?![rRb%VHX])", not_moved),
    (rf"(?:{LIST})[is]*![is]*[rRdD](?![b%VHXC])", not_moved),
    (rf"Z(?:{LIST})", without_moving),
    (rf"[kZ]?z(?:{LIST})[{{}}]|[kZ]?(?:{LIST})[ikZ]*z[{{}}]", same_or),
    (rf"[<>]z(?:{LIST})", same_or),
    (rf"(?:{LIST})i?<%>(?=[zTw@.,&]|$)|(?:{LIST})i?>%<(?=[zTw@.,&]|$)", same_or),
)
