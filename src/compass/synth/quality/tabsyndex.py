"""TabSynDex (Chundawat et al. 2022): the mean of five scores between 0 and 1.

Written from the description in that paper; where it leaves a choice, it is said here. Labels count
as their positions. Relative errors are of the size of the real value, at most 1.
"""

import numpy as np

from compass.domain.space import Space
from compass.execute.one_thread import one_thread
from compass.synth.base import Floats
from compass.synth.quality.dense import dense, pairs
from compass.synth.quality.efficiency import Efficiency

_BINS = 20  # of the support coverage
_ALPHA = 1.2  # of the pMSE index


def tabsyndex(
    space: Space, real: Floats, synthetic: Floats, found: tuple[Efficiency, ...], seed: int = 0
) -> dict[str, float]:
    """The five scores and their mean, `tabsyndex` (PERFGEN, equation 1)."""
    parts = {
        "basic statistics": basic_statistics(real, synthetic),
        "correlation": log_correlation(real, synthetic),
        "pMSE index": pmse_index(space, real, synthetic, seed),
        "support coverage": support_coverage(real, synthetic),
        "efficiency": efficiency_index(found),
    }
    return {**parts, "tabsyndex": float(np.mean(list(parts.values())))}


def _relative(real: Floats, synthetic: Floats) -> Floats:
    """Relative errors, at most 1; where the real value is 0 the error is 0 or 1."""
    away = np.abs(real - synthetic)
    size = np.abs(real)
    none = np.where(away > 1e-12, 1.0, 0.0)
    return np.minimum(np.where(size > 1e-12, away / np.maximum(size, 1e-12), none), 1.0)


def basic_statistics(real: Floats, synthetic: Floats) -> float:
    """1 - the mean relative error of means, medians and standard deviations."""
    errors = [
        _relative(np.asarray(of(real)), np.asarray(of(synthetic)))
        for of in (
            lambda rows: rows.mean(axis=0),
            lambda rows: np.median(rows, axis=0),
            lambda rows: rows.std(axis=0),
        )
    ]
    return float(1 - np.mean(errors))


def log_correlation(real: Floats, synthetic: Floats) -> float:
    """1 - the mean relative error of sign(r) log |r| over the pairs of columns."""
    if real.shape[1] < 2:
        return 1.0
    with np.errstate(all="ignore"):
        tables = [np.asarray(np.nan_to_num(np.corrcoef(rows.T))) for rows in (real, synthetic)]
    at = tuple(np.array(pairs(real.shape[1])).T)
    # Of nothing the logarithm is minus infinity: a thousandth is as little as is looked at.
    logs = [np.sign(table[at]) * np.log(np.clip(np.abs(table[at]), 1e-3, 1.0)) for table in tables]
    return float(1 - _relative(*logs).mean())


def pmse_index(space: Space, real: Floats, synthetic: Floats, seed: int = 0) -> float:
    """How far the propensity's mean squared error is from what chance alone gives (Snoke 2018).

    Of a logistic regression; alpha ** -|1 - pMSE / pMSE_0| with alpha 1.2.
    """
    from sklearn.linear_model import LogisticRegression

    del seed
    a, b = dense(space, real, real, synthetic)
    X, y = np.vstack([a, b]), np.repeat([0.0, 1.0], [len(a), len(b)])
    share = len(b) / len(X)
    with one_thread():
        model = LogisticRegression(max_iter=1000, tol=1e-3).fit(X, y)
    pmse = np.square(model.predict_proba(X)[:, 1] - share).mean()
    by_chance = X.shape[1] * (1 - share) ** 2 * share / len(X)
    return float(_ALPHA ** -abs(1 - pmse / by_chance))


def support_coverage(real: Floats, synthetic: Floats) -> float:
    """How far the synthetic rows fill the bins that real rows fill, at most wholly each."""
    scores = []
    for a, b in zip(real.T, synthetic.T, strict=True):
        edges = np.histogram_bin_edges(a, bins=min(_BINS, len(np.unique(a))))
        there, _ = np.histogram(a, edges)
        made, _ = np.histogram(np.clip(b, edges[0], edges[-1]), edges)
        filled = there > 0
        ratio = (made[filled] / len(b)) / (there[filled] / len(a))
        scores.append(np.minimum(ratio, 1.0).mean())
    return float(np.mean(scores))


def efficiency_index(found: tuple[Efficiency, ...]) -> float:
    """1 - the mean relative error of what models reach with synthetic rows."""
    if not found:
        return 1.0
    real = np.array([one.real for one in found])
    made = np.array([one.synthetic for one in found])
    return float(1 - _relative(real, made).mean())
