import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_reference import SPACE, every_row, rule
from rules_strategies import rules
from test_rules_propagate import JOBS, after, compiled

from compass.domain.errors import ConflictingRules
from compass.domain.expression import And, names_in
from compass.domain.space import Number, Space
from compass.rules import conflict, domains_of, explain_conflict
from compass.rules.conflict import find_conflict
from compass.rules.narrow import narrow
from property_examples import examples


@pytest.mark.parametrize(
    ("texts", "fixed", "message", "named"),
    [
        (
            ["nodes < 4", "gpus >= 1", "nodes >= 8"],
            {},
            "nodes < 4 and nodes >= 8 cannot both hold",
            ("nodes < 4", "nodes >= 8"),
        ),
        (
            ["nodes < 4", "nodes >= 8"],
            {"nodes": 2.0},
            "nodes < 4 and nodes >= 8 cannot both hold",
            ("nodes < 4", "nodes >= 8"),
        ),
        (
            ["gpus <= 4 * nodes", "cores >= nodes"],
            {"gpus": 300.0},
            "gpus is fixed at 300 but gpus <= 4 * nodes needs nodes >= 75, and nodes is at most 64",
            ("gpus <= 4 * nodes",),
        ),
        (
            ["cap <= 50"],
            {},
            "cap is at least 100 W, so cap <= 50 cannot hold",
            ("cap <= 50",),
        ),
        (
            ["gpus <= 4 * nodes", "nodes <= 3"],
            {"gpus": 16.0},
            "gpus is fixed at 16, so gpus <= 4 * nodes and nodes <= 3 cannot both hold",
            ("gpus <= 4 * nodes", "nodes <= 3"),
        ),
        (
            ["nodes <= 8 -> gpus <= 4", "nodes <= 8", "gpus >= 5"],
            {},
            "nodes <= 8 -> gpus <= 4, nodes <= 8 and gpus >= 5 cannot all hold",
            ("nodes <= 8 -> gpus <= 4", "nodes <= 8", "gpus >= 5"),
        ),
        (["1 > 2"], {}, "1 > 2 can never hold", ("1 > 2",)),
        (
            ["threads in {2, 32}"],
            {},
            "threads is one of 1, 4, 8, 16, 64, so threads in {2, 32} cannot hold",
            ("threads in {2, 32}",),
        ),
        (
            ["2 * nodes == 7"],
            {},
            "nodes is whole, so 2 * nodes == 7 cannot hold",
            ("2 * nodes == 7",),
        ),
        (
            ["partition == 'cpu' -> gpus == 0"],
            {"partition": 0.0, "gpus": 2.0},
            "partition is fixed at 'cpu' and gpus is fixed at 2, "
            "so partition == 'cpu' -> gpus == 0 cannot hold",
            ("partition == 'cpu' -> gpus == 0",),
        ),
        (
            ["cap >= 150"],
            {"cap": JOBS["cap"].none_code},
            "cap is fixed at none, so cap >= 150 cannot hold",
            ("cap >= 150",),
        ),
    ],
)
def test_a_conflict_is_told_in_plain_words(texts, fixed, message, named):
    with pytest.raises(ConflictingRules) as caught:
        after(*texts, fixed=fixed)
    assert caught.value.message == message
    assert caught.value.rules == named
    assert caught.value.hint
    assert conflict(compiled(*texts), domains_of(JOBS, JOBS.names), fixed) == named


def test_the_example_of_the_manual():
    nodes = domains_of(JOBS, ["nodes"])["nodes"].clip((1, 3))
    with pytest.raises(ConflictingRules) as caught:
        after("gpus <= 4 * nodes", fixed={"gpus": 16.0}, nodes=nodes)
    assert caught.value.message == (
        "gpus is fixed at 16 but gpus <= 4 * nodes needs nodes >= 4, and nodes is at most 3"
    )
    assert caught.value.hint == "change the rule or free gpus"


@examples(30)
@given(st.lists(rules(("a", "b", "c")), min_size=2, max_size=5))
def test_every_rule_of_a_conflict_is_needed(expressions):
    names = names_in(And(tuple(expressions)))
    domains = domains_of(SPACE, names)
    compiled_rules = [rule(e) for e in expressions]
    if narrow(compiled_rules, domains, {}) is not None:
        return
    found = find_conflict(compiled_rules, domains, {})
    assert found is not None
    assert found.rules
    involved = names_in(And(tuple(r.expression for r in found.rules)))
    if len(involved) <= 4:
        X = every_row(involved)
        for one in found.rules:
            X = X[one.holds(X)]
        assert len(X) == 0
    error = explain_conflict(compiled_rules, domains, {})
    assert error.rules == tuple(r.text for r in found.rules)
    if not found.facts:
        unbounded: dict = {}
        for one in found.rules:
            rest = [r for r in found.rules if r is not one]
            assert narrow(rest, unbounded, {}) is not None


def test_a_conflict_that_only_shows_when_combinations_are_tried():
    space = Space(
        parameters=tuple(
            Number(name=n, low=1, high=v[-1], allowed=v)
            for n, v in (("p", (2, 3)), ("q", (2, 3)), ("r", (2, 3)))
        )
    )
    rules_ = compiled("p != q", "q != r", "p != r", space=space)
    domains = domains_of(space, space.names)
    assert narrow(rules_, domains, {}) is not None
    assert conflict(rules_, domains, {}) == ("p != q", "q != r", "p != r")
    assert "cannot all hold" in explain_conflict(rules_, domains, {}).message


def test_rules_that_agree_have_no_conflict():
    rules_ = compiled("nodes <= 4", "gpus <= 4 * nodes")
    assert conflict(rules_, domains_of(JOBS, JOBS.names), {}) == ()
    assert "no configuration was found" in explain_conflict(rules_, {}, {}).message


def test_labels_stay_labels_while_facts_are_left_out():
    texts = ("partition == 'cpu'", "not (partition == 'gpu' -> partition == 'gpu')")
    found = conflict(compiled(*texts), domains_of(JOBS, ["partition"]), {})
    assert found == texts[1:]
    rules_ = compiled("partition in {'cpu', 'big'} -> gpus <= 4 * nodes")
    error = explain_conflict(
        rules_, domains_of(JOBS, ["partition", "nodes"]), {"gpus": 300.0, "partition": 0.0}
    )
    assert "needs nodes >= 75, and nodes is at most 64" in error.message


def test_a_column_without_any_legal_value_is_named():
    empty = domains_of(JOBS, ["threads"])["threads"].clip((2, 3))
    error = explain_conflict([], {"threads": empty}, {})
    assert error.message == "threads has no legal value"
    assert error.rules == ()


def test_a_missing_cell_takes_part_by_name():
    rules_ = compiled("gpus <= nodes")
    found = find_conflict(rules_, domains_of(JOBS, ["nodes"]), {"gpus": np.nan})
    assert [fact.kind for fact in found.facts] == ["fixed"]
