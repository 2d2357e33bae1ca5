"""Clauses that relate columns: at most 4 gpus per node, products, sums, multiples."""

from typing import Literal as OneOf

from compass.chat.draft import How, Link
from compass.chat.english.clauses.columns import FLIPPED, PARAMETERS
from compass.chat.english.clauses.question import Question
from compass.chat.english.facts import (
    Fact,
    Facts,
    Relation,
)
from compass.chat.english.grammar import Node
from compass.chat.english.quantities import columns_of_unit, number_of, whole
from compass.chat.english.words import TextQuantity, stem
from compass.domain.expression import Arithmetic, Comparison, Expression, Literal, Name
from compass.domain.space import Number
from compass.language import parse_rule
from compass.language.format import format_name


class Relations(Question):
    """Clauses that relate columns: at most 4 gpus per node, products, sums, multiples."""

    def _two(self, node: Node) -> tuple[tuple[str, ...], tuple[Link, ...]] | None:
        """The numeric columns of a relation, each once."""
        names: list[str] = []
        links: list[Link] = []
        for one in node.find("COL"):
            found = self._column(one, *PARAMETERS, only=True)
            if found is not None and found[0] in names:
                found = self._another(one, names)
            if found is None or not self._number(found[0]) or found[0] in names:
                return None
            names.append(found[0])
            links += found[1]
        return tuple(names), tuple(links)

    def _another(self, node: Node, names: list[str]) -> tuple[str, tuple[Link, ...]] | None:
        """The column that words mean beside those of the relation that are known."""
        mention = node.mention
        others = [name for name in mention.scores if name not in names]
        if not others:
            return None
        best = max(others, key=lambda name: mention.scores[name])
        return best, (Link(words=mention.words, columns=(best,), how=How.SYNONYM),)

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
        if found is None or len(found[0]) != 2 or node.has("FIT"):
            return None
        (first, second), links = found
        if any(one.phrase.words == ":" for one in node.find("EQ")):
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
            mention = one.mention
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
            op = FLIPPED[op]
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

    def even(self, node: Node) -> Facts | None:
        """The number of nodes has to be even."""
        found = self._two(node)
        if found is None:
            return None
        rests = (Arithmetic("%", Name(name), Literal(2)) for name in found[0])
        return Facts(tuple(Relation(Comparison("==", r, Literal(0))) for r in rests), found[1])

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
            op = FLIPPED.get(op, "!=")
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

    def equal_pair(self, node: Node) -> Facts | None:
        """Tile x and tile y should be equal."""
        found = self._two(node)
        if found is None or len(found[0]) != 2 or any(self._outcome(n) for n in found[0]):
            return None
        rule = Comparison("==", Name(found[0][0]), Name(found[0][1]))
        return Facts((Relation(rule),), found[1])
