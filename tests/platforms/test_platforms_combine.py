from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.platforms.combine import choose, combined, ratio_errors
from property_examples import examples


def predictions(seed: int, n: int = 24, m: int = 3) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, m))
    spreads = {"mean": 1.0, "good": 0.1, "fair": 0.5, "odd": 2.0}
    found = {name: truth + rng.normal(0, s, (n, m)) for name, s in spreads.items()}
    truth[rng.random((n, m)) < 0.2] = np.nan
    return found, truth


def test_the_combination_is_a_clipped_median_drawn_to_the_mean() -> None:
    found, _ = predictions(1)
    low, high = np.full(3, -0.5), np.full(3, 0.7)
    members = ("good", "fair", "odd")
    for line in range(24):
        for machine in range(3):
            middle = sorted(found[name][line, machine] for name in members)[1]
            drawn = 0.25 * middle + 0.75 * found["mean"][line, machine]
            got = combined(found, members, 0.25, low, high)[line, machine]
            assert got == pytest.approx(min(max(drawn, -0.5), 0.7))


@given(st.integers(0, 1000))
@examples(10)
def test_what_is_chosen_is_never_worse_than_all_on_what_it_was_judged_by(seed: int) -> None:
    found, truth = predictions(seed)
    names = np.repeat(list("abcdef"), 4)
    judge = ratio_errors(truth, names)
    low, high = np.full(3, -9.0), np.full(3, 9.0)
    chosen = choose(found, low, high, judge)
    assert chosen.error <= chosen.error_of_all + 1e-12
    got = judge(combined(found, chosen.members, chosen.share, low, high)).mean()
    assert got == pytest.approx(chosen.error)


def test_a_member_that_is_clearly_better_takes_over() -> None:
    found, truth = predictions(3, n=120)
    names = np.repeat([f"app{i}" for i in range(30)], 4)
    judge = ratio_errors(truth, names)
    low, high = np.full(3, -9.0), np.full(3, 9.0)
    chosen = choose(found, low, high, judge)
    assert (chosen.members, chosen.share) == (("good",), 1.0)
    every = [s for k in range(1, 5) for s in combinations(found, k)]
    least = min(judge(combined(found, s, 1.0, low, high)).mean() for s in every)
    assert chosen.error == pytest.approx(least)


def test_members_that_know_nothing_are_drawn_to_the_mean() -> None:
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 0.1, (60, 2))
    found = {
        "mean": np.zeros((60, 2)),
        "a": rng.normal(0, 2, (60, 2)),
        "b": rng.normal(0, 2, (60, 2)),
    }
    judge = ratio_errors(truth, np.repeat([f"app{i}" for i in range(15)], 4))
    chosen = choose(found, np.full(2, -9.0), np.full(2, 9.0), judge)
    assert chosen.members == ("mean",)


def test_errors_are_means_over_applications() -> None:
    truth = np.array([[0.0, 1.0], [0.0, np.nan], [0.0, 2.0]])
    found = np.array([[0.0, 1.5], [0.0, 9.0], [0.0, 1.0]])
    off = ratio_errors(np.where(np.arange(2) == 0, np.nan, truth), np.array(["a", "a", "b"]))(found)
    expected = [(0.5 + np.expm1(0.5)) / 2, (1.0 + 1 - np.exp(-1.0)) / 2]
    assert off == pytest.approx(expected)
