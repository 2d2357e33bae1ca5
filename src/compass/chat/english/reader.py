"""Reads one message in plain English by rules.

The message is cut into words, the words become columns, labels, quantities and other tags
(`tagger`), and patterns over those tags (`rules`, `goals`, `edits`, ...) note what they mean. The
same message on the same table always has the same reading.
"""

from collections.abc import Mapping
from functools import partial

from compass.chat.draft import CHARACTERS, Act, Draft, Link, Options, Reading, Slot
from compass.chat.english import cues, dialogue_acts, question_kind
from compass.chat.english.certainty import Certainty, take_certainty
from compass.chat.english.gather import (
    checked_rules,
    draft_of,
    kind_from,
    later_kind,
    read_patterns,
    settle_columns,
    settle_equals,
    settle_goals,
)
from compass.chat.english.items import Item
from compass.chat.english.link import Index
from compass.chat.english.marked_labels import MarkedText, masked
from compass.chat.english.revise import bare_number, loose_bounds, swapped
from compass.chat.english.scan import Scan
from compass.chat.english.tagger import tag_items, take_row, tokenize
from compass.chat.english.tags import Tag
from compass.chat.english.unmatched import UnmatchedCondition, is_unknown, unmatched_conditions
from compass.chat.english.vocabulary import index_of
from compass.chat.english.words import plain
from compass.domain.errors import BadInput
from compass.domain.expression import names_in
from compass.domain.query import Kind
from compass.domain.space import Space


def read(
    text: str, space: Space, *, expecting: Slot | None = None, before: Draft | None = None
) -> Reading:
    """What a message states about this table, read by rules.

    `expecting` is the part that was asked for, `before` the draft that is known so far.
    """
    _check(text)
    reading = _read(text, space, expecting, before)
    return reading.model_copy(
        update={
            "direction": cues.direction(text),
            "adds": cues.adds(text),
            "further": cues.asks_further(text),
            "ordinal": cues.ordinal(text),
        }
    )


def _read(text: str, space: Space, expecting: Slot | None, before: Draft | None) -> Reading:
    marked, marks = masked(text, index_of(space).signed_labels)
    message = plain(marked)
    act = dialogue_acts.act_of(message, expecting)
    if act is not None and act is not Act.INFORM:
        return Reading(act=act, parts=Draft(count=dialogue_acts.count_in(message)))
    act, rest, correction = dialogue_acts.opening(message)
    certainty, rest = take_certainty(rest, space.names)
    scan = _scan(rest, space, before, marks)
    if expecting not in {None, Slot.KIND} and question_kind.kind_of(rest) is None:
        scan.stated_kind = None
    correction = correction or bool(scan.dropped)
    reading = _reading(scan, act, correction=correction, expecting=expecting, before=before)
    return _with_certainty(reading, certainty)


def _with_certainty(reading: Reading, certainty: Certainty) -> Reading:
    """The reading with what a message says about the search as a whole."""
    options = Options(chance=certainty.chance, beyond=certainty.beyond is True)
    note = ""
    if certainty.impossible:
        words = " and ".join(f"'{one}'" for one in certainty.impossible)
        note = f"No run meets a goal with a chance of 0 or 100 %, so I left out {words}"
    return reading.model_copy(
        update={
            "parts": reading.parts.model_copy(update={"options": options}),
            "within": certainty.beyond is False,
            "note": note,
        }
    )


def _check(text: str) -> None:
    if len(text) > CHARACTERS:
        raise BadInput(
            f"the message has {len(text):,} characters; the limit is {CHARACTERS:,}",
            hint="say it in fewer words, or in several messages",
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(
            "the message holds a character that is broken", hint="write it again"
        ) from None


def _scan(text: str, space: Space, before: Draft | None, marks: Mapping[str, str]) -> Scan:
    """The message scanned as the question that it turns out to be."""
    index = index_of(space)
    source = tokenize(text, marks)
    row, items = take_row(tag_items(source, index))
    known = before.kind if before is not None else None
    kind = question_kind.kind_of(text) or known
    scanned = partial(_scanned, items, index=index, row=row, source=source)
    scan = scanned(kind=kind)
    kind = kind_from(scan, text) or known
    if kind is not scan.kind:
        scan = scanned(kind=kind)
    scan.stated_kind = kind_from(scan, text) if known is None else later_kind(scan, text)
    return scan


def _scanned(
    items: list[Item], *, kind: Kind | None, index: Index, row: int | None, source: MarkedText
) -> Scan:
    scan = Scan(items=items, index=index, kind=kind, source=source, row=row)
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
    unmatched = unmatched_conditions(scan)
    # A column of a condition that cannot be placed is not asked for instead.
    scan.used.update(place for one in unmatched for place in range(one.start, one.end))
    without = settle_columns(scan, expecting)
    settle_goals(scan)
    where, bad = checked_rules(scan)
    scan.kind = scan.stated_kind
    parts = draft_of(scan, baseline, where)
    if not (unmatched or without) and parts == Draft(kind=parts.kind):
        unmatched = _only_asked(scan)
    return Reading(
        act=act,
        parts=parts,
        dropped=tuple(scan.dropped),
        correction=correction,
        links=_links(scan, without),
        unknown=tuple(dict.fromkeys([*_unknown(scan, unmatched), *scan.unused_words, *bad])),
        misfits=tuple((one.column, one.value) for one in unmatched if one.column is not None),
        outcome_without_goal=tuple(without),
    )


def _links(scan: Scan, without: list[str]) -> tuple[Link, ...]:
    """The mappings that something was made of."""
    used = {*scan.edits, *scan.goals, *scan.keep, *scan.dropped, *scan.asked, *without}
    used |= {equal.column for equal in scan.equals}
    used |= {name for rule in scan.rules for name in names_in(rule)}
    return tuple(link for link in scan.links.values() if link.columns[0] in used)


def _only_asked(scan: Scan) -> list[UnmatchedCondition]:
    """What about bananas?: the unknown words of a question that only its wording tells."""
    if scan.stated_kind is None or question_kind.kind_of(scan.source.text) is not None:
        return []
    places = [p for p in scan.at(range(len(scan.tags)), Tag.WORD) if is_unknown(scan, p)]
    return [
        UnmatchedCondition(place, place + 1, scan.verbatim(place, place + 1)) for place in places
    ]


def _unknown(scan: Scan, unmatched: list[UnmatchedCondition]) -> list[str]:
    """Conditions, numbers, and words beside numbers and bounds, that nothing was made of."""
    found = [one.words for one in unmatched]
    within = {place for one in unmatched for place in range(one.start, one.end)}
    for place, item in enumerate(scan.items):
        if place in within:
            continue
        before = scan.tags[:place][-1:]
        after = scan.tags[place + 1 : place + 2]
        if item.tag == Tag.WORD:
            unused_before = place - 1 not in scan.used
            if before and before in "V<>mMxX" and unused_before and len(item.words) > 2:
                number = f"{scan.items[place - 1].words} " if before == "V" else ""
                found.append(f"{number}{item.words}")
        elif item.tag == Tag.NUMBER and place not in scan.used and after != "w":
            found.append(item.words)
    return found
