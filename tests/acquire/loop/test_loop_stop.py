"""When more runs are not worth it."""

import numpy as np
from loop_cases import KERNEL, kernel_problem, kernel_time, looped, measured

from compass.acquire.loop import Seen, Verdict, next_runs

NONE = np.empty((0, len(KERNEL)))


def test_a_loop_ends_when_little_is_to_be_gained_and_not_before():
    problem = kernel_problem(0, starts=10, worthwhile=0.01)
    early = looped(problem, kernel_time, 14)
    assert next_runs(problem, early, pending=NONE, count=1, positive=True).stop.verdict is None
    late = looped(problem, kernel_time, 120)
    stop = next_runs(problem, late, pending=NONE, count=1, positive=True).stop
    assert stop.verdict is Verdict.NO_IMPROVEMENT
    assert stop.improvement < 0.01


def test_the_best_within_the_noise_end_it():
    problem = kernel_problem(1, starts=10, worthwhile=0.0)
    rng = np.random.default_rng(0)
    X = np.repeat(looped(problem, kernel_time, 70).X, 3, axis=0)
    loss = kernel_time(X) * np.exp(0.3 * rng.standard_normal(len(X)))
    seen = Seen(X, loss, np.zeros(len(X), dtype=bool))
    stop = next_runs(problem, seen, pending=NONE, count=1, positive=True).stop
    assert stop.noise > 0.2
    assert stop.verdict is Verdict.WITHIN_NOISE


def test_no_verdict_before_anything_is_known():
    problem = kernel_problem(2)
    stop = next_runs(problem, measured(NONE, kernel_time), pending=NONE, count=1, positive=True)
    assert stop.stop.verdict is None
    assert stop.stop.left == len(problem.pool.X)
