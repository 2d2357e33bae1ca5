"""How the networks of the family `neural` are trained: compiled, one after another."""

import math

import numpy as np

from compass.model.alone import one_thread
from compass.model.base import Floats
from compass.model.dense import Lesson
from compass.settings import NeuralSettings

_LEAST, _MOST = 16, 256  # rows of one step
_BATCHES = 12  # steps of an epoch on small tables
_STEPS = 3000  # steps on small tables; twice as many were hardly better
_VISITS = 1_600_000  # rows x epochs that are enough
_PATIENCE = 0.25  # share of the epochs without a better network that ends training


def passes(rows: int) -> int:
    """How often all rows are learnt from, at most: large tables need fewer times."""
    return max(_VISITS // max(rows, 1), 10)


def train(taught: Lesson, seed: int, chosen: NeuralSettings) -> tuple[Floats, Floats, Floats]:
    """Weights of the first, the inner and the last layers, as `neural.FittedNeural` holds them.

    A tenth of the rows is held out. Each network is kept as it was when it was best on them.
    """
    width, raw = taught.Z.shape[1], taught.frame.raw
    if float(np.ptp(taught.y)) == 0.0:
        # Nothing to tell apart: a network that always says 0, the mean.
        return np.zeros((1, width + 1, 1)), np.zeros((1, 0, 2, 1)), np.zeros((1, 2, raw))
    # A fitted model does without: this takes a while to compile the first time.
    from compass.model.perceptron_kernel import descend

    chance = np.random.default_rng(seed)
    n = len(taught.y)
    order = chance.permutation(n)
    held, rows = (order[: n // 10], order[n // 10 :]) if n >= 20 else (order, order)
    Z = np.column_stack([taught.Z, np.ones(n)]).astype(np.float32)
    y, weight = taught.y.astype(np.float32), taught.weight.astype(np.float32)
    shapes = (
        (width + 1, chosen.units),
        (chosen.layers - 1, chosen.units + 1, chosen.units),
        (chosen.units + 1, raw),
    )
    nets = []
    with one_thread():
        for _ in range(chosen.members):
            net = start(shapes, chance)
            draws = chance.integers(2**63, size=1, dtype=np.uint64)
            classes = taught.frame.task.classes is not None
            descend(net, Z, y, weight, held, rows.copy(), draws, plan(len(rows), chosen), classes)
            nets.append(net.astype(np.float64))
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = np.split(np.array(nets), ends, axis=1)
    first, inner, last = (p.reshape(-1, *s) for p, s in zip(parts, shapes, strict=True))
    return first, inner, last


def start(shapes: tuple[tuple[int, ...], ...], chance: np.random.Generator) -> np.ndarray:
    parts = []
    for shape, gain in zip(shapes, (1.0, 1.0, 0.1), strict=True):
        weights = chance.standard_normal(shape, dtype=np.float32) * (gain / math.sqrt(max(shape[-2] - 1, 1)))
        weights[..., -1, :] = 0.0
        parts.append(weights.ravel().astype(np.float32))
    return np.concatenate(parts)


def plan(n: int, chosen: NeuralSettings) -> tuple[int, int, int, int, float, float, float]:
    batch = min(n, max(_LEAST, min(_MOST, 2 ** round(math.log2(max(n / _BATCHES, 1))))))
    epochs = max(min(chosen.epochs, passes(n), _STEPS // (n // batch)), 10)
    return chosen.layers, chosen.units, batch, epochs, chosen.rate, chosen.decay, _PATIENCE
