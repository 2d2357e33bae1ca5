"""One small grammar over spans, and the parse that covers a message at the least cost.

A line `clause: SYMBOLS -> action` is a production: capitals are classes of spans, small letters
are other heads, `?` may be missing, `*` any number of times. Words that say nothing may stand
anywhere. An action makes facts of what was matched, or refuses it (None): a bound in watts is no
bound of a column in seconds, whatever the words look like.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from compass.chat.english.spans import Span, Spans
from compass.chat.english.words import word_set

PRODUCTIONS = """
sep: PLUS | COMMA | AND | OR | COMMA AND | COMMA OR | AND OR
cols: COL | COL sep cols
labs: LAB | LAB sep labs
amount: NUM | PCT
value: NUM | LAB | PCT
values: value | value sep values
glue: IS | BE | KEEP | SET | WITH | TO
be: IS | BE | KEEP | SET | TO
limit: LT | LE | GT | GE -> op
limit: NOT IS* LT | NOT IS* LE | NOT IS* GT | NOT IS* GE -> flipped
range: BETWEEN amount AND amount | BETWEEN amount TO amount -> pair
spread: FROM? amount TO amount -> pair
mover: RED | INC
lessmore: LESS | MORE
pairing: NUM TIMES NUM

clause: KEEP? cols be* EQ? limit IS* amount -> bound
clause: KEEP? cols glue* limit IS* amount sep? limit amount -> bounds
clause: COL glue* EQ? limit IS* amount COL -> bound_named
clause: glue* limit IS* amount IS? COL -> bound
clause: glue* limit IS* amount WITH COL -> bound /0.1
clause: glue* limit IS* FRAC IS? COL -> bound /0.1
clause: WITH COL -> with_switch /0.3
clause: product glue* EQ? product -> product_pair
clause: limit COL glue* EQ? amount -> bound /0.3
clause: NOT mover COL glue* limit amount -> not_beyond
clause: UNTOUCHED COL glue* limit amount -> not_beyond
clause: glue* limit IS* amount -> free_bound /0.3
clause: amount IS? COL ORLESS | amount IS? COL ORMORE | amount ORLESS COL | amount ORMORE COL -> or_bound
clause: cols glue* EQ? amount ORLESS | cols glue* EQ? amount ORMORE | cols glue* EQ? amount ORBETTER -> or_bound
clause: amount ORLESS | amount ORMORE -> free_or_bound /0.4
clause: KEEP? cols glue* EQ? range -> between
clause: cols glue* EQ? spread -> spread_over
clause: WITH? range IS? COL -> between
clause: WITH? spread IS? COL -> spread_over
clause: glue* IT? limit IT -> repeated
clause: NUM -> bare /2.0
clause: cols glue* ALL spread -> spread_over
clause: amount COL BE limit -> limit_noun
clause: range -> free_between /0.4
clause: spread -> free_between /0.6
clause: NOT ALL? WITH? limit amount COL | NOT ALL? COL glue* limit amount | ALL limit amount COL FORBIDDEN -> not_beyond
clause: lessmore COL THAN amount | NOT lessmore COL THAN amount -> than_bound

setting: NUM IS? COL | COL be* EQ* value | LAB COL | LAB WITH COL -> setting
setting: COL be* EQ* ONLY? value sep values | value sep values COL -> setting
setting: COL ONLY value | ONLY value COL -> setting
setting: LAB | LAB sep labs -> setting /0.25
setting: COL glue* ONOFF | ONOFF COL | COL STAYS ONOFF | ONOFF COL COL -> switched /0.1
setting: LAB sep labs COL -> setting
setting: pairing IS? COL | COL be* EQ? pairing -> paired
setting: NUM -> unit_setting /0.5
setting: NUM OR NUM -> unit_setting /0.5
setting: COL PER NUM -> setting
settings: setting | setting sep? WITH? settings | setting BUT settings

