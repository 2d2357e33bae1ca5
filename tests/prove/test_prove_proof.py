"""Certificates against brute force: optimal is optimal, infeasible is infeasible, bounds hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st
from prove_tasks import (
    RULES,
    Floats,
    Trees,
    everything,
    judged,
    poor_search,
    random_forest,
    random_start,
    task,
)

from compass.domain.answer import CertificateStatus
from compass.domain.target import Target
from compass.generate.base import Candidates
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.model.base import Task
from compass.prove import Proof, prove, rule_encoder

SECONDS = 60.0  # far more than any of these needs
QUIET = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
rules = st.lists(st.sampled_from(RULES), max_size=3, unique=True)
seeds = st.integers(0, 10**6)
tables = st.sampled_from([20_000, 8])  # a table of 8 leaves all but single columns to arithmetic
ENDS = (CertificateStatus.OPTIMAL, CertificateStatus.INFEASIBLE)


def check(problem: SearchTask, proof: Proof, found: Candidates) -> None:
    """Everything that a certificate says must agree with trying everything."""
    told = proof.certificate
    best = judged(problem, everything(problem))
    possible = len(best) > 0 and best.valid[0] <= 0
    first = found.X[0] if len(found.X) and found.meets[0] else None
    assert not told.cut
    if told.status is CertificateStatus.INFEASIBLE:
        assert not possible
        assert proof.better is None
        return
    if proof.better is not None:
        _improves(problem, proof.better, first)
    answer = first if proof.better is None else proof.better
    if told.status is CertificateStatus.OPTIMAL:
        assert answer is not None
        both = judged(problem, np.stack([answer, best.X[0]]))
        mine = score(problem, answer[None, :])
        directed = any(target.direction for target in problem.targets)
        if directed:
            value = problem.settings.search.tolerance if problem.proximity else 1e-5
            reach = best.preference.min() + value * max(abs(best.preference.min()), 1.0)
            assert mine.preference[0] <= reach
        if problem.proximity and not directed:
            assert mine.proximity[0] <= both.proximity[0] + 1.1e-5 * max(1, both.proximity[0])
    if told.bound is not None and possible and problem.proximity:
        assert told.bound <= best.proximity[0] + 1e-9


def _improves(problem: SearchTask, better: Floats, first: Floats | None) -> None:
    mine = score(problem, better[None, :])
    assert mine.violation[0] == 0
    assert mine.valid[0] <= 0
    if first is not None and not any(target.direction for target in problem.targets):
        assert mine.proximity[0] < score(problem, first[None, :]).proximity[0]


def quantile(model: Trees, problem: SearchTask, share: float) -> float:
    return float(np.quantile(model.predict(everything(problem))[:, 0], share))


@QUIET
@given(seed=seeds, texts=rules, table=tables, single=st.booleans())
# Took minutes while the solver had no relaxation of quotients.
@example(seed=664, texts=["floor(a / b) == 1", "min(a, b) <= 2"], table=8, single=False)
def test_the_smallest_change_within_a_range(monkeypatch, seed, texts, table, single):
    monkeypatch.setattr(rule_encoder, "TUPLES", table)
    rng = np.random.default_rng(seed)
    model = Trees(random_forest(rng, trees=6, single=single), Task())
    weight = tuple(rng.choice([0.5, 1.0, 3.0], size=6))
    problem = task({"cost": model}, (), random_start(rng), texts, weight=weight)
    high = quantile(model, problem, rng.choice([0.02, 0.1, 0.3]))
    low = rng.choice([-np.inf, high - 0.1])
    target = Target(name="cost", low=low, high=high, scale=0.5)
    problem = replace(problem, targets=(target,))
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    if not proof.certificate.left_out:
        assert proof.certificate.status in ENDS
    if table == 20_000:
        assert proof.certificate.left_out == ()


@QUIET
@given(
    seed=seeds,
    texts=rules,
    kind=st.sampled_from(["forest", "softmax", "sigmoid"]),
)
def test_a_class_and_a_range_together(seed, texts, kind):
    rng = np.random.default_rng(seed)
    if kind == "forest":
        states = random_forest(rng, outputs=3)
    else:
        raws = 3 if kind == "softmax" else 1
        states = random_forest(rng, trees=6, outputs=raws, link=kind, boosted=True)
    model = Trees(random_forest(rng, trees=3), Task())
    start = random_start(rng)
    label = str(rng.choice(["failed", "done"]))
    models = {"cost": model, "state": Trees(states, Task(classes=2 if kind == "sigmoid" else 3))}
    problem = task(models, (), start, texts)
    targets = (
        Target(name="state", label=label, is_class=True),
        Target(name="cost", high=quantile(model, problem, 0.4), scale=0.5),
    )
    problem = task(models, targets, start, texts)
    found = poor_search(problem, rng)
    proof = prove(problem, found, 10.0)
    if proof.certificate.cut:  # a softmax of boosted trees can be hard: then nothing is claimed
        assert proof.certificate.status is CertificateStatus.BEST_FOUND
        reject()
    check(problem, proof, found)
    assert proof.certificate.status in ENDS


@QUIET
@given(seed=seeds, texts=rules, proximity=st.booleans(), link=st.sampled_from(["identity", "exp"]))
def test_the_best_value_and_the_smallest_change_that_comes_close(seed, texts, proximity, link):
    rng = np.random.default_rng(seed)
    model = Trees(random_forest(rng, trees=5, link=link, boosted=link == "exp"), Task())
    direction = rng.choice(["minimize", "maximize"])
    target = Target(name="cost", direction=direction, scale=0.7)
    problem = task({"cost": model}, (target,), random_start(rng), texts, proximity=proximity)
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    assert proof.certificate.status in ENDS
    if proof.certificate.status is CertificateStatus.OPTIMAL:
        best = abs(judged(problem, everything(problem)).preference).max()
        assert proof.certificate.value_gap == pytest.approx(0.0, abs=1e-5 * max(1.0, best))


@QUIET
@given(seed=seeds, texts=rules)
def test_two_directions_and_contexts_that_are_averaged(seed, texts):
    rng = np.random.default_rng(seed)
    models = {
        "cost": Trees(random_forest(rng), Task()),
        "power": Trees(random_forest(rng, single=False), Task()),
    }
    targets = (
        Target(name="cost", direction="minimize", scale=0.5),
        Target(name="power", direction="maximize", scale=0.9),
    )
    start = random_start(rng)
    contexts = np.stack([start, random_start(rng), random_start(rng)])
    problem = task(
        models, targets, start, texts, free=(0, 1, 3, 5), proximity=False, contexts=contexts
    )
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    assert proof.certificate.status in ENDS


@QUIET
@given(
    seed=seeds,
    texts=rules,
    on_outcome=st.sampled_from([(), ("cost <= 1.1",), ("2 * cost >= 1.6",), ("1 > cost",)]),
)
def test_logarithms_averaged_over_contexts_and_bounded_by_rules(seed, texts, on_outcome):
    rng = np.random.default_rng(seed)
    model = Trees(random_forest(rng, link="exp", boosted=True), Task())
    start = random_start(rng)
    contexts = np.stack([start, random_start(rng), random_start(rng)])
    target = Target(name="cost", direction=rng.choice(["minimize", "maximize"]), scale=0.7)
    problem = task(
        {"cost": model},
        (target,),
        start,
        texts,
        free=(0, 1, 3, 5),
        proximity=False,
        contexts=contexts,
        outcome_rules=on_outcome,
    )
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    assert proof.certificate.left_out == ()
    assert proof.certificate.status in ENDS


@QUIET
@given(seed=seeds, texts=rules, forced=st.sampled_from([(1,), (1, 3), (0, 4)]))
def test_columns_that_move_only_when_forced(seed, texts, forced):
    rng = np.random.default_rng(seed)
    model = Trees(random_forest(rng, trees=6), Task())
    free = tuple(j for j in range(6) if j not in forced)
    problem = task({"cost": model}, (), random_start(rng), texts, free=free, forced=forced)
    target = Target(name="cost", high=quantile(model, problem, 0.15), scale=0.5)
    problem = replace(problem, targets=(target,))
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    assert proof.certificate.status in ENDS


@QUIET
@given(
    seed=seeds,
    texts=rules,
    on_outcomes=st.lists(
        st.sampled_from(
            ["power <= 0.1", "cost + power <= 0.2", "power * a <= 1", "a > 3 -> power >= 0"]
        ),
        min_size=1,
        max_size=2,
        unique=True,
    ),
)
def test_rules_on_outcomes(seed, texts, on_outcomes):
    rng = np.random.default_rng(seed)
    models = {
        "cost": Trees(random_forest(rng), Task()),
        "power": Trees(random_forest(rng), Task()),
    }
    start = random_start(rng)
    problem = task(models, (), start, texts, outcome_rules=on_outcomes)
    target = Target(name="cost", high=quantile(models["cost"], problem, 0.3), scale=0.5)
    problem = replace(problem, targets=(target,))
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    assert proof.certificate.left_out == ()
    assert proof.certificate.status in ENDS


@QUIET
@given(seed=seeds)
def test_a_change_that_only_rules_ask_for(seed):
    rng = np.random.default_rng(seed)
    texts = [str(text) for text in rng.choice(RULES, size=3, replace=False)]
    problem = task({}, (), random_start(rng), texts)
    found = poor_search(problem, rng)
    proof = prove(problem, found, SECONDS)
    check(problem, proof, found)
    assert proof.certificate.status in ENDS
