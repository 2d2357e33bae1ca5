"""A conditional tabular GAN, written from the paper (Xu et al. 2019).

Mode-specific normalisation of numbers (`modes`), a generator with residual layers that is told a
label of one column (the conditional vector), training by sampling (that column by chance, its
label by the logarithm of its frequency), a critic that judges several rows together (PacGAN) with
a gradient penalty (WGAN-GP), and the cross entropy of the label that was asked for.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Category, Space
from compass.execute.arrays import checked, floats, whole
from compass.execute.one_thread import one_thread
from compass.settings import AdversarialSynthesisSettings, SynthesisSettings
from compass.synth.base import Arrays, Floats, Tell
from compass.synth.modes import Modes, modes_of
from compass.synth.network import activated, load_weights, torch_library, weights_of
from compass.synth.pooled import Pooled

_SAVED = "the saved synthesizer"
_ARRAYS = {
    "sizes": whole(3, least=1),  # latent, units, pool
    "temperature": floats(1, above=0),
    "shares": floats("labels", least=0),
}
_CHUNK = 5000


@dataclass(frozen=True, eq=False)
class Labels:
    """The columns of labels, whose values a generator can be told; all labels in one row."""

    places: tuple[int, ...]  # columns of the space
    starts: tuple[int, ...]  # where the labels of each begin in the conditional vector
    shares: Floats  # of rows that have each label

    @classmethod
    def of(cls, space: Space, shares: Floats | None = None, X: Floats | None = None) -> "Labels":
        """The labels of a space, with their shares in rows X [n, d]."""
        places = [j for j, p in enumerate(space) if isinstance(p, Category)]
        counts = [len(p.values) for p in space if isinstance(p, Category)]
        starts = [int(sum(counts[:k])) for k in range(len(counts))]
        if shares is None:
            assert X is not None
            parts = [
                np.bincount(X[:, j].astype(np.int64), minlength=count) / len(X)
                for j, count in zip(places, counts, strict=True)
            ]
            shares = np.concatenate(parts) if parts else np.empty(0)
        return cls(tuple(places), tuple(starts), shares)

    @property
    def width(self) -> int:
        """Columns of the conditional vector."""
        return len(self.shares)

    def own(self, k: int) -> slice:
        """The labels of the k-th of these columns."""
        ends = (*self.starts[1:], self.width)
        return slice(self.starts[k], ends[k])

    def draw(
        self, count: int, rng: np.random.Generator, *, log: bool
    ) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Conditional vectors [count, width], their columns [count] and labels [count]."""
        vector = np.zeros((count, self.width))
        column = rng.integers(0, max(len(self.places), 1), count)
        label = np.zeros(count, dtype=np.int64)
        for k in range(len(self.places)):
            rows = np.flatnonzero(column == k)
            weight = self.shares[self.own(k)]
            # The paper's logarithm of the frequency: rare labels are asked for more often.
            weight = np.log1p(weight * 1e4) if log else weight
            chances = np.cumsum(weight / weight.sum())
            label[rows] = np.minimum(
                np.searchsorted(chances, rng.random(len(rows))), len(weight) - 1
            )
            vector[rows, self.starts[k] + label[rows]] = 1.0
        return vector, column, label


def generator(torch: Any, inputs: int, units: int, width: int) -> Any:
    """Two residual layers, batch-normalised, and a linear one (section 4.4)."""

    class Residual(torch.nn.Module):  # type: ignore[misc]
        """A layer whose input stands beside its output."""

        def __init__(self, size: int) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(size, units)
            self.normal = torch.nn.BatchNorm1d(units)

        def forward(self, x: Any) -> Any:
            """[n, size] -> [n, units + size]."""
            return torch.cat([torch.relu(self.normal(self.layer(x))), x], dim=1)

    return torch.nn.Sequential(
        Residual(inputs), Residual(inputs + units), torch.nn.Linear(inputs + 2 * units, width)
    )


def critic(torch: Any, inputs: int, units: int) -> Any:
    """Two layers with dropout and leaky slopes, and one score."""
    layers: list[Any] = []
    for size in (inputs, units):
        layers += [
            torch.nn.Linear(size, units), torch.nn.LeakyReLU(0.2), torch.nn.Dropout(0.5)
        ]  # fmt: skip
    return torch.nn.Sequential(*layers, torch.nn.Linear(units, 1))