clause: settings -> given_values /0.1
clause: settings ONLY -> only_values
clause: mover TO settings | mover TO NUM COL -> tried
clause: SET COL -> switched_on /0.15
clause: SET TO? WITH? settings -> tried
clause: SET ALL FROM value TO value | LAB TO LAB -> moved
clause: SET? FROM setting TO setting -> moved_settings
clause: WITH WITH? settings -> with_values
clause: EQ settings -> given_values
clause: ONLY WITH? settings | WITH? ONLY settings | SET ONLY settings -> only_values
clause: NOT WITH? setting | NOT SET setting | NOT IS* ONLY setting | NOT glue* setting -> not_values
clause: NUM IS? COL | COL be* EQ* NUM -> illegal /1.0
clause: COL BUT labs -> not_values /0.3
clause: COL be* NOT? EQ* WORD | SET COL TO? WORD | WORD COL -> misfit /1.5
clause: COL glue* NOT EQ* IS* values | COL NOT WITH* values -> not_values
clause: ALL NOT labs COL? | COL glue* ALL NOT labs -> not_values
clause: setting FORBIDDEN | NOT setting FORBIDDEN -> forbidden
clause: settings FINE -> fine
clause: NOW COMMA settings -> now
clause: NOW OPTIONS? IS* EQ? WITH? settings | NOW glue* settings | NOW glue* FROM settings | settings NOW | NOW EQ settings -> now
clause: NOW glue* amount IS? COL | NOW COL glue* amount | COL glue* NOW glue* amount -> now_measured
clause: COL BE IS* amount | COL BE IS* NOW IS* amount -> now_measured
clause: COL MEASURED IS* amount | MEASURED IS* amount COL? | COL NOW? IS* MEASURED IS* amount -> now_measured /0.1

clause: SET? COL glue* FROM value TO value | SET? glue* FROM value COL? TO value COL? -> moved
clause: mover COL FROM value TO value | COL glue* mover FROM value TO value -> moved
clause: mover FROM value COL? TO value COL? -> moved
clause: SET? COL glue* value TO value -> moved /0.2
clause: SET COL TO value | SET COL glue* TO value -> set_to
clause: SET? COL TO value -> set_to /0.2
clause: COL be* PER? value INSTEAD PER? value -> instead
clause: SET? WITH? value COL? INSTEAD value COL? | SET COL glue* value INSTEAD value -> instead
clause: INSTEAD value COL? COMMA? SET? value COL? -> instead_first
clause: value COL? BE? SET WITH value -> moved
clause: SET COL WITH value | SET value WITH value -> swapped
clause: SET setting ONOFF -> tried /0.2

clause: mover cols BY? amount | mover cols BY? FRAC | cols glue* mover BY? amount | cols glue* mover BY? FRAC -> moved_by
clause: mover amount LESS cols | mover amount cols LESS | ADD amount cols | mover cols WITH PCT -> moved_by
clause: mover BY amount | mover BY FRAC | mover BY? amount LESS | amount lessmore THAN? NOW? | FRAC lessmore THAN? NOW? | mover NOW? BY amount -> free_moved_by /0.5
clause: mover cols BY amount sep cols BY amount -> moved_each
clause: mover cols WITH FRAC -> scaled_to
clause: cols glue* mover TO amount ORLESS | cols glue* mover TO amount ORMORE -> moved_to
clause: mover cols TO amount | cols glue* mover TO amount | mover cols glue* limit amount | cols glue* mover glue* limit amount -> moved_to
clause: mover cols | cols glue* mover -> moved_only /0.3
clause: mover BY? amount IS? cols | mover BY? FRAC IS? cols | mover BY? amount WITH cols | mover amount FROM cols -> moved_by
clause: cols glue* amount mover -> moved_by
clause: glue* amount lessmore cols | glue* FRAC lessmore cols | lessmore cols BY amount | cols glue* amount lessmore | cols glue* FRAC lessmore | cols BY amount lessmore | amount cols lessmore -> moved_by
clause: lessmore cols -> moved_only /0.3
clause: glue* limit amount lessmore cols | mover cols BY? limit amount | limit amount mover cols -> moved_by
clause: cols glue* lessmore BY amount | lessmore amount cols -> moved_by
clause: ADD NUM lessmore? COL | REMOVE NUM COL | NUM lessmore COL -> added
clause: ADD amount TO cols -> added_to
clause: DOUBLE cols | cols glue* DOUBLE | SET cols DOUBLE -> scaled
clause: FACTOR cols | FACTOR lessmore cols | glue* FACTOR IS cols | cols glue* FACTOR lessmore? | mover cols BY? FACTOR | mover cols TO FACTOR -> scaled
clause: FRAC IS? cols | mover cols TO FRAC | cols glue* FRAC | mover cols BY? FACTOR -> scaled_to
clause: mover cols BETWEEN? amount TO amount BY? -> moved_by /0.4
clause: mover TO amount | SET TO amount | REACH TO amount | REACH amount -> free_reach /0.5
clause: cols glue* limit amount WORSE | limit amount WORSE cols | cols glue* amount WORSE -> worse_by
clause: amount FASTER WITH cols | FASTER WITH cols BY amount -> faster_in
clause: WANT TO? amount -> free_reach /0.6
clause: FASTER BY? amount | FASTER BY? FRAC | amount FASTER | FRAC FASTER | FASTER BY? FACTOR | FACTOR FASTER -> faster
clause: SET? FASTER -> faster_only /0.1
clause: REACH amount IS? COL | REACH COL IS* amount | COL REACH amount -> reached

