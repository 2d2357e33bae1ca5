"""How representations are trained: rows made ready, and descent that keeps the best it has seen.

torch is needed here only; a trained representation is plain arrays. Nothing depends on the clock,
so the same rows and seed give the same representation on a fast machine and on a busy one.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.space import Space
from compass.execute.one_thread import one_thread
from compass.prepare.design import Design
from compass.settings import EmbeddingSettings, Settings

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Arrays = Mapping[str, NDArray[np.generic]]

SAVED = "the saved representation"
_FEW = 32  # fewer rows are repeated: statistics of a batch need several
_FAR = 10.0  # standard deviations from which a value counts no further
_SPAN = 10.0  # largest over smallest outcome from which its logarithm is learnt
_BATCH = 1024  # rows at most that one update looks at
_UPDATES = 30  # updates for one look at all rows, as far as batches of 32 rows allow
_PATIENCE = 10  # looks at the held-out rows without a better one that end the training
_BUDGET = 1200  # updates at most, so that the time is bounded for every table


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Training rows as a network takes them: dense, standardised, some held out."""

    design: Design
    dense: Floats  # [n, p]
    target: Floats  # [n] standardised, or positions of classes
    weight: Floats  # [n] 1 on the mean
    learn: Rows
    check: Rows  # held out: they say when to stop
    classes: int | None

    @property
    def outputs(self) -> int:
        """How many numbers the outcome is predicted by."""
        return 1 if self.classes is None else max(self.classes, 1)

    def tensors(self, torch: Any) -> tuple[Any, Any, Any]:
        """The dense rows, the outcomes and the weights."""
        arrays = (self.dense, self.target, self.weight)
        X, y, weight = (torch.tensor(array, dtype=torch.float32) for array in arrays)
        return X, y, weight


