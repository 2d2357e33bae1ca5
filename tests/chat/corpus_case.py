"""The corpus of plain sentences: its tables, its sentences and how a reading of them is scored.

`python -m tests.chat.corpus_case develop` prints how well `compass.chat.english` reads one set;
`-v` adds the sentences that it reads wrongly. corpus/README.md tells what counts as right.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from tests.chat.corpus_rules import Conditions, number_text, value_text

from compass.chat.draft import Draft
from compass.domain.errors import CompassError
from compass.domain.goal import Change as ByAmount
from compass.domain.goal import Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.query import Edit, Given, Kind, Plus, Query, Row, SetTo, Times
from compass.domain.space import Role, Space
from compass.language.bind import bind_query, bind_value
from compass.language.format import format_name
from compass.language.parse import parse_query

FOLDER = Path(__file__).parent / "corpus"
HALVES = ("develop", "score")
SETS = (*HALVES, "practice")
Slots = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Sentence:
    """A sentence and what it tells. Any of `wants` is right; `free` slots are not judged."""

    id: str
    table: str
    text: str
    tags: tuple[str, ...]
    wants: tuple[Draft, ...]
    free: frozenset[str]


@dataclass(frozen=True)
class Score:
    """Slots that are right, that are wrong (or not told at all), and that are missing."""

    right: Slots
    wrong: Slots
    missing: Slots
    replaced: int  # wrong slots that stand for a missing one: counted once, as wrong

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many are right, wrong and missing."""
        return len(self.right), len(self.wrong), len(self.missing) - self.replaced


@cache
def tables() -> dict[str, Space]:
    """Every table by name: those of both halves and those of practice alone."""
    return {**tables_in("tables"), **tables_in("practice_tables")}


@cache
def tables_in(file: str) -> dict[str, Space]:
    """The tables of one file by name."""
    raw = _read(file)
    return {name: space_of(columns) for name, columns in raw.items()}


def space_of(columns: Iterable[Mapping[str, Any]]) -> Space:
    kinds = ({"kind": "category" if "values" in c else "number", **c} for c in columns)
    return Space.model_validate({"parameters": list(kinds)})


@cache
def sentences(half: str) -> tuple[Sentence, ...]:
    """The sentences of one set: develop, score or practice."""
    return tuple(sentence_of(item, tables()[item["table"]]) for item in _read(half))


def _read(file: str) -> Any:
    # Every test worker reads all of it before its first test: the quick parser is worth having.
    return yaml.load((FOLDER / f"{file}.yaml").read_text("utf-8"), yaml.CSafeLoader)


def sentence_of(item: Mapping[str, Any], space: Space) -> Sentence:
    """One sentence of a file, bound to its table."""
    want = dict(item["want"])
    free = set(item.get("free", ()))
    if want.get("kind") == "any":
        free.add("kind")
        del want["kind"]
    wants = [want, *({**want, **other} for other in item.get("also", ()))]
    return Sentence(
        id=item["id"],
        table=item["table"],
        text=item["text"],
        tags=tuple(item["tags"]),
        wants=tuple(_draft(one, space) for one in wants),
        free=frozenset(free),
    )


def _draft(want: Mapping[str, Any], space: Space) -> Draft:
    """What a sentence tells, bound to the table; raises where it does not fit."""
    unknown = set(want) - {*Draft.model_fields, "from"} | ({"baseline"} & set(want))
    if unknown:
        raise ValueError(f"no such slot: {', '.join(sorted(unknown))}")
    goals = {name: _goal(name, str(text)) for name, text in want.get("goals", {}).items()}
    change = {name: _edit(name, str(text)) for name, text in want.get("change", {}).items()}
    start = want.get("from")
    baseline: Row | Given | None = None
    if isinstance(start, dict):
        baseline = Given(config=start)
    elif start is not None:
        baseline = Row(row=int(start.removeprefix("row ")))
    plain = {k: v for k, v in want.items() if k not in {"goals", "change", "from"}}
    draft = Draft(**plain, goals=goals, change=change, baseline=baseline)
    for name in (*draft.ask, *draft.keep):
        space[name]
    found = slots(draft, space)
    broken = [text for _, text in found if text.startswith("unreadable")]
    if broken:
        raise ValueError("; ".join(broken))
    return draft


