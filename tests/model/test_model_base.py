"""What a model family promises."""

import subprocess
import sys

import numpy as np
import pytest

import compass.model
from compass.domain.errors import BadInput, UnknownName
from compass.model.base import Family, Fitted, Task, family
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


def test_names_are_found_where_they_are_defined() -> None:
    for name in dir(compass.model):
        assert getattr(compass.model, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = compass.model.Nothing


def test_importing_the_packages_imports_nothing_heavy() -> None:
    code = (
        "import sys, compass.model.base, compass.trust\n"
        "print([m for m in ('numba', 'sklearn', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
