"""Measures of quality against what they must be by definition."""

import numpy as np
import pytest

from compass.domain.errors import BadInput, UnknownName
from compass.domain.space import Category, Number, Role, Space
from compass.synth.base import Floats
from compass.synth.quality.dissimilarity import angles, dissimilarity, principal, salient
from compass.synth.quality.divergence import kl, mean_kl, symmetric_kl
from compass.synth.quality.efficiency import best, efficiencies
from compass.synth.quality.judge import judge
from compass.synth.quality.predictive import global_utility, two_sample_auc
from compass.synth.quality.privacy import closeness
from compass.synth.quality.render import html, markdown
from compass.synth.quality.sdquality import column_shapes, pair_trends, sd_quality
from compass.synth.quality.tabsyndex import (
    basic_statistics,
    log_correlation,
    pmse_index,
    support_coverage,
)

SPACE = Space(
    parameters=(
        Number(name="x", low=-10, high=10),
        Number(name="z", low=-10, high=10),
        Category(name="y", role=Role.OUTCOME, values=("a", "b")),
    )
)


def rows(n: int = 1000, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.normal(size=n)
    return np.column_stack([x, 0.7 * x + z, (x + 0.3 * z > 0).astype(float)])


def test_the_divergence_of_two_shares_is_that_of_the_formula() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    assert kl(p, q) == pytest.approx(0.5 * np.log(0.5 / 0.9) + 0.5 * np.log(0.5 / 0.1))
    assert symmetric_kl(np.arange(500.0), np.arange(500.0)) == 0.0


def test_shifted_rows_diverge_more() -> None:
    a = rows()
    near, far = (
        mean_kl(SPACE, a, rows(seed=1)),
        mean_kl(SPACE, a, rows(seed=1) + np.array([1.0, 0, 0])),
    )
    assert near < 0.03 < far


def test_an_angle_to_a_subspace_is_that_of_plane_geometry() -> None:
    axis = np.array([[np.cos(0.4), 0.0, np.sin(0.4)]])
    plane = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert angles(axis, plane) == pytest.approx([0.4])


def test_salient_components_hold_nine_tenths_of_the_variance() -> None:
    assert salient(np.array([6.0, 3.0, 1.0])) == 2
    assert salient(np.array([5.0, 3.0, 2.0])) == 3
    assert salient(np.zeros(3)) == 1
    variance, axes = principal(rows()[:, :2] * np.array([3.0, 1.0]))
    assert variance[0] > variance[1]
    assert axes @ axes.T == pytest.approx(np.eye(2))


@pytest.mark.parametrize("reading", ["divergence", "eigenvalue"])
def test_the_floor_of_dissimilarity_is_one(reading: str) -> None:
    assert dissimilarity(SPACE, rows(), rows(), reading) == pytest.approx(1.0, abs=1e-6)  # type: ignore[arg-type]
    assert dissimilarity(SPACE, rows(), rows(seed=1), reading) >= 1.0  # type: ignore[arg-type]


def test_dissimilarity_hardly_sees_shuffled_labels_while_models_fail() -> None:
    """The blind spot: what labels have to do with other columns is lost, directions remain."""
    wide = Space(
        parameters=(
            *(Number(name=f"x{k}", low=-10, high=10) for k in range(8)),
            Category(name="y", role=Role.OUTCOME, values=("a", "b")),
        )
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8)) * np.linspace(1, 3, 8) + rng.normal(size=(2000, 1)) * 4
    real = np.column_stack([X, (X[:, 0] > X[:, 1]).astype(float)])
    shuffled = real.copy()
    shuffled[:, -1] = rng.permutation(shuffled[:, -1])
    test = real[1000:]
    found = best(efficiencies(wide, "y", real[:1000], shuffled[:1000], test))
    assert found.real > 0.95
    assert found.synthetic < 0.65
    assert dissimilarity(wide, real[:1000], shuffled[:1000]) < 1.2


def test_the_quality_score_of_the_same_rows_is_one_by_either_definition() -> None:
    assert sd_quality(SPACE, rows(), rows()) == pytest.approx(1.0)
    assert sd_quality(SPACE, rows(), rows(), "own-bin") == pytest.approx(1.0)


def test_column_shapes_are_those_of_the_formulas() -> None:
    one = SPACE.select(["x"])
    a, b = np.arange(100.0)[:, None], np.arange(50.0, 150.0)[:, None]
    assert column_shapes(one, a, b) == pytest.approx(0.5)
    label = SPACE.select(["y"])
    shares = [np.repeat([0.0, 1.0], split)[:, None] for split in ([80, 20], [50, 50])]
    assert column_shapes(label, *shares) == pytest.approx(0.7)


def test_pairs_of_numbers_are_compared_by_their_correlation() -> None:
    two = SPACE.select(["x", "z"])
    x = np.linspace(-1, 1, 101)
    assert pair_trends(two, np.column_stack([x, x]), np.column_stack([x, -x])) == pytest.approx(0)


