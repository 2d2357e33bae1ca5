"""The next runs of a loop with several outcomes: legal, new, and better than chance."""

import numpy as np
import pytest

from compass.acquire.loop import LoopProblem, Reason
from compass.domain.errors import BadInput
from compass.domain.space import Category, Number, Space
from compass.language import bind_rule, parse_rule
from compass.pareto.acquisition import SeenRuns
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume
from compass.pareto.next_runs import Floats, NextFrontRuns, next_front_runs
from compass.rules import compile_rule
from compass.settings import LoopSettings

SPACE = Space(
    parameters=(
        Number(name="a", low=1, high=16, step=1),
        Number(name="b", low=1, high=32, allowed=(1, 2, 4, 8, 16, 32)),
        Category(name="c", values=("x", "y", "z")),
    )
)
RULES = tuple(
    compile_rule(bind_rule(parse_rule(text), SPACE), SPACE, SPACE.names, text)
    for text in ("a * b <= 256", "c == 'z' -> b >= 4")
)


def problem(seed: int = 0) -> LoopProblem:
    return LoopProblem(SPACE, RULES, seed, LoopSettings(sweep=0, starts=8))


def law(X: Floats, k: int = 2) -> Floats:
    """Runtime falls and power grows with a and b; a third outcome has its best between."""
    a, b, c = X.T
    runtime = 100 / a + 40 / b + 5 * c
    power = 30 + 6 * a + 2 * b + 10 * (2 - c)
    return np.column_stack([runtime, power, 10 + np.abs(a - 8) + b / 4])[:, :k]


def asked(
    own: LoopProblem, X: Floats, losses: Floats, count: int = 1, pending: Floats | None = None
) -> NextFrontRuns:
    failed = np.isnan(losses).any(axis=1)
    return next_front_runs(
        own,
        SeenRuns(X, losses, failed),
        pending=np.empty((0, 3)) if pending is None else pending,
        count=count,
        log_sign=(1,) * losses.shape[1],
    )


def looped(seed: int, budget: int, k: int = 2) -> Floats:
    own = problem(seed)
    X = np.empty((0, 3))
    while len(X) < budget:
        found = asked(own, X, law(X, k))
        X = np.concatenate([X, found.proposals[0].x[None, :]])
    return X


@pytest.mark.parametrize("k", [2, 3])
def test_a_loop_finds_more_than_chance(k: int) -> None:
    pool = problem().pool.X
    truth = law(pool, k)
    reference = reference_of(truth[nondominated(truth)], truth)
    whole = hypervolume(truth, reference).value
    ours, chance = [], []
    for seed in range(2 if k == 2 else 1):
        X = looped(seed, 24, k)
        assert len(np.unique(X, axis=0)) == 24
        ours.append(hypervolume(law(X, k), reference).value / whole)
        drawn = np.random.default_rng(seed).permutation(len(pool))[:24]
        chance.append(hypervolume(truth[drawn], reference).value / whole)
    assert np.mean(ours) > np.mean(chance)
    assert min(ours) > 0.9


def test_proposals_are_legal_new_and_different() -> None:
    own, rng = problem(), np.random.default_rng(2)
    pool = own.pool.X
    X = pool[rng.permutation(len(pool))[:20]]
    pending = pool[rng.permutation(len(pool))[20:26]]
    found = asked(own, X, law(X), 10, pending)
    proposed = np.array([one.x for one in found.proposals])
    assert (
        len(np.unique(np.concatenate([X, pending, proposed]), axis=0))
        == len(np.unique(np.concatenate([X, pending]), axis=0)) + 10
    )
    for rule in RULES:
        assert rule.holds(proposed).all()
    assert all(one.reason is Reason.IMPROVEMENT for one in found.proposals)
    for one in found.proposals:
        assert (one.low < one.mean).all()
        assert (one.mean < one.high).all()
        assert one.gain >= 0


def test_a_loop_begins_with_runs_far_apart() -> None:
    found = asked(problem(), np.empty((0, 3)), np.empty((0, 2)), 8)
    assert {one.reason for one in found.proposals} == {Reason.START}
    assert len({tuple(one.x) for one in found.proposals}) == 8


def test_the_same_runs_give_the_same_proposals() -> None:
    own, other = problem(), problem()
    X = own.pool.X[::17][:15]
    first, second = (asked(one, X, law(X), 4) for one in (own, other))
    assert [tuple(p.x) for p in first.proposals] == [tuple(p.x) for p in second.proposals]


def test_what_fails_is_avoided() -> None:
    own, rng = problem(), np.random.default_rng(3)
    X = own.pool.X[rng.permutation(len(own.pool.X))[:40]]
    losses = law(X)
    losses[X[:, 0] > 8] = np.nan  # the fast ones
    found = asked(own, X, losses, 6)
    assert np.mean([one.x[0] > 8 for one in found.proposals]) <= 0.5
    assert all(0 <= one.failure <= 1 for one in found.proposals)


def test_noise_does_not_repeat_runs() -> None:
    own, rng = problem(), np.random.default_rng(4)
    X = np.repeat(own.pool.X[rng.permutation(len(own.pool.X))[:10]], 3, axis=0)
    found = asked(own, X, law(X) * rng.lognormal(0, 0.1, (30, 2)), 5)
    seen = {tuple(x) for x in X}
    assert all(tuple(one.x) not in seen for one in found.proposals)


def test_when_all_is_run_nothing_is_left() -> None:
    own = problem()
    X = own.pool.X
    found = asked(own, X[:-1], law(X[:-1]), 5)
    assert [tuple(one.x) for one in found.proposals] == [tuple(X[-1])]
    assert asked(own, X, law(X), 5).proposals == ()
    assert asked(own, X, law(X), 5).left == 0


def test_an_end_of_the_front_that_lies_behind_the_reference_is_tried() -> None:
    """Little power at four times the runtime: behind a tenth of what was measured."""
    space = Space(parameters=(Number(name="a", low=1, high=24, step=1),))
    own = LoopProblem(space, (), 0, LoopSettings(sweep=0, starts=4))
    X = np.array([[12.0], [14.0], [17.0], [20.0], [24.0]])

    def outcomes(X: Floats) -> Floats:
        return np.column_stack([100 / X[:, 0], 20 + 3 * X[:, 0]])

    while len(X) < 9:
        seen = SeenRuns(X, outcomes(X), np.zeros(len(X), dtype=bool))
        found = next_front_runs(own, seen, pending=X[:0], count=1, log_sign=(1, 1))
        X = np.concatenate([X, found.proposals[0].x[None, :]])
    assert X.min() <= 3


def test_a_given_reference_is_used() -> None:
    own = problem()
    X = own.pool.X[::17][:15]
    seen = SeenRuns(X, law(X), np.zeros(len(X), dtype=bool))
    limit = np.array([60.0, 120.0])
    found = next_front_runs(
        own, seen, pending=np.empty((0, 3)), count=1, log_sign=(1, 1), reference=limit
    )
    assert found.reference.tolist() == [60.0, 120.0]
    assert found.volume == pytest.approx(hypervolume(law(X), limit).value)


def test_runs_that_lack_an_outcome_are_refused() -> None:
    with pytest.raises(BadInput, match="lacks an outcome"):
        SeenRuns(np.zeros((1, 3)), np.array([[1.0, np.nan]]), np.array([False]))
    with pytest.raises(BadInput, match="different lengths"):
        SeenRuns(np.zeros((2, 3)), np.ones((1, 2)), np.array([False]))
