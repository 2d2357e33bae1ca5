"""The flat forest against scikit-learn and against itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.model.sklearn_forests import flattened

from compass.domain.errors import BadInput, EngineProblem
from compass.model.trees import flat, joined
from compass.model.trees.flat import FlatForest

modest = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**31)


def rows(seed: int, n: int, d: int) -> np.ndarray:
    """Rows with continuous columns, columns of few levels and a constant one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, ::2] = rng.integers(0, 5, size=X[:, ::2].shape)
    if d > 3:
        X[:, 3] = 1.0
    return X


def regressor(seed: int, n: int = 120, d: int = 5, trees: int = 8, depth: int = 7):
    X = rows(seed, n, d)
    y = X[:, 0] * X[:, -1] + np.sin(X[:, d // 2])
    return RandomForestRegressor(trees, max_depth=depth, random_state=seed % 1000).fit(X, y), X


@modest
@given(seeds, st.integers(1, 150), st.integers(1, 6), st.integers(1, 9), st.integers(1, 9))
def test_numbers_are_predicted_as_by_sklearn(seed, n, d, trees, depth) -> None:
    estimator, X = regressor(seed, n, d, trees, depth)
    forest = flattened(estimator)
    new = np.vstack([X, rows(seed + 1, 40, d)])
    mean, spread = flat.mean_spread(forest, new)
    np.testing.assert_allclose(mean[:, 0], estimator.predict(new), rtol=1e-12, atol=1e-14)
    assert np.array_equal(mean, flat.mean(forest, new))
    votes = np.array([tree.predict(new) for tree in estimator.estimators_])
    np.testing.assert_allclose(spread, votes.std(axis=0), rtol=1e-9, atol=1e-12)


@modest
@given(seeds, st.integers(2, 6), st.integers(2, 150), st.integers(1, 9))
def test_scores_are_those_of_sklearn(seed, classes, n, trees) -> None:
    X = rows(seed, n, 4)
    y = np.random.default_rng(seed).integers(0, classes, n)
    estimator = RandomForestClassifier(trees, max_depth=6, random_state=1).fit(X, y)
    forest = flattened(estimator)
    new = rows(seed + 1, 40, 4)
    mean, _ = flat.mean_spread(forest, new)
    np.testing.assert_allclose(mean, estimator.predict_proba(new), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(mean.sum(axis=1), 1)
    assert np.array_equal(mean, flat.mean(forest, new))


@modest
@given(seeds)
def test_inputs_at_a_threshold_go_where_sklearn_sends_them(seed) -> None:
    rng = np.random.default_rng(seed)
    # Numbers so large that neighbouring float32 values are whole units apart.
    X = 2.0**24 + rng.integers(0, 60, size=(80, 2)) + rng.choice([0.0, 0.1, 0.5], size=(80, 2))
    estimator = RandomForestRegressor(5, random_state=1).fit(X, rng.normal(size=80))
    forest = flattened(estimator)
    for feature in range(2):
        edges = flat.cell_edges(forest, feature)
        for shift in (edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), edges + 1):
            new = np.tile(X[0], (shift.size, 1))
            new[:, feature] = shift
            np.testing.assert_allclose(
                flat.mean(forest, new)[:, 0], estimator.predict(new), rtol=1e-12
            )


def test_thresholds_between_two_float32_values() -> None:
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1))
    threshold = (float(low) + float(high)) / 2 + 1e-12
    assert np.float32(threshold) == high  # rounding the threshold would send `high` left
    stump = FlatForest(
        feature=[0, -1, -1],
        threshold=[threshold, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0], [10.0], [20.0]],
        roots=[0],
        width=1,
    )
    X = np.array([[float(low)], [float(high)], [threshold], [np.nextafter(threshold, 0)]])
    # The last two are cast to `high` before they are compared, as scikit-learn does.
    assert flat.mean(stump, X)[:, 0].tolist() == [10.0, 20.0, 20.0, 20.0]


def test_results_do_not_depend_on_threads_or_batches(monkeypatch) -> None:
    monkeypatch.setattr(joined, "enough", lambda trees: 1)
    estimator, _ = regressor(3, 400, 6, 30)
    forest = flattened(estimator)
    X = rows(4, 5000, 6)
    alone, spread = flat.mean_spread(forest, X, threads=1)
    for threads in (2, 3, 7):
        assert np.array_equal(flat.mean(forest, X, threads=threads), alone)
        mean, other = flat.mean_spread(forest, X, threads=threads)
        assert np.array_equal(mean, alone)
        assert np.array_equal(other, spread)
    single = np.vstack([flat.mean(forest, X[i : i + 1]) for i in range(50)])
    assert np.array_equal(single, alone[:50])


