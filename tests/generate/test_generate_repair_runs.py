"""Changed runs are moved on until rules hold: against all legal moves, tried one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Role, Space
from compass.generate.repair_runs import RepairedRuns, forcing_rules, repair_runs
from compass.language import parse_rule
from compass.prepare.geometry import Geometry, column_distances
from compass.rules import Rule, compile_rule
from property_examples import examples

SPACE = Space(
    parameters=(
        Number(name="gpus", low=0, high=8, allowed=(0, 1, 2, 4, 8)),
        Number(name="gpus_alloc", low=0, high=8, step=1),
        Number(name="nodes", low=1, high=4, allowed=(1, 2, 4)),
        Number(name="nodes_alloc", low=1, high=4, step=1),
        Number(name="cores", low=1, high=16, step=1),
        Category(name="queue", role=Role.CONTEXT, values=("small", "large")),
    )
)
TEXTS = (
    "gpus_alloc == gpus",
    "nodes_alloc == nodes",
    "gpus <= 2 * nodes",
    "cores <= 4 * nodes",
    "cores >= gpus",
    "queue == 'small' -> nodes <= 2",
)
WIDTH = len(SPACE)
GEOMETRY = Geometry.of(SPACE, np.array([4.0, 4.0, 2.0, 2.0, 8.0, 1.0]), np.ones(WIDTH))


def rules_of(texts: tuple[str, ...] = TEXTS) -> list[Rule]:
    return [compile_rule(parse_rule(text), SPACE, SPACE.names, text) for text in texts]


def values_of(column: int) -> list[float]:
    parameter = SPACE.parameters[column]
    if isinstance(parameter, Category):
        return [float(code) for code in range(len(parameter.values))]
    if parameter.allowed is not None:
        return list(parameter.allowed)
    return [float(v) for v in range(int(parameter.low), int(parameter.high) + 1)]


EVERY = np.array(list(itertools.product(*(values_of(j) for j in range(WIDTH)))))
LAWFUL = EVERY[np.all([rule.holds(EVERY) for rule in rules_of()], axis=0)]


def repaired(before: np.ndarray, gpus: float) -> tuple[np.ndarray, RepairedRuns]:
    after = before.copy()
    after[:, 0] = gpus
    return after, repair_runs(SPACE, rules_of(), GEOMETRY, before, after, [0])


def cheapest(before: np.ndarray, gpus: float) -> float | None:
    """The smallest change of one run [d] that obeys all rules, of all there are."""
    fitting = LAWFUL[LAWFUL[:, 0] == gpus]
    if not len(fitting):
        return None
    return float(column_distances(fitting, before, GEOMETRY).sum(axis=1).min())


@given(
    st.lists(st.integers(0, len(LAWFUL) - 1), min_size=1, max_size=30),
    st.sampled_from([0.0, 1.0, 2.0, 4.0, 8.0]),
)
@examples(60)
def test_every_run_obeys_the_rules_with_the_smallest_change(rows: list[int], gpus: float) -> None:
    before = LAWFUL[rows]
    _, found = repaired(before, gpus)
    for start, x, obeys in zip(before, found.X, found.obey, strict=True):
        least = cheapest(start, gpus)
        assert obeys == (least is not None)
        if obeys:
            assert x[0] == gpus
            assert (x == LAWFUL).all(axis=1).any()
            change = column_distances(x[None, :], start, GEOMETRY).sum()
            assert change == pytest.approx(least)


def test_a_run_that_needs_nothing_is_left_alone() -> None:
    before = LAWFUL[:50]
    after = before.copy()
    after[:, 4] = before[:, 4]
    found = repair_runs(SPACE, rules_of(), GEOMETRY, before, after, [4])
    assert (before == found.X).all()
    assert found.obey.all()


def test_a_rule_that_was_broken_before_need_not_hold_after() -> None:
    before = np.array([[1.0, 0.0, 1.0, 1.0, 2.0, 0.0]])  # gpus_alloc differs from gpus
    after = before.copy()
    after[:, 4] = 3.0
    found = repair_runs(SPACE, rules_of(), GEOMETRY, before, after, [4])
    assert found.obey.all()
    assert (after == found.X).all()


def test_a_label_of_the_context_moves_only_where_nothing_else_can() -> None:
    before = np.array([[4.0, 4.0, 2.0, 2.0, 8.0, 0.0]])  # queue small
    after, found = repaired(before, 8.0)
    assert found.obey.all()
    assert SPACE["queue"].values[int(found.X[0, 5])] == "large"  # type: ignore[union-attr]
    _, fewer = repaired(before, 2.0)
    assert fewer.X[0, 5] == 0.0
    assert (after[0, 1:] == before[0, 1:]).all()


def test_what_cannot_be_repaired_is_told() -> None:
    texts = (*TEXTS, "nodes <= 2")
    before = np.array([[4.0, 4.0, 2.0, 2.0, 8.0, 0.0]])
    after = before.copy()
    after[:, 0] = 8.0
    found = repair_runs(SPACE, rules_of(texts), GEOMETRY, before, after, [0])
    assert not found.obey.any()


def test_the_rule_behind_a_move() -> None:
    before = np.repeat([[2.0, 2.0, 1.0, 1.0, 4.0, 0.0]], 5, axis=0)
    after, found = repaired(before, 4.0)
    rules = rules_of()
    names = SPACE.names
    forced = {
        name: forcing_rules(rules, before, after, found.X, names.index(name))
        for name in ("gpus_alloc", "nodes", "nodes_alloc", "cores")
    }
    assert forced == {
        "gpus_alloc": "gpus_alloc == gpus",
        "nodes": "gpus <= 2 * nodes",
        "nodes_alloc": "nodes_alloc == nodes",
        "cores": None,
    }


def test_real_numbers_stop_at_the_boundary() -> None:
    space = Space(
        parameters=(
            Number(name="cap", low=10.0, high=500.0),
            Number(name="limit", low=5.0, high=400.0),
        )
    )
    rule = compile_rule(parse_rule("limit < 0.5 * cap"), space, space.names)
    geometry = Geometry.of(space, np.ones(2), np.ones(2))
    before = np.array([[300.0, 140.0], [300.0, 20.0]])
    after = before.copy()
    after[:, 0] = 100.0
    found = repair_runs(space, [rule], geometry, before, after, [0])
    assert found.obey.all()
    assert found.X[0, 1] == pytest.approx(50, abs=1e-2)
    assert found.X[0, 1] < 50
    assert found.X[1, 1] == 20


def test_rules_that_cannot_be_solved_are_tried_value_by_value() -> None:
    rule = compile_rule(parse_rule("cores >= max(gpus, 2 * nodes)"), SPACE, SPACE.names)
    before = np.array([[1.0, 1.0, 1.0, 1.0, 2.0, 0.0]])
    after = before.copy()
    after[:, 2] = 4.0
    found = repair_runs(SPACE, [rule], GEOMETRY, before, after, [2])
    assert found.obey.all()
    assert found.X[0, 4] == 8
