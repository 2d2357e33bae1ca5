"""What each column contributes to a prediction: Shapley values against rows to compare with.

A row x is compared with a background of rows z. For each z the difference between the two
predictions is shared out among the columns in which they differ: a column gets the mean, over all
orders in which the columns of z can be turned into those of x one by one, of what its turn changes
(interventional or baseline Shapley values). The shares are averaged over the background. They sum
to the prediction of x minus the mean prediction of the background, a column that the model does
not use gets 0, and columns that the model uses alike get the same.

This splits the prediction of a model. It does not say what would happen to the outcome.

Shares are those of the raw prediction, where that is a sum: a logarithm for models that learnt the
logarithm of an outcome (shares are then factors), log-odds for boosted classes. The trees of
libraries have their own `pred_contrib`, which follows the paths of training rows rather than a
background: it sums up alike, but the shares of correlated columns differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.execute.rows import over_rows
from compass.model.base import Fitted, Floats
from compass.model.recipe import Exponential
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.native import kernel

Predict = Callable[[Floats], Floats]  # float64[n, d] -> float64[n, r]

_TABLE = (
    30_000  # predictions that enumerating all subsets of columns may take: 8 columns x 100 rows
)
_ORDERS = 400  # pairs of orders that are sampled in total, at least
_ROUNDS = 4  # pairs of orders for each row of the background, at least
_BATCH = 16_384  # rows predicted in one call
_WALKS = 2_000  # walks of a tree that repay starting a thread

_single, _wide = kernel("contributions_single"), kernel("contributions_wide")


@dataclass(frozen=True, eq=False)
class Shapley:
    """What each column contributes to each raw output of a prediction."""

    scale: str  # "amount" | "factor" (of a logarithm) | "log-odds" | "probability"
    share: Floats  # [d, r]
    error: Floats  # [d, r] standard error of a sampled share; 0 where it is exact
    reached: Floats  # [r] the raw prediction of x
    usual: Floats  # [r] the mean raw prediction of the background
    orders: int = 0  # orders of the columns that were sampled; 0: exact

    @property
    def exact(self) -> bool:
        """Whether all orders of the columns are counted."""
        return self.orders == 0


def explained(
    model: Fitted, x: Floats, Z: Floats, weight: Floats | None = None, *, seed: int = 0
) -> Shapley:
    """The shares of x float64[d] against Z float64[b, d]; `weight` float64[b] of its rows.

    Exact for models made of trees, and for others as long as few columns differ. Otherwise orders
    of the columns are sampled, each with its reverse, for each row of the background.
    """
    x, Z, mass = _checked(x, Z, weight)
    forest = model.trees()
    if forest is not None:
        share = trees(forest, x, Z, mass)
        reached = flat.raw(forest, x[np.newaxis])[0]
        usual = _average(flat.raw(forest, Z), mass)
        return Shapley(_scale(model, forest), share, np.zeros(share.shape), reached, usual)
    if isinstance(model, Exponential):
        return _any(model.inner.predict, "factor", x, Z, mass, seed)
    scale = "amount" if model.task.classes is None else "probability"
    return _any(model.predict, scale, x, Z, mass, seed)


def trees(forest: FlatForest, x: Floats, Z: Floats, weight: Floats | None = None) -> Floats:
    """The exact shares float64[d, raw columns] of the raw prediction of an ensemble of trees."""
    x, Z, mass = _checked(x, Z, weight)
    flat.as_compared(forest, x)  # says when the number of columns does not fit
    # Rows are compared as a walk does it: cast, and what is too large counts as infinite.
    kind, contributions = (np.float32, _single) if forest.single else (np.float64, _wide)
    with np.errstate(over="ignore"):
        one = np.ascontiguousarray(x, dtype=kind)
        many = np.ascontiguousarray(Z, dtype=kind)
    used = np.unique(forest.feature[forest.feature >= 0])
    parting = int((many[:, used] != one[used]).any(axis=0).sum())
    table = _shares(parting)
    out = np.zeros((len(many), x.size, forest.offset.size))

    def run(start: int, stop: int) -> None:
        contributions(
            forest.packed,
            one,
            many,
            forest.value,
            forest.roots,
            forest.slot,
            table,
            start,
            stop,
            out,
        )

    over_rows(run, len(many), enough=max(1, _WALKS // forest.trees))
    return _average(out, mass) / forest.divisor


def enumerated(predict: Predict, x: Floats, Z: Floats, weight: Floats | None = None) -> Floats:
    """The exact shares float64[d, r] of any model, from all subsets of the columns that differ."""
    x, Z, mass = _checked(x, Z, weight)
    free = _free(x, Z)
    sets = np.arange(2 ** len(free))
    member = (sets[:, np.newaxis] >> np.arange(len(free))) & 1 == 1  # [2^m, m]
    worth = _worth(predict, x, Z, mass, free, member)
    table, sizes = _shares(len(free)), member.sum(axis=1)
    share = np.zeros((x.size, worth.shape[1]))
    for place, column in enumerate(free):
        inside = np.flatnonzero(member[:, place])
        gain = worth[inside] - worth[inside - 2**place]
        chance = table[sizes[inside], len(free) - sizes[inside]]
        share[column] = (gain * chance[:, np.newaxis]).sum(axis=0)
    return share


def sampled(
    predict: Predict,
    x: Floats,
    Z: Floats,
    weight: Floats | None = None,
    *,
    seed: int = 0,
    rounds: int | None = None,
) -> tuple[Floats, Floats, int]:
    """Shares float64[d, r] of any model from sampled orders, their standard error, how many orders.

    Each row of the background gets `rounds` orders of its own and the reverse of each. Every order
    leads from that row to x, so the shares sum to the difference whatever is drawn. The error is
    that of the orders: the background is taken as given.
    """
    x, Z, mass = _checked(x, Z, weight)
    rounds = rounds or max(_ROUNDS, ceil(_ORDERS / len(Z)))
    if rounds < 2:
        raise BadInput("two rounds are needed to tell how exact the shares are")
    free = _free(x, Z)
    rng = np.random.default_rng(seed)
    together = max(1, _BATCH // (2 * rounds * (len(free) + 1)))
    found = [
        _walked(predict, x, Z[first : first + together], free, rounds, rng)
        for first in range(0, len(Z), together)
    ]
    pairs = np.concatenate(found)  # [b, rounds, d, r]
    spread = pairs.var(axis=1, ddof=1) / rounds
    return (
        _average(pairs.mean(axis=1), mass),
        np.sqrt(_average(spread, mass**2)),
        2 * rounds * len(Z),
    )


def _any(predict: Predict, scale: str, x: Floats, Z: Floats, mass: Floats, seed: int) -> Shapley:
    reached = predict(x[np.newaxis])[0]
    usual = _average(_batched(predict, Z), mass)
    if 2 ** len(_free(x, Z)) * len(Z) <= _TABLE:
        share = enumerated(predict, x, Z, mass)
        return Shapley(scale, share, np.zeros(share.shape), reached, usual)
    share, error, orders = sampled(predict, x, Z, mass, seed=seed)
    return Shapley(scale, share, error, reached, usual, orders)


def _scale(model: Fitted, forest: FlatForest) -> str:
    """What the raw prediction of an ensemble is."""
    if forest.link == "exp":
        return "factor"
    if forest.link in ("sigmoid", "softmax"):
        return "log-odds"
    return "amount" if model.task.classes is None else "probability"


def _checked(x: Floats, Z: Floats, weight: Floats | None) -> tuple[Floats, Floats, Floats]:
    """The rows as they are used, and weights that sum to 1."""
    x, Z = np.asarray(x, dtype=np.float64), np.asarray(Z, dtype=np.float64)
    if x.ndim != 1 or Z.ndim != 2 or Z.shape[1] != x.size or not len(Z):
        raise BadInput(f"a row and the rows to compare with do not fit: {x.shape} and {Z.shape}")
    mass = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=np.float64)
    if mass.shape != (len(Z),) or not (mass >= 0).all() or not 0 < mass.sum() < np.inf:
        raise BadInput("weights must be one number >= 0 for each row, and not all 0")
    return x, Z, mass / mass.sum()


def _free(x: Floats, Z: Floats) -> NDArray[np.int64]:
    """The columns in which x differs from some row: no other can contribute."""
    return np.flatnonzero((x != Z).any(axis=0))


def _average(values: Floats, mass: Floats) -> Floats:
    """The weighted mean over the first axis, added up in the order of the rows."""
    shaped = mass.reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((values * shaped).sum(axis=0))


def _shares(columns: int) -> Floats:
    """(a-1)! b! / (a+b)! for a and b from 0 to `columns`; 0 where a = 0."""
    from scipy.special import gammaln

    a, b = np.meshgrid(np.arange(columns + 1.0), np.arange(columns + 1.0), indexing="ij")
    table = np.exp(gammaln(np.maximum(a, 1)) + gammaln(b + 1) - gammaln(np.maximum(a, 1) + b + 1))
    return np.ascontiguousarray(np.where(a > 0, table, 0.0))


def _batched(predict: Predict, X: Floats) -> Floats:
    edges = [*range(0, len(X), _BATCH), len(X)]
    return np.concatenate([predict(np.ascontiguousarray(X[a:b])) for a, b in pairwise(edges)])


def _worth(
    predict: Predict,
    x: Floats,
    Z: Floats,
    mass: Floats,
    free: NDArray[np.int64],
    member: NDArray[np.bool_],
) -> Floats:
    """The mean prediction [s, r] where the columns of each subset are those of x."""
    together = max(1, _BATCH // len(Z))
    found = []
    for first in range(0, len(member), together):
        chosen = member[first : first + together]
        rows = np.repeat(Z[np.newaxis], len(chosen), axis=0)
        rows[:, :, free] = np.where(chosen[:, np.newaxis, :], x[free], rows[:, :, free])
        predicted = _batched(predict, rows.reshape(-1, x.size))
        blocks = predicted.reshape(len(chosen), len(Z), -1)
        found.append((blocks * mass[:, np.newaxis]).sum(axis=1))
    return np.concatenate(found)


def _walked(
    predict: Predict,
    x: Floats,
    Z: Floats,
    free: NDArray[np.int64],
    rounds: int,
    rng: np.random.Generator,
) -> Floats:
    """What each column changes on ways from rows of Z [b, d] to x, float64[b, rounds, d, r].

    Each is the mean of an order and its reverse.
    """
    count, steps = len(Z) * rounds, len(free) + 1
    orders = np.array([rng.permutation(len(free)) for _ in range(count)]).reshape(count, -1)
    turn = np.argsort(orders, axis=1)  # [count, m] when a column has its turn
    turns = np.stack([turn, len(free) - 1 - turn], axis=1)[:, :, np.newaxis, :]
    rows = np.repeat(Z, 2 * rounds * steps, axis=0).reshape(count, 2, steps, x.size)
    turned = turns < np.arange(steps)[:, np.newaxis]
    rows[..., free] = np.where(turned, x[free], rows[..., free])
    predicted = _batched(predict, rows.reshape(-1, x.size)).reshape(count, 2, steps, -1)
    change = np.diff(predicted, axis=2)  # [count, 2, m, r] by turn
    ways = np.zeros((count, 2, x.size, predicted.shape[3]))
    ways[:, :, free] = np.take_along_axis(change, turns[:, :, 0, :, np.newaxis], axis=2)
    return np.asarray(ways.mean(axis=1).reshape(len(Z), rounds, x.size, -1))
