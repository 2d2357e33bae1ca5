from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from tasks import SETTINGS, everything, law, model, task

from compass.domain.target import Target
from compass.generate.expected_improvement import choose_untried, expected_improvement
from compass.generate.past import PastRuns, with_past_runs
from compass.generate.pick import preferred
from compass.generate.score import ScoredCandidates, score
from compass.generate.task import SearchTask
from compass.learn.reliability import Reliability
from compass.prepare.geometry import column_distances
from compass.prepare.split import configurations
from compass.settings import Settings
from property_examples import examples


@examples(25)
@given(st.floats(-3, 3), st.floats(0.05, 3), st.floats(-3, 3))
def test_expected_improvement_of_a_normal_by_quadrature(
    mean: float, deviation: float, best: float
) -> None:
    found = expected_improvement(np.array([mean]), np.array([deviation]), best, ratio=False)[0]
    density = stats.norm(mean, deviation).pdf
    low = min(mean, best) - 12 * deviation
    points = [mean] if low < mean < best else None
    wanted, _ = integrate.quad(lambda y: (best - y) * density(y), low, best, points=points)
    assert found == pytest.approx(wanted, abs=1e-6)


@examples(25)
@given(st.floats(0.3, 5), st.floats(0.1, 2), st.floats(0.3, 5))
def test_expected_improvement_of_a_time_by_quadrature(
    mean: float, share: float, best: float
) -> None:
    deviation = share * mean
    found = expected_improvement(np.array([mean]), np.array([deviation]), best, ratio=True)[0]
    sigma = np.sqrt(np.log1p(share**2))
    law_ = stats.lognorm(sigma, scale=mean * np.exp(-(sigma**2) / 2))
    assert law_.mean() == pytest.approx(mean)
    assert law_.std() == pytest.approx(deviation)
    wanted, _ = integrate.quad(law_.cdf, 0, best)  # by parts
    assert found == pytest.approx(wanted, abs=1e-6)
    more = expected_improvement(np.array([-mean]), np.array([deviation]), -best, ratio=True)[0]
    above, _ = integrate.quad(law_.sf, best, np.inf)
    assert more == pytest.approx(above, abs=1e-5)


def test_a_sure_prediction_improves_by_its_gain_or_not_at_all() -> None:
    for ratio in (False, True):
        found = expected_improvement(np.array([3.0, 5.0]), np.zeros(2), 4.0, ratio=ratio)
        assert found == pytest.approx([1.0, 0.0], abs=1e-4)


def test_of_two_equal_predictions_the_less_certain_one_has_more_hope() -> None:
    found = expected_improvement(np.array([5.0, 5.0]), np.array([0.5, 2.0]), 4.0, ratio=True)
    assert found[1] > found[0]


def setting(
    count: int = 5, own: Settings = SETTINGS
) -> tuple[ScoredCandidates, PastRuns, SearchTask]:
    fitted, X = model()
    past = X[:40]
    aim = Target(name="y", direction="minimize")
    made = task(fitted, X, X[0], aim, proximity=False, count=count, settings=own)
    key = configurations(past)
    place = np.argsort(key)
    y = law(past)[place]
    y[5] = -1e3
    rows = PastRuns(
        key=key[place],
        X=past[place],
        mean={"y": y[:, None]},
        runs={"y": np.ones(40, dtype=np.int64)},
        reliability={"y": Reliability(0.0, 1.0)},
        relative=frozenset(),
        positive=False,
        doubts=lambda rows: np.ones((len(rows), 1)),
    ).ranked_for(made)
    informed = replace(made, past_runs=rows)
    return preferred(informed, with_past_runs(informed, score(made, everything()))), rows, informed


def test_the_best_run_then_untried_ones_that_differ() -> None:
    scored, rows, made = setting()
    chosen = choose_untried(made, rows, scored)
    assert chosen[0] == 0
    assert len(set(chosen)) == 5
    assert rows.find(scored.X[chosen]).tolist() == [rows.best, -1, -1, -1, -1]
    assert (np.diff(chosen[1:]) > 0).all()
    X = scored.X[chosen]
    for i in range(5):
        apart = column_distances(np.delete(X, i, axis=0), X[i], made.geometry).sum(axis=1)
        assert (apart >= SETTINGS.search.distinct).all()


def test_half_of_the_chances_lie_beside_the_best_run() -> None:
    scored, rows, made = setting()
    differ = (scored.X[choose_untried(made, rows, scored)] != rows.X[rows.best]).sum(axis=1)
    assert (differ == 1).sum() >= 2


def test_the_best_run_is_a_choice_where_something_untried_comes_first() -> None:
    scored, rows, made = setting(count=2)
    place = rows.find(scored.X)
    untried = np.flatnonzero(place < 0)
    better = np.concatenate([untried[:1], np.setdiff1d(np.arange(len(scored)), untried[:1])])
    chosen = choose_untried(made, rows, scored.take(better))
    assert place[better][chosen].tolist() == [-1, rows.best]


def test_no_more_than_there_are_and_one_is_enough() -> None:
    scored, rows, made = setting(count=30)
    few = scored.take(np.arange(3))
    assert len(choose_untried(made, rows, few)) <= 3
    alone, rows, made = setting(count=1)
    assert choose_untried(made, rows, alone).tolist() == [0]


def test_an_unfamiliar_chance_is_taken_last() -> None:
    scored, rows, made = setting(count=2)
    plain = scored.X[choose_untried(made, rows, scored)][1]
    strange = replace(made, familiar=lambda X: (plain != X).any(axis=1))
    other = scored.X[choose_untried(strange, rows, scored)][1]
    assert (other != plain).any()
