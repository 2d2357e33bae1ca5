"""A real experiment: programs tuned on this machine, predicted against measured: `make loop-real`.

    python -m benchmarks.loop.real measure [--seconds N]   what has to be measured still
    python -m benchmarks.loop.real                         the report of what was measured

Two programs: the sparse matrix product that comes with Compass (threads, schedule, chunk, tile,
unroll, compiler flags), and zstd on a made file (level, threads, window, search depth) with a
bound on the size. First every configuration is measured twice, in two orders; the faster time
counts. Then experiments of Compass tune each program for real, from eight runs that cover the
space: of each run the prediction and its label were kept before it was made. How many runs it
takes until within 5 % of the best one is told by the times of the sweep, for Compass, for Optuna
(TPE; what breaks a rule is told as such and costs nothing) and for random choice, over seeds; and
so is what Compass predicted meanwhile of each outcome (`replayed`).

A machine that does something else meanwhile makes times that nobody can predict. What is measured
is kept in real.json at once, so that it may be done in several quiet moments.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.show import table
from compass.collect import machine, plan, runner
from compass.domain.base import Config
from compass.experiment.experiment import Experiment

KEPT = Path(__file__).with_name("real.json")
BUDGET, NEAR, SEEDS = 60, 0.05, 20
LIVE = 3  # experiments that are made for real
SIZE_KIB, REPEATS = 1536, 3
FLAGS, UNROLLS = 3, (1, 2, 4)  # of what the compiler takes: a sweep has to come to an end
MIB = 2**20

Outcomes = dict[str, float]
Measure = Callable[[Config], Outcomes]


@dataclass(frozen=True)
class Program:
    """Something to tune: its plan, every legal configuration, and how one is measured."""

    name: str
    plan: dict[str, Any]
    configs: tuple[Config, ...]
    measure: Measure
    limit: float | None = None  # of `size_mb`, which has to be met


def kernel(folder: Path) -> Program:
    """The sparse matrix product of `compass collect`."""
    compiler = machine.find_compiler()
    flags = runner.usable_flags(compiler, folder)
    knobs = plan.knobs_for(2, flags)
    names = ("threads", "schedule", "chunk", "tile", "unroll", "flags")
    chosen = knobs.flags[:: max(1, len(knobs.flags) // FLAGS)][:FLAGS]
    values = (knobs.threads, knobs.schedules, knobs.chunks, knobs.tiles, UNROLLS, chosen)

    def configuration(config: Config) -> plan.Configuration:
        whole = {n: int(float(config[n] or 0)) for n in ("threads", "chunk", "tile", "unroll")}
        words = {n: str(config[n]) for n in ("schedule", "flags")}
        return plan.Configuration("spmv", SIZE_KIB, "double", **whole, **words)  # type: ignore[arg-type]

    every = [dict(zip(names, one, strict=True)) for one in product(*values)]
    configs = tuple(one for one in every if plan.is_sensible(configuration(one)))
    variants = {runner.variant_of(configuration(one)) for one in configs}
    programs = runner.compile_all(compiler, variants, folder)

    def measure(config: Config) -> Outcomes:
        one = configuration(config)
        (found,) = runner.run_group(programs[runner.variant_of(one)], [one], REPEATS)
        if isinstance(found, runner.Refusal):
            raise RuntimeError(found.reason)
        return {"runtime": runner.summary(found).runtime_ms}

    columns = {
        n: {"values": list(v)} if isinstance(v[0], str) else {"allowed": list(v)}
        for n, v in zip(names, values, strict=True)
    }
    # What `is_sensible` tells: each thread has at least one full chunk of tiles.
    rows = plan.problem_n("spmv", SIZE_KIB)
    rules = [
        "chunk == 0 -> schedule == 'static'",
        f"tile <= {rows}",
        f"chunk * threads * tile < {rows} + tile",
    ]
    return Program(
        "spmv",
        {"columns": columns, "rules": rules, "goals": {"runtime": "minimize"}},
        configs,
        measure,
    )


def zstd(folder: Path) -> Program:
    """zstd on a file of made-up words: as fast as can be, with a bound on the size."""
    source = folder / "words"
    rng = np.random.default_rng(0)
    words = [
        bytes(rng.integers(97, 123, rng.integers(2, 10)).astype(np.uint8)) for _ in range(4000)
    ]
    picks = rng.zipf(1.3, 400_000) % len(words)
    source.write_bytes(b" ".join(words[pick] for pick in picks))
    values = {
        "level": tuple(range(1, 13)),
        "threads": (1, 2),
        "wlog": (17, 18, 19, 20, 21, 22),
        "slog": (1, 2, 3, 4, 5),
    }
    configs = tuple(dict(zip(values, one, strict=True)) for one in product(*values.values()))

    def measure(config: Config) -> Outcomes:
        level, threads, wlog, slog = (int(float(config[name] or 0)) for name in values)
        target = folder / "out.zst"
        tuned = f"--zstd=wlog={wlog},slog={slog}"
        command = ["zstd", "-q", "-f", f"-{level}", f"-T{threads}", tuned]
        times = []
        for _ in range(2):
            began = time.perf_counter()
            subprocess.run([*command, str(source), "-o", str(target)], check=True)
            times.append(time.perf_counter() - began)
        return {"runtime": min(times), "size_mb": target.stat().st_size / MIB}

    columns = {name: {"allowed": list(given)} for name, given in values.items()}
    limit = measure({"level": 7, "threads": 1, "wlog": 20, "slog": 3})["size_mb"]
    goals = {"runtime": "minimize", "size_mb": f"<= {limit:.6f}"}
    return Program("zstd", {"columns": columns, "goals": goals}, configs, measure, limit)


PROGRAMS: dict[str, Callable[[Path], Program]] = {"spmv": kernel, "zstd": zstd}


def key(config: Config) -> tuple[object, ...]:
    return tuple(str(float(v)) if isinstance(v, int | float) else v for v in config.values())


def sweep(program: Program, done: list[list[float]], until: float) -> bool:
    """Measure configurations into `done` until a moment; whether all were measured.

    Every configuration is measured twice, in two orders: its place, then its outcomes by name.
    """
    turns = [np.random.default_rng(seed).permutation(len(program.configs)) for seed in (0, 1)]
    for place in np.concatenate(turns)[len(done) :].tolist():
        if time.monotonic() > until:
            return False
        told = program.measure(program.configs[place])
        done.append([place, *(told[name] for name in outcomes_of(program))])
    return True


def outcomes_of(program: Program) -> list[str]:
    """The names of what is measured."""
    return list(program.plan["goals"])


def swept(program: Program, done: Sequence[Sequence[float]]) -> dict[tuple[object, ...], Outcomes]:
    """What was measured of every configuration: of two measurements the faster one."""
    found: dict[tuple[object, ...], Outcomes] = {}
    for place, *values in done:
        one = key(program.configs[int(place)])
        told = dict(zip(outcomes_of(program), values, strict=True))
        if one not in found or told["runtime"] < found[one]["runtime"]:
            found[one] = told
    return found


def tuned(
    program: Program, measure: Measure, place: Path, seed: int
) -> tuple[list[tuple[object, ...]], Experiment]:
    """An experiment to the end of its budget: the configurations in order."""
    given = {**program.plan, "budget": BUDGET, "starts": 8, "stop_below": 0, "seed": seed}
    experiment = Experiment.start(given, place)
    order = []
    while runs := experiment.next():
        for run in runs:
            experiment.tell(run.number, measure(run.config))
            order.append(key(run.config))
    return order, experiment


def optuna_order(program: Program, truth: Measure, seed: int) -> list[tuple[object, ...]]:
    """The configurations that Optuna's TPE tries, those it repeats left out."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    legal = {key(config) for config in program.configs}
    columns = program.plan["columns"]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    order: list[tuple[object, ...]] = []
    for _ in range(40 * BUDGET):
        if len(order) == BUDGET:
            break
        trial = study.ask()
        config: Config = {
            name: trial.suggest_categorical(name, one["values"])
            if "values" in one
            else one["allowed"][trial.suggest_int(name, 0, len(one["allowed"]) - 1)]
            for name, one in columns.items()
        }
        if key(config) not in legal:
            trial.set_constraint("rules", 1.0)
            study.tell(trial, 1e9)
            continue
        told = truth(config)
        over = 0.0 if program.limit is None else told["size_mb"] - program.limit
        trial.set_constraint("rules", over)
        study.tell(trial, told["runtime"])
        if key(config) not in order:
            order.append(key(config))
    return order


