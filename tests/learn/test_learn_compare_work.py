"""The work of comparing families is limited, and what did not fit is told."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from learn_select_cases import by_family, changed, laid

from compass.learn import compare, elimination, folds
from compass.learn.compare import Selection, compare_families
from compass.learn.folds import CrossValidation
from compass.learn.select import family_errors
from compass.model.recipe import Recipe

pytest_plugins = ("learn_fixtures",)


def test_a_family_that_somebody_named_is_compared_whatever_its_work() -> None:
    found = compare_families(laid(settings=changed(work=1e-9)), families=["linear"])
    assert (found.recipe.family, found.scores[0].folds) == ("linear", 3)
    assert "s of work, more than the 1e-09 s of Settings.select.work" in found.notes[0]


def work_left(cv: CrossValidation, monkeypatch: pytest.MonkeyPatch) -> tuple[float, Selection]:
    """The work that comparing all families leaves, and what it finds."""
    made = []

    class Kept(elimination.Evaluator):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr(compare, "Evaluator", Kept)
    found = compare_families(cv)
    return made[0].left, found


@pytest.mark.parametrize("rungs", [False, True])
@pytest.mark.parametrize("effort", [0.01, 0.03, 0.05, 0.09, 0.15])
def test_all_families_together_stay_within_the_work(
    effort: float,
    rungs: bool,
    pretend: Callable[..., None],
    only: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if rungs:
        monkeypatch.setattr(elimination, "_FIRST", 30)
    names = [f"family{number}" for number in range(8)]
    for number, name in enumerate(names):
        pretend(name, 0.2 - 0.01 * number, work=effort * (1 + number / 10))
    only(*names)
    left, found = work_left(laid(settings=changed(work=1.0)), monkeypatch)
    assert left >= 0
    assert not any("more than the" in note for note in found.notes)
    assert {score.family for score in found.scores} == set(names)


def test_dear_families_are_skipped_beside_cheap_ones_that_can_do_all_folds(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, effort in (("dear", 0.3), ("cheap", 0.05), ("next", 0.1)):
        pretend(name, 0.1 if name == "dear" else 0.2, work=effort)
    only("dear", "cheap", "next")
    left, found = work_left(laid(settings=changed(work=1.0)), monkeypatch)
    scores = by_family(found)
    assert left >= 0
    assert scores["dear"].status == "skipped"
    assert (scores["cheap"].folds, scores["next"].folds) == (3, 3)


@pytest.mark.parametrize("effort", [0.96, 1.08])
def test_the_cheapest_is_compared_even_if_it_is_too_much_and_a_note_says_so(
    effort: float,
    pretend: Callable[..., None],
    only: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"family{number}" for number in range(8)]
    for name in names:
        pretend(name, 0.1, work=effort)
    only(*names)
    left, found = work_left(laid(settings=changed(work=1.0)), monkeypatch)
    assert left == pytest.approx(1.0 - 3 * effort)  # one family, 100 rows, three folds
    assert found.recipe.family == "family0"
    assert "more than the 1 s of Settings.select.work" in found.notes[0]
    assert "s of work" in by_family(found)["family1"].reason


def test_what_would_be_too_much_work_is_skipped_and_the_others_finish(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 30)
    pretend("good", 0.1)
    pretend("fair", 0.11)
    pretend("long", 0.111, work=0.2)
    only("fair", "good", "long")
    scores = by_family(compare_families(laid(300, settings=changed(work=1.0))))
    assert (scores["good"].folds, scores["fair"].folds) == (3, 3)
    assert scores["long"].status == "skipped"
    assert "s of work" in scores["long"].reason


def test_a_table_that_is_too_much_work_is_compared_on_some_of_its_runs(
    pretend: Callable[..., None], only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 30)
    pretend("good", 0.1, work=1.0)
    pretend("fair", 0.11, work=1.0)
    only("fair", "good")
    found = compare_families(laid(300, settings=changed(work=6.0)))
    scores = by_family(found)
    assert (scores["good"].folds, scores["fair"].folds) == (3, 3)
    assert found.sampled
    assert "compared on 30 of 200 runs" in found.notes[0]
    assert family_errors(found) == {}  # these are not errors of whole folds


def test_the_time_of_a_fold_is_that_of_whole_ones_with_all_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Forests give a first impression with few trees, on few rows at first."""
    monkeypatch.setattr(elimination, "_FIRST", 30)
    cv, real = laid(), folds.evaluate

    def evaluate(cv: CrossValidation, recipe: Recipe, fold: folds.Fold) -> folds.FoldResult:
        whole = len(fold.train) == len(cv.fold(fold.number).train) and not recipe.changes
        return replace(real(cv, recipe, fold), seconds=2.0 if whole else 100.0)

    monkeypatch.setattr(folds, "evaluate", evaluate)
    found = compare_families(cv, families=["forest"])
    assert family_errors(found)["forest"].seconds == 2.0
    assert found.scores[0].seconds > 100