def test_no_rows_give_no_predictions() -> None:
    forest = flattened(regressor(1)[0])
    assert flat.mean(forest, np.empty((0, 5))).shape == (0, 1)
    assert flat.mean_spread(forest, np.empty((0, 5)))[1].shape == (0,)


def test_strided_and_read_only_rows_are_accepted() -> None:
    estimator, X = regressor(1)
    forest = flattened(estimator)
    expected = flat.mean(forest, X)
    assert np.array_equal(flat.mean(forest, np.asfortranarray(X)), expected)
    X.flags.writeable = False
    assert np.array_equal(flat.mean(forest, X), expected)


@modest
@given(seeds, st.lists(st.sampled_from(["free", "seen", "edge", "far"]), min_size=5, max_size=5))
def test_a_specialised_forest_predicts_the_same(seed, how) -> None:
    estimator, X = regressor(seed)
    forest = flattened(estimator)
    rng = np.random.default_rng(seed)
    fixed = np.full(5, np.nan)
    for j, kind in enumerate(how):
        edges = flat.cell_edges(forest, j)
        if kind == "seen":
            fixed[j] = X[rng.integers(len(X)), j]
        elif kind == "edge" and edges.size:
            fixed[j] = rng.choice(edges)
        elif kind == "far":
            fixed[j] = rng.choice([-1e9, 1e9])
    part = flat.specialise(forest, fixed)
    held = ~np.isnan(fixed)
    new = rows(seed + 1, 60, 5)
    new[:, held] = fixed[held]
    assert np.array_equal(flat.mean(part, new), flat.mean(forest, new))
    assert np.array_equal(flat.mean_spread(part, new)[1], flat.mean_spread(forest, new)[1])
    assert not np.isin(part.feature, np.flatnonzero(held)).any()
    assert part.trees == forest.trees
    assert part.nodes <= forest.nodes
    flat.restore(part.arrays())  # sound
    if held.all():
        assert part.nodes == forest.trees


@modest
@given(seeds)
def test_a_restricted_forest_predicts_the_same_inside_the_box(seed) -> None:
    estimator, _ = regressor(seed)
    forest = flattened(estimator)
    low, high = np.sort(rows(seed + 2, 2, 5), axis=0)
    part = flat.restrict(forest, low, high)
    inside = np.clip(rows(seed + 1, 60, 5), low, high)
    assert np.array_equal(flat.mean(part, inside), flat.mean(forest, inside))
    assert part.nodes <= forest.nodes


def test_every_remaining_edge_can_be_crossed() -> None:
    estimator, X = regressor(5)
    forest = flattened(estimator)
    fixed = X[0].copy()
    fixed[4] = np.nan
    part = flat.specialise(forest, fixed)
    edges = flat.cell_edges(part, 4)
    assert edges.size
    assert np.array_equal(edges, np.unique(edges))
    assert set(edges) <= set(flat.cell_edges(forest, 4))
    points = np.concatenate([[edges[0] - 1], (edges[1:] + edges[:-1]) / 2, [edges[-1] + 1]])
    grid = np.tile(X[0], (points.size, 1))
    grid[:, 4] = points
    between = np.tile(X[0], (2000, 1))
    between[:, 4] = np.linspace(edges[0] - 1, edges[-1] + 1, 2000)
    # One point per cell shows every prediction that there is along the feature.
    assert set(flat.mean(part, between)[:, 0]) <= set(flat.mean(part, grid)[:, 0])


@modest
@given(seeds, st.integers(1, 5))
def test_joined_forests_predict_the_mean_over_contexts(seed, contexts) -> None:
    estimator, X = regressor(seed)
    forest = flattened(estimator)
    fixed = X[:contexts].copy()
    fixed[:, [1, 4]] = np.nan
    joined = flat.concatenate([flat.specialise(forest, row) for row in fixed])
    new = rows(seed + 1, 30, 5)
    one_by_one = []
    for row in fixed:
        full = np.where(np.isnan(row), new, row)
        one_by_one.append(estimator.predict(full))
    expected = np.mean(one_by_one, axis=0)
    np.testing.assert_allclose(flat.mean(joined, new)[:, 0], expected, rtol=1e-11, atol=1e-13)
    assert joined.trees == contexts * forest.trees
    flat.restore(joined.arrays())


def test_a_part_of_the_trees() -> None:
    estimator, X = regressor(2)
    forest = flattened(estimator)
    votes = np.array([tree.predict(X) for tree in estimator.estimators_])
    part = forest.only(2, 5)
    assert part.trees == 3
    np.testing.assert_allclose(flat.mean(part, X)[:, 0], votes[2:5].mean(axis=0), rtol=1e-12)


