"""Which family wins, why the others do not, and that the same table gives the same result."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from learn_select_cases import FEW, PLAIN, by_family, changed, laid, law

from compass.domain.errors import DataProblem, UnknownName
from compass.execute import opened
from compass.learn import elimination, folds
from compass.learn.compare import compare_families, selectable_families
from compass.learn.compared import ComparedRecipe
from compass.model.recipe import Recipe

pytest_plugins = ("learn_fixtures",)


def test_the_lowest_error_wins() -> None:
    found = compare_families(laid(), families=FEW)
    complete = [score for score in found.scores if score.folds == 3]
    best = min(complete, key=lambda score: score.error)
    assert (best.family, best.log) == (found.recipe.family, found.recipe.log)
    assert [s.family for s in found.scores if s.status == "chosen"] == [found.recipe.family]
    assert found.scores[0].status == "chosen"


@pytest.mark.parametrize(
    ("behind", "winner"), [(0.1000, "proof"), (0.1015, "proof"), (0.1100, "plain")]
)
def test_ties_go_to_what_can_be_proved_over(
    behind: float, winner: str, pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("plain", 0.1)
    pretend("proof", behind, provable=True)
    only("plain", "proof")
    found = compare_families(laid())
    assert found.recipe.family == winner
    scores = by_family(found)
    assert scores["proof"].provable
    assert not scores["plain"].provable
    if winner == "proof" and behind > 0.1:
        assert "as good as plain" in scores["proof"].reason


def test_who_fails_or_should_not_try_is_told_with_the_reason(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("good", 0.1)
    pretend("broken", fails=ValueError("the matrix is singular"))
    pretend("refusing", fails=DataProblem("too few rows", hint="more"))
    pretend("silent", fails=ZeroDivisionError())
    pretend("hours", why_not="it would take hours")
    only("broken", "hours", "good", "refusing", "silent")
    found = compare_families(laid())
    scores = by_family(found)
    assert found.recipe.family == "good"
    assert scores["broken"].reason == "failed: the matrix is singular"
    assert scores["refusing"].reason == "failed: too few rows"
    assert scores["silent"].reason == "failed: ZeroDivisionError"
    assert scores["hours"].reason == "it would take hours"
    assert {scores[n].status for n in ("broken", "refusing", "silent", "hours")} == {"skipped"}
    assert scores["hours"].error is None


def test_nobody_left_is_an_error_that_names_everybody(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("broken", fails=ValueError("the matrix is singular"))
    only("broken")
    with pytest.raises(DataProblem, match="broken failed: the matrix is singular") as problem:
        compare_families(laid())
    assert problem.value.hint
    pretend("hours", why_not="it would take hours")
    only("hours")
    with pytest.raises(DataProblem, match="it would take hours"):
        compare_families(laid())


def test_a_family_that_somebody_named_tells_its_problem(pretend: Callable[..., None]) -> None:
    pretend("broken", fails=DataProblem("too few rows", hint="more"))
    with pytest.raises(DataProblem, match="too few rows"):
        compare_families(laid(), families=["broken"])
    pretend("hours", 0.1, why_not="it would take hours")
    assert compare_families(laid(), families=["hours"]).recipe.family == "hours"
    with pytest.raises(UnknownName, match="forrest") as problem:
        compare_families(laid(), families=["forrest"])
    assert "forest" in problem.value.hint


def test_a_large_table_has_a_first_rung_of_few_rows(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 30)
    pretend("bad", 9.0)
    pretend("good", 0.1)
    pretend("fair", 0.11)
    only("bad", "good", "fair")
    found = compare_families(laid(300))
    scores = by_family(found)
    assert (found.recipe.family, scores["good"].folds) == ("good", 3)
    assert "when 30 runs are learnt" in scores["bad"].reason
    # The interval is of what it was asked for with these rows, not of whole folds.
    assert scores["bad"].low == pytest.approx(9.0)
    assert scores["bad"].high == pytest.approx(9.0)


@pytest.mark.parametrize(("learns", "winner"), [(0.05, "late"), (2.0, "early")])
def test_who_is_behind_on_few_rows_may_catch_up(
    learns: float,
    winner: str,
    pretend: Callable[..., None],
    only: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 30)
    pretend("early", 0.2)
    pretend("other", 0.21)
    pretend("late", 0.05, learns=learns)  # 0.22 with 30 rows, and 0.07 with all
    only("early", "other", "late")
    assert compare_families(laid(300, settings=PLAIN)).recipe.family == winner


def test_the_winner_and_the_next_best_do_all_folds(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    shares = {"best": 0.1, "next": 0.5, "third": 0.6, "last": 0.7}
    for name, share in shares.items():
        pretend(name, share)
    only(*shares)
    scores = by_family(compare_families(laid(settings=changed(folds=5))))
    assert {name: score.folds for name, score in scores.items()} == {
        "best": 5,
        "next": 5,
        "third": 1,
        "last": 1,
    }
    assert "60.0% against 10.0% of best" in scores["third"].reason


@pytest.mark.parametrize(("work", "folds"), [(0.001, 2), (5.0, 1)])
def test_who_is_no_better_for_more_work_is_stopped_sooner(
    work: float, folds: int, pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("good", 0.1)
    pretend("fair", 0.101)
    pretend("third", 0.102, work=work)
    only("good", "fair", "third")
    scores = by_family(compare_families(laid(settings=changed(folds=5))))
    assert scores["third"].folds == folds
    assert ("times the work" in scores["third"].reason) == (folds == 1)


def test_the_best_goes_on_whatever_its_work(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("good", 0.1)
    pretend("fair", 0.11)
    pretend("best", 0.09, work=5.0)
    only("good", "fair", "best")
    assert compare_families(laid(settings=changed(folds=5))).recipe.family == "best"


def test_how_long_it_really_takes_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine: what one attempt takes is anything between nothing and hours."""
    expected = facts(compare_families(laid(), families=FEW))
    real, rng = folds.evaluate, np.random.default_rng(0)

    def evaluate(*given: Any) -> Any:
        return replace(real(*given), seconds=float(rng.choice([0.0, 1e5])))

    monkeypatch.setattr(folds, "evaluate", evaluate)
    assert facts(compare_families(laid(), families=FEW)) == expected


