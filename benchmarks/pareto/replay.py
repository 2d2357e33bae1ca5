"""Two outcomes as a loop: how much of the true front is found after so many runs.

`python -m benchmarks.pareto.replay [--python PEERS/bin/python] [--keep]`

Every space is what was measured: power caps and batch sizes of trainings on four GPUs (zeus),
nodes, threads and caps of applications (powerbound), machines and cores (multicore), GPU kernels
(convolution; run time against build time). Everybody starts from the same random configurations
and may ask for any that was measured and not evaluated yet. The figure is the volume of what was
evaluated as a share of the true front's; the reference lies a tenth behind the true front.

`front` is `compass.pareto.next_runs`, `one outcome` the loop for the first outcome alone, `random`
the mean of random orders. Optuna's samplers and BoTorch run in an environment of their own.

Beside the volume stand the spread and the extent of the evaluated front (`compass.pareto.front`),
with 0 at the best of the true front and 1 at the reference.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Interval, interval
from benchmarks.pareto import kept
from benchmarks.pareto.front_case import FrontCase
from benchmarks.pareto.spaces import table_sources
from benchmarks.roles import Source, data_folder
from benchmarks.show import table
from compass.acquire.loop import LoopProblem, Seen, next_runs
from compass.acquire.loop.pool import Pool
from compass.domain.space import Category, Number, Space
from compass.pareto.acquisition import SeenRuns
from compass.pareto.front import extent, nondominated, reference_of, spread
from compass.pareto.hypervolume import hypervolume
from compass.pareto.next_runs import next_front_runs
from compass.settings import LoopSettings

Floats = NDArray[np.float64]
Orders = dict[int, list[int]]

AT = (30, 60, 120)
STARTS, SEEDS, USUAL = 10, 5, 20
FIRST = 100  # the seeds from 0 were used while this was made
LEAST = 40  # configurations of a space that is replayed
DRAWS = 40  # random orders
OPTUNA = ("tpe", "nsga-ii", "nsga-iii", "gp")
BOTORCH = ("qlognehvi", "qlognparego")
CONTESTANTS = ("front", "random", *OPTUNA, *BOTORCH, "one outcome")
CONTEXTS = {
    "zeus": ("gpu", "dataset", "network"),
    "powerbound": ("app",),
    "multicore": ("app",),
    "convolution": ("gpu",),
}


@dataclass(frozen=True, eq=False)
class FrontReplay:
    """One space of which every configuration was measured."""

    name: str
    space: Space
    X: Floats  # [m, d]
    Y: Floats  # [m, k]
    case: FrontCase

    def problem(self, seed: int) -> LoopProblem:
        """What is asked, with the measured configurations as the pool."""
        found = LoopProblem(self.space, (), seed, LoopSettings(starts=STARTS, sweep=1))
        free = Pool.of(self.space, (), 1)
        pool = Pool(self.space, (), free.domains, free.groups, self.X, complete=True)
        found.__dict__["pool"] = pool
        return found

    @cached_property
    def reference(self) -> Floats:
        """A tenth behind the true front."""
        return reference_of(self.Y[nondominated(self.Y)], self.Y)

    @cached_property
    def volume(self) -> float:
        """That of the true front."""
        return hypervolume(self.Y, self.reference).value

    def told(self, order: Sequence[int], at: Sequence[int]) -> list[tuple[float, float, float]]:
        """After so many evaluations: the share of the true volume, spread, mean of the extents."""
        found = []
        for n in at:
            Y = self.Y[list(order[:n])]
            front = Y[nondominated(Y) & (self.reference > Y).all(axis=1)]
            share = hypervolume(Y, self.reference).value / self.volume
            ideal = self.Y.min(axis=0)
            wide = float(extent(front, ideal, self.reference).mean()) if len(front) else 0.0
            found.append((share, spread(front, ideal, self.reference), wide))
        return found


def replays(source: Source, folder: Path, only: Sequence[str]) -> Iterator[FrontReplay]:
    """The contexts of a table that have enough configurations; repeated runs are averaged."""
    frame = source.read(folder).table.arrow.to_pandas()
    for key, part in frame.groupby(list(CONTEXTS[source.name]), dropna=False):
        name = f"{source.name} {' '.join(map(str, key))}"
        if only and not any(text in name for text in only):
            continue
        knobs = [knob for knob in source.ask if part[knob].nunique(dropna=False) > 1]
        mean = part.groupby(knobs, dropna=False)[list(source.goals)].mean().dropna()
        if len(mean) >= LEAST:
            yield _replay(name, knobs, mean)


def _replay(name: str, knobs: list[str], mean: "object") -> FrontReplay:
    columns = mean.index.to_frame(index=False)  # type: ignore[attr-defined]
    parameters: list[Number | Category] = []
    X = np.empty((len(columns), len(knobs)))
    sizes, labels = [], []
    for j, knob in enumerate(knobs):
        own = columns[knob]
        sizes.append(own.nunique(dropna=False))
        labels.append(own.dtype == object or str(own.dtype).startswith("str"))
        if labels[-1]:
            values = tuple(sorted(own.unique()))
            parameters.append(Category(name=knob, values=values))
            X[:, j] = own.map({value: i for i, value in enumerate(values)})
            continue
        # No cap counts as one step above the largest.
        numbers = own.fillna(own.max() * 1.25).astype(float)
        values = tuple(np.unique(numbers).tolist())
        parameters.append(Number(name=knob, low=values[0], high=values[-1], allowed=values))
        X[:, j] = numbers
    order = np.lexsort(X.T[::-1])
    X, Y = X[order], mean.to_numpy(dtype=float)[order]  # type: ignore[attr-defined]
    places = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T])
    budget = min(AT[-1], 3 * len(X) // 4)
    case = FrontCase(name, tuple(sizes), tuple(labels), places, Y, {}, budget)
    return FrontReplay(name, Space(parameters=tuple(parameters)), X, Y, case)


def starts_of(replay: FrontReplay, seed: int) -> list[int]:
    """The first evaluations, the same for everybody."""
    return [int(i) for i in np.random.default_rng(seed).permutation(len(replay.X))[:STARTS]]


def by_front(replay: FrontReplay, seed: int) -> list[int]:
    """What the loop for several outcomes evaluates."""
    problem, order = replay.problem(seed), starts_of(replay, seed)
    none = np.empty((0, len(replay.space)))
    while len(order) < replay.case.budget:
        seen = SeenRuns(replay.X[order], replay.Y[order], np.zeros(len(order), dtype=np.bool_))
        found = next_front_runs(problem, seen, pending=none, count=1, log_sign=(1, 1))
        order.append(int(problem.pool.find(found.proposals[0].x[None, :])[0]))
    return order


def by_one_outcome(replay: FrontReplay, seed: int) -> list[int]:
    """What the loop evaluates that only knows of the first outcome."""
    problem, order = replay.problem(seed), starts_of(replay, seed)
    member = [""] * len(order)
    none = np.empty((0, len(replay.space)))
    while len(order) < replay.case.budget:
        failed = np.zeros(len(order), dtype=np.bool_)
        seen = Seen(replay.X[order], replay.Y[order, 0], failed, tuple(member))
        found = next_runs(problem, seen, pending=none, count=1, positive=True)
        order.append(int(problem.pool.find(found.proposals[0].x[None, :])[0]))
        member.append(found.proposals[0].member)
    return order


FIGURES = ("shares", "spreads", "extents")
OWN: dict[str, Callable[[FrontReplay, int], list[int]]] = {
    "front": by_front,
    "one outcome": by_one_outcome,
}


def peer(name: str, replay: FrontReplay, seeds: Sequence[int], python: str) -> tuple[Orders, float]:
    """What a sampler of Optuna or BoTorch evaluates, and CPU seconds per ask."""
    starts = {seed: starts_of(replay, seed) for seed in seeds}
    given = FrontCase(**{**vars(replay.case), "starts": starts})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        given.save(path)
        runner = "run_botorch" if name in BOTORCH else "run_optuna"
        called = [python, "-m", f"benchmarks.pareto.{runner}", name, str(path)]
        done = subprocess.run(
            [*called, ",".join(map(str, seeds))], check=True, capture_output=True, text=True
        )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    cpu = float(np.mean([line["cpu"] for line in lines]))
    return {line["seed"]: line["order"] for line in lines}, cpu


def measured(replay: FrontReplay, seeds: Sequence[int], names: Sequence[str], python: str) -> dict:
    """Per contestant the figures of every seed, and CPU seconds per ask."""
    at = [n for n in AT if n <= replay.case.budget] or [replay.case.budget]
    found: dict = {"space": replay.name, "size": len(replay.X), "at": at}
    for field in (*FIGURES, "cpu"):
        found[field] = {}
    for name in names:
        began = time.process_time()
        if name == "random":
            rng = np.random.default_rng(1)
            orders = {i: rng.permutation(len(replay.X)).tolist() for i in range(DRAWS)}
            cpu = 0.0
        elif name in OWN:
            orders = {seed: OWN[name](replay, seed) for seed in seeds}
            asks = sum(len(order) - STARTS for order in orders.values())
            cpu = (time.process_time() - began) / max(asks, 1)
        else:
            orders, cpu = peer(name, replay, seeds, python)
        told = [replay.told(order, at) for order in orders.values()]
        for k, field in enumerate(FIGURES):
            found[field][name] = [[figures[k] for figures in own] for own in told]
        found["cpu"][name] = cpu
    return found


def show(results: Sequence[dict]) -> str:
    """The mean over the seeds with its 95 % interval, per space and number of evaluations.

    Where a contestant has other than the usual number of seeds, that stands in brackets. Means
    are over the spaces that all contestants of the table were measured on.
    """
    names = [name for name in CONTESTANTS if any(name in one["shares"] for one in results)]
    lines: list[tuple[object, ...]] = []
    for one in results:
        for place, n in enumerate(one["at"]):
            own = one["shares"]
            told = [_told(own[name], place, name) if name in own else "-" for name in names]
            lines.append((one["space"], one["size"], n, *told))
    for n in AT:
        rows = [one for one in results if n in one["at"] and all(m in one["shares"] for m in names)]
        if len(rows) > 1:
            means = [f"{_mean(rows, 'shares', name, n):.3f}" for name in names]
            lines.append((f"mean of {len(rows)}", "", n, *means))
    cpu = [_cpu(results, name) for name in names]
    if set(cpu) != {"-"}:
        lines.append(("CPU s per ask", "", "", *cpu))
    return table(("space", "size", "runs", *names), lines)


def show_tables(results: Sequence[dict]) -> list[str]:
    """Print the figures of every table, and give back where the aim is missed."""
    missed = []
    for name in CONTEXTS:
        own = [one for one in results if one["space"].split()[0] == name]
        if not own:
            continue
        print(f"{name}: share of the true front's volume, mean ± 95 % over {USUAL} seeds")
        print(show(own))
        even = _evenness(own)
        if even:
            print(f"\n{name}: spread, and extent, of what nothing dominates: means over the spaces")
            print(even)
        print()
        missed += behind([one for one in own if "front" in one["shares"]])
    return missed


def _evenness(results: Sequence[dict]) -> str:
    """Mean spread and extent of each contestant over the spaces where all were measured."""
    known = [one for one in results if one.get("spreads")]
    names = [name for name in CONTESTANTS if any(name in one["spreads"] for one in known)]
    lines: list[tuple[object, ...]] = []
    for n in AT:
        rows = [one for one in known if n in one["at"] and all(m in one["spreads"] for m in names)]
        if rows:
            told = [
                f"{_mean(rows, 'spreads', name, n):.2f}, {_mean(rows, 'extents', name, n):.2f}"
                for name in names
            ]
            lines.append((len(rows), n, *told))
    return table(("spaces", "runs", *names), lines) if lines else ""


def _told(values: Sequence[Sequence[float]], place: int, name: str) -> str:
    found = str(_interval(values, place))
    usual = DRAWS if name == "random" else USUAL
    return found if len(values) == usual else f"{found} ({len(values)})"


def _interval(values: Sequence[Sequence[float]], place: int) -> Interval:
    return interval([[row[place]] for row in values])


def _mean(results: Sequence[dict], field: str, name: str, n: int) -> float:
    """The mean over spaces and seeds after n evaluations."""
    each = [np.mean([row[one["at"].index(n)] for row in one[field][name]]) for one in results]
    return float(np.mean(each))


def _cpu(results: Sequence[dict], name: str) -> str:
    """The mean CPU seconds per ask over the spaces where they are known."""
    known = [one["cpu"][name] for one in results if name in one["cpu"]]
    return f"{np.mean(known):.3f}" if known else "-"


def behind(results: Sequence[dict]) -> list[str]:
    """Where others are ahead of `front`: on a space beyond both intervals, or on the mean."""
    found = []
    for one in results:
        others = [name for name in one["shares"] if name != "front"]
        for place, n in enumerate(one["at"]):
            own = _interval(one["shares"]["front"], place)
            for name in others:
                other = _interval(one["shares"][name], place)
                if other.mean - own.mean > np.hypot(own.half, other.half):
                    found.append(f"{one['space']}, {n} runs: {name}")
    for n in AT:
        for name in CONTESTANTS[1:]:
            rows = [one for one in results if n in one["at"] and name in one["shares"]]
            if len(rows) > 1 and _mean(rows, "shares", name, n) > _mean(rows, "shares", "front", n):
                found.append(f"mean of {len(rows)} spaces, {n} runs: {name}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto.replay")
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="TEXT", action="append", default=[])
    parser.add_argument("--table", metavar="NAME", action="append", help=", ".join(CONTEXTS))
    parser.add_argument("--contestant", metavar="NAME", action="append")
    parser.add_argument("--python", default=sys.executable, help="that has Optuna and BoTorch")
    parser.add_argument("--keep", action="store_true", help=f"keep the values in {kept.FILE.name}")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=FIRST)
    said = parser.parse_args(arguments)
    folder, known = data_folder(), table_sources()
    names = said.contestant or CONTESTANTS
    seeds = range(said.first, said.first + said.seeds)
    results = []
    for name in said.table or CONTEXTS:
        absent = known[name].absent(folder)
        if absent:
            print(f"{name}: skipped, {folder} has no {', '.join(absent)}", file=sys.stderr)
            continue
        for replay in replays(known[name], folder, said.only):
            began = time.perf_counter()
            results.append(measured(replay, seeds, names, said.python))
            took = time.perf_counter() - began
            print(f"{replay.name}: {took:.0f} s", file=sys.stderr, flush=True)
            if said.keep:
                kept.keep("replay", results[-1:])
    if not results:
        print("nothing was measured", file=sys.stderr)
        return 0
    print(show(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