def network_rows(
    X: Floats,
    y: Floats,
    classes: int | None,
    weight: Floats | None,
    features: Space | None,
    seed: int,
    settings: EmbeddingSettings,
) -> NetworkRows:
    """X float64[n, d] and y float64[n] made ready: dense, standardised, some rows held out."""
    rng = np.random.default_rng(seed)
    design = Design.of(X, features)
    counts = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    rows = np.arange(len(X))
    if len(X) > settings.rows:
        rows = np.sort(rng.choice(rows, settings.rows, replace=False))
    held = np.zeros(len(rows), dtype=bool)
    if len(rows) >= _FEW:
        held[rng.permutation(len(rows))[: len(rows) // 10]] = True
    else:
        rows = np.resize(rows, _FEW)
        held = np.zeros(_FEW, dtype=bool)
    counts = counts[rows] / (counts[rows].mean() or 1.0)
    learn = np.flatnonzero(~held)
    check = np.flatnonzero(held) if held.any() else learn
    target = y[rows] if classes is not None else _standard(y[rows], counts)
    return NetworkRows(design, dense(design, X[rows]), target, counts, learn, check, classes)


class NetworkEmbedder:
    """An embedder that trains a network: `learn` says how."""

    @classmethod
    def learn(cls, given: NetworkRows, chosen: EmbeddingSettings, seed: int) -> Any:
        """The representation that these rows teach."""
        raise NotImplementedError

    @classmethod
    def fit(
        cls,
        X: Floats,
        y: Floats,
        *,
        classes: int | None,
        weight: Floats | None,
        seed: int,
        settings: Settings,
        features: Space | None = None,
    ) -> Any:
        """Train on X float64[n, d] and y float64[n]; `classes`: y holds positions of labels."""
        chosen = settings.embedding
        return cls.learn(network_rows(X, y, classes, weight, features, seed, chosen), chosen, seed)


def dense(design: Design, X: Floats) -> Floats:
    """The dense matrix float64[n, p]; values far beyond those learnt from count as far."""
    return np.asarray(np.clip(design.apply(X), -_FAR, _FAR))


def finite(columns: Floats) -> Floats:
    """The columns that a representation gives; BadInput where one is no number."""
    if not np.isfinite(columns).all():
        raise BadInput(
            "the representation has no finite value for a configuration",
            hint="ask nearer to the past runs; if that does not help, fit the engine again",
        )
    return columns


def _standard(y: Floats, weight: Floats) -> Floats:
    # An outcome over several orders of magnitude would be about its largest values only.
    if y.min() > 0 and y.max() > _SPAN * y.min():
        y = np.log(y)
    middle, scale = moments(y[:, None], weight)
    return np.asarray(np.clip((y - middle) / scale, -_FAR, _FAR))


def moments(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Weighted mean and standard deviation of each column; 1 where nothing varies."""
    total = weight.sum() or 1.0
    middle = (weight[:, None] * values).sum(axis=0) / total
    spread = np.sqrt((weight[:, None] * (values - middle) ** 2).sum(axis=0) / total)
    return middle, np.where(spread > 1e-9, spread, 1.0)


def torch_library() -> Any:
    """The library that trains networks; where it is missing, what to do about it."""
    try:
        import torch
    except ImportError as missing:
        raise EnvironmentProblem(
            "learning a representation needs PyTorch, which is not installed",
            hint="pip install 'compass-hpc[deep]', or leave out the representation",
        ) from missing
    return torch


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a network is trained."""

    epochs: int
    rate: float  # of learning, at most
    seed: int
    settle: float = 0.0  # share of the training after which the best network is kept


# One thread: sums are then added in one order, and small networks are no slower.
@one_thread("torch")
def descend(
    torch: Any,
    state: dict[str, Any],
    loss: Callable[[Any, float], Any],
    judge: Callable[[], float],
    learn: Rows,
    schedule: Schedule,
) -> None:
    """Change the tensors of `state` so that the loss of rows becomes small; the best are kept.

    `loss(rows, share)` is that of some rows after a share of all updates, `judge()` the number that
    has to be small in the end; it is asked after each look at all rows.
    """
    rate = schedule.rate
    batches = _batches(len(learn))
    epochs = max(1, min(schedule.epochs, math.ceil(_BUDGET / batches)))
    trained = [tensor for tensor in state.values() if tensor.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=rate, fused=True)
    rng = np.random.default_rng(schedule.seed)
    best, kept, waited, made = math.inf, None, 0, 0
    for epoch in range(epochs):
        for rows in np.array_split(rng.permutation(learn), batches):
            share = made / (epochs * batches)
            for group in optimizer.param_groups:
                group["lr"] = rate * _pace(share)
            optimizer.zero_grad()
            loss(torch.from_numpy(rows), share).backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            made += 1
        if (epoch + 1) / epochs < schedule.settle:
            continue
        with torch.no_grad():
            now = judge()
        waited += 1
        if now < best or kept is None:
            best, waited = now, 0
            kept = {name: tensor.detach().clone() for name, tensor in state.items()}
        if waited >= _PATIENCE:
            break
    with torch.no_grad():
        for name, tensor in (kept or {}).items():
            state[name].copy_(tensor)


def _batches(rows: int) -> int:
    return max(math.ceil(rows / _BATCH), min(_UPDATES, rows // 32), 1)


def _pace(share: float) -> float:
    """A short rise, so that the first updates do no harm, then a slow fall."""
    return min(1.0, 0.1 + 9 * share) * 0.5 * (1 + math.cos(math.pi * share)) + 1e-3


def outcome_loss(torch: Any, found: Any, target: Any, weight: Any, classes: int | None) -> Any:
    """How far tensors [n, outputs] are from the outcomes, each row by its weight."""
    functional = torch.nn.functional
    if classes is None:
        # Quadratic near the outcome and linear far from it: one odd run must not rule.
        each = functional.smooth_l1_loss(found[:, 0], target, reduction="none")
    else:
        each = functional.cross_entropy(found, target.long(), reduction="none")
    return (weight * each).mean()


def drawn(torch: Any, rng: np.random.Generator, *shape: int) -> Any:
    """Starting weights [in, out] that keep the size of what goes through them."""
    values = rng.normal(0.0, math.sqrt(2.0 / sum(shape)), shape)
    return torch.tensor(values, dtype=torch.float32, requires_grad=True)
