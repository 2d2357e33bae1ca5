"""A message as typed spans: what each group of words may be, each with what it costs.

Spans overlap: `double` is a label of precision and a verb. Which one is meant is left to the
parse, which takes the cheapest way through all of them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compass.chat.draft import How
from compass.chat.english.lexicon import (
    BACKGROUND,
    CORRECTABLE,
    EVERYDAY,
    FILLER,
    FILLERS,
    KNOWN_WORDS,
    LONGEST,
    PHRASES,
    SAID_OFTEN,
    Phrase,
    left_over,
)
from compass.chat.english.link import Index, LabelMention, Mention, nearest_word
from compass.chat.english.marked_labels import MarkedText, as_labels
from compass.chat.english.words import (
    QuantityForm,
    TextQuantity,
    Token,
    compact,
    is_number,
    joined_text,
    quantity_at,
    stem,
    tokens,
    unit_named,
    word_set,
)
from compass.domain.space import Number

_OF_FORM = {
    QuantityForm.NUMBER: "NUM",
    QuantityForm.SHARE: "PCT",
    QuantityForm.FRACTION: "FRAC",
    QuantityForm.FACTOR: "FACTOR",
}
_CONTENT = 4.0  # a column, a label or a number that nothing was made of
_UNKNOWN = 3.0
_BACKGROUND = 0.3
_TYPO = 0.5
_NAMED = 1.5  # a word that is a verb or the like, and the name of a column
_LABEL = 1.5  # an everyday word that stands where a label does
_ASKING = word_set("if should can could do does would must may to shall when that might did")
_HAVING = frozenset({":", "uses", "used", "has", "runs", "is"})
_SENTENCE_ENDS = frozenset(".;!?()")
_SEGMENT_ENDS = _SENTENCE_ENDS | {",", ":", "and", "but", "so", "because"}
_PREFIXES = {"m": 1e-3, "k": 1e3, "u": 1e-6, "n": 1e-9}
_TIMES_SIGNS = frozenset({"x", "*"})
_COUNTED = word_set("more less fewer options configs suggestions times")
_DEMANDS = word_set(
    "which what how must should need needs want wants only not no never avoid without use with "
    "prefer keep have "
    "has require requires required support supports allow allowed cannot"
)
_SMALL_WORDS = sorted(
    word_set(
        "would could should happen happens please want wants need have with what when there "
        "that this your think might thanks hello good just about from they them their will does "
        "which"
    )
)
_HOW = {How.EXACT: 0.0, How.SYNONYM: 0.05, How.FUZZY: 0.3}
_EVERYDAY_LABEL = 0.35  # a label that is an everyday word too
_JOINING = frozenset({"and", "or", "&", "/"})
_CANNOT = word_set("not cannot")
_TOLD = frozenset({"COL", "LAB", "NUM", "PCT", "FRAC", "FACTOR", "LT", "LE", "GT", "GE"})
_PAUSES = frozenset(",:-")
_JOINED = word_set("and but so then or ok okay")
_WHETHER = word_set("would will does do did is are can could might")
_QUOTES = frozenset("\"'`)[]{}#")
_INTRODUCING = word_set("in with using use on to from of for")
_CLOSING = frozenset(".,;?!:)") | word_set("at on with in and or but when if that by using")
_EACH = word_set("node rank socket host process proc task core cpu gpu worker replica")
_ROW = re.compile(r"row|job|line|record|entry|run|experiment|trial|sample|baseline|configuration")
_BEFORE_ROW_NUMBER = word_set("number no nr # id")
_TO_ROW = word_set("of in for from at on than to as with starting start is baseline versus vs")
_ROWS = word_set("row line record entry")
_EACH_TIME = word_set("per a an each every in within half few of")
_TIMES = word_set("s sec second min minute h hour d day")


@dataclass(frozen=True, slots=True)
class Span:
    """Words that may be one thing, and what it costs to take or to leave them."""

    tag: str
    start: int
    end: int
    value: object = None
    cost: float = 0.0
    left: float = 0.0


@dataclass(slots=True)
class Spans:
    """The spans of a message by where they start."""

    source: MarkedText
    at: list[list[Span]] = field(default_factory=list)
    fillers: list[list[int]] = field(default_factory=list)  # ends of words that say nothing
    numbers: frozenset[str] = frozenset()  # columns of numbers
    rows: list[int] = field(default_factory=list)  # past runs that are named

    @property
    def length(self) -> int:
        """The number of words."""
        return len(self.source.found)

    def sentence(self, place: int) -> int:
        """Which sentence a place is in, by where it starts."""
        ends = (p + 1 for p in range(place) if self.source.found[p].text in _SENTENCE_ENDS)
        return max(ends, default=0)

    def joined_by_or(self, place: int) -> bool:
        """Whether `or` stands before what begins at a place: on cpu or on memory."""
        return "or" in [token.low for token in self.source.found[max(0, place - 3) : place]]

    def segment(self, place: int) -> int:
        """Which part of a sentence a place is in, by where it starts."""
        found = self.source.found
        ends = (p + 1 for p in range(place) if found[p].low in _SEGMENT_ENDS)
        return max(ends, default=0)

    def bounds(self, place: int) -> tuple[int, int]:
        """Where the sentence that a place is in starts and ends."""
        found = self.source.found
        ends = (p for p in range(place, len(found)) if found[p].text in _SENTENCE_ENDS)
        return self.sentence(place), next(ends, len(found))

    def question(self, place: int) -> str:
        """How the sentence at a place asks: `whether` something is so, something else, not."""
        found = self.source.found
        ends = [p for p, token in enumerate(found) if token.text in _SENTENCE_ENDS]
        end = next((p for p in ends if p >= place), None)
        if end is None or found[end].text != "?":
            said = {token.low for token in found[place : end or len(found)]}
            if "whether" in {token.low for token in found[self.sentence(place) : place]}:
                return "whether"
            return "which" if {"whichever", "is"} <= said else ""
        start = max((p + 1 for p in ends if p < place), default=0)
        starts = [start, *(p + 1 for p in range(start, end) if found[p].text in _PAUSES)]
        opening = max(p for p in starts if p <= place)
        begun = [token.low for token in found[opening:end] if token.low not in _JOINED]
        asking = (
            bool(begun)
            and begun[0] in _WHETHER
            and begun[1:2]
            not in (
                ["you"],
                ["i"],
                ["we"],
                ["there"],
            )
        )
        whether = asking or 0 < len(begun) <= 2
        return "whether" if whether else "which"

    def words(self, start: int, end: int) -> str:
        """Words as they were written."""
        return self.source.verbatim(start, end)


def spans_of(text: str, marks: Mapping[str, str], index: Index) -> Spans:
    """Every span of a message on one table."""
    written = [token for token in tokens(text) if token.text not in _QUOTES]
    found = [_bracket(t) for p, t in enumerate(written) if not _is_dash(written, p)]
    source = MarkedText(text, marks, as_labels(_slashed(found), marks))
    spans = Spans(source, numbers=frozenset(p.name for p in index.space if isinstance(p, Number)))
    for place in range(len(source.found)):
        spans.at.append([*_at(source.found, place, index)])
        _prefer(spans.at[place], index)
        here = spans.at[place]
        named = any(s.tag == "COL" and s.cost == 0.0 for s in here)
        if named:
            spans.at[place] = here = [replace(s, left=max(s.left, _NAMED)) for s in here]
        counted = place > 0 and is_number(source.found[place - 1])
        named = named or (counted and any(s.tag == "COL" for s in here))  # 8 jobs
        if any(s.tag == "LAB" and s.left >= _LABEL for s in here):
            named = True  # for search: where a label stands, the word is no verb to be passed over
            spans.at[place] = [replace(s, left=max(s.left, _LABEL)) for s in here]
        spans.fillers.append([] if named else _filler_ends(source.found, place))
        one = source.found[place].low == "one" and place + 1 < spans.length
        if one and index.label_at(source.found, place + 1) is not None:
            spans.fillers[place] = [place + 1]  # one shared file
    _relate_labels(spans)
    _forgive(spans)
    _take_rows(spans)
    _quieten(spans)
    return spans


def _prefer(here: list[Span], index: Index) -> None:
    """Words that are more than one thing are rather the longer one, and rather a column."""
    columns = [s for s in here if s.tag == "COL" and s.cost < _HOW[How.FUZZY]]
    longest = max((s.end for s in columns), default=0)
    for place, span in enumerate(here):
        shorter = span.tag != "COL" and span.end < longest and span.end == span.start + 1
        ending = span.tag == "LAB" and any(s.end == span.end for s in columns)
        ending = ending and any(index.ends(name) for name, _ in span.value.labels)  # type: ignore[attr-defined]
        if shorter or ending:
            here[place] = replace(span, cost=span.cost + 0.15)


def _forgive(spans: Spans) -> None:
    """We cannot restart the server: that somebody cannot do something only tells why he asks."""
    for place, row in enumerate(spans.at):
        for span in row:
            if span.tag != "NOT" or span.end - span.start > 2 or span.end >= spans.length:
                continue
            behind = spans.at[span.end]
            verb = bool(behind) and all(one.tag == "WORD" and one.left > 1.0 for one in behind)
            start = spans.segment(place)
            ends = (p for p in range(place, spans.length) if spans.segment(p) != start)
            inside = [one for p in range(start, next(ends, spans.length)) for one in spans.at[p]]
            told = any(one.tag in _TOLD for one in inside)
            if spans.source.found[span.end - 1].low in _CANNOT and verb and not told:
                spans.at[place] = [replace(one, left=_BACKGROUND) for one in row]
                spans.at[span.end] = [replace(one, left=_BACKGROUND) for one in behind]
                break


def _relate_labels(spans: Spans) -> None:
    """Double to single: a common word is a label where another one of its column stands."""
    labels = [span for row in spans.at for span in row if span.tag == "LAB"]
    sure = {n for s in labels if s.cost < _EVERYDAY_LABEL for n, _ in s.value.labels}  # type: ignore[attr-defined]
    for row in spans.at:
        for place, span in enumerate(row):
            common = span.tag == "LAB" and span.cost >= _EVERYDAY_LABEL
            if common and sure & {n for n, _ in span.value.labels}:  # type: ignore[attr-defined]
                row[place] = replace(span, cost=0.05, left=max(span.left, _LABEL))


def _take_rows(spans: Spans) -> None:
    """Note the past runs that are named: they can stand anywhere and are in no clause."""
    found = spans.source.found
    for place in range(len(found)):
        row = _row(found, place)
        if row is None:
            continue
        counted = row[1] < len(found) and any(s.tag == "COL" for s in spans.at[row[1]])
        ended = row[1] < len(found) and found[row[1]].low.endswith("ed")
        if counted and not ended and found[place].low not in _ROWS:
            continue  # I run 16 nodes
        first = place
        while first and found[first - 1].low in _TO_ROW:
            first -= 1
        if first and found[first - 1].low == "not":
            first -= 1  # row 5, not row 4
        else:
            spans.rows.append(row[0])
        for inside in range(first, row[1]):
            spans.at[inside] = []
            spans.fillers[inside] = [row[1]]


def _quieten(spans: Spans) -> None:
    """A sentence beside others that holds nothing of a question tells only why somebody asks."""
    ends = [p for p, token in enumerate(spans.source.found) if token.text in _SENTENCE_ENDS]
    start = 0
    for end in [*ends, spans.length]:
        inside = [span for place in range(start, end) for span in spans.at[place]]
        silent = not any(span.tag != "WORD" and span.left >= 2.0 for span in inside)
        low = {token.low for token in spans.source.found[start:end]}
        if silent and end - start < spans.length - 1 and not low & _DEMANDS:
            for place in range(start, end):
                spans.at[place] = [
                    replace(s, left=min(s.left, _BACKGROUND)) if s.tag == "WORD" else s
                    for s in spans.at[place]
                ]
        start = end + 1


def _is_dash(found: Sequence[Token], place: int) -> bool:
    """The dash of an option: -O3."""
    if found[place].text != "-" or found[place].joined or place + 1 >= len(found):
        return False
    return found[place + 1].joined and found[place + 1].text[0].isalpha()


def _bracket(token: Token) -> Token:
    """A bracket opens a list."""
    return replace(token, text=",", low=",") if token.text == "(" else token


def _slashed(found: list[Token]) -> list[Token]:
    """A stroke between words: cores/node is per node, tile/chunk is both of them."""
    for place in range(1, len(found) - 1):
        token, after = found[place], found[place + 1]
        parts = found[place - 1].low[-1].isalpha() and after.low[0].isalpha()
        parts = parts and (after.low in _EACH | _TIMES or not is_number(found[max(0, place - 2)]))
        if token.text == "/" and token.joined and parts:
            word = "per" if after.low in _EACH | _TIMES else "or"
            found[place] = replace(token, low=word, text=word, joined=False, key=compact(word))
    return found


def _filler_ends(found: Sequence[Token], place: int) -> list[int]:
    low = tuple(token.low for token in found[place : place + LONGEST])
    ends = [place + 1] if low[0] in FILLER and low[:2] != ("instead", "of") else []
    return ends + [place + n for n in range(2, len(low) + 1) if low[:n] in FILLERS]


def _at(found: Sequence[Token], place: int, index: Index) -> list[Span]:
    """The spans that start at a word."""
    spans = [*_phrases(found, place), *_values(found, place, index), *_mine(found, place, index)]
    token = found[place]
    if not spans and token.low not in FILLER:
        spans += _misspelled(found, place)
    if not spans:
        known = token.low in BACKGROUND or not token.text[0].isalnum()
        left = 0.0 if token.low in FILLER else _BACKGROUND if known else _UNKNOWN
        spans.append(Span("WORD", place, place + 1, left=left))
    return spans


def _mine(found: Sequence[Token], place: int, index: Index) -> list[Span]:
    """My cluster: ..., our current profile is ...: what follows is what somebody has."""
    if found[place].low not in {"my", "our"}:
        return []
    if place + 1 < len(found) and found[place + 1].key in index.labels:
        return []
    for end in range(place + 2, min(place + 5, len(found))):
        if found[end].low in _HAVING:
            words = joined_text(found, place, end + 1)
            return [Span("NOW", place, end + 1, Phrase("NOW", words), cost=0.1, left=0.05)]
        if not found[end].text[0].isalpha() or found[end].key in index.labels:
            return []
    return []


def _phrases(found: Sequence[Token], place: int) -> list[Span]:
    low = tuple(token.low for token in found[place : place + LONGEST])
    spans = []
    for width in range(1, len(low) + 1):
        parts = PHRASES.get(low[:width], ())
        # `to us` says nothing, but `to us-east-1` does.
        left = max((left_over(part) for part in parts), default=0.0)
        if low[:width] == ("how", "many"):
            left = 2.0
        asked = place > 0 and found[place - 1].low in _ASKING
        spans += [
            Span(part.tag, place, place + width, part, left=left)
            for part in parts
            # `if I use 8 nodes` is not what is used now
            if not (part.tag == "NOW" and (asked or low[width : width + 1] == ("to",)))
        ]
    return spans


def _values(found: Sequence[Token], place: int, index: Index) -> list[Span]:
    """Columns, labels and quantities."""
    spans = []
    quantity = quantity_at(found, place)
    if quantity is not None:
        tag = _OF_FORM[quantity[0].form]
        one = found[place].low == "one" and quantity[1] == place + 1
        cost, left = (0.3, 0.6) if one else (0.0, _CONTENT)
        spans.append(Span(tag, place, quantity[1], quantity[0], cost, left))
        if quantity[1] == place + 2 and is_number(found[place]) and tag == "NUM":
            bare = TextQuantity(float(found[place].text.replace(",", "")))
            spans.append(Span("NUM", place, place + 1, bare, cost=0.6, left=_CONTENT))
    if quantity is not None and found[quantity[1] - 1].low == "billion" and "b" in index.own_units:
        billions = TextQuantity(quantity[0].value / 1e9, QuantityForm.NUMBER, "b")
        spans.append(Span("NUM", place, quantity[1], billions, left=_CONTENT))
    own = _own_unit(found, place, index)
    if own is not None:
        spans.append(Span("NUM", place, own[1], own[0], left=_CONTENT))
    if found[place].low == "single" and place + 1 < len(found):
        spans.append(Span("NUM", place, place + 1, TextQuantity(1.0), cost=0.2))
    if place > 0 and is_number(found[place - 1]) and unit_named(found[place].low):
        return spans  # 8 hours: the word is a unit
    if unit_named(found[place].low) and place > 0 and found[place - 1].low in _EACH_TIME:
        return spans  # 3 s per hour
    exact, grown = index.exact_at(found, place), index.column_at(found, place)
    also = index.also_at(found, place) if exact is not None else None
    for mention in {id(m): m for m in (exact, grown, also) if m is not None}.values():
        everyday = mention.end == place + 1 and found[place].low in EVERYDAY
        cost = _HOW[mention.how] + (0.1 if everyday and mention.how is not How.EXACT else 0.0)
        # A word that is in the lexicon too need not be a column.
        named = any(stem(found[place].low) in index.stems[name] for name in mention.scores)
        left = _CONTENT
        if everyday and mention.how is not How.EXACT:
            left = 1.6 if named else 0.4
        spans.append(Span("COL", place, mention.end, mention, cost, left))
    shared = _shared_noun(found, place, index)
    if shared is not None:
        spans.append(Span("COL", place, place + 1, shared, 0.05, _CONTENT))
    label = index.label_at(found, place)
    if label is not None:
        spans.append(_label_span(found, label, index))
    return spans


def _shared_noun(found: Sequence[Token], place: int, index: Index) -> Mention | None:
    """The min of: min and max replicas."""
    if place + 3 >= len(found) or found[place + 1].low not in _JOINING or not found[place].key:
        return None
    whole = index.column_at(found, place + 2)
    if whole is None or whole.end < place + 4:
        return None
    said = [found[place], *found[place + 3 : whole.end]]
    own = index.column_at(said, 0)
    if (
        own is None
        or own.end != len(said)
        or max(own.scores, key=own.scores.__getitem__)
        == max(whole.scores, key=whole.scores.__getitem__)
    ):
        return None
    return replace(own, start=place, end=place + 1, how=How.SYNONYM)


def _own_unit(found: Sequence[Token], place: int, index: Index) -> tuple[TextQuantity, int] | None:
    """A number with a unit that only this table has: 3k tok/s, 4 mm²."""
    if not is_number(found[place]):
        return None
    quantity = quantity_at(found, place)
    if quantity is None or quantity[0].form is not QuantityForm.NUMBER:
        return None
    start = quantity[1] if quantity[0].unit is None else place + 1
    for end in range(min(len(found), start + 3), start, -1):
        written = "".join(token.text for token in found[start:end]).casefold().replace("²", "2")
        unit = index.own_units.get(written.replace("per", "/"))
        scale = 1.0
        if unit is None and written[:1] in _PREFIXES:
            unit = index.own_units.get(written[1:])  # 20 meV, of a column in eV
            scale = _PREFIXES[written[:1]]
        if unit is not None:
            value = quantity[0].value if quantity[0].unit is None else _bare_value(found[place])
            return TextQuantity(value * scale, QuantityForm.NUMBER, unit), end
    return None


def _bare_value(token: Token) -> float:
    return float(token.text.replace(",", ""))


def _label_span(found: Sequence[Token], label: LabelMention, index: Index) -> Span:
    low = found[label.start].low
    everyday = label.end == label.start + 1 and (low in SAID_OFTEN or len(low) < 2)
    columns = {name for name, _ in label.labels}
    behind = index.column_at(found, label.end) if label.end < len(found) else None
    if everyday and behind is not None and columns & set(behind.scores):
        everyday = False  # the search service
    cost = _HOW[label.how] + (_EVERYDAY_LABEL if everyday else 0.0)
    led = label.start > 0 and found[label.start - 1].low in _INTRODUCING
    closed = label.end == len(found) or found[label.end].low in _CLOSING
    left = _CONTENT
    if everyday:
        ending = any(index.ends(name) for name in columns)
        left = _LABEL if (led and closed) or ending else 0.4
    return Span("LAB", label.start, label.end, label, cost, left)


def _row(found: Sequence[Token], place: int) -> tuple[int, int] | None:
    """Row 12, run number 7, job #3."""
    if not _ROW.fullmatch(found[place].low):
        return None
    end = place + 1
    while end < len(found) and found[end].low in _BEFORE_ROW_NUMBER:
        end += 1
    if end >= len(found) or not found[end].text.isdecimal() or len(found[end].text) > 12:
        return None
    behind = found[end + 1].low if end + 1 < len(found) else ""
    if unit_named(behind) is not None and behind not in ("a", "in", "as"):
        return None
    if behind in _COUNTED or (behind and PHRASES.get((behind,)) and behind in _TIMES_SIGNS):
        return None
    return int(found[end].text), end + 1


def _misspelled(found: Sequence[Token], place: int) -> list[Span]:
    token = found[place]
    if token.low in KNOWN_WORDS or unit_named(token.low) is not None:
        return []
    meant = nearest_word(token.low, CORRECTABLE)
    if meant is None and nearest_word(token.low, _SMALL_WORDS) is not None:
        return [Span("WORD", place, place + 1, left=_BACKGROUND)]  # wold, hapen
    if meant is None:
        return []
    right = replace(token, text=meant, low=meant, key=meant)
    corrected = [right, *found[place + 1 : place + LONGEST]]
    return [
        replace(span, start=place, end=span.end + place, cost=_TYPO)
        for span in _phrases(corrected, 0)
    ]
