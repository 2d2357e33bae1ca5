"""Autoencoders: few columns from which all columns of a run can be reconstructed.

A multi-layer perceptron narrows the columns of a run to a few, a second one tells the columns from
those. The variational autoencoder makes the narrow columns a distribution near the standard normal
one (its weight grows over the first half of the training), and lets the outcome take part in the
second half. The representation is the narrow layer, or the mean of that distribution.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.embed.forward import perceived
from compass.embed.train import (
    SAVED,
    Arrays,
    Floats,
    NetworkEmbedder,
    NetworkRows,
    Schedule,
    dense,
    descend,
    drawn,
    finite,
    moments,
    outcome_loss,
    torch_library,
)
from compass.execute.arrays import checked, damaged, floats, whole
from compass.prepare.design import Design
from compass.settings import EmbeddingSettings

_HIDDEN = 2  # layers between the columns and the narrow layer
_RATE = 3e-3
_WIDEST = 4.0  # of the logarithm of a variance, so that its exponential stays a number
_ARRAYS = {
    "sizes": whole("layers", least=1, below=2**31),
    "weights": floats("weights"),
    "centre_out": floats("width", some=True),
    "scale_out": floats("width", above=0),
}


@dataclass(frozen=True, eq=False)
class Encoded:
    """The narrow layer of an autoencoder."""

    name: str  # of the embedder that made it
    design: Design
    sizes: NDArray[np.int64]  # columns that go in, hidden ones, columns that come out
    weights: Floats  # matrix and bias of one layer after another
    centre: Floats  # [width]
    scale: Floats  # [width]

    @property
    def width(self) -> int:
        """How many columns it gives."""
        return int(self.sizes[-1])

    def transform(self, X: Floats) -> Floats:
        """The new columns float64[n, width] of X float64[n, d]; each row on its own."""
        narrow = perceived(dense(self.design, X), self.sizes, self.weights)
        return finite((narrow - self.centre) / self.scale)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        own = {"sizes": self.sizes, "weights": self.weights}
        out = {"centre_out": self.centre, "scale_out": self.scale}
        return {**own, **out, **self.design.arrays()}


class AutoencoderNetwork:
    """An encoder, a decoder and an outcome's head while they learn: tensors by name."""

    def __init__(
        self, torch: Any, given: NetworkRows, chosen: EmbeddingSettings, seed: int, narrow: int
    ) -> None:
        rng = np.random.default_rng(seed)
        self.torch, self.levels = torch, given.design.levels
        self.optional = ~np.isnan(given.design.none)
        hidden = [chosen.units] * _HIDDEN
        columns = given.dense.shape[1]
        self.state: dict[str, Any] = {}
        self._layers("encode", [columns, *hidden, narrow], rng)
        self._layers("decode", [chosen.width, *hidden, columns], rng)
        self._layers("head", [chosen.width, given.outputs], rng)

    def _layers(self, name: str, sizes: list[int], rng: np.random.Generator) -> None:
        for layer in range(len(sizes) - 1):
            bias = self.torch.zeros(sizes[layer + 1], requires_grad=True)
            self.state[f"{name}.{layer}"] = drawn(self.torch, rng, *sizes[layer : layer + 2])
            self.state[f"{name}.{layer}.bias"] = bias

    def through(self, name: str, x: Any) -> Any:
        """What the encoder, decoder or head makes of rows."""
        count = sum(key.startswith(f"{name}.") for key in self.state) // 2
        for layer in range(count):
            x = x @ self.state[f"{name}.{layer}"] + self.state[f"{name}.{layer}.bias"]
            if layer < count - 1:
                x = self.torch.nn.functional.silu(x)
        return x

    def reconstruction_loss(self, decoded: Any, truth: Any) -> Any:
        """How badly dense rows were reconstructed, [n]: one number for each column, added up."""
        functional = self.torch.nn.functional
        total, at = 0.0, 0
        numbers: list[int] = []
        for levels, optional in zip(self.levels.tolist(), self.optional.tolist(), strict=True):
            count = levels or 1 + optional
            if levels:
                block = slice(at, at + count)
                total = total - (truth[:, block] * decoded[:, block].log_softmax(dim=1)).sum(dim=1)
            else:
                numbers += range(at, at + count)
            at += count
        if numbers:
            apart = functional.mse_loss(decoded[:, numbers], truth[:, numbers], reduction="none")
            total = total + apart.sum(dim=1)
        return total

    def encoder(self, width: int) -> tuple[NDArray[np.int64], Floats]:
        """Sizes and weights of the encoder, cut to its first `width` columns."""
        sizes, weights = [], []
        for layer in range(_HIDDEN + 1):
            matrix, bias = (
                self.state[f"encode.{layer}{part}"].detach().double().numpy()
                for part in ("", ".bias")
            )
            if layer == _HIDDEN:
                matrix, bias = matrix[:, :width], bias[:width]
            sizes.append(matrix.shape[0])
            weights += [matrix.ravel(), bias]
        return np.array([*sizes, width], dtype=np.int64), np.concatenate(weights)


