"""The front that a search finds, against the whole of a small space."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pareto_tasks import SETTINGS, SPACE, aims, everything, task

from compass.domain.errors import ConflictingRules
from compass.domain.target import Target
from compass.generate.base import Floats
from compass.generate.score import score
from compass.generate.task import SearchTask
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume
from compass.pareto.search import FoundFront, costs, find_front, layers
from compass.prepare.legal import legal_mask
from compass.settings import SearchSettings
from property_examples import examples

RULES = ("a * b <= 32", "a % b == 0", "a + d <= 11", "c == 'x' -> b >= 2", "max(a, b) >= 4")
rule_sets = st.lists(st.sampled_from(RULES), max_size=3, unique=True).map(tuple)
# The enumeration budget decides which of two code paths runs.
SEARCHING = SETTINGS.model_copy(update={"search": SearchSettings(enumerate=1)})


def true_front(problem: SearchTask) -> tuple[Floats, Floats]:
    """Configurations and costs of the front under the model, by enumeration."""
    X = everything()
    for column in range(4):
        if column not in problem.movable:
            X = X[X[:, column] == problem.start[column]]
    scored = score(problem, X)
    fine = scored.take((scored.violation == 0) & (scored.valid <= 0))
    if not len(fine):
        return fine.X, fine.values
    front = fine.take(nondominated(costs(problem, fine)))
    return front.X, costs(problem, front)


def check_legal(problem: SearchTask, found: FoundFront) -> None:
    X = found.scored.X
    for column, parameter in enumerate(SPACE.parameters):
        assert legal_mask(parameter, X[:, column]).all()
        if column not in problem.movable:
            assert (X[:, column] == problem.start[column]).all()
    for rule in problem.rules:
        assert rule.holds(X).all()


def rows(X: Floats) -> set[tuple[float, ...]]:
    return {tuple(row) for row in X.tolist()}


@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(
    rules=rule_sets,
    names=st.sampled_from(
        [("runtime", "power"), ("runtime", "-power"), ("power", "noise", "runtime")]
    ),
    row=st.integers(0, 899),
    proximity=st.booleans(),
)
def test_all_of_a_small_front_is_found(
    rules: tuple[str, ...], names: tuple[str, ...], row: int, proximity: bool
) -> None:
    problem = task(aims(*names), rules, start=everything()[row], proximity=proximity)
    truth, _ = true_front(problem)
    found = find_front(problem)
    assert found.exhaustive
    check_legal(problem, found)
    assert rows(found.scored.X) == rows(truth)
    assert found.on_front.all()


@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(
    rules=rule_sets,
    names=st.sampled_from([("runtime", "power"), ("runtime", "power", "noise")]),
    row=st.integers(0, 899),
)
def test_a_search_comes_close_to_it(
    rules: tuple[str, ...], names: tuple[str, ...], row: int
) -> None:
    problem = task(aims(*names), rules, start=everything()[row], settings=SEARCHING)
    _, values = true_front(problem)
    found = find_front(problem)
    assert not found.exhaustive
    check_legal(problem, found)
    assert nondominated(found.values).all()
    reference = reference_of(values, values)
    whole = hypervolume(values, reference).value
    assert hypervolume(found.values, reference).value >= 0.97 * whole


def test_conditions_beside_the_extremes_hold_everywhere() -> None:
    limits = (*aims("runtime", "power"), Target(name="noise", high=4.0, scale=5.0))
    problem = task(limits, outcome_rules=("power <= 200",))
    found = find_front(problem)
    predicted = problem.predict(found.scored.X)
    assert len(found) > 1
    assert (predicted["noise"] <= 4.0).all()
    assert (predicted["power"] <= 200).all()
    truth, _ = true_front(problem)
    assert rows(found.scored.X) == rows(truth)


def test_what_meets_no_condition_is_told_as_the_closest() -> None:
    limits = (*aims("runtime", "power"), Target(name="noise", high=-1.0, scale=5.0))
    found = find_front(task(limits))
    assert not found.meets
    assert 0 < len(found) <= 3
    assert not found.candidates().meets.any()


def test_rules_that_conflict_are_told() -> None:
    with pytest.raises(ConflictingRules):
        find_front(task(aims("runtime", "power"), ("a < 3", "a > 5")))


def test_nothing_to_move_is_a_front_of_one() -> None:
    found = find_front(task(aims("runtime", "power"), free=()))
    assert len(found) == 1
    assert found.exhaustive


def test_from_a_baseline_the_baseline_itself_is_on_the_front() -> None:
    start = everything()[431]
    problem = task(aims("runtime", "power"), start=start, proximity=True)
    found = find_front(problem)
    assert tuple(start) in rows(found.scored.X)
    assert (found.scored.proximity >= 0).all()
    # A larger change is there only for something that no smaller one reaches.
    assert nondominated(costs(problem, found.scored)).all()


def test_what_past_runs_do_not_support_is_beyond_the_front() -> None:
    from dataclasses import replace

    problem = replace(task(aims("runtime", "power")), supported=lambda X: np.asarray(X[:, 0] <= 6))
    found = find_front(problem)
    inside = found.scored.X[found.supported]
    assert (inside[:, 0] <= 6).all()
    assert (found.scored.X[~found.supported][:, 0] > 6).all()
    assert nondominated(found.values[found.supported]).all()


def test_layers_peel_one_front_after_the_other() -> None:
    values = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0], [1.0, 2.0], [2.0, 2.0]])
    assert [some.tolist() for some in layers(values, 1)] == [[0, 1, 2]]
    assert [some.tolist() for some in layers(values, 4)] == [[0, 1, 2], [3]]
    assert [some.tolist() for some in layers(values, 99)] == [[0, 1, 2], [3], [4]]
