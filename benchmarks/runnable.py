"""Suggestions that can run, from samples of exhaustive tables without any rule: `make runnable`.

Every configuration that can be run is in these tables, with a time unless its launch failed. For
every GPU (or problem size), size of the sample and seed an engine of its own learns some rows. It
knows the roles of the columns and no rule, and it is asked once for five configurations with the
smallest time, all parameters free. A suggestion cannot run when the whole table does not hold it,
or holds it as failed.

    regret = measured time / best time of that GPU - 1

of the first suggestion; one that cannot run costs as much as the slowest configuration. What is
said to be `best row` is the fastest row learnt from.

Settings were chosen on seeds 100 to 104; figures come from seeds 0 to 19.

The exit code is 1 when more than 3 % of the first suggestions or 5 % of all cannot run.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import compass as cp
from benchmarks.oneshot import COUNT, Exhaustive, tables
from benchmarks.roles import PLAIN, data_folder
from benchmarks.show import save, table
from compass.domain.space import Role

SHARE = 0.05
SMALL = 48  # rows of the small samples
SEEDS = 20
KEPT = Path(__file__).with_name("runnable.json")  # before and after what this measures was built
FIRST_AT_MOST, ALL_AT_MOST = 0.03, 0.05
HEAD = (
    *("space", "learnt", "first cannot run", "all cannot run"),
    *("regret %", "best of 5 %", "best row %", "query s"),
)


@dataclass(frozen=True)
class Whole:
    """Every configuration of one GPU or problem size that can be run, and those that failed."""

    name: str
    table: pa.Table
    study: cp.Study  # roles, and nothing else
    knobs: tuple[str, ...]
    outcome: str
    times: dict[tuple[Any, ...], float]  # by the values of the knobs; NaN where the launch failed

    def seconds_of(self, config: Mapping[str, Any]) -> float:
        """What was measured of a configuration; NaN where it cannot run."""
        return self.times.get(tuple(config[name] for name in self.knobs), float("nan"))


@dataclass(frozen=True)
class Tried:
    """One sample: how many suggestions cannot run, and what the first one costs."""

    space: str
    size: str  # of the sample: `share` or `small`
    seed: int
    learnt: int
    first_cannot: bool
    cannot: int
    suggestions: int
    regret: float
    five: float  # the least regret of all suggestions
    best_row: float  # regret of the fastest row learnt
    seconds: float


def wholes(one: Exhaustive, folder: Path) -> Iterator[Whole]:
    """The spaces of a table as they are: no rule leaves a row out."""
    study = one.source.study.model_copy(update={"rules": ()})
    everything = cp.read(str(folder / one.source.path), study=study).table.arrow
    part = np.array(everything.column(one.by).to_pylist())
    knobs = tuple(n for n, c in study.columns.items() if c.role is Role.KNOB)
    outcome = one.source.goals[0]
    for name in sorted(set(part.tolist()) - set(one.leave_out)):
        keep = part == name
        if one.failed is not None and one.failed[0] == name:
            keep &= np.array(everything.column(outcome).to_pylist(), dtype=float) != one.failed[1]
        own = everything.take(np.flatnonzero(keep))
        values = zip(*(own.column(knob).to_pylist() for knob in knobs), strict=True)
        measured = np.array(own.column(outcome).to_pylist(), dtype=float)
        times = dict(zip(values, measured.tolist(), strict=True))
        yield Whole(f"{one.source.name} {name}", own, study, knobs, outcome, times)


def tried(space: Whole, size: str, seed: int) -> Tried:
    """One engine on one sample, asked once."""
    n = space.table.num_rows
    count = SMALL if size == "small" else round(SHARE * n)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:count])
    sample = space.table.take(rows)
    engine = cp.Compass(cp.read(sample, study=space.study), seed=seed, settings=PLAIN).fit()
    ask = tuple(name for name in space.knobs if name in engine.space)
    began = time.perf_counter()
    answer = engine.recommend(ask=ask, goals={space.outcome: cp.minimize}, count=COUNT)
    took = time.perf_counter() - began
    constant = sample.slice(0, 1).to_pylist()[0]  # what does not vary in a sample is as it is
    found = np.array([space.seconds_of({**constant, **one.config}) for one in answer])
    every = np.array([*space.times.values()])
    best, worst = float(np.nanmin(every)), float(np.nanmax(every))
    costs = np.where(np.isfinite(found), found, worst) / best - 1
    own = [space.seconds_of(row) for row in sample.to_pylist()]
    return Tried(
        space=space.name,
        size=size,
        seed=seed,
        learnt=len(rows),
        first_cannot=bool(len(found) and not np.isfinite(found[0])),
        cannot=int((~np.isfinite(found)).sum()),
        suggestions=len(found),
        regret=float(costs[0]) if len(costs) else worst / best - 1,
        five=float(costs.min(initial=worst / best - 1)),
        best_row=float(np.nanmin(own)) / best - 1,
        seconds=took,
    )


def show(results: Sequence[Tried]) -> str:
    """Per space and size of the sample, then per table and over everything."""
    keys = dict.fromkeys((r.space, r.size) for r in results)
    lines = [
        _line(f"{n} {s}", [r for r in results if (r.space, r.size) == (n, s)]) for n, s in keys
    ]
    for size in dict.fromkeys(r.size for r in results):
        own = [r for r in results if r.size == size]
        lines += [
            _line(f"{name}, {size}", [r for r in own if r.space.startswith(name)])
            for name in dict.fromkeys(r.space.split()[0] for r in own)
        ]
        lines.append(_line(f"all, {size}", own))
    lines.append(_line("all", results))
    seeds = len({r.seed for r in results})
    return f"suggestions that cannot run, {seeds} samples each, no rules given\n" + table(
        HEAD, lines
    )


def _line(name: str, own: Sequence[Tried]) -> tuple[object, ...]:
    first, every = shares(own)
    asked, made = len(own), sum(r.suggestions for r in own)
    return (
        name,
        f"{np.mean([r.learnt for r in own]):.0f}",
        f"{sum(r.first_cannot for r in own)}/{asked} ({first:.1%})",
        f"{sum(r.cannot for r in own)}/{made} ({every:.1%})",
        f"{100 * np.mean([r.regret for r in own]):.1f}",
        f"{100 * np.mean([r.five for r in own]):.1f}",
        f"{100 * np.mean([r.best_row for r in own]):.1f}",
        f"{np.median([r.seconds for r in own]):.2f}",
    )


def shares(results: Sequence[Tried]) -> tuple[float, float]:
    """The shares of first suggestions, and of all, that cannot run."""
    answered = sum(r.suggestions > 0 for r in results)
    made = sum(r.suggestions for r in results)
    return (
        sum(r.first_cannot for r in results) / max(answered, 1),
        sum(r.cannot for r in results) / max(made, 1),
    )


def per_seed(results: Sequence[Tried]) -> dict[str, dict[str, list[float]]]:
    """The values of each space and size of the sample, in the order of the seeds."""
    found: dict[str, dict[str, list[float]]] = {}
    for one in sorted(results, key=lambda r: (r.space, r.size, r.seed)):
        own = found.setdefault(f"{one.space} {one.size}", {})
        for name in ("seed", "first_cannot", "cannot", "suggestions", "regret", "five", "best_row"):
            own.setdefault(name, []).append(round(float(getattr(one, name)), 4))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runnable", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="NAME", action="append", help="convolution, gemm, syr2k")
    parser.add_argument(
        "--size", choices=("share", "small"), help="of the samples; both unless said"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the values per seed here")
    parser.add_argument(
        "--keep", metavar="NAME", help=f"keep the values per seed in {KEPT.name} under this name"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="samples per space")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    said = parser.parse_args(arguments)
    known, folder = {one.source.name: one for one in tables()}, data_folder()
    for name in said.only or ():
        if name not in known:
            parser.error(f"no table '{name}'; there are: {', '.join(known)}")
    results: list[Tried] = []
    for name in said.only or known:
        absent = known[name].source.absent(folder)
        if absent:
            print(f"{name}: skipped, {folder} has no {', '.join(absent)}", file=sys.stderr)
            continue
        for space in wholes(known[name], folder):
            began = time.perf_counter()
            for size in (said.size,) if said.size else ("share", "small"):
                seeds = range(said.first, said.first + said.seeds)
                results += [tried(space, size, seed) for seed in seeds]
            took = time.perf_counter() - began
            print(f"{space.name}: {took:.0f} s", file=sys.stderr, flush=True)
    if not results:
        print("nothing was measured", file=sys.stderr)
        return 0
    print(show(results))
    if said.json:
        save(said.json, {"tried": [asdict(r) for r in results]})
    if said.keep:
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        kept[said.keep] = per_seed(results)
        KEPT.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    first, every = shares(results)
    return int(first > FIRST_AT_MOST or every > ALL_AT_MOST)


if __name__ == "__main__":
    sys.exit(main())