def runs_needed(order: Sequence[tuple[object, ...]], near: set[tuple[object, ...]]) -> int:
    """After how many runs one of these was among them; one more than the budget: never."""
    return next((place for place, one in enumerate(order, 1) if one in near), BUDGET + 1)


def measured(program: Program, kept: dict[str, Any], until: float, folder: Path) -> bool:
    """Measure what is not kept yet, until a moment; whether nothing is left."""
    facts = {
        "plan": program.plan,
        "configs": [list(config.values()) for config in program.configs],
        "limit": program.limit,
    }
    facts = json.loads(json.dumps(facts))
    if kept and {name: kept[name] for name in facts} != facts:
        raise SystemExit(f"{program.name}: what is kept is of another machine; see --keep")
    kept.update(facts)
    if not sweep(program, kept.setdefault("sweep", []), until):
        return False
    live = kept.setdefault("live", [])
    while len(live) < LIVE:
        if time.monotonic() > until:
            return False
        live.append(live_runs(program, folder / f"{program.name}-live-{len(live)}", len(live)))
    return True


def as_kept(name: str, kept: dict[str, Any]) -> Program:
    """A program whose measurements are kept: on any machine, for it is not run."""
    names = list(kept["plan"]["columns"])
    configs = tuple(dict(zip(names, values, strict=True)) for values in kept["configs"])

    def nothing(_: Config) -> Outcomes:
        raise AssertionError(f"{name} is not run for a report")

    return Program(name, kept["plan"], configs, nothing, kept["limit"])


