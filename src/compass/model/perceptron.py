"""How the networks of the family `neural` are trained: compiled, one after another.

Decision 0016 (docs/decisions).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.model.base import Floats
from compass.model.dense import DenseRows
from compass.native import kernel
from compass.settings import NeuralSettings

Singles = NDArray[np.float32]

_LEAST, _MOST = 16, 256  # rows of one step
_BATCHES = 24  # steps of an epoch on small tables
_STEPS = 6000  # of training, at most; half as many were 10 % worse
_VISITS = 800_000  # rows x epochs that are enough
_FEWEST = 10  # times that the rows of huge tables are learnt from
_PATIENCE = 0.25  # share of the epochs without a better network that ends training

_descend = kernel("descend")


def passes(rows: int) -> int:
    """How often all rows are learnt from, at most: large tables need fewer times."""
    steps = max(rows // _batch(rows), 1)
    return max(min(_STEPS // steps, _VISITS // max(rows, 1)), _FEWEST)


def train(data: DenseRows, seed: int, chosen: NeuralSettings) -> tuple[Floats, Floats, Floats]:
    """Weights of the first, the inner and the last layers, as `neural.FittedNeural` holds them.

    A tenth of the rows is held out. Each network is kept as it was when it was best on them.
    """
    width, units, raw = data.Z.shape[1], chosen.units, data.frame.raw
    if float(np.ptp(data.y)) == 0.0:
        # Nothing to tell apart: a network that always says 0, the mean.
        return np.zeros((1, width + 1, 1)), np.zeros((1, 0, 2, 1)), np.zeros((1, 2, raw))
    chance = np.random.default_rng(seed)
    n = len(data.y)
    order = chance.permutation(n)
    held, rows = (order[: n // 10], order[n // 10 :]) if n >= 20 else (order, order)
    Z = np.column_stack([data.Z, np.ones(n)]).astype(np.float32)
    y, weight = data.y.astype(np.float32), data.weight.astype(np.float32)
    batch, epochs = _batch(len(rows)), min(chosen.epochs, passes(len(rows)))
    plan = (chosen.layers, units, batch, epochs, chosen.rate, chosen.decay, _PATIENCE)
    classes, least = int(data.frame.task.classes is not None), np.empty(1)
    shapes = ((width + 1, units), (chosen.layers - 1, units + 1, units), (units + 1, raw))
    nets = []
    for _ in range(chosen.members):
        net = np.concatenate([part.ravel() for part in _start(shapes, chance)])
        draws = chance.integers(2**63, size=1, dtype=np.uint64)
        _descend(net, Z, y, weight, held, rows.copy(), draws, *plan, classes, least)
        nets.append(net.astype(np.float64))
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(np.array(nets), ends[:-1], axis=1)
    first, inner, last = (
        part.reshape(len(nets), *shape) for part, shape in zip(parts, shapes, strict=True)
    )
    return first, inner, last


def _batch(rows: int) -> int:
    """Rows of one step: a power of two, unless there are fewer rows than that."""
    even = 1 << round(math.log2(max(rows / _BATCHES, 1)))
    return max(min(rows, max(_LEAST, min(_MOST, even))), 1)


def _start(shapes: Sequence[tuple[int, ...]], chance: np.random.Generator) -> list[Singles]:
    """Random weights of each layer of one network; offsets, the last rows, are 0."""
    parts: list[Singles] = []
    for shape, gain in zip(shapes, (1.0, 1.0, 0.1), strict=True):
        weights = chance.normal(0.0, gain / math.sqrt(max(shape[-2] - 1, 1)), shape)
        weights[..., -1, :] = 0.0
        parts.append(weights.astype(np.float32))
    return parts
