"""How right predictions are: per application, then the mean over applications."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Means over applications, with a 95 % interval of the first."""

    mape: float  # percent
    half: float
    log_error: float
    tau: float
    exact: float  # percent of lines with every machine in its place


def scores(found: Floats, truth: Floats, applications: NDArray[np.str_], source: int) -> Scores:
    """Of predicted and measured log ratios [n, m]; the source counts for the order only."""
    each = []
    for application in np.unique(applications):
        own = applications == application
        error = np.delete(found[own] - truth[own], source, axis=1)
        error = error[np.isfinite(error)]
        if not len(error):
            continue
        order = [ranked(p, t) for p, t in zip(found[own], truth[own], strict=True)]
        order = [pair for pair in order if pair is not None]
        each.append(
            (
                100 * np.abs(np.expm1(np.minimum(error, 50))).mean(),
                np.abs(error).mean(),
                np.mean([tau for tau, _ in order]),
                100 * np.mean([exact for _, exact in order]),
            )
        )
    table = np.array(each)
    half = 1.96 * table[:, 0].std(ddof=1) / np.sqrt(len(table))
    mean = table.mean(axis=0)
    return Scores(float(mean[0]), float(half), *(float(value) for value in mean[1:]))


def ranked(found: Floats, truth: Floats) -> tuple[float, bool] | None:
    """Kendall's tau of one line, and whether all pairs of machines are in the right order."""
    known = np.isfinite(found) & np.isfinite(truth)
    if known.sum() < 2:
        return None
    first, second = np.triu_indices(int(known.sum()), 1)
    right = np.sign(truth[known][first] - truth[known][second])
    told = np.sign(found[known][first] - found[known][second])
    pairs = max(int((right != 0).sum()), 1)
    return float((right * told).sum() / pairs), bool((told == right)[right != 0].all())
