"""How torch trains the networks of the family `neural`; they are trained side by side."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from compass.model.alone import one_thread
from compass.model.base import Floats
from compass.model.dense import Lesson
from compass.settings import NeuralSettings

_LEAST, _MOST = 16, 256  # rows of one step
_BATCHES = 12  # steps of an epoch on small tables
_STEPS = 3000  # steps on small tables; twice as many were hardly better
_VISITS = 1_600_000  # rows x epochs that are enough, about 20 s of one core
_SMALL = 0.1  # standard deviations below which an error counts by its square
_PATIENCE = 0.25  # share of the epochs without a better network that ends training


def passes(rows: int) -> int:
    """How often all rows are learnt from, at most: large tables need fewer times."""
    return max(_VISITS // max(rows, 1), 10)


def train(taught: Lesson, seed: int, chosen: NeuralSettings) -> tuple[Floats, Floats, Floats]:
    """Weights of the first, the inner and the last layers, as `neural.FittedNeural` holds them.

    A tenth of the rows is held out. Each network is kept as it was when it was best on them; the
    rate of learning falls along half a cosine.
    """
    import torch

    if float(np.ptp(taught.y)) == 0.0:
        # Nothing to tell apart: a network that always says 0, the mean.
        width, raw = taught.Z.shape[1], taught.frame.raw
        return np.zeros((1, width + 1, 1)), np.zeros((1, 0, 2, 1)), np.zeros((1, 2, raw))
    with one_thread("torch"):
        chance = torch.Generator().manual_seed(seed)
        n = len(taught.y)
        order = torch.randperm(n, generator=chance)
        held = order[: n // 10] if n >= 20 else order
        rows = order[n // 10 :] if n >= 20 else order
        net = _start(taught, chosen, chance)
        loss = _loss(taught)
        best = _descend(net, loss, rows, held, chosen, chance)
    first, inner, last = (np.array(part.double().numpy()) for part in best)
    return first, inner, last


def _start(taught: Lesson, chosen: NeuralSettings, chance: Any) -> list[Any]:
    """Random weights of all networks; offsets, the last rows, are 0."""
    import torch

    width, units, members = taught.Z.shape[1], chosen.units, chosen.members

    def random(*shape: int, gain: float = 1.0) -> Any:
        weights = torch.randn(*shape, generator=chance) * (gain / math.sqrt(max(shape[-2] - 1, 1)))
        weights[..., -1, :] = 0.0
        return weights.requires_grad_()

    return [
        random(members, width + 1, units),
        random(members, chosen.layers - 1, units + 1, units),
        random(members, units + 1, taught.frame.raw, gain=0.1),
    ]


def _forward(net: list[Any], z: Any) -> Any:
    """Raw columns [members, n, raw] of rows z [members, n, width]."""
    import torch
    from torch.nn.functional import silu

    first, inner, last = net
    h = silu(torch.baddbmm(first[:, -1:], z, first[:, :-1]))
    for layer in range(inner.shape[1]):
        h = h + silu(torch.baddbmm(inner[:, layer, -1:], h, inner[:, layer, :-1]))
    return torch.baddbmm(last[:, -1:], h, last[:, :-1])


def _loss(taught: Lesson) -> Callable[[list[Any], Any], Any]:
    """The error of each network [members] on rows of the table, given as positions [members, n].

    Numbers: absolute beyond a tenth of a standard deviation, squared below (Huber), so that a few
    odd runs do not decide. Classes: cross-entropy.
    """
    import torch
    from torch.nn.functional import cross_entropy, huber_loss

    Z = torch.tensor(taught.Z, dtype=torch.float32)
    y = torch.tensor(taught.y, dtype=torch.float32)
    weight = torch.tensor(taught.weight, dtype=torch.float32)
    number = taught.frame.task.classes is None

    def loss(net: list[Any], at: Any) -> Any:
        raw = _forward(net, Z[at])
        if number:
            miss = huber_loss(raw[..., 0], y[at], reduction="none", delta=_SMALL) / _SMALL
        else:
            miss = cross_entropy(raw.movedim(2, 1), y[at].long(), reduction="none")
        return (weight[at] * miss).sum(dim=1) / weight[at].sum(dim=1)

    return loss


def _descend(
    net: list[Any],
    loss: Callable[[list[Any], Any], Any],
    rows: Any,
    held: Any,
    chosen: NeuralSettings,
    chance: Any,
) -> list[Any]:
    """Each network at its best epoch."""
    import torch

    n, members = len(rows), net[0].shape[0]
    batch = min(n, max(_LEAST, min(_MOST, 2 ** round(math.log2(max(n / _BATCHES, 1))))))
    steps = n // batch
    epochs = max(min(chosen.epochs, passes(n), _STEPS // steps), 10)
    total = steps * epochs
    warm = min(total // 20 + 1, 500)
    descent = torch.optim.AdamW(net, lr=chosen.rate, weight_decay=chosen.decay, fused=True)
    best, kept, since = torch.full((members,), torch.inf), [p.detach().clone() for p in net], 0
    asked = held.expand(members, -1)
    for epoch in range(epochs):
        order = torch.stack([rows[torch.randperm(n, generator=chance)] for _ in range(members)])
        for step in range(steps):
            done = epoch * steps + step + 1
            pace = min(done / warm, 0.5 * (1.0 + math.cos(math.pi * done / total)))
            descent.param_groups[0]["lr"] = chosen.rate * pace
            descent.zero_grad(set_to_none=True)
            loss(net, order[:, step * batch : (step + 1) * batch]).sum().backward()
            descent.step()
        with torch.no_grad():
            miss = loss(net, asked)
        better = miss < best
        since = 0 if bool((miss < 0.999 * best).any()) else since + 1
        for old, new in zip(kept, net, strict=True):
            old[better] = new.detach()[better]
        best = torch.minimum(best, miss)
        if since > _PATIENCE * epochs:
            break
    return kept
