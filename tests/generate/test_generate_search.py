"""Every answer on a small space is compared with the enumeration of the whole space."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from tasks import SETTINGS, SPACE, everything, model, task

from compass.domain.errors import ConflictingRules
from compass.domain.target import Target
from compass.generate import loss
from compass.generate.base import Candidates, Floats
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_distances
from compass.prepare.legal import legal_mask
from compass.settings import LossWeights, SearchSettings
from property_examples import examples

FITTED, OBSERVED = model()
RULES = (
    "a * b <= 32",
    "a % b == 0",
    "a + d <= 11",
    "c == 'x' -> b >= 2",
    "a in {2, 4, 8, 12} or d == 0",
    "not (b == 4 and d > 2)",
    "max(a, b) >= 4",
)
rule_sets = st.lists(st.sampled_from(RULES), max_size=4, unique=True).map(tuple)
starts = st.integers(0, 899)
# The enumeration budget decides which of two code paths runs: both must find the optimum.
exhaustive = SETTINGS
searching = SETTINGS.model_copy(update={"search": SearchSettings(enumerate=1)})


def obeying(problem: SearchTask) -> Floats:
    """All legal configurations that obey the rules and keep what is fixed."""
    X = everything()
    for column in range(4):
        if column not in problem.movable:
            X = X[X[:, column] == problem.start[column]]
    for rule in problem.rules:
        X = X[rule.holds(X)]
    return X


def generate(problem: SearchTask) -> Candidates | None:
    try:
        return LegalSearch.generate(problem)
    except ConflictingRules:
        return None


def check_legal(problem: SearchTask, found: Candidates) -> None:
    for column, parameter in enumerate(SPACE.parameters):
        assert legal_mask(parameter, found.X[:, column]).all()
        if column not in problem.movable:
            assert (found.X[:, column] == problem.start[column]).all()
    for rule in problem.rules:
        assert rule.holds(found.X).all()


@pytest.mark.parametrize("mode", [exhaustive, searching], ids=["enumerated", "searched"])
@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(rules=rule_sets, row=starts)
def test_recommend_finds_the_best_value(mode: object, rules: tuple[str, ...], row: int) -> None:
    target = Target(name="y", direction="minimize", scale=30.0)
    problem = task(
        FITTED, OBSERVED, everything()[row], target, rules, proximity=False, settings=mode
    )
    truth = obeying(problem)
    found = generate(problem)
    if not len(truth):
        assert found is None or not len(found.X)
        return
    assert found is not None
    check_legal(problem, found)
    best = FITTED.predict(truth)[:, 0].min()
    assert FITTED.predict(found.X[:1])[0, 0] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("mode", [exhaustive, searching], ids=["enumerated", "searched"])
@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(rules=rule_sets, row=starts, quantile=st.floats(0.02, 0.6))
@example(rules=("a in {2, 4, 8, 12} or d == 0", "not (b == 4 and d > 2)"), row=1, quantile=0.28125)
def test_reconfigure_finds_the_smallest_change(
    mode: object, rules: tuple[str, ...], row: int, quantile: float
) -> None:
    limit = float(np.quantile(FITTED.predict(everything())[:, 0], quantile))
    target = Target(name="y", high=limit, scale=30.0)
    problem = task(FITTED, OBSERVED, everything()[row], target, rules, settings=mode)
    truth = obeying(problem)
    reaching = truth[FITTED.predict(truth)[:, 0] <= limit] if len(truth) else truth
    found = generate(problem)
    if not len(truth):
        assert found is None or not len(found.X)
        return
    assert found is not None
    check_legal(problem, found)
    assert found.meets[0] == (len(reaching) > 0)
    if len(reaching):
        least = loss.proximity(reaching, problem.start, problem.geometry).min()
        assert least * (1 - 1e-6) <= found.proximity[0]
        # The search alone misses it now and then (the next test says how often): closing the gap is
        # what proofs are for.
        if mode is exhaustive:
            assert found.proximity[0] <= least * (1 + 1e-6)
    else:
        nearest = FITTED.predict(truth)[:, 0].min()
        assert FITTED.predict(found.X[:1])[0, 0] == pytest.approx(nearest, rel=1e-9)


def test_the_search_alone_hardly_ever_misses_the_smallest_change() -> None:
    rng = np.random.default_rng(11)
    values = FITTED.predict(everything())[:, 0]
    missed, asked = [], 0
    for _ in range(120):
        rules = tuple(rng.permutation(RULES)[: rng.integers(5)].tolist())
        limit = float(np.quantile(values, rng.uniform(0.02, 0.6)))
        target = Target(name="y", high=limit, scale=30.0)
        row = int(rng.integers(len(everything())))
        problem = task(FITTED, OBSERVED, everything()[row], target, rules, settings=searching)
        truth = obeying(problem)
        reaching = truth[FITTED.predict(truth)[:, 0] <= target.high] if len(truth) else truth
        if not len(reaching):
            continue
        asked += 1
        least = float(loss.proximity(reaching, problem.start, problem.geometry).min())
        found = generate(problem)
        assert found is not None
        if found.proximity[0] > least * (1 + 1e-6):
            missed.append(float(found.proximity[0]) / least)
    assert asked > 80
    assert len(missed) <= 0.05 * asked, missed


def test_forced_columns_move_only_where_a_rule_needs_it() -> None:
    start = np.array([4.0, 2.0, 1.0, 1.0])
    target = Target(name="y", direction="minimize", scale=30.0)
    problem = task(FITTED, OBSERVED, start, target, ("a == 2 * b",), free=(0,), forced=(1, 2, 3))
    found = LegalSearch.generate(problem)
    check_legal(problem, found)
    assert (found.X[:, 2:] == start[2:]).all()  # no rule ties c or d to a
    assert (found.X[:, 0] == 2 * found.X[:, 1]).all()
    both = [x for x in everything() if x[0] == 2 * x[1] and x[2] == 1 and x[3] == 1]
    best = FITTED.predict(np.array(both))[:, 0].min()
    assert FITTED.predict(found.X[:1])[0, 0] == pytest.approx(best)


def test_the_same_seed_gives_the_same_answer() -> None:
    target = Target(name="y", high=20.0, scale=30.0)
    start = everything()[17]
    runs = [
        LegalSearch.generate(
            task(FITTED, OBSERVED, start, target, RULES[:3], count=5, settings=searching)
        )
        for _ in range(2)
    ]
    assert np.array_equal(runs[0].X, runs[1].X)


def test_answers_are_distinct_and_the_best_comes_first() -> None:
    target = Target(name="y", high=30.0, scale=30.0)
    problem = task(FITTED, OBSERVED, everything()[0], target, ("a * b <= 32",), count=8)
    found = LegalSearch.generate(problem)
    assert len(found.X) == 8
    assert found.proximity[0] == found.proximity.min()
    for i in range(8):
        for j in range(i):
            apart = column_distances(found.X[[i]], found.X[j], problem.geometry).sum()
            assert apart >= SETTINGS.search.distinct


def test_a_dearer_parameter_moves_less() -> None:
    """Raising the cost of changing a column never makes the answer move it further."""
    target = Target(name="y", high=15.0, scale=30.0)
    start = np.array([1.0, 1.0, 2.0, 4.0])
    moves = []
    for cost in (0.1, 1.0, 3.0, 10.0, 100.0):
        problem = task(FITTED, OBSERVED, start, target, weight=(cost, 1.0, 1.0, 1.0))
        moves.append(abs(LegalSearch.generate(problem).X[0, 0] - start[0]))
    assert moves == sorted(moves, reverse=True)
    assert moves[0] > moves[-1]


def test_without_diversity_the_answers_are_the_cheapest_distinct_ones() -> None:
    target = Target(name="y", high=30.0, scale=30.0)
    start = everything()[0]
    found = {}
    for weight in (0.0, 10.0):
        mode = SETTINGS.model_copy(
            update={"loss": LossWeights(diversity=weight), "search": SearchSettings(budget=1.0)}
        )
        found[weight] = LegalSearch.generate(
            task(FITTED, OBSERVED, start, target, count=4, settings=mode)
        )
    geometry = task(FITTED, OBSERVED, start, target).geometry
    assert found[0.0].proximity.sum() < found[10.0].proximity.sum()
    assert loss.diversity(found[0.0].X, geometry) < loss.diversity(found[10.0].X, geometry)


def test_minimise_with_a_baseline_prefers_the_smallest_change_within_the_tolerance() -> None:
    target = Target(name="y", direction="minimize", scale=30.0)
    start = everything()[450]
    problem = task(FITTED, OBSERVED, start, target, ("a * b <= 32",))
    truth = obeying(problem)
    y = FITTED.predict(truth)[:, 0] / 30.0
    reach = truth[y <= y.min() + SETTINGS.search.tolerance * abs(y.min())]
    least = loss.proximity(reach, start, problem.geometry).min()
    assert LegalSearch.generate(problem).proximity[0] == pytest.approx(least)
