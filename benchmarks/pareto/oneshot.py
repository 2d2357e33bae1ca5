"""The front from 5 % of an exhaustive table, looked up in the truth.

`python -m benchmarks.pareto.oneshot`

For every GPU and seed an engine learns from 5 % of the rows and is asked once for the front of two
outcomes, all parameters free, under the rules of the study. What it tells is looked up in the whole
table. Everybody's volume is a share of that of the true front; the reference lies a tenth of its
range behind the true front, the same for all.

It may tell 25 points. `rows` is the front of the rows learnt from; `forest` the configurations
that two plain Random Forests (scikit-learn, defaults, the same rows) predict to be on the front;
`forest + rows` both together. A configuration that failed to launch counts for nothing.

The exit code is 1 when, on the mean over the seeds, the front is below that of the rows, or not
above that of the plain forest, on some GPU.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.measure import interval
from benchmarks.pareto.spaces import Space, spaces, table_sources
from benchmarks.roles import PLAIN, data_folder
from benchmarks.show import save, table
from compass.pareto.front import nondominated

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

SHARE, SEEDS, COUNT = 0.05, 5, 25
FIRST = 100  # what was tried while this was made used the seeds from 0
COUNTS = ("points", "forest_points", "missed")
TABLES = ("convolution", "gemm")
LEAVE_OUT = ("gemm RTX_3060_laptop",)  # a third of its rows was never measured
FIGURES = ("rows", "forest", "forest_and_rows", "told")
HEAD = ("space", "rows", "learnt", "front of the rows", "plain forest", "forest + rows", "Compass")
HEAD = (*HEAD, "points", "forest's", "missed", "CPU s")


@dataclass(frozen=True)
class Shot:
    """One sample: volumes as shares of the true front's."""

    space: str
    seed: int
    legal: int
    learnt: int
    rows: float
    forest: float
    forest_and_rows: float
    told: float
    points: int
    forest_points: int
    missed: int  # told points that failed to launch
    cpu: float  # of the question


def shoot(space: Space, seed: int) -> Shot:
    """One engine on one sample, asked once."""
    n = len(space.Y)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[: round(SHARE * n)])
    measured = rows[np.isfinite(space.Y[rows]).all(axis=1)]
    learnt = cp.read(space.data.table.arrow.take(rows), study=space.study)
    engine = cp.Compass(learnt, seed=seed, settings=PLAIN).fit()
    began = time.process_time()
    answer = engine.pareto(space.outcomes, ask=space.knobs, count=COUNT, prove=0)
    cpu = time.process_time() - began
    told = space.places([one.config for one in answer.suggestions])
    forest = forest_front(space, measured, seed)
    return Shot(
        space=space.name,
        seed=seed,
        legal=n,
        learnt=len(rows),
        rows=space.share(measured),
        forest=space.share(forest),
        forest_and_rows=space.share(np.union1d(forest, measured)),
        told=space.share(told),
        points=len(told),
        forest_points=len(forest),
        missed=int(np.isnan(space.Y[told]).any(axis=1).sum()),
        cpu=cpu,
    )


def forest_front(space: Space, measured: Rows, seed: int) -> Rows:
    """The legal configurations that plain forests predict to be on the front."""
    from sklearn.ensemble import RandomForestRegressor

    predicted = []
    for y in space.Y[measured].T:
        forest = RandomForestRegressor(random_state=seed, n_jobs=1)
        predicted.append(forest.fit(space.X[measured], y).predict(space.X))
    return np.flatnonzero(nondominated(np.column_stack(predicted)))


def show(shots: Sequence[Shot]) -> str:
    """Per space the mean over the seeds with its 95 % interval, then the mean over the spaces."""
    lines = []
    for name in dict.fromkeys(s.space for s in shots):
        own = [s for s in shots if s.space == name]
        told = [str(interval([[getattr(s, field)] for s in own])) for field in FIGURES]
        counts = [
            np.mean([getattr(s, f) for s in own]) for f in ("points", "forest_points", "missed")
        ]
        cpu = np.median([s.cpu for s in own])
        about = [f"{c:.1f}" for c in counts]
        lines.append((name, own[0].legal, own[0].learnt, *told, *about, f"{cpu:.2f}"))
    whole = [f"{np.mean([getattr(s, f) for s in shots]):.3f}" for f in FIGURES]
    lines.append(("all", "", "", *whole, "", "", "", ""))
    seeds = len({s.seed for s in shots})
    return (
        f"share of the true front's volume, mean ± 95 % over {seeds} samples of 5 % of the rows\n"
        + table(HEAD, lines)
    )


def lost(shots: Sequence[Shot]) -> list[str]:
    """The spaces where the front is below that of the rows, or not above the plain forest's."""
    found = []
    for name in dict.fromkeys(s.space for s in shots):
        own = [s for s in shots if s.space == name]
        below = any(s.told < s.rows - 1e-9 for s in own)
        if below or np.mean([s.told for s in own]) <= np.mean([s.forest for s in own]):
            found.append(name)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pareto.oneshot", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="NAME", action="append", help=", ".join(TABLES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="samples per space")
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed")
    said = parser.parse_args(arguments)
    folder, known = data_folder(), table_sources()
    shots: list[Shot] = []
    for name in said.only or TABLES:
        absent = known[name].absent(folder)
        if absent:
            print(f"{name}: skipped, {folder} has no {', '.join(absent)}", file=sys.stderr)
            continue
        for space in spaces(known[name], folder, "gpu"):
            if space.name in LEAVE_OUT:
                continue
            began = time.perf_counter()
            shots += [shoot(space, seed) for seed in range(said.first, said.first + said.seeds)]
            took = time.perf_counter() - began
            print(f"{space.name}: {said.seeds} samples, {took:.0f} s", file=sys.stderr, flush=True)
    if not shots:
        print("nothing was measured", file=sys.stderr)
        return 0
    print(show(shots))
    if said.json:
        save(said.json, {"shots": [asdict(s) for s in shots]})
    worse = lost(shots)
    for name in worse:
        print(f"not above both references: {name}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
