"""Dependencies that hold on every row of a table, for a person to confirm."""

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
from compass.rules.functions import FloatArray
from compass.rules.mine.conditions import Condition, conditions
from compass.rules.mine.observations import Observations
from compass.rules.mine.pairs import PairRelation, bounds, equalities, multiples
from compass.rules.mine.products import ProductRelation, confined, multiples_of_products, products

_ROWS = 20  # a shorter table proves nothing


def mine(X: FloatArray, space: Space, *, limit: int = 30) -> tuple[Mined, ...]:
    """The dependencies among the columns of X [n, d] that hold on all rows, strongest first.

    At most `limit` of them. Left out are: rules among outcomes only, what constants or the ranges
    of the columns already say, what stronger dependencies imply, and what unrelated columns could
    show by coincidence (too few different combinations, or too easily met).
    """
    if len(X) < _ROWS:
        return ()
    data = Observations(X, space)
    ratios, left = equalities(data)
    relations = products(data, left)
    few = confined(data, left, relations)
    grouped = multiples_of_products(data, left, relations)
    implied = _factors(relations) | {(b, r.left[0]) for r in grouped for b in r.right}
    divisors = [p for p in multiples(data, left) if (p.b, p.a) not in implied]
    limits = bounds(data, left, implied | {(pair.b, pair.a) for pair in divisors})
    settled = conditions(data, left)
    found = [_pair(data, p) for p in sorted(ratios, key=lambda p: p.kind)]
    found += [_product(data, relation) for relation in (*relations, *few)]
    found += [_grouped(data, relation) for relation in grouped]
    found += [_pair(data, p) for p in (*divisors, *limits)]
    found += [_condition(data, c) for c in settled]
    return tuple(found[:limit])


def _factors(relations: list[ProductRelation]) -> set[tuple[str, str]]:
    """(a, b) for which a <= b, as a is a factor of b."""
    return {
        (factor, relation.right[0])
        for relation in relations
        if len(relation.right) == 1 and relation.factor == 1.0
        for factor in relation.left
    }


def _pair(data: Observations, pair: PairRelation) -> Mined:
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
    kind = {"equality": "equality", "ratio": "ratio", "modulo": "modulo"}.get(pair.kind, "bound")
    return _mined(data, rule, kind, (pair.a, pair.b), pair.combinations, pair.chance)


def _product(data: Observations, relation: ProductRelation) -> Mined:
    left = _times(relation.left)
    names = (*relation.left, *relation.right)
    rule: Expression
    if relation.values:
        rule = Membership(left, tuple(Literal(_plain(value)) for value in relation.values))
    elif not relation.right:
        rule = Comparison("==", left, Literal(_plain(relation.factor)))
    elif relation.factor >= 1.0:
        rule = Comparison("==", left, _scaled(relation.factor, _times(relation.right)))
    else:
        rule = Comparison("==", _scaled(1.0 / relation.factor, left), _times(relation.right))
    return _mined(data, rule, "product", names, relation.combinations, relation.chance)


def _grouped(data: Observations, relation: ProductRelation) -> Mined:
    rest = Arithmetic("%", Name(relation.left[0]), _times(relation.right))
    names = (*relation.left, *relation.right)
    rule = Comparison("==", rest, Literal(0))
    return _mined(data, rule, "modulo", names, relation.combinations, relation.chance)


def _condition(data: Observations, found: Condition) -> Mined:
    category = data.space[found.category]
    assert isinstance(category, Category)
    condition = Comparison("==", Name(found.category), Literal(category.values[found.code]))
    consequence = Comparison(found.op, Name(found.name), Literal(_plain(found.value)))
    broken = "nearly all" if found.chance < 0.005 else f"{1.0 - found.chance:.0%}"
    why = (
        f"{found.configurations:,} different configurations have this label; "
        f"{broken} of the other rows differ"
    )
    text = format_rule(Implies(condition, consequence))
    return Mined(text=text, kind="implication", rows=found.rows, why=why)


def _mined(
    data: Observations,
    rule: Expression,
    kind: str,
    names: tuple[str, ...],
    count: int,
    chance: float,
) -> Mined:
    rows = data.rows(names)
    often = "almost always" if chance < 0.005 else f"{1.0 - chance:.0%} of the time"
    why = (
        f"holds on all {rows:,} rows with {count:,} different combinations of "
        f"{', '.join(names)}; unrelated values would break it {often}"
    )
    return Mined.model_validate({"text": format_rule(rule), "kind": kind, "rows": rows, "why": why})


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
