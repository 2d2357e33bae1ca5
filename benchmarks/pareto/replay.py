"""Two outcomes as a loop: how much of the true front is found after so many runs.

`python -m benchmarks.pareto.replay [--python PEERS/bin/python]`

Every space is what was measured: power caps and batch sizes of trainings on four GPUs (zeus),
nodes, threads and caps of applications (powerbound), machines and cores (multicore), GPU kernels
(convolution; run time against build time). Everybody starts from the same random configurations
and may ask for any that was measured and not evaluated yet. The figure is the volume of what was
evaluated as a share of the true front's; the reference lies a tenth behind the true front.

`front` is `compass.pareto.next_runs`, `one outcome` the loop for the first outcome alone, `random`
the mean of random orders. Optuna's samplers and BoTorch run in an environment of their own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import interval
from benchmarks.pareto.front_case import FrontCase
from benchmarks.pareto.spaces import table_sources
from benchmarks.roles import Source, data_folder
from benchmarks.show import save, table
from compass.acquire.loop import LoopProblem, Seen, next_runs
from compass.acquire.loop.pool import Pool
from compass.domain.space import Category, Number, Space
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume
from compass.pareto.next_runs import SeenRuns, next_front_runs
from compass.settings import LoopSettings

Floats = NDArray[np.float64]
Orders = dict[int, list[int]]

AT = (30, 60, 120)
STARTS, SEEDS = 10, 5
FIRST = 100  # the seeds from 0 were used while this was made
LEAST = 40  # configurations of a space that is replayed
DRAWS = 40  # random orders
OPTUNA = ("tpe", "nsga-ii", "nsga-iii", "gp")
BOTORCH = ("qlognehvi", "qlognparego")
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

    def shares(self, order: Sequence[int], at: Sequence[int]) -> list[float]:
        """The share of the true front's volume after so many evaluations."""
        reference = reference_of(self.Y[nondominated(self.Y)], self.Y)
        whole = hypervolume(self.Y, reference).value
        return [hypervolume(self.Y[list(order[:n])], reference).value / whole for n in at]


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
    """Per contestant the shares of every seed, and CPU seconds per ask."""
    at = [n for n in AT if n <= replay.case.budget] or [replay.case.budget]
    found: dict = {"space": replay.name, "size": len(replay.X), "at": at, "shares": {}, "cpu": {}}
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
        shares = [[round(v, 4) for v in replay.shares(o, at)] for o in orders.values()]
        found["shares"][name], found["cpu"][name] = shares, round(cpu, 4)
    return found


def show(results: Sequence[dict]) -> str:
    """The mean over the seeds with its 95 % interval, per space and number of evaluations."""
    names = list(results[0]["shares"])
    lines = []
    for one in results:
        for place, n in enumerate(one["at"]):
            told = [str(interval([[row[place]] for row in one["shares"][name]])) for name in names]
            lines.append((one["space"], one["size"], n, *told))
    for n in AT:
        rows = [one for one in results if n in one["at"]]
        if rows:
            lines.append(("mean", "", n, *(f"{_mean(rows, name, n):.3f}" for name in names)))
    cpu = [f"{np.mean([one['cpu'][name] for one in results]):.3f}" for name in names]
    lines.append(("CPU s per ask", "", "", *cpu))
    return table(("space", "size", "runs", *names), lines)


def _mean(results: Sequence[dict], name: str, n: int) -> float:
    """The mean over spaces and seeds after n evaluations."""
    each = [np.mean([row[one["at"].index(n)] for row in one["shares"][name]]) for one in results]
    return float(np.mean(each))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto.replay")
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="TEXT", action="append", default=[])
    parser.add_argument("--table", metavar="NAME", action="append", help=", ".join(CONTEXTS))
    parser.add_argument("--contestant", metavar="NAME", action="append")
    parser.add_argument("--python", default=sys.executable, help="that has Optuna and BoTorch")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=FIRST)
    said = parser.parse_args(arguments)
    folder, known = data_folder(), table_sources()
    names = said.contestant or [*OWN, "random", *OPTUNA, *BOTORCH]
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
            if said.json:
                save(said.json, {"results": results})
    if not results:
        print("nothing was measured", file=sys.stderr)
        return 0
    print(show(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