def plain(
    torch: Any, given: NetworkRows, chosen: EmbeddingSettings, seed: int
) -> AutoencoderNetwork:
    """The autoencoder that tells the rows again best."""
    network = AutoencoderNetwork(torch, given, chosen, seed, chosen.width)
    X, _, weight = given.tensors(torch)

    def missed(rows: Any) -> Any:
        decoded = network.through("decode", network.through("encode", X[rows]))
        return (weight[rows] * network.reconstruction_loss(decoded, X[rows])).mean()

    held = torch.from_numpy(given.check)
    descend(
        torch,
        network.state,
        lambda rows, _: missed(rows),
        lambda: float(missed(held)),
        given.learn,
        Schedule(chosen.epochs, _RATE, seed),
    )
    return network


def variational(
    torch: Any, given: NetworkRows, chosen: EmbeddingSettings, seed: int
) -> AutoencoderNetwork:
    """The variational autoencoder of the rows; the outcome joins in the later half."""
    network = AutoencoderNetwork(torch, given, chosen, seed, 2 * chosen.width)
    X, y, weight = given.tensors(torch)
    chance = torch.Generator().manual_seed(seed)

    def missed(rows: Any, noisy: bool, near: float, outcome: float) -> Any:
        mean, wide = network.through("encode", X[rows]).split(chosen.width, dim=1)
        wide = wide.clamp(-3 * _WIDEST, _WIDEST)
        narrow = mean
        if noisy:
            noise = torch.randn(mean.shape, generator=chance)
            narrow = mean + noise * torch.exp(0.5 * wide)
        each = network.reconstruction_loss(network.through("decode", narrow), X[rows])
        apart = 0.5 * (mean**2 + wide.exp() - 1 - wide).sum(dim=1)
        total = (weight[rows] * (each + near * apart)).mean()
        if outcome > 0:
            predicted = network.through("head", narrow)
            miss = outcome_loss(torch, predicted, y[rows], weight[rows], given.classes)
            # The columns are added up, so the outcome counts as all of them together.
            total = total + outcome * len(given.design.levels) * miss
        return total

    def loss(rows: Any, share: float) -> Any:
        near = chosen.divergence * min(1.0, 2 * share)
        return missed(rows, True, near, chosen.downstream if share >= 0.5 else 0.0)

    held = torch.from_numpy(given.check)
    descend(
        torch,
        network.state,
        loss,
        lambda: float(missed(held, False, chosen.divergence, chosen.downstream)),
        given.learn,
        # Before half of the training is over the loss is another one.
        Schedule(chosen.epochs, _RATE, seed, settle=0.5),
    )
    return network


@registry.add("embedding", "autoencoder")
class Autoencoder(NetworkEmbedder):
    """Few columns from which all can be reconstructed; the outcome takes no part."""

    name = "autoencoder"
    train = staticmethod(plain)

    @classmethod
    def learn(cls, given: NetworkRows, chosen: EmbeddingSettings, seed: int) -> Encoded:
        """The narrow layer of the network that these rows train."""
        network = cls.train(torch_library(), given, chosen, seed)
        sizes, weights = network.encoder(chosen.width)
        narrow = perceived(given.dense, sizes, weights)
        return Encoded(cls.name, given.design, sizes, weights, *moments(narrow, given.weight))

    @classmethod
    def restore(cls, arrays: Arrays) -> Encoded:
        """The representation whose `arrays()` these are; it gives the same bit for bit."""
        design = Design.restore(arrays)
        found, known = checked(arrays, _ARRAYS, SAVED)
        layers = found["sizes"].tolist()
        # In Python's numbers, which do not overflow.
        needed = sum((before + 1) * after for before, after in pairwise(layers))
        ends = (design.width, known["width"])
        if len(layers) < 2 or (layers[0], layers[-1]) != ends or needed != known["weights"]:
            raise damaged(SAVED, "its layers do not fit together")
        return Encoded(cls.name, design, *found.values())


@registry.add("embedding", "vae")
class Variational(Autoencoder):
    """The mean of a variational autoencoder's narrow layer, shaped by the outcome too."""

    name = "vae"
    train = staticmethod(variational)
