"""What stands in the way when nothing meets the goals, checked by trying everything."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prove_tasks import (
    RULES,
    Trees,
    everything,
    judged,
    random_forest,
    random_start,
    task,
)

from compass.domain.answer import CertificateStatus
from compass.domain.target import Target
from compass.generate.base import Candidates
from compass.generate.score import score
from compass.generate.targets import in_numbers as goal_text
from compass.generate.task import SearchTask
from compass.model.base import Task
from compass.prove import prove
from property_examples import examples

SECONDS = 60.0
NOTHING = Candidates(np.empty((0, 6)), np.empty((0, 0)), np.empty(0, dtype=bool), np.empty(0))


def possible(problem: SearchTask, kept: tuple[str, ...]) -> bool:
    """Whether some legal configuration has all of these rules and goals."""
    some = replace(
        problem,
        rules=tuple(rule for rule in problem.rules if rule.text in kept),
        outcome_rules=tuple(rule for rule in problem.outcome_rules if rule.text in kept),
        targets=tuple(t for t in problem.targets if goal_text(t) in kept),
    )
    return bool((judged(some, everything(some)).valid <= 0).any())


@examples(15)
@given(
    seed=st.integers(0, 10**6),
    texts=st.lists(st.sampled_from(RULES), min_size=1, max_size=5, unique=True),
    share=st.sampled_from([-0.5, 0.0, 0.01, 0.05]),
)
@example(seed=41077, texts=["a <= 2 * b", "a + b == 6"], share=0.05)  # many are close to the goal
def test_the_conflict_is_real_and_no_part_of_it_can_be_left_out(seed, texts, share):
    rng = np.random.default_rng(seed)
    models = {
        "cost": Trees(random_forest(rng, trees=5), Task()),
        "power": Trees(random_forest(rng, trees=3), Task()),
    }
    problem = task(models, (), random_start(rng), texts)
    X = everything(problem)
    cost, power = models["cost"].predict(X)[:, 0], models["power"].predict(X)[:, 0]
    high = float(np.quantile(cost, max(share, 0.0)) + min(share, 0.0))
    targets = (
        Target(name="cost", high=high, scale=0.5),
        Target(name="power", low=float(np.quantile(power, 0.9)), scale=0.5),
    )
    problem = replace(problem, targets=targets)
    proof = prove(problem, NOTHING, SECONDS)
    told = proof.certificate
    everything_asked = (*texts, *map(goal_text, targets))
    if possible(problem, everything_asked):
        assert told.status is CertificateStatus.OPTIMAL
        assert proof.better is not None
        return
    assert told.status is CertificateStatus.INFEASIBLE
    assert told.blocking
    assert set(told.blocking) <= set(everything_asked)
    assert not possible(problem, told.blocking)
    for dropped in told.blocking:
        assert possible(problem, tuple(text for text in told.blocking if text != dropped))


@examples(20)
@given(seed=st.integers(0, 10**6), texts=st.lists(st.sampled_from(RULES), max_size=2))
def test_the_nearest_value_is_the_nearest(seed, texts):
    rng = np.random.default_rng(seed)
    model = Trees(random_forest(rng, trees=5), Task())
    problem = task({"cost": model}, (), random_start(rng), texts)
    legal = judged(problem, everything(problem))
    if not len(legal):
        return
    y = np.sort(model.predict(legal.X)[:, 0])
    hole = int(rng.integers(len(y)))
    above = y[hole] if hole == len(y) - 1 else (y[hole] + y[hole + 1]) / 2
    width = (y[hole + 1] - above) / 2 if hole < len(y) - 1 else 0.3
    low = above + (0.1 if hole == len(y) - 1 else 0.0)
    if width < 1e-4:
        return
    target = Target(name="cost", low=low, high=low + width, scale=0.5)
    problem = replace(problem, targets=(target,))
    told = prove(problem, NOTHING, SECONDS).certificate
    assert told.status is CertificateStatus.INFEASIBLE
    miss = np.maximum(y - target.high, target.low - y).min()
    mine = told.nearest["cost"]
    assert max(mine - target.high, target.low - mine) == pytest.approx(miss, abs=1e-5)
    assert f"cost can reach {mine:.5g}" in told.reason


def test_a_goal_out_of_reach_is_named_with_what_can_be_reached():
    rng = np.random.default_rng(3)
    model = Trees(random_forest(rng), Task())
    target = Target(name="cost", high=-50.0, scale=0.5)
    problem = task({"cost": model}, (target,), random_start(rng), ("a <= 2 * b",))
    best = judged(problem, everything(problem)).X[:1]
    found = score(problem, best).candidates()
    assert not found.meets[0]
    told = prove(problem, found, SECONDS).certificate
    assert told.status is CertificateStatus.INFEASIBLE
    assert told.blocking == ("cost <= -50",)
    lowest = float(model.predict(judged(problem, everything(problem)).X).min())
    assert told.nearest["cost"] == pytest.approx(lowest)
    assert told.reason.startswith("No legal configuration can have cost <= -50; cost can reach ")


def test_after_everything_was_tried_the_solver_only_explains():
    rng = np.random.default_rng(3)
    model = Trees(random_forest(rng), Task())
    target = Target(name="cost", high=-50.0, scale=0.5)
    problem = task({"cost": model}, (target,), random_start(rng))
    told = prove(problem, replace(NOTHING, exhaustive=True), SECONDS).certificate
    assert told.status is CertificateStatus.INFEASIBLE
    assert told.blocking == ("cost <= -50",)


def test_two_rules_that_conflict_are_named_without_the_goal():
    rng = np.random.default_rng(3)
    model = Trees(random_forest(rng), Task())
    target = Target(name="cost", high=50.0, scale=0.5)
    rules = ("c != 'y'", "a + b <= 4", "a * b >= 9", "d != none")
    problem = task({"cost": model}, (target,), random_start(rng), rules)
    told = prove(problem, NOTHING, SECONDS).certificate
    assert told.status is CertificateStatus.INFEASIBLE
    assert told.blocking == ("a + b <= 4", "a * b >= 9")
