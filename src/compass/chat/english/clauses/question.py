"""Clauses about the question itself: what is asked for, kept, counted, taken back."""

from compass.chat.draft import How, Link
from compass.chat.english.clauses.columns import OPS, PARAMETERS
from compass.chat.english.clauses.goals import Goals
from compass.chat.english.facts import (
    Ask,
    Count,
    Drop,
    Equal,
    Everything,
    Fact,
    Facts,
    Keep,
    Limit,
    Named,
    Wanted,
    Watch,
)
from compass.chat.english.grammar import Node
from compass.chat.english.lexicon import FILLER
from compass.chat.english.quantities import value_of
from compass.chat.english.words import stem, word_set
from compass.domain.goal import Extreme
from compass.domain.space import Number, Role
from compass.prepare.names import words as words_of

_BOUNDARIES = word_set(", . ; : ? ! - and or & + plus but")
_BEST = frozenset({"best", "optimal", "ideal", "optimum", "right", "suitable"})
_GIVING = word_set("show give me list want need us , .")
_STATES = frozenset({"KEEP", "SET", "MEASURED", "BE", "IS"})
_INTRODUCES = frozenset({"WHICH", "AFFECT", "FREE", "ALL", "OPTIONS", "BEST", "OPT", "SET"})
_PLACED = frozenset({"on", "in", "at"})
_SPARED = frozenset(
    {"nor", "neither", "not", "but not", "except", "except for", "apart from", "aside from"}
)


class Question(Goals):
    """Clauses about the question itself: what is asked for, kept, counted, taken back."""

    def ask(self, node: Node) -> Facts | None:
        found = self._columns(node, *PARAMETERS, only=True)
        if found is None or any(self._outcome(name) for name in found[0]):
            return None
        called = {link.columns[0] for link in found[1] if link.how is not How.EXACT}
        if any(self._role(n) is not Role.KNOB and n in called for n in found[0]):
            return None  # what is given is asked for only by its name
        return Facts((Ask(found[0]),), found[1])

    def ask_between(self, node: Node) -> Facts | None:
        """Recommend a target between 50 and 70 percent."""
        asked, bound = self.ask(node), self.between(node)
        if asked is None or bound is None:
            return None
        return Facts((*asked.all, *bound.all), bound.links)

    def ask_bound(self, node: Node) -> Facts | None:
        """Find a time step longer than 20 minutes."""
        asked, bound = self.ask(node), self.bound(node)
        if asked is None or bound is None:
            return None
        return Facts((*asked.all, *bound.all), bound.links)

    def everything(self, node: Node) -> Facts | None:
        behind = self.spans.at[node.end] if node.end < self.spans.length else []
        runs = (
            any(span.tag in ("SET", "MEASURED") for span in behind) and node.parts[-1].name == "ALL"
        )
        held = runs or (
            node.end < self.spans.length and self.spans.source.found[node.end].low in _PLACED
        )
        if held or any(span.tag in OPS for span in behind):
            return None  # anything over 4 threads, everything on one node
        return Facts((Everything(),))

    def everything_but(self, node: Node) -> Facts | None:
        found = self._columns(node, *PARAMETERS)
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
            found = self._column(columns[0], *PARAMETERS, of=amounts)
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

    def nothing_else(self, _: Node) -> Facts:
        """Everything else stays as it is: nothing more may be set."""
        return Facts(())

    def swapped_columns(self, node: Node) -> Facts | None:
        """Not p99, p50."""
        found = [self._column(one) for one in node.find("COL")]
        if None in found or found[0] is None or found[1] is None:
            return None
        wrong, right = found if node.parts[0].name == "NOT" else found[::-1]
        assert wrong is not None
        assert right is not None
        if wrong[0] == right[0] or self._outcome(wrong[0]) != self._outcome(right[0]):
            return None
        return Facts((Keep((wrong[0],), spared=True), Named((right[0],))), right[1])

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
        said = next(node.find("NOT")).phrase.words
        found = self._columns(node, *PARAMETERS)
        if said not in _SPARED or found is None:
            return None
        if any(map(self._outcome, found[0])) and len(found[0]) > 1:
            return None
        return Facts((Keep(found[0], spared=True),), found[1])

    def per_tail(self, node: Node) -> Facts | None:
        """2 gpus from each node: said already by a column that counts per node."""
        mention = next(node.find("COL")).mention
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
            about = None if found is None else Facts((Named(found[0], praised=True),), found[1])
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

    def top_by(self, node: Node) -> Facts | None:
        """Top 3 solvers by run time."""
        count, made = self.count(node), self.best_for(node)
        return None if made is None or count is None else Facts((*count.all, *made.all), made.links)

    def best_for(self, node: Node) -> Facts | None:
        """The best threads for energy: asked for, and what they should be good for."""
        first, second = node.find("cols")
        said = next(node.find("WHICH", "TOP")).phrase.words
        if node.has("WHICH") and not set(said.split()) & _BEST:
            return None
        asked, wanted = self.ask(first), self.optimised(second)
        if asked is None or wanted is None:
            return None
        return Facts((*asked.all, *wanted.all), (*asked.links, *wanted.links))

    def free_reach(self, node: Node) -> Facts | None:
        """Get it down to 180 W: the unit, or what was spoken of, tells of what."""
        op = "<=" if node.has("RED") else ">=" if node.has("INC") else "reach"
        return self._free([(op, self._amounts(node)[0])], node)

    def pair_bound(self, node: Node) -> Facts | None:
        return self.paired(node)

    def paired(self, node: Node) -> Facts | None:
        """A 16x16 array, tiles of 4x2: two columns of one family, the first of x or rows."""
        amounts = [self._quantity(one) for p in node.find("pairing") for one in p.find("NUM")]
        mention = next(node.find("COL")).mention
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

    def drop(self, node: Node) -> Facts | None:
        if node.has("FINE"):
            before = self.spans.source.found[: next(node.find("COL")).start][-1:]
            if [token.low for token in before] != ["any"]:
                return None  # any library is fine; but not: its status is ok
        labels = [*node.find("LAB")]
        if labels:
            pairs = self._labels(labels, None)
            if pairs is None:
                return None
            return Facts((Drop((pairs[0][0],)),), self._label_links(labels))
        names: list[str] = []
        for one in node.find("COL"):
            mention = one.mention
            names += self.index.ranked(mention)
        return Facts((Drop(tuple(names)),))

    def count(self, node: Node) -> Facts | None:
        amount = self._amounts(node)[0]
        if amount.unit is not None or not amount.value.is_integer():
            return None
        number = int(amount.value)
        before = self.spans.source.found[node.first - 1].low if node.first else ""
        if node.parts[0].name == "ONLY" and before and before not in _GIVING:
            return None  # the box has only 64
        if node.parts[-1].name == "NUM" and (self._noun_behind(node) or not self._ends(node)):
            return None  # give me 16 nodes
        return Facts((Count(number),)) if 1 <= number <= 1000 else None

    def named(self, node: Node) -> Facts | None:
        found = self._columns(node)
        if found is None:
            return None
        alone = self._begins(node) and self._ends(node)
        if not alone and not all(self._outcome(name) for name in found[0]):
            return None
        before = [token.low for token in self.spans.source.found[: next(node.find("COL")).start]]
        if before[-1:] and before[-1] in {"per", "each", "every"}:
            return Facts(())  # threads per rank
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
