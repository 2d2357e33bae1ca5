"""Conditions as rules, values, lists and ranges; what they leave, and what they refuse."""

import numpy as np
import pytest

import compass as cp
from compass.domain.errors import BadInput, ConflictingRules, UnknownName
from compass.domain.space import Category, Number, Role, Space
from compass.synth.conditions import conditions_of

SPACE = Space(
    parameters=(
        Category(name="app", role=Role.CONTEXT, values=("amg", "comd")),
        Number(name="nodes", low=1, high=16, step=1),
        Number(name="gpus", low=0, high=64, step=1),
        Number(name="run time", role=Role.OUTCOME, low=0, high=100, unit="s"),
    )
)


def test_values_lists_and_ranges_are_rules() -> None:
    asked = conditions_of(
        SPACE,
        (),
        given={"app": "AMG", "nodes": [2, 4], "run_time": cp.within(5, 10), "gpus": np.int64(8)},
    )
    X = np.array([[0, 2, 8, 5.0], [0, 3, 8, 5.0], [1, 2, 8, 5.0], [0, 2, 8, 11.0], [0, 2, 7, 5.0]])
    assert asked.met(X).tolist() == [True, False, False, False, False]
    assert asked.asked == ("app", "nodes", "gpus", "run time")


def test_units_are_converted() -> None:
    asked = conditions_of(SPACE, (), ["run_time <= 500 ms"])
    assert asked.domains[3].high == 0.5


def test_only_conditions_on_one_column_narrow_it() -> None:
    asked = conditions_of(SPACE, ["gpus <= 4 * nodes"], ["nodes <= 2"])
    assert asked.domains[1].high == 2
    assert asked.domains[2].high == 64
    assert asked.met(np.array([[0, 2, 9, 5.0], [0, 2, 8, 5.0]])).tolist() == [False, True]


def test_conditions_that_contradict_each_other_are_named() -> None:
    with pytest.raises(ConflictingRules, match="gpus"):
        conditions_of(SPACE, ["gpus == 4 * nodes"], ["nodes >= 10", "gpus <= 30"])


def test_an_equality_is_completed_in_its_last_open_column() -> None:
    asked = conditions_of(SPACE, ["gpus == 4 * nodes"], ["nodes <= 8"])
    X = np.array([[0, 2, 3, 5.0], [0, 3, 12, 5.0]])
    open_cells = np.ones(X.shape, dtype=bool)
    assert asked.completed(X, open_cells)[:, 2].tolist() == [8.0, 12.0]
    open_cells[:, 2] = False  # a given cell stays: nothing else may be calculated
    assert asked.completed(X, open_cells)[:, 2].tolist() == [3.0, 12.0]


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(UnknownName, match="lulesh"):
        conditions_of(SPACE, (), given={"app": "lulesh"})
    with pytest.raises(BadInput, match="no value"):
        conditions_of(SPACE, (), given={"nodes": []})
    with pytest.raises(BadInput, match="cannot be"):
        conditions_of(SPACE, (), given={"nodes": object()})
