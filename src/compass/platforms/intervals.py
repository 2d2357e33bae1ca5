"""Intervals that hold for applications never seen: conformal over whole applications."""

import numpy as np
from numpy.typing import NDArray

from compass.platforms.pairs import Floats

COVER = 0.9
ABSTAIN_ABOVE = 5.0  # a runtime known to no better than this factor is not told


def application_quantile(
    scores: Floats, applications: NDArray[np.str_], cover: float = COVER
) -> float:
    """The quantile of scores [n, m] in which every application counts the same.

    Corrected for their number as in split-conformal prediction: with a applications the level is
    cover (1 + 1/a), at most the largest score.
    """
    known = np.isfinite(scores)
    if not known.any():
        return float("nan")
    names, place = np.unique(applications, return_inverse=True)
    of = np.broadcast_to(place[:, None], scores.shape)[known]
    values = scores[known]
    counts = np.bincount(of, minlength=len(names))
    weight = 1.0 / counts[of] / np.count_nonzero(counts)
    level = min(cover * (1 + 1 / np.count_nonzero(counts)), 1.0)
    order = np.argsort(values, kind="stable")
    reached = int(np.searchsorted(np.cumsum(weight[order]), level - 1e-12))
    return float(values[order][min(reached, len(values) - 1)])
