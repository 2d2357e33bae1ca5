"""The copula against what is known of normal distributions."""

import numpy as np
import pytest
from scipy import stats
from synth_tables import legal, nothing, plain

from compass.domain.errors import EngineProblem
from compass.settings import SynthesisSettings
from compass.synth.base import Floats, silent
from compass.synth.conditions import conditions_of
from compass.synth.copula import Copula, GaussianCopula, Marginal

SPACE = plain({"x": 0, "z": 0, "y": 0})
CORRELATION = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.5], [0.3, 0.5, 1.0]])


def rows(n: int = 20_000) -> Floats:
    return np.random.default_rng(0).multivariate_normal(np.zeros(3), CORRELATION, n)


def learnt() -> GaussianCopula:
    return Copula.fit(rows(), SPACE, seed=1, settings=SynthesisSettings(), tell=silent)


def test_the_correlation_of_normal_rows_is_found_and_drawn() -> None:
    model = learnt()
    assert model.correlation == pytest.approx(CORRELATION, abs=0.02)
    drawn = model.sample(nothing(20_000, SPACE), legal(SPACE), np.random.default_rng(2))
    assert np.corrcoef(drawn.T) == pytest.approx(CORRELATION, abs=0.03)


def test_one_range_gives_the_truncated_normal_distribution() -> None:
    asked = conditions_of(SPACE, (), ["x >= 1", "x <= 2"])
    drawn = learnt().sample(nothing(20_000, SPACE), asked.domains, np.random.default_rng(2))
    truth = stats.truncnorm(1, 2)
    assert asked.met(drawn).all()
    assert drawn[:, 0].mean() == pytest.approx(truth.mean(), abs=0.02)
    assert drawn[:, 1].mean() == pytest.approx(0.8 * truth.mean(), abs=0.03)
    assert drawn[:, 1].std() == pytest.approx(np.sqrt(0.36 + 0.64 * truth.var()), abs=0.03)


def test_two_ranges_are_drawn_as_rejection_draws_them() -> None:
    """The Gibbs sampler against rows of the same normal distribution that obey."""
    many = rows(1_000_000)
    kept = many[(many[:, 0] > 1) & (many[:, 1] < 0)]
    asked = conditions_of(SPACE, (), ["x >= 1", "z <= 0"])
    drawn = learnt().sample(nothing(20_000, SPACE), asked.domains, np.random.default_rng(2))
    assert asked.met(drawn).all()
    assert drawn.mean(axis=0) == pytest.approx(kept.mean(axis=0), abs=0.06)


def test_given_cells_move_the_mean_as_the_normal_distribution_says() -> None:
    given = nothing(5000, SPACE)
    given[:, 1] = 1.5
    drawn = learnt().sample(given, legal(SPACE), np.random.default_rng(2))
    assert drawn[:, 0].mean() == pytest.approx(0.8 * 1.5, abs=0.05)
    assert drawn[:, 0].std() == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize("smooth", [True, False])
def test_a_column_becomes_uniform_and_comes_back(smooth: bool) -> None:
    rng = np.random.default_rng(4)
    column = rng.exponential(size=3000) if smooth else rng.integers(0, 5, 3000).astype(float)
    marginal = Marginal.of(column, smooth)
    uniform = marginal.uniform(column, rng)
    assert stats.kstest(uniform, "uniform").statistic < 0.03
    assert marginal.value(uniform) == pytest.approx(column, abs=0.02 if smooth else 0.0)


def test_a_saved_copula_whose_columns_do_not_fit_is_refused() -> None:
    arrays = learnt().arrays()
    with pytest.raises(EngineProblem, match="do not fit"):
        Copula.restore({**arrays, "starts": np.array([0, 5, 5, len(arrays["values"])])}, SPACE)
