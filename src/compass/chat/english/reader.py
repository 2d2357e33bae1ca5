"""Reads one message in plain English: spans, then one grammar over them that must cover it.

What no clause covers is not passed over: it is given back as words that were not understood, for
the dialogue to ask about. The same message on the same table always has the same reading.
"""

import re
from dataclasses import replace

from compass.chat.draft import (
    CHARACTERS,
    Act,
    Draft,
    Inquiry,
    Link,
    Options,
    Reading,
    Slot,
)
from compass.chat.draft_columns import columns_of
from compass.chat.english import cues, dialogue_acts, question_kind
from compass.chat.english.certainty import Certainty, take_certainty
from compass.chat.english.clauses import Clauses
from compass.chat.english.facts import (
    Ask,
    Equal,
    Everything,
    Fact,
    Facts,
    Limit,
    Loose,
    LooseMove,
    Moved,
    Named,
    Relation,
    Start,
    Wanted,
    Watch,
)
from compass.chat.english.grammar import Node, Parse, parse
from compass.chat.english.inquiries import asks_next_runs, inquiry_in
from compass.chat.english.lexicon import ARTICLES, ASKED, LISTING, PHRASES, VALUE_FOLLOWS
from compass.chat.english.link import Index, Mention
from compass.chat.english.marked_labels import masked
from compass.chat.english.meaning import Meaning, kind_of
from compass.chat.english.spans import Span, Spans, spans_of
from compass.chat.english.vocabulary import index_of
from compass.chat.english.words import plain, word_set
from compass.domain.errors import BadInput
from compass.domain.goal import IsClass, Same
from compass.domain.query import Kind
from compass.domain.space import Number, Role, Space
from compass.language import format_value

_LEADING = frozenset({"WITH", "NOT", "BUT", "IS", "BE", "EQ"})
_STATED = frozenset(
    [
        "per",
        "is",
        "are",
        "=",
        "==",
        "<",
        ">",
        "<=",
        ">=",
        ":",
        "under",
        "below",
        "above",
        "over",
        "must",
        "should",
    ]
)
_WHOSE = word_set("i we my our it job run runs everything production usually normally baseline")
_SAYS = word_set("says say said wants insists asked asks demands told thinks claims expects")
_WANTING = word_set(
    "must should only need needs want please never keep recommend suggest "
    "find which what how give at least most under over below above"
)
_APART = frozenset(
    [
        ",",
        ".",
        ";",
        ":",
        "?",
        "!",
        "and",
        "but",
        "or",
        "with",
        "for",
        "on",
        "in",
        "so",
        "if",
        "that",
        "which",
        "where",
        "-",
        "&",
        "without",
        "using",
    ]
)
_TRAILING = frozenset({"PER", "BY", "TO", "TIMES"})
_NAMING = frozenset({Slot.PARAMETERS, Slot.COLUMNS, Slot.WORDS, Slot.GOAL, Slot.CHANGE})
_VERBS = frozenset({"MIN", "MAX", "OPT", "RED", "INC", "REACH", "SET", "KEEP", "MEASURED"})
_SWITCHING = word_set("switch switching change set move moving go going went moved")
_LINKING = ARTICLES | frozenset({"by", "to", "at", "of", "than"})
_TURNING = frozenset(
    {"NOT", "RED", "INC", "LESS", "MORE", "MIN", "MAX"}
)  # they can turn what is behind them
_ARITHMETIC = frozenset({"TIMES", "PRODUCT", "DIVIDED"})
_BOUNDARY = frozenset(",.;:?!()")
_INSTEAD = re.compile(r"\binstead\b(?! of)", re.IGNORECASE)
_WHICH_OF_THEM = re.compile(r"\bwhich (?:one|of (?:them|these|those|the two))\b", re.IGNORECASE)
_WHICH_OF = re.compile(
    r"\bwhich (?:has|have|is|gives|needs|keeps)\b|"
    r"\bshould (?:i|we) (?:take|use|pick|choose|go)\b",
    re.IGNORECASE,
)
_VERB = re.compile(r"(?:s|ed|ing)$")


