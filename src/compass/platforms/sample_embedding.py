"""Embeddings of performance samples: by sequential attention, or by what it is compared with.

`attention`, `autoencoder` and `vae` are those of `compass.embed`, which need PyTorch to be trained
but not to be used; `network` is the last hidden layer of a plain network; `raw` leaves samples as
they are.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import unknown
from compass.embed.base import Embedding, embedder
from compass.platforms.pairs import Floats
from compass.settings import EmbeddingSettings, Settings

TRAINED = ("attention", "autoencoder", "vae")
EMBEDDINGS = (*TRAINED, "network", "raw")
_FAR = 10.0  # standard deviations
_HIDDEN = (64,)


class _Transform(Protocol):
    def transform(self, X: Floats) -> Floats:
        """New columns of X."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What restores it."""


@dataclass(frozen=True, eq=False)
class SampleEmbedding:
    """Samples standardised by the training samples (xAMM, IV-B), then embedded."""

    kind: str
    middle: Floats  # [p]
    scale: Floats  # [p]
    inner: "_Transform | Embedding | None"

    @classmethod
    def of(
        cls, X: Floats, y: Floats, kind: str, width: int, epochs: int, seed: int
    ) -> "SampleEmbedding":
        """Learnt from samples X [n, p] and ratios y [n]."""
        if kind not in EMBEDDINGS:
            raise unknown("embedding", kind, EMBEDDINGS)
        middle = np.nan_to_num(np.nanmean(X, axis=0)) if len(X) else np.zeros(X.shape[1])
        spread = np.nan_to_num(np.nanstd(X, axis=0))
        made = cls(kind, middle, np.where(spread > 1e-9, spread, 1.0), None)
        Z = made.standardised(X)
        if kind == "raw":
            return made
        if kind == "network":
            return cls(kind, made.middle, made.scale, _hidden(Z, y, width, epochs, seed))
        settings = Settings(embedding=EmbeddingSettings(width=width, epochs=epochs))
        inner = embedder(kind).fit(Z, y, classes=None, weight=None, seed=seed, settings=settings)
        return cls(kind, made.middle, made.scale, inner)

    def standardised(self, X: Floats) -> Floats:
        """Samples in standard deviations; what is missing is as usual."""
        Z = (X - self.middle) / self.scale
        return np.clip(np.where(np.isfinite(Z), Z, 0.0), -_FAR, _FAR)

    def transform(self, X: Floats) -> Floats:
        """The embeddings [n, e] of samples [n, p]."""
        Z = self.standardised(X)
        return Z if self.inner is None else np.asarray(self.inner.transform(Z))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that is needed to restore it."""
        inner = {} if self.inner is None else self.inner.arrays()
        return {"middle": self.middle, "scale": self.scale} | {
            f"inner.{name}": array for name, array in inner.items()
        }

    @property
    def fingerprint(self) -> str:
        """Tells embeddings apart: vectors of different ones cannot be mixed."""
        digest = hashlib.blake2b(self.kind.encode(), digest_size=8)
        for name, array in sorted(self.arrays().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def restored(kind: str, arrays: Mapping[str, NDArray[Any]]) -> SampleEmbedding:
    """The embedding whose `arrays()` these are."""
    inner = {n.removeprefix("inner."): a for n, a in arrays.items() if n.startswith("inner.")}
    found: _Transform | Embedding | None = None
    if kind == "network":
        found = HiddenLayer(tuple(inner[f"{n}"] for n in sorted(inner)))
    elif kind in TRAINED:
        found = embedder(kind).restore(inner)
    return SampleEmbedding(kind, arrays["middle"], arrays["scale"], found)


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """The last hidden layer of a plain network with rectified units."""

    layers: tuple[NDArray[Any], ...]  # weights with their bias as last row

    def transform(self, X: Floats) -> Floats:
        """The activations [n, e]."""
        found = X
        for layer in self.layers:
            found = np.maximum(found @ layer[:-1] + layer[-1], 0.0)
        return np.asarray(found)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The layers by their place."""
        return {f"{place}": layer for place, layer in enumerate(self.layers)}


def _hidden(Z: Floats, y: Floats, width: int, epochs: int, seed: int) -> HiddenLayer:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(hidden_layer_sizes=(*_HIDDEN, width), max_iter=epochs, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so many epochs were asked for
        model.fit(Z, (y - y.mean()) / (y.std() or 1.0))
    layers = zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True)
    return HiddenLayer(tuple(np.vstack([weights, bias]) for weights, bias in layers))