def live_runs(program: Program, place: Path, seed: int) -> list[list[Any]]:
    """An experiment made for real: per run the configuration, what was predicted, what came out."""
    _, experiment = tuned(program, program.measure, place.with_suffix(".experiment"), seed)
    found = []
    for run in experiment.runs():
        told = run.predicted[0] if run.predicted else None
        found.append(
            [
                list(key(run.config)),
                run.outcomes.get("runtime"),
                *((None,) * 3 if told is None else (told.value, told.low, told.high)),
                None if run.label is None else run.label.value,
            ]
        )
    return found


def studied(program: Program, kept: dict[str, Any], seeds: int, folder: Path) -> dict[str, Any]:
    """Everything that is told of a program."""
    known = swept(program, kept["sweep"])
    fine = {
        one: told["runtime"]
        for one, told in known.items()
        if program.limit is None or told["size_mb"] <= program.limit
    }
    best = min(fine.values())
    near = {one for one, value in fine.items() if value <= best * (1 + NEAR)}

    def truth(config: Config) -> Outcomes:
        return known[key(config)]

    needed: dict[str, list[int]] = {"compass": [], "optuna": [], "random": []}
    told: dict[str, list[Any]] = {}
    legal = [key(config) for config in program.configs]
    for seed in range(seeds):
        place = folder / f"{program.name}-{seed}.experiment"
        order, experiment = tuned(program, truth, place, seed)
        needed["compass"].append(runs_needed(order, near))
        for run in experiment.runs():
            label = None if run.label is None else run.label.value
            for one in run.predicted:
                pair = (run.outcomes[one.name], one.value, one.low, one.high, label)
                told.setdefault(one.name, []).append(pair)
        needed["optuna"].append(runs_needed(optuna_order(program, truth, seed), near))
        drawn = [legal[at] for at in np.random.default_rng(seed).permutation(len(legal))]
        needed["random"].append(runs_needed(drawn[:BUDGET], near))
    return {
        "program": program.name,
        "configurations": len(program.configs),
        "near": len(near),
        "live": [runs_needed([tuple(run[0]) for run in one], near) for one in kept["live"]],
        "needed": needed,
        "replayed": told,
        "pairs": [run[1:] for one in kept["live"] for run in one if None not in run[1:3]],
        "scatter": scatter(kept["sweep"]),
    }


