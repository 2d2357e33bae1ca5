"""From rows to a recipe: families, scales, representations and tuned settings together."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compass import registry
from compass.domain.answer import FamilyScore
from compass.domain.errors import UnknownName
from compass.learn import elimination
from compass.learn.compare import Selection
from compass.learn.folds import CrossValidation, evaluate
from compass.learn.select import family_errors, recipes_to_tune, select_recipe
from compass.learn.training import TrainingData
from compass.model.base import Task
from compass.model.recipe import Recipe
from compass.settings import ForestSettings, LinearSettings, SelectSettings, Settings

QUICK = Settings(surrogate="linear", forest=ForestSettings(trees=4), select=SelectSettings(folds=3))


def laid(
    outcome: Callable[[np.ndarray], np.ndarray] | None = None,
    classes: int | None = None,
    n: int = 120,
    groups: np.ndarray | None = None,
    **settings: Any,
) -> CrossValidation:
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 10, (n, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] if outcome is None else outcome(X)
    chosen = QUICK.model_copy(update=settings)
    data = TrainingData(X, y, Task(classes), None, 7, chosen)
    return CrossValidation.of(data, np.arange(n) if groups is None else groups)


def error(cv: CrossValidation, recipe: Recipe) -> float:
    return float(np.mean([evaluate(cv, recipe, cv.fold(n)).error for n in range(cv.count)]))


@dataclass(frozen=True)
class Columns:
    """Made-up columns: the product that the law has, or noise."""

    name: str
    width: int = 1

    def transform(self, X: np.ndarray) -> np.ndarray:
        if self.name == "product":
            return (X[:, :1] * X[:, 1:2] - 30) / 25  # about mean 0 and deviation 1
        return np.sin(1e4 * X[:, :1] * X[:, 1:2])

    def arrays(self) -> dict[str, np.ndarray]:
        return {}


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    """Two representations, one of which helps, and no other."""
    kept = dict(registry.everything("embedding"))
    origins = {name: registry._origin["embedding", name] for name in kept}
    for name in kept:
        registry.remove("embedding", name)
    for name in ("product", "useless"):

        class Kind:
            @staticmethod
            def fit(X: np.ndarray, y: np.ndarray, _name: str = name, **_: Any) -> Columns:
                return Columns(_name)

            @staticmethod
            def restore(arrays: Mapping[str, Any], _name: str = name) -> Columns:
                return Columns(_name)

        registry.add("embedding", name)(type(name, (Kind,), {"name": name}))
    yield
    for name in ("product", "useless"):
        registry.remove("embedding", name)
    for name, kind in kept.items():
        registry.add("embedding", name)(kind)
        registry._origin["embedding", name] = origins[name]


def test_a_named_family_decides_its_scale() -> None:
    skewed = select_recipe(laid(lambda X: np.exp(X[:, 0])))
    assert skewed.recipe == Recipe(family="linear", log=True)
    assert [(s.family, s.log, s.status) for s in skewed.scores] == [("linear", True, "chosen")]
    straight = select_recipe(laid(lambda X: X[:, 0] + 2 * X[:, 1]))
    assert straight.recipe == Recipe(family="linear", log=False)
    flat = select_recipe(laid(lambda X: 100 + X[:, 0]))
    assert flat.recipe == Recipe(family="linear")
    assert flat.scores == ()  # nothing had to be compared


@pytest.mark.parametrize(("scale", "log"), [("linear", False), ("log", True)])
def test_a_scale_that_is_given_is_taken(scale: str, log: bool) -> None:
    assert select_recipe(laid(scale=scale)).recipe == Recipe(family="linear", log=log)


def test_an_unknown_family_offers_the_nearest() -> None:
    for cv in (laid(surrogate="forrest"), laid(lambda X: 100 + X[:, 0], surrogate="forrest")):
        with pytest.raises(UnknownName) as problem:
            error(cv, select_recipe(cv).recipe)
        assert "forest" in problem.value.hint


def test_the_best_of_all_is_taken_if_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "compass.learn.compare.selectable_families", lambda: ["neighbours", "linear"]
    )
    found = select_recipe(laid(lambda X: 3 + X[:, 0] + 2 * X[:, 1], surrogate="auto"))
    assert found.recipe.family == "linear"
    assert {s.family for s in found.scores} == {"neighbours", "linear"}


def test_a_representation_that_helps_is_kept() -> None:
    cv = laid(represent="product", scale="linear")
    found = select_recipe(cv)
    assert found.recipe == Recipe(family="linear", embedding="product")
    (score,) = [s for s in found.scores if s.embedding]
    assert score.status == "chosen"
    assert score.error == pytest.approx(error(cv, found.recipe), rel=1e-12)
    without = error(cv, Recipe(family="linear"))
    assert score.error < without
    assert score.reason == f"{without:.2%} without it"
    assert found.notes == ("Representation product: kept.",)


def test_one_that_does_not_help_is_not_kept_and_that_is_told() -> None:
    found = select_recipe(laid(represent="useless"))
    assert found.recipe.embedding is None
    statuses = {s.embedding: s.status for s in found.scores}
    assert statuses == {None: "chosen", "useless": "tried"}
    assert "Representation useless: not kept" in found.notes[0]


def test_all_representations_are_tried_if_none_is_named() -> None:
    found = select_recipe(laid(represent="auto", scale="linear"))
    assert found.recipe.embedding == "product"
    statuses = {s.embedding: s.status for s in found.scores}
    assert statuses == {"product": "chosen", "useless": "tried"}
    scores: list[str] = []
    select_recipe(laid(represent="auto"), progress=lambda what, *_: scores.append(what))
    assert "learning the representation product" in scores


def test_an_unknown_representation_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="prodct") as problem:
        select_recipe(laid(represent="prodct"))
    assert "product" in problem.value.hint


WRONG = {"linear": LinearSettings(ridge=1000.0), "scale": "linear"}


def test_a_tuned_recipe_is_marked(tmp_path: Path) -> None:
    cv = laid(tune=2.0, **WRONG)
    found = select_recipe(cv, journal=tmp_path / "x.tuning")
    assert found.recipe.changes["linear"]["ridge"] < 1000
    assert error(cv, found.recipe) < error(cv, Recipe(family="linear"))
    (note,) = found.notes
    assert note.startswith("Tuning: ")
    assert "other folds too" in note
    assert f"{error(cv, Recipe(family='linear')):.2%} -> " in note
    assert (tmp_path / "x.tuning").is_file()


def test_a_family_that_wins_once_tuned_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "compass.learn.compare.selectable_families", lambda: ["neighbours", "linear"]
    )
    cv = laid(surrogate="auto", tune=3.0, **WRONG)
    found = select_recipe(cv)
    scores = {s.family: s for s in found.scores}
    assert found.recipe.family == "linear"
    assert found.recipe.changes["linear"]["pairs"] is True
    assert (scores["linear"].status, scores["linear"].reason) == ("chosen", "better once tuned")
    assert (scores["neighbours"].status, scores["neighbours"].reason) == ("tried", "")


def test_tuning_keeps_the_representation() -> None:
    found = select_recipe(laid(represent="product", tune=1.0, **WRONG))
    assert found.recipe.embedding == "product"
    assert len(found.notes) == 2


def test_what_cannot_be_tuned_says_so() -> None:
    found = select_recipe(laid(surrogate="gaussian", scale="linear", tune=1.0))
    assert found.recipe == Recipe(family="gaussian")
    assert found.notes == ("Tuning: gaussian has nothing to tune.",)


def test_too_few_configurations_are_neither_represented_nor_tuned() -> None:
    cv = laid(n=8, groups=np.zeros(8), represent="product", tune=5.0)
    found = select_recipe(cv)
    assert found.recipe.embedding is None
    assert not found.recipe.changes


def test_what_is_known_of_a_family_is_not_said_of_it_behind_a_representation() -> None:
    plain = FamilyScore(family="linear", error=0.1, errors=(0.1, 0.1), folds=2, status="tried")
    other = FamilyScore(family="svm", error=0.2, errors=(0.2, 0.2), folds=2, status="tried")
    gone = FamilyScore(family="forest", error=0.1, folds=1, status="skipped", reason="failed: x")
    behind = Selection(
        Recipe(family="linear", embedding="vae"),
        (plain, other, gone),
        fold_seconds={"linear": 0.1, "svm": 0.1},
    )
    assert set(family_errors(behind)) == {"svm"}
    without = replace(behind, recipe=Recipe(family="linear"))
    assert set(family_errors(without)) == {"linear", "svm"}
    # Who failed or was too slow is not tried again.
    assert [recipe.family for recipe in recipes_to_tune(behind)] == ["linear", "svm"]


def test_folds_that_learnt_a_part_are_not_whole_ones_behind_a_representation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elimination, "_FIRST", 30)
    few = SelectSettings(folds=3, work=1e-9)
    found = select_recipe(laid(represent="useless", select=few))
    assert (found.recipe.embedding, found.sampled) == (None, True)
    assert family_errors(found) == {}
