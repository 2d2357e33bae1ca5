"""What a model family promises."""

import subprocess
import sys

import numpy as np
import pytest

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem, UnknownName
from compass.learn.compare import selectable_families
from compass.model.base import Family, FamilyDefaults, Fitted, FittedDefaults, Task, family
from compass.settings import ForestSettings, Settings


def test_outputs_of_a_task() -> None:
    assert Task().outputs == 1
    assert Task(4).outputs == 4
    with pytest.raises(BadInput):
        Task(0)


def test_the_forest_is_a_family_and_makes_fitted_models() -> None:
    forest = family("forest")
    assert isinstance(forest, Family)
    assert forest.name == "forest"
    X = np.arange(20.0).reshape(10, 2)
    settings = Settings(surrogate="forest", forest=ForestSettings(trees=3))
    model = forest.fit(X, X[:, 0], task=Task(), weight=None, seed=1, settings=settings)
    assert isinstance(model, Fitted)
    assert model.family == "forest"
    again = forest.restore(model.arrays(), model.task)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_an_unknown_family_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean forest"):
        family("forrest")


def test_a_family_that_declares_too_little_is_refused_with_a_hint() -> None:
    class Bare:
        name = "bare"

    registry.add("surrogate", "bare")(Bare)
    try:
        with pytest.raises(EnvironmentProblem, match="declare effort, fit_many") as problem:
            family("bare")
        assert "FamilyDefaults" in problem.value.hint
        assert "bare" not in selectable_families()
    finally:
        registry.remove("surrogate", "bare")


def test_the_defaults_of_a_family_and_of_a_model() -> None:
    kind = type("Kind", (FamilyDefaults,), {})
    assert (kind.selectable, kind.slow, kind.search_space) == (True, False, None)
    assert kind.obstacle(10**9, 10**4, Task()) is None
    assert kind.effort(30, 2, Task()) / kind.effort(10, 2, Task()) == 3
    assert kind.quicker(Settings()) == {}
    assert kind.relative_cost(Settings(), Settings()) == 1
    model = FittedDefaults()
    assert model.trees() is None
    assert model.gradient(np.zeros((2, 1))) is None


def test_importing_the_packages_imports_nothing_heavy() -> None:
    code = (
        "import sys, compass.model.base, compass.trust\n"
        "print([m for m in ('sklearn', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", selectable_families())
def test_every_family_estimates_more_work_for_more_rows(name: str) -> None:
    kind = family(name)
    for task in (Task(), Task(2), Task(5)):
        few, many = kind.effort(300, 8, task), kind.effort(1200, 8, task)
        assert 0 < few < many
        assert kind.effort(1200, 8, task) == many
    assert kind.relative_cost(Settings(), Settings()) == pytest.approx(1.0)
    assert set(kind.quicker(Settings())) <= set(Settings.model_fields)