@dataclass(eq=False)
class ConditionalGenerator(Pooled):
    """A trained generator."""

    space: Space
    modes: Modes
    labels: Labels
    network: Any
    latent: int
    units: int
    temperature: float
    pool: int
    name: str = field(default="ctgan", init=False)

    def rows(self, count: int, rng: np.random.Generator) -> Floats:
        """`count` whole legal rows; labels are asked for as often as they were measured."""
        torch = torch_library()
        found = []
        chance = torch.Generator().manual_seed(int(rng.integers(2**62)))
        with one_thread("torch"), torch.no_grad():
            for start in range(0, count, _CHUNK):
                m = min(_CHUNK, count - start)
                vector, _, _ = self.labels.draw(m, rng, log=False)
                noise = torch.randn((m, self.latent), generator=chance)
                raw = self.network(torch.cat([noise, torch.tensor(vector).float()], dim=1))
                made = activated(torch, raw, self.modes.blocks, self.temperature, chance)
                found.append(self.modes.decode(made.double().numpy()))
        return np.concatenate(found) if found else np.empty((0, len(self.space)))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        return {
            **self.modes.arrays(),
            **weights_of(self.network),
            "sizes": np.array([self.latent, self.units, self.pool]),
            "temperature": np.array([self.temperature]),
            "shares": self.labels.shares,
        }


