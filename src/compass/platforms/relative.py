"""The relative performance vector: a variational autoencoder of counters, a network on its latents.

After "Relative performance prediction" (REQUIREMENTS 4). The autoencoder is first trained on the
rows that calibrate it (runs on CPUs), then on all; the weight of its KL term grows; for the middle
epochs the loss of the downstream task takes part. Three layers of 1024 units then predict the log
ratios of all machines from the latent means. Training needs PyTorch, using it does not.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.embed.train import Schedule, descend, drawn, torch_library
from compass.platforms.base import Predict, Training
from compass.platforms.pairs import Floats

_RATE = 1e-3
_MIXED = (0.25, 0.75)  # the share of the training in which the downstream loss takes part
_LOW, _HIGH = -6.0, 3.0  # of the logarithm of a variance, so that its exponential stays a number


@dataclass(frozen=True)
class RelativeOptions:
    """How it is trained."""

    latent: int = 16
    units: int = 64  # of the autoencoder
    layers: tuple[int, ...] = (1024, 1024, 1024)  # of the network, as in the paper
    epochs: int = 200
    divergence: float = 0.1  # weight that the KL term grows to
    downstream: float = 1.0  # weight of the downstream loss while it takes part
    learnt_variance: bool = True  # a decoder calibrated by a learnt output variance


@dataclass(frozen=True, eq=False)
class RelativeVector:
    """The trained model, as plain arrays."""

    encoder: tuple[Floats, ...]  # weights with their bias as last row; the last gives the means
    network: tuple[Floats, ...]
    middle: Floats  # [m] of the log ratios
    scale: Floats

    def latent(self, X: Floats) -> Floats:
        """The latent means [n, latent] of profiles [n, d]."""
        return _through(self.encoder, X)

    def predict(self, X: Floats) -> Floats:
        """Log ratios [n, m]."""
        return np.asarray(_through(self.network, self.latent(X)) * self.scale + self.middle)


def train_relative(
    X: Floats,
    log_ratio: Floats,
    weight: Floats,
    *,
    calibrate: NDArray[np.bool_] | None = None,
    options: RelativeOptions | None = None,
    seed: int = 7,
) -> RelativeVector:
    """Learn log ratios [n, m] (nan: unknown) from standardised profiles X [n, d].

    `calibrate`: the rows that the decoder is calibrated on before all are trained on; None: none.
    """
    options = RelativeOptions() if options is None else options
    torch = torch_library()
    known = np.isfinite(log_ratio)
    share = np.where(known, weight[:, None], 0.0)
    total = np.maximum(share.sum(axis=0), 1e-300)
    middle = (np.where(known, log_ratio, 0.0) * share).sum(axis=0) / total
    spread = np.where(known, share * (log_ratio - middle) ** 2, 0.0).sum(axis=0) / total
    scale = np.where(spread > 1e-12, np.sqrt(spread), 1.0)
    target = np.where(known, (log_ratio - middle) / scale, 0.0)
    data = _Data(torch, X, target, share)
    rows = np.arange(len(X), dtype=np.int64)
    state = _autoencoder(torch, X.shape[1], log_ratio.shape[1], options, seed)
    if calibrate is not None and calibrate.any():
        _train_autoencoder(torch, state, data, rows[calibrate], options, seed, mixed=False)
    _train_autoencoder(torch, state, data, rows, options, seed, mixed=True)
    encoder = (_array(state, "in"), _array(state, "mean"))
    latents = torch.tensor(_through(encoder, X), dtype=torch.float32)
    network = _network(torch, (options.latent, *options.layers, log_ratio.shape[1]), seed)
    places = len(options.layers) + 1

    def loss(own: Any, _: float) -> Any:
        found = latents[own]
        for place in range(places):
            found = found @ network[f"w{place}"] + network[f"b{place}"]
            found = torch.relu(found) if place < places - 1 else found
        return data.missed(found, own)

    every = torch.from_numpy(rows)
    schedule = Schedule(options.epochs, _RATE, seed)
    descend(torch, network, loss, lambda: float(loss(every, 1.0)), rows, schedule)
    layers = tuple(_array(network, f"{place}", plain=True) for place in range(places))
    return RelativeVector(encoder, layers, middle, scale)


@dataclass(frozen=True)
class RelativeMember:
    """The relative performance vector as a member of the combination."""

    name: str = "relative vector (VAE, 3 x 1024)"
    view: str = "physical"
    options: RelativeOptions = RelativeOptions()

    def fit(self, training: Training) -> Predict:
        """Train it; every machine in one vector."""
        model = train_relative(
            training.X,
            training.log_ratio,
            training.weight,
            options=self.options,
            seed=training.seed,
        )
        return model.predict


class _Data:
    """The rows as tensors, and the downstream loss of some of them."""

    def __init__(self, torch: Any, X: Floats, target: Floats, share: Floats) -> None:
        arrays = (X, target, share / max(float(share.mean()), 1e-300))
        self.X, self.target, self.share = (torch.tensor(a, dtype=torch.float32) for a in arrays)
        self.torch = torch

    def missed(self, found: Any, rows: Any) -> Any:
        each = self.torch.nn.functional.smooth_l1_loss(found, self.target[rows], reduction="none")
        return (each * self.share[rows]).mean()


def _autoencoder(
    torch: Any, width: int, outputs: int, options: RelativeOptions, seed: int
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sizes = {
        "in": (width, options.units),
        "mean": (options.units, options.latent),
        "log": (options.units, options.latent),
        "out": (options.latent, options.units),
        "told": (options.units, width),
        "task": (options.latent, outputs),
    }
    state: dict[str, Any] = {}
    for name, (into, out) in sizes.items():
        state[f"{name}.w"] = drawn(torch, rng, into, out)
        state[f"{name}.b"] = torch.zeros(out, requires_grad=True)
    state["variance"] = torch.zeros(1, requires_grad=options.learnt_variance)
    return state


def _train_autoencoder(
    torch: Any,
    state: dict[str, Any],
    data: _Data,
    rows: NDArray[np.int64],
    options: RelativeOptions,
    seed: int,
    *,
    mixed: bool,
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def layer(name: str, x: Any) -> Any:
        return x @ state[f"{name}.w"] + state[f"{name}.b"]

    def loss(own: Any, share: float, noisy: bool = True) -> Any:
        x = data.X[own]
        hidden = torch.relu(layer("in", x))
        mean, log = layer("mean", hidden), layer("log", hidden).clamp(_LOW, _HIGH)
        noise = torch.randn(mean.shape, generator=generator) if noisy else 0.0
        latent = mean + noise * torch.exp(log / 2)
        told = layer("told", torch.relu(layer("out", latent)))
        variance = state["variance"].clamp(_LOW, _HIGH)
        missed = (((told - x) ** 2 / torch.exp(variance) + variance) / 2).mean()
        near = (torch.exp(log) + mean**2 - 1 - log).sum(dim=1).mean() / 2 / x.shape[1]
        total = missed + options.divergence * min(1.0, 2 * share) * near
        if mixed and _MIXED[0] <= share <= _MIXED[1]:
            total = total + options.downstream * data.missed(layer("task", mean), own)
        return total

    every = torch.from_numpy(rows)
    # Judged by the loss of the end: what is mixed in comes and goes.
    schedule = Schedule(options.epochs, _RATE, seed, settle=_MIXED[1])
    descend(torch, state, loss, lambda: float(loss(every, 1.0, False)), rows, schedule)


def _network(torch: Any, sizes: tuple[int, ...], seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed + 1)
    state: dict[str, Any] = {}
    for place, (into, out) in enumerate(pairwise(sizes)):
        state[f"w{place}"] = drawn(torch, rng, into, out)
        state[f"b{place}"] = torch.zeros(out, requires_grad=True)
    return state


def _array(state: dict[str, Any], name: str, *, plain: bool = False) -> Floats:
    """Weights of a layer with their bias as last row."""
    weights, bias = (f"w{name}", f"b{name}") if plain else (f"{name}.w", f"{name}.b")
    both = [state[weights].detach().numpy(), state[bias].detach().numpy()[None]]
    return np.vstack(both).astype(np.float64)


def _through(layers: tuple[Floats, ...], X: Floats) -> Floats:
    """A network with rectified units between its layers."""
    found = X
    for place, layer in enumerate(layers):
        found = found @ layer[:-1] + layer[-1]
        if place < len(layers) - 1:
            found = np.maximum(found, 0.0)
    return found
