"""Whether a regular expression can need more steps than its text is long, told without a clock.

Python tries one way through a pattern after the other. A text that does not match makes it try all
of them, so that their number is the number of its steps. Here a pattern becomes an automaton
without empty steps. There are

* exponentially many ways if a state comes back to itself in two ways on the same word, as
  `(?:a|a)*` does on `a`;
* polynomially many if a word leads from one loop back to it, also on to a second loop, and around
  that one, as `a*a*` does on `a`;
* at most a constant number for each character of the text if there is neither.

(Weber and Seidl, On the degree of ambiguity of finite automata, 1991.) What is not modelled only
adds ways: an atomic group is taken for an ordinary one, a boundary of words for nothing. So a
pattern that is called linear here is linear, whatever the text.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Letters = frozenset[str]
Edge = tuple[int, Letters]  # where to, and on which characters

_MANY = 128  # a part that may come more often than that is taken for one without a limit
_SAMPLES = [chr(code) for code in range(128)] + list("éÉſKµ٣²\x85\xa0\u2028\ue000😀")
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
_ONE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)
_ENDS = (op.AT_END, op.AT_END_STRING)


@dataclass(frozen=True)
class Finding:
    """A word that, repeated, makes the steps of a pattern grow faster than its length."""

    growth: str  # exponential or polynomial
    lead: str
    word: str

    def text(self, times: int) -> str:
        """A text that takes long and, with a sign at its end, matches nothing."""
        return self.lead + self.word * times + "\0"


@dataclass
class Automaton:
    """The ways through a pattern, one character at a time; 0 is where it starts."""

    pattern: str | bytes
    flags: int = 0
    _empty: list[list[Edge]] = field(default_factory=list)  # edges and what must not follow
    _reading: list[list[Edge]] = field(default_factory=list)
    steps: dict[int, list[Edge]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tree = parser.parse(self.pattern, self.flags)
        self.flags = tree.state.flags
        # `0` for `[0-9]`, `a` for the other letters: characters that no part tells apart are one.
        characters = sorted({*_SAMPLES, *_named(tree)})
        if isinstance(self.pattern, bytes):
            characters = [letter for letter in characters if ord(letter) < 256]
        classes = [
            self._accepted(one, characters, flags) for one, flags in _single(tree, self.flags)
        ]
        alike: dict[tuple[bool, ...], str] = {}
        for letter in sorted(characters, key=lambda one: (not one.isalnum(), one)):
            alike.setdefault(tuple(letter in each for each in classes), letter)
        self.alphabet: Letters = frozenset(alike.values())
        self._sequence(tree, self._state())
        self._walk()

    # Building

    def _state(self) -> int:
        self._empty.append([])
        self._reading.append([])
        return len(self._empty) - 1

    def _join(self, start: int, end: int, barred: Letters = frozenset()) -> None:
        self._empty[start].append((end, barred))

    def _sequence(self, parts: Iterable[Any], start: int) -> int:
        for what, about in parts:
            start = self._part(what, about, start)
        return start

    def _part(self, what: Any, about: Any, start: int) -> int:
        if what in _ONE:
            end = self._state()
            self._reading[start].append((end, self._letters((what, about))))
            return end
        if what is op.BRANCH:
            end = self._state()
            for branch in about[1]:
                begin = self._state()
                self._join(start, begin)
                self._join(self._sequence(branch, begin), end)
            return end
        if what is op.SUBPATTERN:
            outside, self.flags = self.flags, (self.flags | about[1]) & ~about[2]
            end = self._sequence(about[3], start)
            self.flags = outside
            return end
        if what is op.ATOMIC_GROUP:
            return self._sequence(about, start)
        if what in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(what, about, start)
        if what in (op.ASSERT, op.ASSERT_NOT):
            return self._look(what, about, start)
        if what is op.AT:
            end = self._state()
            closed = self.alphabet - {"\n"} if about in _ENDS else frozenset()
            self._join(start, end, closed)
            return end
        raise NotImplementedError(f"{what} in {self.pattern!r}")

    def _repeat(self, what: Any, about: Any, start: int) -> int:
        least, most, body = about
        possessive = what is op.POSSESSIVE_REPEAT and len(body) == 1 and body[0][0] in _ONE
        # Of one character as often as it comes: what follows is another one.
        barred = self._letters(body[0]) if possessive else frozenset()
        for _ in range(min(least, _MANY)):
            start = self._sequence(body, start)
        end = self._state()
        if most is op.MAXREPEAT or most > _MANY:
            loop = self._state()
            self._join(start, loop)
            begin = self._state()
            self._join(loop, begin)
            self._join(self._sequence(body, begin), loop)
            self._join(loop, end, barred)
            return end
        for _ in range(most - least):
            self._join(start, end, barred)
            begin = self._state()
            self._join(start, begin)
            start = self._sequence(body, begin)
        self._join(start, end)
        return end

    def _look(self, what: Any, about: Any, start: int) -> int:
        direction, body = about
        if direction < 0:
            return start  # behind: of a fixed width
        if len(body) == 1 and body[0][0] in _ONE:
            end = self._state()
            found = self._letters(body[0])
            self._join(start, end, found if what is op.ASSERT_NOT else self.alphabet - found)
            return end
        begin = self._state()  # looked at, and then come back from
        self._join(start, begin)
        self._sequence(body, begin)
        return start

    def _letters(self, one: tuple[Any, Any]) -> Letters:
        return self._accepted(one, self.alphabet, self.flags)

    def _accepted(self, one: tuple[Any, Any], characters: Iterable[str], flags: int) -> Letters:
        what, about = one
        if isinstance(self.pattern, bytes):
            flags |= re.ASCII
        if what is op.ANY:
            return frozenset(c for c in characters if flags & re.DOTALL or c != "\n")
        if what is op.LITERAL:
            return frozenset(c for c in characters if ord(c) in _cases(about, flags))
        if what is op.NOT_LITERAL:
            return frozenset(c for c in characters if ord(c) not in _cases(about, flags))
        negated = about[0][0] is op.NEGATE
        items = about[1:] if negated else about
        return frozenset(
            c for c in characters if any(_in(item, c, flags) for item in items) != negated
        )

    def _walk(self) -> None:
        """Leave the empty steps out: each way through them is a step of its own."""
        new = [0]
        while new:
            state = new.pop()
            if state in self.steps:
                continue
            self.steps[state] = list(self._ahead(state, frozenset(), ()))
            new += [end for end, _ in self.steps[state]]

    def _ahead(
        self, state: int, barred: Letters, way: tuple[tuple[int, int], ...]
    ) -> Iterator[Edge]:
        for end, letters in self._reading[state]:
            if letters - barred:
                yield end, letters - barred
        for end, more in self._empty[state]:
            # A loop that read nothing is not gone through again.
            if (state, end) not in way:
                yield from self._ahead(end, barred | more, (*way, (state, end)))

    # Judging

    @cached_property
    def loops(self) -> list[frozenset[int]]:
        """The sets of states that lead back to each other."""
        found = [frozenset(loop) for loop in _strongly_connected(self.steps)]
        return sorted(found, key=min)

    def _reached(self, state: int) -> set[int]:
        seen: set[int] = set()
        new = [state]
        while new:
            for end, _ in self.steps[new.pop()]:
                if end not in seen:
                    seen.add(end)
                    new.append(end)
        return seen

    def finding(self) -> Finding | None:
        """What makes the number of steps grow too fast, or None: it is linear."""
        for loop in self.loops:
            word = self._twice(min(loop), loop)
            if word is not None:
                return Finding("exponential", self._lead(min(loop)), word)
        for first in self.loops:
            reach = self._reached(min(first))
            for second in self.loops:
                if second is first or not second <= reach:
                    continue
                for start in sorted(first):
                    for end in sorted(second):
                        word = self._both(start, first, end, second)
                        if word is not None:
                            return Finding("polynomial", self._lead(start), word)
        return None

    def _twice(self, state: int, loop: frozenset[int]) -> str | None:
        """A word that leads from a state back to it in two ways."""
        start = (state, state, False)
        new = deque([start])
        words = {start: ""}
        while new:
            one, other, apart = here = new.popleft()
            for i, (end, letters) in enumerate(self.steps[one]):
                for j, (last, others) in enumerate(self.steps[other]):
                    common = letters & others
                    if not common or end not in loop or last not in loop:
                        continue
                    there = (end, last, apart or (one == other and i != j) or one != other)
                    if there not in words:
                        words[there] = words[here] + min(common, key=_readable)
                        new.append(there)
        return words.get((state, state, True))

    def _both(
        self, start: int, first: frozenset[int], end: int, second: frozenset[int]
    ) -> str | None:
        """A word that leads around one loop, from it to another, and around the other."""
        begin, goal = (start, start, end), (start, end, end)
        new = deque([begin])
        words = {begin: ""}
        while new:
            here = new.popleft()
            for one, letters in self.steps[here[0]]:
                if one not in first:
                    continue
                for three, more in self.steps[here[2]]:
                    shared = letters & more
                    if three not in second or not shared:
                        continue
                    for two, between in self.steps[here[1]]:
                        common = shared & between
                        there = (one, two, three)
                        if not common or there in words:
                            continue
                        words[there] = words[here] + min(common, key=_readable)
                        if there == goal:
                            return words[there]
                        new.append(there)
        return None

    def _lead(self, state: int) -> str:
        """A shortest text that leads to a state."""
        words = {0: ""}
        new = deque([0])
        while new:
            here = new.popleft()
            for end, letters in self.steps[here]:
                if end not in words:
                    words[end] = words[here] + min(letters, key=_readable)
                    new.append(end)
        return words[state]

    def count(self, text: str) -> int:
        """The steps that a text takes which matches nowhere: the ways through all its beginnings.

        Characters that the pattern does not tell apart must be those of the alphabet.
        """
        ways = Counter({0: 1})
        total = 1
        for letter in text:
            after: Counter[int] = Counter()
            for state, number in ways.items():
                for end, letters in self.steps[state]:
                    if letter in letters:
                        after[end] += number
            ways = after
            total += ways.total()
        return total


def _strongly_connected(steps: dict[int, list[Edge]]) -> Iterator[set[int]]:
    """The sets of states that lead back to each other, one state alone only if it does to itself.

    Kosaraju's two walks, without recursion: an alternative of many words has many states.
    """
    order: list[int] = []
    back: dict[int, set[int]] = {state: set() for state in steps}
    seen: set[int] = set()
    for root, ahead in steps.items():
        way = [] if root in seen else [(root, iter(ahead))]
        seen.add(root)
        while way:
            state, rest = way[-1]
            for end, _ in rest:
                back[end].add(state)
                if end not in seen:
                    seen.add(end)
                    way.append((end, iter(steps[end])))
                    break
            else:
                order.append(state)
                way.pop()
    for root in reversed(order):
        if root not in seen:
            continue
        group, new = set(), [root]
        seen.discard(root)
        while new:
            state = new.pop()
            group.add(state)
            for start in back[state] & seen:
                seen.discard(start)
                new.append(start)
        if len(group) > 1 or any(end == root for end, _ in steps[root]):
            yield group


def finding(pattern: str | bytes, flags: int = 0) -> Finding | None:
    """What makes a pattern slow, or None: its steps are at most a constant per character."""
    return Automaton(pattern, flags & ~re.DEBUG).finding()


def _readable(letter: str) -> tuple[bool, bool, str]:
    return not letter.isprintable(), not letter.isascii(), letter


def _in(item: tuple[Any, Any], letter: str, flags: int) -> bool:
    what, about = item
    if what is op.CATEGORY:
        return re.fullmatch(_CATEGORIES[about], letter, flags & re.ASCII) is not None
    cases = _cases(ord(letter), flags)
    if what is op.RANGE:
        return any(about[0] <= one <= about[1] for one in cases)
    return about in cases


def _cases(code: int, flags: int) -> set[int]:
    if not flags & re.IGNORECASE:
        return {code}
    letter = chr(code)
    return {code} | {ord(c) for c in (letter.lower(), letter.upper()) if len(c) == 1}


def _single(tree: Any, flags: int) -> Iterator[tuple[tuple[Any, Any], int]]:
    """The parts of a pattern that read one character, and the flags that hold there."""
    for what, about in tree:
        if what in _ONE:
            yield (what, about), flags
        elif what is op.BRANCH:
            for branch in about[1]:
                yield from _single(branch, flags)
        elif what is op.SUBPATTERN:
            yield from _single(about[3], (flags | about[1]) & ~about[2])
        elif what is op.ATOMIC_GROUP:
            yield from _single(about, flags)
        elif what in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield from _single(about[2], flags)
        elif what in (op.ASSERT, op.ASSERT_NOT):
            yield from _single(about[1], flags)


def _named(tree: Any) -> Iterator[str]:
    """The characters that a pattern names, and those beside its ranges, in both cases."""
    codes: set[int] = set()
    for (what, about), _ in _single(tree, 0):
        items = about if what is op.IN else [(what, about)]
        for kind, value in items:
            if kind in (op.LITERAL, op.NOT_LITERAL):
                codes.add(value)
            elif kind is op.RANGE:
                codes |= {value[0] - 1, *value, value[1] + 1}
    for code in codes:
        if 0 <= code < 0x110000:
            yield from {chr(code), chr(code).lower()[:1], chr(code).upper()[:1]}
