"""Dependencies of a number on a label: `partition == 'cpu' -> gpus == 0`."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from compass.rules.functions import BoolArray
from compass.rules.mine.observations import COINCIDENCE, Observations

_LABELS = 12  # categories with more labels name things (users, jobs), not kinds
_ROWS = 20  # different configurations with the label before it counts


@dataclass(frozen=True)
class Condition:
    """Where `category` is the label at `code`, `name` is `value` (or at least 1)."""

    category: str
    code: int
    name: str
    op: str
    value: float
    rows: int
    configurations: int
    chance: float


def conditions(data: Observations, names: list[str]) -> list[Condition]:
    """What a label alone settles about a number column that varies otherwise."""
    numbers = [name for name in names if not data.is_outcome(name)]
    found: list[Condition] = []
    if not numbers or not data.categories:
        return found
    configuration = _configurations(data, numbers)
    for category in _unlike(data):
        codes = data.column(category)
        labels = np.unique(codes[~np.isnan(codes)])
        if not 1 < len(labels) <= _LABELS:
            continue
        for label in labels:
            inside = codes == label
            outside = ~inside & ~np.isnan(codes)
            for name in numbers:
                condition = _condition(data, name, inside, outside, configuration)
                if condition is not None:
                    op, value, rows, different, chance = condition
                    found.append(
                        Condition(category, int(label), name, op, value, rows, different, chance)
                    )
    return found


def _unlike(data: Observations) -> list[str]:
    """The categories that are not another one under different labels."""
    kept: list[str] = []
    for name in data.categories:
        size = len(data.distinct(name))
        twins = (k for k in kept if len(data.distinct(k)) == size)
        if size > 1 and not any(data.combinations((name, twin)) == size for twin in twins):
            kept.append(name)
    return kept


def _configurations(data: Observations, numbers: list[str]) -> npt.NDArray[np.int64]:
    """A number per row that is the same for rows with the same features."""
    key = np.zeros(len(data.X), dtype=np.int64)
    for name in (*data.categories, *numbers):
        values, codes = data.coded(name)
        _, key = np.unique(key * (len(values) + 2) + codes, return_inverse=True)
    return key.astype(np.int64)


def _condition(
    data: Observations,
    name: str,
    inside: BoolArray,
    outside: BoolArray,
    configuration: npt.NDArray[np.int64],
) -> tuple[str, float, int, int, float] | None:
    values = data.column(name)
    within, without = values[inside], values[outside]
    within, without = within[~np.isnan(within)], without[~np.isnan(without)]
    if len(within) < _ROWS or len(without) == 0:
        return None
    low, high = float(within.min()), float(within.max())
    if low == high:
        op, chance = "==", float(np.mean(without == low))
    elif data.whole(name) and low >= 1 and float(without.min()) == 0.0:
        op, low, chance = ">=", 1.0, float(np.mean(without >= 1))
    else:
        return None
    different = len(np.unique(configuration[inside & ~np.isnan(values)]))
    chance = max(chance, 1e-3)
    if different < _ROWS or chance**different > COINCIDENCE or chance > 0.9:
        return None
    return op, low, len(within), different, chance
