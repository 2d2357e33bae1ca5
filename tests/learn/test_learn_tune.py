"""Tuning: never worse than the defaults, better where these are wrong, and it goes on later."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compass import registry
from compass.domain.errors import EnvironmentProblem, UnknownName
from compass.learn import folds
from compass.learn import tune as tuning
from compass.learn.folds import CrossValidation, Fold, FoldResult, evaluate
from compass.learn.search_space import defaults, space_of
from compass.learn.training import TrainingData
from compass.learn.tune import FamilyErrors, tune
from compass.model.base import Task
from compass.model.linear import LinearRegression
from compass.model.recipe import Recipe
from compass.model.search_space import SearchSpace, TunedNumber
from compass.settings import (
    ForestSettings,
    LightGBMSettings,
    LinearSettings,
    NeighbourSettings,
    SelectSettings,
    Settings,
)

QUICK = Settings(
    forest=ForestSettings(trees=4),
    lightgbm=LightGBMSettings(rounds=5),
    select=SelectSettings(folds=3),
)
LINEAR = Recipe(family="linear")


@pytest.fixture(autouse=True)
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves when it is looked at: a busy machine tries as much as an idle one."""
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) / 100)
    monkeypatch.setattr(tuning, "time", clock)


def laid(settings: Settings = QUICK, n: int = 120, seed: int = 7) -> CrossValidation:
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 10, (n, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return CrossValidation.of(TrainingData(X, y, Task(), None, seed, settings), np.arange(n))


def error(cv: CrossValidation, recipe: Recipe) -> float:
    return float(np.mean([evaluate(cv, recipe, cv.fold(n)).error for n in range(cv.count)]))


@pytest.mark.parametrize("family", ["forest", "neighbours", "linear", "lightgbm"])
def test_it_is_never_worse_than_the_defaults_on_the_folds(family: str) -> None:
    cv, recipe = laid(), Recipe(family=family)
    found = tune(cv, [recipe], 0.3)
    assert found.before == pytest.approx(error(cv, recipe), rel=1e-12)
    assert found.after == pytest.approx(error(cv, found.recipe), rel=1e-12)
    assert found.after <= found.before
    assert (found.recipe == recipe) == (found.after == found.before)
    assert found.trials >= 1
    assert found.reason


@pytest.mark.parametrize(
    ("family", "wrong"),
    [
        ("forest", {"forest": ForestSettings(trees=4, depth=2)}),
        ("linear", {"linear": LinearSettings(ridge=1000.0)}),
        ("neighbours", {"neighbours": NeighbourSettings(count=60, by_distance=False)}),
    ],
)
def test_wrong_settings_are_improved(family: str, wrong: dict[str, Any]) -> None:
    """The depth and the count lie outside of their ranges: exactly they have to be beaten."""
    cv, recipe = laid(QUICK.model_copy(update=wrong)), Recipe(family=family)
    found = tune(cv, [recipe], 1.5)
    assert found.before == pytest.approx(error(cv, recipe), rel=1e-12)
    assert found.after < 0.9 * found.before
    assert "other folds too" in found.reason
    assert set(found.recipe.changes) == {space_of(recipe).section}


def test_what_only_looked_better_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    real = folds.evaluate
    cv = laid()

    def lucky(given: CrossValidation, recipe: Recipe, fold: Fold) -> FoldResult:
        result = real(given, recipe, fold)
        if not recipe.changes:
            return result
        # Good on the folds of the search only.
        return replace(result, error=0.01 if given is cv else 10.0)

    monkeypatch.setattr(folds, "evaluate", lucky)
    found = tune(cv, [LINEAR], 0.2)
    assert found.recipe == LINEAR
    assert found.after == found.before
    assert "was not on other folds" in found.reason


def test_another_family_can_win() -> None:
    cv = laid()
    found = tune(cv, [Recipe(family="neighbours"), LINEAR], 2.0)
    assert found.before == pytest.approx(error(cv, Recipe(family="neighbours")), rel=1e-12)
    assert found.recipe.family == "linear"
    assert found.recipe.changes["linear"]["pairs"] is True  # the law has a product


def test_no_time_still_tries_the_defaults_first() -> None:
    cv = laid()
    found = tune(cv, [LINEAR], 0.0)
    assert found.recipe == LINEAR
    assert found.before == found.after == pytest.approx(error(cv, LINEAR), rel=1e-12)
    assert found.trials == 1


def test_a_family_without_a_search_space_is_said_to_have_nothing_to_tune() -> None:
    recipe = Recipe(family="gaussian")
    found = tune(laid(), [recipe], 1.0)
    assert (found.recipe, found.before, found.after, found.trials) == (recipe, None, None, 0)
    assert found.reason == "gaussian has nothing to tune"
    with pytest.raises(UnknownName, match="forrest"):
        tune(laid(), [Recipe(family="forrest")], 1.0)


def test_plugins_are_known_to_all_threads_of_a_fresh_process() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_learn_tune import laid\n"
        "from compass.learn.tune import tune\n"
        "from compass.model.recipe import Recipe\n"
        "settings = laid().settings.model_copy(update={'threads': 3})\n"
        "print(tune(laid(settings), [Recipe(family='neighbours')], 0.0).trials)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def started(journal: Path) -> list[dict[str, Any]]:
    """The records of the journal that begin an attempt."""
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    return [record for record in records if record["op_code"] == 4]


def studies(journal: Path) -> set[str]:
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    return {record["study_name"] for record in records if "study_name" in record}


def test_it_goes_on_from_the_journal(tmp_path: Path) -> None:
    journal = tmp_path / "x.tuning"
    first = tune(laid(), [LINEAR], 0.2, journal=journal)
    assert len(started(journal)) == first.trials
    second = tune(laid(), [LINEAR], 0.2, journal=journal)
    assert second.trials > first.trials
    assert second.trials == len(started(journal))
    assert len(studies(journal)) == 1
    assert second.before == first.before
    assert second.after <= first.after
    marked = [r for r in started(journal) if r.get("user_attrs")]
    assert len(marked) == 1  # the defaults are known already
    drawn = [
        json.loads(line).get("param_value_internal")
        for line in journal.read_text().splitlines()
        if '"linear.ridge"' in line and '"param_value_internal"' in line
    ]
    assert len(set(drawn)) == len(drawn)  # no draw is repeated


@pytest.mark.parametrize(
    "other",
    [
        lambda: laid(n=119),
        lambda: laid(seed=8),
        lambda: laid(QUICK.model_copy(update={"linear": LinearSettings(ridge=50.0)})),
    ],
    ids=["rows", "folds", "defaults"],
)
def test_other_rows_folds_or_defaults_begin_anew(
    other: Callable[[], CrossValidation], tmp_path: Path
) -> None:
    journal = tmp_path / "x.tuning"
    tune(laid(), [LINEAR], 0.1, journal=journal)
    cv = other()
    found = tune(cv, [LINEAR], 0.0, journal=journal)
    assert found.trials == 1
    assert found.before == pytest.approx(error(cv, LINEAR), rel=1e-12)
    assert len(studies(journal)) == 2


def test_other_ranges_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = tmp_path / "x.tuning"
    tune(laid(), [LINEAR], 0.1, journal=journal)
    other = SearchSpace("linear", (TunedNumber("ridge", 1e-2, 1e2),))
    monkeypatch.setattr(LinearRegression, "search_space", other)
    assert tune(laid(), [LINEAR], 0.0, journal=journal).trials == 1


@pytest.mark.parametrize(
    "content",
    [b"\x00\xff\n\x00\n", b"my notes\n", b"my notes", b"[]\n", b"5\n", b"{}\n", b'{"a": 1}\n'],
)
def test_what_is_no_journal_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    journal = tmp_path / "x.tuning"
    journal.write_bytes(content)
    with pytest.raises(EnvironmentProblem, match=r"x\.tuning") as problem:
        tune(laid(), [LINEAR], 0.1, journal=journal)
    assert "remove it" in problem.value.hint
    assert journal.read_bytes() == content


def test_a_journal_damaged_in_the_middle_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "x.tuning"
    tune(laid(), [LINEAR], 0.1, journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], lines[3][:20], *lines[4:]]))
    with pytest.raises(EnvironmentProblem, match="cannot go on from the tuning file"):
        tune(laid(), [LINEAR], 0.1, journal=journal)


