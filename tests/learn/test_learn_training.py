"""The final model of an outcome: trained on some rows, its error measured on the others."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from compass.learn.training import TrainingData, TrainingPlan, train_final
from compass.model.base import Task, family
from compass.model.error import mape, model_score, small
from compass.settings import ForestSettings, Settings

few = Settings(surrogate="forest", forest=ForestSettings(trees=5))


def test_the_error_of_a_final_model_is_measured_on_the_other_rows() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(80, 3))
    y = 5 + X[:, 0]
    train, valid = np.arange(60), np.arange(60, 80)
    y[valid] *= 2  # nothing that training rows could tell
    data = TrainingData(X, y, Task(), None, 1, few)
    (final,) = train_final([TrainingPlan(family("forest"), data, train, valid)])
    assert final.score.name == "MAPE"
    assert final.score.error == pytest.approx(0.5, abs=0.06)
    p = final.fitted.predict(X[valid])[:, 0]
    assert final.score.error == pytest.approx(mape(y[valid], p, scale=small(y[train])))
    assert model_score(final.fitted, X[train], y[train]).error < 0.05


def test_the_error_of_classes_is_what_macro_f1_lacks() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(90, 2))
    y = np.floor(3 * X[:, 0])
    train, valid = np.arange(0, 90, 2), np.arange(1, 90, 2)
    data = TrainingData(X, y, Task(3), np.ones(90), 1, few)
    (final,) = train_final([TrainingPlan(family("forest"), data, train, valid)])
    guess = final.fitted.predict(X[valid]).argmax(axis=1)
    assert final.score.name == "1 - macro F1"
    assert final.score.error == pytest.approx(1 - f1_score(y[valid], guess, average="macro"))
    assert final.score.error < 0.2
