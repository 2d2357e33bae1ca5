"""Drift: distances, what chance does, and what kind of change it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ks_2samp

from compass.domain.answer import ColumnDrift
from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number, Space
from compass.learn.drift import drift, kolmogorov_smirnov, total_variation, verdict
from property_examples import examples

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64),
        Category(name="app", values=("amg", "comd", "lulesh")),
        Number(name="size", low=-10, high=10),
        Category(name="queue", values=("short", "long")),
    )
)
samples = arrays(np.float64, st.integers(1, 30), elements=st.integers(-4, 4).map(float))


def runs(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack(
        [
            rng.choice([1, 2, 4, 8, 64], n),
            rng.choice(3, n, p=[0.7, 0.25, 0.05]),
            rng.normal(size=n),
            rng.integers(0, 2, n),
        ]
    ).astype(np.float64)


@examples(60)
@given(samples, samples)
def test_the_distance_of_numbers_is_the_largest_gap(old: np.ndarray, new: np.ndarray) -> None:
    values = np.concatenate([old, new])
    truth = max(abs(float(np.mean(old <= v)) - float(np.mean(new <= v))) for v in values)
    assert kolmogorov_smirnov(old, new) == pytest.approx(truth, abs=1e-12)


def test_the_distance_of_numbers_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=500), rng.normal(0.3, 1.0, 200).round(1)
    assert kolmogorov_smirnov(old, new) == pytest.approx(ks_2samp(old, new).statistic)


@examples(60)
@given(samples, samples, st.randoms(use_true_random=False))
def test_a_weight_of_three_is_three_equal_runs(
    old: np.ndarray, new: np.ndarray, rng: object
) -> None:
    times = np.array([rng.randint(1, 3) for _ in old])  # type: ignore[attr-defined]
    weighted = kolmogorov_smirnov(old, new, times / times.sum())
    assert weighted == pytest.approx(kolmogorov_smirnov(np.repeat(old, times), new), abs=1e-12)


def test_the_distance_of_labels_is_the_most_that_any_set_of_labels_differs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
        sets = [[place for place in range(5) if code >> place & 1] for code in range(32)]
        truth = max(abs(one[places].sum() - other[places].sum()) for places in sets)
        assert total_variation(one, other) == pytest.approx(truth)


@pytest.mark.parametrize(("n", "m"), [(300, 40), (60, 60), (2000, 500)])
def test_what_chance_exceeds_is_exceeded_once_in_twenty_tables(n: int, m: int) -> None:
    rng = np.random.default_rng(1)
    tables, alarms, claims = 150, 0, 0
    for seed in range(tables):
        found = drift(runs(n, rng), runs(m, rng), SPACE, seed=seed)
        alarms += any(column.distance > column.expected for column in found)
        claims += any(column.drifted for column in found)
    # 5 % of 150 is 7.5; 15 or more has a chance below 1 %.
    assert claims <= alarms < 15


def test_runs_that_count_differently_raise_no_more_alarms() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for seed in range(150):
        old, new = runs(300, rng), runs(150, rng)
        found = drift(old, new, SPACE, seed=seed, new_weight=rng.exponential(size=150) ** 2)
        alarms += any(column.distance > column.expected for column in found)
    assert alarms < 20


def test_columns_that_changed_are_found_and_come_first() -> None:
    rng = np.random.default_rng(3)
    old, new = runs(1000, rng), runs(200, rng)
    new[:, 2] += 1.0
    new[:, 1] = rng.choice(3, 200, p=[0.2, 0.3, 0.5])
    found = drift(old, new, SPACE)
    assert [column.column for column in found if column.drifted] == ["app", "size"]
    assert [column.distance for column in found] == sorted(
        (column.distance for column in found), reverse=True
    )
    assert drift(old, new, SPACE) == found


def test_a_change_that_is_sure_but_small_is_no_drift() -> None:
    rng = np.random.default_rng(4)
    old, new = runs(50_000, rng), runs(50_000, rng)
    new[:, 2] += 0.1
    size = next(column for column in drift(old, new, SPACE) if column.column == "size")
    assert size.expected < size.distance < 0.1
    assert not size.drifted


def test_weights_tell_what_the_runs_stand_for() -> None:
    rng = np.random.default_rng(5)
    old, new = runs(4000, rng), runs(4000, rng)
    kept = np.flatnonzero((new[:, 3] == 0) | (rng.random(4000) < 0.2))
    weight = np.where(new[kept, 3] == 0, 1.0, 5.0)
    for given_weight, drifted in ((None, True), (weight, False)):
        found = drift(old, new[kept], SPACE, new_weight=given_weight)
        (queue,) = [column for column in found if column.column == "queue"]
        assert queue.drifted is drifted


def test_many_labels_raise_no_more_alarms() -> None:
    rng = np.random.default_rng(6)
    space = Space(parameters=(Category(name="user", values=tuple(f"u{i}" for i in range(80))),))
    share = rng.dirichlet(np.ones(80))
    alarms = 0
    for seed in range(100):
        old, new = (rng.choice(80, (n, 1), p=share).astype(np.float64) for n in (1000, 300))
        (column,) = drift(old, new, space, seed=seed)
        alarms += column.distance > column.expected
    assert alarms < 13
    other = rng.choice(80, (300, 1), p=share[::-1]).astype(np.float64)
    assert drift(old, other, space)[0].drifted


def test_one_run_and_constant_columns_say_nothing() -> None:
    rng = np.random.default_rng(7)
    old = runs(100, rng)
    assert not any(column.drifted for column in drift(old, old[:1], SPACE))
    flat = np.zeros((50, 4))
    assert all(column.distance < 1e-12 for column in drift(flat, flat[:5], SPACE))
    with pytest.raises(DataProblem, match="cannot be compared"):
        drift(old, old[:0], SPACE)


def changed(*names: str) -> tuple[ColumnDrift, ...]:
    return tuple(
        ColumnDrift(column=name, distance=0.5, expected=0.1, drifted=True) for name in names
    )


def errors(n: int, mean: float, rng: np.random.Generator) -> np.ndarray:
    return rng.lognormal(0, 1, n) * mean / np.exp(0.5)


def test_an_unchanged_law_is_hardly_ever_called_another_one() -> None:
    rng = np.random.default_rng(8)
    wrong = sum(
        verdict((), errors(200, 0.1, rng), errors(40, 0.1, rng), seed=seed)[0] == "law"
        for seed in range(200)
    )
    # 1 % of 200 is 2; 8 or more has a chance below 0.2 %.
    assert wrong < 8


def test_many_errors_are_judged_as_few_are() -> None:
    rng = np.random.default_rng(12)
    before = rng.uniform(0.0, 0.2, 6000)
    assert verdict((), before, rng.uniform(0.0, 0.2, 6000), seed=1)[0] == "none"
    assert verdict((), before, rng.uniform(0.0, 0.26, 6000), seed=1)[0] == "law"
    assert verdict((), before, rng.uniform(0.0, 0.26, 100), seed=1)[0] == "law"
    assert verdict((), before[:100], rng.uniform(0.0, 0.26, 6000), seed=1)[0] == "law"
    assert verdict((), rng.uniform(0.0, 0.26, 6000), before, seed=1)[0] == "none"


def test_another_law_is_noticed_and_told() -> None:
    rng = np.random.default_rng(9)
    before, after = errors(300, 0.1, rng), errors(100, 0.3, rng)
    kind, reason = verdict(changed("nodes"), before, after, seed=1)
    assert kind == "law"
    assert f"{after.mean():.1%}" in reason
    assert f"{before.mean():.1%}" in reason
    assert verdict(changed("nodes"), before, after, seed=1) == (kind, reason)


def test_an_error_that_is_surely_but_little_higher_is_no_other_law() -> None:
    rng = np.random.default_rng(10)
    before, after = rng.uniform(0.09, 0.11, 2000), rng.uniform(0.1, 0.12, 2000)
    assert verdict((), before, after, seed=1)[0] == "none"
    assert verdict((), before, 1.2 * after, seed=1)[0] == "law"


def test_other_inputs_are_named() -> None:
    same = np.full(20, 0.1)
    kind, reason = verdict(changed("a", "b", "c", "d", "e"), same, same, seed=1)
    assert kind == "inputs"
    assert "'a', 'b', 'c' and 2 more" in reason
    kind, reason = verdict(changed("a"), same, np.empty(0), seed=1)
    assert (kind, reason) == ("inputs", "the new runs have other values of 'a'")
    assert verdict((), same, same, seed=1)[0] == "none"
    assert verdict((), same, np.empty(0), seed=1)[0] == "none"


def test_a_single_bad_run_is_no_other_law() -> None:
    assert verdict((), np.full(50, 0.1), np.array([5.0]), seed=1)[0] == "none"
