"""Past runs in blocks: the nearest and all within reach, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from trust_reference import deviations, distance, mixed_rows, mixed_space

from compass.domain.space import Number, Space
from compass.trust import blocks as module
from compass.trust.blocks import Blocks
from compass.trust.distance import Scale, distances
from property_examples import examples

space = mixed_space()
seeds = st.integers(0, 2**31)


@examples(30)
@given(seeds, st.integers(1, 400), st.integers(1, 25))
def test_nearest_is_brute_force_with_repetitions_and_ties(seed: int, n: int, k: int) -> None:
    X, Q = mixed_rows(seed, n), mixed_rows(seed + 1, 15)
    spread = deviations(X, space)
    scale = Scale.learn(X, space)
    found = Blocks.build(scale.kind, scale.place(X)).nearest(scale.place(Q), k)
    for q, mean in zip(Q, found, strict=True):
        every = [distance(q, row, space, spread) for row in X]
        assert mean == pytest.approx(np.mean(sorted(every)[:k]), rel=1e-12)
        point = scale.place(q[np.newaxis])[:, 0]
        assert distances(scale.kind, scale.place(X), point) == pytest.approx(every, rel=1e-12)


def test_nearest_tells_close_neighbours_apart() -> None:
    rng = np.random.default_rng(1)
    plain = Space(parameters=tuple(Number(name=name, low=-9, high=9) for name in "ab"))
    X, Q = rng.normal(size=(3000, 2)), rng.normal(size=(2000, 2))
    scale = Scale.learn(X, plain)
    found = Blocks.build(scale.kind, scale.place(X)).nearest(scale.place(Q), 20)
    tree = cKDTree(X / X.std(axis=0))
    assert found == pytest.approx(tree.query(Q / X.std(axis=0), 20)[0].mean(axis=1), rel=1e-12)


def test_a_row_is_no_distance_away_from_its_repetitions() -> None:
    X = np.repeat(mixed_rows(1, 10), 30, axis=0)
    scale = Scale.learn(X, space)
    assert (Blocks.build(scale.kind, scale.place(X)).nearest(scale.place(X), 20) == 0).all()


def test_results_do_not_depend_on_threads(monkeypatch) -> None:
    monkeypatch.setattr(module, "_PAIRS", 1)
    X, Q = mixed_rows(1, 3000), mixed_rows(2, 300)
    scale = Scale.learn(X, space)
    rows, points = scale.place(X), scale.place(Q)
    blocks = Blocks.build(scale.kind, rows)
    alone = blocks.nearest(points, 20, threads=1)
    assert np.array_equal(alone, blocks.nearest(points, 20, threads=3))
    single = [blocks.nearest(points[:, [i]], 20)[0] for i in range(20)]
    assert np.array_equal(alone[:20], single)


@examples(15)
@given(st.integers(0, 2**31), st.integers(1, 500), st.floats(0, 4))
def test_one_pass_gives_the_nearest_and_all_within_reach(seed: int, n: int, reach: float) -> None:
    X, new = mixed_rows(seed, n), mixed_rows(seed + 1, 40)  # more than are compared together
    scale = Scale.learn(X, space)
    rows, points = scale.place(X), scale.place(new)
    blocks = Blocks.build(scale.kind, rows)
    mean, close = blocks.around(points, 7, reach)
    assert np.array_equal(mean, blocks.nearest(points, 7))
    for q, (position, apart) in enumerate(close):
        slow = distances(scale.kind, rows, points[:, q])
        inside = np.flatnonzero(slow * slow <= reach * reach * (1 + 1e-12))
        order = np.lexsort((inside, slow[inside].round(9)))
        if np.array_equal(np.sort(position), inside):  # not so where rounding decides
            assert sorted(apart) == pytest.approx(sorted(slow[inside]))
            assert np.array_equal(slow[position].round(9), slow[inside][order].round(9))
        else:
            odd = np.setxor1d(position, inside)
            assert slow[odd] == pytest.approx(reach)


def test_every_row_is_in_a_block_that_holds_it() -> None:
    X = mixed_rows(3, 1000)
    scale = Scale.learn(X, space)
    rows = scale.place(X)
    blocks = Blocks.build(scale.kind, rows)
    assert np.array_equal(np.sort(blocks.position), np.arange(1000))
    assert np.array_equal(blocks.rows, rows[:, blocks.position], equal_nan=True)
    block = np.arange(1000) // 64
    missing = np.isnan(blocks.rows)
    inside = (blocks.low[:, block] <= blocks.rows) & (blocks.rows <= blocks.high[:, block])
    assert (inside | missing).all()
    assert (blocks.gaps[:, block][missing] > 0).all()


def test_blocks_are_small_where_rows_are_many() -> None:
    rng = np.random.default_rng(0)
    plain = Space(parameters=tuple(Number(name=name, low=-9, high=9) for name in "abc"))
    X = rng.normal(size=(20_000, 3))
    scale = Scale.learn(X, plain)
    blocks = Blocks.build(scale.kind, scale.place(X))
    assert np.median(blocks.high - blocks.low) < 1.5  # all rows span about eight
