"""Goals met with a chance: the search beside a list of every configuration and its chance."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from tasks import everything, model, task

from compass.domain.target import Target
from compass.generate.base import Candidates, Floats
from compass.generate.certain import confirmed, generate_certain, nearer
from compass.generate.loss import proximity
from compass.generate.score import score
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.legal import legal_mask
from property_examples import examples

FREE = (0, 1, 3)  # 300 configurations
LIMIT = 13
RULES = (f"a + b <= {LIMIT}",)


@dataclass(frozen=True)
class NormalErrors:
    """Runs that scatter normally around predictions, more where d is large."""

    made: SearchTask
    chance: float
    targets: tuple[Target, ...]
    usual: float = 2.0

    def spread(self, X: Floats) -> Floats:
        return self.usual * (0.5 + X[:, 3])

    def each(self, X: Floats) -> dict[str, Floats]:
        predicted = self.made.predict(X)["y"][:, 0] if len(X) else np.empty(0)
        target = self.targets[0]
        ends = [(end - predicted) / self.spread(X) for end in (target.low, target.high)]
        return {"y": stats.norm.cdf(ends[1]) - stats.norm.cdf(ends[0])}

    def least(self, X: Floats) -> Floats:
        return self.each(X)["y"]

    def shifted(self, x: Floats) -> tuple[Target, ...]:
        target = self.targets[0]
        by = stats.norm.ppf(self.chance) * float(self.spread(x[None, :])[0])
        return (target.model_copy(update={"low": target.low + by, "high": target.high - by}),)

    def reachable(self, x: Floats) -> dict[str, float]:
        return {}


def case(
    seed: int, high: float, chance: float = 0.8, *, free: tuple[int, ...] = FREE, count: int = 1
) -> SearchTask:
    fitted, observed = model(seed % 3)
    X = everything()
    X = X[X[:, 0] + X[:, 1] <= LIMIT]  # a start that obeys the rule
    start = X[seed * 41 % len(X)]
    target = Target(name="y", high=high, scale=10.0, by_chance=True)
    made = task(fitted, observed, start, target, RULES, free, count=count)
    return replace(made, chances=NormalErrors(made, chance, made.targets))


def every(made: SearchTask) -> Floats:
    """Every legal configuration that obeys the rules."""
    X = everything()
    held = [j for j in range(4) if j not in made.movable]
    X = X[(X[:, held] == made.start[held]).all(axis=1)]
    return X[score(made, X).violation == 0]


def chances_of(made: SearchTask, X: Floats) -> Floats:
    assert made.chances is not None
    return made.chances.least(X)


def far(made: SearchTask, X: Floats) -> Floats:
    return proximity(X, made.start, made.geometry)


seeds, goals = st.integers(0, 300), st.floats(5.0, 80.0)
asked = st.sampled_from([0.5, 0.8, 0.95])


@examples(40)
@given(seeds, goals, asked)
def test_the_nearest_that_is_likely_enough_is_found_or_nothing_where_none_is(
    seed: int, high: float, chance: float
) -> None:
    made = case(seed, high, chance)
    X = every(made)
    likely = X[chances_of(made, X) >= chance]
    _, found = generate_certain(LegalSearch, made)
    assert found.exhaustive
    assert found.meets.any() == bool(len(likely))
    if len(likely):
        assert found.meets[0]
        assert chances_of(made, found.X[:1])[0] >= chance - 1e-9
        assert found.proximity[0] == pytest.approx(far(made, likely).min())


@examples(20)
@given(seeds, goals, asked)
def test_all_that_is_said_to_meet_the_goals_is_likely_enough(
    seed: int, high: float, chance: float
) -> None:
    made = case(seed, high, chance, free=(0, 1, 2, 3), count=5)
    _, found = generate_certain(LegalSearch, made)
    sure = chances_of(made, found.X) >= chance - 1e-9
    assert sure[found.meets].all()
    assert (score(made, found.X).violation == 0).all()
    # What was tried comes with its chance: prices are read off it.
    np.testing.assert_allclose(found.likely, chances_of(made, found.tried))


def test_certainty_costs_distance() -> None:
    made = case(2, 25.0)
    costs = []
    for chance in (0.5, 0.8, 0.95):
        wanted = replace(made, chances=replace(made.chances, chance=chance))  # type: ignore[type-var]
        _, found = generate_certain(LegalSearch, wanted)
        assert found.meets[0]
        costs.append(float(found.proximity[0]))
    assert costs == sorted(costs)
    assert costs[0] < costs[2]


def test_the_task_of_the_answer_has_the_targets_of_its_first_candidate() -> None:
    made = case(2, 25.0)
    assert made.chances is not None
    shifted, found = generate_certain(LegalSearch, made)
    assert shifted.targets == made.chances.shifted(found.X[0])
    predicted = made.predict(found.X[:1])["y"][0, 0]
    assert predicted <= shifted.targets[0].high + 1e-9


def test_without_chances_the_search_is_as_it_was() -> None:
    made = replace(case(2, 25.0), chances=None)
    same, found = generate_certain(LegalSearch, made)
    assert same is made
    np.testing.assert_array_equal(found.X, LegalSearch.generate(made).X)


def test_a_goal_without_a_chance_has_to_be_met_by_the_prediction() -> None:
    made = case(2, 25.0)
    X = every(made)
    y, sure = law_of(made, X), chances_of(made, X) >= 0.8
    low = float(y[sure][np.argmin(far(made, X[sure]))]) + 0.01  # the nearest is just too low
    kept = Target(name="y", low=low, high=np.inf, scale=10.0)
    both = replace(made, targets=(*made.targets, kept))
    assert made.chances is not None
    chances = Both(both, 0.8, made.targets, also=(kept,))
    _, found = generate_certain(LegalSearch, replace(both, chances=chances))
    fine = X[sure & (y >= low)]
    assert found.meets[0]
    assert found.proximity[0] == pytest.approx(far(made, fine).min())


def law_of(made: SearchTask, X: Floats) -> Floats:
    return made.predict(X)["y"][:, 0]


@dataclass(frozen=True)
class Both(NormalErrors):
    """The same, with goals beside that need no chance."""

    also: tuple[Target, ...] = ()

    def shifted(self, x: Floats) -> tuple[Target, ...]:
        return (*super().shifted(x), *self.also)


class ThreeOfThem:
    """A generator that only says what it found."""

    name = "three"
    tried = np.array([0, 450, 899])

    def generate(self, made: SearchTask) -> Candidates:
        X = everything()[self.tried]
        return score(made, X[score(made, X).violation == 0]).candidates()


def test_of_another_generator_what_is_likely_enough_comes_first() -> None:
    made = case(0, 60.0, free=(0, 1, 2, 3))
    X = ThreeOfThem().generate(made).X
    sure = chances_of(made, X) >= 0.8
    assert 0 < sure.sum() < len(X)
    _, found = generate_certain(ThreeOfThem(), made)
    assert found.meets.tolist() == sorted(sure.tolist(), reverse=True)
    assert (chances_of(made, found.X) >= 0.8).tolist() == found.meets.tolist()


def test_candidates_from_elsewhere_are_confirmed_by_their_chance() -> None:
    made = case(0, 40.0, free=(0, 1, 2, 3))
    X = every(made)[::7]
    found = score(made, X).candidates()
    just = found.meets & (chances_of(made, X) < 0.8)
    assert just.any()  # predictions that meet the goal by a hair
    wanted = found.meets & (chances_of(made, X) >= 0.8)
    np.testing.assert_array_equal(confirmed(made, found).meets, wanted)


@examples(40)
@given(seeds, goals, asked, st.integers(0, 10_000))
def test_nearer_is_never_farther_and_still_legal_and_likely(
    seed: int, high: float, chance: float, choice: int
) -> None:
    made = case(seed, high, chance, free=(0, 1, 2, 3))
    X = every(made)
    likely = X[chances_of(made, X) >= chance]
    assume(len(likely))
    x = likely[choice % len(likely)]

    def even(some: Floats) -> np.ndarray:
        return np.asarray(some[:, 0] % 2 == 0)

    for fine in (None, even):
        found = nearer(made, x, chance, fine)
        assert far(made, found[None, :])[0] <= far(made, x[None, :])[0]
        assert chances_of(made, found[None, :])[0] >= chance - 1e-9
        assert score(made, found[None, :]).violation[0] == 0
        for j, parameter in enumerate(made.space.parameters):
            assert legal_mask(parameter, found[[j]])[0]
        assert fine is None or (found == x).all() or fine(found[None, :])[0]


@examples(40)
@given(seeds, goals, asked)
def test_one_column_is_moved_back_as_far_as_the_chance_allows(
    seed: int, high: float, chance: float
) -> None:
    made = case(seed, high, chance, free=(0,))
    X = every(made)
    likely = X[chances_of(made, X) >= chance]
    assume(len(likely))
    x = likely[np.argmax(far(made, likely))]
    found = nearer(made, x, chance)
    side = likely[(likely[:, 0] - made.start[0]) * (x[0] - made.start[0]) >= 0]
    assert far(made, found[None, :])[0] == pytest.approx(far(made, side).min())


@dataclass(frozen=True)
class Monotone(NormalErrors):
    """Errors that are alike everywhere, around a law that falls with a and rises with d."""

    def each(self, X: Floats) -> dict[str, Floats]:
        value = 100 / X[:, 0] + 3 * X[:, 3]
        return {"y": stats.norm.cdf((self.targets[0].high - value) / self.usual)}


@examples(40)
@given(seeds, st.floats(15.0, 80.0), asked)
def test_nothing_more_can_be_taken_back_column_by_column(
    seed: int, high: float, chance: float
) -> None:
    made = case(seed, high, chance, free=(0, 3))
    made = replace(made, chances=Monotone(made, chance, made.targets))
    X = every(made)
    likely = X[chances_of(made, X) >= chance]
    assume(len(likely))
    found = nearer(made, likely[np.argmax(far(made, likely))], chance)
    own = far(made, found[None, :])[0]
    one_less = ((likely != found).sum(axis=1) == 1) & (far(made, likely) < own - 1e-9)
    between = np.abs(likely - made.start) <= np.abs(found - made.start)
    assert not (one_less & between.all(axis=1)).any()
