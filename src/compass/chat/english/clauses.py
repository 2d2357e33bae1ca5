"""The actions of the grammar: facts from what a production matched, or None where it makes none."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from typing import Literal as OneOf

from compass.chat.draft import How, Link
from compass.chat.english import synonyms
from compass.chat.english.facts import (
    Ask,
    Bare,
    Count,
    Drop,
    Equal,
    Everything,
    Fact,
    Facts,
    Keep,
    Limit,
    Loose,
    LooseMove,
    Measured,
    Misfit,
    Moved,
    Named,
    Relation,
    Wanted,
    Watch,
)
from compass.chat.english.grammar import Node
from compass.chat.english.lexicon import ASKED, FILLER, Phrase
from compass.chat.english.link import Index, LabelMention, Mention
from compass.chat.english.quantities import columns_of_unit, fits, number_of, value_of, whole
from compass.chat.english.spans import Spans
from compass.chat.english.words import QuantityForm, TextQuantity, compact, stem
from compass.domain.base import Value
from compass.domain.expression import Arithmetic, Comparison, Expression, Literal, Name
from compass.domain.goal import Change, Extreme, Reach, Same
from compass.domain.query import Plus, SetTo, Times
from compass.domain.space import Category, Number, Role
from compass.language import parse_rule
from compass.language.format import format_name
from compass.prepare.names import words as words_of

_OPS = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_PARAMETERS = (Role.KNOB, Role.CONTEXT)
_ON = frozenset("on yes true with enabled enable active activate activated".split())
_CLOSE = 0.9
# Of the best score: columns of another role are not meant then; by whether outcomes are wanted.
_FITTING = {True: 0.55, False: 0.5}
_CONCEPTS = {
    "fast": (synonyms.TIME, synonyms.PERFORMANCE),
    "slow": (synonyms.TIME, synonyms.PERFORMANCE),
    "cheap": (synonyms.COST, synonyms.ENERGY),
    "green": (synonyms.ENERGY, synonyms.POWER),
    "strong": (synonyms.PERFORMANCE, synonyms.TIME),
    "accurate": (synonyms.ACCURACY,),
    "wait": (synonyms.WAITING,),
}
Direction = OneOf["minimize", "maximize"]


class _Anything:
    """Holds every value."""

    def __contains__(self, value: object) -> bool:
        return True


class Clauses:
    """Makes facts of clauses of one message about one table."""

    def __init__(self, spans: Spans, index: Index) -> None:
        """The spans of the message, and the words of the table."""
        self.spans = spans
        self.index = index

    def act(self, action: str, node: Node) -> Any:
        """What an action makes of a match; None: the words cannot mean this."""
        return getattr(self, action)(node)

    # ------------------------------------------------------------------ columns

    def _column(
        self, node: Node, *roles: Role, of: Sequence[TextQuantity] = (), only: bool = False
    ) -> tuple[str, tuple[Link, ...]] | None:
        """The column that words mean; of those that have these roles and can have these values."""
        mention = node.span.value if node.span is not None else None
        assert isinstance(mention, Mention)
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
        names, links = [], []
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

    # ------------------------------------------------------------------- bounds

    def op(self, node: Node) -> str:
        return _OPS[node.parts[0].name]

    def flipped(self, node: Node) -> str:
        return _FLIPPED[_OPS[node.parts[-1].name]]

    def pair(self, node: Node) -> tuple[TextQuantity, TextQuantity]:
        first, second = self._amounts(node)
        return self._same_unit(first, second), second

    def bound(self, node: Node) -> Facts | None:
        amounts = self._amounts(node)
        op = next(node.find("limit")).value
        if node.has("PLUS") or self._only_commas(node):
            return None  # of a sum; of the last of several nouns
        if amounts[0].unit is None and self._noun_behind(node):
            return None  # at most 7 wombats
        found = self._columns(node, *self._likely(amounts[0]), of=amounts)
        if found is None or self._is_tolerance(node, amounts[0], found[0]):
            return None
        return self._limits(found, [(op, amounts[0])])

    def _only_commas(self, node: Node) -> bool:
        """The encoder, vmaf above 92: a list without an `and` is none that shares a bound."""
        signs = [*node.find("sep")]
        return bool(signs) and not any(sign.has("AND", "OR") for sign in signs)

    def _is_tolerance(self, node: Node, amount: TextQuantity, names: Sequence[str]) -> bool:
        """Within 5 %: of what it was."""
        within = next(node.find("LE"), None)
        if within is None or amount.form is not QuantityForm.SHARE:
            return False
        said = within.span.value.words  # type: ignore[union-attr]
        percent = any("pct" in words_of(n) or "percent" in words_of(n) for n in names)
        return said.endswith("within") and not percent and all(map(self._outcome, names))

    def _likely(self, amount: TextQuantity) -> tuple[Role, ...]:
        return ()

    def _limits(
        self,
        found: tuple[tuple[str, ...], tuple[Link, ...]],
        pairs: Sequence[tuple[str, TextQuantity]],
    ) -> Facts | None:
        facts: list[Fact] = []
        for name in found[0]:
            for op, amount in pairs:
                number = number_of(amount, name, self.index)
                if number is None:
                    return None
                facts.append(Limit(name, op, number))
        return Facts(tuple(facts), found[1])

    def bound_named(self, node: Node) -> Facts | None:
        """The ROB at most 64 entries: the noun behind the number names the column again."""
        first, second = node.find("COL")
        amounts = self._amounts(node)
        found = self._column(first, of=amounts)
        again = second.span.value if second.span is not None else None
        assert isinstance(again, Mention)
        if found is None or found[0] not in again.scores:
            return None
        return self._limits(((found[0],), found[1]), [(next(node.find("limit")).value, amounts[0])])

    def bounds(self, node: Node) -> Facts | None:
        amounts = self._amounts(node)
        ops = [one.value for one in node.find("limit")]
        found = self._columns(node, of=amounts)
        return None if found is None else self._limits(found, [*zip(ops, amounts, strict=True)])

    def not_beyond(self, node: Node) -> Facts | None:
        made = self.bound(node)
        if made is None:
            return None
        turned = tuple(
            Limit(f.name, _FLIPPED[f.op], f.value) for f in made.all if isinstance(f, Limit)
        )
        return Facts(turned, made.links)

    def free_bound(self, node: Node) -> Facts | None:
        return self._free([(next(node.find("limit")).value, self._amounts(node)[0])], node)

    def _free(self, pairs: Sequence[tuple[str, TextQuantity]], node: Node) -> Facts | None:
        """A bound on what was spoken of, else on the column that its unit tells."""
        amount = pairs[-1][1]
        before = self.spans.source.found[node.first - 1].low if node.first else ""
        if self._noun_behind(node) or self._noun_before(node) or before == "by":
            return None  # by more than 100: of a change, not of what it is
        names = columns_of_unit(amount, self.index)
        if amount.unit is not None and not names:
            return None
        words = self.spans.words(node.start, node.end)
        return Facts(tuple(Loose(op, one, names, words) for op, one in pairs))

    def _noun_behind(self, node: Node) -> bool:
        """At most 4 widgets: an unknown noun is what is bounded."""
        if node.end >= self.spans.length:
            return False
        here = self.spans.at[node.end]
        return any(span.tag == "WORD" and span.left > 1.0 for span in here)

    def _noun_before(self, node: Node) -> bool:
        """Colour < 3: an unknown noun is what is bounded."""
        found, place = self.spans.source.found, node.start - 1
        while place >= 0 and found[place].low in _COPULAS:
            place -= 1
        return place >= 0 and any(s.tag == "WORD" and s.left > 1.0 for s in self.spans.at[place])

    def or_bound(self, node: Node) -> Facts | None:
        amounts = self._amounts(node)
        found = self._columns(node, of=amounts)
        if found is None:
            return None
        facts: list[Fact] = []
        for name in found[0]:
            op = "<=" if node.has("ORLESS") else ">="
            if node.has("ORBETTER"):
                op = ">=" if self.better(name) == "maximize" else "<="
            number = number_of(amounts[0], name, self.index)
            if number is None:
                return None
            facts.append(Limit(name, op, number))
        return Facts(tuple(facts), found[1])

    def free_or_bound(self, node: Node) -> Facts | None:
        op = "<=" if node.has("ORLESS") else ">="
        return self._free([(op, self._amounts(node)[0])], node)

    def between(self, node: Node) -> Facts | None:
        first, second = next(node.find("range")).value
        found = self._columns(node, *self._likely(second), of=(first, second))
        if found is None:
            return None
        return self._ranged(found, first, second)

    def _ranged(
        self,
        found: tuple[tuple[str, ...], tuple[Link, ...]],
        first: TextQuantity,
        second: TextQuantity,
    ) -> Facts | None:
        facts: list[Fact] = []
        for name in found[0]:
            ends = [number_of(one, name, self.index) for one in (first, second)]
            low, high = ends
            if low is None or high is None:
                return None
            facts += [Limit(name, ">=", min(low, high)), Limit(name, "<=", max(low, high))]
        return Facts(tuple(facts), found[1])

    def repeated(self, node: Node) -> Facts:
        """Keep it under that value: said before."""
        return Facts(())

    def bare(self, node: Node) -> Facts | None:
        said = [t for t in self.spans.source.found if t.low not in FILLER and t.text[0].isalnum()]
        before = [s for row in self.spans.at[: node.start] for s in row if s.end == node.start]
        if len(said) > _BARE_MESSAGE or self._noun_behind(node):
            return None
        if any(span.left >= ASKED for span in before):
            return None
        return Facts((Bare(self._amounts(node)[0], self.spans.words(node.start, node.end)),))

    def limit_noun(self, node: Node) -> Facts | None:
        """4 nodes is the upper limit."""
        phrase = next(node.find("LE", "GE"), None)
        if phrase is None or "limit" not in phrase.span.value.words:  # type: ignore[union-attr]
            return None
        return self.bound(node)

    def misfit(self, node: Node) -> Facts | None:
        """The schedule is foobar: no value of it."""
        word = next(node.find("WORD"))
        if word.span is None or word.span.left < 1.0:
            return None
        column = next(node.find("COL"))
        between = self.spans.source.found[column.end : word.start]
        told = node.has("EQ", "BE", "SET") or (node.has("IS") and bool(between))
        if not all(token.low in _COPULAS | {"=", "==", ":", "not", "to"} for token in between):
            return None
        if not told and _VERB.search(self.spans.source.found[word.start].low):
            return None  # my card keeps failing
        found = self._column(next(node.find("COL")), *_PARAMETERS)
        if found is None or self._outcome(found[0]):
            return None
        said = self.spans.words(word.start, word.end).strip("\"'`")
        return Facts((Misfit(found[0], said, self.spans.words(node.start, node.end)),), ())

    def free_between(self, node: Node) -> Facts | None:
        first, second = next(node.find("range", "spread")).value
        return self._free([(">=", first), ("<=", second)], node)

    def spread_over(self, node: Node) -> Facts | None:
        """Nodes from 4 to 8: a range, or a change where something is tried out."""
        first, second = next(node.find("spread")).value
        found = self._columns(node, *self._likely(second), of=(first, second))
        if found is None:
            return None
        if len(found[0]) == 1 and not self._outcome(found[0][0]):
            name = found[0][0]
            old, new = (value_of(one, name, self.index) for one in (first, second))
            if new is None or new not in self._legal(name):
                return None
            return Facts(
                (Moved(name, SetTo(value=new), old, spread=not node.has("FROM")),), found[1]
            )
        return self._ranged(found, first, second)

    def than_bound(self, node: Node) -> Facts | None:
        op = ">" if node.has("MORE") else "<"
        if node.has("NOT"):
            op = _FLIPPED[op]
        amounts = self._amounts(node)
        found = self._columns(node, of=amounts)
        return None if found is None else self._limits(found, [(op, amounts[0])])

    # ------------------------------------------------------------------- values

    def _labels(self, nodes: Iterable[Node], of: str | None) -> list[tuple[str, Value]] | None:
        """The column and value of each label: all of one column, that one if it is given."""
        mentions = []
        for node in nodes:
            mention = node.span.value if node.span is not None else None
            assert isinstance(mention, LabelMention)
            mentions.append(mention)
        if not mentions:
            return None
        common = [name for name, _ in mentions[0].labels]
        common = [
            name
            for name in dict.fromkeys(common)
            if all(name in dict(m.labels) for m in mentions) and of in (None, name)
        ]
        if not common:
            return None
        name = min(common, key=self._outcome)
        return [
            (name, value)
            for mention in mentions
            for column, value in mention.labels
            if column == name
        ]

    def _label_links(self, nodes: Iterable[Node]) -> tuple[Link, ...]:
        links = []
        for node in nodes:
            mention = node.span.value if node.span is not None else None
            assert isinstance(mention, LabelMention)
            columns = sorted(dict.fromkeys(n for n, _ in mention.labels), key=self._outcome)
            if mention.how is not How.EXACT or len(columns) > 1:
                links.append(Link(words=mention.words, columns=tuple(columns), how=mention.how))
        return tuple(links)

    def setting(self, node: Node) -> Facts | None:
        """A column and its values, or labels that tell their column."""
        made = self._setting(node)
        return None if made is None else Facts((made[0],), made[1])

    def unit_setting(self, node: Node) -> Facts | None:
        """At 800 MHz: the unit tells the parameter."""
        amounts = self._amounts(node)
        amounts = [self._same_unit(amount, amounts[-1]) for amount in amounts]
        if amounts[-1].unit is None or self._noun_behind(node):
            return None
        names = [n for n in columns_of_unit(amounts[-1], self.index) if not self._outcome(n)]
        if len(names) != 1 or not all(fits(a, names[0], self.index, wide=1.5) for a in amounts):
            return None
        values = tuple(value_of(amount, names[0], self.index) for amount in amounts)
        if any(value not in self._legal(names[0]) for value in values):
            return None
        words = self.spans.words(node.start, node.end)
        link = Link(words=words, columns=(names[0],), how=How.SYNONYM)
        return Facts((Equal(names[0], values),), (link,))

    def _setting(self, node: Node) -> tuple[Equal, tuple[Link, ...]] | None:
        columns, labels = [*node.find("COL")], [*node.find("LAB")]
        amounts = [self._quantity(one) for one in node.find("NUM", "PCT")]
        if len(columns) > 1 or (labels and amounts) or not (labels or amounts):
            return None
        cue = "only" if node.has("ONLY") else ""
        if not columns:
            pairs = self._labels(labels, None)
            if pairs is None:
                return None
            values = tuple(value for _, value in pairs)
            return Equal(pairs[0][0], values, cue), self._label_links(labels)
        if labels:
            return self._labelled(columns[0], labels, cue)
        if amounts and any(a.unit is not None for a in amounts):
            amounts = [self._same_unit(one, amounts[-1]) for one in amounts]
        found = self._column(columns[0], *self._likely(amounts[0]), of=amounts)
        if found is None:
            return None
        name, links = found
        if self._is_one(node):
            return None
        if self._outcome(name) and node.has("BE") and not node.has("EQ", "KEEP", "SET"):
            return None  # it is 3 s: that is what it is now
        if not all(amount.unit or self._near(amount, name) for amount in amounts):
            return None
        if any(value_of(amount, name, self.index) not in self._legal(name) for amount in amounts):
            return None
        values = tuple(value_of(amount, name, self.index) for amount in amounts)
        return Equal(name, values, cue), links

    def _legal(self, name: str) -> _Anything | tuple[Value, ...]:
        """The values that a list allows; anything where there is no list."""
        parameter = self.index.parameters[name]
        if isinstance(parameter, Number) and parameter.allowed is not None:
            return parameter.allowed
        return _Anything()

    def illegal(self, node: Node) -> Facts | None:
        """At 5 nm: a number that the column does not have."""
        columns = [*node.find("COL")]
        amounts = [self._quantity(one) for one in node.find("NUM")]
        found = self._column(columns[0], *_PARAMETERS, of=amounts)
        if found is None or self._outcome(found[0]):
            return None
        value = value_of(amounts[0], found[0], self.index)
        if value is None or value in self._legal(found[0]):
            return None
        words = self.spans.words(node.start, node.end)
        return Facts((Misfit(found[0], f"{value:g}", words),), ())

    def _is_one(self, node: Node) -> bool:
        """One epoch takes 60 s: the word counts nothing."""
        first = next(node.find("NUM"), None)
        found = self.spans.source.found
        if first is None or found[first.start].low != "one" or node.end >= self.spans.length:
            return False
        return any(span.tag in ("MEASURED", "FASTER") for span in self.spans.at[node.end])

    def _near(self, amount: TextQuantity, name: str) -> bool:
        """Whether a number is of the size that a column has."""
        parameter = self.index.parameters[name]
        if not isinstance(parameter, Number):
            return True
        value = number_of(amount, name, self.index)
        wide = 4.0
        return value is not None and parameter.low / wide <= value <= parameter.high * wide

    def _labelled(
        self, column: Node, labels: Sequence[Node], cue: str
    ) -> tuple[Equal, tuple[Link, ...]] | None:
        mention = column.span.value if column.span is not None else None
        assert isinstance(mention, Mention)
        ranked = sorted(mention.scores, key=lambda name: -mention.scores[name])
        for name in ranked:
            pairs = self._labels(labels, name)
            if pairs is not None:
                exact = mention.how is How.EXACT
                link = Link(words=mention.words, columns=(name,), how=mention.how)
                fuzzy = [one for one in self._label_links(labels) if one.how is How.FUZZY]
                links = (*(() if exact else (link,)), *fuzzy)
                return Equal(name, tuple(value for _, value in pairs), cue), links
        return None

    def switched(self, node: Node) -> Facts | None:
        """Hyperthreading on; without compression."""
        found = self._column(next(node.find("COL")), *_PARAMETERS)
        if found is None:
            return None
        name, links = found
        words = next(node.find("ONOFF")).span.value.words  # type: ignore[union-attr]
        if node.parts[-1].name == "ONOFF" and words in _BEFORE_NOUN:
            return None  # runtime without ...
        on = bool(_ON & set(words.split())) and "off" not in words.split()
        if not on and self._optional(name):
            return Facts((Equal(name, (None,)),), links)
        value = self._truth(name, on)
        return None if value is None else Facts((Equal(name, (value,)),), links)

    def _optional(self, name: str) -> bool:
        """Whether a run may have no value of it."""
        parameter = self.index.parameters[name]
        if isinstance(parameter, Category):
            return None in parameter.values
        return parameter.optional

    def _truth(self, name: str, on: bool) -> Value | None:
        """The value of a switch: true, 1, on, yes, or their opposites."""
        parameter = self.index.parameters[name]
        spelled = ("true", "1", "on", "yes") if on else ("false", "0", "off", "no", "none")
        if isinstance(parameter, Category):
            if len(parameter.values) > 3:
                return None
            return next((v for v in parameter.values if str(v).casefold() in spelled), None)
        if not on and parameter.low == 0:
            return 0
        if not on and parameter.low == 1 and "parallel" in words_of(name):
            return 1
        return 1 if on and parameter.low == 0 and parameter.high == 1 else None

    def _equals(self, node: Node, cue: str = "", *, negative: bool = False) -> Facts:
        facts, links = [], []
        for one in node.find("setting"):
            for equal in one.value.all:
                told = cue or equal.cue
                facts.append(Equal(equal.name, equal.values, told, negative))
            links += one.value.links
        return Facts(tuple(facts), tuple(links))

    def given_values(self, node: Node) -> Facts:
        return self._equals(node)

    def tried(self, node: Node) -> Facts:
        verb = next(node.find("SET"), None)
        said = verb.span.value.words if verb is not None and verb.span is not None else ""  # type: ignore[attr-defined]
        return self._equals(node, "with" if said in _RUNNING else "set")

    def with_values(self, node: Node) -> Facts:
        return self._equals(node, "with")

    def only_values(self, node: Node) -> Facts:
        return self._equals(node, "only")

    def fine(self, node: Node) -> Facts:
        return self._equals(node, "fine")

    def now(self, node: Node) -> Facts | None:
        facts = self._equals(node, "now")
        return self._as_now(facts)

    def _as_now(self, facts: Facts) -> Facts:
        told: list[Fact] = []
        for fact in facts.all:
            if isinstance(fact, Equal) and self._outcome(fact.name) and self._number(fact.name):
                told.append(Measured(fact.name, float(str(fact.values[0]))))
            else:
                told.append(fact)
        return Facts(tuple(told), facts.links)

    def now_measured(self, node: Node) -> Facts | None:
        amounts = self._amounts(node)
        columns = [*node.find("COL")]
        if columns:
            found = self._column(columns[0], Role.OUTCOME, of=amounts)
            if found is None or not self._outcome(found[0]):
                return None
            name, links = found
        else:
            names = [n for n in columns_of_unit(amounts[0], self.index) if self._outcome(n)]
            if not names:
                return None
            words = self.spans.words(node.start, node.end)
            name, links = names[0], (Link(words=words, columns=tuple(names[:6]), how=How.SYNONYM),)
        number = number_of(amounts[0], name, self.index)
        return None if number is None else Facts((Measured(name, number, amounts[0]),), links)

    def not_values(self, node: Node) -> Facts | None:
        if node.has("setting"):
            return self._equals(node, negative=True)
        columns, labels = [*node.find("COL")], [*node.find("LAB")]
        amounts = [self._quantity(one) for one in node.find("NUM", "PCT")]
        if labels and not amounts:
            made = self._labelled(columns[0], labels, "") if columns else None
            if not columns:
                pairs = self._labels(labels, None)
                if pairs is not None:
                    values = tuple(value for _, value in pairs)
                    made = Equal(pairs[0][0], values), self._label_links(labels)
        elif amounts and columns and not labels:
            found = self._column(columns[0], of=amounts)
            if found is None:
                return None
            several = tuple(value_of(amount, found[0], self.index) for amount in amounts)
            made = Equal(found[0], several), found[1]
        else:
            return None
        if made is None:
            return None
        return Facts((Equal(made[0].name, made[0].values, negative=True),), made[1])

    def forbidden(self, node: Node) -> Facts:
        return self._equals(node, negative=True)

    # ------------------------------------------------------------------ changes

    def _changed(self, node: Node, old: Node | None, new: Node) -> Facts | None:
        """A parameter or an outcome that goes from one value to another."""
        columns = [*node.find("COL")]
        ends = [one for one in (old, new) if one is not None]
        labels = [leaf for end in ends for leaf in end.find("LAB")]
        amounts = [self._quantity(leaf) for end in ends for leaf in end.find("NUM", "PCT")]
        if not columns and amounts and not labels and amounts[-1].unit is not None:
            names = [n for n in columns_of_unit(amounts[-1], self.index) if not self._outcome(n)]
            if len(names) == 1:
                amounts = [self._same_unit(one, amounts[-1]) for one in amounts]
                values = tuple(value_of(amount, names[0], self.index) for amount in amounts)
                if None in values or values[-1] not in self._legal(names[0]):
                    return None
                link = Link(
                    words=self.spans.words(node.start, node.end),
                    columns=(names[0],),
                    how=How.SYNONYM,
                )
                before = values[0] if old is not None else None
                if old is not None and new.start < old.start:
                    before = values[0]
                return Facts((Moved(names[0], SetTo(value=values[-1]), before),), (link,))
        if labels:
            if amounts:
                return None
            if columns:
                made = self._labelled(columns[0], labels, "")
                if made is None:
                    return None
                name, values, links = made[0].name, made[0].values, made[1]
            else:
                pairs = self._labels(labels, None)
                if pairs is None:
                    return None
                name, values = pairs[0][0], tuple(value for _, value in pairs)
                links = self._label_links(labels)
        else:
            amounts = [self._same_unit(one, amounts[-1]) for one in amounts]
            if not columns:
                return None
            found = self._column(columns[0], *_PARAMETERS, of=amounts)
            if found is None:
                return None
            name, links = found
            values = tuple(value_of(amount, name, self.index) for amount in amounts)
            if not self._outcome(name) and values[-1] not in self._legal(name):
                return None
        before = values[0] if old is not None else None
        if self._outcome(name):
            if not self._number(name):
                return None
            goal = Reach(value=float(str(values[-1])))
            facts: tuple[Fact, ...] = (Wanted(name, goal),)
            if before is not None:
                facts = (*facts, Measured(name, float(str(before))))
            return Facts(facts, links)
        return Facts((Moved(name, SetTo(value=values[-1]), before),), links)

    def moved(self, node: Node) -> Facts | None:
        old, new = [*node.find("value", "LAB")][:2]
        return self._changed(node, old, new)

    def moved_settings(self, node: Node) -> Facts | None:
        """From acks=1 to acks=all."""
        old, new = (one.value.all[0] for one in node.find("setting"))
        if old.name != new.name or len(old.values) != 1 or len(new.values) != 1:
            return None
        links = tuple(link for one in node.find("setting") for link in one.value.links)
        return Facts((Moved(new.name, SetTo(value=new.values[0]), old.values[0]),), links)

    def succeeds(self, node: Node) -> Facts | None:
        """That actually finishes: the class of runs that went well."""
        if node.end < self.spans.length:
            behind = {span.tag for span in self.spans.at[node.end]}
            if behind & {*_OPS, "WITH", "BETWEEN"} or "by" == self.spans.source.found[node.end].low:
                return None  # must finish within an hour
        for name, parameter in self.index.parameters.items():
            if not (isinstance(parameter, Category) and self._outcome(name)):
                continue
            good = [v for v in parameter.values if self._is_good(name, v)]
            if len(good) == 1:
                link = Link(
                    words=self.spans.words(node.start, node.end), columns=(name,), how=How.SYNONYM
                )
                return Facts((Equal(name, (good[0],)),), (link,))
        return None

    def _is_good(self, name: str, value: Value) -> bool:
        if isinstance(value, bool):
            return value and bool(self.index.stems[name] & synonyms.SUCCESS)
        return compact(str(value)) in synonyms.ENDINGS[0]

    def set_to(self, node: Node) -> Facts | None:
        return self._changed(node, None, next(node.find("value")))

    def instead(self, node: Node) -> Facts | None:
        new, old = [*node.find("value")][:2]
        return self._changed(node, old, new)

    def instead_first(self, node: Node) -> Facts | None:
        old, new = [*node.find("value")][:2]
        return self._changed(node, old, new)

    def swapped(self, node: Node) -> Facts | None:
        """Replace static with dynamic."""
        both = [*node.find("value")]
        verb = next(node.find("SET")).span.value.words  # type: ignore[union-attr]
        if not verb.startswith(("replac", "swap", "substitut", "exchang", "set", "chang")):
            return None
        return self._changed(node, both[0] if len(both) > 1 else None, both[-1])

    def switched_on(self, node: Node) -> Facts | None:
        """What if we went spot?"""
        found = self._column(next(node.find("COL")), *_PARAMETERS)
        if found is None or self._outcome(found[0]):
            return None
        parameter = self.index.parameters[found[0]]
        value = self._truth(found[0], True)
        if value is None or (isinstance(parameter, Category) and len(parameter.values) != 2):
            return None
        return Facts((Equal(found[0], (value,), "set"),), found[1])

    def with_switch(self, node: Node) -> Facts | None:
        """With hyperthreading; but not: play with the tile."""
        before = self.spans.source.found[node.first - 1].low if node.first else ""
        said = next(node.find("WITH")).span.value.words  # type: ignore[union-attr]
        if said != "with" or before in _PLAYING:
            return None
        made = self.switched_on(node)
        if made is None:
            return None
        return Facts(tuple(replace(f, cue="with") for f in made.all if isinstance(f, Equal)), made.links)

    def switched_off(self, node: Node) -> Facts | None:
        """Drop collective io."""
        found = self._column(next(node.find("COL")), *_PARAMETERS)
        if found is None or self._outcome(found[0]) or self._truth(found[0], True) is None:
            return None
        value = self._truth(found[0], False)
        return None if value is None else Facts((Equal(found[0], (value,), "set"),), found[1])

    def _down(self, node: Node) -> bool:
        return node.has("RED", "LESS", "REMOVE")

    def moved_by(self, node: Node) -> Facts | None:
        """Less or more by an amount or a share: a goal of an outcome, a change of a parameter."""
        amount = self._amounts(node)[0]
        down = self._down(node)
        if node.has("NOT"):
            return None
        share = amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
        found = self._columns(node, Role.OUTCOME, of=() if share else (amount,))
        if found is None:
            return None
        facts = [self._by(name, amount, down=down) for name in found[0]]
        if any(fact is None for fact in facts):
            return None
        return Facts(tuple(fact for fact in facts if fact is not None), found[1])

    def _by(self, name: str, amount: TextQuantity, *, down: bool) -> Fact | None:
        if not self._number(name):
            return None
        share = amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
        size = amount.value
        if size <= 0 or (share and down and size >= 1):
            return None
        if self._outcome(name):
            way: OneOf["reduce", "increase"] = "reduce" if down else "increase"
            if share:
                return Wanted(name, Change(direction=way, by=float(f"{size:.12g}")))
            number = number_of(amount, name, self.index)
            if number is None:
                return None
            return Wanted(name, Change(direction=way, by=number, relative=False))
        if share:
            factor = 1 - size if down else 1 + size
            return Moved(name, Times(factor=float(f"{factor:.12g}")))
        number = number_of(amount, name, self.index)
        return None if number is None else Moved(name, Plus(amount=-number if down else number))

    def moved_to(self, node: Node) -> Facts | None:
        amounts = self._amounts(node)
        found = self._columns(node, Role.OUTCOME, of=amounts)
        if found is None:
            return None
        facts: list[Fact] = []
        for name in found[0]:
            number = number_of(amounts[0], name, self.index)
            if number is None:
                return None
            if self._outcome(name):
                limits = [*node.find("limit")]
                op = limits[0].value if limits else "<=" if self._down(node) else ">="
                facts.append(Limit(name, op, number))
            else:
                facts.append(Moved(name, SetTo(value=whole(number))))
        return Facts(tuple(facts), found[1])

    def moved_only(self, node: Node) -> Facts | None:
        """Reduce power: as far as possible. Of a parameter it does not say how far."""
        if node.has("NOT"):
            return None
        found = self._columns(node, Role.OUTCOME)
        if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        way: Direction = "minimize" if self._down(node) else "maximize"
        goals = (Wanted(n, Extreme(direction=way), weak=True) for n in found[0])
        return Facts(tuple(goals), found[1])

    def free_moved_by(self, node: Node) -> Facts | None:
        """Bring it down by a third; 40 kWh less than now."""
        amount = self._amounts(node)[0]
        if node.has("NOT") or self._noun_behind(node) or amount.value <= 0:
            return None
        share = amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
        names = () if share else columns_of_unit(amount, self.index)
        if not share and not names:
            return None
        words = self.spans.words(node.start, node.end)
        return Facts((LooseMove(amount, self._down(node), names, words),))

    def by(self, name: str, amount: TextQuantity, *, down: bool) -> Fact | None:
        """The fact that a column goes down or up by an amount."""
        return self._by(name, amount, down=down)

    def faster_in(self, node: Node) -> Facts | None:
        """20 percent cheaper in core hours."""
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        amount = self._amounts(node)[0]
        facts = [self._by(n, amount, down=self.better(n) == "minimize") for n in found[0]]
        if any(fact is None for fact in facts):
            return None
        return Facts(tuple(fact for fact in facts if fact is not None), found[1])

    def moved_each(self, node: Node) -> Facts | None:
        """Cpu power by 50 W and memory power by 10 W."""
        columns, amounts = [*node.find("COL")], self._amounts(node)
        facts, links = [], []
        for column, amount in zip(columns, amounts, strict=True):
            share = amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
            found = self._column(column, Role.OUTCOME, of=() if share else (amount,))
            fact = self._by(found[0], amount, down=self._down(node)) if found else None
            if found is None or fact is None:
                return None
            facts.append(fact)
            links += found[1]
        return Facts(tuple(facts), tuple(links))

    def added(self, node: Node) -> Facts | None:
        amount = self._amounts(node)[0]
        found = self._columns(node, *_PARAMETERS, of=(amount,))
        if found is None or self._outcome(found[0][0]):
            return None
        down = node.has("REMOVE", "LESS")
        fact = self._by(found[0][0], amount, down=down)
        return None if fact is None else Facts((fact,), found[1])

    def added_to(self, node: Node) -> Facts | None:
        return self.moved_by(node)

    def scaled(self, node: Node) -> Facts | None:
        """Double the nodes, half the power, twice the throughput."""
        phrase = next(node.find("DOUBLE", "FACTOR"))
        factor = self._quantity(phrase).value
        if node.has("LESS"):
            factor = 1 / factor if factor > 1 else factor
        if node.has("RED") and factor > 1:
            factor = 1 / factor
        return self._scaled(node, factor)

    def scaled_to(self, node: Node) -> Facts | None:
        fractions = [*node.find("FRAC", "FACTOR")]
        return self._scaled(node, self._quantity(fractions[0]).value)

    def _scaled(self, node: Node, factor: float) -> Facts | None:
        found = self._columns(node, Role.OUTCOME)
        if found is None or factor <= 0 or factor == 1:
            return None
        facts: list[Fact] = []
        for name in found[0]:
            if not self._number(name):
                return None
            if not self._outcome(name):
                facts.append(Moved(name, Times(factor=float(f"{factor:.12g}"))))
                continue
            by = float(f"{abs(factor - 1):.12g}")
            way: OneOf["reduce", "increase"] = "reduce" if factor < 1 else "increase"
            facts.append(Wanted(name, Change(direction=way, by=by)))
        return Facts(tuple(facts), found[1])

    def reached(self, node: Node) -> Facts | None:
        amounts = self._amounts(node)
        found = self._columns(node, Role.OUTCOME, of=amounts)
        if found is None or not self._outcome(found[0][0]):
            return None
        op = ">=" if self.better(found[0][0]) == "maximize" else "<="
        return self._limits(found, [(op, amounts[0])])

    # -------------------------------------------------------------------- goals

    def _about(self, node: Node) -> tuple[str, tuple[Link, ...]] | None:
        """The outcome that an adjective speaks of: fastest is about the run time."""
        phrase = next(node.find("BEST", "FASTER", "EQUALLY", "NOSLOWER"))
        part = phrase.span.value if phrase.span is not None else None
        assert isinstance(part, Phrase)
        for concept in _CONCEPTS[part.concept]:
            names = self.index.about(concept)
            if names:
                words = self.spans.words(phrase.start, phrase.end)
                link = Link(words=words, columns=names[:6], how=How.SYNONYM)
                return names[0], (link,)
        return None

    def extreme(self, node: Node) -> Facts | None:
        behind = self.spans.at[node.end] if node.end < self.spans.length else []
        if node.parts[-1].name in ("MIN", "MAX") and any(span.tag == "NUM" for span in behind):
            return None  # at most 7
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None:
            return None
        way: Direction = "minimize" if node.has("MIN") else "maximize"
        facts: list[Fact] = []
        for name in found[0]:
            if not (self._outcome(name) and self._number(name)):
                return None
            facts.append(Wanted(name, Extreme(direction=way)))
        return Facts(tuple(facts), found[1])

    def optimised(self, node: Node) -> Facts | None:
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        said = [one.span.value.words for one in node.find("OPT") if one.span is not None]  # type: ignore[attr-defined]
        weak = not any(word.startswith(("best", "opt", "prior", "most")) for word in said)
        goals = (Wanted(n, Extreme(direction=self.better(n)), weak=weak) for n in found[0])
        return Facts(tuple(goals), found[1])

    def best(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        part = next(node.find("BEST")).span.value  # type: ignore[union-attr]
        way = self.better(about[0])
        if part.concept == "slow":
            way = "maximize" if way == "minimize" else "minimize"
        return Facts((Wanted(about[0], Extreme(direction=way)),), about[1])

    def best_with(self, node: Node) -> Facts | None:
        """The fastest nodes and tile: what is asked for."""
        best, found = self.best(node), self._columns(node, *_PARAMETERS)
        if best is None or found is None:
            return None
        outcomes = [name for name in found[0] if self._outcome(name)]
        if outcomes and not any(map(self._number, outcomes)):
            return Facts((*best.all, Named(found[0])), (*best.links, *found[1]))
        if outcomes:
            if len(outcomes) != len(found[0]) or not all(map(self._number, outcomes)):
                return None
            goals = (Wanted(n, Extreme(direction=self.better(n))) for n in outcomes)
            return Facts(tuple(goals), found[1])
        return Facts((*best.all, Ask(found[0])), (*best.links, *found[1]))

    def faster(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        name, links = about
        amount = self._amounts(node)[0]
        part = next(node.find("FASTER")).span.value  # type: ignore[union-attr]
        good = part.concept != "slow"
        less = (self.better(name) == "minimize") == good
        if amount.form is QuantityForm.FACTOR:
            factor = 1 / amount.value if less else amount.value
            by = float(f"{abs(factor - 1):.12g}")
            if by == 0:
                return None
            way: OneOf["reduce", "increase"] = "reduce" if factor < 1 else "increase"
            return Facts((Wanted(name, Change(direction=way, by=by)),), links)
        fact = self._by(name, amount, down=less)
        return None if fact is None else Facts((fact,), links)

    def faster_only(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        part = next(node.find("FASTER")).span.value  # type: ignore[union-attr]
        if part.concept == "slow" or part.words.startswith("how "):
            return Facts((Watch((about[0],)),), about[1])
        goal = Extreme(direction=self.better(about[0]))
        return Facts((Wanted(about[0], goal, weak=True),), about[1])

    def same(self, node: Node) -> Facts | None:
        found = self._columns(node)
        if found is None:
            return None
        outcomes = [name for name in found[0] if self._outcome(name)]
        others = tuple(name for name in found[0] if not self._outcome(name))
        facts: list[Fact] = [Wanted(name, Same()) for name in outcomes if self._number(name)]
        if others:
            facts.append(Keep(others))
        return Facts(tuple(facts), found[1]) if facts else None

    def same_or_better(self, node: Node) -> Facts | None:
        """At least the same accuracy, the same cost or less."""
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        facts: list[Fact] = []
        for name in found[0]:
            limits = [*node.find("limit")]
            up = limits[0].value[0] == ">" if limits else node.has("ORMORE")
            if node.has("ORBETTER"):
                up = self.better(name) == "maximize"
            facts.append(Wanted(name, Same(beyond="more" if up else "less")))
        return Facts(tuple(facts), found[1])

    def no_worse_both(self, node: Node) -> Facts | None:
        """Do not increase the cost or reduce the accuracy."""
        facts, links = [], []
        movers = [*node.find("mover")]
        for mover, cols in zip(movers, node.find("cols"), strict=True):
            found = self._columns(cols, Role.OUTCOME)
            if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
                return None
            side: OneOf["less", "more"] = "less" if mover.has("INC") else "more"
            facts += [Wanted(name, Same(beyond=side)) for name in found[0]]
            links += found[1]
        return Facts(tuple(facts), tuple(links))

    def tolerance(self, node: Node) -> Facts | None:
        """Keep accuracy within 2 %: of what it was."""
        amount = self._amounts(node)[0]
        words = next(node.find("LE"), None)
        found = self._columns(node, Role.OUTCOME)
        if found is None or amount.form is not QuantityForm.SHARE or words is None:
            return None
        if not str(words.span.value.words).endswith("within"):  # type: ignore[union-attr]
            return None
        if not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        goals = (Wanted(n, Same(tolerance=amount.value)) for n in found[0])
        return Facts(tuple(goals), found[1])

    def kept(self, node: Node) -> Facts | None:
        found = self._columns(node)
        if found is None:
            return None
        outcomes = [name for name in found[0] if self._outcome(name)]
        if outcomes and node.has("KEEP"):
            return None  # keep power ...: where?
        if outcomes:
            return self.no_worse(node)
        return Facts((Keep(found[0]),), found[1])

    def no_worse(self, node: Node) -> Facts | None:
        found = self._columns(node, Role.OUTCOME)
        if found is None:
            return None
        facts: list[Fact] = []
        for name in found[0]:
            if self._outcome(name) and self._number(name):
                facts.append(Wanted(name, self._no_worse(name, node)))
            elif self._outcome(name) and node.has("NOWORSE"):
                facts.append(Wanted(name, Same()))
            elif not self._outcome(name) and node.has("UNTOUCHED", "NOT", "NOWORSE"):
                facts.append(Keep((name,)))
            else:
                return None
        return Facts(tuple(facts), found[1])

    def _no_worse(self, name: str, node: Node, tolerance: float | None = None) -> Same:
        if node.has("INC", "MORE"):
            return Same(beyond="less", tolerance=tolerance)
        if node.has("RED", "LESS"):
            return Same(beyond="more", tolerance=tolerance)
        better = self.better(name)
        return Same(beyond="less" if better == "minimize" else "more", tolerance=tolerance)

    def worse_by(self, node: Node) -> Facts | None:
        amount = self._amounts(node)[0]
        found = self._columns(node, Role.OUTCOME)
        share = amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
        if found is None or not share or not 0 < amount.value < 1:
            return None
        limits, worse = [*node.find("limit")], next(node.find("WORSE"), None)
        said = worse.span.value.words if worse is not None and worse.span is not None else ""  # type: ignore[attr-defined]
        if limits and limits[0].value[0] == ">" and not node.has("NOT", "NOWORSE"):
            down = node.has("LESS") or said.startswith("below")  # at least 5 % below now
            facts = [self._by(name, amount, down=down) for name in found[0]]
            kept = tuple(fact for fact in facts if fact is not None)
            return Facts(kept, found[1]) if len(kept) == len(facts) else None
        if not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        goals = (Wanted(n, self._no_worse(n, node, amount.value)) for n in found[0])
        return Facts(tuple(goals), found[1])

    def no_slower(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        better = self.better(about[0])
        goal = Same(beyond="less" if better == "minimize" else "more")
        return Facts((Wanted(about[0], goal),), about[1])

    def equally(self, node: Node) -> Facts | None:
        about = self._about(node)
        return None if about is None else Facts((Wanted(about[0], Same()),), about[1])

    # ------------------------------------------------------------- the question

    def ask(self, node: Node) -> Facts | None:
        found = self._columns(node, *_PARAMETERS, only=True)
        if found is None or any(self._outcome(name) for name in found[0]):
            return None
        called = {link.columns[0] for link in found[1] if link.how is not How.EXACT}
        if any(self._role(n) is not Role.KNOB and n in called for n in found[0]):
            return None  # what is given is asked for only by its name
        return Facts((Ask(found[0]),), found[1])

    def everything(self, node: Node) -> Facts | None:
        behind = self.spans.at[node.end] if node.end < self.spans.length else []
        held = node.end < self.spans.length and self.spans.source.found[node.end].low in _PLACED
        if held or any(span.tag in _OPS for span in behind):
            return None  # anything over 4 threads, everything on one node
        return Facts((Everything(),))

    def everything_but(self, node: Node) -> Facts | None:
        found = self._columns(node, *_PARAMETERS)
        if found is None or any(self._outcome(name) for name in found[0]):
            return None
        return Facts((Everything(), Keep(found[0])), found[1])

    def compared(self, node: Node) -> Facts | None:
        """Which is better, static or dynamic: the parameter is asked for, among these values."""
        columns, labels = [*node.find("COL")], [*node.find("LAB")]
        amounts = [self._quantity(one) for one in node.find("NUM", "PCT")]
        if labels and not amounts:
            if columns:
                made = self._labelled(columns[0], labels, "only")
            else:
                pairs = self._labels(labels, None)
                if pairs is None:
                    return None
                values = tuple(value for _, value in pairs)
                made = Equal(pairs[0][0], values, "only"), self._label_links(labels)
        elif amounts and columns and not labels:
            found = self._column(columns[0], *_PARAMETERS, of=amounts)
            if found is None:
                return None
            several = tuple(value_of(amount, found[0], self.index) for amount in amounts)
            made = Equal(found[0], several, "only"), found[1]
        else:
            return None
        if made is None or len(made[0].values) < 2 or self._outcome(made[0].name):
            return None
        return Facts((Ask((made[0].name,)), made[0]), made[1])

    def compared_best(self, node: Node) -> Facts | None:
        """Is O3 faster than O2?"""
        made = self.compared(node)
        about = self._about(node)
        if made is None or about is None:
            return None
        goal = Wanted(about[0], Extreme(direction=self.better(about[0])))
        return Facts((*made.all, goal), (*made.links, *about[1]))

    def observe(self, node: Node) -> Facts | None:
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None or not all(self._outcome(name) for name in found[0]):
            return None
        return Facts((Watch(found[0]),), found[1])

    def nothing_else(self, node: Node) -> Facts:
        """Everything else stays as it is: nothing more may be set."""
        return Facts(())

    def none_of(self, node: Node) -> Facts | None:
        """No spill, no gpus: none of what is counted; no compression: switched off."""
        found = self._column(next(node.find("COL")))
        if found is None:
            return None
        name, links = found
        parameter = self.index.parameters[name]
        if isinstance(parameter, Number) and self._outcome(name):
            return Facts((Limit(name, "<=", 0.0),), links) if parameter.low == 0 else None
        if self._optional(name):
            return Facts((Equal(name, (None,)),), links)
        value = self._truth(name, False)
        return None if value is None else Facts((Equal(name, (value,)),), links)

    def not_these(self, node: Node) -> Facts | None:
        """But not the queue: it is not to be changed."""
        said = next(node.find("NOT")).span.value.words  # type: ignore[union-attr]
        found = self._columns(node, *_PARAMETERS)
        if said not in _SPARED or found is None:
            return None
        if any(map(self._outcome, found[0])) and len(found[0]) > 1:
            return None
        return Facts((Keep(found[0], spared=True),), found[1])

    def per_tail(self, node: Node) -> Facts | None:
        """2 gpus from each node: said already by a column that counts per node."""
        mention = next(node.find("COL")).span.value  # type: ignore[union-attr]
        assert isinstance(mention, Mention)
        said = {stem(word) for word in mention.words.casefold().split()}
        counted = (words_of(name) for name in self.index.parameters)
        per = any("per" in one and said & {stem(word) for word in one} for one in counted)
        return Facts(()) if per else None

    def counted(self, node: Node) -> Facts | None:
        """Five valid configurations, the 3 fastest options."""
        count = self.count(node)
        if count is None:
            return None
        if node.has("BEST"):
            about = self.best(node)
        else:
            found = self._columns(node)
            about = None if found is None else Facts((Named(found[0]),), found[1])
            if found is not None and node.has("WITH") and len(found[0]) == 1:
                value = None if self._outcome(found[0][0]) else self._truth(found[0][0], True)
                if value is not None:  # three designs with double buffering
                    about = Facts((Equal(found[0][0], (value,), "with"),), found[1])
        return None if about is None else Facts((*count.all, *about.all), about.links)

    def counted_by(self, node: Node) -> Facts | None:
        """Top 5 configurations by throughput."""
        count, best = self.count(node), self.optimised(node)
        if count is None or best is None:
            return None
        return Facts((*count.all, *best.all), best.links)

    def equal_pair(self, node: Node) -> Facts | None:
        """Tile x and tile y should be equal."""
        found = self._two(node)
        if found is None or len(found[0]) != 2 or any(self._outcome(n) for n in found[0]):
            return None
        rule = Comparison("==", Name(found[0][0]), Name(found[0][1]))
        return Facts((Relation(rule),), found[1])

    def free_reach(self, node: Node) -> Facts | None:
        """Get it down to 180 W: the unit, or what was spoken of, tells of what."""
        op = "<=" if node.has("RED") else ">=" if node.has("INC") else "reach"
        return self._free([(op, self._amounts(node)[0])], node)

    def pair_bound(self, node: Node) -> Facts | None:
        return self.paired(node)

    def paired(self, node: Node) -> Facts | None:
        """A 16x16 array, tiles of 4x2: two columns of one family, the first of x or rows."""
        amounts = [self._quantity(one) for p in node.find("pairing") for one in p.find("NUM")]
        mention = next(node.find("COL")).span.value  # type: ignore[union-attr]
        assert isinstance(mention, Mention)
        ranked = sorted(mention.scores, key=lambda name: -mention.scores[name])
        names = self._family(ranked)
        limits = [*node.find("limit")]
        if len(names) != 2:
            square = amounts[0].value == amounts[1].value
            if not square or limits:
                return None
            value = value_of(amounts[0], ranked[0], self.index)
            link = Link(words=mention.words, columns=(ranked[0],), how=How.SYNONYM)
            return None if value is None else Facts((Equal(ranked[0], (value,)),), (link,))
        facts: list[Fact] = []
        links = tuple(Link(words=mention.words, columns=(n,), how=How.SYNONYM) for n in names)
        for name, amount in zip(names, amounts, strict=True):
            value = value_of(amount, name, self.index)
            if value is None:
                return None
            if limits:
                facts.append(Limit(name, limits[0].value, float(str(value))))
            else:
                facts.append(Equal(name, (value,)))
        return Facts(tuple(facts), links)

    def _family(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns whose names differ from the first by x, y, z or rows and columns alone."""
        first = _without_axis(names[0])
        alike = [n for n in self.index.parameters if _without_axis(n) == first and n in names]
        return tuple(alike) if first != tuple(words_of(names[0])) else (names[0],)

    def drop(self, node: Node) -> Facts | None:
        labels = [*node.find("LAB")]
        if labels:
            pairs = self._labels(labels, None)
            if pairs is None:
                return None
            return Facts((Drop((pairs[0][0],)),), self._label_links(labels))
        names = []
        for one in node.find("COL"):
            mention = one.span.value if one.span is not None else None
            assert isinstance(mention, Mention)
            names += self.index.ranked(mention)
        return Facts((Drop(tuple(names)),))

    def count(self, node: Node) -> Facts | None:
        amount = self._amounts(node)[0]
        if amount.unit is not None or not amount.value.is_integer():
            return None
        number = int(amount.value)
        return Facts((Count(number),)) if 1 <= number <= 1000 else None

    def named(self, node: Node) -> Facts | None:
        found = self._columns(node)
        if found is None:
            return None
        alone = self._begins(node) and self._ends(node)
        if not alone and not all(self._outcome(name) for name in found[0]):
            return None
        before = [token.low for token in self.spans.source.found[: next(node.find("COL")).start]]
        praised = before[-3:] == ["in", "terms", "of"] or before[-3:] == ["with", "respect", "to"]
        return Facts((Named(found[0], praised),), found[1])

    def _ends(self, node: Node) -> bool:
        """Whether nothing stands behind a list that makes a statement of it: my card keeps ..."""
        place, found = node.end, self.spans.source.found
        while place < len(found) and found[place].low in FILLER:
            place += 1
        if place >= len(found) or not found[place].text[0].isalnum():
            return True
        tags = {span.tag for span in self.spans.at[place]}
        return bool(tags - _STATES) and "WORD" not in tags

    def _begins(self, node: Node) -> bool:
        """Whether a list stands for itself and is not a noun that belongs to what is before it."""
        place = next(node.find("COL")).start - 1
        found = self.spans.source.found
        while place >= 0 and found[place].low in FILLER:
            place -= 1
        if place < 0 or found[place].low in _BOUNDARIES:
            return True
        return any(span.tag in _INTRODUCES for span in self.spans.at[place])

    # ---------------------------------------------------------------- relations

    def _two(self, node: Node) -> tuple[tuple[str, ...], tuple[Link, ...]] | None:
        """The numeric columns of a relation, each once."""
        names, links = [], []
        for one in node.find("COL"):
            found = self._column(one, *_PARAMETERS, only=True)
            if found is not None and found[0] in names:
                found = self._column(one, *_PARAMETERS)
            if found is None or not self._number(found[0]) or found[0] in names:
                return None
            names.append(found[0])
            links += found[1]
        return tuple(names), tuple(links)

    def _op(self, node: Node) -> str:
        limits = [*node.find("limit")]
        if node.has("ORMORE", "ORLESS"):
            return ">=" if node.has("ORMORE") else "<="
        return limits[0].value if limits else "=="

    def _in_unit_of(self, first: str, second: str) -> Expression:
        """The second column in the unit of the first: a limit in minutes, a time in seconds."""
        one, other = self.index.parameters[first], self.index.parameters[second]
        assert isinstance(one, Number)
        assert isinstance(other, Number)
        if one.unit is None or other.unit is None or one.unit == other.unit:
            return Name(second)
        size = number_of(TextQuantity(1.0, unit=other.unit), first, self.index)
        if size is None:
            return Name(second)
        if size < 1:
            return Arithmetic("/", Name(second), Literal(whole(float(f"{1 / size:.9g}"))))
        return Arithmetic("*", Literal(whole(size)), Name(second))

    def related(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None or len(found[0]) != 2:
            return None
        (first, second), links = found
        if any(one.span.value.words == ":" for one in node.find("EQ") if one.span):  # type: ignore[attr-defined]
            return None
        right = self._in_unit_of(first, second)
        amounts = [self._quantity(one) for one in node.find("FACTOR", "FRAC", "NUM")]
        if amounts:
            if amounts[0].unit is not None or amounts[0].value <= 0:
                return None
            sign: OneOf["*", "/"] = "/" if node.has("DIVIDED") else "*"
            number = Literal(whole(float(f"{amounts[0].value:.12g}")))
            right = (
                Arithmetic("/", right, number) if sign == "/" else Arithmetic("*", number, right)
            )
        return Facts((Relation(Comparison(self._op(node), Name(first), right)),), links)

    def per(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None:
            return None
        amount = self._amounts(node)[0]
        if len(found[0]) == 1:
            names = [n for n in columns_of_unit(amount, self.index) if not self._outcome(n)]
            if not names:
                return None
            counted, each = names[0], found[0][0]
        else:
            counted, each = found[0][:2]
        number = number_of(amount, counted, self.index)
        if number is None or counted == each or self._counts_per(node):
            return None
        op = self._op(node) if node.has("limit", "EQ") else "<="
        right = Arithmetic("*", Literal(whole(number)), Name(each))
        return Facts((Relation(Comparison(op, Name(counted), right)),), found[1])

    def _counts_per(self, node: Node) -> bool:
        """Cores per executor: a column that is called by both counts just that."""
        said = []
        for one in node.find("COL"):
            mention = one.span.value if one.span is not None else None
            assert isinstance(mention, Mention)
            said.append({stem(word) for word in mention.words.casefold().split()})
        if len(said) < 2:
            return False
        names = self.index.stems.values()
        return any(said[0] & stems and said[1] & stems for stems in names)

    def more_than(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None or len(found[0]) != 2:
            return None
        before = self.spans.source.found[node.first - 1].text if node.first else ""
        if before[:1].isdigit():
            return None  # 32 more registers than entries
        op = ">" if node.has("MORE") else "<"
        if node.has("NOT"):
            op = _FLIPPED[op]
        (first, second), links = found
        right = self._in_unit_of(first, second)
        return Facts((Relation(Comparison(op, Name(first), right)),), links)

    def as_many(self, node: Node) -> Facts | None:
        return self.related(node)

    def multiple(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None:
            return None
        amounts = self._amounts(node)
        by: Expression
        if amounts:
            if amounts[0].value <= 0 or amounts[0].unit is not None:
                return None
            by = Literal(whole(amounts[0].value))
        elif len(found[0]) == 2:
            by = Name(found[0][1])
        else:
            return None
        rest = Arithmetic("%", Name(found[0][0]), by)
        return Facts((Relation(Comparison("==", rest, Literal(0))),), found[1])

    def power_of_two(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None:
            return None
        facts: list[Fact] = []
        for name in found[0]:
            log = f"log2({format_name(name)})"
            facts.append(Relation(parse_rule(f"{log} == floor({log})")))
        return Facts(tuple(facts), found[1])

    def product_rule(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None:
            return None
        factors = {one.start for p in node.find("product") for one in p.find("COL")}
        columns = [*node.find("COL")]
        names = [n for n, c in zip(found[0], columns, strict=True) if c.start in factors]
        others = [n for n in found[0] if n not in names]
        left: Expression = Name(names[0])
        for name in names[1:]:
            left = Arithmetic("*", left, Name(name))
        op = self._op(node)
        if any(part.name == "NOT" for part in node.parts):
            op = _FLIPPED.get(op, "!=")
        amounts = self._amounts(node)
        right: Expression = Name(others[0]) if others else Literal(whole(amounts[0].value))
        if others and columns[0].start not in factors:
            left, right = right, left
        return Facts((Relation(Comparison(op, left, right)),), found[1])

    def product_pair(self, node: Node) -> Facts | None:
        """Nodes times ranks has to be p times q."""
        found = self._two(node)
        if found is None or node.has("limit"):
            return None
        names, sides = list(found[0]), []
        for product in node.find("product"):
            count = len([*product.find("COL")])
            side: Expression = Name(names.pop(0))
            for _ in range(count - 1):
                side = Arithmetic("*", side, Name(names.pop(0)))
            sides.append(side)
        return Facts((Relation(Comparison("==", *sides)),), found[1])

    def sum_rule(self, node: Node) -> Facts | None:
        found = self._two(node)
        if found is None:
            return None
        names, amounts = found[0], self._amounts(node)
        op = self._op(node)
        if any(self._outcome(name) for name in names):
            op = {"<": "<=", ">": ">="}.get(op, op)  # what is measured meets no bound exactly
        numbers = [number_of(amount, names[0], self.index) for amount in amounts]
        if any(number is None for number in numbers):
            return None
        literal = [Literal(whole(n)) for n in numbers if n is not None]
        second: Expression = (
            self._in_unit_of(names[0], names[1]) if len(names) == 3 or not literal else literal[0]
        )
        if len(names) == 3:
            right = self._in_unit_of(names[0], names[2])
        elif len(names) == 2 and node.parts[2].name == "COL":
            second, right = self._in_unit_of(names[0], names[1]), literal[0]
        else:
            right = self._in_unit_of(names[0], names[1])
        left = Arithmetic("+", Name(names[0]), second)
        return Facts((Relation(Comparison(op, left, right)),), found[1])


_BOUNDARIES = frozenset(", . ; : ? ! - and or & + plus but".split())
_STATES = frozenset({"KEEP", "SET", "MEASURED", "BE", "IS"})
_INTRODUCES = frozenset({"WHICH", "AFFECT", "FREE", "ALL", "OPTIONS", "BEST", "OPT", "SET"})
_VERB = re.compile(r"(?:s|ed|ing)$")
_TOTAL = frozenset({"total", "overall"})
_PLACED = frozenset({"on", "in", "at"})
_PLAYING = frozenset("play deal start do go be only fine playing and".split())
_BEFORE_NOUN = frozenset({"with", "without", "no", "yes"})
_COPULAS = frozenset("is are be must should stays stay has to the a".split())
_BARE_MESSAGE = 4  # words of a message that only gives a number
_SPARED = frozenset({"not", "but not", "except", "except for", "apart from", "aside from"})
_RUNNING = frozenset(
    "run running ran take pick choose select launch submit submitted submitting put give".split()
)
_AXES = frozenset("x y z row rows col cols column columns width height".split())


def _without_axis(name: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(name) if word not in _AXES)


__all__ = ["Clauses", "fits"]
