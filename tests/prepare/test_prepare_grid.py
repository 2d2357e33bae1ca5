"""Values on a grid are told from values that stand on one by chance."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Number, Role
from compass.domain.study import ColumnChoice, Study
from compass.prepare import infer
from compass.prepare.grid import step_of
from compass.prepare.legal import legal_mask, snap
from compass.readers import Table


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([96.0 * n for n in (1, 2, 3, 5, 8, 79)], 96),
        ([8.0, 24, 40, 56, 200], 16),
        ([-50.0, 0, 25, 75, 100], 25),
        ([0.1 + 0.2 * n for n in range(20)], 0.2),  # with the noise of floats
        ([0.1 * n for n in range(1, 31)], 0.1),
        ([1.5, 2.0, 3.5, 4.0, 6.5, 8.0], 0.5),
    ],
)
def test_grids(values: list[float], step: float) -> None:
    assert step_of(np.array(values)) == pytest.approx(step)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 3, 5],  # too few to tell
        [2.0, 4, 6, 10, 12],  # even by chance: 1 in 16
        [7.0, 96, 192, 288, 384],
        [0.123456, 0.234567, 0.345678, 0.456789, 0.567891],
        [1e300, 2e300, 3e300, 5e300],
        [float(2**60 + 4096 * n) for n in range(9)],
    ],
)
def test_no_grids(values: list[float]) -> None:
    assert step_of(np.array(values)) is None


@given(
    st.integers(-1000, 1000),
    st.integers(2, 500),
    st.sets(st.integers(0, 10_000), min_size=14, max_size=40),
)
def test_the_step_is_the_greatest_common_divisor(start: int, step: int, steps: set[int]) -> None:
    common = math.gcd(*(n - min(steps) for n in steps))
    values = np.array([start + step * n for n in steps], dtype=float)
    assert step_of(values) == step * common


def test_how_often_arbitrary_numbers_are_a_grid() -> None:
    rng = np.random.default_rng(5)
    for count in (4, 6, 10, 12):
        found = [step_of(rng.integers(0, 10**6, count).astype(float)) for _ in range(4000)]
        assert sum(one is not None for one in found) <= 12  # 4 are expected at most


def column(values: object, name: str = "tile", **choice: object) -> Number:
    rows = len(values)  # type: ignore[arg-type]
    noise = np.random.default_rng(1).random(rows)
    table = Table.of(pa.table({name: values, "time": noise}))
    study = Study(columns={name: ColumnChoice(**choice)} if choice else {})  # type: ignore[arg-type]
    found = infer(table, study)[0][name]
    assert isinstance(found, Number)
    return found


def test_suggestions_stay_on_the_grid_of_a_column() -> None:
    values = 96 * np.random.default_rng(2).permutation(np.arange(1, 80))
    found = column(values)
    assert (found.low, found.high, found.step, found.allowed) == (96, 96 * 79, 96, None)
    assert legal_mask(found, values.astype(float)).all()
    assert snap(found, np.array([7588.0]))[0] == 7584
    offset = column(values + 8)
    assert (offset.low, offset.step) == (104, 96)
    assert legal_mask(offset, values + 8.0).all()


def test_outcomes_and_what_the_study_says_are_left_alone() -> None:
    values = 96 * np.arange(1, 80)
    assert column(values, role=Role.OUTCOME).step == 1
    assert column(values, step=2.0).step == 2
    assert column(values, low=0.0).step == 96
    assert column(values, low=50.0).step == 2  # the grid from 50 that has all values
    assert column(np.arange(1, 80) ** 2).step == 1


def test_values_with_float_noise_are_legal() -> None:
    values = np.cumsum(np.full(60, 0.1))
    found = column(values, "alpha")
    assert found.step == pytest.approx(0.1)
    assert legal_mask(found, values).all()
