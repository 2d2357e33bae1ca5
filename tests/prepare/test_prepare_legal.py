"""Legal values, the nearest of them, and all of them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compass.domain.space import Category, Number
from compass.prepare.legal import legal, legal_mask, legal_values, snap, summary
from property_examples import examples

THREADS = Number(name="threads", low=4, high=16, allowed=(4, 8, 16))
NODES = Number(name="nodes", low=1, high=128, step=1)
TENTHS = Number(name="share", low=0.1, high=0.9, step=0.1)
CAP = Number(name="cap", low=0.5, high=3.0, optional=True)
APP = Category(name="app", values=("amg", "comd", 1, True, None))


def test_legal_numbers() -> None:
    assert legal(THREADS, 8)
    assert not legal(THREADS, 12)
    assert not legal(THREADS, None)
    assert legal(NODES, 27)
    assert not legal(NODES, 27.5)
    assert not legal(NODES, 129)
    assert not legal(NODES, "27")
    assert not legal(NODES, True)
    assert not legal(NODES, float("nan"))
    assert not legal(NODES, float("inf"))
    assert all(legal(TENTHS, k / 10) for k in range(1, 10))
    assert not legal(TENTHS, 0.15)
    assert legal(CAP, None)
    assert legal(CAP, 0.7)
    assert not legal(CAP, 3.1)


def test_the_code_of_none_is_no_number_to_set() -> None:
    # none_code is 5.5 here: as an encoded value it is legal, as a number a person writes it is not.
    assert legal_mask(CAP, np.array([CAP.none_code]))[0]
    assert not legal(CAP, CAP.none_code)


def test_legal_labels() -> None:
    for value in ("amg", 1, 1.0, True, None):
        assert legal(APP, value)
    for other in ("AMG", "1", False, 0, 2.5):
        assert not legal(APP, other)


def test_snapping() -> None:
    np.testing.assert_array_equal(
        snap(THREADS, np.array([-5, 6, 6.1, 12, 99, np.nan])), [4, 4, 8, 8, 16, np.nan]
    )
    np.testing.assert_array_equal(snap(NODES, np.array([0.2, 1.5, 1.6, 500])), [1, 1, 2, 128])
    np.testing.assert_array_equal(snap(APP, np.array([-1, 0.6, 9])), [0, 1, 4])
    np.testing.assert_array_equal(snap(CAP, np.array([0.1, 4.2, 4.3, 99])), [0.5, 3, 5.5, 5.5])


def test_a_grid_that_does_not_end_on_its_upper_bound() -> None:
    grid = Number(name="x", low=1, high=10, step=4)
    np.testing.assert_array_equal(legal_values(grid, 10), [1, 5, 9])
    assert snap(grid, np.array([10.0]))[0] == 9
    assert not legal(grid, 10)


def test_all_legal_values() -> None:
    np.testing.assert_array_equal(legal_values(THREADS, 3), [4, 8, 16])
    assert legal_values(THREADS, 2) is None
    np.testing.assert_array_equal(legal_values(APP, 5), [0, 1, 2, 3, 4])
    assert legal_values(CAP, 10**6) is None
    assert len(legal_values(NODES, 128)) == 128
    assert legal_values(NODES, 127) is None
    fixed = Number(name="x", low=2, high=2, optional=True)
    np.testing.assert_array_equal(legal_values(fixed, 2), [2, 3])
    assert legal_values(fixed, 1) is None


def test_summaries() -> None:
    assert summary(THREADS) == "4, 8, 16"
    assert summary(NODES) == "whole 1..128"
    assert summary(CAP) == "0.5..3, none"
    assert summary(TENTHS) == "0.1..0.9 in steps of 0.1"
    mebibytes = Number(name="m", low=0, high=2**30, step=2**20)
    assert summary(mebibytes) == "0..1073741824 in steps of 1048576"
    assert summary(APP) == "amg, comd, 1, true, none"
    many = Number(name="m", low=0, high=2**40, allowed=tuple(float(2**k) for k in range(0, 41, 2)))
    assert summary(many) == "1, 4, 16, 64, 256, 1024, ..., 1099511627776 (21 values)"
    assert summary(Category(name="c", values=("", " x"))) == "'', ' x'"


def numbers() -> st.SearchStrategy[Number]:
    listed = st.lists(st.integers(-50, 50), min_size=1, max_size=8, unique=True).map(
        lambda v: Number(
            name="x", low=min(v), high=max(v), allowed=tuple(float(a) for a in sorted(v))
        )
    )
    grid = st.tuples(st.integers(-20, 20), st.integers(0, 30), st.sampled_from([0.25, 1, 3])).map(
        lambda t: Number(name="x", low=t[0], high=t[0] + t[1], step=t[2])
    )
    some = st.one_of(listed, grid)
    return st.tuples(some, st.booleans()).map(lambda t: t[0].model_copy(update={"optional": t[1]}))


@examples(60)
@example(Number(name="x", low=-5, high=23, step=3, optional=True), [37.0])
@given(numbers(), st.lists(st.floats(-200, 200), min_size=1, max_size=20))
def test_snap_is_the_nearest_by_brute_force(parameter: Number, raw: list[float]) -> None:
    values = np.array(raw)
    every = legal_values(parameter, 10_000)
    assert every is not None
    found = snap(parameter, values)
    distance = np.abs(values[:, None] - every[None, :])
    np.testing.assert_allclose(np.abs(values - found), distance.min(axis=1), atol=1e-9)
    assert legal_mask(parameter, found).all()
    assert legal_mask(parameter, every).all()
    np.testing.assert_array_equal(snap(parameter, every), every)


def test_nan_is_never_legal() -> None:
    for parameter in (THREADS, NODES, CAP, APP):
        assert not legal_mask(parameter, np.array([np.nan]))[0]


@pytest.mark.parametrize("parameter", [THREADS, NODES, TENTHS, CAP])
def test_legal_and_its_mask_agree(parameter: Number) -> None:
    for value in np.linspace(-1, 5, 61):
        assert legal(parameter, float(value)) == legal_mask(parameter, np.array([value]))[0]
