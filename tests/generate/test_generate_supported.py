"""Candidates that past runs support: which are found, and how others are moved towards them."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tasks import everything, model, task

from compass.domain.target import Target
from compass.generate.base import Bools, Floats
from compass.generate.score import ScoredCandidates, score
from compass.generate.supported import positions, towards_past_runs
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_distances
from compass.prepare.legal import legal_mask
from property_examples import examples

START = np.array([3.0, 4.0, 0.0, 2.0])


def case(observed: Floats, count: int = 1, free: tuple[int, ...] = (0, 1, 2, 3)) -> SearchTask:
    fitted, _ = model(0)
    return task(fitted, observed, START, Target(name="y", high=50.0), count=count, free=free)


def candidates(made: SearchTask, n: int) -> ScoredCandidates:
    return score(made, np.resize(everything(), (n, 4)))


@examples(40)
@given(st.sets(st.integers(0, 255), max_size=11), st.integers(1, 250))
def test_of_few_candidates_all_that_are_fine_are_found(some: set[int], n: int) -> None:
    made = case(everything()[:5])
    scored = candidates(made, n)
    chosen = [i for i in some if i < n]

    def fine(X: Floats) -> Bools:
        wanted = scored.X[chosen]
        return np.array([(x == wanted).all(axis=1).any() for x in X], dtype=bool)

    assert positions(made, scored, fine).tolist() == sorted(chosen)


def test_looking_ends_when_enough_were_found() -> None:
    made = case(everything()[:5], count=2)
    looked_at: list[int] = []

    def fine(X: Floats) -> Bools:
        looked_at.append(len(X))
        return np.ones(len(X), dtype=bool)

    found = positions(made, candidates(made, 900), fine)
    assert found.tolist() == [*range(len(found))]  # the best
    assert len(found) >= 2 * made.count  # different ones have to be among them
    assert sum(looked_at) < 900


def test_where_none_of_the_best_is_fine_the_others_are_sampled() -> None:
    made = case(everything()[:5])
    scored = candidates(made, 900)
    last = scored.X[700:]
    found = positions(made, scored, lambda X: np.array([(x == last).all(1).any() for x in X]))
    assert len(found) > 0
    assert (found >= 700).all()
    assert (np.diff(found) > 0).all()


def test_nothing_is_found_where_nothing_is_fine() -> None:
    made = case(everything()[:5])
    assert not len(positions(made, candidates(made, 300), lambda X: np.zeros(len(X), dtype=bool)))
    nothing = candidates(made, 1).take(np.empty(0, dtype=np.int64))
    assert not len(positions(made, nothing, lambda X: np.ones(len(X), dtype=bool)))


rows = st.lists(st.integers(0, 899), min_size=1, max_size=12)


@examples(40)
@given(rows, rows, st.sampled_from([(0, 1, 2, 3), (0, 3), (1,)]))
def test_what_is_moved_lies_between_a_candidate_and_a_past_run_near_it(
    past: list[int], best: list[int], free: tuple[int, ...]
) -> None:
    observed, X = everything()[past], everything()[best]
    made = case(observed, free=free)
    held = [j for j in range(4) if j not in free]
    found = towards_past_runs(made, X)
    assert len(np.unique(found, axis=0)) == len(found)
    reached = {x.tobytes() for x in found}
    for x in found:
        from_one = [
            (x[held] == one[held]).all()
            and any(((x == one) | (x == run)).all() for run in observed)
            for one in X[:4]
        ]
        assert any(from_one)
        assert all(legal_mask(made.space.parameters[j], x[[j]])[0] for j in range(4))
    # The nearest past run itself is reached, as far as columns may move.
    apart = column_distances(observed, X[0], made.geometry).sum(axis=1)
    whole = X[0].copy()
    near = observed[np.flatnonzero(apart == apart.min())]
    ends = []
    for run in near:
        whole = X[0].copy()
        whole[[*free]] = run[[*free]]
        ends.append((whole == X[0]).all() or whole.tobytes() in reached)
    assert any(ends)


def test_what_differs_most_moves_first() -> None:
    observed = np.array([[12.0, 8.0, 0.0, 2.0]])
    made = case(observed)
    found = towards_past_runs(made, START[None, :])
    # a differs by more standard deviations than b does.
    assert {tuple(x) for x in found} == {(12.0, 4.0, 0.0, 2.0), (12.0, 8.0, 0.0, 2.0)}


def test_values_that_nobody_may_set_are_not_taken_over() -> None:
    observed = np.array([[12.0, 5.0, 0.0, 2.0]])  # b is a power of two by now
    found = towards_past_runs(case(observed), START[None, :])
    assert {tuple(x) for x in found} == {(12.0, 4.0, 0.0, 2.0)}


def test_without_past_runs_there_is_nothing_to_move_towards() -> None:
    assert towards_past_runs(case(np.empty((0, 4))), START[None, :]).shape == (0, 4)
    held = replace(case(everything()[:3]), free=np.empty(0, dtype=np.int64))
    assert towards_past_runs(held, START[None, :]).shape == (0, 4)
