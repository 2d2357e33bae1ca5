"""Clauses that change something: from 4 to 8, double, 10 % less, instead of."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal as OneOf

from compass.chat.draft import How, Link
from compass.chat.english import synonyms
from compass.chat.english.clauses.columns import OPS, PARAMETERS, Direction
from compass.chat.english.clauses.values import Values
from compass.chat.english.facts import (
    Equal,
    Fact,
    Facts,
    Limit,
    LooseMove,
    Measured,
    Moved,
    Than,
    Told,
    Wanted,
)
from compass.chat.english.grammar import Node
from compass.chat.english.quantities import columns_of_unit, number_of, value_of, whole
from compass.chat.english.words import QuantityForm, TextQuantity, compact, word_set
from compass.domain.base import Value
from compass.domain.goal import Change, Extreme, Reach
from compass.domain.query import Plus, SetTo, Times
from compass.domain.space import Category, Role

_PLAYING = word_set("play deal start do go be only fine playing and")


_Ends = tuple[str, tuple[Value, ...], tuple[Link, ...]]  # a column, old and new value


class Changes(Values):
    """Clauses that change something: from 4 to 8, double, 10 % less, instead of."""

    def _changed(self, node: Node, old: Node | None, new: Node) -> Facts | None:
        """A parameter or an outcome that goes from one value to another."""
        ends = [one for one in (old, new) if one is not None]
        labels = [leaf for end in ends for leaf in end.find("LAB")]
        amounts = [self._quantity(leaf) for end in ends for leaf in end.find("NUM", "PCT")]
        if labels and amounts:
            return None
        made = self._label_ends(node, labels) if labels else self._number_ends(node, amounts)
        if made is None:
            return None
        name, values, links = made
        before = values[0] if old is not None else None
        if not self._outcome(name):
            return Facts((Moved(name, SetTo(value=values[-1]), before),), links)
        if not self._number(name):
            return None
        facts: tuple[Fact, ...] = (Wanted(name, Reach(value=float(str(values[-1])))),)
        if before is not None:
            facts = (*facts, Measured(name, float(str(before))))
        return Facts(facts, links)

    def _label_ends(self, node: Node, labels: Sequence[Node]) -> _Ends | None:
        """The column and the labels of a change."""
        column = next(node.find("COL"), None)
        if column is not None:
            made = self._labelled(column, labels, "")
            return None if made is None else (made[0].name, made[0].values, made[1])
        pairs = self._labels(labels, None)
        if pairs is None:
            return None
        return pairs[0][0], tuple(value for _, value in pairs), self._label_links(labels)

    def _number_ends(self, node: Node, amounts: Sequence[TextQuantity]) -> _Ends | None:
        """The column and the numbers of a change; without a column the unit tells it."""
        amounts = [self._same_unit(one, amounts[-1]) for one in amounts]
        column = next(node.find("COL"), None)
        if column is not None:
            found = self._column(column, *PARAMETERS, of=amounts)
            if found is None:
                return None
            name, links = found
        else:
            names = [n for n in columns_of_unit(amounts[-1], self.index) if not self._outcome(n)]
            if len(names) != 1:
                return None
            words = self.spans.words(node.start, node.end)
            name, links = names[0], (Link(words=words, columns=(names[0],), how=How.SYNONYM),)
        values = tuple(value_of(amount, name, self.index) for amount in amounts)
        if None in values or (not self._outcome(name) and values[-1] not in self._legal(name)):
            return None
        return name, values, links

    def moved(self, node: Node) -> Facts | None:
        old, new = [*node.find("value", "LAB")][:2]
        return self._changed(node, old, new)

    def moved_back(self, node: Node) -> Facts | None:
        """Down to 10 ms from 50."""
        new, old = [*node.find("value")][:2]
        return self._changed(node, old, new)

    def than_value(self, node: Node) -> Facts | None:
        """Slower than cg: what it is compared with is what it was."""
        labels, amounts = [*node.find("LAB")], self._amounts(node)
        if labels:
            made = self._label_ends(node, labels)
        else:
            made = self._number_ends(node, amounts) if node.has("COL") or amounts[0].unit else None
        return None if made is None else Facts((Than(made[0], made[1][0]),), made[2])

    def now_bare(self, node: Node) -> Facts | None:
        """With 64 jobs, it is 16 today: of what is changed."""
        if self._noun_behind(node):
            return None
        return Facts((Told(self._amounts(node)[0], self.spans.words(node.start, node.end)),))

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
            if behind & {*OPS, "WITH", "BETWEEN"} or self.spans.source.found[node.end].low == "by":
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
        verb = next(node.find("SET")).phrase.words
        if not verb.startswith(("replac", "swap", "substitut", "exchang", "set", "chang")):
            return None
        return self._changed(node, both[0] if len(both) > 1 else None, both[-1])

    def switched_on(self, node: Node) -> Facts | None:
        """What if we went spot?"""
        found = self._column(next(node.find("COL")), *PARAMETERS)
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
        said = next(node.find("WITH")).phrase.words
        if said != "with" or before in _PLAYING:
            return None
        made = self.switched_on(node)
        if made is None:
            return None
        return Facts(
            tuple(replace(f, cue="with") for f in made.all if isinstance(f, Equal)), made.links
        )

    def switched_off(self, node: Node) -> Facts | None:
        """Drop collective io."""
        found = self._column(next(node.find("COL")), *PARAMETERS)
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

    def moved_up(self, node: Node) -> Facts | None:
        """Get the throughput up to 20."""
        return self.moved_to(node)

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
        facts: list[Fact] = []
        links: list[Link] = []
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
        found = self._columns(node, *PARAMETERS, of=(amount,))
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
