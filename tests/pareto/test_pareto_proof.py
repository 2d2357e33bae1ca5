"""Points are proved that enumeration finds undominated, and no others."""

import numpy as np
import pytest
from pareto_tasks import aims, everything, task

from compass.generate.score import score
from compass.pareto.front import nondominated
from compass.pareto.proof import complete, prove_points
from compass.pareto.search import costs
from compass.testing import search_tasks


@pytest.mark.parametrize("proximity", [False, True])
def test_a_point_is_proved_exactly_if_nothing_dominates_it(proximity: bool) -> None:
    problem = task(
        aims("runtime", "power"), ("a * b <= 32",), proximity=proximity, start=everything()[433]
    )
    scored = score(problem, everything())
    legal = scored.take(scored.violation == 0)
    first = nondominated(costs(problem, legal))
    rng = np.random.default_rng(1)
    inside = legal.X[rng.permutation(np.flatnonzero(first))[:2]]
    behind = legal.X[rng.permutation(np.flatnonzero(~first))[:2]]
    found = prove_points(problem, np.concatenate([inside, behind]), seconds=60)
    assert found.proved == (True,) * 2 + (False,) * 2
    assert found.told.proved == 2
    assert len(found.better) == 2
    for x, other in zip(behind, found.better, strict=True):
        own, new = costs(problem, score(problem, np.stack([x, other])))
        assert (new <= own + 1e-9).all()
        assert (new < own).any()


def test_a_maximised_outcome_is_bounded_from_below() -> None:
    problem = task(aims("runtime", "-power"))
    scored = score(problem, everything())
    front = scored.X[nondominated(scored.values)][:3]
    assert prove_points(problem, front, seconds=60).proved == (True,) * 3


def test_without_time_nothing_is_claimed() -> None:
    problem = task(aims("runtime", "power"))
    found = prove_points(problem, everything()[:5], seconds=0)
    assert found.proved == (None,) * 5
    assert found.told.cut


def test_a_model_without_trees_is_told() -> None:
    problem = search_tasks.case("minimise").task
    found = prove_points(problem, problem.start[None, :], seconds=5)
    assert found.proved == (None,)
    assert "not made of trees" in found.told.reason


def test_what_was_tried_in_full_needs_no_proof() -> None:
    told = complete(3)
    assert told.complete
    assert told.proved == told.tried == 3
