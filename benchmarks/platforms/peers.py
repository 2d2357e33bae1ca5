"""What the default model is compared with: raw XGBoost, also tuned."""

import numpy as np
from numpy.typing import NDArray

from compass.platforms.pairs import Floats, MatchedRuns

_DEFAULTS = {"n_estimators": 100, "max_depth": 6, "learning_rate": 0.3}
_GRID = [
    {"n_estimators": rounds, "max_depth": depth, "learning_rate": rate, "subsample": 0.8}
    for rounds, rate in ((60, 0.1), (200, 0.05))
    for depth in (2, 4, 8)
]


def raw_xgboost(
    train: MatchedRuns, test: MatchedRuns, source: str, settings: dict | None = None
) -> Floats:
    """Log ratios [k, m] by XGBoost on the ratio, on columns as they are, as in the papers.

    The columns: configuration, counters and runtime on the source, and one per target machine.
    """
    return _fitted(train, test, source, _DEFAULTS if settings is None else settings)


def _fitted(train: MatchedRuns, test: MatchedRuns, source: str, settings: dict) -> Floats:
    from xgboost import XGBRegressor

    m = len(train.machines)
    ratio = np.exp(train.log_ratio(source))
    line, machine = np.nonzero(np.isfinite(ratio))
    other = machine != train.place(source)
    line, machine = line[other], machine[other]
    X = np.column_stack([_profile(train, source)[line], np.eye(m)[machine]])
    model = XGBRegressor(n_jobs=1, random_state=7, **settings).fit(X, ratio[line, machine])
    P = _profile(test, source)
    each = [
        model.predict(np.column_stack([P, np.tile(np.eye(m)[place], (len(P), 1))]))
        for place in range(m)
    ]
    log_ratio = np.log(np.maximum(np.column_stack(each), 1e-3))
    log_ratio[:, train.place(source)] = 0.0
    return log_ratio


def tuned(train: MatchedRuns, source: str) -> dict:
    """The settings with the lowest MAPE on applications left out in turn, at most three parts.

    Chosen once on all applications, those that are scored later included: in its favour.
    """
    names, place = np.unique(train.applications, return_inverse=True)
    fold = np.random.default_rng(7).permutation(len(names)) % min(3, len(names))
    errors = [_error(train, source, fold[place], settings) for settings in _GRID]
    return _GRID[int(np.argmin(errors))]


def _error(train: MatchedRuns, source: str, fold: NDArray[np.int64], settings: dict) -> float:
    found = []
    for part in range(fold.max() + 1):
        out = fold == part
        predicted = _fitted(train.some(~out), train.some(out), source, settings)
        off = predicted - train.some(out).log_ratio(source)
        found.append(np.nanmean(np.abs(np.expm1(off))))
    return float(np.mean(found))


def _profile(runs: MatchedRuns, source: str) -> Floats:
    place = runs.place(source)
    return np.column_stack(
        [runs.configuration, runs.counters[:, place], np.exp(runs.log_runtime[:, [place]])]
    )