class _Training:
    """Generator and critic while they learn."""

    def __init__(
        self,
        X: Floats,
        modes: Modes,
        labels: Labels,
        chosen: AdversarialSynthesisSettings,
        seed: int,
    ) -> None:
        torch = self.torch = torch_library()
        self.chosen, self.modes, self.labels = chosen, modes, labels
        self.rng = np.random.default_rng(seed)
        self.chance = torch.Generator().manual_seed(seed)
        self.pack = min(chosen.pack, len(X))
        batch = min(chosen.batch, len(X)) // self.pack * self.pack
        self.batch = max(batch, self.pack)
        self.data = torch.tensor(modes.encode(X, self.rng)).float()
        # Rows of each label: the real row that stands beside a made one has the label asked for.
        self.having = [
            [np.flatnonzero(X[:, j] == code) for code in range(len(labels.shares[labels.own(k)]))]
            for k, j in enumerate(labels.places)
        ]
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            inputs = chosen.latent + labels.width
            self.generator = generator(torch, inputs, chosen.units, modes.width)
            wide = (modes.width + labels.width) * self.pack
            self.critic = critic(torch, wide, chosen.units)
        options = {"lr": chosen.rate, "betas": (0.5, 0.9)}
        self.makes = torch.optim.Adam(
            self.generator.parameters(), weight_decay=chosen.decay, **options
        )
        self.judges = torch.optim.Adam(self.critic.parameters(), **options)

    def run(self, tell: Tell) -> Any:
        """Train for the epochs that were chosen; the generator."""
        torch = self.torch
        steps = max(len(self.data) // self.batch, 1)
        with one_thread("torch"), torch.random.fork_rng():
            torch.manual_seed(int(self.rng.integers(2**31)))  # dropout has no generator of its own
            for epoch in range(self.chosen.epochs):
                tell("training", epoch, self.chosen.epochs)
                for _ in range(steps):
                    for _ in range(self.chosen.steps):
                        self._judge()
                    self._make()
        self.generator.eval()
        return self.generator

    def _made(self) -> tuple[Any, Any, Any, NDArray[np.int64], NDArray[np.int64]]:
        torch = self.torch
        vector, column, label = self.labels.draw(self.batch, self.rng, log=True)
        asked = torch.tensor(vector).float()
        noise = torch.randn((self.batch, self.chosen.latent), generator=self.chance)
        raw = self.generator(torch.cat([noise, asked], dim=1))
        made = activated(torch, raw, self.modes.blocks, self.chosen.temperature, self.chance)
        return made, raw, asked, column, label

    def _judge(self) -> None:
        """One step of the critic: real rows high, made ones low, slopes near 1 between them."""
        torch = self.torch
        with torch.no_grad():
            made, _, asked, column, label = self._made()
        order = self.rng.permutation(self.batch)
        real = self.data[self._real(column[order], label[order])]
        a = torch.cat([real, asked[order]], dim=1)
        b = torch.cat([made, asked], dim=1)
        loss = self.critic(self._packed(b)).mean() - self.critic(self._packed(a)).mean()
        self.judges.zero_grad()
        (loss + self._penalty(a, b)).backward()
        self.judges.step()

    def _penalty(self, a: Any, b: Any) -> Any:
        torch = self.torch
        packs = len(a) // self.pack
        share = torch.rand((packs, 1), generator=self.chance)
        mixed = share * self._packed(a) + (1 - share) * self._packed(b)
        mixed.requires_grad_(True)
        (slope,) = torch.autograd.grad(self.critic(mixed).sum(), mixed, create_graph=True)
        return self.chosen.penalty * ((slope.norm(2, dim=1) - 1) ** 2).mean()

    def _make(self) -> None:
        """One step of the generator: judged real, with the label that was asked for."""
        torch = self.torch
        made, raw, asked, column, label = self._made()
        score = self.critic(self._packed(torch.cat([made, asked], dim=1))).mean()
        loss = -score + self._cross_entropy(raw, column, label)
        self.makes.zero_grad()
        loss.backward()
        self.makes.step()

    def _cross_entropy(self, raw: Any, column: NDArray[np.int64], label: NDArray[np.int64]) -> Any:
        torch = self.torch
        total = torch.zeros(())
        for k, place in enumerate(self.labels.places):
            rows = np.flatnonzero(column == k)
            if len(rows):
                block = self.modes.blocks[place]
                logits = raw[rows, block.first : block.first + block.count]
                wanted = torch.from_numpy(label[rows])
                apart = torch.nn.functional.cross_entropy(logits, wanted, reduction="sum")
                total = total + apart
        return total / self.batch

    def _real(self, column: NDArray[np.int64], label: NDArray[np.int64]) -> NDArray[np.int64]:
        """A real row that has the label of each conditional vector, by chance."""
        chance = self.rng.random(len(column))
        found = (chance * len(self.data)).astype(np.int64)
        for k in range(len(self.having)):
            for code, rows in enumerate(self.having[k]):
                here = np.flatnonzero((column == k) & (label == code))
                if len(rows) and len(here):
                    found[here] = rows[(chance[here] * len(rows)).astype(np.int64)]
        return found

    def _packed(self, rows: Any) -> Any:
        return rows.reshape(len(rows) // self.pack, -1)


@registry.add("synthesizer", "ctgan")
class TabularGAN:
    """A conditional generative adversarial network (CTGAN); minutes to learn."""

    name = "ctgan"

    @staticmethod
    def fit(
        X: Floats, space: Space, *, seed: int, settings: SynthesisSettings, tell: Tell
    ) -> ConditionalGenerator:
        """Train on X float64[n, d]."""
        chosen = settings.ctgan
        torch_library()
        tell("looking for modes", 0, 0)
        modes = modes_of(X, space, settings.modes, seed)
        labels = Labels.of(space, X=X)
        network = _Training(X, modes, labels, chosen, seed).run(tell)
        return ConditionalGenerator(
            space,
            modes,
            labels,
            network,
            chosen.latent,
            chosen.units,
            chosen.temperature,
            settings.pool,
        )

    @staticmethod
    def restore(arrays: Arrays, space: Space) -> ConditionalGenerator:
        """What was learnt and gave these arrays."""
        torch = torch_library()
        labels = Labels.of(space, X=np.zeros((1, len(space))))
        found, _ = checked(arrays, _ARRAYS, _SAVED, {"labels": labels.width})
        labels = Labels.of(space, shares=found["shares"])
        modes = Modes.restore(arrays, space)
        latent, units, pool = found["sizes"].tolist()
        network = generator(torch, latent + labels.width, units, modes.width)
        load_weights(torch, network, arrays, _SAVED)
        temperature = float(found["temperature"][0])
        return ConditionalGenerator(space, modes, labels, network, latent, units, temperature, pool)
