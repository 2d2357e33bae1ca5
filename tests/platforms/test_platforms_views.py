import numpy as np
import pytest
from machine_law import roofline_runs

from compass.platforms.counters import counter_mapping
from compass.platforms.views import Scaling, balanced, profile


def test_every_application_counts_the_same() -> None:
    names = np.array(["a", "a", "a", "b"])
    weight = balanced(names)
    assert weight.mean() == pytest.approx(1)
    assert weight[:3].sum() == pytest.approx(weight[3:].sum())


def test_columns_are_brought_to_one_scale() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(3, 2, 50), rng.lognormal(8, 2, 50), np.ones(50)])
    X[4, 0] = np.nan
    scaling = Scaling.of(X, np.ones(50))
    found = scaling.apply(X)
    assert found.shape == (50, 2)  # a column that says nothing is left out
    assert found[4, 0] == 0  # what is missing is as usual
    assert np.abs(found).max() <= 4
    logs = np.log1p(X[:, 1])
    assert found[:, 1] == pytest.approx(np.clip((logs - logs.mean()) / logs.std(), -4, 4))


def test_the_physical_view_of_twice_the_input_is_the_same_but_for_the_configuration() -> None:
    runs = roofline_runs(2, noise=0.0)
    found = profile(runs.of("app01"), "quartz", "physical", counter_mapping())
    assert found[:, :-1] == pytest.approx(np.tile(found[:1, :-1], (4, 1)))
    raw = profile(runs.of("app01"), "quartz", "raw", counter_mapping())
    assert raw.shape == (4, 1 + 4 + 1)
    assert not np.allclose(raw[0, 1:], raw[1, 1:])