def _goal(name: str, text: str) -> Goal:
    text = "?" if text == "observe" else text
    query = parse_query(f"Reconfigure X = {{}} to achieve Y = {{{format_name(name)}: {text}}}")
    return query.goals[name]


def _edit(name: str, text: str) -> Edit:
    query = parse_query(f"What if we change X = {{{format_name(name)}: old -> {text}}}")
    return query.change[name]


def slots(draft: Draft, space: Space, kind: Kind | None = None) -> Slots:
    """What a draft tells, as (slot, canonical text); `kind` is the question it stands in."""
    what_if = (kind or draft.kind) is Kind.WHAT_IF
    found: set[tuple[str, str]] = {("ask", name) for name in draft.ask}
    found |= {("keep", name) for name in draft.keep}
    found |= {("kind", draft.kind.value)} if draft.kind is not None else set()
    found |= {("everything", "true")} if draft.everything else set()
    found |= {("count", str(draft.count))} if draft.count is not None else set()
    conditions = Conditions(space)

    def read(slot: str, source: str, tell: Callable[[], str | None]) -> None:
        try:
            text = tell()
        except (CompassError, ValueError) as problem:
            text = f"unreadable {source}: {problem}"
        if text is not None:
            found.add((slot, text))

    for rule in draft.where:
        read("where", rule, partial(conditions.add_text, rule))
    watched = {name for name, goal in draft.goals.items() if isinstance(goal, Observe)}
    for name, goal in draft.goals.items():
        # To ask for every outcome is to ask for nothing in particular.
        if not (isinstance(goal, Observe) and watched == set(space.having(Role.OUTCOME))):
            read(f"goal {name}", f"{goal}", partial(_goal_text, name, goal, conditions))
    for name, edit in draft.change.items():
        tell = partial(_edit_text, name, edit, conditions, tried=what_if)
        read(f"change {name}", f"{edit}", tell)
    given = draft.baseline.config if isinstance(draft.baseline, Given) else {}
    for name, value in {**given, **draft.stated}.items():
        read(f"old {name}", f"{value}", partial(_old_text, name, value, conditions))
    if isinstance(draft.baseline, Row):
        found.add(("from", f"row {draft.baseline.row}"))
    return frozenset(found | conditions.slots())


def _goal_text(name: str, goal: Goal, conditions: Conditions) -> str | None:
    if not isinstance(goal, Observe):
        query = Query(kind=Kind.RECONFIGURE, goals={name: goal})
        goal = bind_query(query, conditions.space).goals[name]
    match goal:
        case Within(low=low, high=high):
            if low is not None:
                conditions.bounds[name].append((">=", low))
            if high is not None:
                conditions.bounds[name].append(("<=", high))
            return None
        case IsClass(value=value):
            conditions.add_value(name, value)
            return None
        case Extreme(direction=direction):
            return direction
        case ByAmount(direction=direction, by=by, relative=True):
            return f"{direction} by {by * 100:.3g}%"
        case ByAmount(direction=direction, by=by):
            return f"{direction} by {number_text(by)}"
        case Reach(value=value):
            return f"to {number_text(value)}"
        case Same(tolerance=tolerance):
            return "same" if tolerance is None else f"same within {tolerance * 100:.3g}%"
        case _:
            return "observe"


def _edit_text(name: str, edit: Edit, conditions: Conditions, *, tried: bool) -> str | None:
    query = Query(kind=Kind.WHAT_IF, change={name: edit})
    match bind_query(query, conditions.space).change[name]:
        case SetTo(value=value) if not tried:
            # To be given a value and to be bound to it are the same where nothing is tried out.
            conditions.add_value(name, value)
            return None
        case SetTo(value=value):
            return f"= {value_text(value)}"
        case Times(factor=factor):
            return f"* {factor:.3g}"
        case Plus(amount=amount):
            return f"+ {number_text(amount)}"