def test_a_shift_hardly_shows_where_each_table_has_its_own_bins() -> None:
    moved = rows() + np.array([4.0, 4.0, 0.0])
    assert pair_trends(SPACE, rows(), moved, "own-bin") == pytest.approx(1.0)
    assert pair_trends(SPACE, rows(), moved, "shared-bin") < 0.6


def test_models_tell_different_rows_and_do_not_tell_like_ones() -> None:
    assert two_sample_auc(rows(), rows(seed=1)) == pytest.approx(0.5, abs=0.06)
    assert two_sample_auc(rows(), rows(seed=1) + np.array([3.0, 0, 0])) > 0.95


def test_utility_is_lost_where_columns_no_longer_belong_together() -> None:
    loose = np.column_stack(
        [np.random.default_rng(k).permutation(c) for k, c in enumerate(rows().T)]
    )
    assert global_utility(SPACE, rows(), rows(seed=1), rows(seed=2)) > 0.9
    assert global_utility(SPACE, rows(), loose, rows(seed=2)) < 0.1


def test_copies_are_found() -> None:
    learnt = rows()
    assert closeness(SPACE, learnt, learnt[:50]).copies == 1.0
    assert closeness(SPACE, learnt, learnt[:50]).median == pytest.approx(0.0, abs=1e-6)
    other = closeness(SPACE, learnt, rows(seed=1))
    assert other.copies == 0.0
    by_hand = np.sqrt(
        ((rows(seed=1)[:, None, :2] - learnt[None, :, :2]) ** 2 / learnt[:, :2].var(axis=0)).sum(-1)
        + 2.0 * (rows(seed=1)[:, None, 2] != learnt[None, :, 2])
    ).min(axis=1)
    assert other.median == pytest.approx(np.median(by_hand))


def test_the_parts_of_tabsyndex_are_one_for_the_same_rows() -> None:
    a = rows()
    assert basic_statistics(a, a) == log_correlation(a, a) == support_coverage(a, a) == 1.0
    assert 0 < pmse_index(SPACE, a, a) <= 1
    assert basic_statistics(a, a * 2) < 0.6
    assert support_coverage(a, a[a[:, 0] > 0]) < 0.8


def test_efficiency_is_what_models_reach_on_real_rows() -> None:
    found = efficiencies(SPACE, "y", rows(), rows(seed=1), rows(seed=2))
    assert [one.model for one in found] == ["random forest", "decision tree", "logistic"]
    assert all(one.real > 0.9 and abs(one.gap) < 0.05 for one in found)
    numbers = efficiencies(SPACE, "z", rows(), rows(seed=1), rows(seed=2))
    assert {one.measure for one in numbers} == {"mean squared error"}
    assert best(numbers).real == min(one.real for one in numbers)


def test_a_report_has_every_measure_beside_its_floor() -> None:
    report = judge(SPACE, rows(400), rows(400, 1), rows(200, 2))
    assert report.target == "y"
    assert len({one.name for one in report.measures}) == len(report.measures) == 16
    assert all(one.floor is not None for one in report.measures)
    page, text = html(report), markdown(report)
    assert "<script" not in page
    assert page.count("<circle") == 800
    assert "| dissimilarity |" in text


def test_too_few_rows_and_unknown_targets_are_refused() -> None:
    with pytest.raises(BadInput, match="5 synthetic rows"):
        judge(SPACE, rows(100), rows(5), rows(100))
    with pytest.raises(UnknownName):
        judge(SPACE, rows(100), rows(100), rows(100), "speed")


def odd_runs(n: int, shift: float, rng: np.random.Generator) -> Floats:
    shares = [0.3, 0.3, 0.4] if shift else [0.5, 0.3, 0.2]
    app = rng.choice(["amg", "ft", "lu"], n, p=shares)
    nodes = rng.integers(1, 9, n).astype(float)
    time = 100 / nodes * (1 + (app == "ft")) + rng.normal(0, 3, n) + shift
    return np.column_stack([np.searchsorted(["amg", "ft", "lu"], app), nodes, time])


def test_the_scores_are_those_that_sdmetrics_gives() -> None:
    """As the report of SDMetrics 0.32.0 says of the same rows, its thresholds set to 0."""
    rng = np.random.default_rng(11)
    real, made = odd_runs(200, 0, rng), odd_runs(150, 9, rng)
    columns = Space(
        parameters=(
            Category(name="app", values=("amg", "ft", "lu")),
            Number(name="nodes", low=1, high=8, step=1),
            Number(name="time", low=-1e3, high=1e3),
        )
    )
    assert column_shapes(columns, real, made) == pytest.approx(0.8266666666666667)
    assert pair_trends(columns, real, made, "own-bin") == pytest.approx(0.7958639119147884)
    assert sd_quality(columns, real, made, "own-bin") == pytest.approx(0.8112652892907275)
