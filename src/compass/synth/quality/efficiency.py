"""Machine-learning efficiency: models trained on synthetic rows, tested on real ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from compass.domain.space import Category, Space
from compass.execute.one_thread import one_thread
from compass.synth.base import Floats
from compass.synth.quality.dense import dense

_TREES = 100
MODELS = ("random forest", "decision tree", "linear")  # PERFGEN, section IV-A; linear or logistic


@dataclass(frozen=True)
class Efficiency:
    """What one kind of model reaches on real rows, by what it was trained on."""

    model: str
    measure: str  # accuracy or mean squared error
    real: float
    synthetic: float
    auc_real: float | None = None  # of two or more classes
    auc_synthetic: float | None = None

    @property
    def gap(self) -> float:
        """How much is lost: accuracy, or the error's growth as a share of the real one."""
        if self.measure == "accuracy":
            return self.real - self.synthetic
        return self.synthetic / max(self.real, 1e-12) - 1


def efficiencies(
    space: Space, target: str, train: Floats, synthetic: Floats, test: Floats, seed: int = 0
) -> tuple[Efficiency, ...]:
    """Each kind of model, trained on real and on synthetic rows, tested on others [k, d]."""
    place = space.names.index(target)
    others = [name for name in space.names if name != target]
    view = space.select(others)
    columns = [space.names.index(name) for name in others]
    tables = [rows[:, columns] for rows in (train, synthetic, test)]
    X = dense(view, tables[0], *tables)
    y = [rows[:, place] for rows in (train, synthetic, test)]
    classes = isinstance(space[target], Category)
    found = []
    with one_thread():
        for name in MODELS:
            scores = [_score(name, classes, X[k], y[k], X[2], y[2], seed) for k in (0, 1)]
            (real, auc), (made, auc_made) = scores
            measure = "accuracy" if classes else "mean squared error"
            shown = "logistic" if classes and name == "linear" else name
            found.append(Efficiency(shown, measure, real, made, auc, auc_made))
    return tuple(found)


def best(found: tuple[Efficiency, ...]) -> Efficiency:
    """The kind of model that is best on real rows, as in the tables of PERFGEN."""
    if found[0].measure == "accuracy":
        return max(found, key=lambda one: one.real)
    return min(found, key=lambda one: one.real)


def _score(
    name: str, classes: bool, X: Floats, y: Floats, X_test: Floats, y_test: Floats, seed: int
) -> tuple[float, float | None]:
    """Accuracy and area under the curve, or the mean squared error."""
    if classes and len(np.unique(y)) < 2:
        return float((y_test == y[0]).mean()), 0.5
    model = _model(name, classes, seed)
    model.fit(X, y)
    predicted = model.predict(X_test)
    if not classes:
        return float(np.square(predicted - y_test).mean()), None
    return float((predicted == y_test).mean()), _auc(model, X_test, y_test)


def _auc(model: Any, X: Floats, y: Floats) -> float | None:
    from sklearn.metrics import roc_auc_score

    known = model.classes_
    present = np.unique(y)
    if len(present) < 2 or not np.isin(present, known).all():
        return None
    scores = model.predict_proba(X)
    if len(known) == 2:
        return float(roc_auc_score(y, scores[:, 1]))
    one_hot = y[:, None] == known[None, :]
    counted = one_hot.any(axis=0)
    return float(roc_auc_score(one_hot[:, counted], scores[:, counted], average="macro"))


def _model(name: str, classes: bool, seed: int) -> Any:
    """As scikit-learn has them, with its own settings (PERFGEN, section IV-A)."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    match name, classes:
        case "random forest", True:
            return RandomForestClassifier(_TREES, random_state=seed, n_jobs=1)
        case "random forest", False:
            return RandomForestRegressor(_TREES, random_state=seed, n_jobs=1)
        case "decision tree", True:
            return DecisionTreeClassifier(random_state=seed)
        case "decision tree", False:
            return DecisionTreeRegressor(random_state=seed)
        case _, True:
            return LogisticRegression(max_iter=2000, tol=1e-3)
        case _:
            return LinearRegression()
