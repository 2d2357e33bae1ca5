"""Random rules over the columns of `rules_reference.SPACE`."""

from hypothesis import strategies as st

from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Implies,
    Literal,
    Membership,
    Name,
    Negative,
    Not,
    Or,
)

WHOLE = ("a", "b", "c")
NUMBERS = (*WHOLE, "x", "cap")
ORDER = ("<", "<=", ">", ">=", "==", "!=")

constants = st.one_of(st.integers(-3, 9), st.sampled_from([0.5, 1.5, 0.1, -2.5])).map(Literal)


def numbers(names=NUMBERS):
    leaves = st.one_of(st.sampled_from(names).map(Name), constants)
    return st.recursive(leaves, _deeper, max_leaves=4)


def _deeper(inner):
    one = st.sampled_from(["abs", "log2", "log", "log10", "exp", "sqrt", "ceil", "floor", "round"])
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner),
        st.builds(lambda n, k: Arithmetic("**", n, Literal(k)), inner, st.integers(-2, 3)),
        st.builds(Negative, inner),
        st.builds(lambda f, n: Call(f, (n,)), one, inner),
        st.builds(Call, st.sampled_from(["min", "max"]), st.tuples(inner, inner)),
    )


def comparisons(names=NUMBERS):
    return st.builds(Comparison, st.sampled_from(ORDER), numbers(names), numbers(names))


def memberships(names=NUMBERS):
    values = st.lists(constants, min_size=1, max_size=3).map(tuple)
    return st.builds(Membership, numbers(names), values)


labels = st.sampled_from(["u", "v"]).map(Literal)
label_rules = st.one_of(
    st.builds(
        lambda op, name, label: Comparison(op, Name(name), label),
        st.sampled_from(["==", "!="]),
        st.sampled_from(["kind", "mode"]),
        labels,
    ),
    st.just(Comparison("==", Name("kind"), Name("mode"))),
    st.just(Comparison("!=", Name("mode"), Literal(None))),
    st.builds(
        lambda name, values: Membership(Name(name), values),
        st.sampled_from(["kind", "mode"]),
        st.lists(labels, min_size=1, max_size=2).map(tuple),
    ),
)
none_rules = st.one_of(
    st.builds(lambda op: Comparison(op, Name("cap"), Literal(None)), st.sampled_from(["==", "!="])),
    st.just(Membership(Name("cap"), (Literal(2), Literal(None)))),
)


def rules(names=NUMBERS):
    """Rules of any form."""
    atoms = st.one_of(comparisons(names), memberships(names), label_rules, none_rules)
    return st.recursive(atoms, _combined, max_leaves=4)


def _combined(inner):
    some = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Not, inner),
        st.builds(And, some),
        st.builds(Or, some),
        st.builds(Implies, inner, inner),
    )
