"""Another machine's runs help where they resemble, and are dropped where they mislead."""

import numpy as np
from loop_cases import KERNEL, kernel_problem, kernel_time, looped

from compass.acquire.loop import History, Reason, next_runs
from compass.acquire.loop.transfer import Line

NONE = np.empty((0, len(KERNEL)))


def other_machine(X):
    """Three times as slow, and the best is nearly the same."""
    return 3 * kernel_time(X) ** 1.2 * np.exp(0.02 * np.sin(X.sum(axis=1)))


def opposite(X):
    return 100 / kernel_time(X) * np.exp(0.5 * np.sin(7 * X.sum(axis=1)))


def history(problem, law):
    X = problem.pool.X[::3]
    return History(X, law(X))


def regret(seen, problem):
    return np.minimum.accumulate(seen.measured) / kernel_time(problem.pool.X).min() - 1


def test_a_related_history_starts_near_the_best():
    problem = kernel_problem(0, starts=8)
    past = history(problem, other_machine)
    seen = looped(problem, kernel_time, 16, history=past)
    alone = looped(kernel_problem(0, starts=8), kernel_time, 16)
    assert regret(seen, problem)[3] < 0.2
    assert regret(seen, problem)[7:].mean() <= regret(alone, problem)[7:].mean()
    found = next_runs(problem, seen, pending=NONE, count=1, history=past, positive=True)
    assert found.history is True


def test_ranked_starts_come_from_the_history():
    problem = kernel_problem(1)
    past = history(problem, other_machine)
    empty = looped(problem, kernel_time, 0)
    found = next_runs(problem, empty, pending=NONE, count=4, history=past, positive=True)
    reasons = [one.reason for one in found.proposals]
    assert reasons == [Reason.HISTORY, Reason.START] * 2


def test_a_history_that_misleads_is_dropped():
    problem = kernel_problem(2, starts=8)
    past = history(problem, opposite)
    seen = looped(problem, kernel_time, 25, history=past)
    found = next_runs(problem, seen, pending=NONE, count=1, history=past, positive=True)
    alone = looped(kernel_problem(2, starts=8), kernel_time, 25)
    assert found.history is False or Line.of(-kernel_time(seen.X), kernel_time(seen.X)).slope == 0.0
    assert regret(seen, problem)[-1] <= regret(alone, problem)[-1] + 0.1


def test_failed_runs_of_a_history_are_left_out():
    problem = kernel_problem(3)
    X = problem.pool.X[:20]
    past = History(X, np.where(np.arange(20) % 2, np.nan, kernel_time(X)))
    empty = looped(problem, kernel_time, 0)
    found = next_runs(problem, empty, pending=NONE, count=2, history=past, positive=True)
    assert len(found.proposals) == 2


def test_the_line_never_falls_and_is_fitted_by_least_squares():
    rng = np.random.default_rng(0)
    there = rng.standard_normal(500)
    line = Line.of(there, 2.0 * there + 1.0)
    assert abs(line.slope - 2.0) < 0.02
    assert abs(line.level - 1.0) < 0.02
    assert Line.of(there, -there).slope == 0.0
