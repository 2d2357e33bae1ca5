"""From what the patterns found to a draft: the kind of question, values, columns and goals."""

import re
from collections.abc import Iterator
from dataclasses import replace

from compass.chat.draft import Draft, Slot
from compass.chat.english import (
    bounds,
    choices,
    edits,
    goals,
    no_worse,
    question_kind,
    relations,
    relative_goals,
    rules,
)
from compass.chat.english.scan import PARAMETERS, Equal, Scan, equality, set_to
from compass.chat.english.tags import Tag
from compass.domain.errors import CompassError
from compass.domain.goal import Change, Extreme, Observe, Reach, Same, Within
from compass.domain.query import Baseline, Given, Kind, Row, SetTo
from compass.domain.space import Category, Number, Role
from compass.language import bind_rule, format_rule, parse_rule

_GRAMMAR = tuple(
    (re.compile(pattern), handler)
    for pattern, handler in (
        *choices.PATTERNS,
        *edits.FIRST,
        *bounds.FIRST,
        *relations.PATTERNS,
        *no_worse.PATTERNS,
        *relative_goals.FIRST,
        *goals.PATTERNS,
        *edits.LAST,
        *bounds.PATTERNS,
        *rules.PATTERNS,
    )
)
_PRAISE = frozenset({"best", "optimal", "ideal", "optimum"})
_SUPPLY = frozenset({"i have", "we have", "it has"})
_IMPROVED = frozenset({"better", "improve", "improvement", "improvement in"})
_SEEKING = frozenset(
    [
        "which",
        "which one",
        "how many",
        "what number of",
        "recommend",
        "suggest",
        "find",
        "pick",
        "choose",
        "propose",
        "what value of",
        "which number of",
        "what kind of",
        "which kind of",
        "give me",
        "list",
    ]
)
_BREAKS = frozenset(".rRmMFxqOae")


def read_patterns(scan: Scan) -> None:
    """Go through the parts from left to right; the first pattern that makes sense takes them."""
    place = 0
    while place < len(scan.tags):
        for pattern, handler in _GRAMMAR:
            match = pattern.match(scan.tags, place)
            if match is None or match.end() == place:
                continue
            taken = handler(scan, match)
            if taken:
                end = match.end() if taken is True else taken
                scan.used.update(range(place, end))
                place = end
                break
        else:
            place += 1


def kind_from(scan: Scan, text: str) -> Kind | None:
    """Which question it is, by the wording and by what was found."""
    named = question_kind.kind_of(text)
    relative = scan.relative or any(
        isinstance(goal, Change | Reach | Same) for goal in scan.goals.values()
    )
    started = scan.row is not None or any(
        item.tag == Tag.CURRENTLY and item.words.lower() not in _SUPPLY for item in scan.items
    )
    changed = bool(scan.edits or scan.stated)
    bounded = any(isinstance(goal, Extreme | Change | Within) for goal in scan.goals.values())
    if named is Kind.RECOMMEND and (scan.row is not None or relative):
        return Kind.RECONFIGURE
    if named is not None:
        return named
    if _asks_what_follows(scan, text):
        return Kind.WHAT_IF
    if (changed or scan.equals) and not (scan.goals or scan.asked) and question_kind.suggests(text):
        return Kind.WHAT_IF
    if changed and not bounded and question_kind.tries(text):
        return Kind.WHAT_IF
    if (changed or scan.equals) and question_kind.asks_whether(text):
        return Kind.WHAT_IF
    if (changed or scan.equals) and not bounded and question_kind.foresees(text):
        return Kind.WHAT_IF
    if changed and not scan.goals and (scan.row is not None or question_kind.wants(text)):
        return Kind.WHAT_IF
    if changed and not (scan.goals or scan.asked) and text.rstrip().endswith("?"):
        return Kind.WHAT_IF
    if relative or (started and (scan.goals or scan.row is not None)):
        return Kind.RECONFIGURE
    if changed and question_kind.tries(text):
        return Kind.WHAT_IF
    sought = any(isinstance(g, Extreme) for g in scan.goals.values()) and scan.count
    if question_kind.wants(text) or sought or scan.asked or _asks_alone(scan):
        return Kind.RECOMMEND
    return None