def read(
    text: str, space: Space, *, expecting: Slot | None = None, before: Draft | None = None
) -> Reading:
    """What a message states about this table.

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


def _read(text: str, space: Space, expecting: Slot | None, before: Draft | None) -> Reading:
    index = index_of(space)
    marked, marks = masked(text, index.signed_labels)
    message = plain(marked)
    inquiry = _inquiry(message, space, index)
    if inquiry is not None:
        return Reading(act=Act.INQUIRE, inquiry=inquiry)
    chosen = expecting in _NAMING and text.strip() in space  # n is a column, and no
    act = None if chosen else dialogue_acts.act_of(message, expecting)
    if act is None and asks_next_runs(message):
        act = Act.RUN_NEXT
    if act is not None and act is not Act.INFORM:
        return Reading(act=act, parts=Draft(count=dialogue_acts.count_in(message)))
    act, rest, correction = dialogue_acts.opening(message)
    certainty, rest = take_certainty(rest, space.names)
    spans = spans_of(rest, marks, index)
    parsed = parse(spans, Clauses(spans, index).act)
    facts, links = _facts(parsed, spans, index)
    asked = any(isinstance(fact, Ask) for fact in facts)
    if _WHICH_OF_THEM.search(rest) or (_WHICH_OF.search(rest) and not asked):
        facts += [Ask((name,)) for name in _alternatives(facts, index)[-1:]]
    facts += [Start(row) for row in dict.fromkeys(spans.rows)]
    known = before.kind if before is not None else None
    kind = kind_of(facts, rest, index, known)
    if expecting not in {None, Slot.KIND} and question_kind.kind_of(rest) is None:
        # The answer to a question, not one of its own.
        asks = "?" in rest and any(isinstance(fact, Ask) for fact in facts)
        kind = kind if known is not None or asks else None
    meaning = Meaning(index, kind or known, expecting, before, correction)
    meaning.take(facts)
    if known is Kind.WHAT_IF and before is not None and meaning.edits and _INSTEAD.search(rest):
        meaning.dropped += [name for name in before.change if name not in meaning.edits]
    parts = meaning.draft().model_copy(update={"kind": kind})
    reading = Reading(
        act=act,
        parts=parts,
        dropped=tuple(dict.fromkeys(meaning.dropped)),
        correction=correction or bool(meaning.dropped),
        links=_used([*links, *meaning.links], parts, meaning),
        unknown=tuple(dict.fromkeys([*_unknown(spans, parsed), *meaning.unplaced])),
        misfits=tuple(dict.fromkeys(meaning.misfits)),
        outcome_without_goal=tuple(meaning.without_goal),
    )
    return _with_certainty(reading, certainty)


def _alternatives(facts: list[Fact], index: Index) -> list[str]:
    """The knobs that were given several values: zgc or shenandoah, which of them ..."""
    several = [fact for fact in facts if isinstance(fact, Equal) and len(fact.values) > 1]
    knobs = [f.name for f in several if index.parameters[f.name].role is Role.KNOB]
    return [] if any(fact.negative for fact in several) else knobs


def _inquiry(message: str, space: Space, index: Index) -> Inquiry | None:
    """What a message asks of what is there already, with the outcome and the values it names."""
    if inquiry_in(message, (), ()) is None:
        return None
    spans = spans_of(message, {}, index)
    facts, _ = _facts(parse(spans, Clauses(spans, index).act), spans, index)
    meaning = Meaning(index, None, None, None, False)
    meaning.take(fact for fact in facts if isinstance(fact, Equal))
    outcomes = [
        name
        for row in spans.at
        for span in row
        if isinstance(span.value, Mention)
        for name in index.ranked(span.value, (Role.OUTCOME,))[:1]
        if space[name].role is Role.OUTCOME
    ]
    named = [fact.name for fact in facts if isinstance(fact, Wanted)]
    classes = [
        f"{n} == {format_value(g.value)}"
        for n, g in meaning.goals.items()
        if isinstance(g, IsClass)
    ]
    numbers = [name for name in [*named, *outcomes] if isinstance(space[name], Number)]
    return inquiry_in(message, numbers, [*meaning.where(), *classes])


def _facts(parsed: Parse, spans: Spans, index: Index) -> tuple[list[Fact], list[Link]]:
    facts: list[Fact] = []
    links: list[Link] = []
    runs = _runs(spans, parsed)
    sums = {spans.sentence(span.start) for span in parsed.left if span.tag in _ARITHMETIC}
    asking = {
        spans.sentence(clause.start)
        for clause in parsed.clauses
        if any(isinstance(fact, Ask) for fact in clause.value.all)
    }
    now = {span.start for span in parsed.left if span.tag == "NOW"}
    now |= {clause.start for clause in parsed.clauses if clause.has("NOW")}
    wants = {clause.start for clause in parsed.clauses if _demands(clause)}
    for clause in parsed.clauses:
        assert isinstance(clause.value, Facts)
        hangs = any(_hangs(spans, clause, run) for run in runs)
        if hangs or (spans.sentence(clause.first) in sums and _is_bound(clause)):
            continue  # what it says hangs on words that were not understood
        asked = spans.question(clause.first)
        told = spans.sentence(clause.start) in asking
        current = _latest(now, spans, clause) > _latest(wants, spans, clause)
        cue = "now" if current else "has" if _describes(spans, parsed, clause) else ""
        for fact in (_as_now(one, cue) if cue else one for one in clause.value.all):
            facts += _in_question(fact, asked, index, told=told) if asked else [fact]
        links += clause.value.links
    return facts, links


def _as_now(fact: Fact, cue: str) -> Fact:
    """A value in a sentence that tells what somebody has: currently ..., our runs use ..."""
    given = isinstance(fact, Equal) and fact.cue in ("", "with", "set")
    return replace(fact, cue=cue) if isinstance(fact, Equal) and given else fact


def _describes(spans: Spans, parsed: Parse, clause: Node) -> bool:
    """Whether a clause stands in a sentence that states and wants nothing."""
    start, end = spans.bounds(clause.start)
    found = spans.source.found[start:end]
    if end < spans.length and spans.source.found[end].text == "?":
        return False
    low = [token.low for token in found]
    if not low or (PHRASES.get((low[0],)) and any(p.tag == "SET" for p in PHRASES[(low[0],)])):
        return False  # use 8 nodes
    if _WANTING & {*low} or not (_WHOSE & {*low} or (start == 0 and end < spans.length)):
        return False
    inside = [one for one in parsed.clauses if start <= one.start < end]
    return not any(_demands(one) or _is_bound(one) for one in inside)


def _latest(places: set[int], spans: Spans, clause: Node) -> int:
    """The last of these places that is before a clause in its sentence; -1: none is."""
    begin = spans.sentence(clause.start)
    return max((place for place in places if begin <= place <= clause.start), default=-1)


def _demands(clause: Node) -> bool:
    """Whether a clause asks or wants something; what stands beside it may be wanted as well."""
    return any(isinstance(f, Wanted | Ask | Watch | Moved | Everything) for f in clause.value.all)


def _is_bound(clause: Node) -> bool:
    """Whether a clause bounds something: perhaps a product that was not understood."""
    return any(isinstance(fact, Limit | Relation) for fact in clause.value.all)


def _hangs(spans: Spans, clause: Node, run: list[Span]) -> bool:
    """Whether what a clause says may be another thing with the words that were not understood."""
    if _touches(spans, clause, (run[0].start, run[-1].end)):
        return True
    ranged = any(span.tag == "BETWEEN" for span in run)
    if ranged and 0 <= clause.first - run[-1].end <= 1:
        return True  # the end of a range whose begin was not understood
    if clause.end + 1 >= run[0].start > clause.end and _is_list(clause):
        return spans.source.found[clause.end].low == "and"  # nodes and the coulomb cutoff
    if clause.first - 1 == run[-1].end < spans.length and _is_list(clause):
        return spans.source.found[run[-1].end].low == "and"
    turning = _TURNING if _is_wish(clause) else {"NOT"}
    turns = [span for span in run if span.tag in turning and span.left >= ASKED]
    return any(
        spans.segment(span.start) == spans.segment(clause.first) and span.start < clause.first
        for span in turns
    )


def _is_list(clause: Node) -> bool:
    return all(isinstance(fact, Named) for fact in clause.value.all)


def _is_wish(clause: Node) -> bool:
    return any(isinstance(fact, Wanted | Limit | Loose | LooseMove) for fact in clause.value.all)


def _touches(spans: Spans, clause: Node, run: tuple[int, int]) -> bool:
    """Whether a clause goes on where words that were not understood end, or the other way."""
    start, end = run
    found = spans.source.found
    if end <= clause.start:
        if clause.opens:
            return False
        between, edge = found[end : clause.start], found[clause.start].low
        return all(token.low in _LINKING for token in between) and edge not in _APART
    verb = any(span.tag in _VERBS for span in spans.at[start])
    asks = verb and any(isinstance(fact, Ask) for fact in clause.value.all)
    if clause.end <= start and asks:
        return False  # what cutoff minimises the Trotter error
    if clause.end <= start:
        between, edge = found[clause.end : start], found[start].low
        return all(token.low in _LINKING for token in between) and edge not in _APART
    return False


def _in_question(fact: Fact, asked: str, index: Index, *, told: bool) -> list[Fact]:
    """Does the error rate go down?: asked about, not wanted. Static or dynamic?: asked for."""
    weak = isinstance(fact, Wanted) and (fact.weak or isinstance(fact.goal, Same))
    if isinstance(fact, Wanted) and weak and asked == "whether":
        return [Watch((fact.name,))]
    if isinstance(fact, Equal) and asked == "whether" and _is_class(fact, index):
        return [Watch((fact.name,))]
    several = isinstance(fact, Equal) and len(fact.values) > 1 and not fact.negative
    if (
        isinstance(fact, Equal)
        and several
        and not told
        and index.parameters[fact.name].role is Role.KNOB
    ):
        return [Ask((fact.name,)), fact]
    return [fact]


def _is_class(fact: Equal, index: Index) -> bool:
    """Whether it is about one class of an outcome."""
    outcome = index.parameters[fact.name].role is Role.OUTCOME
    return outcome and len(fact.values) == 1 and not fact.negative


def _used(links: list[Link], parts: Draft, meaning: Meaning) -> tuple[Link, ...]:
    """The mappings that something was made of."""
    used = {*columns_of(parts), *meaning.without_goal, *meaning.dropped}
    return tuple(dict.fromkeys(link for link in links if used & set(link.columns)))


def _runs(spans: Spans, parsed: Parse) -> list[list[Span]]:
    """The words that matter and that no clause took, in runs."""
    runs: list[list[Span]] = []
    for span in parsed.left:
        if runs and _adjoin(spans, runs[-1][-1].end, span.start):
            runs[-1].append(span)
        else:
            runs.append([span])
    found = []
    for run in runs:
        heavy = [place for place, span in enumerate(run) if span.left >= ASKED]
        # Of a message that says nothing else, every word may be what matters.
        matters = any(
            run[p].tag != "WORD" or not parsed.clauses or _matters(spans, run[p]) for p in heavy
        )
        if matters:
            first = heavy[0]
            while first > 0 and run[first - 1].tag in _LEADING:
                first -= 1
            last = heavy[-1]
            while last + 1 < len(run) and run[last + 1].tag in _TRAILING:
                last += 1
            found.append(run[first : last + 1])
    return found


def _unknown(spans: Spans, parsed: Parse) -> list[str]:
    """What was not understood, as it was written, with the clauses that hang on it."""
    found = []
    for run in _runs(spans, parsed):
        start, end = run[0].start, run[-1].end
        for clause in parsed.clauses:
            if _hangs(spans, clause, run):
                start, end = min(start, clause.start), max(end, clause.end)
        found.append(spans.words(start, end))
    return found


def _adjoin(spans: Spans, end: int, start: int) -> bool:
    """Whether nothing but articles and the like stands between two spans."""
    return all(token.low in ARTICLES for token in spans.source.found[end:start])


def _matters(spans: Spans, word: Span) -> bool:
    """Whether an unknown word stands where a value or a noun would."""
    found = spans.source.found
    first, last = word.start, word.end
    before = first - 1
    while before >= 0 and found[before].low in ARTICLES:
        before -= 1
    if before >= 0 and found[before].low in VALUE_FOLLOWS:
        progressive = found[before].low in {"is", "are", "be"} and found[first].low.endswith("ing")
        said = last < spans.length and found[last].low in _SAYS
        return not (progressive or said)
    if before >= 1 and found[before].low == "to" and found[before - 1].low in _SWITCHING:
        return True
    ends = last >= spans.length or found[last].text in _BOUNDARY
    if ends and (before < 0 or found[before].text in _BOUNDARY):
        return True  # an item of its own: gcc, 4 threads
    listed = before >= 1 and found[before].low in LISTING and _is_column(spans, before - 1)
    if listed:
        return True  # a list is taken whole
    if last < spans.length and found[last].low in _SAYS:
        return False  # the accountant says
    behind = spans.at[last] if last < spans.length else []
    if first > 0 and _is_label(spans, first - 1):
        return False  # the catalog service
    if last < spans.length and found[last].low in _STATED:
        return True  # colour is red
    if any(_is_number_name(span, spans) for span in behind):
        return False  # the rollout horizon, of a column that is called horizon
    if any(span.tag == "COL" and span.cost < 0.2 for span in behind):
        return True  # the wombat partition, the tail latency
    return first > 0 and _is_column(spans, first - 1) and not _VERB.search(found[first].low)


def _is_number_name(span: Span, spans: Spans) -> bool:
    """Whether words are the whole name of a column of numbers."""
    if span.tag != "COL" or span.cost > 0.0 or not isinstance(span.value, Mention):
        return False
    name = max(span.value.scores, key=span.value.scores.__getitem__)
    return len(name) > 3 and name in spans.numbers


def _is_label(spans: Spans, place: int) -> bool:
    """Whether a label that is no common word ends at a place."""
    return any(
        span.tag == "LAB" and span.end == place + 1 and span.cost < 0.1
        for start in range(max(0, place - 3), place + 1)
        for span in spans.at[start]
    )


def _is_column(spans: Spans, place: int) -> bool:
    """Whether a column ends at a place."""
    return any(
        span.tag == "COL" and span.end == place + 1 and span.cost < 0.2
        for start in range(max(0, place - 5), place + 1)
        for span in spans.at[start]
    )


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
