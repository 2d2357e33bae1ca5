"""Random rules and queries for property tests."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from compass.domain.constraint import Constraint
from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Implies,
    Literal,
    Membership,
    Name,
    Negative,
    Not,
    Or,
)
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.option import LOSS_TERMS
from compass.domain.query import Given, Kind, Plus, Query, Row, SetTo, Times
from compass.domain.units import UNITS
from compass.language import format_rule

ODD_NAMES = (
    *("X+_*_STALL", "core 0", "Time[s]", "Mem (GB)", "*", "a.b", "in.flight", "1st", " pad ", ""),
    *("top", "in", "old", "x", "min", "max", "from", "where", "same", "minimize", "seed", "row"),
    *("true", "None", "NULL", "and", "or", "not", "between", "weights", "C", "Y", "keep", "to"),
    "reference",
    *("chance", "beyond", "level", "ResNet-50", "old-2", "a-1b-2"),
    *("a`b", "`", "``", "a\nb", "a'b", 'a"b', "a\\", "ſame", "falſe", "ın", "größe", "节点", "²"),
)
any_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
words = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
names = st.one_of(words, st.sampled_from(ODD_NAMES), any_text)
labels = st.one_of(
    any_text, st.sampled_from(("old", "x", "?", "'", '"mnist"', "\\'", "\\", "a\nb", "n-2"))
)

whole = st.integers(-(2**70), 2**70)
real = st.floats(allow_nan=False, allow_infinity=False)
odd_numbers = st.sampled_from(
    (0, -1, 1e-300, 5e-324, 1e22, 1e15, 1.7976931348623157e308, 2**53 + 1)
)
numbers = st.one_of(st.integers(-9, 99), whole, real, odd_numbers)
units = st.sampled_from(sorted(UNITS))
values = st.one_of(numbers, labels, st.booleans(), st.none())
quantities = st.builds(Literal, numbers, st.none() | units)
literals = st.one_of(quantities, st.builds(Literal, values))


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    functions = st.sampled_from(("min", "max", "abs", "log2", "my.rule", "top"))
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from(("+", "-", "*", "/", "%", "**")), inner, inner),
        st.builds(Negative, inner),
        st.builds(Call, functions, st.lists(inner, max_size=3).map(tuple)),
    )


arithmetic = st.recursive(st.one_of(st.builds(Name, names), quantities), _deeper, max_leaves=6)
_sides = st.one_of(arithmetic, literals)
_conditions = st.one_of(
    st.builds(Comparison, st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), _sides, _sides),
    st.builds(Membership, arithmetic, st.lists(literals, min_size=1, max_size=3).map(tuple)),
    st.builds(Call, st.just("fits"), st.lists(arithmetic, max_size=2).map(tuple)),
)


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Not, inner),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Implies, inner, inner),
    )


rules = st.recursive(_conditions, _combined, max_leaves=6)


def normal(node: Expression) -> Expression:
    """The tree that a rule reads back as.

    Text cannot tell `a and (b and c)` from `a and b and c`, nor minus a number from a negative
    number: the flat form and the negative number stand for both.
    """
    match node:
        case And(operands):
            return And(tuple(_flat(And, operands)))
        case Or(operands):
            return Or(tuple(_flat(Or, operands)))
        case Negative(operand):
            inner = normal(operand)
            if isinstance(inner, Literal) and not isinstance(inner.value, bool):
                return Literal(-inner.value, inner.unit)  # type: ignore[operator]
            return Negative(inner)
        case Arithmetic(op, left, right):
            return Arithmetic(op, normal(left), normal(right))
        case Comparison(op, left, right):
            return Comparison(op, normal(left), normal(right))
        case Implies(condition, consequence):
            return Implies(normal(condition), normal(consequence))
        case Membership(operand, members):
            return Membership(normal(operand), members)
        case Not(operand):
            return Not(normal(operand))
        case Call(function, arguments):
            return Call(function, tuple(normal(a) for a in arguments))
        case _:
            return node


def _flat(kind: type[And] | type[Or], operands: tuple[Expression, ...]) -> list[Expression]:
    found: list[Expression] = []
    for operand in map(normal, operands):
        found.extend(operand.operands if isinstance(operand, kind) else (operand,))
    return found


positive = st.floats(min_value=5e-324, max_value=1e300)
_directions = st.sampled_from(("reduce", "increase"))


@st.composite
def _ranges(draw: Callable[..., Any]) -> Within:
    low, high = sorted((draw(real), draw(real)))
    open_side = draw(st.sampled_from(("low", "high", "none")))
    return Within(
        low=None if open_side == "low" else low,
        high=None if open_side == "high" else high,
        unit=draw(st.none() | units),
    )


goals: st.SearchStrategy[Goal] = st.one_of(
    st.builds(Extreme, direction=st.sampled_from(("minimize", "maximize"))),
    _ranges(),
    st.builds(Change, direction=_directions, by=positive),
    st.builds(
        Change, direction=_directions, by=positive, relative=st.just(False), unit=st.none() | units
    ),
    st.builds(Reach, value=real, unit=st.none() | units),
    st.builds(Same, tolerance=st.none() | positive, beyond=st.sampled_from([None, "less", "more"])),
    st.builds(IsClass, value=values),
    st.just(Observe()),
)
edits = st.one_of(
    st.builds(SetTo, value=values),
    st.builds(SetTo, value=numbers, unit=units),
    st.builds(Times, factor=real),
    st.builds(Plus, amount=real, unit=st.none() | units),
)
baselines = st.one_of(
    st.none(),
    st.builds(Row, row=st.integers(0, 2**63 - 1)),
    st.builds(Given, config=st.dictionaries(names, values, max_size=3)),
)


@st.composite
def queries(draw: Callable[..., Any]) -> Query:
    """Any query that text can carry.

    Text has no place for a stated old value of a column that X and Y do not name, and reads
    `1 -> 3` as a number to reach until the query is bound, also where 3 is a label.
    """
    found = draw(st.lists(names, unique=True, max_size=6))
    cuts = sorted((draw(st.integers(0, len(found))), draw(st.integers(0, len(found)))))
    aims = {name: draw(goals) for name in found[cuts[1] :]}
    stateable = [n for n in found if not _numeric_class(aims.get(n))]
    stated = draw(st.lists(st.sampled_from(stateable), unique=True)) if stateable else []
    diversity = draw(st.none() | st.floats(0, 1000))
    terms = [name for name in LOSS_TERMS if diversity is None or name != "diversity"]
    return Query(
        kind=draw(st.sampled_from(Kind)),
        ask=tuple(found[: cuts[0]]),
        change={name: draw(edits) for name in found[cuts[0] : cuts[1]]},
        goals=aims,
        where=tuple(
            Constraint(text=format_rule(normal(rule))) for rule in draw(st.lists(rules, max_size=2))
        ),
        stated={name: draw(values) for name in stated},
        baseline=draw(baselines),
        count=draw(st.none() | st.integers(1, 1000)),
        seed=draw(st.none() | st.integers(0, 2**32 - 1)),
        weights=draw(st.dictionaries(names, positive, max_size=3)),
        reference=draw(st.dictionaries(names, positive, max_size=2)),
        diversity=diversity,
        loss=draw(st.dictionaries(st.sampled_from(terms), st.floats(0, 1000))),
        level=draw(st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True)),
        dependencies=draw(st.sampled_from([None, "keep", "ignore"])),
        chance=draw(st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True)),
        beyond=draw(st.booleans()),
        prove=draw(st.none() | st.floats(0, 3600)),
        generator=draw(st.none() | labels.filter(bool)),
    )


def _numeric_class(goal: Goal | None) -> bool:
    return isinstance(goal, IsClass) and type(goal.value) in (int, float)
