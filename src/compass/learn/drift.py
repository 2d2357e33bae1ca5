"""What changed between the runs a model learnt from and those that came later.

Columns are compared one by one: numbers by the Kolmogorov-Smirnov distance, labels by the total
variation distance, both between 0 (the same distribution) and 1 (nothing in common). Whether the
law behind the outcomes changed is read from the errors of one model on old and on new runs.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import ColumnDrift
from compass.domain.errors import DataProblem
from compass.domain.space import Category, Space
from compass.prepare.weigh import mean, thinned

Floats = NDArray[np.float64]
Kind = Literal["none", "inputs", "law"]

LEAST = 0.1  # a smaller distance is of no use to know, however sure it is
WORSE = 1.2  # new errors below this many times the old ones are no other law
_ALARM = 0.05  # chance that any column of an unchanged table is called changed
_CHANCE = 0.01  # chance that an unchanged law is called another one
_DRAWS = 4000  # tables of labels drawn to see what chance does
_MANY = 50  # labels from which the distance that chance gives is as good as normal
_SHUFFLES = (199, 1999)  # of errors: at least, at most
_SHUFFLED = 20_000_000  # errors that are shuffled in total
_PLENTY = 5000  # errors of each kind from which their means are as good as normal
_NAMED = 3  # columns that a reason names


def drift(
    old: Floats,
    new: Floats,
    features: Space,
    *,
    seed: int = 0,
    old_weight: Floats | None = None,
    new_weight: Floats | None = None,
) -> tuple[ColumnDrift, ...]:
    """How far the columns of new runs float64[m, d] lie from those of old ones float64[n, d].

    The most changed come first. A column has drifted if its distance is above what chance alone
    exceeds once in twenty tables without any change, and above 0.1.
    """
    if not len(old) or not len(new):
        raise DataProblem(
            "runs that are not there cannot be compared", hint="add at least one run first"
        )
    weights = [_shares(len(old), old_weight), _shares(len(new), new_weight)]
    # Runs that count differently tell as much as fewer runs that count alike (Kish).
    sizes = [float(1.0 / np.sum(share**2)) for share in weights]
    level = _ALARM / max(len(features), 1)
    rng = np.random.default_rng(seed)
    found = []
    for place, parameter in enumerate(features):
        columns = old[:, place], new[:, place]
        if isinstance(parameter, Category):
            shares = _tables(columns, weights, len(parameter.values))
            distance = total_variation(*shares)
            expected = _label_chance(shares, sizes, level, rng)
        else:
            distance = kolmogorov_smirnov(*columns, *weights)
            expected = _number_chance(sizes, level)
        found.append(
            ColumnDrift(
                column=parameter.name,
                distance=distance,
                expected=expected,
                drifted=distance > expected and distance > LEAST,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.distance, one.column)))


def verdict(
    columns: Sequence[ColumnDrift],
    before: Floats,
    after: Floats,
    *,
    seed: int,
    weights: tuple[Floats | None, Floats | None] = (None, None),
) -> tuple[Kind, str]:
    """What kind of change it is, and why, from one model's errors on old and on new runs.

    `before` float64[n] and `after` float64[m] are absolute relative errors on runs that the model
    did not learn from. "law": the model is worse on new runs, by more than a fifth and beyond
    chance (1 %); "inputs": it is not, but other configurations were run; "none" otherwise.
    `weights` say how much the runs count, [n] and [m]. Chance is judged by runs that
    count alike: of a sample those that a plain one would hold.
    """
    old, new = (
        mean(errors, weight) if len(errors) else math.nan
        for errors, weight in zip((before, after), weights, strict=True)
    )
    rng = np.random.default_rng(seed)
    alike = [
        errors[thinned(weight, len(errors), rng)]
        for errors, weight in zip((before, after), weights, strict=True)
    ]
    if new > WORSE * old and _beyond_chance(alike[0], alike[1], seed):
        return "law", (
            f"the outcomes follow another law: the error on new runs is {new:.1%}, "
            f"on runs like the old ones it is {old:.1%}"
        )
    changed = [column.column for column in columns if column.drifted]
    if changed:
        named = ", ".join(f"'{name}'" for name in changed[:_NAMED])
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        known = "" if math.isnan(new) else ", but they are predicted as well as the old ones"
        return "inputs", f"the new runs have other values of {named}{more}{known}"
    if math.isnan(new):
        return "none", "the new runs have the values of the old ones"
    return "none", "the new runs have the values of the old ones and are predicted as well"


def kolmogorov_smirnov(
    old: Floats, new: Floats, old_share: Floats | None = None, new_share: Floats | None = None
) -> float:
    """The largest gap between the shares of two samples that lie below a value, 0 .. 1."""
    values = np.concatenate([old, new])
    steps = np.empty(len(values))
    steps[: len(old)] = 1 / len(old) if old_share is None else old_share
    steps[len(old) :] = -1 / len(new) if new_share is None else -new_share
    order = np.argsort(values)
    values = values[order]
    # Equal values are passed together.
    passed = np.append(values[1:] != values[:-1], True)
    return float(min(1.0, np.abs(np.cumsum(steps[order])[passed]).max()))


def total_variation(old: Floats, new: Floats) -> float:
    """Half the sum of the differences of two tables of shares float64[labels], 0 .. 1."""
    return float(min(1.0, 0.5 * np.abs(old - new).sum()))


def _shares(rows: int, weight: Floats | None) -> Floats:
    if weight is None or not weight.sum() > 0:
        return np.full(rows, 1.0 / rows)
    return np.asarray(weight / weight.sum())


def _tables(columns: Sequence[Floats], weights: Sequence[Floats], labels: int) -> list[Floats]:
    labels = max(labels, *(int(column.max()) + 1 for column in columns))
    return [
        np.bincount(column.astype(np.int64), weights=share, minlength=labels).astype(np.float64)
        for column, share in zip(columns, weights, strict=True)
    ]


def _number_chance(sizes: Sequence[float], level: float) -> float:
    """The distance that two samples of one distribution exceed with this chance.

    Massart's bound of the limit, with Stephens' correction for small samples; ties make it safer.
    """
    both = math.sqrt(sizes[0] * sizes[1] / (sizes[0] + sizes[1]))
    wide = math.sqrt(-0.5 * math.log(level / 2))
    return min(1.0, wide / (both + 0.12 + 0.11 / both))


def _label_chance(
    tables: Sequence[Floats], sizes: Sequence[float], level: float, rng: np.random.Generator
) -> float:
    """The distance that two samples of the common table exceed with this chance, by drawing."""
    pooled = sizes[0] * tables[0] + sizes[1] * tables[1]
    pooled = pooled / pooled.sum()
    many = len(pooled) > _MANY
    drawn = []
    for size in sizes:
        count = max(1, round(size))
        draws = _DRAWS // 10 if many else _DRAWS
        drawn.append(rng.multinomial(count, pooled, size=draws) / count)
    apart = 0.5 * np.abs(drawn[0] - drawn[1]).sum(axis=1)
    if many:
        found = float(apart.mean() + NormalDist().inv_cdf(1 - level) * apart.std())
    else:
        found = float(np.quantile(apart, 1 - level, method="higher"))
    return min(1.0, found)


def _beyond_chance(before: Floats, after: Floats, seed: int) -> bool:
    """Whether the mean of `after` is higher: Welch's statistic against that of shuffled errors."""
    if len(before) < 2 or len(after) < 2:
        return False
    errors = np.concatenate([before, after])
    sums = np.column_stack([errors, errors**2])
    old, new, everything = sums[: len(before)], sums[len(before) :], sums.sum(axis=0)
    seen = _welch(old.sum(axis=0)[None], len(old), new.sum(axis=0)[None], len(new))[0]
    fewer = min(len(old), len(new))
    if fewer >= _PLENTY:
        return bool(seen > NormalDist().inv_cdf(1 - _CHANCE))
    rng = np.random.default_rng(seed)
    shuffles = int(np.clip(_SHUFFLED // len(errors), *_SHUFFLES))
    drawn = np.empty((shuffles, 2))
    for shuffle in range(shuffles):
        places = rng.choice(len(errors), fewer, replace=False, shuffle=False)
        drawn[shuffle] = sums[places].sum(axis=0)
    pair = (drawn, everything - drawn) if fewer == len(old) else (everything - drawn, drawn)
    chance = _welch(pair[0], len(old), pair[1], len(new))
    return bool((np.count_nonzero(chance >= seen) + 1) / (shuffles + 1) <= _CHANCE)


def _welch(old: Floats, n: int, new: Floats, m: int) -> Floats:
    """Welch's statistic of pairs of samples, from sums and sums of squares float64[k, 2]."""
    means, errors = [], []
    for sums, count in ((old, n), (new, m)):
        mean = sums[:, 0] / count
        variance = np.maximum(sums[:, 1] / count - mean**2, 0.0) * count / (count - 1)
        means.append(mean)
        errors.append(variance / count)
    apart = means[1] - means[0]
    wide = np.sqrt(errors[0] + errors[1])
    return np.asarray(apart / np.maximum(wide, 1e-12 * np.abs(means[0] + means[1]) + 1e-300))
