import numpy as np
import pytest
from rules_reference import MISSING, SPACE, compiled, every_row, natural

from compass import registry
from compass.domain.errors import RuleProblem


@pytest.fixture
def python_rules():
    @registry.add("rule", "fits")
    def fits(nodes, label):
        assert nodes.dtype == np.float64
        assert label.dtype == object
        return (nodes <= 2) | (label == "v")

    @registry.add("rule", "excess")
    def excess(nodes, limit=3.0):
        return nodes - limit

    @registry.add("rule", "short")
    def short(nodes):
        return nodes[:1]

    @registry.add("rule", "words")
    def words(nodes):
        return np.array(["yes"] * len(nodes))

    @registry.add("rule", "broken")
    def broken(nodes):
        raise KeyError("gone")

    names = ("fits", "excess", "short", "words", "broken")
    yield
    for name in names:
        registry.remove("rule", name)


@pytest.mark.usefixtures("python_rules")
def test_a_registered_rule_may_answer_yes_or_no():
    X = every_row(("a", "kind"), missing=True)
    found = compiled("fits(a, kind)").holds(X)
    denied = compiled("not fits(a, kind)").holds(X)
    for row, yes, no in zip(X, found, denied, strict=True):
        cells = natural(row)
        if MISSING in (cells["a"], cells["kind"]):
            assert not yes
            assert not no
        else:
            assert yes == (cells["a"] <= 2 or cells["kind"] == "v")
            assert no == (not yes)
    amount = compiled("fits(a, kind)").violation(X)
    assert set(amount.tolist()) == {0.0, 1.0}


@pytest.mark.usefixtures("python_rules")
def test_a_registered_rule_may_answer_with_a_number():
    X = every_row(("a",), missing=True)
    a = X[:, 0]
    np.testing.assert_array_equal(compiled("excess(a)").holds(X), a <= 3)
    expected = np.where(np.isnan(a), 1.0, np.maximum(a - 3, 0))
    np.testing.assert_array_equal(compiled("excess(a)").violation(X), expected)
    np.testing.assert_array_equal(compiled("not excess(a)").holds(X), a > 3)
    np.testing.assert_array_equal(compiled("excess(a, 1) * 2 <= 4").holds(X), a <= 3)


@pytest.mark.usefixtures("python_rules")
def test_a_registered_rule_receives_none_as_nan_and_literals_as_they_are():
    @registry.add("rule", "uncapped")
    def uncapped(cap, word):
        return np.isnan(cap) & (word == "w")

    try:
        X = every_row(("cap",))
        expected = X[:, SPACE.names.index("cap")] == SPACE["cap"].none_code
        np.testing.assert_array_equal(compiled("uncapped(cap, 'w')").holds(X), expected)
    finally:
        registry.remove("rule", "uncapped")


@pytest.mark.usefixtures("python_rules")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("short(a)", r"shape \(1,\) for 6 rows"),
        ("words(a)", "gave values of type"),
        ("broken(a)", "the rule broken failed: KeyError"),
        ("fits(a, kind) + 1 <= 2", "answers yes or no"),
    ],
)
def test_a_registered_rule_that_misbehaves_is_named(text, message):
    with pytest.raises(RuleProblem, match=message):
        compiled(text).holds(every_row(("a",)))


@pytest.mark.usefixtures("python_rules")
def test_the_number_of_arguments_of_a_registered_rule_is_checked_early():
    with pytest.raises(RuleProblem, match="fits cannot be called with 1 value") as caught:
        compiled("fits(a)")
    assert "(nodes, label)" in caught.value.hint
