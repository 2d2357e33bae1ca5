"""A uniform sample: seeded, without repeats, and weighted so that totals stay right."""

import numpy as np
import pyarrow as pa
import pytest

from compass import registry
from compass.domain.errors import BadInput
from compass.prepare import Prepared, Study, prepare
from compass.readers import Table
from compass.reducers.base import Reducer


def prepared(n: int = 100) -> Prepared:
    columns = {
        "nodes": [1 + i % 4 for i in range(n)],
        "time": [0.5 + i / 7 for i in range(n)],
        "w": [1.0 + i % 3 for i in range(n)],
    }
    return prepare(Table.of(pa.table(columns)), Study(weight="w"))


def uniform() -> Reducer:
    reducer: Reducer = registry.get("reducer", "uniform")()
    return reducer


def test_a_share_of_the_rows_stands_for_all_of_them() -> None:
    data = prepared()
    rows, weight = uniform().reduce(data, 0.2, seed=7)
    assert rows.dtype == np.int64
    assert len(rows) == 20
    assert (np.diff(rows) > 0).all()
    np.testing.assert_allclose(weight, 5 * data.weight[rows])


def test_the_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    data = prepared()
    one, _ = uniform().reduce(data, 0.3, seed=1)
    np.testing.assert_array_equal(one, uniform().reduce(data, 0.3, seed=1)[0])
    assert one.tolist() != uniform().reduce(data, 0.3, seed=2)[0].tolist()


def test_every_row_is_as_likely_as_any_other() -> None:
    data = prepared(20)
    counts = np.zeros(20)
    for seed in range(2000):
        counts[uniform().reduce(data, 0.25, seed)[0]] += 1
    # 500 expected, standard deviation 19: five of them leave room for the worst of 20 rows.
    assert np.abs(counts - 500).max() < 97


def test_the_ends_of_the_range() -> None:
    data = prepared(30)
    rows, weight = uniform().reduce(data, 1.0, seed=0)
    np.testing.assert_array_equal(rows, np.arange(30))
    np.testing.assert_array_equal(weight, data.weight)
    assert len(uniform().reduce(data, 1e-9, seed=0)[0]) == 1
    for keep in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(BadInput) as caught:
            uniform().reduce(data, keep, seed=0)
        assert caught.value.hint
