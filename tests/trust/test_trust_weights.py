"""Percentiles, intervals and expected errors are those of the source that a sample stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from compass.domain.space import Number, Space
from compass.model.base import Task
from compass.model.trees import flat
from compass.settings import ForestSettings, Settings, TrustSettings
from compass.trust.change import calibrate_change
from compass.trust.expected import learn_errors, size_of
from compass.trust.interval import calibrate, units_needed
from compass.trust.perturb import grids
from compass.trust.rank import Ranks
from compass.trust.spread import Perturbed
from compass.trust.support import Support

SPACE = Space(
    parameters=(
        Number(name="a", low=0, high=1),
        Number(name="b", low=0, high=1, optional=True),
    )
)
QUICK = Settings(threads=1, forest=ForestSettings(trees=5), trust=TrustSettings(trees=4, models=3))

counted = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=25)


@given(rows=counted, percent=st.integers(1, 99))
@budget(max_examples=60, deadline=None)
def test_ranks_of_a_weight_of_three_are_those_of_three_rows(
    rows: list[tuple[int, int]], percent: int
) -> None:
    values, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    often = Ranks.of(np.repeat(values, weight.astype(int)))
    ours = Ranks.of(values, weight)
    asked = np.arange(-1, 11).astype(float)
    np.testing.assert_allclose(ours.below(asked), often.below(asked), atol=1e-12)
    assert ours.percentile(percent) == often.percentile(percent)


def test_the_distance_that_counts_as_close_is_a_weighted_percentile() -> None:
    rng = np.random.default_rng(1)
    X, valid = rng.uniform(size=(200, 2)), rng.uniform(0, 1.5, size=(60, 2))
    times = rng.integers(1, 6, 60)
    ones = np.ones(200)
    built = Support.build(
        X, valid, SPACE, QUICK.trust, 0, train_weight=ones, valid_weight=times.astype(float)
    )
    often = Support.build(X, np.repeat(valid, times, axis=0), SPACE, QUICK.trust, 0)
    plain = Support.build(X, valid, SPACE, QUICK.trust, 0)
    ask = rng.uniform(0, 1.5, size=(40, 2))
    assert built.tau == often.tau
    np.testing.assert_allclose(built.ood(ask), often.ood(ask), atol=1e-12)
    assert np.abs(built.ood(ask) - plain.ood(ask)).max() > 0.01
    # And what is far is told in standard deviations of the source.
    heavy = np.where(X[:, 0] < 0.5, 20.0, 1.0)
    scaled = Support.build(X, valid, SPACE, QUICK.trust, 0, train_weight=heavy)
    assert not np.allclose(scaled.novelty(ask), plain.novelty(ask))


def test_noise_and_sizes_are_those_of_repeated_rows() -> None:
    rng = np.random.default_rng(2)
    X, times = rng.uniform(size=(50, 2)), rng.integers(1, 7, 50)
    X[::5, 1] = SPACE["b"].none_code  # type: ignore[union-attr]
    y, weight = rng.normal(size=50), times.astype(float)
    ours, often = grids(X, SPACE, weight), grids(np.repeat(X, times, axis=0), SPACE)
    for one, other, plain in zip(ours, often, grids(X, SPACE), strict=True):
        assert one.spread == pytest.approx(other.spread)
        assert one.spread != pytest.approx(plain.spread, rel=1e-4)
    assert size_of(y, Task(), weight) == pytest.approx(size_of(np.repeat(y, times), Task()))


def test_perturbed_models_and_their_ranks_go_by_weight() -> None:
    # Every configuration has two outcomes: the models follow the heavier one.
    rng = np.random.default_rng(3)
    X = np.repeat(rng.uniform(size=(60, 2)), 2, axis=0)
    y = np.tile([1.0, 2.0], 60)
    valid, mass = rng.uniform(size=(30, 2)), rng.uniform(0.1, 10, 30)
    found = []
    for heavy in (1.0, 2.0):
        weight = np.where(y == heavy, 99.0, 1.0)
        perturbed = Perturbed.fit(
            X,
            {"t": y},
            {"t": Task()},
            SPACE,
            QUICK,
            1,
            X_valid=valid,
            weight=weight,
            valid_weight=mass,
        )
        said = flat.mean(perturbed.forests[0], X)[:, 0]
        assert np.abs(said - heavy).mean() < 0.1
        share = 99 / 100
        assert perturbed.scales[0] == pytest.approx(share * (1 - share))
        assert perturbed.sizes[0] == pytest.approx(0.01 * np.sqrt(share * (1 - share)))
        np.testing.assert_array_equal(perturbed.weight, mass)
        ranked = Ranks.of(perturbed.known, mass).below(perturbed.variance(valid))
        np.testing.assert_array_equal(perturbed.uq(valid), ranked)
        found.append(perturbed)
    assert not np.allclose(found[0].uq(valid), Ranks.of(found[0].known).below(found[0].known))


def test_expected_errors_are_weighted_means_of_errors() -> None:
    X, y = np.zeros((80, 2)), np.ones(80)
    said = np.where(np.arange(80) < 40, 1.0, 2.0)[:, None]  # half of the runs are predicted badly
    unseen = np.ones((1, 80), dtype=bool)
    for weight, expected in ((np.ones(80), 0.5), (np.where(said[:, 0] > 1, 9.0, 1.0), 0.9)):
        settings = QUICK.model_copy(update={"trust": TrustSettings(trees=60)})
        forest = learn_errors(
            X, y, [said], unseen, task=Task(), least=0.1, weight=weight, seed=1, settings=settings
        )
        assert flat.mean(forest, X[:1])[0, 0] == pytest.approx(expected, abs=0.06)


def test_an_interval_holds_its_share_of_the_source_not_of_the_sample() -> None:
    """Rows with large errors are sampled ten times as often: by the sample alone it is too wide."""
    rng = np.random.default_rng(5)
    inside = {"weighted": [], "ignored": []}  # type: dict[str, list[float]]
    for _ in range(60):
        hard = rng.random(40_000) < 0.2
        y = rng.normal(size=40_000) * np.where(hard, 5.0, 1.0)
        chance = np.where(hard, 0.05, 0.005)
        taken = rng.random(40_000) < chance
        v = int(taken.sum())
        for name, weight in (("weighted", 1 / chance[taken]), ("ignored", np.ones(v))):
            known = calibrate(y[taken], np.zeros(v), np.ones(v), weight, usual=0.0)
            half = known.half_width(np.ones(1), 0.9)[0]
            inside[name].append(float((np.abs(y) <= half).mean()))
    assert np.mean(inside["weighted"]) == pytest.approx(0.9, abs=0.012)
    assert np.mean(inside["ignored"]) > 0.95


def test_too_few_rows_are_counted_by_what_they_are_worth() -> None:
    y, spread = np.arange(50.0), np.ones(50)
    even = calibrate(y, np.zeros(50), spread, np.full(50, 7.0), usual=0.0)
    assert even.effective == pytest.approx(50)
    assert np.isfinite(even.quantile(0.9))
    # One row stands for as many runs as all others: the fifty are worth fewer than nine.
    weight = np.where(np.arange(50) == 0, 400.0, 4.0)
    few = calibrate(y, np.zeros(50), spread, weight, usual=0.0)
    assert few.effective == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert few.effective < units_needed(0.9) < few.units
    assert np.isinf(few.quantile(0.9))


def test_the_interval_of_a_change_weighs_pairs_by_both_runs() -> None:
    rng = np.random.default_rng(7)
    y = np.column_stack([np.zeros(80), np.where(np.arange(80) < 40, 1.0, 10.0)])
    heavy = np.where(y[:, 1:] > 1, 1.0, 30.0) * np.ones((1, 2))
    given = {"usual": 0.0}
    ignored = calibrate_change(
        y, np.zeros((80, 2)), rng.uniform(size=80), np.ones((80, 2)), **given
    )
    weighed = calibrate_change(y, np.zeros((80, 2)), rng.uniform(size=80), heavy, **given)
    assert ignored.quantile(0.9) == 10.0
    assert weighed.quantile(0.9) == 1.0
