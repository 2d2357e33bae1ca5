"""One message in plain English into a reading: what it says on one table.

No language model: the message is cut into words, the words become columns, labels, quantities
and parts of speech (`tag`), and patterns over those parts (`rules`, `goals`, `edits`) note what
they mean. The same message on the same table always has the same reading.
"""

from compass.chat import acts
from compass.chat.draft import Act, Draft, Link, Reading, Slot
from compass.chat.formal import read_formal
from compass.chat.gather import (
    checked_rules,
    draft_of,
    kind_from,
    read_patterns,
    settle_columns,
    settle_equals,
    settle_goals,
    told_again,
)
from compass.chat.link import Index
from compass.chat.parts import Item
from compass.chat.revise import bare_direction, bare_number, loose_bounds, swapped
from compass.chat.scan import Scan
from compass.chat.tag import tagged, take_row
from compass.chat.vocabulary import index_of
from compass.chat.words import plain
from compass.domain.errors import BadInput
from compass.domain.expression import names_in
from compass.domain.query import Kind
from compass.domain.space import Space

LONGEST = 2000


def understand(
    text: str, space: Space, *, expecting: Slot | None = None, before: Draft | None = None
) -> Reading:
    """What a message says on this table; `expecting` is what was asked, `before` what is known."""
    _check(text)
    if acts.is_formal(text):
        return read_formal(text, space)
    message = plain(text)
    act = acts.act_of(message, expecting)
    if act is not None and act is not Act.SAY:
        return Reading(act=act, said=Draft(count=acts.count_in(message)))
    act, rest, correction = acts.opening(message)
    scan = _read(rest, space, before)
    if expecting not in {None, Slot.KIND} and acts.kind_of(rest) is None:
        scan.told_kind = None
    correction = correction or bool(scan.dropped)
    return _reading(scan, act, correction=correction, expecting=expecting, before=before)


def _check(text: str) -> None:
    if len(text) > LONGEST:
        raise BadInput(
            f"the message has {len(text):,} characters; the limit is {LONGEST:,}",
            hint="say it in fewer words, or in several messages",
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(
            "the message holds a character that is broken", hint="write it again"
        ) from None


def _read(text: str, space: Space, before: Draft | None) -> Scan:
    """The message scanned as the question that it turns out to be."""
    index = index_of(space)
    row, items = take_row(tagged(text, index))
    known = before.kind if before is not None else None
    kind = acts.kind_of(text) or known
    scan = _scanned(items, kind=kind, index=index, row=row)
    kind = kind_from(scan, text) or known
    if kind is not scan.kind:
        scan = _scanned(items, kind=kind, index=index, row=row)
    scan.told_kind = kind_from(scan, text) if known is None else told_again(scan, text)
    return scan


def _scanned(items: list[Item], *, kind: Kind | None, index: Index, row: int | None) -> Scan:
    scan = Scan(items=items, index=index, kind=kind, row=row)
    read_patterns(scan)
    return scan


def _reading(
    scan: Scan, act: Act, *, correction: bool, expecting: Slot | None, before: Draft | None
) -> Reading:
    if correction:
        swapped(scan, before)
    loose_bounds(scan, before)
    bare_number(scan, expecting, before, correction=correction)
    baseline = settle_equals(scan, expecting)
    without = settle_columns(scan, expecting)
    settle_goals(scan)
    where, bad = checked_rules(scan)
    scan.kind = scan.told_kind
    return Reading(
        act=act,
        said=draft_of(scan, baseline, where),
        dropped=tuple(scan.dropped),
        correction=correction,
        links=_links(scan, without),
        unknown=tuple(dict.fromkeys([*_unknown(scan), *scan.lost, *bad])),
        outcome_without_goal=tuple(without),
        direction=bare_direction(scan),
    )


def _links(scan: Scan, without: list[str]) -> tuple[Link, ...]:
    """The mappings that something was made of."""
    used = {*scan.edits, *scan.goals, *scan.keep, *scan.dropped, *scan.asked, *without}
    used |= {equal.column for equal in scan.equals}
    used |= {name for rule in scan.rules for name in names_in(rule)}
    return tuple(link for link in scan.links.values() if link.columns[0] in used)


def _unknown(scan: Scan) -> list[str]:
    """Words beside numbers, bounds and superlatives, and numbers, that nothing was made of."""
    found: list[str] = []
    for place, item in enumerate(scan.items):
        before = scan.tags[:place][-1:]
        after = scan.tags[place + 1 : place + 2]
        if item.tag == "w":
            unused_before = place - 1 not in scan.used
            if before and before in "V<>mMxX" and unused_before and len(item.words) > 2:
                number = f"{scan.items[place - 1].words} " if before == "V" else ""
                found.append(f"{number}{item.words}")
        elif item.tag == "V" and place not in scan.used and after != "w":
            found.append(item.words)
    return found