def scatter(done: Sequence[Sequence[float]]) -> float:
    """By how much two measurements of one configuration differ, a share of the faster: median."""
    times: dict[float, list[float]] = {}
    for place, runtime, *_ in done:
        times.setdefault(place, []).append(runtime)
    return float(np.median([max(both) / min(both) - 1 for both in times.values()]))


def show(found: dict[str, Any]) -> str:
    """The two tables of a program."""
    rows = [
        (name, f"{statistics.mean(each):.1f}", statistics.median(each), max(each))
        for name, each in found["needed"].items()
    ]
    heads = ("runs until within 5 %", "mean", "median", "most")
    errors = by_label(found["pairs"])
    told = ("predicted against measured", "runs", "mean error", "median", "inside")
    again = [
        table((f"{name}, replayed", *told[1:]), by_label(pairs))
        for name, pairs in found["replayed"].items()
    ]
    live = ", ".join(map(str, found["live"]))
    return "\n".join(
        [
            f"{found['program']}: {found['configurations']} configurations, {found['near']} within "
            "5 % of the best.",
            f"The experiments made for real were there after {live} runs. Two measurements of a",
            f"configuration differ by {found['scatter']:.1%} (median).",
            table(heads, rows),
            table(told, errors) if errors else "",
            *again,
        ]
    )


def by_label(pairs: Sequence[Sequence[Any]]) -> list[tuple[object, ...]]:
    """The errors of predictions by their label, and of all."""
    labels = ("trusted", "caution", "unsupported", None)
    groups = {one or "no label yet": [p for p in pairs if p[4] == one] for one in labels}
    groups["all"] = list(pairs)
    return [error_row(name, own) for name, own in groups.items() if own]


def error_row(name: str, pairs: Sequence[Sequence[Any]]) -> tuple[object, ...]:
    """How far the predictions of some runs were off: measured, predicted, low, high, label."""
    off = [abs(predicted - measured) / measured for measured, predicted, *_ in pairs]
    inside = [low <= measured <= high for measured, _, low, high, _ in pairs]
    return (
        *(name, len(pairs), f"{np.mean(off):.1%}", f"{np.median(off):.1%}"),
        f"{np.mean(inside):.0%}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop.real", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", nargs="?", choices=("report", "measure"), default="report")
    parser.add_argument("--only", choices=tuple(PROGRAMS))
    parser.add_argument("--seconds", type=float, default=math.inf, help="to measure at most")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--keep", type=Path, default=KEPT, help="the file of what was measured")
    said = parser.parse_args(arguments)
    kept = json.loads(said.keep.read_text(encoding="utf-8")) if said.keep.exists() else {}
    until = time.monotonic() + said.seconds
    complete = True
    for name, made in PROGRAMS.items():
        if said.only not in (None, name):
            continue
        own = kept.setdefault(name, {})
        with tempfile.TemporaryDirectory() as folder:
            if said.command == "measure":
                done = measured(made(Path(folder)), own, until, Path(folder))
                told = "complete" if done else "not complete: measure again"
                print(f"{name}: {len(own['sweep'])} measurements, {told}", flush=True)
                text = json.dumps(kept, separators=(",", ":"))
                said.keep.write_text(text + "\n", encoding="utf-8")
            elif len(own.get("live", ())) < LIVE:
                print(f"{name}: not measured; see --help")
                complete = False
            else:
                found = studied(as_kept(name, own), own, said.seeds, Path(folder))
                print(show(found), end="\n\n", flush=True)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
