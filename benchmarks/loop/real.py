"""A real experiment: programs tuned on this machine, predicted against measured: `make loop-real`.

Two programs: the sparse matrix product that comes with Compass (threads, schedule, chunk, tile,
unroll, compiler flags), and zstd on a made file (level, threads, window, search depth) with a
bound on the size. First every configuration is measured twice, in two orders; the faster time
counts. Then an experiment of Compass tunes each program for real, from eight runs that cover the
space: of each run the prediction and its label were kept before it was made. How many runs it
takes until within 5 % of the best one is told by the times of the sweep, for Compass, for Optuna
(TPE; what breaks a rule is told as such and costs nothing) and for random choice, over seeds.

A machine that does something else meanwhile makes times that nobody can predict.
"""

import argparse
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

from benchmarks.show import save, table
from compass.collect import machine, plan, runner
from compass.domain.base import Config
from compass.domain.experiment import RunState
from compass.experiment.experiment import Experiment

BUDGET, NEAR, SEEDS = 60, 0.05, 20
SIZE_KIB, REPEATS = 1536, 3
MIB = 2**20

Measure = Callable[[Config], dict[str, float]]


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
    values = (knobs.threads, knobs.schedules, knobs.chunks, knobs.tiles, knobs.unrolls, knobs.flags)

    def configuration(config: Config) -> plan.Configuration:
        whole = {n: int(float(config[n] or 0)) for n in ("threads", "chunk", "tile", "unroll")}
        words = {n: str(config[n]) for n in ("schedule", "flags")}
        return plan.Configuration("spmv", SIZE_KIB, "double", **whole, **words)  # type: ignore[arg-type]

    every = [dict(zip(names, one, strict=True)) for one in product(*values)]
    configs = tuple(one for one in every if plan.is_sensible(configuration(one)))
    variants = {runner.variant_of(configuration(one)) for one in configs}
    programs = runner.compile_all(compiler, variants, folder)

    def measure(config: Config) -> dict[str, float]:
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

    def measure(config: Config) -> dict[str, float]:
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


def key(config: Config) -> tuple[object, ...]:
    return tuple(str(float(v)) if isinstance(v, int | float) else v for v in config.values())


def sweep(program: Program) -> dict[tuple[object, ...], dict[str, float]]:
    """Every configuration, measured twice in different orders; the faster time counts."""
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for seed in (0, 1):
        for place in np.random.default_rng(seed).permutation(len(program.configs)):
            config = program.configs[place]
            told = program.measure(config)
            before = found.get(key(config))
            if before is None or told["runtime"] < before["runtime"]:
                found[key(config)] = told
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
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(
            seed=seed, constraints_func=lambda trial: trial.user_attrs["violation"]
        )
    )
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
            trial.set_user_attr("violation", (1.0,))
            study.tell(trial, 1e9)
            continue
        told = truth(config)
        over = 0.0 if program.limit is None else told["size_mb"] - program.limit
        trial.set_user_attr("violation", (over,))
        study.tell(trial, told["runtime"])
        if key(config) not in order:
            order.append(key(config))
    return order


def runs_needed(order: Sequence[tuple[object, ...]], near: set[tuple[object, ...]]) -> int:
    """After how many runs one of these was among them; one more than the budget: never."""
    return next((place for place, one in enumerate(order, 1) if one in near), BUDGET + 1)


def studied(program: Program, seeds: int, folder: Path) -> dict[str, Any]:
    """Everything that is told of a program."""
    swept = sweep(program)
    fine = {
        one: told["runtime"]
        for one, told in swept.items()
        if program.limit is None or told["size_mb"] <= program.limit
    }
    best = min(fine.values())
    near = {one for one, value in fine.items() if value <= best * (1 + NEAR)}

    def truth(config: Config) -> dict[str, float]:
        return swept[key(config)]

    live, experiment = tuned(program, program.measure, folder / f"{program.name}.experiment", 0)
    report = experiment.report()
    needed: dict[str, list[int]] = {"compass": [], "optuna": [], "random": []}
    legal = [key(config) for config in program.configs]
    for seed in range(seeds):
        place = folder / f"{program.name}-{seed}.experiment"
        needed["compass"].append(runs_needed(tuned(program, truth, place, seed)[0], near))
        needed["optuna"].append(runs_needed(optuna_order(program, truth, seed), near))
        drawn = [legal[at] for at in np.random.default_rng(seed).permutation(len(legal))]
        needed["random"].append(runs_needed(drawn[:BUDGET], near))
    done = [run for run in experiment.runs() if run.state is RunState.DONE and run.predicted]
    pairs = [(run.predicted[0].value, run.outcomes["runtime"], run.label) for run in done]
    return {
        "program": program.name,
        "configurations": len(program.configs),
        "near": len(near),
        "live": runs_needed(live, near),
        "needed": needed,
        "errors": [one.model_dump(mode="json") for one in report.errors],
        "pairs": [(p, m, None if label is None else label.value) for p, m, label in pairs],
    }


def show(found: dict[str, Any]) -> str:
    """The two tables of a program."""
    rows = [
        (name, f"{statistics.mean(each):.1f}", statistics.median(each), max(each))
        for name, each in found["needed"].items()
    ]
    heads = ("runs until within 5 %", "mean", "median", "most")
    errors = [
        (
            one["label"] or "no label yet",
            one["runs"],
            f"{one['mean_error']:.1%}",
            f"{one['median_error']:.1%}",
            "" if one["inside"] is None else f"{one['inside']:.0%}",
        )
        for one in found["errors"]
    ]
    every = [abs(p - m) / m for p, m, _ in found["pairs"]]
    if every:
        errors.append(("all", len(every), f"{np.mean(every):.1%}", f"{np.median(every):.1%}", ""))
    told = ("predicted against measured", "runs", "mean error", "median", "inside")
    return "\n".join(
        [
            f"{found['program']}: {found['configurations']} configurations, {found['near']} within "
            f"5 % of the best; the real experiment was there after {found['live']} runs",
            table(heads, rows),
            table(told, errors),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop.real", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", choices=("spmv", "zstd"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the values here")
    said = parser.parse_args(arguments)
    found = []
    for name, made in (("spmv", kernel), ("zstd", zstd)):
        if said.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                found.append(studied(made(Path(folder)), said.seeds, Path(folder)))
            print(show(found[-1]), end="\n\n", flush=True)
    if said.json is not None:
        save(said.json, {one["program"]: one for one in found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
