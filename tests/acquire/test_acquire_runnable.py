"""What every proposed run has to be: legal, apart from others, and known to be a repeat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from compass.acquire.runnable import allowed, spaced
from compass.domain.constraint import Constraint
from compass.domain.space import Number, Space
from compass.engine.rules import compiled
from compass.prepare.geometry import Geometry
from conftest import ROLES, cluster_columns
from property_examples import examples

SPACE = Space(parameters=(Number(name="a", low=0, high=8, step=2), Number(name="b", low=0, high=9)))


def test_allowed_means_legal_and_obeying_the_rules() -> None:
    rules = compiled([Constraint(text="a <= b")], SPACE, SPACE.names)
    X = np.array([[2.0, 5.0], [3.0, 5.0], [6.0, 5.0], [2.0, 11.0]])
    assert allowed(SPACE, rules, X).tolist() == [True, False, False, False]
    assert allowed(SPACE, (), X).tolist() == [True, False, True, False]


def test_what_is_not_moved_may_be_off_the_grid() -> None:
    X = np.array([[3.0, 5.0], [3.0, 11.0]])
    assert allowed(SPACE, (), X, [1]).tolist() == [True, False]
    assert allowed(SPACE, (), X, []).tolist() == [True, True]


@examples(80)
@given(st.integers(0, 10_000), st.integers(0, 9), st.integers(0, 3), st.floats(0, 2))
def test_spaced_keeps_the_first_of_near_copies(seed: int, n: int, k: int, least: float) -> None:
    rng = np.random.default_rng(seed)
    X, beside = rng.integers(0, 5, (n, 2)) / 2.0, rng.integers(0, 5, (k, 2)) / 2.0
    geometry = Geometry(np.ones(2), np.ones(2), np.zeros(2, dtype=bool), np.full(2, np.nan))
    kept: list[int] = []
    for i in range(n):
        others = [*beside, *X[kept]]
        if all(np.abs(X[i] - other).sum() > least for other in others):
            kept.append(i)
    assert spaced(X, geometry, least, beside) == kept


@pytest.mark.parametrize("keep", [None, 0.3])
def test_all_past_runs_are_known_learnt_from_or_not(keep: float | None) -> None:
    data = cp.read(cluster_columns(120)).roles(**ROLES)
    changed = {} if keep is None else {"keep": keep}
    store = cp.Compass(data, settings=cp.Settings(surrogate="forest", **changed)).store
    names = (*ROLES["context"], *ROLES["knobs"])
    made, X = store.view_of(names).all_runs, store.everything.columns_of(names)
    assert len(X) == 120
    assert made.known(X).all()
    same = (X[:, None, :] == X[None, :, :]).all(axis=2)
    for i in (0, 50, 119):
        assert made.rows(X[i]) == np.flatnonzero(same[i]).tolist()
    assert made.count(X).tolist() == same.sum(axis=1).tolist()
    other = X[:1] + 0.5
    assert not made.known(other).any()
    assert made.rows(other[0]) == []
