"""New runs from which nothing can be learnt are refused, and change nothing."""

import pytest

import compass as cp
from compass.domain.errors import DataProblem
from compass.settings import ForestSettings, TrustSettings
from conftest import ROLES, cluster_columns

QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=10), trust=TrustSettings(trees=4)
)


def test_runs_that_tell_nothing_are_refused_and_change_nothing() -> None:
    engine = cp.Compass(cp.read(cluster_columns(150)).roles(**ROLES), settings=QUICK).fit()
    data, store = engine.data, engine.store
    runs = cluster_columns(20, seed=9)
    for missing in (("runtime", "power", "state"), ("nodes",)) * 2:
        with pytest.raises(DataProblem, match="nothing can be learnt from any of the 20 new runs"):
            engine.tell(runs | {name: [None] * 20 for name in missing})
        assert engine.data is data
        assert engine.store is store
    one = {"runtime": [None] * 19 + runs["runtime"][19:]}
    told = engine.tell(runs | one | {name: [None] * 20 for name in ("power", "state")})
    assert (told.rows, told.used, told.total) == (20, 1, 151)