def _old_text(name: str, value: Any, conditions: Conditions) -> str | None:
    parameter = conditions.space[name]
    bound = bind_value(value, parameter)
    if parameter.role is Role.CONTEXT:
        # What cannot be set is the same before and after, so it is a condition as well.
        conditions.add_value(name, bound)
        return None
    return value_text(bound)


def score(expected: Sentence, got: Draft, space: Space | None = None) -> Score:
    """How well a draft tells what the sentence says, by the want that it comes nearest to."""
    table = space or tables()[expected.table]
    scores = [_compare(want, got, expected, table) for want in expected.wants]
    return min(scores, key=lambda s: (s.counts[1] + s.counts[2], -s.counts[0]))


def _compare(want: Draft, got: Draft, sentence: Sentence, space: Space) -> Score:
    wanted = {s for s in slots(want, space) if s[0] not in sentence.free}
    stated = {s for s in slots(got, space, want.kind) if s[0] not in sentence.free}
    for slot, text in sorted(stated - wanted):
        # `old -> 300` is to go there or beyond: the same as the bound that was wanted.
        meant = {(slot, f"{op} {text.removeprefix('to ')}") for op in ("<=", ">=")} & wanted
        if text.startswith("to ") and meant:
            stated = stated - {(slot, text)} | meant
    wrong, missing = stated - wanted, wanted - stated
    places = Counter(slot for slot, _ in missing)
    replaced = sum((Counter(slot for slot, _ in wrong) & places).values())
    return Score(frozenset(stated & wanted), frozenset(wrong), frozenset(missing), replaced)


def accuracy(counts: Iterable[tuple[int, int, int]]) -> float:
    """The share of slots that are right: right / (right + wrong + missing)."""
    every = list(counts)
    right, slots_in_all = sum(c[0] for c in every), sum(sum(c) for c in every)
    return right / max(slots_in_all, 1)


def report(half: str, read: Callable[[str, Space], Draft], *, verbose: bool = False) -> str:
    """The accuracy on one set in words: in all, and by slot, table and tag."""
    groups: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    lines, whole = [], 0
    for sentence in sentences(half):
        result = score(sentence, read(sentence.text, tables()[sentence.table]))
        perfect = not any(result.counts[1:])
        whole += perfect
        for group in ("all", f"table {sentence.table}", *(f"tag {t}" for t in sentence.tags)):
            groups[group].append(result.counts)
        for kind, counts in _by_slot(result).items():
            groups[f"slot {kind}"].append(counts)
        if verbose and not perfect:
            lines += [f"{sentence.id}: {sentence.text}"]
            lines += [f"    missing {slot}: {text}" for slot, text in sorted(result.missing)]
            lines += [f"    wrong   {slot}: {text}" for slot, text in sorted(result.wrong)]
    lines += [f"{half}: {whole} of {len(sentences(half))} sentences without an error"]
    for group in ("all", *sorted(groups.keys() - {"all"})):
        share, slots_of = accuracy(groups[group]), sum(map(sum, groups[group]))
        lines.append(f"{group:28} {100 * share:6.1f} % of {slots_of} slots")
    return "\n".join(lines)


def _by_slot(result: Score) -> dict[str, tuple[int, int, int]]:
    """The counts of each sort of slot: the first word of its name."""
    parts = (result.right, result.wrong, result.missing)
    sorts = {slot.split()[0] for part in parts for slot, _ in part}
    found = {}
    for sort in sorts:
        right, wrong, missing = (
            [slot for slot, _ in part if slot.split()[0] == sort] for part in parts
        )
        replaced = (Counter(wrong) & Counter(missing)).total()
        found[sort] = (len(right), len(wrong), len(missing) - replaced)
    return found


def main() -> None:
    """Score `compass.chat.english` on one set and print it."""
    parser = argparse.ArgumentParser(description="slot accuracy of the chat on plain sentences")
    parser.add_argument("half", choices=SETS)
    parser.add_argument("-v", "--verbose", action="store_true", help="show the failures")
    options = parser.parse_args()
    # The corpus can be checked without the part that it judges.
    from compass.chat import english

    print(
        report(
            options.half,
            lambda text, space: english.read(text, space).parts,
            verbose=options.verbose,
        )
    )


if __name__ == "__main__":
    main()
