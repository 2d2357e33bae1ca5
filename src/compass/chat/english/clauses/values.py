"""Clauses that give columns values: 8 nodes, on nvme, without compression, what is used now."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compass.chat.draft import How, Link
from compass.chat.english.clauses.bounds import Bounds
from compass.chat.english.clauses.columns import PARAMETERS
from compass.chat.english.facts import (
    Equal,
    Fact,
    Facts,
    Measured,
    Misfit,
)
from compass.chat.english.grammar import Node
from compass.chat.english.link import LabelMention, Mention
from compass.chat.english.quantities import columns_of_unit, fits, number_of, value_of
from compass.chat.english.words import TextQuantity, stem, word_set
from compass.domain.base import Value
from compass.domain.space import Category, Number, Role
from compass.prepare.names import words as words_of

_ON = word_set("on yes true with enabled enable enabling active activate activated activating")
_TRUE = frozenset({"true", "1", "on", "yes", "enabled", "enable"})
_FALSE = frozenset({"false", "0", "off", "no", "none", "disabled", "disable"})
_BEFORE_NOUN = frozenset({"with", "without", "no", "yes"})
_RUNNING = frozenset(
    [
        "run",
        "running",
        "ran",
        "take",
        "pick",
        "choose",
        "select",
        "launch",
        "submit",
        "submitted",
        "submitting",
        "put",
        "give",
    ]
)


class Values(Bounds):
    """Clauses that give columns values: 8 nodes, on nvme, without compression, what is used now."""

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
        if columns and len(amounts) > 1 and not node.has("OR", "AND") and self._counts(node):
            return None  # depth 32, 8 jobs
        if len(columns) > 1 or (labels and amounts) or not (labels or amounts):
            return None
        cue = "only" if node.has("ONLY") else ""
        if any(one.phrase.words.endswith(("now", "currently")) for one in node.find("BE")):
            cue = "now"
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
        return self._numbered(node, columns[0], amounts, cue)

    def _numbered(
        self, node: Node, column: Node, amounts: Sequence[TextQuantity], cue: str
    ) -> tuple[Equal, tuple[Link, ...]] | None:
        """A column and its numbers."""
        found = self._column(column, *PARAMETERS, of=amounts)
        if found is None:
            return None
        name, links = self._as_given(column.mention, amounts, found)
        if self._counts_others(node, column, name, amounts):
            return None
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

    def _counts(self, node: Node) -> bool:
        """Whether the last number of a list counts the noun behind it."""
        behind = self.spans.at[node.end] if node.end < self.spans.length else []
        return any(span.tag == "COL" for span in behind)

    def _as_given(
        self,
        mention: Mention,
        amounts: Sequence[TextQuantity],
        found: tuple[str, tuple[Link, ...]],
    ) -> tuple[str, tuple[Link, ...]]:
        """At 3000 rps: the load, not what is measured."""
        if not self._outcome(found[0]) or mention.how is How.EXACT:
            return found
        said = {token.casefold() for token in mention.words.split()}
        others = [
            name
            for name in mention.scores
            if not self._outcome(name)
            and said <= {*words_of(name)}
            and self._can_have(name, amounts)
        ]
        if len(others) != 1:
            return found
        return others[0], (Link(words=mention.words, columns=(others[0],), how=How.SYNONYM),)

    def _counts_others(
        self, node: Node, column: Node, name: str, amounts: Sequence[TextQuantity]
    ) -> bool:
        """Whether a number counts something that is only like an outcome: 12 cores, no cpu load."""
        own = column.span is not None and column.span.cost == 0.0
        first = next(node.find("NUM"), column)
        counts = first.start < column.start and amounts[0].unit is None
        said = {stem(word) for word in column.mention.words.casefold().split()}
        return self._outcome(name) and counts and not own and not said & self.index.stems[name]

    def illegal(self, node: Node) -> Facts | None:
        """At 5 nm: a number that the column does not have."""
        columns = [*node.find("COL")]
        amounts = [self._quantity(one) for one in node.find("NUM")]
        found = self._column(columns[0], *PARAMETERS, of=amounts)
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
        mention = column.mention
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
        found = self._column(next(node.find("COL")), *PARAMETERS)
        if found is None:
            return None
        name, links = found
        words = next(node.find("ONOFF")).phrase.words
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
        spelled = _TRUE if on else _FALSE
        if isinstance(parameter, Category):
            if on and len(parameter.values) > 3:
                return None
            return next((v for v in parameter.values if str(v).casefold() in spelled), None)
        if not on and parameter.low == 0:
            return 0
        if not on and parameter.low == 1 and "parallel" in words_of(name):
            return 1
        return 1 if on and parameter.low == 0 and parameter.high == 1 else None

    def _equals(self, node: Node, cue: str = "", *, negative: bool = False) -> Facts:
        facts: list[Fact] = []
        links: list[Link] = []
        for one in node.find("setting"):
            for equal in one.value.all:
                told = cue or equal.cue
                last = facts[-1] if facts else None
                again = isinstance(last, Equal) and last.name == equal.name and not negative
                if again and isinstance(last, Equal) and self.spans.joined_by_or(one.start):
                    facts[-1] = replace(last, values=(*last.values, *equal.values))
                    continue
                facts.append(Equal(equal.name, equal.values, told, negative))
            links += one.value.links
        return Facts(tuple(facts), tuple(links))

    def given_values(self, node: Node) -> Facts:
        return self._equals(node)

    def tried(self, node: Node) -> Facts:
        verb = next(node.find("SET"), None)
        said = verb.phrase.words if verb is not None else ""
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
        if node.parts[0].name == "NOT" and self._only_commas(node):
            return None  # not the wing, the pipe
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
