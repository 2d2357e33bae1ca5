"""The front from 5 % of an exhaustive table, looked up in the truth.

`python -m benchmarks.pareto.oneshot [--keep]`

For every GPU and seed an engine learns from 5 % of the rows and is asked once for the front of two
outcomes, all parameters free, under the rules of the study. What it tells is looked up in the whole
table. Everybody's volume is a share of that of the true front; the reference lies a tenth of its
range behind the true front, the same for all.

It may tell 25 points. `rows` is the front of the rows learnt from; `forest` the configurations
that two plain Random Forests (scikit-learn, defaults, the same rows) predict to be on the front;
`forest + rows` both together. A configuration that failed to launch counts for nothing. Spread and
extent (`compass.pareto.front`) are those of the true front of each choice, with 0 at the best of
the whole table and 1 at the reference.

The exit code is 1 when, on the mean over the seeds, the front is below that of the rows, or not
above that of the plain forest, on some GPU.
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
from benchmarks.pareto.spaces import Space, spaces, table_sources
from benchmarks.roles import PLAIN, data_folder
from benchmarks.show import table
from compass.pareto.front import nondominated

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

SHARE, SEEDS, COUNT = 0.05, 5, 25
FIRST = 100  # what was tried while this was made used the seeds from 0
TABLES = ("convolution", "gemm")
LEAVE_OUT = ("gemm RTX_3060_laptop",)  # a third of its rows was never measured
FIGURES = ("rows", "forest", "forest_and_rows", "told")
HEAD = (
    "space",
    "seeds",
    "rows",
    "learnt",
    "front of the rows",
    "plain forest",
    "forest + rows",
    "Compass",
)
HEAD = (*HEAD, "points", "forest's", "missed", "CPU s")
SPREADS = ("rows", "forest", "told")


@dataclass(frozen=True)
class Shot:
    """One sample: volumes as shares of the true front's."""

    space: str
    seed: int
    rows: float
    forest: float
    forest_and_rows: float
    told: float
    points: int
    forest_points: int
    legal: int | None = None
    learnt: int | None = None
    missed: int | None = None  # told points that failed to launch
    cpu: float | None = None  # of the question
    spread: dict[str, tuple[float, float]] | None = None  # and extent, by choice


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
        spread={
            "rows": space.spread(measured),
            "forest": space.spread(forest),
            "told": space.spread(told),
        },
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
    lines: list[tuple[object, ...]] = []
    groups: dict[str, list[Shot]] = {}
    for one in shots:
        groups.setdefault(one.space, []).append(one)
    for name, own in groups.items():
        told = [str(interval([[getattr(s, field)] for s in own])) for field in FIGURES]
        counts = [_mean(own, f, ".1f") for f in ("points", "forest_points", "missed")]
        about = (own[0].legal or "-", own[0].learnt or "-")
        seeds = len({s.seed for s in own})
        lines.append((name, seeds, *about, *told, *counts, _mean(own, "cpu", ".2f")))
    for table_name in dict.fromkeys(name.split()[0] for name in groups):
        own = [s for s in shots if s.space.split()[0] == table_name]
        whole = [_mean(own, field, ".3f") for field in FIGURES]
        lines.append((f"{table_name}, mean", "", "", "", *whole, "", "", "", ""))
    text = "share of the true front's volume, mean ± 95 % over samples of 5 % of the rows\n"
    text += table(HEAD, lines)
    known = [s for s in shots if s.spread]
    return f"{text}\n\n{_spreads(known)}" if known else text


def _mean(shots: Sequence[Shot], field: str, form: str) -> str:
    values = [getattr(s, field) for s in shots if getattr(s, field) is not None]
    return format(float(np.mean(values)), form) if values else "-"


def _spreads(shots: Sequence[Shot]) -> str:
    """Spread and extent of the fronts of the rows, of the forest and of what is told."""
    lines = []
    for name in dict.fromkeys(s.space for s in shots):
        own = [s.spread or {} for s in shots if s.space == name]
        cells = [f"{np.mean([s[way][k] for s in own]):.2f}" for way in SPREADS for k in (0, 1)]
        lines.append((name, *cells))
    head = [
        f"{way} {what}" for way in ("rows'", "forest's", "Compass") for what in ("spread", "extent")
    ]
    return "spread of the true front of each choice, and its extent\n" + table(
        ("space", *head), lines
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
    parser.add_argument("--keep", action="store_true", help=f"keep the values in {kept.FILE.name}")
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
            new = [shoot(space, seed) for seed in range(said.first, said.first + said.seeds)]
            shots += new
            if said.keep:
                kept.keep("oneshot", [asdict(s) for s in new])
            took = time.perf_counter() - began
            print(f"{space.name}: {said.seeds} samples, {took:.0f} s", file=sys.stderr, flush=True)
    if not shots:
        print("nothing was measured", file=sys.stderr)
        return 0
    print(show(shots))
    worse = lost(shots)
    for name in worse:
        print(f"not above both references: {name}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