def test_a_journal_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="cannot go on") as problem:
        tune(laid(), [LINEAR], 0.1, journal=tmp_path / "missing" / "x.tuning")
    assert problem.value.hint


def test_a_line_that_a_kill_left_half_written_does_no_harm(tmp_path: Path) -> None:
    journal = tmp_path / "x.tuning"
    first = tune(laid(), [LINEAR], 0.1, journal=journal)
    content = journal.read_bytes()
    journal.write_bytes(content[:-7])
    for _ in range(2):
        found = tune(laid(), [LINEAR], 0.1, journal=journal)
        assert found.trials > first.trials
        assert found.after <= found.before
    for line in journal.read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize("given", [True, False], ids=["defaults", "later"])
def test_an_attempt_whose_process_was_killed_does_no_harm(
    given: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "x.tuning"
    if not given:
        tune(laid(), [LINEAR], 0.1, journal=journal)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tuning, "_attempt", killed)
        with pytest.raises(KeyboardInterrupt):
            tune(laid(), [LINEAR], 60.0, journal=journal)
    began = len(started(journal))
    found = tune(laid(), [LINEAR], 0.3, journal=journal)
    assert found.trials > began
    assert found.before == pytest.approx(error(laid(), LINEAR), rel=1e-12)
    assert found.after <= found.before
    states = running(journal)
    assert not states


