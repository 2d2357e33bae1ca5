"""The parse that covers a message at the least cost with the clauses of one small grammar.

An action makes facts of what a production matched, or refuses it (None): a bound in watts is no
bound of a column in seconds, whatever the words look like.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from compass.chat.english.lexicon import Phrase
from compass.chat.english.link import Mention
from compass.chat.english.productions import PRODUCTIONS
from compass.chat.english.spans import Span, Spans
from compass.chat.english.words import word_set

# Words that say nothing and may stand between a verb or a list and its noun.
_BEFORE_NOUN = word_set(
    "different distinct various good such way fold a an the my our your its their some any of "
    "total overall both each also number amount count exact actual given these those all me us "
    "please kind sort own whole entire same row run job"
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
    def phrase(self) -> Phrase:
        """The phrase that it is."""
        assert self.span is not None
        assert isinstance(self.span.value, Phrase)
        return self.span.value

    @property
    def mention(self) -> Mention:
        """The columns that it may mean."""
        assert self.span is not None
        assert isinstance(self.span.value, Mention)
        return self.span.value

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


_HEAD = re.compile(r"(\w+)(?: -> (\w+))?(?: /([\d.]+))?")
_SYMBOL = re.compile(r"(\w+)([?*]?)")


@cache
def _productions() -> dict[str, tuple[_Production, ...]]:
    found: dict[str, list[_Production]] = {}
    head, action, cost = "", "", 0.0
    for line in filter(str.strip, PRODUCTIONS.splitlines()):
        if line.startswith(" "):
            symbols = tuple((name, often) for name, often in _SYMBOL.findall(line))
            found.setdefault(head, []).append(_Production(head, symbols, action, cost))
        else:
            opened = _HEAD.fullmatch(line)
            assert opened is not None, line
            head, action, cost = opened[1], opened[2] or "", float(opened[3] or 0.0)
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
        # What needs a class that the message does not have cannot fit anywhere.
        here = {span.tag for row in spans.at for span in row}
        grammar = _productions()
        self._grammar = {
            head: tuple(
                one
                for one in made
                if all(often or name in grammar or name in here for name, often in one.symbols)
            )
            for head, made in grammar.items()
        }

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
            first, often = production.symbols[0]
            if not often and not self.at(first, place):
                continue
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
            if not found:
                return []
            ways = _cheapest(found) if len(found) > 1 else found
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