@pytest.mark.parametrize("seed", range(4))
def test_stopping_early_never_stops_who_would_have_won(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    noise = rng.normal(1, 0.1, 120)
    early = compare_families(laid(120, outcome=lambda X: law(X) * noise, seed=seed), families=FEW)
    monkeypatch.setattr(elimination, "_FINALISTS", (9,))
    patient = compare_families(
        laid(120, changed(hopeless=1e6), outcome=lambda X: law(X) * noise, seed=seed),
        families=FEW,
    )
    assert early.recipe == patient.recipe
    assert sum(s.folds for s in early.scores) <= sum(s.folds for s in patient.scores)


def facts(found: Any) -> Any:
    return found.recipe, [s.model_dump(exclude={"seconds"}) for s in found.scores], found.notes


def test_the_same_seed_gives_the_same_result_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(1, 0.15, 150)
    settings = changed(folds=5)
    results = [
        facts(
            compare_families(
                laid(
                    settings=settings.model_copy(update={"threads": threads}),
                    outcome=lambda X: law(X) * noise,
                ),
                families=(*FEW, "lightgbm"),
            )
        )
        for threads in (1, 2, 5, 2)
    ]
    assert results[0] == results[1] == results[2] == results[3]
    done = {score["folds"] for score in results[0][1]}
    assert 5 in done
    assert min(done) < 5  # one was stopped, at the same fold every time


def test_too_few_configurations_are_told() -> None:
    found = compare_families(laid(6, groups=np.zeros(6)), families=FEW)
    assert found.recipe.family == "forest"
    assert found.scores == ()
    assert "too few configurations" in found.notes[0]


def test_slow_families_learn_only_the_scale_of_the_best(
    pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("careful", 0.001, slow_=True)
    only("linear", "careful")
    found = compare_families(laid(outcome=lambda X: np.exp(X[:, 0])))
    scores = by_family(found)
    assert scores["linear"].log
    assert scores["careful"].log


def test_only_families_that_can_be_chosen_take_part() -> None:
    assert "forest" in selectable_families()
    assert "brought" not in selectable_families()


@pytest.mark.parametrize("provable", [False, True])
def test_proofs_are_a_reason_only_where_the_best_has_them(
    provable: bool, pretend: Callable[..., None], only: Callable[..., None]
) -> None:
    pretend("best", 0.1, provable=provable)
    pretend("next", 0.1, provable=provable)
    pretend("third", 0.1)
    only("best", "next", "third")
    scores = by_family(compare_families(laid(settings=changed(folds=5))))
    assert scores["third"].status == "stopped"
    assert ("no proofs" in scores["third"].reason) == provable


def test_slow_families_alone_learn_both_scales(
    pretend: Callable[..., None],
) -> None:
    pretend("careful", 0.1, slow_=True)
    recipes = [ComparedRecipe(Recipe(family="careful", log=log)) for log in (False, True)]
    with opened("threads:1") as place:
        elimination.eliminate(elimination.Evaluator(laid(), place, 60.0), recipes, None)
    assert all(compared.times for compared in recipes)
    assert not any("other families" in compared.reason for compared in recipes)


def test_who_was_stopped_comes_back_when_all_others_fail_later(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 30)
    for name, share in (("good", 0.1), ("fair", 0.11)):
        pretend(name, share, fails=MemoryError("too many rows"), fails_from=100)
    pretend("poor", 5.0)
    pretend("worse", 9.0)
    only("good", "fair", "worse", "poor")
    found = compare_families(laid(300, settings=PLAIN))
    scores = by_family(found)
    assert found.recipe.family == "poor"
    assert (scores["poor"].folds, scores["poor"].status) == (3, "chosen")
    assert scores["poor"].error == pytest.approx(5.0)
    assert "failed when more runs were learnt" in scores["poor"].reason
    assert scores["good"].reason == "failed: too many rows"
    assert "when 30 runs are learnt" in scores["worse"].reason
