"""Clauses that bound columns: at most 16 nodes, between 200 and 350 W."""

import re
from collections.abc import Sequence
from dataclasses import replace

from compass.chat.draft import Link
from compass.chat.english.clauses.columns import (
    FLIPPED,
    OPS,
    PARAMETERS,
    Columns,
)
from compass.chat.english.facts import (
    Bare,
    Fact,
    Facts,
    Limit,
    Loose,
    Misfit,
    Moved,
)
from compass.chat.english.grammar import Node
from compass.chat.english.lexicon import ASKED, FILLER
from compass.chat.english.quantities import columns_of_unit, number_of, value_of
from compass.chat.english.words import QuantityForm, TextQuantity, word_set
from compass.domain.query import SetTo
from compass.prepare.names import words as words_of

_VERB = re.compile(r"(?:s|ed|ing)$")
_COPULAS = word_set("is are be must should stays stay has to the a")
# By more than 100 is of a change; a number below 1000 is of a noun that was passed over.
_COUNTED = word_set("by number condition value amount count total setting")
_BARE_MESSAGE = 14  # words of a message that only gives a number


class Bounds(Columns):
    """Clauses that bound columns: at most 16 nodes, between 200 and 350 W."""

    def op(self, node: Node) -> str:
        return OPS[node.parts[0].name]

    def flipped(self, node: Node) -> str:
        return FLIPPED[OPS[node.parts[-1].name]]

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
        found = self._columns(node, of=amounts)
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
        said = within.phrase.words
        percent = any("pct" in words_of(n) or "percent" in words_of(n) for n in names)
        return said.endswith("within") and not percent and all(map(self._outcome, names))

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
        again = second.mention
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
            Limit(f.name, FLIPPED[f.op], f.value) for f in made.all if isinstance(f, Limit)
        )
        return Facts(turned, made.links)

    def not_free(self, node: Node) -> Facts | None:
        """No run may take more than an hour."""
        op = FLIPPED[next(node.find("limit")).value]
        return self._free([(op, self._amounts(node)[0])], node)

    def free_bound(self, node: Node) -> Facts | None:
        return self._free([(next(node.find("limit")).value, self._amounts(node)[0])], node)

    def _free(self, pairs: Sequence[tuple[str, TextQuantity]], node: Node) -> Facts | None:
        """A bound on what was spoken of, else on the column that its unit tells."""
        amount = pairs[-1][1]
        start = next(node.find("limit", "range", "spread", "NUM", "PCT", "FRAC")).first
        before = self.spans.source.found[start - 1].low if start else ""
        if self._noun_behind(node) or self._noun_before(node) or before in _COUNTED:
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
        while place >= 0 and found[place].low in _COPULAS | {"from", "to", "by"}:
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
            if node.has("ORBETTER", "NWT"):
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
        found = self._columns(node, of=(first, second))
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

    def repeated(self, _: Node) -> Facts:
        """Keep it under that value: said before."""
        return Facts(())

    def bare(self, node: Node) -> Facts | None:
        said = [t for t in self.spans.source.found if t.low not in FILLER and t.text[0].isalnum()]
        before = [s for row in self.spans.at[: node.start] for s in row if s.end == node.start]
        if len(said) > _BARE_MESSAGE or self._noun_behind(node):
            return None
        if any(span.left >= ASKED for span in before) or self._unknown_before(node):
            return None
        amounts, words = self._amounts(node), self.spans.words(node.first, node.end)
        bare = [Bare(one, words) for one in amounts]
        if node.has("NOT", "INSTEAD"):
            bare[-1] = replace(bare[-1], old=True)  # 400, not 600
        return Facts(tuple(bare))

    def _unknown_before(self, node: Node) -> bool:
        """Lambda to 0.9: the number is of a noun that is not known."""
        place = node.first - 1
        while place >= 0 and self.spans.source.found[place].low in _COPULAS | {"to", "at", "of"}:
            place -= 1
        return place >= 0 and any(s.tag == "WORD" and s.left >= ASKED for s in self.spans.at[place])

    def limit_noun(self, node: Node) -> Facts | None:
        """4 nodes is the upper limit."""
        phrase = next(node.find("LE", "GE"), None)
        if phrase is None or "limit" not in phrase.phrase.words:
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
        found = self._column(next(node.find("COL")), *PARAMETERS)
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
        found = self._columns(node, of=(first, second))
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
            op = FLIPPED[op]
        amounts = self._amounts(node)
        found = self._columns(node, of=amounts)
        return None if found is None else self._limits(found, [(op, amounts[0])])
