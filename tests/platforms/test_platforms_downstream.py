import numpy as np
import pytest
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from xgboost import XGBRegressor

from compass.domain.errors import EngineProblem, UnknownName
from compass.platforms.downstream import DOWNSTREAM, learnt, restored

RNG = np.random.default_rng(1)
X = RNG.normal(size=(120, 4)).astype(np.float32).astype(np.float64)
Y = np.exp(X[:, 0]) + 0.1 * RNG.normal(size=120)
THEIRS = {
    "xgboost": XGBRegressor(n_jobs=1, random_state=7),
    "forest": RandomForestRegressor(n_jobs=1, random_state=7),
    "bagging": BaggingRegressor(n_jobs=1, random_state=7),
    "adaboost": AdaBoostRegressor(random_state=7),
}


@pytest.mark.parametrize("name", DOWNSTREAM)
def test_it_is_the_librarys_model_and_is_restored_from_arrays(name: str) -> None:
    made = learnt(name, X, Y, 7)
    assert made.predict(X) == pytest.approx(THEIRS[name].fit(X, Y).predict(X), rel=1e-5)
    assert np.array_equal(restored(made.arrays()).predict(X), made.predict(X))


def test_ones_own_model_is_used_but_not_saved() -> None:
    made = learnt(LinearRegression(), X, Y, 7)
    assert made.predict(X) == pytest.approx(LinearRegression().fit(X, Y).predict(X))
    with pytest.raises(EngineProblem, match="your own is not saved"):
        made.arrays()


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean xgboost"):
        learnt("xgbost", X, Y, 7)
