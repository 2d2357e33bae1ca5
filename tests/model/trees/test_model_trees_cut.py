"""Ensembles cut down to a question, and kept."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from compass.model.base import Task, family
from compass.model.trees import flat
from compass.model.trees.cut import Cuts
from compass.settings import ForestSettings, Settings


def model():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(300, 4)).astype(float)
    settings = Settings(surrogate="forest", forest=ForestSettings(trees=10, depth=6))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return family("forest").fit(X, y, task=Task(), weight=None, seed=1, settings=settings), X


def fixed(a: float, b: float) -> np.ndarray:
    return np.array([a, np.nan, b, np.nan])


def test_the_same_values_are_cut_once() -> None:
    fitted, X = model()
    first = fitted.cuts.at(fixed(3, 1))
    assert fitted.cuts.at(fixed(3, 1)) is first
    assert fitted.cuts.at(fixed(3, 2)) is not first
    rows = X.copy()
    rows[:, 0], rows[:, 2] = 3, 1
    assert np.array_equal(flat.mean(first, rows), fitted.predict(rows))


def test_other_ways_to_write_a_value_are_the_same_value() -> None:
    fitted, _ = model()
    first = fitted.cuts.at(fixed(0.0, 1))
    assert fitted.cuts.at(fixed(-0.0, 1)) is first
    other = fixed(0.0, 1)
    other[1] = -np.nan
    assert fitted.cuts.at(other) is first


def test_what_was_not_asked_for_longest_goes_first() -> None:
    fitted, _ = model()
    sizes = [flat.specialise(fitted.forest, fixed(a, 1)).nodes for a in range(3)]
    cuts = Cuts(fitted.forest, nodes=sum(sizes) - 1)
    kept = [cuts.at(fixed(a, 1)) for a in range(2)]
    assert cuts.at(fixed(0, 1)) is kept[0]  # so that 1 is the oldest
    cuts.at(fixed(2, 1))
    assert cuts.at(fixed(0, 1)) is kept[0]
    assert cuts.at(fixed(1, 1)) is not kept[1]


def test_a_cut_larger_than_the_room_is_still_right() -> None:
    fitted, X = model()
    cuts = Cuts(fitted.forest, nodes=1)
    for a in range(3):
        rows = X.copy()
        rows[:, 0], rows[:, 2] = a, 1
        assert np.array_equal(flat.mean(cuts.at(fixed(a, 1)), rows), fitted.predict(rows))


def test_threads_may_ask_at_once() -> None:
    fitted, _ = model()
    cuts = Cuts(fitted.forest, nodes=2000)
    expected = [flat.specialise(fitted.forest, fixed(a, 1)).nodes for a in range(9)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: cuts.at(fixed(i % 9, 1)).nodes, range(300)))
    assert found == [expected[i % 9] for i in range(300)]


def test_cuts_are_not_saved() -> None:
    fitted, _ = model()
    before = set(fitted.arrays())
    fitted.cuts.at(fixed(1, 1))
    assert set(fitted.arrays()) == before
    assert "cuts" not in repr(fitted)
