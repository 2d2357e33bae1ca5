"""Built-in generators keep their promises, and the suite tells when one does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from testing_broken import caught

from compass import registry
from compass.domain.errors import ConflictingRules
from compass.generate import loss
from compass.generate.base import Candidates, TrainableGenerator, generator_for, ready
from compass.generate.c3g import C3G
from compass.generate.pick import pick, preferred
from compass.generate.score import ScoredCandidates, score
from compass.generate.task import SearchTask
from compass.prepare.legal import legal_mask
from compass.testing import check, check_generator
from compass.testing.search_tasks import OPEN, SPACE, case, cases, everything


@pytest.mark.parametrize("name", registry.everything("generator"))
def test_built_ins_keep_their_promises(name: str) -> None:
    check("generator", name)


class Lister:
    """Lists every configuration, or a thousand of them."""

    name = "lister"

    @classmethod
    def generate(cls, task: SearchTask) -> Candidates:
        scored = everything(task)
        if scored is None:
            scored = score(task, cls.some(task))
        return cls.choose(task, scored)

    @staticmethod
    def some(task: SearchTask) -> Any:
        draws = np.random.default_rng(task.seed).random((1000, 3))
        X = np.column_stack([draws[:, :2], np.ceil(100 * draws[:, 2])])
        return np.concatenate([task.start[None, :], X])

    @classmethod
    def choose(cls, task: SearchTask, scored: ScoredCandidates) -> Candidates:
        legal = scored.take(np.flatnonzero(scored.violation == 0))
        legal = legal.take(np.flatnonzero(cls.settled(task, legal.X)))
        ranked = preferred(task, legal)
        if (ranked.valid <= 0).any():
            ranked = ranked.take(np.flatnonzero(ranked.valid <= 0))
        best = ranked.take(pick(task, ranked))
        return best.candidates()

    @staticmethod
    def settled(task: SearchTask, X: Any) -> Any:
        fine = np.ones(len(X), dtype=bool)
        for column in task.forced:
            back = X.copy()
            back[:, column] = task.start[column]
            obeys = np.all([rule.holds(back) for rule in task.rules], axis=0)
            fine &= (X[:, column] == task.start[column]) | ~obeys
        return fine


def after(change: Any) -> type[Lister]:
    """The lister with a change made to what it returns."""

    class Changed(Lister):
        """Changed."""

        @classmethod
        def generate(cls, task: SearchTask) -> Any:
            return change(super().generate(task), task)

    return Changed


def remade(found: Candidates, X: Any, task: SearchTask) -> Candidates:
    """What the candidates X honestly are."""
    return score(task, X).candidates()


def test_an_honest_generator_passes() -> None:
    check_generator(Lister)


def outside(found: Candidates, task: SearchTask) -> Candidates:
    X = found.X.copy()
    X[:, task.movable[:1]] += 0.5
    return remade(found, X, task)


def unfixed(found: Candidates, task: SearchTask) -> Candidates:
    X = found.X.copy()
    held = [j for j in range(X.shape[1]) if j not in task.movable]
    X[:, held[:1]] += 1.0
    return remade(found, X, task)


def disobedient(found: Candidates, task: SearchTask) -> Candidates:
    return Lister.generate(replace(task, rules=()))


def careless(found: Candidates, task: SearchTask) -> Candidates:
    return Lister.generate(replace(task, outcome_rules=()))


def restless(found: Candidates, task: SearchTask) -> Candidates:
    free = np.concatenate([task.free, task.forced])
    return Lister.generate(replace(task, free=free, forced=free[:0], proximity=False))


def repeated(found: Candidates, task: SearchTask) -> Candidates:
    return remade(found, np.repeat(found.X, 2, axis=0)[: task.count], task)


def boastful(found: Candidates, task: SearchTask) -> Candidates:
    return replace(found, meets=np.ones(len(found.X), dtype=bool))


def unseeded(found: Candidates, task: SearchTask) -> Candidates:
    other = replace(task, start=task.start, count=len(found.X))
    if task.space is not OPEN:
        return found
    shift = np.random.default_rng().integers(1000)
    return Lister.generate(replace(other, seed=int(shift)))


def worst_first(found: Candidates, task: SearchTask) -> Candidates:
    return remade(found, found.X[::-1].copy(), task)


def longest_first(found: Candidates, task: SearchTask) -> Candidates:
    if any(target.direction for target in task.targets):
        return found
    return remade(found, found.X[np.argsort(-found.proximity)], task)


def furthest_first(found: Candidates, task: SearchTask) -> Candidates:
    if found.meets.any() or len(found.X) < 2:
        return found
    return remade(found, found.X[np.argsort(-score(task, found.X).valid)], task)


def mixed(found: Candidates, task: SearchTask) -> Candidates:
    """One that misses the goal before those that meet it."""
    listed = everything(task)
    if listed is None or not len(task.movable) or len(found.X) < 2 or not found.meets.all():
        return found
    missing = (listed.violation == 0) & (listed.valid > 0) & Lister.settled(task, listed.X)
    if not missing.any():
        return found
    return remade(found, np.concatenate([listed.X[missing][:1], found.X[1:]]), task)


def spoiling(found: Candidates, task: SearchTask) -> Candidates:
    task.start[0] += 1.0
    return found


def sure(found: Candidates, task: SearchTask) -> Candidates:
    if task.count == 1:  # "smallest change": there is an answer, and this claims there is none
        return replace(remade(found, task.start[None, :].copy(), task), exhaustive=True)
    return found


def quitting(found: Candidates, task: SearchTask) -> Candidates:
    if task.rules and len(task.movable) == 4:
        raise ConflictingRules("too hard", hint="none", rules=())
    return found


def unwilling(found: Candidates, task: SearchTask) -> Candidates:
    there = found.meets.any() or not len(task.movable)
    return found if there else found.take(np.arange(0))


def never(found: Candidates, task: SearchTask) -> Candidates:
    return remade(found, np.empty((0, len(task.start))), task)


def stubborn(found: Candidates, task: SearchTask) -> Candidates:
    """The start, and nothing but the start."""
    fine = score(task, task.start[None, :]).violation == 0
    return remade(found, task.start[None, :][fine], task)


def standing(found: Candidates, task: SearchTask) -> Candidates:
    task.movable[0]
    return found


def unmoved(found: Candidates, task: SearchTask) -> Any:
    return found if len(task.movable) else never(found, task)


def inventive(found: Candidates, task: SearchTask) -> Candidates:
    return found if len(found.X) else remade(found, task.start[None, :].copy(), task)


BROKEN: dict[str, tuple[Any, str]] = {
    "no name": (type("Nameless", (Lister,), {"__doc__": "x", "name": ""}), "it has a `name`"),
    "an array": (after(lambda f, a: f.X), "it returns a Candidates"),
    "raises": (after(lambda f, a: 1 / 0), "it copes with: minimise"),
    "cannot stand still": (after(standing), "it copes with: nothing to move"),
    "transposed": (after(lambda f, a: replace(f, X=f.X.T)), "`X` is a float64 array"),
    "whole numbers": (after(lambda f, a: replace(f, X=f.X.astype(int))), "`X` is a float64 array"),
    "scores for yes and no": (
        after(lambda f, a: replace(f, meets=f.meets.astype(float))),
        "`meets` is a yes or no",
    ),
    "no values": (
        after(lambda f, a: replace(f, values=np.empty((len(f.X), 0)))),
        "`values` has a row for each candidate",
    ),
    "wrong values": (
        after(lambda f, a: replace(f, values=f.values + 1.0)),
        "`values` are what is minimised",
    ),
    "no distance": (
        after(lambda f, a: replace(f, proximity=np.empty(0))),
        "`proximity` is a number for each candidate",
    ),
    "too many": (
        after(lambda f, a: Lister.generate(replace(a, count=2 * a.count))),
        "at most as many candidates",
    ),
    "off the grid": (after(outside), "every value that it sets is a legal one"),
    "moves what is held": (after(unfixed), "neither free nor forced"),
    "breaks rules": (after(disobedient), "every candidate obeys every rule"),
    "ignores conditions": (after(careless), "conditions on predicted outcomes"),
    "moves without need": (after(restless), "a forced column moves only"),
    "repeats itself": (after(repeated), "candidates are distinct"),
    "boasts": (after(boastful), "`meets` says truly"),
    "wrong distances": (
        after(lambda f, a: replace(f, proximity=f.proximity * 2)),
        "`proximity` is the weighted change",
    ),
    "unseeded": (after(unseeded), "the same problem and seed"),
    "worst first": (after(worst_first), "the first candidate has the best value"),
    "longest way first": (after(longest_first), "the first candidate is the smallest change"),
    "furthest first": (after(furthest_first), "the first candidate misses the goals by least"),
    "mixed": (after(mixed), "candidates that meet the goals come before"),
    "spoils the problem": (after(spoiling), "leaves the problem's `start`"),
    "sure of itself": (after(sure), "`exhaustive` is said only"),
    "gives up": (after(quitting), "it raises ConflictingRules only"),
    "no second best": (after(unwilling), "even if no goal is met"),
    "finds nothing": (after(never), "it gives some"),
    "never moves": (after(stubborn), "it finds an answer where one configuration in ten is one"),
    "cannot answer what-if": (after(unmoved), "where nothing may move it gives the start"),
    "makes things up": (after(inventive), "where no configuration obeys the rules it gives none"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_generator_is_caught(what: str) -> None:
    plugin, promise = BROKEN[what]
    caught(lambda: check_generator(plugin), promise)


class NearPastRuns:
    """A generator that learns: it proposes what the best measured runs did, and the start."""

    name = "near past runs"

    @staticmethod
    def fit(X: Any, y: Any, *, space: Any, seed: int) -> "Fitted":
        assert X.shape[1] == len(space)
        assert set(y) == {"cost", "done"}
        assert y["done"].shape == (len(X), 2)
        return Fitted(X[np.argsort(y["cost"][:, 0], kind="stable")])


class Fitted(Lister):
    """What `NearPastRuns` makes of past runs: listed configurations, those of good runs added."""

    def __init__(self, ranked: Any) -> None:
        self.ranked = ranked

    def generate(self, task: SearchTask) -> Candidates:  # type: ignore[override]
        listed = everything(task)
        X = self.some(task) if listed is None else listed.X
        moved = np.repeat(task.start[None, :], len(self.ranked), axis=0)
        moved[:, task.movable] = self.ranked[:, task.movable]
        return self.choose(task, score(task, np.unique(np.concatenate([X, moved]), axis=0)))


def test_a_generator_may_be_fitted_on_past_runs() -> None:
    check_generator(NearPastRuns)
    assert isinstance(NearPastRuns, TrainableGenerator)
    task = case("minimise").task
    fitted = ready(NearPastRuns, task)
    assert isinstance(fitted, Fitted)
    best = task.measured()["cost"][:, 0].argmin()
    assert np.array_equal(fitted.ranked[0], task.observed[best])


def test_a_generator_that_spoils_what_it_learns_from_is_caught() -> None:
    class Spoils(NearPastRuns):
        """Writes into y."""

        @staticmethod
        def fit(X: Any, y: Any, *, space: Any, seed: int) -> Fitted:
            y["cost"][0] += 1.0
            return NearPastRuns.fit(X, y, space=space, seed=seed)

    caught(lambda: check_generator(Spoils), "leaves the problem's `measured cost`")


def test_the_settings_name_the_generator_of_a_question() -> None:
    task = case("minimise").task
    assert generator_for(task) is registry.get("generator", "legal-search")
    registry.add("generator", "near past runs")(NearPastRuns)
    try:
        chosen = task.settings.model_copy(update={"generator": "near past runs"})
        assert isinstance(generator_for(replace(task, settings=chosen)), Fitted)
    finally:
        registry.remove("generator", "near past runs")


def test_conflicting_rules_may_be_said() -> None:
    class Says(Lister):
        """Names the conflict."""

        @classmethod
        def generate(cls, task: SearchTask) -> Candidates:
            found = super().generate(task)
            if not len(found.X):
                raise ConflictingRules("nothing obeys", hint="drop one", rules=())
            return found

    check_generator(Says)


def test_the_problems_are_what_their_names_say() -> None:
    by_name = {one.label: one.task for one in cases()}
    assert len(by_name) == len(cases())
    none = everything(by_name["rules that conflict"])
    assert none is not None
    assert (none.violation > 0).all()
    reach = everything(by_name["a goal out of reach"])
    assert reach is not None
    assert (reach.valid > 0).all()
    assert everything(by_name["numbers without a grid"]) is None
    everywhere = everything(by_name["minimise"])
    assert everywhere is not None
    assert len(everywhere) == 12 * 5 * 3 * 6
    start = case("a start with none").task.start
    assert all(legal_mask(p, start[[i]])[0] for i, p in enumerate(SPACE))
    way = by_name["columns that give way"]
    assert loss.proximity(way.start[None, :], way.start, way.geometry)[0] == 0


@pytest.mark.parametrize("name", ["legal-search", "c3g"])
def test_the_generators_of_compass_keep_their_promises(name: str) -> None:
    check_generator(registry.get("generator", name))


def test_one_that_weighs_goals_has_to_say_so() -> None:
    class Silent(C3G):
        """Finds what has the least loss, and does not say that this may miss the goals."""

        weighs_goals = False

    caught(lambda: check_generator(Silent), "finds an answer where one configuration in ten is one")