def test_forests_are_frozen() -> None:
    forest = flattened(regressor(2)[0])
    with pytest.raises(ValueError, match="read-only"):
        forest.threshold[0] = 1.0


def test_forests_that_do_not_fit_are_not_joined() -> None:
    small, large = (flattened(regressor(2, trees=trees)[0]) for trees in (3, 4))
    with pytest.raises(BadInput, match="agree in number"):
        flat.concatenate([small, large])
    with pytest.raises(BadInput, match="no forest"):
        flat.concatenate([])


def test_rows_and_boxes_of_another_width_are_refused() -> None:
    forest = flattened(regressor(2)[0])
    with pytest.raises(BadInput, match="5 features"):
        flat.mean(forest, np.zeros((3, 4)))
    with pytest.raises(BadInput, match="5 features"):
        flat.mean(forest, np.zeros(5))
    with pytest.raises(BadInput, match="5 features"):
        flat.specialise(forest, np.zeros(4))


def break_(name: str, forest: FlatForest) -> dict[str, np.ndarray]:
    arrays = {key: array.copy() for key, array in forest.arrays().items()}
    inner = int(np.flatnonzero(forest.feature >= 0)[0])
    match name:
        case "cycle":
            arrays["left"][inner] = inner
        case "outside":
            arrays["right"][inner] = forest.nodes
        case "column":
            arrays["feature"][inner] = forest.width
        case "root":
            arrays["roots"][0] = forest.nodes
        case "twice":
            arrays["roots"][1] = arrays["roots"][0]
        case "short":
            arrays["threshold"] = arrays["threshold"][:-1]
        case "values":
            arrays["value"] = arrays["value"][:-1]
        case "type":
            arrays["left"] = arrays["left"].astype(float)
        case "empty":
            arrays["roots"] = arrays["roots"][:0]
        case "edge":
            arrays["threshold"][inner] = np.nan
        case "half":
            arrays["left"][inner] = -1
        case "branching leaf":
            arrays["feature"][inner] = -1
    return arrays


@pytest.mark.parametrize(
    "name",
    [
        *("cycle", "outside", "column", "root", "twice", "short", "values", "type", "empty"),
        *("edge", "half", "branching leaf"),
    ],
)
def test_damaged_forests_are_refused(name: str) -> None:
    forest = flattened(regressor(2)[0])
    with pytest.raises(EngineProblem, match="damaged"):
        flat.restore(break_(name, forest))


@pytest.mark.parametrize(
    "damage",
    [
        {"slot": np.array([0] * 7 + [1])},
        {"slot": np.array([0] * 7 + [-1])},
        {"slot": np.array([0] * 7 + [2**63 - 1])},
        {"slot": np.array([0] * 7 + [2**63 - 2**20])},
        {"width": np.array([0])},
        {"width": np.array([2.0])},
        {"divisor": np.array([1e-300])},
        {"offset": np.array([1e200])},
        {"link": np.array(["exp"]), "offset": np.array([1e3])},
        {"slot": np.array([], dtype=np.int64)},
        {"offset": np.array([np.inf])},
        {"offset": np.array([])},
        {"link": np.array(["probit"])},
        {"link": np.array([1])},
        {"link": np.array(["sigmoid"]), "offset": np.zeros(2)},
        {"divisor": np.array([0.0])},
        {"divisor": np.array([-1.0])},
        {"divisor": np.array([np.nan])},
        {"divisor": np.array([np.inf])},
        {"single": np.array([True, False])},
    ],
    ids=lambda damage: f"{damage}",
)
def test_sums_that_make_no_sense_are_refused(damage: dict[str, np.ndarray]) -> None:
    forest = flattened(regressor(2)[0])
    flat.restore(forest.arrays())
    with pytest.raises(EngineProblem, match="damaged"):
        flat.restore(forest.arrays() | damage)


