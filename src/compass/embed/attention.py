"""Sequential attention: a few columns at a time, chosen anew for every run.

After TabNet (Arik and Pfister, AAAI 2021). In every step an attentive transformer shares out
attention among the columns (sparsemax: most get none), a feature transformer of gated linear units
works on what was attended to, and its positive part is added to the representation. Attention that
was spent counts less in later steps. Trained to predict the outcome, with a price on spreading
attention. A category is attended to as a whole, not label by label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.embed.forward import attended
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
from compass.execute.arrays import checked, floats
from compass.prepare.design import Design
from compass.settings import EmbeddingSettings

# Two that tell the sizes, and the rest; `gates` is twice `hidden`, which is width + attention.
_SIZED = {
    "attend": floats("steps", "attention", "columns", some=True),
    "centre_out": floats("width", some=True),
}
_ARRAYS = {
    "first": floats("steps+1", "dense", "gates"),
    "first_bias": floats("steps+1", "gates"),
    "later": floats("steps+1", "further", "hidden", "gates"),
    "later_bias": floats("steps+1", "further", "gates"),
    "attend_bias": floats("steps", "columns"),
    "scale_out": floats("width", above=0),
    "relax": floats(1),
}
_LAYERS = 2  # gated layers of a feature transformer: one shared by all steps, one of its own
_RATE = 0.02  # TabNet
_MOMENTUM = 0.1  # of the statistics of batch normalisation
_EPSILON = 1e-5  # torch's default for batch normalisation


@dataclass(frozen=True, eq=False)
class AttentionEmbedding:
    """A representation by sequential attention, with the columns that it attended to."""

    design: Design
    layers: dict[str, Floats]  # batch normalisation is folded into the weights

    @property
    def name(self) -> str:
        """The name of the embedder that made it."""
        return Attention.name

    @property
    def width(self) -> int:
        """How many columns it gives."""
        return len(self.layers["centre_out"])

    def transform(self, X: Floats) -> Floats:
        """The new columns float64[n, width] of X float64[n, d]; each row on its own."""
        decided = self._attended(X)[0]
        return finite((decided - self.layers["centre_out"]) / self.layers["scale_out"])

    def masks(self, X: Floats) -> Floats:
        """How attention was shared out among the columns in each step, float64[n, steps, d]."""
        return self._attended(X)[1]

    def importance(self, X: Floats) -> Floats:
        """How much each column of X counted for each row, float64[n, d]; rows sum to 1.

        Steps count by how much they decided.
        """
        _, masks, strength = self._attended(X)
        idle = strength.sum(axis=1) <= 0
        strength[idle] = 1.0
        # Adding step after step keeps the order of additions the same in every batch.
        found, total = np.zeros((len(X), masks.shape[2])), np.zeros(len(X))
        for step in range(masks.shape[1]):
            found += strength[:, step, None] * masks[:, step]
            total += strength[:, step]
        return found / total[:, None]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        return {**self.layers, **self.design.arrays()}

    def _attended(self, X: Floats) -> tuple[Floats, Floats, Floats]:
        relax = float(self.layers["relax"][0])
        return attended(dense(self.design, X), owners(self.design), self.layers, relax)


@registry.add("embedding", "attention")
class Attention(NetworkEmbedder):
    """Columns learnt by sequential attention (TabNet), supervised by the outcome."""

    name = "attention"

    @classmethod
    def learn(cls, given: NetworkRows, chosen: EmbeddingSettings, seed: int) -> AttentionEmbedding:
        """The representation by which the outcome is predicted best."""
        layers = trained(torch_library(), given, chosen, seed).folded()
        decided = attended(given.dense, owners(given.design), layers, chosen.relax)[0]
        layers["centre_out"], layers["scale_out"] = moments(decided, given.weight)
        return AttentionEmbedding(given.design, layers)

    @staticmethod
    def restore(arrays: Arrays) -> AttentionEmbedding:
        """The representation whose `arrays()` these are; it gives the same bit for bit."""
        design = Design.restore(arrays)
        sizes = {"columns": len(design.levels), "dense": design.width}
        sized, sizes = checked(arrays, _SIZED, SAVED, sizes)
        hidden = sizes["width"] + sizes["attention"]
        rest, _ = checked(arrays, _ARRAYS, SAVED, sizes | {"hidden": hidden, "gates": 2 * hidden})
        return AttentionEmbedding(design, sized | rest)


def owners(design: Design) -> NDArray[np.int64]:
    """The column of X that each dense column comes from, int64[p]."""
    each = np.maximum(design.levels, 1) + ~np.isnan(design.none)
    return np.repeat(np.arange(len(each)), each).astype(np.int64)


class AttentionNetwork:
    """The network while it learns: tensors by name, and what becomes of rows."""

    def __init__(
        self, torch: Any, given: NetworkRows, chosen: EmbeddingSettings, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        self.torch, self.steps, self.width = torch, chosen.steps, chosen.width
        self.relax, self.hidden = chosen.relax, 2 * chosen.width
        self.owner = torch.from_numpy(owners(given.design))
        self.columns = len(given.design.levels)
        self.state: dict[str, Any] = {
            "head": drawn(torch, rng, self.width, given.outputs),
            "head_bias": torch.zeros(given.outputs, requires_grad=True),
        }
        sizes = [given.dense.shape[1]] + [self.hidden] * (_LAYERS - 1)
        for layer, size in enumerate(sizes):
            own = range(1) if layer < _LAYERS // 2 else range(self.steps + 1)
            for step in own:
                self.state[f"{layer}.{step}"] = drawn(torch, rng, size, 2 * self.hidden)
            for step in range(self.steps + 1):
                self._normalised(f"{layer}.{step}", 2 * self.hidden)
        for step in range(self.steps):
            attention = drawn(torch, rng, self.hidden - self.width, self.columns)
            self.state[f"attend.{step}"] = attention
            self._normalised(f"attend.{step}", self.columns)

    def _normalised(self, name: str, size: int) -> None:
        torch = self.torch
        self.state[f"{name}.gain"] = torch.ones(size, requires_grad=True)
        self.state[f"{name}.shift"] = torch.zeros(size, requires_grad=True)
        self.state[f"{name}.mean"] = torch.zeros(size)
        self.state[f"{name}.variance"] = torch.ones(size)

    def _weight(self, layer: int, step: int) -> Any:
        return self.state[f"{layer}.{0 if layer < _LAYERS // 2 else step}"]

    def _norm(self, name: str, x: Any, learning: bool) -> Any:
        mean, variance, gain, shift = (
            self.state[f"{name}.{part}"] for part in ("mean", "variance", "gain", "shift")
        )
        return self.torch.nn.functional.batch_norm(
            x, mean, variance, gain, shift, learning, _MOMENTUM, _EPSILON
        )

    def _features(self, x: Any, step: int, learning: bool) -> Any:
        glu = self.torch.nn.functional.glu
        found = None
        for layer in range(_LAYERS):
            into = x if found is None else found
            gated = glu(self._norm(f"{layer}.{step}", into @ self._weight(layer, step), learning))
            found = gated if found is None else (found + gated) * 0.5**0.5
        return found

    def __call__(self, x: Any, learning: bool) -> tuple[Any, list[Any]]:
        """The summed decisions [n, width] and the masks [n, d] of each step."""
        found, masks, prior = 0.0, [], 1.0
        hidden = self._features(x, 0, learning)
        for step in range(self.steps):
            scores = hidden[:, self.width :] @ self.state[f"attend.{step}"]
            mask = shares(self.torch, self._norm(f"attend.{step}", scores, learning) * prior)
            masks.append(mask)
            prior = prior * (self.relax - mask)
            hidden = self._features(x * mask[:, self.owner], step + 1, learning)
            found = found + self.torch.relu(hidden[:, : self.width])
        return found, masks

    def outcome(self, decided: Any) -> Any:
        """The outcome as predicted from the representation, [n, outputs]."""
        return decided @ self.state["head"] + self.state["head_bias"]

    def folded(self) -> dict[str, Floats]:
        """The arrays of the trained network, batch normalisation folded into the weights."""
        steps = range(self.steps + 1)
        first = [self._fold(f"0.{step}", self._weight(0, step)) for step in steps]
        attend = [self._fold(f"attend.{s}", self.state[f"attend.{s}"]) for s in range(self.steps)]
        later = [
            [self._fold(f"{n}.{step}", self._weight(n, step)) for n in range(1, _LAYERS)]
            for step in steps
        ]
        return {
            "first": np.stack([weight for weight, _ in first]),
            "first_bias": np.stack([bias for _, bias in first]),
            "later": np.stack([[weight for weight, _ in row] for row in later]),
            "later_bias": np.stack([[bias for _, bias in row] for row in later]),
            "attend": np.stack([weight for weight, _ in attend]),
            "attend_bias": np.stack([bias for _, bias in attend]),
            "relax": np.array([self.relax]),
        }

    def _fold(self, name: str, weight: Any) -> tuple[Floats, Floats]:
        mean, variance, gain, shift = (
            self.state[f"{name}.{part}"].detach().double().numpy()
            for part in ("mean", "variance", "gain", "shift")
        )
        factor = gain / np.sqrt(variance + _EPSILON)
        return weight.detach().double().numpy() * factor, shift - mean * factor


def shares(torch: Any, scores: Any) -> Any:
    """Sparsemax of each row of a tensor [n, d]: the nearest shares that sum to 1."""
    ranked = scores.sort(dim=1, descending=True).values
    place = torch.arange(1, scores.shape[1] + 1, dtype=scores.dtype)
    above = ranked.cumsum(dim=1) - 1
    last = (place * ranked > above).sum(dim=1, keepdim=True)
    threshold = above.gather(1, last - 1) / last
    return torch.relu(scores - threshold)


def trained(
    torch: Any, given: NetworkRows, chosen: EmbeddingSettings, seed: int
) -> AttentionNetwork:
    """The network that predicts the outcome of the rows best."""
    network = AttentionNetwork(torch, given, chosen, seed)
    X, y, weight = given.tensors(torch)

    def missed(rows: Any, learning: bool) -> tuple[Any, list[Any]]:
        decided, masks = network(X[rows], learning)
        predicted = network.outcome(decided)
        return outcome_loss(torch, predicted, y[rows], weight[rows], given.classes), masks

    def loss(rows: Any, share: float) -> Any:
        del share  # the price on attention is the same from first to last
        miss, masks = missed(rows, True)
        spread = sum(-(mask * torch.log(mask + 1e-5)).sum(dim=1).mean() for mask in masks)
        return miss + chosen.sparsity * spread / len(masks)

    held = torch.from_numpy(given.check)
    descend(
        torch,
        network.state,
        loss,
        lambda: float(missed(held, False)[0]),
        given.learn,
        Schedule(chosen.epochs, _RATE, seed),
    )
    return network
