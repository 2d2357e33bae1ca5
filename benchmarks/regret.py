"""Regret on a table that holds every legal configuration.

The engine learns from a random fifth of the rows of all GPUs. For each GPU it is asked for the
fastest configuration, all parameters free, with a launch that works. The answer is looked up in the
whole table: its measured time over the best time of that GPU. A configuration that failed to launch
is a miss. `best seen` is the same for the fastest row that the engine learnt from: what anybody
could have had without asking.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.roles import PLAIN, Source, stated
from benchmarks.show import table
from compass.domain.space import Role

SHARE = 0.2
TIME, VALID, GPU = "time_ms", "valid", "gpu"


@dataclass(frozen=True)
class Regret:
    """One GPU, one sample: times relative to the best of all; inf is a failed launch."""

    gpu: str
    seed: int
    first: float
    best_of_all: float  # the best of the suggestions
    best_seen: float
    suggestions: int
    seconds: float


def ratio(measured: float | None, optimum: float) -> float:
    """How much slower than the optimum; a launch that failed has no time and is a miss."""
    return float("inf") if measured is None else measured / optimum


def examine(source: Source, folder: Path, repeats: int, seed: int) -> list[Regret]:
    """The regret on every GPU, for several samples."""
    data = source.read(folder)
    study = stated(data)
    knobs = data.prepared.space.having(Role.KNOB)
    measured = _measured(data, knobs)
    found = []
    for number in range(seed, seed + repeats):
        rng = np.random.default_rng(number)
        rows = np.sort(rng.permutation(len(data))[: round(SHARE * len(data))])
        engine = cp.Compass(
            cp.read(data.table.arrow.take(rows), study=study), seed=number, settings=PLAIN
        ).fit()
        seen = {
            tuple(row.values())
            for row in data.table.arrow.take(rows).select([GPU, *knobs]).to_pylist()
        }
        gpus = sorted({key[0] for key in measured})
        found += [_ask(engine, gpu, knobs, measured, seen, number) for gpu in gpus]
        print(f"regret: sample {number - seed + 1} of {repeats}", file=sys.stderr, flush=True)
    return found


def _measured(data: cp.Dataset, knobs: tuple[str, ...]) -> dict[tuple[Any, ...], float | None]:
    """The measured time of every configuration; None where the launch failed."""
    rows = data.table.arrow.select([GPU, *knobs, TIME]).to_pylist()
    return {tuple(list(row.values())[:-1]): row[TIME] for row in rows}


def _ask(
    engine: cp.Compass,
    gpu: str,
    knobs: tuple[str, ...],
    measured: dict[tuple[Any, ...], float | None],
    seen: set[tuple[Any, ...]],
    seed: int,
) -> Regret:
    own = {key: t for key, t in measured.items() if key[0] == gpu and t is not None}
    optimum = min(own.values())
    began = time.perf_counter()
    answer = engine.recommend(
        ask=knobs,
        goals={TIME: cp.minimize, VALID: cp.is_class(1)},
        where=[f"{GPU} == '{gpu}'"],
    )
    seconds = time.perf_counter() - began
    ratios = [
        ratio(measured[(gpu, *(one.config[name] for name in knobs))], optimum) for one in answer
    ]
    return Regret(
        gpu=gpu,
        seed=seed,
        first=ratios[0] if ratios else float("inf"),
        best_of_all=min(ratios, default=float("inf")),
        best_seen=min(t for key, t in own.items() if key in seen) / optimum,
        suggestions=len(ratios),
        seconds=seconds,
    )


def show(results: Sequence[Regret]) -> str:
    """Per GPU: mean and worst over the samples."""
    rows = []
    for gpu in dict.fromkeys(r.gpu for r in results):
        own = [r for r in results if r.gpu == gpu]
        ratios = (
            [r.first for r in own],
            [r.best_of_all for r in own],
            [r.best_seen for r in own],
        )
        told = [f"{np.mean(values):.3f} ({max(values):.3f})" for values in ratios]
        seconds = float(np.median([r.seconds for r in own]))
        rows.append((gpu, len(own), *told, f"{seconds:.2f}"))
    head = ("GPU", "samples", "first", "best suggestion", "best seen", "query s")
    return "time over the optimum, mean (worst), 20 % of the rows seen\n" + table(head, rows)
