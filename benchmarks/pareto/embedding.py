"""Attention embeddings beside raw features: `python -m benchmarks.pareto.embedding [--keep]`.

For every GPU of the convolution table and seed, 5 % of the rows are learnt, with a forest on the
raw features and with the same forest behind an attention embedding (the raw features beside it).
Both predict all other rows and the front of all legal configurations, which are looked up in the
truth: the mean absolute error in percent, and the volume as a share of the true front's. `chosen`
says for which outcomes an engine that was told `represent="attention"` kept the embedding, which it
decides by cross-validation on the 5 % alone; `right` whether the unseen rows agree: the embedding
was kept where it errs less by more than 2 %, and left out elsewhere.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.measure import interval
from benchmarks.pareto import kept
from benchmarks.pareto.spaces import Rows, Space, spaces, table_sources
from benchmarks.roles import data_folder
from benchmarks.show import table
from compass.model.base import Task
from compass.model.recipe import Recipe
from compass.pareto.front import nondominated
from compass.settings import Settings

Floats = NDArray[np.float64]

SHARE, SEEDS, FIRST = 0.05, 2, 100
FAMILY, EMBEDDING = "forest", "attention"
WORTH = 0.98  # share of the error that counts as better, as in the choice


@dataclass(frozen=True)
class Study:
    """One sample: errors per outcome, volumes as shares of the true front's."""

    space: str
    seed: int
    plain_error: tuple[float, ...]
    embedded_error: tuple[float, ...]
    plain_front: float
    embedded_front: float
    chosen: tuple[bool, ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """Per outcome whether the choice is what the unseen rows say."""
        pairs = zip(self.plain_error, self.embedded_error, self.chosen, strict=True)
        return tuple((after < WORTH * before) == kept for before, after, kept in pairs)


def studied(space: Space, seed: int) -> Study:
    """One sample, learnt both ways, and by an engine that may choose."""
    n = len(space.Y)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[: round(SHARE * n)])
    measured = rows[np.isfinite(space.Y[rows]).all(axis=1)]
    plain = _learnt(space, measured, None, seed)
    embedded = _learnt(space, measured, EMBEDDING, seed)
    learnt = cp.read(space.data.table.arrow.take(rows), study=space.study)
    engine = cp.Compass(learnt, seed=seed, surrogate=FAMILY, represent=EMBEDDING)
    engine.fit(space.outcomes)
    cards = {card.target: card for card in engine.cards}
    return Study(
        space=space.name,
        seed=seed,
        plain_error=_errors(space, measured, plain),
        embedded_error=_errors(space, measured, embedded),
        plain_front=space.share(np.flatnonzero(nondominated(plain))),
        embedded_front=space.share(np.flatnonzero(nondominated(embedded))),
        chosen=tuple(cards[name].embedding is not None for name in space.outcomes),
    )


def _learnt(space: Space, rows: Rows, embedding: str | None, seed: int) -> Floats:
    """What is predicted of every legal configuration, [n, k]."""
    recipe = Recipe(family=FAMILY, log=True, embedding=embedding)
    features = space.data.prepared.space.select(space.knobs)
    predicted = []
    for y in space.Y[rows].T:
        model = recipe.fit(
            space.X[rows],
            np.ascontiguousarray(y),
            task=Task(),
            weight=None,
            seed=seed,
            settings=Settings(seed=seed),
            features=features,
        )
        predicted.append(model.predict(space.X)[:, 0])
    return np.column_stack(predicted)


def _errors(space: Space, rows: Rows, predicted: Floats) -> tuple[float, ...]:
    """The mean absolute error of each outcome on the rows that were not learnt, a share."""
    others = np.setdiff1d(space.fine, rows)
    off = np.abs(predicted[others] / space.Y[others] - 1)
    return tuple(off.mean(axis=0).tolist())


def show(studies: Sequence[Study], outcomes: Sequence[str]) -> str:
    """Per space the means, then those over the spaces, and how often the choice was right."""
    lines = []
    for name in dict.fromkeys(one.space for one in studies):
        own = [one for one in studies if one.space == name]
        errors = [
            f"{np.mean([getattr(one, field)[k] for one in own]):.1%}"
            for k in range(len(outcomes))
            for field in ("plain_error", "embedded_error")
        ]
        fronts = [
            str(interval([[getattr(one, field)] for one in own]))
            for field in ("plain_front", "embedded_front")
        ]
        kept = sum(sum(one.chosen) for one in own)
        right = sum(sum(one.right) for one in own)
        of = len(own) * len(outcomes)
        lines.append((name, *errors, *fronts, f"{kept} of {of}", f"{right} of {of}"))
    every = len(studies) * len(outcomes)
    means = [
        f"{np.mean([getattr(one, field)[k] for one in studies]):.1%}"
        for k in range(len(outcomes))
        for field in ("plain_error", "embedded_error")
    ]
    fronts = [
        f"{np.mean([getattr(one, field) for one in studies]):.3f}"
        for field in ("plain_front", "embedded_front")
    ]
    kept = sum(sum(one.chosen) for one in studies)
    right = sum(sum(one.right) for one in studies)
    lines.append(("all", *means, *fronts, f"{kept} of {every}", f"{right} of {every}"))
    heads = [f"{name}{way}" for name in outcomes for way in (" raw", " embedded")]
    return table(("space", *heads, "front raw", "front embedded", "chosen", "right"), lines)


def contradicted(studies: Sequence[Study]) -> list[str]:
    """What is told where the choice is wrong more often than right."""
    right = [one for study in studies for one in study.right]
    return [f"{sum(right)} of {len(right)} choices right"] if 2 * sum(right) < len(right) else []


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto.embedding")
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="TEXT", action="append", default=[])
    parser.add_argument("--keep", action="store_true", help=f"keep the values in {kept.FILE.name}")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=FIRST)
    said = parser.parse_args(arguments)
    source, folder = table_sources()["convolution"], data_folder()
    absent = source.absent(folder)
    if absent:
        print(f"skipped, {folder} has no {', '.join(absent)}", file=sys.stderr)
        return 0
    studies: list[Study] = []
    for space in spaces(source, folder, "gpu"):
        if said.only and not any(text in space.name for text in said.only):
            continue
        began = time.perf_counter()
        for seed in range(said.first, said.first + said.seeds):
            studies.append(studied(space, seed))
            if said.keep:
                kept.keep("embedding", [asdict(studies[-1])])
        print(f"{space.name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    print(show(studies, source.goals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
