"""What is asked for: legal, new, the same after a restart, and better than chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_cases import KERNEL, kernel_problem, kernel_time, looped, measured, space_of, too_large

from compass.acquire.loop import LoopProblem, Reason, Seen, Verdict, next_runs
from compass.domain.errors import BadInput
from property_examples import examples

NONE = np.empty((0, len(KERNEL)))


@examples(12)
@given(st.integers(0, 50), st.integers(0, 6), st.integers(1, 9), st.integers(0, 3), st.booleans())
def test_what_is_asked_is_legal_and_was_never_asked(made, waiting, count, seed, fail):
    problem = kernel_problem(seed)
    X = np.random.default_rng(seed).permutation(problem.pool.X, axis=0)[: made + waiting]
    seen = measured(X[:made], kernel_time, too_large if fail else None)
    found = next_runs(problem, seen, pending=X[made:], count=count, positive=True)
    asked = np.array([one.x for one in found.proposals])
    assert len(asked) == count
    assert (problem.pool.find(asked) >= 0).all()
    assert len(np.unique(np.concatenate([X, asked]), axis=0)) == made + waiting + count


def test_a_loop_finds_the_best_in_few_runs():
    problem = kernel_problem(1, starts=10)
    seen = looped(problem, kernel_time, 40)
    best = kernel_time(problem.pool.X).min()
    assert seen.measured.min() == best
    assert set(seen.member) == {"", "smooth process", "stepped process", "forest"}


def test_a_driver_that_is_killed_goes_on_as_if_it_had_not_been():
    whole = looped(kernel_problem(2, starts=8), kernel_time, 30, fails=too_large)
    first = looped(kernel_problem(2, starts=8), kernel_time, 17, fails=too_large)
    rest = looped(kernel_problem(2, starts=8), kernel_time, 30, fails=too_large, seen=first)
    np.testing.assert_array_equal(whole.X, rest.X)
    assert whole.member == rest.member


def test_a_batch_is_spread_and_pending_runs_are_known():
    problem = kernel_problem(3, starts=10)
    seen = looped(problem, kernel_time, 20)
    together = next_runs(problem, seen, pending=NONE, count=6, positive=True)
    X = np.array([one.x for one in together.proposals])
    assert len(np.unique(X, axis=0)) == 6
    later = next_runs(problem, seen, pending=X, count=1, positive=True)
    assert not (later.proposals[0].x == X).all(axis=1).any()


def test_a_batch_is_what_is_asked_one_after_the_other_while_all_are_pending():
    problem = kernel_problem(3, starts=10, stepped=False, forest=False)
    seen = looped(problem, kernel_time, 20)
    together = next_runs(problem, seen, pending=NONE, count=4, positive=True)
    X = np.array([one.x for one in together.proposals])
    for k in range(4):
        found = next_runs(problem, seen, pending=X[:k], count=1, positive=True)
        np.testing.assert_array_equal(found.proposals[0].x, X[k])


def test_a_batch_as_large_as_the_shortlist_ends_there():
    problem = kernel_problem(3, starts=10, shortlist=16, stepped=False, forest=False)
    seen = looped(problem, kernel_time, 20)
    X = [one.x for one in next_runs(problem, seen, pending=NONE, count=40, positive=True).proposals]
    assert len(X) == len(np.unique(X, axis=0)) == 16


def test_runs_that_fail_are_learnt_and_avoided():
    problem = kernel_problem(4, starts=12)
    learning = looped(problem, kernel_time, 45, fails=lambda X: X[:, 0] >= 8)
    ignoring = looped(
        kernel_problem(4, starts=12, failures=False), kernel_time, 45, fails=lambda X: X[:, 0] >= 8
    )
    assert learning.failed[12:].sum() < 0.7 * ignoring.failed[12:].sum()
    assert learning.failed[12:].mean() < 0.4


def test_nothing_but_failures_is_no_reason_to_stop():
    problem = kernel_problem(5, starts=8)
    seen = looped(problem, kernel_time, 20, fails=lambda X: np.ones(len(X), dtype=bool))
    assert len(seen) == 20
    assert len(np.unique(seen.X, axis=0)) == 20


def test_what_was_repeated_counts_once_and_scatters():
    problem = kernel_problem(6, starts=8)
    seen = looped(problem, kernel_time, 15)
    noisy = Seen(
        np.concatenate([seen.X, seen.X[:5]]),
        np.concatenate([seen.loss, 1.1 * seen.loss[:5]]),
        np.concatenate([seen.failed, seen.failed[:5]]),
    )
    found = next_runs(problem, noisy, pending=NONE, count=1, positive=True)
    assert found.stop.noise == pytest.approx(0.07, abs=0.03)


def test_a_small_space_is_swept_to_its_end():
    space = space_of(a=(1.0, 2.0, 4.0, 8.0), b=["x", "y", "z"])
    problem = LoopProblem(space)
    seen = looped(problem, lambda X: 1 + X[:, 0] + X[:, 1], 100)
    assert len(seen) == 12
    done = next_runs(problem, seen, pending=np.empty((0, 2)), count=1, positive=True)
    assert done.proposals == ()
    assert done.stop.verdict is Verdict.EXHAUSTED


def test_proposals_say_why():
    problem = kernel_problem(7, starts=10)
    start = next_runs(problem, measured(NONE, kernel_time), pending=NONE, count=2, positive=True)
    assert {one.reason for one in start.proposals} == {Reason.START}
    seen = looped(problem, kernel_time, 15)
    one = next_runs(problem, seen, pending=NONE, count=1, positive=True).proposals[0]
    assert one.reason is Reason.IMPROVEMENT
    assert one.low < one.mean < one.high
    assert 0 <= one.improvement <= 1
    best = seen.X[seen.best]
    moved = tuple(n for n, a, b in zip(KERNEL.names, one.x, best, strict=True) if a != b)
    assert one.changes == moved


def test_a_space_without_a_grid():
    space = space_of(
        rate={"low": 1e-5, "high": 1.0}, depth={"low": 1, "high": 64, "step": 1}, mode=["a", "b"]
    )
    problem = LoopProblem(space)

    def law(X):
        return 1 + (np.log10(X[:, 0]) + 3) ** 2 + abs(X[:, 1] - 20) / 20 + 0.5 * X[:, 2]

    seen = looped(problem, law, 45)
    assert problem.pool.legal(seen.X).all()
    assert seen.measured.min() < 1.15


def test_a_loss_that_may_be_negative():
    problem = kernel_problem(8, starts=8)
    X = problem.pool.X[::15][:14]
    seen = Seen(X, -1.0 / kernel_time(X), np.zeros(len(X), dtype=bool))
    found = next_runs(problem, seen, pending=NONE, count=2, positive=False)
    assert all(np.isfinite([one.mean, one.improvement]).all() for one in found.proposals)


def test_runs_without_a_loss_are_refused():
    with pytest.raises(BadInput, match="no loss"):
        Seen(np.ones((1, 4)), np.array([np.nan]), np.array([False]))
