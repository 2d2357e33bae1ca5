from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks import everything, law, model, task

from compass.domain.target import Target
from compass.generate.past import PastRuns, with_past_runs
from compass.generate.score import order, score
from compass.generate.task import SearchTask
from compass.learn.reliability import Reliability, missed, reliability
from compass.prepare.split import configurations

POSITIVE = st.floats(1e-6, 1e6)


@given(noise=POSITIVE, error=POSITIVE, runs=st.integers(1, 50), y=st.floats(-5, 5))
def test_the_value_is_the_mean_of_the_posterior(
    noise: float, error: float, runs: int, y: float
) -> None:
    """A normal prior around the model (here 0) and normal measurements have a closed form."""
    share = Reliability(noise, error).weight(np.array([runs]))[0]
    precision = 1 / error + runs / noise
    assert share * y == pytest.approx((runs / noise) * y / precision, rel=1e-9)


def test_more_runs_count_more_and_none_do_not_count() -> None:
    share = Reliability(noise=4.0, error=1.0).weight(np.array([0, 1, 4, 400]))
    assert share == pytest.approx([0, 1 / 5, 1 / 2, 400 / 404])
    assert Reliability(0.0, 0.0).weight(np.array([0, 1])).tolist() == [0, 1]
    assert Reliability(0.0, 1.0).weight(np.array([1])).tolist() == [1]


def test_repeated_runs_tell_the_noise() -> None:
    rng = np.random.default_rng(3)
    configuration = np.repeat(np.arange(400), 5)
    y = rng.normal(size=400)[configuration] * 10 + rng.normal(0, 2, 2000)
    held = np.full(100, 13.0)
    found = reliability(y[:, None], configuration, held, relative=False)
    assert found.noise == pytest.approx(4.0, rel=0.1)
    assert found.error == pytest.approx(13.0 - found.noise)


def test_without_repetitions_the_noise_is_a_twentieth_of_the_error() -> None:
    y = np.arange(10.0)[:, None]
    found = reliability(y, np.arange(10), np.array([3.0, 5.0]), relative=False)
    assert np.sqrt(found.noise / 4.0) == pytest.approx(0.05)
    assert found.weight(np.array([1]))[0] == pytest.approx(0.9975, abs=1e-6)


def test_a_model_that_errs_no_more_than_the_runs_scatter_is_believed() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=(300, 1))
    found = reliability(y, np.repeat(np.arange(100), 3), np.full(50, 1.0), relative=False)
    assert found.weight(np.array([1]))[0] < 0.2


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1, max_size=20))
def test_relative_errors_are_shares_and_know_no_direction(pairs: list[tuple[float, float]]) -> None:
    y, p = np.array(pairs).T[:, :, None]
    share = missed(y, p, relative=True)
    assert ((share >= 0) & (share <= 1)).all()
    assert share == pytest.approx(missed(p, y, relative=True))
    assert share == pytest.approx(missed(1000 * y, 1000 * p, relative=True))


def test_two_zeros_do_not_differ() -> None:
    assert missed(np.zeros((1, 1)), np.zeros((1, 1)), relative=True).tolist() == [0.0]


def past_runs(X: np.ndarray, y: np.ndarray, noise: float = 0.0) -> PastRuns:
    key = configurations(X)
    place = np.argsort(key)
    return PastRuns(
        key=key[place],
        X=X[place],
        mean={"y": y[place][:, None]},
        runs={"y": np.ones(len(X), dtype=np.int64)},
        reliability={"y": Reliability(noise, 1.0)},
        relative=frozenset(),
        positive=False,
        doubts=lambda rows: np.ones((len(rows), 1)),
    )


def known() -> tuple[SearchTask, np.ndarray, np.ndarray]:
    """An arena to minimise y in, and 60 past configurations with what was measured there."""
    fitted, X = model()
    past = X[:60]
    y = law(past)
    made = task(fitted, X, X[0], Target(name="y", direction="minimize"), proximity=False, count=4)
    return made, past, y


def test_configurations_are_found_by_value() -> None:
    _, past, y = known()
    rows = past_runs(past, y)
    place = rows.find(everything())
    by_hand = [any(np.array_equal(x, p) for p in past) for x in everything()]
    assert ((place >= 0) == by_hand).all()
    hits = np.flatnonzero(place >= 0)
    assert (rows.X[place[hits]] == everything()[hits]).all()
    zero = np.array([[0.0, 1.0]])
    assert past_runs(zero, np.ones(1)).find(-zero * [[1, -1]]).tolist() == [0]


def test_what_was_measured_counts_and_what_was_not_is_predicted() -> None:
    made, past, y = known()
    rows = past_runs(past, y, noise=0.25).ranked_for(made)
    X = everything()
    bare, both = score(made, X), score(replace(made, past_runs=rows), X)
    place = rows.find(X)
    scale = made.targets[0].scale
    known_ = place >= 0
    expected = bare.preference[known_] + 0.8 * (law(X[known_]) / scale - bare.preference[known_])
    assert both.preference[known_] == pytest.approx(expected)
    clear = ~known_ & (bare.preference >= rows.preference)
    assert (both.preference[clear] == bare.preference[clear]).all()
    assert (both.violation == bare.violation).all()


def test_a_small_predicted_gain_is_no_gain_and_a_large_one_is() -> None:
    _, past, y = known()
    rows = replace(past_runs(past, y), best=0, preference=10.0, enough=1.0)
    untried = np.array([-1, -1, -1, 0])
    found = rows.cautious(np.array([8.9, 9.5, 11.0, 9.5]), untried)
    assert found[0] == 8.9
    assert 10.0 < found[1] < 10.0 + 1e-9
    assert found[2:].tolist() == [11.0, 9.5]


def test_the_best_past_run_comes_first_where_nothing_is_predicted_to_beat_it() -> None:
    made, past, _ = known()
    y = law(past)
    y[17] = -1000.0  # far below whatever the model believes
    rows = past_runs(past, y).ranked_for(made)
    informed = replace(made, past_runs=rows)
    found = with_past_runs(informed, score(made, everything()))
    first = found.X[order(informed, found)[0]]
    assert (first == past[17]).all()
    assert (rows.X[rows.best] == past[17]).all()


def test_weighing_loses_and_doubles_nothing() -> None:
    made, past, y = known()
    informed = replace(made, past_runs=past_runs(past, y).ranked_for(made))
    found = with_past_runs(informed, score(made, everything()))
    assert len(np.unique(found.X, axis=0)) == len(found.X) == len(everything())
    again = score(informed, found.X)
    assert (again.preference == found.preference).all()
    assert (again.valid == found.valid).all()


def test_goals_hold_as_predicted_and_as_measured() -> None:
    fitted, X = model()
    past = X[:60]
    aim = Target(name="y", direction="minimize", low=20.0)
    made = task(fitted, X, X[0], aim, proximity=False)
    y = np.where(np.arange(60) % 2 == 0, 0.0, 1e4)  # every other run missed the bound
    scored = score(replace(made, past_runs=past_runs(past, y).ranked_for(made)), past)
    bare = score(made, past)
    assert (scored.valid >= bare.valid).all()
    assert (scored.valid[::2] > 0).all()