clause: MIN IS? cols | cols be* MIN | KEEP cols MIN | MIN WITH cols -> extreme
clause: MAX IS? cols | cols be* MAX | KEEP cols MAX | MAX WITH cols -> extreme
clause: cols FASTER -> optimised /0.1
clause: REMOVE COL -> switched_off
clause: OPT IS? cols | cols glue* OPT | OPT WITH cols -> optimised /0.1
clause: BEST IS? COL | BEST WITH cols -> best_with /0.2
clause: BEST -> best
clause: SUCCEED -> succeeds /0.1
clause: amount FINE -> free_reach /0.5
clause: limit SAME cols | SAME cols ORLESS | SAME cols ORMORE | SAME cols ORBETTER | cols glue* SAME ORLESS | cols glue* SAME ORMORE | cols glue* SAME ORBETTER | cols STAYS SAME ORBETTER -> same_or_better
clause: KEEP SAME cols | cols STAYS SAME | KEEP cols glue* SAME | cols glue* SAME | WITH? SAME cols | SAME cols THAN -> same
clause: KEEP? cols glue* SAME limit amount -> tolerance
clause: KEEP? cols glue* limit amount IS? SAME? NOW? -> tolerance /0.2
clause: cols glue* limit amount lessmore SAME? NOW? | REMOVE limit amount cols | NOWORSE BY? limit? amount IS? cols -> worse_by /0.1
clause: UNTOUCHED cols | cols glue* UNTOUCHED | cols STAYS | NOT SET cols | KEEP cols -> kept
clause: NOWORSE cols | cols glue* NOWORSE | NOT lessmore cols | NOT mover cols | cols glue* NOT glue* mover | cols glue* NOT glue* lessmore -> no_worse
clause: NOT mover cols OR mover cols -> no_worse_both
clause: cols glue* lessmore -> moved_only /0.3
clause: NOSLOWER -> no_slower
clause: STAYS? EQUALLY -> equally
clause: cols glue* NOT mover BY? limit? amount | NOT mover cols BY limit? amount | NOWORSE BY limit? amount IS? cols -> worse_by

clause: WHICH WHICH? IS? cols | WHICH OPTIONS? WITH cols | cols FREE | WHICH cols FREE -> ask
clause: ONLY cols FREE | cols FREE ONLY | cols glue* ONLY FREE | ALL FREE? SET? cols -> ask
clause: ONLY SET cols | SET ONLY cols | WHICH ONLY cols | ONLY cols FREE | ONLY WHICH cols -> ask
clause: SET OPT? cols | SET WHICH cols -> ask /0.3
clause: WHICH? ALL | SET ALL | ALL glue* FREE -> everything
clause: ALL FREE BUT? NOT cols | ALL BUT NOT cols -> everything_but
clause: WHICH? ALL NOT cols | SET ALL NOT cols | NOT cols ALL -> everything_but
clause: COL be* ONOFF OR ONOFF | COL be* EQ? WHICH? ONOFF OR ONOFF -> ask
clause: COL AND COL be* EQ | COL AND COL be* SAME -> equal_pair
clause: LAB FASTER THAN LAB | NUM IS? COL FASTER THAN NUM -> compared_best
clause: COMPARE LAB WITH LAB COL? | BETWEEN values COL? | BETWEEN LAB AND LAB COL? | value VS value COL? | COL value VS value -> compared /0.15
clause: COMPARE values COL? | COMPARE COL? values | WHICH COL? IS* OPT? EQ? values -> compared /0.1
clause: WHICH IS* OPT COL? EQ? value OR value -> compared
clause: AFFECT cols ONLY -> observe
clause: AFFECT IS? cols | cols AFFECT | WHICH IS* cols AFFECT -> observe /0.1
clause: ALL STAYS | ALL glue* SAME | KEEP ALL glue* SAME? | NOT SET ALL -> nothing_else
clause: NOT COL | NOT ALL? COL -> none_of /0.1
clause: NOT cols -> not_these /0.15
clause: PER COL -> per_tail /1.2
clause: WITH? limit pairing COL | COL glue* EQ? limit pairing -> pair_bound
clause: LAB FORGET | cols FORGET | ALL? COL FINE | KEEP cols OUT | FORGET cols OUT -> drop
clause: FORGET limit WITH cols | FORGET WITH? cols | FORGET limit cols | FORGET limit amount? cols | FORGET cols limit | FORGET ONLY? labs -> drop
clause: NUM OPTIONS BY cols | TOP NUM OPTIONS? BY cols | TOP NUM OPTIONS WITH cols -> counted_by
clause: NUM OPTIONS WITH cols | NUM COMMA cols OPTIONS | NUM cols OPTIONS | TOP NUM cols | NUM BEST OPTIONS | BEST NUM OPTIONS | TOP NUM COL OPTIONS -> counted
clause: TOP NUM OPTIONS? | NUM TOP? OPTIONS | NUM lessmore OPTIONS | TOP NUM OPTIONS -> count
clause: cols -> named /1.0

