"""Spaces with two measured outcomes, and the volume of a choice as a share of the true front's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.roles import Source, sources, stated
from compass.domain.base import Config
from compass.pareto.front import extent, nondominated, reference_of, spread
from compass.pareto.hypervolume import hypervolume
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Space:
    """All measured configurations of one context; both outcomes are minimised."""

    name: str
    data: cp.Dataset
    study: cp.Study  # with the legal values of the whole table
    knobs: tuple[str, ...]
    outcomes: tuple[str, ...]
    X: Floats  # [n, d] encoded knobs
    Y: Floats  # [n, k] what was measured; NaN where the run failed

    @cached_property
    def fine(self) -> Rows:
        """The configurations that were measured in both."""
        return np.flatnonzero(np.isfinite(self.Y).all(axis=1))

    @cached_property
    def reference(self) -> Floats:
        """A tenth behind the true front, the same for everybody."""
        Y = self.Y[self.fine]
        return reference_of(Y[nondominated(Y)], Y)

    @cached_property
    def volume(self) -> float:
        """That of the true front."""
        return hypervolume(self.Y[self.fine], self.reference).value

    def share(self, places: Rows) -> float:
        """The volume of a choice of configurations, as a share of the true front's."""
        chosen = np.intersect1d(places, self.fine)
        return hypervolume(self.Y[chosen], self.reference).value / self.volume

    def spread(self, places: Rows) -> tuple[float, float]:
        """Spread of the true front of a choice, and the mean of its extents over the outcomes."""
        Y = self.Y[np.intersect1d(places, self.fine)]
        front = Y[nondominated(Y) & (self.reference > Y).all(axis=1)]
        if not len(front):
            return 0.0, 0.0
        ideal = self.Y[self.fine].min(axis=0)
        wide = float(extent(front, ideal, self.reference).mean())
        return spread(front, ideal, self.reference), wide

    def places(self, configs: Sequence[Config]) -> Rows:
        """Where configurations stand; one that is not there breaks a rule."""
        encoder = Encoder(self.data.prepared.space.select(self.knobs))
        place = {row.tobytes(): i for i, row in enumerate(self.X)}
        found = []
        for config in configs:
            row = encoder.encode({name: config[name] for name in self.knobs})
            if row.tobytes() not in place:
                raise ValueError(f"{self.name}: {config} is not a legal configuration")
            found.append(place[row.tobytes()])
        return np.array(found, dtype=np.int64)


def table_sources() -> dict[str, Source]:
    """The tables with two outcomes."""
    return sources(Path(__file__).with_name("tables.yaml"))


def spaces(source: Source, folder: Path, by: str) -> Iterator[Space]:
    """The spaces of a table, one for each value of a column; what breaks a rule is left out."""
    from compass.engine.rules import compiled, standing

    whole = source.read(folder)
    study, prepared = stated(whole), whole.prepared
    if len(prepared.values) != whole.table.arrow.num_rows:
        raise ValueError("a row of an exhaustive table was not read")
    legal = np.ones(len(prepared.values), dtype=np.bool_)
    for rule in compiled(standing(whole), prepared.space, prepared.space.names):
        legal &= rule.holds(prepared.values)
    part = np.array(whole.table.arrow.column(by).to_pylist())
    for name in sorted(set(part.tolist())):
        keep = np.flatnonzero(legal & (part == name))
        data = cp.read(whole.table.arrow.take(keep), study=study)
        yield Space(
            name=f"{source.name} {name}",
            data=data,
            study=study,
            knobs=source.ask,
            outcomes=source.goals,
            X=data.prepared.columns_of(source.ask),
            Y=data.prepared.columns_of(source.goals),
        )