def _questions(scan: Scan) -> Iterator[range]:
    """The sentences that end with a question mark."""
    for place, item in enumerate(scan.items):
        if item.tag == Tag.END and item.words == "?" and place:
            yield scan.sentence(place - 1)


def _asks_alone(scan: Scan) -> bool:
    """Lr? Batch?: a parameter and a question mark."""
    for sentence in _questions(scan):
        columns = scan.at(sentence, Tag.COLUMN)
        only = scan.tags[sentence.start : sentence.stop].strip("C&,|") == ""
        if columns and only and not scan.outcome(scan.column(columns[0])):
            return True
    return False


def _asks_what_follows(scan: Scan, text: str) -> bool:
    """Whether something is changed and a question asks what an outcome does then."""
    tried = [e for e in scan.equals if len(e.values) == 1 and not e.negative]
    knobs = [e for e in tried if scan.parameter(e.column).role is Role.KNOB]
    switched = any(e.cue == "s" for e in knobs) or (bool(knobs) and scan.row is not None)
    switched = switched or (bool(knobs) and _ends_with_outcome(scan))
    moved = re.search("f[VL]C?t[VL]", scan.tags) is not None
    if scan.asked or not (scan.edits or scan.stated or switched or moved):
        return False
    if any(isinstance(goal, Change | Reach | Same) for goal in scan.goals.values()):
        return False
    if any(isinstance(goal, Within) for goal in scan.goals.values()) and not question_kind.doubts(
        text
    ):
        return False
    return any(_asks_outcome(scan, sentence) for sentence in _questions(scan))


def _ends_with_outcome(scan: Scan) -> bool:
    """16 nodes, mixed precision. Runtime?"""
    ending = re.search(r"(?:^|[.,=])w?(C(?:[&,]+C)*)\.$", scan.tags)
    if ending is None or scan.items[-1].words != "?":
        return False
    return all(
        scan.outcome(scan.column(p, Role.OUTCOME))
        for p in scan.at(range(*ending.span(1)), Tag.COLUMN)
    )


def _asks_outcome(scan: Scan, sentence: range) -> bool:
    """Is accuracy going to suffer?; sypd, energy?; but not: which nodes give the best energy?"""
    tags = scan.tags[sentence.start : sentence.stop]
    praised = any(
        scan.items[p].words.lower() not in _IMPROVED for p in scan.at(sentence, Tag.OPTIMIZE)
    )
    if praised or set(tags) & set("FmMn^c"):
        return False
    columns = scan.at(sentence, Tag.COLUMN)
    for place in scan.at(sentence, Tag.WHICH):
        behind = scan.tags[place + 1 :].lstrip("iow")
        after = len(scan.tags) - len(behind)
        about = after in columns and scan.outcome(scan.column(after, Role.OUTCOME))
        asked = scan.items[place].words.lower()
        if asked == "which one" or (asked in _SEEKING and not about):
            return False
    bare = re.search(r"a[rR+w-]+$", tags) is not None  # how much do we save?
    return (
        bare
        or Tag.COMPARATIVE in tags
        or any(scan.outcome(scan.column(p, Role.OUTCOME)) for p in columns)
    )


def later_kind(scan: Scan, text: str) -> Kind | None:
    """The kind that a later message names; a relative goal needs a start to be relative to."""
    relative = any(isinstance(goal, Change | Reach) for goal in scan.goals.values())
    named = question_kind.kind_of(text)
    if scan.kind is Kind.RECOMMEND and relative and named in {None, Kind.RECOMMEND}:
        return Kind.RECONFIGURE
    if (
        named is None
        and (scan.edits or scan.equals)
        and not scan.goals
        and question_kind.suggests(text)
    ):
        return Kind.WHAT_IF
    return named


def _is_given(scan: Scan, equal: Equal) -> bool:
    """Whether a value tells what is used now."""
    if equal.negative or len(equal.values) != 1:
        return False
    for mark in scan.at(scan.sentence(equal.place), Tag.CURRENTLY + Tag.MEASURED):
        if scan.items[mark].words.lower() == "needs":
            continue
        low, high = sorted((mark, equal.place))
        if not _BREAKS & set(scan.tags[low:high]):
            return True
    return False


