"""Adjusted comparisons: pairs that really cross a move, and what counts as support for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.trust.distance import CATEGORY, OPTIONAL
from compass.trust.pairs.adjusted import GATHERED, LEAST, Adjusted, adjusted, crossing
from property_examples import examples

NUMBER = 0
KINDS = np.array([CATEGORY, NUMBER, NUMBER, OPTIONAL])  # app, size, cores, gpus
SIZED = np.array([1])


def runs(n: int, seed: int) -> np.ndarray:
    """Coordinates [4, n] of runs; a fifth of them have no GPUs, which is NaN."""
    rng = np.random.default_rng(seed)
    placed = rng.normal(0, 1, (4, n))
    placed[0] = rng.integers(0, 2, n)
    placed[3, rng.random(n) < 0.2] = np.nan
    return placed


def apart(placed: np.ndarray, i: int, point: np.ndarray, columns: list[int]) -> float:
    """The square of how far a run is from a point, column by column."""
    total = 0.0
    for j in columns:
        a, b = placed[j, i], point[j]
        if KINDS[j] == CATEGORY or np.isnan(a) or np.isnan(b):
            total += float(not (a == b or (np.isnan(a) and np.isnan(b))))
        else:
            total += (a - b) ** 2
    return total


def fits(value: float, end: float, other: float) -> bool:
    """Whether a value is at this end of a move rather than at the other one."""
    if np.isnan(end) or np.isnan(other):
        return bool(np.isnan(value)) if np.isnan(end) else value == end
    near = abs(value - end) <= max(0.5 * abs(end - other), 1.0)
    return near and abs(value - end) < abs(value - other)


ends = st.sampled_from([-1.5, -0.4, 0.0, 0.3, 2.0])


@examples(60)
@given(st.integers(0, 9999), st.integers(0, 300), ends, ends)
def test_pairs_cross_the_move_in_one_context_and_no_run_is_in_two(
    seed: int, n: int, before: float, after: float
) -> None:
    placed = runs(n, seed)
    old, new = np.array([1.0, 0.2, before, 0.0]), np.array([1.0, 0.2, after, 0.0])
    if before == after:
        return
    among = np.flatnonzero(placed[0] == 1)
    found = crossing(KINDS, placed, among, old, new, 2, SIZED)
    used = [*found.old.tolist(), *found.new.tolist()]
    assert len(used) == len(set(used))
    sized = [int(i) for i in among if abs(placed[1, i] - 0.2) <= 1]
    sides = [
        [i for i in sized if fits(placed[2, i], end, other)]
        for end, other in ((before, after), (after, before))
    ]
    for rows, all_of_them in zip((found.old, found.new), sides, strict=True):
        assert {*rows.tolist()} <= {*all_of_them}
        # Where there are many, those that are most like the suggestion in everything else.
        ranked = sorted(all_of_them, key=lambda i: apart(placed, i, new, [0, 1, 3]))[:GATHERED]
        assert {*rows.tolist()} <= {*ranked}
    assert len(found.new) == min(*map(len, sides), GATHERED)


def test_every_run_gets_the_partner_that_is_most_like_it() -> None:
    placed = np.array([[0.0] * 4, [0.0] * 4, [-1.0, -1.0, 1.0, 1.0], [0.0, 5.0, 5.1, 0.1]])
    old, new = np.array([0.0, 0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])
    found = crossing(KINDS, placed, np.arange(4), old, new, 2, SIZED)
    assert {*zip(found.old.tolist(), found.new.tolist(), strict=True)} == {(0, 3), (1, 2)}


@pytest.mark.parametrize(("before", "after"), [(0.0, 1.0), (1.0, 0.0)])
def test_labels_are_crossed_from_one_to_the_other(before: float, after: float) -> None:
    placed = runs(80, 4)
    old, new = np.array([before, 0, 0, 0]), np.array([after, 0, 0, 0])
    found = crossing(KINDS, placed, np.arange(80), old, new, 0, SIZED)
    assert len(found.old) > 5
    assert (placed[0, found.old] == before).all()
    assert (placed[0, found.new] == after).all()


def test_to_leave_a_value_out_is_crossed_by_runs_that_have_none() -> None:
    placed = runs(200, 5)
    placed[3, ::2] = 0.5
    old, new = np.array([0, 0, 0, 0.5]), np.array([0, 0, 0, np.nan])
    found = crossing(KINDS, placed, np.arange(200), old, new, 3, SIZED)
    assert len(found.old) > 5
    assert (placed[3, found.old] == 0.5).all()
    assert np.isnan(placed[3, found.new]).all()


def test_no_pairs_where_all_runs_are_on_one_side() -> None:
    placed = runs(50, 6)
    placed[2] = 0.0
    old, new = np.array([1.0, 0, 0.0, 0]), np.array([1.0, 0, 3.0, 0])
    assert len(crossing(KINDS, placed, np.arange(50), old, new, 2, SIZED).new) == 0


def judged(
    claimed: np.ndarray, measured: np.ndarray, *, expected: float = 1.0, minor: float = 0.05
) -> Adjusted:
    return adjusted(claimed, measured, expected, minor, agreement=2 / 3)


def claims(n: int = 30, seed: int = 0) -> np.ndarray:
    """What a model claims of moves that differ in size."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, n)


