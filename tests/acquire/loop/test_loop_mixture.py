"""The probability to be within bounds, and what is expected of an outcome that has them."""

import numpy as np
import pytest
from loop_cases import KERNEL, kernel_problem, kernel_time
from scipy import stats

from compass.acquire.loop import Condition, Seen, next_runs
from compass.acquire.loop.ask import Ask
from compass.acquire.loop.members import bounds_of, mixture_of
from compass.acquire.loop.mixture import log_between
from compass.domain.errors import BadInput

NONE = np.empty((0, len(KERNEL)))


def memory(X):
    """What a launch takes: the larger the tile, the faster and the larger."""
    return 3.0 * X[:, 0] * X[:, 1] + 5.0 * X[:, 2]


def bounded(X, high, low=-np.inf):
    values = memory(X) if len(X) else np.empty(0)
    condition = Condition(values, low, high, positive=True)
    loss = kernel_time(X) if len(X) else np.empty(0)
    return Seen(X, loss, np.zeros(len(X), dtype=bool), conditions=(condition,))


def looped(problem, high, runs):
    X = NONE
    while len(X) < runs:
        asked = next_runs(problem, bounded(X, high), pending=NONE, count=1, positive=True)
        X = np.concatenate([X, [one.x for one in asked.proposals]])
    return X


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 1.0), (2.0, 3.0), (-9.0, -8.0), (-np.inf, -30.0), (7.0, np.inf)]
)
def test_the_probability_between_two_edges_is_that_of_scipy(low, high):
    found = log_between(np.array([low]), np.array([high]))[0]
    normal = stats.norm
    if low > 0:
        low, high = -high, -low
    plain = normal.logcdf(high) + np.log1p(-np.exp(normal.logcdf(low) - normal.logcdf(high)))
    assert found == pytest.approx(plain, rel=1e-9)


def test_nothing_is_between_equal_edges_and_all_between_infinite_ones():
    edges = np.array([1.0, -np.inf]), np.array([1.0, np.inf])
    np.testing.assert_array_equal(log_between(*edges), [-700.0, 0.0])


def test_an_outcome_is_predicted_and_its_bound_is_likely_where_it_holds():
    problem = kernel_problem(0)
    rows = np.random.default_rng(0).permutation(len(problem.pool.X))
    X, other = problem.pool.X[rows[:60]], problem.pool.X[rows[60:]]
    mixture = mixture_of(problem, Seen(X, memory(X), np.zeros(60, dtype=bool)), positive=True)
    mean, _ = mixture.predict(problem.inputs(other))
    off = np.abs(np.exp(mean) / memory(other) - 1)
    assert np.median(off) < 0.1
    ask = Ask(problem, bounded(X, 200.0), NONE, True)
    (bound,) = bounds_of(ask)
    chance = np.exp(bound.log_within(problem.inputs(other)))
    holds = memory(other) <= 200
    assert chance[holds].mean() > 0.9
    assert chance[~holds].mean() < 0.1


@pytest.mark.parametrize("high", [60.0, 200.0])
def test_the_best_within_a_bound_is_found(high):
    problem = kernel_problem(1, starts=10)
    X = looped(problem, high, 30)
    fits = memory(problem.pool.X) <= high
    best = kernel_time(problem.pool.X[fits]).min()
    found = np.flatnonzero((memory(X) <= high) & (kernel_time(X) == best))
    assert len(found)
    # Until then few runs after the starts are spent on what is outside.
    assert (memory(X[10 : found[0] + 1]) > high).sum() <= 5


def test_a_bound_that_few_configurations_meet_is_met():
    problem = kernel_problem(2, starts=8)
    every = memory(problem.pool.X)
    high = float(np.sort(every)[5])
    far = problem.pool.X[every > 20 * high][:12]
    seen = bounded(far, high)
    assert seen.best == -1
    X = far
    while memory(X).min() > high:
        asked = next_runs(problem, bounded(X, high), pending=NONE, count=1, positive=True)
        assert asked.stop.verdict is None
        one = asked.proposals[0]
        assert 0 <= one.improvement <= 1
        assert one.changes == ()  # there is nothing that it could be compared with
        X = np.concatenate([X, one.x[None]])
    assert len(X) - len(far) <= 8


def test_a_batch_knows_that_what_misses_the_bound_is_no_best():
    problem = kernel_problem(3, starts=10)
    X = looped(problem, 60.0, 25)
    asked = next_runs(problem, bounded(X, 60.0), pending=NONE, count=5, positive=True)
    found = np.array([one.x for one in asked.proposals])
    assert len(np.unique(found, axis=0)) == 5
    for one in asked.proposals:
        (told,) = one.bounded
        assert told.low < told.value < told.high
        assert 0 <= one.meets <= 1


def test_an_outcome_of_a_condition_that_is_missing_is_refused():
    with pytest.raises(BadInput, match="outcome of a condition"):
        Seen(
            np.ones((1, 4)),
            np.array([1.0]),
            np.array([False]),
            conditions=(Condition(np.array([np.nan]), 0.0, 1.0, True),),
        )


def test_a_configuration_that_meets_a_bound_only_now_and_then_is_no_best():
    X = kernel_problem().pool.draws(6, np.random.default_rng(0))
    X = np.concatenate([X, X[:1]])
    values = np.array([1.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0])  # of the first one: once 1, once 9
    failed = np.zeros(len(X), dtype=bool)
    condition = Condition(values, -np.inf, 2.0, positive=True)
    seen = Seen(X, kernel_time(X), failed, conditions=(condition,))
    ask = Ask(kernel_problem(), seen, NONE, True)
    assert seen.best == -1
    assert ask.outcomes.limit == np.inf  # the models see it the same way
    failed[-1] = True  # a run that failed tells nothing of the bound
    again = Seen(X, kernel_time(X), failed, conditions=(condition,))
    assert again.best == 0