def settle_equals(scan: Scan, expecting: Slot | None) -> Baseline | None:
    """Values that were named: tried out, used now, or a rule; gives the baseline."""
    given: dict[str, object] = {}
    explicit = bool(scan.edits)
    for equal in _joined(scan):
        start = expecting is Slot.BASELINE and not equal.negative and len(equal.values) == 1
        if scan.kind is not Kind.RECOMMEND and (start or _is_given(scan, equal)):
            given[equal.column] = equal.values[0]
        elif _is_tried(scan, equal, explicit):
            scan.edits.setdefault(equal.column, set_to(equal.values[0]))
        elif scan.kind is Kind.RECOMMEND and _is_supply(scan, equal):
            scan.compare(equal.column, "<=", equal.values[0])
        else:
            scan.rule(equality(equal.column, equal.values, negative=equal.negative))
    if scan.row is not None:
        return Row(row=scan.row)
    return Given.model_validate({"config": given}) if given else None


def _joined(scan: Scan) -> list[Equal]:
    """The values that were named; O2 here and O3 there allows both, never none."""
    kept: list[Equal] = []
    for equal in scan.equals:
        first = next((e for e in kept if e.column == equal.column), None)
        apart = first is not None and not set(first.values) & set(equal.values)
        label = isinstance(scan.parameter(equal.column), Category)
        if first is None or not (apart and label) or first.negative or equal.negative:
            kept.append(equal)
        elif scan.kind is not Kind.WHAT_IF and not any(_is_given(scan, e) for e in (first, equal)):
            both = replace(first, values=(*first.values, *equal.values))
            kept[kept.index(first)] = both
        else:
            kept.append(equal)
    return kept


def _is_supply(scan: Scan, equal: Equal) -> bool:
    """I have 8 nodes: no more than 8."""
    marks = [
        place
        for place in scan.at(scan.sentence(equal.place), Tag.CURRENTLY)
        if scan.items[place].words.lower() in _SUPPLY
    ]
    number = isinstance(scan.parameter(equal.column), Number)
    return number and bool(marks) and _is_given(scan, equal)


def _is_tried(scan: Scan, equal: Equal, explicit: bool) -> bool:
    if scan.kind is not Kind.WHAT_IF or equal.negative or len(equal.values) != 1:
        return False
    if scan.parameter(equal.column).role is not Role.KNOB:
        others = [e for e in scan.equals if scan.parameter(e.column).role is Role.KNOB]
        return not (explicit or others) and equal.cue in {"s", "=", ""}
    return not (explicit and equal.cue == "o" and not _connected(scan, equal))


def _connected(scan: Scan, equal: Equal) -> bool:
    """Whether `with 4 gpus` goes on with a change: row 12 again, but with ..."""
    before = scan.tags[: equal.place + 1].rstrip("o")
    return before.endswith(("&", ",")) or scan.row is not None


def leftovers(scan: Scan) -> Iterator[int]:
    """The places of columns that no pattern took."""
    return (p for p, tag in enumerate(scan.tags) if tag == Tag.COLUMN and p not in scan.used)


def settle_columns(scan: Scan, expecting: Slot | None) -> list[str]:
    """Columns that only were named: asked for, watched, or outcomes without a goal."""
    taken = {*scan.edits, *scan.goals, *scan.keep, *scan.dropped}
    without: list[str] = []
    for place in leftovers(scan):
        name = scan.column(place, *_expected_roles(expecting))
        if name in taken:
            continue
        if scan.outcome(name):
            if scan.kind is Kind.WHAT_IF and _is_noun(scan, place):
                continue
            if scan.kind is Kind.WHAT_IF:
                scan.observed.append(name)
            elif _is_praised(scan, place) and scan.parameter(name).kind == "number":
                scan.goals[name] = Extreme(direction=scan.better(name))
            else:
                without.append(name)
        elif _is_asked(scan, place, name, expecting) and name not in scan.asked:
            scan.asked.append(name)
        scan.used.add(place)
    return [name for name in dict.fromkeys(without) if name not in scan.goals]