clause: COL be* EQ? limit COL | COL be* EQ COL -> related /0.15
clause: COL IS FACTOR COL | COL be* EQ? FACTOR COL ORMORE | COL be* EQ? FACTOR COL ORLESS -> related
clause: COL glue* EQ? limit FACTOR COL | COL glue* EQ? limit FRAC COL | COL glue* EQ FACTOR COL | COL glue* EQ? limit NUM TIMES COL | COL glue* EQ NUM TIMES COL -> related
clause: COL glue* limit COL DIVIDED NUM | COL be* EQ COL DIVIDED NUM -> related
clause: limit NUM COL PER COL | NUM COL PER COL | COL glue* EQ? limit NUM PER COL | COL glue* EQ? NUM PER COL | limit NUM PER COL -> per /0.12
clause: NOT lessmore COL THAN COL | lessmore COL THAN COL -> more_than
clause: limit? ASMANY COL THAN COL -> as_many
clause: COL glue* EQ? MULTIPLE NUM | COL glue* EQ? MULTIPLE COL -> multiple
clause: cols glue* EQ? POWER2 -> power_of_two
product: COL TIMES COL | COL TIMES COL TIMES COL | PRODUCT cols | COL AND COL PRODUCT
clause: product glue* EQ? limit NUM | product glue* EQ NUM | product glue* EQ? limit COL | product glue* EQ COL | COL glue* EQ? limit product | COL glue* EQ product | COL IS product | NOT product limit NUM -> product_rule
clause: COL PLUS COL glue* limit COL | COL PLUS COL glue* limit NUM | COL PLUS NUM glue* limit COL -> sum_rule
"""

# Words that say nothing and may stand between a verb or a list and its noun.
_BEFORE_NOUN = word_set(
    "different distinct various good such way fold a an the my our your its their some any of total overall both each also number amount count "
    "exact actual given these those such all me us please kind sort own whole entire same row run job"
)
_OPENING = frozenset({"WHICH", "MIN", "MAX", "OPT", "BEST", "SET", "RED", "INC", "KEEP", "NOT"})
_CLAUSE = 0.2  # one more clause: fewer that cover the same are better
_REPEATED = 3  # times that a symbol with a star is taken, at most
_SAME_END = 4  # ways of one production to one end that are tried
_MOST_ENDS = 12  # ways from one place that one head keeps


@dataclass(frozen=True, slots=True)
class Node:
    """What a symbol stands for: a span, or a head with its parts."""

    name: str
    start: int
    end: int
    span: Span | None = None
    parts: tuple["Node", ...] = ()
    value: Any = None

    @property
    def first(self) -> int:
        """Where its first word stands; words that say nothing may stand before it."""
        return self.parts[0].first if self.parts else self.start

    @property
    def opens(self) -> bool:
        """Whether it begins with a verb of its own: recommend, minimize."""
        return self.parts[0].opens if self.parts else self.name in _OPENING

    def find(self, *names: str) -> Iterator["Node"]:
        """The nodes of these names, from left to right."""
        if self.name in names:
            yield self
            return
        for part in self.parts:
            yield from part.find(*names)

    def has(self, *names: str) -> bool:
        """Whether there is a node of one of these names."""
        return next(self.find(*names), None) is not None


@dataclass(frozen=True, slots=True)
class _Production:
    head: str
    symbols: tuple[tuple[str, str], ...]  # a name, and "", "?" or "*"
    action: str
    cost: float


_LINE = re.compile(r"(\w+): (.*?)(?: -> (\w+))?(?: /([\d.]+))?$")


@cache
def _productions() -> dict[str, tuple[_Production, ...]]:
    found: dict[str, list[_Production]] = {}
    for line in PRODUCTIONS.strip().splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        assert match is not None, line
        head, body, action, cost = match.groups()
        for one in body.split(" | "):
            symbols = tuple(
                (word.rstrip("?*"), word[len(word.rstrip("?*")) :]) for word in one.split()
            )
            made = _Production(head, symbols, action or "", float(cost or 0.0))
            found.setdefault(head, []).append(made)
    return {head: tuple(made) for head, made in found.items()}


Action = Callable[[str, Node], Any]


_Way = tuple[float, int, tuple[Node, ...]]  # its cost, where it ends, what it took


class Chart:
    """The ways in which heads of the grammar fit a message; each is looked for once."""

    def __init__(self, spans: Spans, act: Action) -> None:
        """`act` makes something of what an action's production matched; None: nothing."""
        self.spans = spans
        self._act = act
        self._known: dict[tuple[str, int], list[tuple[float, Node]]] = {}
        self._grammar = _productions()

    def at(self, name: str, place: int) -> list[tuple[float, Node]]:
        """The ways in which a symbol fits from a place on, with what each costs."""
        key = name, place
        if key not in self._known:
            self._known[key] = []
            found = self._head(name, place) if name in self._grammar else self._spans(name, place)
            self._known[key] = found
        return self._known[key]

    def _spans(self, tag: str, place: int) -> list[tuple[float, Node]]:
        found, seen, waiting = [], set(), [place]
        while waiting:
            start = waiting.pop()
            if start in seen or start >= self.spans.length:
                continue
            seen.add(start)
            skipped = 0.02 * (start - place)  # words that a longer span covers are no filler
            found += [
                (span.cost + skipped, Node(tag, span.start, span.end, span))
                for span in self.spans.at[start]
                if span.tag == tag
            ]
            skip = start < self.spans.length and (
                tag != "COL" or self.spans.source.found[start].low in _BEFORE_NOUN
            )
            waiting += self.spans.fillers[start] if skip else []
        return found

    def _head(self, name: str, place: int) -> list[tuple[float, Node]]:
        best: dict[tuple[int, str], tuple[float, Node]] = {}
        for production in self._grammar[name]:
            for cost, parts in self._sequence(production.symbols, place):
                end = parts[-1].end
                node = Node(name, place, end, parts=parts)
                if production.action:
                    value = self._act(production.action, node)
                    if value is None:
                        continue
                    node = Node(name, place, end, parts=parts, value=value)
                total = cost + production.cost
                key = end, production.action
                if key not in best or total < best[key][0]:
                    best[key] = total, node
        return sorted(best.values(), key=lambda way: way[0])[:_MOST_ENDS]

    def _sequence(
        self, symbols: Sequence[tuple[str, str]], place: int
    ) -> list[tuple[float, tuple[Node, ...]]]:
        ways: list[_Way] = [(0.0, place, ())]
        for name, often in symbols:
            found = [*ways] if often else []
            fresh = ways
            for _ in range(_REPEATED if often == "*" else 1):
                fresh = [
                    (cost + more, node.end, (*parts, node))
                    for cost, end, parts in fresh
                    for more, node in self.at(name, end)
                ]
                found += fresh
            ways = _cheapest(found)
            if not ways:
                return []
        return [(cost, parts) for cost, _, parts in ways if parts]


