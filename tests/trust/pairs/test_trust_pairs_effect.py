"""Pairs of comparable runs, beside a plain search for them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Role, Space
from compass.prepare.split import configurations
from compass.trust.pairs.effect import Outcome, count
from compass.trust.pairs.index import Paired, PairIndex, PairScale
from property_examples import examples

FEATURES = Space(
    parameters=(
        Category(name="app", role=Role.CONTEXT, values=("x", "y")),
        Number(name="size", role=Role.CONTEXT, low=1, high=64, allowed=(1, 2, 4)),
        Number(name="nodes", role=Role.KNOB, low=1, high=8, allowed=(1, 2, 4, 8)),
        Number(name="tile", role=Role.KNOB, low=0, high=9, step=1),
        Category(name="flags", role=Role.KNOB, values=("O2", "O3")),
    )
)
CONTEXT = ("app", "size")


def table(rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    drawn = np.column_stack(
        [
            rng.integers(0, 2, rows),
            rng.choice([1.0, 2.0, 4.0], rows),
            rng.choice([1.0, 2.0, 4.0, 8.0], rows),
            rng.integers(0, 10, rows),
            rng.integers(0, 2, rows),
        ]
    ).astype(np.float64)
    # Both ends of every range, so that the scales do not depend on luck.
    return np.concatenate([drawn, [[0, 1, 1, 0, 0], [1, 4, 8, 9, 1], [1, 4, 8, 1, 1]]])


def plain_gap(X: np.ndarray, i: int, j: int, others: list[int]) -> float:
    total = 0.0
    for c in others:
        if isinstance(FEATURES.parameters[c], Category):
            total += float(X[i, c] != X[j, c])
        else:
            values = X[:, c]
            if c == 3:  # 0 to 9: compared by factors, and 0 counts as an eighth of 1
                values = np.log(np.where(values == 0, 1 / 8, values))
            total += ((values[i] - values[j]) / values.std()) ** 2
    return float(np.sqrt(total))


@examples(60)
@given(st.integers(0, 10_000), st.integers(2, 80), st.sampled_from([0.0, 0.5, 1.0]))
def test_pairs_are_comparable_disjoint_and_at_both_ends(seed, rows, tolerance):
    X = table(rows, seed)
    old, new = X[0].copy(), X[0].copy()
    old[2], new[2] = 1.0, 8.0
    paired = PairIndex.build(X, FEATURES, CONTEXT).pairs(old, new, [2], tolerance)
    used = [*paired.old, *paired.new]
    assert len(used) == len(set(used))
    others = [0, 1, 3, 4]
    for i, j, weight in zip(paired.old, paired.new, paired.weight, strict=True):
        assert X[i, 2] == 1.0
        assert X[j, 2] == 8.0
        assert (X[i, :2] == X[j, :2]).all()
        assert X[i, 0] == new[0]
        gap = plain_gap(X, i, j, others)
        assert gap <= tolerance + 1e-9
        assert weight == pytest.approx(1 - gap / tolerance if tolerance else 1.0)


@examples(60)
@given(st.integers(0, 10_000), st.integers(2, 40))
def test_a_pair_is_found_where_there_is_one(seed, rows):
    X = table(rows, seed)
    old, new = X[0].copy(), X[0].copy()
    old[2], new[2] = 2.0, 4.0
    paired = PairIndex.build(X, FEATURES, CONTEXT).pairs(old, new, [2], 0.5)
    spread = X[:, 1].std()
    exists = any(
        X[i, 2] == 2
        and X[j, 2] == 4
        and (X[i, :2] == X[j, :2]).all()
        and X[i, 0] == new[0]
        and abs(X[i, 1] - new[1]) / spread <= 1
        and plain_gap(X, i, j, [0, 1, 3, 4]) <= 0.5
        for i, j in itertools.permutations(range(len(X)), 2)
    )
    assert (len(paired.old) > 0) == exists


def test_pairs_of_several_moves_are_at_both_ends_of_each():
    X = table(2000, 3)
    old, new = X[0].copy(), X[0].copy()
    old[2], new[2], old[4], new[4] = 1, 8, 0, 1
    paired = PairIndex.build(X, FEATURES, CONTEXT).pairs(old, new, [2, 4], 0.5)
    assert len(paired.old) > 3
    assert (X[paired.old][:, [2, 4]] == [1, 0]).all()
    assert (X[paired.new][:, [2, 4]] == [8, 1]).all()


def test_the_nearest_runs_are_paired_first():
    X = table(5000, 4)
    old, new = X[0].copy(), X[0].copy()
    old[2], new[2] = 1.0, 2.0
    paired = PairIndex.build(X, FEATURES, CONTEXT).pairs(old, new, [2], 0.5)
    # There are more than enough runs that differ from the question in nothing else.
    exact = (np.delete(X, 2, axis=1) == np.delete(new, 2)).all(axis=1)
    assert exact[X[:, 2] == 1].any()
    assert exact[paired.new[0]]
    assert exact[paired.old[0]]


def test_a_number_near_an_end_counts_and_one_in_between_does_not():
    cap = Number(name="cap", role=Role.KNOB, low=0, high=300)
    space = Space(parameters=(cap,))
    X = np.array([[100.0], [104.0], [150.0], [191.0], [300.0]])
    paired = PairIndex.build(X, space, ()).pairs(np.array([100.0]), np.array([200.0]), [0], 0.5)
    assert {*paired.old.tolist()} <= {0, 1}
    assert paired.new.tolist() == [3]


def test_none_is_an_end_of_its_own():
    cap = Number(name="cap", role=Role.KNOB, low=0, high=300, optional=True)
    none = cap.none_code
    X = np.array([[none], [none], [100.0], [130.0]])
    pair_index = PairIndex.build(X, Space(parameters=(cap,)), ())
    paired = pair_index.pairs(np.array([none]), np.array([100.0]), [0], 0.5)
    assert paired.old.tolist() in ([0], [1])
    assert paired.new.tolist() == [2]


def test_varied_looks_at_comparable_runs_only():
    X = np.array([[0, 1, 1, 0, 0], [0, 2, 8, 0, 0], [1, 1, 1, 0, 0], [1, 1, 2, 0, 0]], dtype=float)
    pair_index = PairIndex.build(X, FEATURES, CONTEXT)
    assert not pair_index.varied(X[0], 2)
    assert pair_index.varied(X[2], 2)
    assert not pair_index.varied(X[2], 3)


def test_alike_runs_have_the_context_and_what_is_fixed():
    X = table(400, 5)
    pair_index = PairIndex.build(X, FEATURES, CONTEXT)
    found = pair_index.alike(X[7], [0, 1, 3, 4], 0.0)
    wanted = np.flatnonzero((X[:, [0, 1, 3, 4]] == X[7, [0, 1, 3, 4]]).all(axis=1))
    assert sorted(found.tolist()) == wanted.tolist()


def outcome(y: list[float], error: float = 0.0) -> Outcome:
    values = np.array(y)
    return Outcome.of(values, configurations(np.arange(len(y), dtype=float)[:, None]), error)


def pairs_of(many: int) -> Paired:
    return Paired(np.arange(0, 2 * many, 2), np.arange(1, 2 * many, 2), np.ones(many))


def test_count_tells_how_many_moved_as_expected():
    # Four pairs: three halve, one doubles.
    told = count(outcome([8, 4, 8, 4, 8, 4, 4, 8]), pairs_of(4), np.log(0.5), np.log(0.5))
    assert told.pairs == 4
    assert told.agree == pytest.approx(0.75)
    assert told.median == pytest.approx(np.log(0.5))


def test_weights_count():
    paired = Paired(np.array([0, 2]), np.array([1, 3]), np.array([1.0, 0.25]))
    told = count(outcome([8, 4, 4, 8]), paired, np.log(0.5), np.log(0.5))
    assert told.agree == pytest.approx(0.8)
    assert told.mass == pytest.approx(1.25)


def test_what_runs_differ_by_anyhow_is_no_movement():
    y = np.array([8.0, 4.0, 8.0, 4.0])
    repeats = np.array([1, 1, 2, 2], dtype=np.uint64)  # one configuration: 8 and 4 again and again
    told = count(Outcome.of(y, repeats, 0.0), pairs_of(2), np.log(0.5), np.log(0.5))
    assert told.agree == 0.5


def test_no_claim_agrees_with_no_movement_only():
    still, moving = outcome([8, 8.1, 8, 7.9]), outcome([8, 4, 8, 4])
    assert count(still, pairs_of(2), 0.005, np.log(0.5)).agree == 1
    assert count(moving, pairs_of(2), 0.005, np.log(0.5)).agree == 0


def test_a_model_that_errs_much_claims_only_large_changes_but_never_excuses_them():
    coarse = outcome([8, 4, 8, 4], error=5.0)
    assert coarse.claim == pytest.approx(0.1)
    assert count(coarse, pairs_of(2), -0.05, -0.05).agree == 0


def test_outcomes_that_can_be_negative_are_compared_by_differences():
    told = count(outcome([-1, 1, -1, 1]), pairs_of(2), 2.0, 2.0)
    assert told.agree == 1
    assert told.median == 2


def test_unmeasured_outcomes_make_no_pair():
    told = count(outcome([8, np.nan, 8, 4]), pairs_of(2), np.log(0.5), np.log(0.5))
    assert told.pairs == 1


def test_classes_agree_when_the_class_appears():
    y = np.array([0.0, 1.0, 1.0, 1.0])
    told = count(Outcome.of_class(y, 1), pairs_of(2), 1.0, 1.0)
    assert told.agree == pytest.approx(0.75)  # one appeared, one was there before: no movement


def test_a_class_that_is_lost_is_no_agreement():
    y = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    assert count(Outcome.of_class(y, 1), pairs_of(3), 0.0, 0.0).agree == 0


def test_a_small_claim_is_not_supported_by_a_larger_movement_the_other_way():
    coarse = outcome([8, 9.3, 8, 9.3], error=5.0)
    assert count(coarse, pairs_of(2), -0.07, -0.07).agree == 0


def test_agreeing_pairs_are_counted_whatever_their_weight():
    paired = Paired(np.array([0, 2, 4]), np.array([1, 3, 5]), np.array([1.0, 0.25, 0.25]))
    told = count(outcome([8, 4, 4, 8, 4, 8]), paired, np.log(0.5), np.log(0.5))
    assert told.agreeing == 1
    assert told.agree == pytest.approx(2 / 3)


def test_nearly_equal_runs_are_twins():
    rng = np.random.default_rng(0)
    space = Space(parameters=(Number(name="load", role=Role.KNOB, low=0, high=1),))
    X = rng.uniform(0, 1, (400, 1))
    first, second = PairIndex.build(X, space, ()).twins(0, 0.05)
    assert len(first) > 200
    assert (first != second).all()
    assert (np.abs(X[first] - X[second]) <= 0.05 * X.std()).all()


def test_a_zero_among_sizes_does_not_join_the_others():
    sizes = Number(name="n", role=Role.KNOB, low=0, high=1e6)
    X = np.array([[0.0], [1.0], [10.0], [1000.0], [1e6]])
    rows = PairScale.learn(X, Space(parameters=(sizes,))).place(X)[:, 0]
    assert (np.diff(rows) > 0.1).all()
