"""A tabular variational autoencoder, written from the paper (Xu et al. 2019, section 4.5).

Columns are told as for the GAN (`modes`). The decoder gives the mean of each scalar, whose
deviation is learnt once for all rows, and the chances of its mode and of each label; the loss is
the evidence lower bound, with the reconstruction weighted twice.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Space
from compass.execute.arrays import checked, whole
from compass.execute.one_thread import one_thread
from compass.settings import SynthesisSettings, VariationalSynthesisSettings
from compass.synth.base import Arrays, Floats, Tell
from compass.synth.modes import Modes, modes_of
from compass.synth.network import load_weights, torch_library, weights_of
from compass.synth.pooled import Pooled

_SAVED = "the saved synthesizer"
_ARRAYS = {"sizes": whole(3, least=1)}  # latent, units, pool
_CHUNK = 5000
_DEVIATIONS = (0.01, 1.0)  # between which the deviation of a scalar stays


def decoder(torch: Any, latent: int, units: int, width: int) -> Any:
    """Two layers, the outputs of all columns, and the deviation of each."""

    class Decoder(torch.nn.Module):  # type: ignore[misc]
        """From the latent numbers to the columns."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = _layers(torch, latent, units, width)
            self.deviation = torch.nn.Parameter(0.1 * torch.ones(width))

        def forward(self, z: Any) -> Any:
            """[n, latent] -> [n, width]."""
            return self.layers(z)

    return Decoder()


def _layers(torch: Any, inputs: int, units: int, outputs: int) -> Any:
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    return torch.nn.Sequential(
        linear(inputs, units), relu(), linear(units, units), relu(), linear(units, outputs)
    )


@dataclass(eq=False)
class VariationalDecoder(Pooled):
    """A trained decoder."""

    space: Space
    modes: Modes
    network: Any
    latent: int
    units: int
    pool: int
    name: str = field(default="tvae", init=False)

    def rows(self, count: int, rng: np.random.Generator) -> Floats:
        """`count` whole legal rows."""
        torch = torch_library()
        chance = torch.Generator().manual_seed(int(rng.integers(2**62)))
        found = []
        with one_thread("torch"), torch.no_grad():
            wide = self.network.deviation.clamp(*_DEVIATIONS)
            for start in range(0, count, _CHUNK):
                m = min(_CHUNK, count - start)
                raw = self.network(torch.randn((m, self.latent), generator=chance))
                noise = torch.randn(raw.shape, generator=chance)
                uniform = torch.rand(raw.shape, generator=chance).clamp(1e-10, 1 - 1e-7)
                gumbel = -torch.log(-torch.log(uniform))
                matrix = raw + gumbel  # the largest is drawn by its chance
                for block in self.modes.blocks:
                    if block.scalar is not None:
                        at = block.scalar
                        matrix[:, at] = (torch.tanh(raw[:, at]) + wide[at] * noise[:, at]).clamp(
                            -1, 1
                        )
                found.append(self.modes.decode(matrix.double().numpy()))
        return np.concatenate(found) if found else np.empty((0, len(self.space)))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        sizes = np.array([self.latent, self.units, self.pool])
        return {**self.modes.arrays(), **weights_of(self.network), "sizes": sizes}


def _reconstruction(torch: Any, modes: Modes, raw: Any, truth: Any, wide: Any) -> Any:
    """Minus the logarithm of the chance of the rows, summed over columns and rows."""
    total = torch.zeros(())
    for block in modes.blocks:
        if block.scalar is not None:
            at = block.scalar
            apart = truth[:, at] - torch.tanh(raw[:, at])
            total = total + (apart**2 / (2 * wide[at] ** 2)).sum() + len(raw) * torch.log(wide[at])
        own = slice(block.first, block.first + block.count)
        wanted = truth[:, own].argmax(dim=1)
        total = total + torch.nn.functional.cross_entropy(raw[:, own], wanted, reduction="sum")
    return total


def _train(
    X: Floats, modes: Modes, chosen: VariationalSynthesisSettings, seed: int, tell: Tell
) -> Any:
    """The decoder of an autoencoder that these rows train."""
    torch = torch_library()
    rng = np.random.default_rng(seed)
    chance = torch.Generator().manual_seed(seed)
    data = torch.tensor(modes.encode(X, rng)).float()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = _layers(torch, modes.width, chosen.units, 2 * chosen.latent)
        network = decoder(torch, chosen.latent, chosen.units, modes.width)
    learns = torch.optim.Adam(
        [*encoder.parameters(), *network.parameters()], lr=chosen.rate, weight_decay=chosen.decay
    )
    with one_thread("torch"):
        for epoch in range(chosen.epochs):
            tell("training", epoch, chosen.epochs)
            order = rng.permutation(len(data))
            for start in range(0, len(order), chosen.batch):
                rows = data[order[start : start + chosen.batch]]
                mean, log_variance = encoder(rows).split(chosen.latent, dim=1)
                noise = torch.randn(mean.shape, generator=chance)
                raw = network(mean + noise * torch.exp(0.5 * log_variance))
                wide = network.deviation.clamp(*_DEVIATIONS)
                missed = _reconstruction(torch, modes, raw, rows, wide)
                apart = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()
                learns.zero_grad()
                ((chosen.weight * missed + apart) / len(rows)).backward()
                learns.step()
    network.eval()
    return network


@registry.add("synthesizer", "tvae")
class TabularVAE:
    """A variational autoencoder (TVAE); a minute to learn."""

    name = "tvae"

    @staticmethod
    def fit(
        X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> VariationalDecoder:
        """Train on X float64[n, d]."""
        chosen = settings.tvae
        torch_library()
        tell("looking for modes", 0, 0)
        modes = modes_of(X, space, settings.modes, seed)
        network = _train(X, modes, chosen, seed, tell)
        return VariationalDecoder(space, modes, network, chosen.latent, chosen.units, settings.pool)

    @staticmethod
    def restore(arrays: Arrays, space: Space) -> VariationalDecoder:
        """What was learnt and gave these arrays."""
        torch = torch_library()
        found, _ = checked(arrays, _ARRAYS, _SAVED)
        modes = Modes.restore(arrays, space)
        latent, units, pool = found["sizes"].tolist()
        network = decoder(torch, latent, units, modes.width)
        load_weights(torch, network, arrays, _SAVED)
        return VariationalDecoder(space, modes, network, latent, units, pool)