def _cheapest(ways: list[_Way]) -> list[_Way]:
    """The cheapest few ways to each end: an action may refuse the first of them."""
    kept: dict[int, int] = {}
    found = []
    for way in sorted(ways, key=lambda way: way[0]):
        kept[way[1]] = kept.get(way[1], 0) + 1
        if kept[way[1]] <= _SAME_END:
            found.append(way)
    return found


@dataclass(frozen=True, slots=True)
class Parse:
    """The clauses that cover a message, and the spans that none of them took."""

    clauses: tuple[Node, ...]
    left: tuple[Span, ...]


def parse(spans: Spans, act: Action) -> Parse:
    """The cheapest cover of a message by clauses and by words that are left over."""
    chart = Chart(spans, act)
    length = spans.length
    best: list[tuple[float, Node | Span | None, int]] = [(0.0, None, 0)] * (length + 1)
    for place in range(length - 1, -1, -1):
        ways: list[tuple[float, Node | Span | None, int]] = [
            (best[end][0] + 0.001, None, end) for end in spans.fillers[place]
        ]
        ways += [(best[s.end][0] + s.left, s, s.end) for s in spans.at[place]]
        ways += [
            (best[node.end][0] + cost + _CLAUSE, node, node.end)
            for cost, node in chart.at("clause", place)
        ]
        best[place] = min(ways, key=lambda way: way[0])
    clauses, left, place = [], [], 0
    while place < length:
        _, step, end = best[place]
        if isinstance(step, Node):
            clauses.append(step)
        elif isinstance(step, Span):
            left.append(step)
        place = end
    return Parse(tuple(clauses), tuple(left))
