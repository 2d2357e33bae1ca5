"""What a run is worth to a decision, against closed forms and brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compass.acquire import improvement
from compass.generate.expected_improvement import expected_improvement
from compass.learn.reliability import Reliability
from compass.prepare.geometry import Geometry
from property_examples import examples


def plain(columns: int) -> Geometry:
    return Geometry(
        scale=np.ones(columns),
        weight=np.ones(columns),
        category=np.zeros(columns, dtype=bool),
        none=np.full(columns, np.nan),
    )


def test_draws_vary_together_as_the_members_do() -> None:
    rng = np.random.default_rng(1)
    members = rng.normal(size=(50, 3)) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.3, 0.1], [0, 0, 2.0]])
    z = improvement.joint(members, 20_000, rng)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(z.std(axis=0), 1, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(z.T), np.corrcoef(members.T), atol=0.03)


def test_where_members_agree_a_candidate_varies_on_its_own() -> None:
    rng = np.random.default_rng(2)
    members = np.column_stack([rng.normal(size=40), np.full(40, 3.7), np.full(40, 0.0)])
    z = improvement.joint(members, 20_000, rng)
    np.testing.assert_allclose(z.std(axis=0), 1, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(z.T), np.eye(3), atol=0.03)


@pytest.mark.parametrize("runs", [0, 1, 3])
def test_what_a_run_can_teach_is_what_bayes_says(runs: int) -> None:
    """The posterior mean after one more noisy run, simulated from beginning to end."""
    rng = np.random.default_rng(3)
    error, noise, half = 4.0, 1.0, np.sqrt(5.0)
    truth = rng.normal(0, np.sqrt(error), 200_000)
    seen = truth[:, None] + rng.normal(0, np.sqrt(noise), (len(truth), runs + 1))
    weight = np.arange(runs + 2) * error / (np.arange(runs + 2) * error + noise)
    before = weight[runs] * seen[:, :runs].mean(axis=1) if runs else np.zeros(len(truth))
    after = weight[runs + 1] * seen.mean(axis=1)
    told = improvement.expected_move(np.array([half]), Reliability(noise, error), np.array([runs]))
    assert told[0] == pytest.approx((after - before).std(), rel=0.01)


def test_runs_that_do_not_scatter_teach_nothing_the_second_time() -> None:
    told = improvement.expected_move(np.array([2.0, 2.0]), Reliability(0.0, 1.0), np.array([0, 1]))
    np.testing.assert_allclose(told, [2.0, 0.0])


def test_the_gain_of_a_single_run_is_the_expected_improvement() -> None:
    rng = np.random.default_rng(4)
    mean, deviation, today = np.array([4.0, 5.0, 6.0]), np.array([0.3, 1.0, 0.5]), 4.8
    z = improvement.joint(rng.normal(size=(60, 3)), 100_000, rng)
    losses = improvement.numbers_drawn(mean, deviation, z, positive=False)
    exact = expected_improvement(mean, deviation, today, ratio=False)
    for place in range(3):
        X = np.zeros((1, 1))
        ((_, gain),) = improvement.batch(
            losses[:, [place]], improvement.Incumbent(today), X, plain(1), apart=0.0, n=1
        )
        assert gain == pytest.approx(exact[place], rel=0.03)


def test_a_time_is_never_below_zero() -> None:
    z = np.random.default_rng(5).normal(size=(1000, 2))
    drawn = improvement.numbers_drawn(np.array([1.0, 2.0]), np.array([5.0, 0.1]), z, positive=True)
    assert (drawn > 0).all()
    np.testing.assert_allclose(np.median(drawn, axis=0), [1.0, 2.0], rtol=0.2)


def test_classes_come_out_as_often_as_their_scores_say() -> None:
    z = np.random.default_rng(6).normal(size=(40_000, 2))
    scores = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    drawn = improvement.classes_drawn(scores, z, first=2)
    for column, row in enumerate(scores):
        shares = [(drawn[:, column] == k).mean() for k in range(3)]
        np.testing.assert_allclose(shares, row, atol=0.01)
    low = stats.norm.cdf(z[:, 0]) < 0.3
    assert (drawn[low, 0] == 2).all()


def test_whatever_misses_a_goal_is_worse_than_all_that_meets_it() -> None:
    found = improvement.Result(
        miss=np.array([[0.0, 1e-9, 0.5, 0.0]]), value=np.array([[9.0, -5.0, -7.0, 1.0]])
    )
    losses = found.losses(9.0)[0]
    assert losses.argsort().tolist() == [3, 0, 1, 2]


def test_of_runs_that_are_the_same_only_one_is_worth_making() -> None:
    rng = np.random.default_rng(7)
    one, other = rng.normal(size=(2, 500))
    losses = np.column_stack([one, one, one, 0.2 + other])
    X = np.arange(4.0)[:, None]
    chosen = improvement.batch(losses, improvement.Incumbent(0.0), X, plain(1), apart=0.05, n=4)
    assert [place for place, _ in chosen] == [0, 3]


@examples(60)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 5), st.floats(0, 1.5))
def test_a_batch_is_greedy_and_apart(seed: int, m: int, n: int, apart: float) -> None:
    rng = np.random.default_rng(seed)
    losses, X = rng.normal(size=(30, m)), rng.integers(0, 6, (m, 2)) / 2.0
    today = float(rng.normal())
    chosen = improvement.batch(losses, improvement.Incumbent(today), X, plain(2), apart=apart, n=n)
    best = np.full(30, today)
    left = set(range(m))
    for place, gain in chosen:
        gains = {i: float(np.maximum(best - losses[:, i], 0).mean()) for i in left}
        assert gain == pytest.approx(gains[place])
        assert gain >= max(gains.values()) * (1 - 1e-6)
        best = np.minimum(best, losses[:, place])
        left = {i for i in left if i != place and np.abs(X[i] - X[place]).sum() > apart}
    assert len(chosen) <= n
    if len(chosen) < n and left:
        assert all(np.maximum(best - losses[:, i], 0).mean() < 1e-3 for i in left)


@examples(60)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 4))
def test_measuring_the_decision_of_today_pays_where_it_disappoints(
    seed: int, m: int, n: int
) -> None:
    """Against the cost of deciding with and without what was measured, draw by draw."""
    rng = np.random.default_rng(seed)
    losses, X = rng.normal(size=(40, m)), np.arange(m)[:, None] * 1.0
    today = float(losses[:, 0].mean())
    other = today + float(rng.random())

    def cost(measured: list[int]) -> np.ndarray:
        best = losses[:, measured].min(axis=1, initial=np.inf)
        return np.minimum(best, other if 0 in measured else today)

    chosen = improvement.batch(
        losses, improvement.Incumbent(today, 0, other), X, plain(1), apart=0.0, n=n
    )
    before: list[int] = []
    for place, gain in chosen:
        if place:
            expected = (cost(before) - cost([*before, place])).mean()
        else:  # without a run of it, it costs what it turns out to cost
            kept = losses[:, [0, *before]].min(axis=1)
            expected = (kept - np.minimum(kept, other)).mean()
        assert gain == pytest.approx(expected)
        before.append(place)


def test_a_sure_decision_of_today_is_not_worth_a_run() -> None:
    losses = np.column_stack([np.linspace(0.9, 1.1, 50), np.full(50, 3.0)])
    X = np.arange(2.0)[:, None]
    for place, chosen in ((0, []), (-1, [0])):
        found = improvement.batch(
            losses, improvement.Incumbent(1.0, place, 3.0), X, plain(1), apart=0.0, n=2
        )
        assert [i for i, _ in found] == chosen


def test_what_is_being_run_counts_as_chosen() -> None:
    rng = np.random.default_rng(5)
    losses, X = rng.normal(size=(4000, 6)), np.arange(6.0)[:, None]
    losses[:, 1] = losses[:, 0]  # what the first tells, the second tells too
    incumbent = improvement.Incumbent(0.0)
    alone = improvement.batch(losses, incumbent, X, plain(1), apart=0.0, n=6)
    beside = improvement.batch(losses, incumbent, X, plain(1), apart=0.0, n=6, pending=[0])
    assert 0 not in [place for place, _ in beside]
    assert 1 not in [place for place, _ in beside]
    gains = dict(beside)
    for place, gain in gains.items():
        # By brute force: what the best of both is better than the best without the new run.
        known = np.minimum(0.0, losses[:, 0])
        others = [p for p in gains if list(gains).index(p) < list(gains).index(place)]
        for other in others:
            known = np.minimum(known, losses[:, other])
        expected = float((known - np.minimum(known, losses[:, place])).mean())
        np.testing.assert_allclose(gain, expected)
    assert len(alone) > len(beside)
