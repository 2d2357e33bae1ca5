"""A dependency that was found as a rule, with what speaks for it."""

import math
from dataclasses import dataclass

from compass.domain.expression import (
    Arithmetic,
    Comparison,
    Expression,
    Implies,
    Literal,
    Membership,
    Name,
)
from compass.domain.mined import Mined
from compass.domain.space import Category, Space
from compass.language import format_rule
from compass.rules.mine.implications import Implication
from compass.rules.mine.pairs import PairRelation
from compass.rules.mine.products import ProductRelation
from compass.rules.mine.thresholds import ThresholdRule

_RARE = 1e-9


@dataclass(frozen=True)
class Found:
    """A dependency with its evidence."""

    rule: Expression
    kind: str
    names: tuple[str, ...]
    combinations: int  # different ones that it was seen with
    chance: float  # share of unrelated combinations that obey it
    coincidence: float  # P of it between unrelated columns
    tried: int = 1  # rules that were looked at beside it

    @property
    def accident(self) -> float:
        """How likely at least one of all rules that were tried would hold so well by accident."""
        return min(1.0, self.tried * self.coincidence)

    def mined(self, rows: int) -> Mined:
        """The same for people; `rows` have the values that it needs."""
        return Mined.model_validate(
            {
                "text": format_rule(self.rule),
                "kind": self.kind,
                "names": self.names,
                "rows": rows,
                "combinations": self.combinations,
                "coincidence": self.coincidence,
                "accident": self.accident,
                "why": self._implied(rows) if isinstance(self.rule, Implies) else self._why(rows),
            }
        )

    def _why(self, rows: int) -> str:
        often = "almost always" if self.chance < 0.005 else f"{1.0 - self.chance:.0%} of the time"
        return (
            f"holds on all {rows:,} rows with {self.combinations:,} different combinations of "
            f"{', '.join(self.names)}; unrelated values would break it {often}"
        )

    def _implied(self, rows: int) -> str:
        broken = "nearly all" if self.chance < 0.005 else f"{1.0 - self.chance:.0%}"
        assert isinstance(self.rule, Implies)
        return (
            f"holds on all {rows:,} rows; {self.combinations:,} different configurations have "
            f"{format_rule(self.rule.condition)}, and {broken} of the others would break it"
        )


def accident_in_words(chance: float) -> str:
    """How likely a rule is an accident; beyond some point smaller numbers say no more."""
    return "below 1e-9" if chance < _RARE else f"{chance:.0e}"


def of_pair(pair: PairRelation) -> Found:
    """`a == c * b`, `a <= c * b` or `a % b == 0`."""
    a, b = Name(pair.a), Name(pair.b)
    rule: Expression
    if pair.kind == "modulo":
        rule = Comparison("==", Arithmetic("%", a, b), Literal(0))
    else:
        op = "<=" if pair.kind == "bound" else "=="
        if pair.factor >= 1.0:
            rule = Comparison(op, a, _scaled(pair.factor, b))
        else:
            rule = Comparison(op, _scaled(1.0 / pair.factor, a), b)
    return Found(rule, pair.kind, (pair.a, pair.b), pair.combinations, pair.chance, pair.surprise)


def of_product(relation: ProductRelation) -> Found:
    """`a * b == c * d` or `a * b in {64, 128}`."""
    left = _times(relation.left)
    rule: Expression
    if relation.values:
        rule = Membership(left, tuple(Literal(_plain(value)) for value in relation.values))
    elif not relation.right:
        rule = Comparison("==", left, Literal(_plain(relation.factor)))
    elif relation.factor >= 1.0:
        rule = Comparison("==", left, _scaled(relation.factor, _times(relation.right)))
    else:
        rule = Comparison("==", _scaled(1.0 / relation.factor, left), _times(relation.right))
    return _of(relation, rule, "product")


def of_multiple(relation: ProductRelation) -> Found:
    """`a % (b * c) == 0`."""
    rest = Arithmetic("%", Name(relation.left[0]), _times(relation.right))
    return _of(relation, Comparison("==", rest, Literal(0)), "modulo")


def _of(relation: ProductRelation, rule: Expression, kind: str) -> Found:
    names = (*relation.left, *relation.right)
    return Found(rule, kind, names, relation.combinations, relation.chance, relation.surprise)


def of_threshold(one: ThresholdRule) -> Found:
    """`a * b <= 1024`, `(a * b) % 32 == 0`, `a > 16 -> b <= 4` or `a == 1 -> b != 8`."""
    first, value = Name(one.names[0]), Literal(_plain(one.value))
    given = Literal(_plain(one.given))
    rule: Expression
    match one.form:
        case "step":
            then = Comparison("<=" if one.upper else ">=", Name(one.names[1]), value)
            rule = Implies(Comparison(">" if one.above else "<=", first, given), then)
        case "never":
            then = Comparison("!=", Name(one.names[1]), value)
            rule = Implies(Comparison("==", first, given), then)
        case "lanes":
            rule = Comparison("==", Arithmetic("%", _times(one.names), value), Literal(0))
        case _:
            rule = Comparison("<=" if one.form == "limit" else ">=", _times(one.names), value)
    kind = {"step": "implication", "never": "exclusion", "lanes": "product"}.get(
        one.form, "product"
    )
    return Found(
        rule, kind, one.names, one.configurations, one.chance, math.exp(max(one.surprise, -700.0))
    )


def of_implication(one: Implication, space: Space) -> Found:
    """`gpu == 'p100' -> power_limit <= 250`."""
    name, values = Name(one.name), [_literal(one.name, v, space) for v in one.conclusion.values]
    rule: Expression
    match one.conclusion.op:
        case "in":
            rule = Membership(name, tuple(values))
        case "multiple" | "not multiple" as op:
            rest = Arithmetic("%", name, values[0])
            rule = Comparison("==" if op == "multiple" else "!=", rest, Literal(0))
        case op:
            rule = Comparison(op, name, values[0])
    premise = Comparison("==", Name(one.premise), _literal(one.premise, one.given, space))
    return Found(
        Implies(premise, rule),
        "implication",
        (one.premise, one.name),
        one.configurations,
        one.chance,
        math.exp(one.surprise),
    )


def _literal(name: str, value: float, space: Space) -> Literal:
    parameter = space[name]
    if isinstance(parameter, Category):
        return Literal(parameter.values[int(value)])
    return Literal(_plain(value))


def _times(names: tuple[str, ...]) -> Expression:
    total: Expression = Name(names[0])
    for name in names[1:]:
        total = Arithmetic("*", total, Name(name))
    return total


def _scaled(factor: float, node: Expression) -> Expression:
    if factor == 1.0:
        return node
    if isinstance(node, Arithmetic):  # keep a product flat: 4 * a * b
        return Arithmetic("*", _scaled(factor, node.left), node.right)
    return Arithmetic("*", Literal(_plain(factor)), node)


def _plain(value: float) -> int | float:
    rounded = round(value)
    return rounded if abs(value - rounded) < 1e-9 * max(1.0, abs(value)) else value
