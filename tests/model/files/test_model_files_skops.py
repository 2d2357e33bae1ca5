"""skops files: predictions equal scikit-learn's own, and files made to do harm are refused."""

import io
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_file_cases import (
    CODED,
    LABELS,
    NEW,
    SPACE,
    changed,
    kinds,
    law,
    refused,
    rows,
    the_same_in_every_batch,
)
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compass.domain.errors import BadInput, CompassError
from compass.model.base import Task
from compass.model.files import bring, bring_bytes
from compass.model.files.model import FittedModelFile
from compass.model.trees.fitted import FittedTrees


def test_skops_forests_are_trees_and_others_run_apart(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    X = rows()
    forest = RandomForestRegressor(5, max_depth=6, random_state=1).fit(X, law(X))
    classes = np.array(LABELS)[kinds(X)]
    chooser = RandomForestClassifier(5, max_depth=6, random_state=1).fit(X, classes)
    path = tmp_path / "model.skops"
    skops.dump(forest, path)
    model = bring(path, columns=CODED).fitted(SPACE, "runtime", Task())
    assert isinstance(model, FittedTrees)
    np.testing.assert_allclose(model.predict(NEW)[:, 0], forest.predict(NEW), rtol=1e-12)
    skops.dump(chooser, path)
    model = bring(path, columns=CODED).fitted(SPACE, "state", Task(3), LABELS)
    assert isinstance(model, FittedTrees)
    scores = chooser.predict_proba(NEW)  # its classes are in the order of the alphabet
    np.testing.assert_allclose(model.predict(NEW), scores[:, [1, 2, 0]], atol=1e-12)
    with pytest.raises(BadInput, match="model's classes are high, low, middle"):
        bring(path, columns=CODED).fitted(SPACE, "state", Task(3), ("a", "b", "c"))
    ridge = make_pipeline(StandardScaler(), Ridge()).fit(X, law(X))
    skops.dump(ridge, path)
    model = bring(path, columns=CODED).fitted(SPACE, "runtime", Task())
    assert isinstance(model, FittedModelFile)
    np.testing.assert_allclose(model.predict(NEW)[:, 0], ridge.predict(NEW), rtol=1e-12)
    the_same_in_every_batch(model)


def test_names_in_a_skops_file_are_matched(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    X = rows()
    model = RandomForestRegressor(3, max_depth=4, random_state=1).fit(X, law(X))
    expected = model.predict(NEW)
    model.feature_names_in_ = np.array(["nodes", "application", "size"], dtype=object)
    path = tmp_path / "model.skops"
    skops.dump(model, path)
    brought = bring(path)
    with pytest.raises(CompassError, match="no column named 'application'") as told:
        brought.fitted(SPACE, "runtime", Task())
    assert "application: COLUMN" in told.value.hint
    mapped = replace(brought, columns={"application": CODED[1]})
    found = mapped.fitted(SPACE, "runtime", Task())
    np.testing.assert_allclose(found.predict(NEW)[:, 0], expected)


class Own(RegressorMixin, BaseEstimator):
    """A model of somebody's own class."""

    def fit(self, X: Any, y: Any) -> "Own":
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_types_that_skops_does_not_know_are_refused() -> None:
    skops = pytest.importorskip("skops.io")
    content = skops.dumps(Own().fit(rows(), np.ones(400)))
    refused(content, "m.skops", "Own")


@pytest.mark.parametrize(
    "change",
    [
        lambda nodes: nodes["left_child"].__setitem__(0, 10**12),
        lambda nodes: nodes["left_child"].__setitem__(0, 2**63 - 1),
        lambda nodes: nodes["feature"].__setitem__(0, 2**32),
        lambda nodes: nodes["left_child"].__setitem__(0, 0),
        lambda nodes: nodes["right_child"].__setitem__(0, -7),
        lambda nodes: nodes["feature"].__setitem__(0, 99),
        lambda nodes: nodes["threshold"].__setitem__(0, np.nan),
    ],
)
def test_forests_that_lead_astray_are_refused(change: Callable[[Any], None]) -> None:
    skops = pytest.importorskip("skops.io")
    from sklearn.ensemble import RandomForestRegressor

    X = rows()
    content = skops.dumps(RandomForestRegressor(2, max_depth=3, random_state=0).fit(X, X[:, 2]))

    def edit(files: dict[str, bytes]) -> None:
        for name, data in files.items():
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(data), allow_pickle=False).copy()
                if array.dtype.names:
                    change(array)
                    made = io.BytesIO()
                    np.save(made, array)
                    files[name] = made.getvalue()

    refused(changed(content, edit), "m.skops", "damaged")
    assert changed(content, lambda files: None)


def test_leaves_without_shares_of_classes_are_refused() -> None:
    skops = pytest.importorskip("skops.io")
    from sklearn.ensemble import RandomForestClassifier

    X = rows()
    forest = RandomForestClassifier(2, max_depth=3, random_state=0).fit(X, X[:, 1].astype(int))

    def edit(files: dict[str, bytes]) -> None:
        for name, data in files.items():
            array = np.load(io.BytesIO(data)) if name.endswith(".npy") else np.empty(0)
            if array.ndim == 3:
                made = io.BytesIO()
                np.save(made, np.full_like(array, 1e308))  # each is no share of their sum
                files[name] = made.getvalue()

    labels = (0, 1, 2)
    content = skops.dumps(forest)
    bring_bytes(content, "m.skops", columns=CODED).fitted(SPACE, "state", Task(3), labels)
    wrong = bring_bytes(changed(content, edit), "m.skops", columns=CODED)
    with pytest.raises(BadInput, match="no shares of classes"):
        wrong.fitted(SPACE, "state", Task(3), labels)


@pytest.mark.parametrize(
    ("names", "why"),
    [(["nodes", "app"], "names 2 of its 3 inputs"), (["nodes", "app", "app"], "an input twice")],
)
def test_names_that_are_not_one_for_each_input_are_refused(
    names: list[str], why: str, tmp_path: Path
) -> None:
    """Also those that the process apart tells: here of a pickle, which may say anything."""
    forest = RandomForestRegressor(2, max_depth=3, random_state=0).fit(rows(), law(rows()))
    forest.feature_names_in_ = np.array(names, dtype=object)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(forest))
    with pytest.raises(BadInput, match=why):
        bring(path, columns=CODED, allow_pickle=True)