def _is_noun(scan: Scan, place: int) -> bool:
    """Drop collective io: the word behind a switch only says what it switches."""
    before = scan.items[place - 1] if place else None
    if before is None or before.mention is None or before.end != scan.items[place].start:
        return False
    return isinstance(scan.parameter(scan.column(place - 1)), Category)


def _is_praised(scan: Scan, place: int) -> bool:
    """The best thread count for energy; the best balance of a and b."""
    words = {scan.items[p].words.lower() for p in scan.sentence(place)}
    before = scan.tags[:place].rstrip("C&,")[-1:]
    return bool(words & _PRAISE) and before != "" and before in "oBi"


def _expected_roles(expecting: Slot | None) -> tuple[Role, ...]:
    if expecting is Slot.GOAL:
        return (Role.OUTCOME,)
    return PARAMETERS if expecting in {Slot.PARAMETERS, Slot.CHANGE} else ()


def _is_asked(scan: Scan, place: int, name: str, expecting: Slot | None) -> bool:
    if scan.kind is Kind.WHAT_IF or expecting in {Slot.BASELINE, Slot.CONSTRAINTS, Slot.CONFIRM}:
        return False
    if expecting is Slot.PARAMETERS:
        return True
    if scan.tags[:place].endswith("p"):
        return False
    sentence = scan.sentence(place)
    roles = "".join(scan.items[p].tag + scan.items[p].others for p in sentence)
    context = scan.parameter(name).role is not Role.KNOB
    if context:
        return scan.tags[:place][-1:] == "a" and name not in {e.column for e in scan.equals}
    colons = [
        p for p in scan.at(range(sentence.start, place), Tag.EQUALS) if scan.items[p].words == ":"
    ]
    begin = colons[-1] + 1 if colons else sentence.start
    opening_list = scan.tags[begin:place].strip("C&,|") == ""
    if opening_list and scan.tags[place:].lstrip("C&,|")[:1] == "o":
        return True
    only_columns = not set(scan.tags[sentence.start : sentence.stop]) - set("C&,|wo")
    if only_columns and scan.tags.count(Tag.WORD) <= 1:
        return True
    listed = scan.tags[:place].rstrip("C&,|")
    verb = scan.items[len(listed) - 1].words.lower() if listed.endswith("s") else ""
    changed = "s" in roles and scan.kind is Kind.RECONFIGURE
    changed = changed or verb.startswith(("chang", "vary", "set"))
    return changed or bool(set(roles) & set("a~On"))


def settle_goals(scan: Scan) -> None:
    """A what-if watches outcomes; it does not set them goals."""
    if scan.kind is not Kind.WHAT_IF:
        return
    for name, goal in list(scan.goals.items()):
        if isinstance(goal, Extreme | Change | Reach) and scan.outcome(name):
            scan.goals[name] = Observe()
    for name in dict.fromkeys(scan.observed):
        if name not in scan.edits:
            scan.goals.setdefault(name, Observe())


def checked_rules(scan: Scan) -> tuple[tuple[str, ...], list[str]]:
    """The rules as text, and the texts of those that mean nothing on this table."""
    good: dict[str, None] = {}
    bad: list[str] = []
    for rule in scan.rules:
        try:
            text = format_rule(rule)
            good[format_rule(bind_rule(parse_rule(text), scan.index.space))] = None
        except (CompassError, TypeError, ValueError):
            bad.append(text)
    return tuple(good), bad


def draft_of(scan: Scan, baseline: Baseline | None, where: tuple[str, ...]) -> Draft:
    """The draft of everything that was found."""
    recommend = scan.kind is Kind.RECOMMEND
    fixed = {n: e for n, e in scan.edits.items() if isinstance(e, SetTo) or not recommend}
    busy = {*fixed, *scan.goals, *scan.keep}
    return Draft(
        kind=scan.kind,
        ask=tuple(name for name in scan.asked if name not in busy),
        everything=scan.everything,
        keep=tuple(scan.keep),
        change=fixed,
        stated={n: v for n, v in scan.stated.items() if n in fixed or n in scan.goals},
        goals=scan.goals,
        where=where,
        baseline=baseline,
        count=scan.count,
    )
