"""Fewer rows for the same front: `python -m benchmarks.pareto.learning [--keep]`.

From a table with every configuration of a GPU, a share of the rows is kept: at random, guided by a
pilot model, or near the front (reducer `front`). Two plain forests learn the rows as an engine
does, with their weights or, near the front, all alike (`front, weighted`: with theirs), and predict
the front of all legal configurations; it is looked up in the truth. The figure is its volume as a
share of the true front's, without any measured row: what the models know. Beside it stands the
volume of the kept rows themselves.

Spread and extent of both fronts (`compass.pareto.front`) stand beside, with 0 at the best of the
whole table and 1 at the reference: the spread is how unevenly the points of the true front of the
choice lie, the extent how much of the way between the two they cover.

`fewer` is the share of rows that a choice saves: how many of its rows reach what random choice
reaches with 10 % of the rows, on the mean curve, linear between the points.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from benchmarks.measure import interval
from benchmarks.pareto import kept
from benchmarks.pareto.spaces import Rows, Space, spaces, table_sources
from benchmarks.roles import data_folder
from benchmarks.show import table
from compass import registry
from compass.pareto.front import nondominated

KEEPS = (0.02, 0.04, 0.07, 0.1, 0.2)
AT = 0.1  # where rows are compared
WEIGHTED = ", weighted"
AIM = 0.27  # of the rows are saved, as published
WHOLE = "all rows"
WAYS = ("uniform", "guided", "front", f"front{WEIGHTED}")
SEEDS, FIRST = 5, 100
FIELDS = {
    "model": "volume of the models' front",
    "rows": "volume of the kept rows",
    "model_spread": "spread of the models' front",
    "model_extent": "extent of the models' front",
    "rows_spread": "spread of the kept rows",
    "rows_extent": "extent of the kept rows",
}


@dataclass(frozen=True)
class Point:
    """One choice of rows."""

    space: str
    way: str
    keep: float
    seed: int
    model: float  # share of the true volume that the models' front reaches
    rows: float  # the same of the kept rows
    model_spread: float | None = None  # of what is truly best of the models' front
    model_extent: float | None = None
    rows_spread: float | None = None
    rows_extent: float | None = None


def measured(space: Space, way: str, keep: float, seed: int) -> Point:
    """Keep rows, learn them, and look the predicted front up."""
    from sklearn.ensemble import RandomForestRegressor

    name = way.removesuffix(WEIGHTED)
    reducer = registry.get("reducer", name)()
    chosen, weight = reducer.reduce(space.data.prepared, keep, seed)
    if getattr(reducer, "learns_alike", False) and name == way:
        weight = np.ones(len(chosen))
    fine = np.isfinite(space.Y[chosen]).all(axis=1)
    rows, mass = chosen[fine], weight[fine]
    predicted = []
    for y in space.Y[rows].T:
        forest = RandomForestRegressor(50, random_state=seed, n_jobs=1)
        predicted.append(forest.fit(space.X[rows], y, sample_weight=mass).predict(space.X))
    front: Rows = np.flatnonzero(nondominated(np.column_stack(predicted)))
    told = (space.share(front), space.share(rows), *space.spread(front), *space.spread(rows))
    return Point(space.name, way, keep, seed, *told)


def everything(space: Space, seed: int) -> Point:
    """What the models' front reaches that have learnt all rows."""
    return replace(measured(space, "uniform", 1.0, seed), way=WHOLE)


def curve(points: Sequence[Point], way: str, field: str) -> list[float]:
    """The mean over spaces and seeds for each share of the rows."""
    own = [p for p in points if p.way == way]
    return [float(np.mean([getattr(p, field) for p in own if p.keep == keep])) for keep in KEEPS]


def fewer(points: Sequence[Point], way: str, field: str) -> float:
    """The share of rows saved beside random choice of a tenth; negative: more are needed."""
    aim = float(np.interp(AT, KEEPS, curve(points, "uniform", field)))
    own = np.maximum.accumulate(curve(points, way, field))
    if own[-1] < aim:
        return float("nan")
    return 1 - float(np.interp(aim, own, KEEPS)) / AT


def show(points: Sequence[Point], ways: Sequence[str]) -> str:
    """Per way and share of rows the mean with its 95 % interval over the seeds."""
    lines = []
    for field, name in FIELDS.items():
        for way in ways:
            own = [p for p in points if p.way == way and getattr(p, field) is not None]
            if not own:
                continue
            told = [_told([p for p in own if p.keep == keep], field) for keep in KEEPS]
            volume = field in ("model", "rows") and "uniform" in ways
            saved = f"{fewer(points, way, field):.0%}" if volume else ""
            lines.append((name, way, *told, saved))
    seeds, spaces_ = (len({getattr(p, f) for p in points}) for f in ("seed", "space"))
    head = ("", "rows chosen", *(f"{k:.0%}" for k in KEEPS), "fewer rows")
    text = f"mean ± 95 % over {seeds} seeds, {spaces_} spaces\n" + table(head, lines)
    whole = [p.model for p in points if p.way == WHOLE]
    return f"{text}\nall rows learnt: volume {np.mean(whole):.3f}" if whole else text


def _told(points: Sequence[Point], field: str) -> str:
    by_seed: dict[int, list[float]] = {}
    for point in points:
        by_seed.setdefault(point.seed, []).append(getattr(point, field))
    return str(interval(list(by_seed.values())))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto.learning")
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="TEXT", action="append", default=[])
    parser.add_argument("--keep", action="store_true", help=f"keep the values in {kept.FILE.name}")
    parser.add_argument("--way", metavar="NAME", action="append", help="; ".join(WAYS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=FIRST)
    said = parser.parse_args(arguments)
    source, folder = table_sources()["convolution"], data_folder()
    absent = source.absent(folder)
    if absent:
        print(f"skipped, {folder} has no {', '.join(absent)}", file=sys.stderr)
        return 0
    points: list[Point] = []
    ways = said.way or WAYS
    for space in spaces(source, folder, "gpu"):
        if said.only and not any(text in space.name for text in said.only):
            continue
        began = time.perf_counter()
        for seed in range(said.first, said.first + said.seeds):
            new = [measured(space, way, keep, seed) for way in ways for keep in KEEPS]
            if seed == said.first:
                new.append(everything(space, seed))
            points += new
            if said.keep:
                kept.keep("learning", [asdict(p) for p in new])
        print(f"{space.name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    print(show(points, ways))
    return 0


if __name__ == "__main__":
    sys.exit(main())
