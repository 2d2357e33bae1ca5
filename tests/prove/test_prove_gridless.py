"""Proofs on real numbers and long grids, against many samples; deadlines; what has no proof."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prove_tasks import (
    Floats,
    Trees,
    compiled,
    everything,
    judged,
    poor_search,
    random_forest,
    random_start,
    task,
)

from compass.domain.answer import CertificateStatus
from compass.domain.space import Number, Space
from compass.domain.target import Target
from compass.generate.predict import Averaged
from compass.generate.score import order, score
from compass.generate.task import SearchTask
from compass.model.base import FittedDefaults, Task
from compass.model.trees.flat import FlatForest
from compass.prepare.geometry import Geometry
from compass.prove import prove, solver
from compass.prove.axes import boundaries
from compass.settings import Settings
from property_examples import examples

OPEN = Space(
    parameters=(
        Number(name="p", low=0, high=1),
        Number(name="q", low=-2, high=3),
        Number(name="r", low=1, high=20_000, step=1),
        Number(name="s", low=0, high=0.9, optional=True),
    )
)
RULES = (
    "p + q <= 0.8",
    "p >= 0.3",
    "q != 0",
    "r <= 20000 * p",
    "r >= 4000 * q",
    "r % 4 == 0",
    "p * q <= 0.2",
    "max(p, q) >= 0.4",
    "abs(p - q) <= 0.7",
    "p > 0.5 -> r <= 9000",
    "s <= p",
    "s == none -> q >= 0.1",
    "s != none",
    "q > 0 -> s == none",
    "not s > 0.5",
    "q in {-1, 0, 0.25, 2}",
    "r / 1000 <= 12",
    "p == 0.5 * q",
)


def problem_of(rng: np.random.Generator, texts: list[str], trees: int = 5) -> SearchTask:
    model = Trees(random_forest(rng, trees=trees, space=OPEN), Task())
    none = OPEN["s"]
    assert isinstance(none, Number)
    start = np.array([rng.random(), rng.uniform(-2, 3), float(rng.integers(1, 20_001)), 0.0])
    start[3] = none.none_code if rng.random() < 0.3 else rng.uniform(0, 0.9)
    movable = np.arange(4)
    return SearchTask(
        space=OPEN,
        start=start,
        free=movable,
        forced=np.empty(0, dtype=np.int64),
        rules=compiled(texts, OPEN),
        outcome_rules=(),
        outcomes=("cost",),
        targets=(),
        labels={},
        predict=Averaged({"cost": model}, start[None, :], movable),
        geometry=Geometry(
            scale=np.array([0.3, 1.4, 5000.0, 0.25]),
            weight=np.array([1.0, 1.0, 2.0, 1.0]),
            category=np.zeros(4, dtype=bool),
            none=np.array([np.nan, np.nan, np.nan, none.none_code]),
        ),
        observed=np.empty((0, 4)),
        proximity=True,
        count=1,
        seed=1,
        settings=Settings(),
    )


def samples(problem: SearchTask, rng: np.random.Generator, n: int = 40_000) -> Floats:
    """Random legal configurations, many with values of the start or at places that rules name."""
    none = problem.geometry.none[3]
    X = np.column_stack(
        [
            rng.random(n),
            rng.uniform(-2, 3, n),
            rng.integers(1, 20_001, n).astype(float),
            rng.uniform(0, 0.9, n),
        ]
    )
    X[rng.random(n) < 0.3, 3] = none
    X[:, 1] = np.where(rng.random(n) < 0.2, rng.choice([-1, 0, 0.25, 2], n), X[:, 1])
    X[:, 0] = np.where(rng.random(n) < 0.1, np.clip(0.5 * X[:, 1], 0, 1), X[:, 0])
    X[:, 2] = np.where(rng.random(n) < 0.3, np.maximum(X[:, 2] // 4 * 4, 4), X[:, 2])
    return np.where(rng.random(X.shape) < 0.5, problem.start, X)


@examples(25)
@given(
    seed=st.integers(0, 10**6),
    texts=st.lists(st.sampled_from(RULES), max_size=3, unique=True),
    share=st.sampled_from([0.02, 0.2]),
)
def test_no_sample_beats_a_bound_on_real_numbers(seed, texts, share):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, texts)
    X = samples(problem, rng)
    y = problem.predict(X)["cost"][:, 0]
    high = float(np.quantile(y, share))
    problem = replace(problem, targets=(Target(name="cost", high=high, scale=0.5),))
    scored = score(problem, X)
    fine = scored.take(np.flatnonzero((scored.violation == 0) & (scored.valid <= 0)))
    ranked = fine.take(order(problem, fine))
    place = min(len(ranked), 20)
    one = ranked.take(np.arange(place)[-1:])  # not the best sample: there is something to find
    found = one.candidates()
    proof = prove(problem, found, 2.0)  # bounds hold whether or not that is enough
    told = proof.certificate
    if told.status is CertificateStatus.INFEASIBLE:
        assert not len(ranked)
    if len(ranked) and told.bound is not None:
        assert told.bound <= ranked.proximity[0] + 1e-9
    if proof.better is not None:
        mine = score(problem, proof.better[None, :])
        assert mine.violation[0] == 0
        assert mine.valid[0] <= 0
        if len(ranked):
            assert mine.proximity[0] < one.proximity[0]
    if told.status is CertificateStatus.OPTIMAL and len(ranked):
        answer = one.X if proof.better is None else proof.better[None, :]
        plain = told.gap or 0.0
        assert score(problem, answer).proximity[0] <= ranked.proximity[0] + plain + 1.1e-5


@given(
    edges=st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=5),
)
def test_a_boundary_is_the_last_number_that_goes_left(edges):
    threshold = np.array(edges)
    last = boundaries(threshold, single=True)
    assert np.all(last.astype(np.float32) <= threshold)
    assert np.all(np.nextafter(last, np.inf).astype(np.float32) > threshold)
    assert np.array_equal(boundaries(threshold, single=False), threshold)


def one_cut(column: int, threshold: float) -> FlatForest:
    """A single tree: 1 up to the threshold, 0 above it."""
    return FlatForest(
        feature=np.array([column, -1, -1], dtype=np.int32),
        threshold=np.array([threshold, 0.0, 0.0]),
        left=np.array([1, -1, -1], dtype=np.int32),
        right=np.array([2, -1, -1], dtype=np.int32),
        value=np.array([[0.0], [1.0], [0.0]]),
        roots=np.array([0]),
        width=6,
    )


def test_plain_numbers_cost_a_little_and_the_certificate_says_so():
    model = Trees(one_cut(5, 0.5), Task())
    start = random_start(np.random.default_rng(1))
    start[5] = 0.35
    problem = task({"cost": model}, (Target(name="cost", high=0.5, scale=0.5),), start)
    best = judged(problem, everything(problem)).take(np.arange(1))
    assert best.proximity[0] == pytest.approx(0.5, abs=1e-6)
    rounded = best.X.copy()
    rounded[0, 5] = 0.502
    assert score(problem, rounded).valid[0] <= 0
    found = score(problem, rounded).candidates()
    proof = prove(problem, found, 60.0)
    assert proof.better is None
    assert proof.certificate.status is CertificateStatus.OPTIMAL
    assert proof.certificate.gap == pytest.approx(0.002 / 0.3, abs=2e-5)
    assert "plain numbers cost" in proof.certificate.reason


def test_a_rule_that_cannot_be_stated_is_named_and_nothing_is_called_optimal():
    rng = np.random.default_rng(5)
    problem = problem_of(rng, ["exp(p) + log(q + 3) <= 3"])
    X = samples(problem, rng)
    target = Target(
        name="cost",
        high=float(np.quantile(problem.predict(X)["cost"], 0.1)),
        scale=0.5,
    )
    problem = replace(problem, targets=(target,))
    scored = score(problem, X)
    fine = scored.take(np.flatnonzero((scored.violation == 0) & (scored.valid <= 0)))
    some = fine.take(order(problem, fine)[[20]])
    best = fine.take(order(problem, fine)[:1])
    proof = prove(problem, some.candidates(), 60.0)
    told = proof.certificate
    assert told.left_out == ("exp(p) + log(q + 3) <= 3",)
    assert told.status is CertificateStatus.BEST_FOUND
    assert told.bound is not None
    assert told.bound <= best.proximity[0]
    assert "leaves out exp(p)" in told.reason


def test_no_time_ends_as_best_found():
    rng = np.random.default_rng(1)
    model = Trees(random_forest(rng, trees=60, depth=6), Task())
    target = Target(name="cost", direction="minimize", scale=0.1)
    problem = task({"cost": model}, (target,), random_start(rng))
    found = poor_search(replace(problem, targets=()), rng)
    told = prove(problem, found, 0.0).certificate
    assert told.status is CertificateStatus.BEST_FOUND
    assert told.cut
    assert told.value_gap is not None
    assert "time ran out" in told.reason


def test_a_model_too_large_for_the_time_is_not_built(monkeypatch):
    monkeypatch.setattr(solver, "_PER_LEAF", 1e9)
    rng = np.random.default_rng(1)
    model = Trees(random_forest(rng, trees=20, depth=6), Task())
    problem = task({"cost": model}, (), random_start(rng))
    high = float(np.quantile(model.predict(everything(problem)), 0.05))
    problem = replace(problem, targets=(Target(name="cost", high=high, scale=0.1),))
    found = poor_search(problem, rng, tried=400)
    assert found.meets[0]
    told = prove(problem, found, 10.0).certificate
    assert told.status is CertificateStatus.BEST_FOUND
    assert told.cut


class Formula(FittedDefaults):
    """A model that is not made of trees."""

    family = "formula"
    task = Task()

    def predict(self, X: Floats) -> Floats:
        return X[:, :1]

    def spread(self, X: Floats) -> Floats:
        return np.zeros(len(X))

    def arrays(self) -> dict[str, Floats]:
        return {}


def test_a_model_without_trees_has_no_proof_unless_everything_was_tried():
    start = random_start(np.random.default_rng(2))
    target = Target(name="cost", high=1.0, scale=1.0)
    problem = task({"cost": Formula()}, (target,), start)  # type: ignore[dict-item]
    x = start.copy()
    x[0] = 1.0
    found = score(problem, x[None, :]).candidates()
    told = prove(problem, found, 1.0).certificate
    assert told.status is CertificateStatus.NO_PROOF
    assert "not made of trees" in told.reason
    tried = prove(problem, replace(found, exhaustive=True), 1.0).certificate
    assert tried.status is CertificateStatus.OPTIMAL
    missed = replace(found, X=start[None, :], meets=np.array([False]), exhaustive=True)
    assert prove(problem, missed, 1.0).certificate.status is CertificateStatus.INFEASIBLE


def test_several_contexts_of_scores_have_no_proof():
    rng = np.random.default_rng(4)
    model = Trees(random_forest(rng, link="sigmoid", boosted=True), Task(2))
    start = random_start(rng)
    target = Target(name="cost", label="done", scale=1.0)
    contexts = np.stack([start, random_start(rng)])
    problem = task({"cost": model}, (target,), start, free=(0, 1), contexts=contexts)
    told = prove(problem, poor_search(problem, rng), 1.0).certificate
    assert told.status is CertificateStatus.NO_PROOF
    assert "several contexts" in told.reason


def test_goals_that_are_met_are_all_that_a_recommendation_needs():
    rng = np.random.default_rng(4)
    model = Trees(random_forest(rng), Task())
    target = Target(name="cost", high=100.0, scale=1.0)
    problem = task({"cost": model}, (target,), random_start(rng), proximity=False)
    proof = prove(problem, poor_search(problem, rng), 1.0)
    assert proof.certificate.status is CertificateStatus.OPTIMAL
    assert proof.better is None


def test_the_same_question_has_the_same_proof():
    rng = np.random.default_rng(9)
    model = Trees(random_forest(rng, trees=12, depth=5), Task())
    problem = task({"cost": model}, (), random_start(rng), ("a * b <= 12",))
    high = float(np.quantile(model.predict(everything(problem)), 0.05))
    problem = replace(problem, targets=(Target(name="cost", high=high, scale=0.1),))
    found = poor_search(problem, rng, tried=200)
    one, two = (prove(problem, found, 60.0) for _ in range(2))
    assert one.certificate.model_copy(update={"seconds": 0.0}) == two.certificate.model_copy(
        update={"seconds": 0.0}
    )
    assert (one.better is None) == (two.better is None)
    if one.better is not None and two.better is not None:
        assert np.array_equal(one.better, two.better)
