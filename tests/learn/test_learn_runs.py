"""Past runs by configuration, against loops over all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compass.learn.runs import RunIndex
from compass.prepare.split import configurations
from property_examples import examples


def index_of(X: np.ndarray) -> RunIndex:
    key = configurations(X)
    order = np.argsort(key, kind="stable")
    return RunIndex(key[order], X[order], order, order + 100)


@examples(40)
@given(st.integers(0, 2**31), st.integers(0, 40), st.integers(1, 10))
def test_sums_and_counts_are_those_of_the_runs_with_a_number(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    values = rng.normal(size=(n, 3))
    values[rng.random(n) < 0.2] = np.nan
    asked = rng.integers(0, 4, size=(m, 2)).astype(float)
    runs = index_of(X)
    sums, counts = runs.summed(asked, values)
    for x, total, count in zip(asked, sums, counts, strict=True):
        mine = values[(x == X).all(axis=1)]
        known = mine[np.isfinite(mine[:, 0])]
        assert count == len(known)
        np.testing.assert_allclose(total, known.sum(axis=0), atol=1e-12)
        assert sorted(runs.positions(x)) == np.flatnonzero((x == X).all(axis=1)).tolist()
    assert runs.count(asked).tolist() == [int((x == X).all(axis=1).sum()) for x in asked]
    assert sums.dtype == np.float64  # also where there is no run at all
