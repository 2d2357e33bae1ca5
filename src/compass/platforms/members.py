"""The members of the combination: what each predicts of the log runtime ratio."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compass.platforms.base import Member, Predict, Training
from compass.platforms.pairs import Floats

_TINY = 1e-300


def machine_means(training: Training) -> Floats:
    """The weighted mean log ratio of each machine, [m]; nan where there is none."""
    known = np.isfinite(training.log_ratio)
    share = np.where(known, training.weight[:, None], 0.0)
    total = share.sum(axis=0)
    summed = (np.where(known, training.log_ratio, 0.0) * share).sum(axis=0)
    return np.where(total > 0, summed / np.maximum(total, _TINY), np.nan)


@dataclass(frozen=True)
class MachineMean:
    """The geometric mean of each machine's ratios, whatever the profile."""

    name: str = "mean"
    view: str = "raw"

    def fit(self, training: Training) -> Predict:
        """The means over applications."""
        means = machine_means(training)
        return lambda X: np.tile(means, (len(X), 1))


@dataclass(frozen=True)
class Neighbours:
    """The applications with the most alike profiles, each by its nearest lines."""

    name: str = "neighbours"
    view: str = "physical"
    lines: int = 15  # of an application

    def fit(self, training: Training) -> Predict:
        """Keep the lines."""
        means = machine_means(training)
        residual = training.log_ratio - means
        own = [np.flatnonzero(training.applications == a) for a in np.unique(training.applications)]

        def predict(X: Floats) -> Floats:
            found = [self._of(training.X[rows], residual[rows], X) for rows in own]
            distance = np.array([d for d, _ in found])  # [a, k]
            value = np.array([v for _, v in found])  # [a, k, m]
            width = 0.5 * np.median(distance, axis=0) + 1e-9
            share = np.exp(-(distance - distance.min(axis=0)) / width)[:, :, None]
            known = np.isfinite(value)
            share = np.where(known, share, 0.0)
            summed = (np.where(known, value, 0.0) * share).sum(axis=0)
            return np.asarray(means + summed / np.maximum(share.sum(axis=0), _TINY))

        return predict

    def _of(self, Z: Floats, residual: Floats, X: Floats) -> tuple[Floats, Floats]:
        """Mean distance [k] to the nearest lines of one application, and their mean residual."""
        squared = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T
        distance = np.maximum(squared, 0.0) / max(X.shape[1], 1)
        nearest = np.argsort(distance, axis=1, kind="stable")[:, : self.lines]
        there = residual[nearest]
        known = np.isfinite(there)
        mean = np.where(known, there, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        mean = np.where(known.any(axis=1), mean, np.nan)
        return np.take_along_axis(distance, nearest, axis=1).mean(axis=1), mean


@dataclass(frozen=True)
class RidgeResiduals:
    """A straight line per machine through what is left of the mean."""

    name: str = "ridge"
    view: str = "physical"
    penalty: float = 1.0

    def fit(self, training: Training) -> Predict:
        """Weighted ridge regression, machine by machine."""
        means, X = machine_means(training), training.X
        slopes = np.zeros((X.shape[1], len(means)))
        for machine in np.flatnonzero(np.isfinite(means)):
            known = np.isfinite(training.log_ratio[:, machine])
            Z, weight = X[known], training.weight[known] / training.weight[known].sum()
            left = training.log_ratio[known, machine] - means[machine]
            inner = (Z * weight[:, None]).T @ Z + self.penalty * np.eye(X.shape[1])
            slopes[:, machine] = np.linalg.solve(inner, (Z * weight[:, None]).T @ left)
        return lambda rows: np.asarray(means + rows @ slopes)


@dataclass(frozen=True)
class BoostedResiduals:
    """Boosted trees on what is left of the mean, all machines together."""

    name: str = "boosted residuals"
    view: str = "physical"
    objective: str = "l2"
    rounds: int = 120
    chosen: dict[str, Any] = field(
        default_factory=lambda: {
            "learning_rate": 0.05,
            "num_leaves": 7,
            "min_data_in_leaf": 5,
            "bagging_fraction": 0.7,
            "bagging_freq": 1,
            "feature_fraction": 0.4,
            "lambda_l2": 5.0,
        }
    )

    def fit(self, training: Training) -> Predict:
        """One model; the machine is a column per machine."""
        import lightgbm

        means = machine_means(training)
        line, machine = np.nonzero(np.isfinite(training.log_ratio))
        left = training.log_ratio[line, machine] - means[machine]
        parameters = self.chosen | {
            "objective": self.objective,
            "seed": training.seed % 2**31,
            "num_threads": 1,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(
            _with_machine(training.X[line], machine, len(means)),
            left,
            weight=training.weight[line],
            params=parameters,
        )
        grown = lightgbm.train(parameters, data, num_boost_round=self.rounds)

        def predict(X: Floats) -> Floats:
            return means + _every_machine(grown.predict, X, len(means))

        return predict


@dataclass(frozen=True)
class BoostedRatio:
    """Boosted trees on the log ratio of each machine."""

    name: str = "boosted ratio, raw"
    view: str = "raw"
    rounds: int = 100
    chosen: dict[str, Any] = field(
        default_factory=lambda: {
            "max_depth": 4,
            "learning_rate": 0.1,
            "max_bin": 64,
            "subsample": 0.8,
            "colsample_bytree": 0.5,
        }
    )

    def fit(self, training: Training) -> Predict:
        """One model per machine."""
        grown = [self._grown(training, place) for place in range(training.log_ratio.shape[1])]
        return lambda X: np.column_stack([of_machine(X) for of_machine in grown])

    def _grown(self, training: Training, machine: int) -> Predict:
        import xgboost

        y = training.log_ratio[:, machine]
        known = np.isfinite(y)
        y = y[known]
        if not len(y) or np.ptp(y) < 1e-12:
            constant = float(y[0]) if len(y) else np.nan
            return lambda X: np.full(len(X), constant)
        parameters = self.chosen | {
            "objective": "reg:squarederror",
            "seed": training.seed % 2**31,
            "nthread": 1,
            "verbosity": 0,
        }
        weight = training.weight[known]
        data = xgboost.DMatrix(training.X[known], y, weight=weight, nthread=1)
        model = xgboost.train(parameters, data, num_boost_round=self.rounds)

        def predict(X: Floats) -> Floats:
            return np.asarray(model.predict(xgboost.DMatrix(X, nthread=1)), dtype=np.float64)

        return predict


@dataclass(frozen=True)
class PlainRatio:
    """XGBoost as it comes on the ratio itself, all machines together, as in the papers."""

    name: str = "plain ratio, raw"
    view: str = "raw"
    rounds: int = 100  # XGBoost's default, like all that is not named

    def fit(self, training: Training) -> Predict:
        """One model; the machine is a column per machine."""
        import xgboost

        machines = training.log_ratio.shape[1]
        line, machine = np.nonzero(np.isfinite(training.log_ratio))
        ratio = np.exp(training.log_ratio[line, machine])
        X = _with_machine(training.X[line], machine, machines)
        parameters = {
            "max_bin": 64,  # as good as XGBoost's 256 for so few rows, and quicker
            "seed": training.seed % 2**31,
            "nthread": 1,
            "verbosity": 0,
        }
        data = xgboost.DMatrix(X, ratio, nthread=1)
        model = xgboost.train(parameters, data, num_boost_round=self.rounds)
        least = float(ratio.min())  # trees of the ratio can go below 0

        def predict(X: Floats) -> Floats:
            found = _every_machine(
                lambda Z: model.predict(xgboost.DMatrix(Z, nthread=1)), X, machines
            )
            return np.log(np.maximum(found.astype(np.float64), least))

        return predict


@dataclass(frozen=True)
class RatioForest:
    """A random forest of what is left of the means, all machines in one vector."""

    name: str = "forest"
    view: str = "raw"
    trees: int = 60
    leaf: int = 3  # lines
    columns: float = 0.5  # share that a split may use

    def fit(self, training: Training) -> Predict:
        """One model; a line that was not run on a machine counts as usual there."""
        from sklearn.ensemble import RandomForestRegressor

        means = machine_means(training)
        known = np.isfinite(means)
        if not training.X.shape[1]:
            return lambda X: np.tile(means, (len(X), 1))
        left = (training.log_ratio - means)[:, known]
        model = RandomForestRegressor(
            n_estimators=self.trees,
            min_samples_leaf=self.leaf,
            max_features=self.columns,
            random_state=training.seed % 2**31,
            n_jobs=1,
        )
        model.fit(training.X, np.where(np.isfinite(left), left, 0.0), training.weight)

        def predict(X: Floats) -> Floats:
            found = np.tile(means, (len(X), 1))
            if len(X):
                found[:, known] += model.predict(X).reshape(len(X), -1)
            return found

        return predict


# Those that the median starts from; validation says which stay.
MEMBERS: tuple[Member, ...] = (
    MachineMean(),
    Neighbours(),
    RidgeResiduals(),
    BoostedResiduals(),
    BoostedResiduals(name="boosted residuals, raw", view="raw", objective="l1"),
    BoostedRatio(),
    PlainRatio(),
    RatioForest(),
)


def _with_machine(X: Floats, machine: np.ndarray, machines: int) -> Floats:
    return np.column_stack([X, np.eye(machines)[machine]])


def _every_machine(predict: Any, X: Floats, machines: int) -> Floats:
    each = [
        predict(_with_machine(X, np.full(len(X), place), machines)) for place in range(machines)
    ]
    return np.column_stack(each) if len(X) else np.zeros((0, machines))
