"""Which answers a person would call different."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Space
from compass.domain.target import Target
from compass.generate.distinct import Distinct
from compass.generate.predict import Averaged
from compass.generate.score import ScoredCandidates
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.model.base import FittedDefaults, Task
from compass.prepare.geometry import Geometry
from compass.settings import Settings

SPACE = Space(
    parameters=(
        Number(name="cores", low=1, high=128, step=1),
        Number(name="nodes", low=20, high=60, allowed=(20, 21, 22, 40, 60)),
        Category(name="compiler", values=("gcc", "icc")),
        Number(name="shift", low=-50, high=50),
        Number(name="gpus", low=0, high=40, step=1, optional=True),
    )
)
NONE = float(SPACE.parameters[4].none_code)  # type: ignore[union-attr]
START = np.array([64.0, 20.0, 0.0, 0.0, 20.0])


class Faster(FittedDefaults):
    """Runtime falls with cores; nothing else matters."""

    family = "law"
    task = Task()

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(1000 / X[:, :1])

    def spread(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, np.ndarray]:
        return {}


def task(
    count: int = 3, *, proximity: bool = True, free: tuple[int, ...] = (0, 1, 2, 3, 4)
) -> SearchTask:
    columns = np.array(free, dtype=np.int64)
    return SearchTask(
        space=SPACE,
        start=START,
        free=columns,
        forced=columns[:0],
        rules=(),
        outcome_rules=(),
        outcomes=("runtime",),
        targets=(Target(name="runtime", high=25.0, scale=10.0),),
        labels={},
        predict=Averaged({"runtime": Faster()}, START[None, :], columns),
        geometry=Geometry.of(SPACE, np.array([30.0, 2.0, 1.0, 20.0, 10.0]), np.ones(5)),
        observed=np.empty((0, 5)),
        proximity=proximity,
        count=count,
        seed=1,
        settings=Settings(),
    )


def with_values(column: int, values: list[float]) -> np.ndarray:
    X = np.repeat(START[None, :], len(values), axis=0)
    X[:, column] = values
    return X


def differ(column: int, own: float, *values: float) -> list[bool]:
    """Which values of a column make another answer than this one."""
    return (
        Distinct.of(task())
        .different(with_values(column, [*values]), with_values(column, [own])[0])
        .tolist()
    )


def test_42_41_and_40_cores_are_one_answer() -> None:
    assert differ(0, 42, 42, 41, 40, 36) == [False] * 4
    assert differ(0, 42, 34, 32, 52, 64) == [True] * 4


def test_few_cores_differ_by_one() -> None:
    assert differ(0, 1, 2) == [True]
    assert differ(0, 4, 5) == [True]  # a quarter more
    assert differ(0, 10, 11) == [False]


def test_of_a_few_values_each_is_a_choice_of_its_own() -> None:
    assert differ(1, 21, 20, 22, 40, 60) == [True] * 4
    assert differ(2, 0, 1) == [True]


def test_numbers_of_either_sign_differ_by_a_share_of_their_range() -> None:
    assert differ(3, -2.0, 2.0) == [False]
    assert differ(3, -6.0, 6.0) == [True]
    assert differ(3, 0.0, 9.0, 10.0) == [False, True]


def test_to_leave_a_value_out_is_different() -> None:
    assert differ(4, 40.0, NONE, 39.0) == [True, False]
    assert differ(4, NONE, NONE, 40.0) == [False, True]


def test_what_may_not_move_makes_no_difference() -> None:
    held = task(free=(1, 2))
    assert not Distinct.of(held).different(with_values(0, [1.0, 128.0]), START).any()


@given(st.integers(1, 128), st.integers(1, 128))
def test_cores_differ_by_a_fifth_or_a_tenth_of_the_range_and_so_both_ways(a: int, b: int) -> None:
    wanted = max(a, b) >= 1.2 * min(a, b) or abs(a - b) >= 0.1 * 127
    assert differ(0, a, b) == differ(0, b, a) == [wanted and a != b]


def scored(X: np.ndarray, preference: list[float]) -> ScoredCandidates:
    n = len(X)
    nought = np.zeros(n)
    return ScoredCandidates(
        X, nought, nought, np.empty((n, 0)), np.array(preference), nought, nought
    )


def test_a_further_change_that_is_of_no_use_is_no_answer() -> None:
    X = np.array(
        [
            [128.0, 20, 0, 0, 20],  # the chosen one
            [128.0, 40, 0, 0, 20],  # it with more nodes, for nothing
            [128.0, 60, 0, 0, 20],  # it with more nodes, and better
            [64.0, 60, 1, 0, 20],  # something else
        ]
    )
    found = Distinct.of(task()).another(scored(X, [1.0, 1.0, 0.5, 3.0]), 0)
    assert found.tolist() == [False, False, True, True]
    # Without a baseline there is no further change.
    found = Distinct.of(task(proximity=False)).another(scored(X, [1.0, 1.0, 0.5, 3.0]), 0)
    assert found.tolist() == [False, True, True, True]


@pytest.mark.parametrize(("count", "wanted"), [(10, [False, False]), (11, [True, True])])
def test_who_asks_for_more_than_ten_wants_them_close(count: int, wanted: list[bool]) -> None:
    found = Distinct.of(task(count)).another(scored(with_values(0, [42, 41]), [0.0, 0.0]), 0)
    assert found.tolist() == wanted


@pytest.mark.parametrize("count", [3, 8])
def test_no_two_answers_of_a_search_are_the_same_to_a_person(count: int) -> None:
    made = task(count)
    made = replace(made, targets=(Target(name="runtime", high=12.0, scale=10.0),))  # 84 cores
    X = LegalSearch.generate(made).X
    assert len(X) > 1
    for i in range(len(X)):
        assert Distinct.of(made).different(np.delete(X, i, axis=0), X[i]).all()
        # None is another one with something changed on top.
        moved = np.flatnonzero(X[i] != START)
        assert (X[:, moved] == X[i][moved]).all(axis=1).sum() == 1