@given(st.floats(-4, 4), st.integers(LEAST, 40))
def test_without_noise_what_is_there_has_to_be_from_half_to_twice_of_what_is_claimed(
    share: float, n: int
) -> None:
    if min(abs(share - 0.5), abs(share - 2)) < 1e-6:
        return
    claimed = claims(n)
    found = judged(claimed, share * claimed)
    assert found.supported == (0.5 < share < 2)
    assert found.pairs == n
    assert found.agreeing == (n if share > 0 else 0)
    assert found.median == pytest.approx(float(np.median(share * claimed)))


def test_how_many_agree_is_counted_and_weighed_by_what_is_claimed() -> None:
    claimed = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1, -0.1])
    measured = np.array([1.0, 0.9, 1.1, 1.0, 1.2, 0.8, -0.2, 0.3])
    found = judged(claimed, measured)
    assert found.agreeing == 6
    assert found.agree == pytest.approx(6 / 6.2)
    assert found.supported


def shares(truth: float, *, n: int, noise: float, draws: int = 400) -> float:
    """How often a model that claims moves of about 1 is supported by noisy runs of a law."""
    rng = np.random.default_rng(7)
    supported = 0
    for _ in range(draws):
        claimed = rng.uniform(0.5, 1.5, n)
        supported += judged(claimed, truth * claimed + rng.normal(0, noise, n)).supported
    return supported / draws


def test_a_model_that_is_right_is_supported() -> None:
    assert shares(1.0, n=12, noise=0.3) > 0.95
    assert shares(1.0, n=40, noise=0.8) > 0.9


@pytest.mark.parametrize("n", [LEAST, 12, 40])
def test_a_move_without_effect_is_hardly_ever_supported(n: int) -> None:
    for noise in (0.3, 1.0, 3.0):
        assert shares(0.0, n=n, noise=noise) < 0.08


@pytest.mark.parametrize("truth", [-1.0, 0.2, 4.0])
def test_the_wrong_sign_or_size_is_not_supported(truth: float) -> None:
    assert shares(truth, n=30, noise=0.3) < 0.02


def test_few_pairs_say_nothing() -> None:
    claimed = claims(LEAST - 1)
    assert not judged(claimed, claimed).supported
    assert judged(claims(LEAST), claims(LEAST)).supported
    nothing = judged(np.empty(0), np.empty(0))
    assert (nothing.pairs, nothing.supported) == (0, False)


def test_one_odd_run_does_not_decide() -> None:
    claimed = claims(40)
    measured = claimed + np.random.default_rng(1).normal(0, 0.1, 40)
    measured[3] = -60.0  # a run that hung
    assert judged(claimed, measured).supported


def test_a_minor_claim_is_refuted_by_an_effect_that_is_there() -> None:
    rng = np.random.default_rng(2)
    claimed, noise = rng.normal(0, 0.01, 30), rng.normal(0, 0.02, 30)
    assert judged(claimed, claimed + noise, expected=0.01).supported
    assert not judged(claimed, claimed + noise + 0.2, expected=0.01).supported
    assert not judged(claimed, claimed + noise - 0.2, expected=0.01).supported


def test_a_minor_claim_needs_runs_that_could_show_an_effect() -> None:
    rng = np.random.default_rng(3)
    scatter = rng.normal(0, 2.0, 30)  # far more than the 0.05 that would be no effect
    assert not judged(np.zeros(30), scatter, expected=0.0).supported


def test_a_model_that_claims_nothing_in_every_pair_is_not_supported() -> None:
    found = adjusted(np.zeros(8), np.ones(8), 1.0, 0.1, 2 / 3)
    assert (found.pairs, found.agree, found.supported) == (8, 0.0, False)