def test_positions_that_do_not_fit_are_not_wrapped_around() -> None:
    parts = {
        "threshold": [0.5, 0, 0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "value": [[1.5], [1.0], [2.0]],
        "roots": [0],
        "width": 1,
    }
    FlatForest(feature=[0, -1, -1], **parts)
    for wrong in (2**32, -(2**32), 2**31):
        with pytest.raises(ValueError, match="out of range"):
            FlatForest(feature=[wrong, -1, -1], **parts)


def test_leaves_without_a_number_are_refused() -> None:
    arrays = flattened(regressor(2)[0]).arrays()
    value = arrays["value"].copy()
    value[-1] = np.nan  # the last node of the last tree is a leaf
    with pytest.raises(EngineProblem, match="damaged"):
        flat.restore(arrays | {"value": value})


def test_a_forest_that_lacks_arrays_is_refused() -> None:
    arrays = flattened(regressor(2)[0]).arrays()
    del arrays["roots"]
    with pytest.raises(EngineProblem, match="lacks roots"):
        flat.restore(arrays)


LATER = ("slot", "offset", "divisor", "link", "single")


def test_engines_saved_before_there_was_boosting_hold_forests() -> None:
    estimator, X = regressor(2)
    forest = flattened(estimator)
    old = {name: array for name, array in forest.arrays().items() if name not in LATER}
    again = flat.restore(old)
    assert np.array_equal(flat.mean(again, X), flat.mean(forest, X))
    assert (again.divisor, again.link, again.single) == (forest.trees, "identity", True)
    half = forest.arrays()
    del half["offset"]
    with pytest.raises(EngineProblem, match="lacks offset"):
        flat.restore(half)


def test_sums_with_slots_offsets_and_links() -> None:
    # Two trees that add to one column each: x <= 0 says -1 or 2, x <= 1 says 3 or 5.
    def sums(link: str) -> FlatForest:
        return FlatForest(
            feature=[0, -1, -1, 0, -1, -1],
            threshold=[0, 0, 0, 1, 0, 0],
            left=[1, -1, -1, 4, -1, -1],
            right=[2, -1, -1, 5, -1, -1],
            value=[[0.0], [-1.0], [2.0], [0.0], [3.0], [5.0]],
            roots=[0, 3],
            width=1,
            slot=[1, 0],
            offset=[10.0, 20.0],
            divisor=2.0,
            link=link,
        )

    X = np.array([[0.0], [0.5], [1.5]])
    raw = np.array([[11.5, 19.5], [11.5, 21.0], [12.5, 21.0]])
    assert np.array_equal(flat.mean(sums("identity"), X), raw)
    shares = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    for link, expected in (("exp", np.exp(raw)), ("softmax", shares)):
        forest = flat.restore(sums(link).arrays())
        np.testing.assert_allclose(flat.mean(forest, X), expected, rtol=1e-12)
        assert np.array_equal(flat.raw(forest, X), raw)
        assert np.array_equal(flat.mean_spread(forest, X)[0], flat.mean(forest, X))


def test_two_scores_of_one_sum() -> None:
    stump = FlatForest(
        feature=[0, -1, -1],
        threshold=[0.5, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0], [-800.0], [2.0]],
        roots=[0],
        width=1,
        link="sigmoid",
    )
    said = flat.mean(stump, np.array([[0.0], [1.0]]))
    assert stump.outputs == 2
    assert said[0].tolist() == [1.0, 0.0]  # too small for a float64, and no warning
    np.testing.assert_allclose(said[1], [1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2))])


def test_inputs_compared_as_float64() -> None:
    threshold = 0.1
    arrays = FlatForest(
        feature=[0, -1, -1],
        threshold=[threshold, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0], [10.0], [20.0]],
        roots=[0],
        width=1,
        single=False,
    ).arrays()
    X = np.array([[threshold], [np.nextafter(threshold, 1)], [np.nextafter(threshold, 0)]])
    double = flat.restore(arrays)
    assert flat.mean(double, X)[:, 0].tolist() == [10.0, 20.0, 10.0]
    for x, expected in zip(X, (10.0, 20.0, 10.0), strict=True):
        assert flat.specialise(double, x).value.tolist() == [[expected]]
    # float32(0.1) is above 0.1: cast, all three go right.
    single = flat.restore(arrays | {"single": np.array([True])})
    assert flat.mean(single, X)[:, 0].tolist() == [20.0, 20.0, 20.0]
    assert flat.specialise(single, X[2]).value.tolist() == [[20.0]]


def test_values_too_large_for_float32_count_as_infinite() -> None:
    forest = flattened(regressor(2)[0])
    fixed = np.full(5, 1e300)
    assert np.array_equal(
        flat.mean(flat.specialise(forest, fixed), fixed[None, :]), flat.mean(forest, fixed[None, :])
    )


def test_sums_are_not_joined_as_means() -> None:
    forest = flattened(regressor(2)[0])
    sums = flat.restore(forest.arrays() | {"divisor": np.array([1.0])})
    with pytest.raises(BadInput, match="vote"):
        flat.concatenate([sums, sums])


def test_children_before_their_parents_are_refused() -> None:
    upside_down = FlatForest(
        feature=[-1, -1, 0],
        threshold=[0, 0, 0.5],
        left=[-1, -1, 0],
        right=[-1, -1, 1],
        value=[[1.0], [2.0], [1.5]],
        roots=[2],
        width=1,
    )
    with pytest.raises(EngineProblem, match="damaged"):
        flat.restore(upside_down.arrays())
