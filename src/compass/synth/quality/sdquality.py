"""The quality score of SDMetrics, written from its documentation.

The mean of two scores. Column shapes: 1 - the Kolmogorov-Smirnov distance of numbers, 1 - the total
variation of labels. Column pair trends: 1 - half the difference of correlations for two numbers,
1 - the total variation of the contingency table for all others, where numbers are put into ten
bins. `own-bin` takes for each table the bins of its own column, as the report of SDMetrics does;
`shared-bin` takes the bins of the real column for both tables. A shift of a whole column hardly
shows in the first: both numbers are reported by name. All pairs count: SDMetrics 0.32 leaves out
those that have little to do with each other in the real rows, unless its thresholds are set to 0.
"""

from typing import Literal

import numpy as np
from scipy.stats import ks_2samp

from compass.domain.space import Category, Space
from compass.synth.base import Floats
from compass.synth.quality.dense import pairs, shares

Bins = Literal["shared-bin", "own-bin"]

_BINS = 10


def sd_quality(space: Space, real: Floats, synthetic: Floats, bins: Bins = "shared-bin") -> float:
    """The overall score of synthetic rows [m, d] beside real ones [n, d]: 1 is best."""
    scores = [column_shapes(space, real, synthetic)]
    if len(space) > 1:
        scores.append(pair_trends(space, real, synthetic, bins))
    return float(np.mean(scores))


def column_shapes(space: Space, real: Floats, synthetic: Floats) -> float:
    """The mean likeness of single columns."""
    found = []
    for place, parameter in enumerate(space):
        a, b = real[:, place], synthetic[:, place]
        if isinstance(parameter, Category):
            count = len(parameter.values)
            found.append(1 - np.abs(shares(a, count) - shares(b, count)).sum() / 2)
        else:
            found.append(1 - ks_2samp(a, b, method="asymp").statistic)
    return float(np.mean(found))


def pair_trends(space: Space, real: Floats, synthetic: Floats, bins: Bins = "shared-bin") -> float:
    """The mean likeness of what two columns have to do with each other.

    A correlation that is not defined (a constant column) leaves its pair out.
    """
    labels = [isinstance(parameter, Category) for parameter in space]
    codes = [_codes(space, real, synthetic, place, bins) for place in range(len(space))]
    with np.errstate(all="ignore"):
        one, other = (np.asarray(np.corrcoef(rows.T)) for rows in (real, synthetic))
    found = []
    for a, b in pairs(len(space)):
        if not labels[a] and not labels[b]:
            found.append(1 - abs(one[a, b] - other[a, b]) / 2)
            continue
        (real_a, made_a, count_a), (real_b, made_b, count_b) = codes[a], codes[b]
        count = count_a * count_b
        p = shares(real_a * count_b + real_b, count)
        q = shares(made_a * count_b + made_b, count)
        found.append(1 - np.abs(p - q).sum() / 2)
    kept = [score for score in found if np.isfinite(score)]
    return float(np.mean(kept)) if kept else 1.0


def _codes(
    space: Space, real: Floats, synthetic: Floats, place: int, bins: Bins
) -> tuple[Floats, Floats, int]:
    """A column of both tables as positions, and how many there are."""
    parameter = space.parameters[place]
    a, b = real[:, place], synthetic[:, place]
    if isinstance(parameter, Category):
        return a, b, len(parameter.values)
    edges = np.histogram_bin_edges(a, bins=_BINS)
    own = edges if bins == "shared-bin" else np.histogram_bin_edges(b, bins=_BINS)
    # As digitize counts: below the first edge, ten bins, and from the last edge on.
    return (
        np.digitize(a, edges).astype(np.float64),
        np.digitize(b, own).astype(np.float64),
        _BINS + 2,
    )