def running(journal: Path) -> set[int]:
    """Attempts that nobody has ended."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
    (name,) = studies(journal)
    study = optuna.load_study(study_name=name, storage=storage)
    return {t.number for t in study.trials if t.state.name == "RUNNING"}


def test_every_range_is_of_a_setting_and_holds_its_default() -> None:
    spaces = {
        name: kind.search_space
        for name, kind in registry.everything("surrogate").items()
        if kind.search_space is not None
    }
    assert {"forest", "extra-trees", "lightgbm", "xgboost", "linear", "svm"} < set(spaces)
    for family, space in spaces.items():
        section = getattr(Settings(), space.section)
        for one in space.parameters:
            value = getattr(section, one.name)
            low, high = getattr(one, "low", value), getattr(one, "high", value)
            if (family, one.name) != ("lightgbm", "ridge"):  # 0 has no logarithm
                assert low <= value <= high, (family, one.name)
            for end in (low, high):
                type(section).model_validate({one.name: type(value)(end)})
        keys = defaults(Recipe(family=family), Settings())
        assert list(keys) == [f"{family}.{one.name}" for one in space.parameters]


def test_progress_is_reported() -> None:
    reported: list[tuple[str, int, int]] = []
    tune(laid(), [LINEAR], 0.1, progress=lambda *given: reported.append(given))
    assert reported
    assert all(0 <= done <= total for _, done, total in reported)
    assert reported[0][0] == "tuning (1 tried)"


def test_proofs_are_not_given_up_for_a_few_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    cv = laid()
    errors = {"forest": 0.102, "svm": 0.1}

    def pretended(_: CrossValidation, recipe: Recipe, fold: Fold) -> FoldResult:
        return FoldResult(np.empty(0), errors[recipe.family], recipe.family == "forest", 0.0)

    monkeypatch.setattr(folds, "evaluate", pretended)
    recipes = [Recipe(family=name) for name in errors]
    known = {
        name: FamilyErrors((error,) * 3, 0.01, name == "forest") for name, error in errors.items()
    }
    assert tune(cv, recipes, 0.5, known=known).recipe.family == "forest"
    errors["svm"] = 0.08
    known["svm"] = FamilyErrors((0.08,) * 3, 0.01, provable=False)
    assert tune(cv, recipes, 0.5, known=known).recipe.family == "svm"


def test_it_ends_when_nothing_can_be_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("no such settings")

    monkeypatch.setattr(folds, "evaluate", fails)
    recipes = [Recipe(family="linear"), Recipe(family="neighbours")]
    known = {"linear": FamilyErrors((0.1,) * 3, 0.01)}
    found = tune(laid(), recipes, 0.3, known=known)
    assert found.recipe == recipes[0]
