"""What words mean: columns, quantities, and whether they fit each other."""

from collections.abc import Iterable, Sequence
from typing import Any
from typing import Literal as OneOf

from compass.chat.draft import How, Link
from compass.chat.english import synonyms
from compass.chat.english.grammar import Node
from compass.chat.english.lexicon import Phrase
from compass.chat.english.link import Index, Mention
from compass.chat.english.quantities import value_of
from compass.chat.english.spans import Spans
from compass.chat.english.words import QuantityForm, TextQuantity, word_set
from compass.domain.base import Value
from compass.domain.space import Number, Role
from compass.prepare.names import words as words_of

OPS = {"FIT": "<=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
PARAMETERS = (Role.KNOB, Role.CONTEXT)
_CLOSE = 0.9
_FITTING = {True: 0.55, False: 0.5}
_TOTAL = frozenset({"total", "overall"})
_AXES = word_set("x y z row rows col cols column columns width height")
Direction = OneOf["minimize", "maximize"]


class Anything:
    """Holds every value."""

    def __contains__(self, value: object) -> bool:
        return True


class Columns:
    """What words mean: columns, quantities, and whether they fit each other."""

    def __init__(self, spans: Spans, index: Index) -> None:
        """The spans of the message, and the words of the table."""
        self.spans = spans
        self.index = index

    def act(self, action: str, node: Node) -> Any:
        """What an action makes of a match; None: the words cannot mean this."""
        return getattr(self, action)(node)

    def _column(
        self, node: Node, *roles: Role, of: Sequence[TextQuantity] = (), only: bool = False
    ) -> tuple[str, tuple[Link, ...]] | None:
        """The column that words mean; of those that have these roles and can have these values."""
        mention = node.mention
        names = self.index.ranked(mention, roles)
        best = max(mention.scores.values())
        alike = [
            n
            for n, score in mention.scores.items()
            if only and self._role(n) in roles and score >= _FITTING[Role.OUTCOME in roles] * best
        ]
        if _TOTAL & set(mention.words.casefold().split()):
            names = tuple(name for name in names if "per" not in words_of(name))
            if not names:
                return None  # the total is not what is counted per node
        if alike:  # a goal is about an outcome, where the words can mean one
            top = max(mention.scores[n] for n in alike)
            names = tuple(n for n in alike if mention.scores[n] >= _CLOSE * top)
            names = tuple(sorted(names, key=lambda n: -mention.scores[n]))
        strict = [n for n in mention.scores if self._can_have(n, of)] if of else list(names)
        if not strict:
            return None
        kept = [name for name in names if name in strict]
        if not kept:
            best = max(mention.scores[name] for name in strict)
            kept = sorted(
                (n for n in strict if mention.scores[n] >= _CLOSE * best),
                key=lambda n: -mention.scores[n],
            )
        if mention.how is How.EXACT and mention.words == kept[0]:
            return kept[0], ()
        link = Link(words=mention.words, columns=tuple(kept[:6]), how=mention.how)
        return kept[0], (link,)

    def _can_have(self, name: str, of: Iterable[TextQuantity]) -> bool:
        return all(value_of(quantity, name, self.index) is not None for quantity in of)

    def _columns(
        self, node: Node, *roles: Role, of: Sequence[TextQuantity] = (), only: bool = False
    ) -> tuple[tuple[str, ...], tuple[Link, ...]] | None:
        names: list[str] = []
        links: list[Link] = []
        for one in node.find("COL"):
            found = self._column(one, *roles, of=of, only=only)
            if found is None:
                return None
            mention = one.span.value if one.span is not None else None
            several = self._several(mention, found[0])
            names += several
            links += (
                found[1]
                if len(several) == 1
                else [
                    Link(words=link.words, columns=(name,), how=link.how)
                    for link in found[1]
                    for name in several
                ]
            )
        return tuple(dict.fromkeys(names)), tuple(links)

    def _several(self, mention: object, name: str) -> tuple[str, ...]:
        """Block sizes: all columns of the family."""
        assert isinstance(mention, Mention)
        if not mention.words.endswith("s") or mention.how is How.EXACT:
            return (name,)
        close = [n for n in mention.scores if mention.scores[n] >= _CLOSE * mention.scores[name]]
        family = self._family([name, *close])
        return family if name in family else (name,)

    def _role(self, name: str) -> Role:
        return self.index.parameters[name].role

    def _outcome(self, name: str) -> bool:
        return self._role(name) is Role.OUTCOME

    def _number(self, name: str) -> bool:
        return isinstance(self.index.parameters[name], Number)

    def better(self, name: str) -> Direction:
        """Whether less or more of an outcome is better."""
        larger = synonyms.larger_is_better(self.index.stems[name])
        return "maximize" if larger else "minimize"

    def _amounts(self, node: Node) -> list[TextQuantity]:
        found = node.find("NUM", "PCT", "FRAC", "FACTOR")
        return [self._quantity(one) for one in found]

    def _quantity(self, node: Node) -> TextQuantity:
        value = node.span.value if node.span is not None else None
        if isinstance(value, Phrase):
            return TextQuantity(value.factor, QuantityForm.FACTOR)
        assert isinstance(value, TextQuantity)
        return value

    def _same_unit(self, first: TextQuantity, second: TextQuantity) -> TextQuantity:
        """From 6 to 12 hours: the first in the unit of the second, if it has none."""
        if first.form is not QuantityForm.NUMBER or first.unit is not None:
            return first
        if second.form is QuantityForm.SHARE:
            return TextQuantity(first.value / 100, QuantityForm.SHARE)
        return TextQuantity(first.value, first.form, second.unit)

    def _family(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns whose names differ from the first by x, y, z or rows and columns alone."""
        first = _without_axis(names[0])
        alike = [n for n in self.index.parameters if _without_axis(n) == first and n in names]
        return tuple(alike) if first != tuple(words_of(names[0])) else (names[0],)

    def _legal(self, name: str) -> Anything | tuple[Value, ...]:
        """The values that a list allows; anything where there is no list."""
        parameter = self.index.parameters[name]
        if isinstance(parameter, Number) and parameter.allowed is not None:
            return parameter.allowed
        return Anything()


def _without_axis(name: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(name) if word not in _AXES)
