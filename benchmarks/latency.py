"""Whole questions to engines fitted on 30,000 jobs: `python -m benchmarks.latency`.

Questions of three kinds on the table of `benchmarks.peers`, four suggestions each and no proof:
reconfigure with every column movable, reconfigure with nodes, gpus and memory fixed, and recommend
for a given solver and mesh; for every family of models (some learn fewer rows). CPU milliseconds
of whole calls on one core, the median wall milliseconds of each stage, and, where the median is
over 100 ms, the functions that take the time.
"""

import argparse
import cProfile
import io
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.measure import percentile
from benchmarks.peers.ask import one_core
from benchmarks.peers.case import Case, Question, movable
from benchmarks.peers.jobs import NAMES, OUTCOME, ROWS, decode
from benchmarks.peers.prepare import FASTER, prepare
from benchmarks.peers.run_compass import engine
from benchmarks.show import save, table

REQUIRED = 0.100  # CPU seconds, median
FAMILIES = ("forest", "extra-trees", "lightgbm", "xgboost", "neural", "linear", "neighbours")
SMALL = {"svm": 1500, "gaussian": 1500}  # rows of families that are for small tables
COUNT = 4
STAGES = ("plan", "search", "trust", "next runs")
GIVEN = ("solver", "mesh")  # of a recommendation
Ask = Callable[[Question], cp.Answer]


def kinds(fitted: cp.Compass) -> dict[str, Ask]:
    """The questions by name."""

    def change(question: Question, variant: str) -> cp.Answer:
        goals = {OUTCOME: cp.at_most(question.ceiling)}
        start = decode(question.row)
        return fitted.reconfigure(start, ask=movable(variant), goals=goals, count=COUNT)

    def best(question: Question) -> cp.Answer:
        config = decode(question.row)
        return fitted.recommend(
            ask=[name for name in NAMES if name not in GIVEN],
            goals={OUTCOME: cp.minimize},
            fixed={name: config[name] for name in GIVEN},
            count=COUNT,
        )

    return {
        "reconfigure": lambda question: change(question, "free"),
        "reconfigure, fixed": lambda question: change(question, "fixed"),
        "recommend": best,
    }


def measure(ask: Ask, case: Case) -> tuple[list[float], dict[str, float]]:
    """CPU seconds of every question, and the median wall seconds of each stage."""
    ask(case.warm)
    seconds: list[float] = []
    stages: dict[str, list[float]] = {stage: [] for stage in STAGES}
    for question in case.questions:
        began = time.process_time()
        answer = ask(question)
        seconds.append(time.process_time() - began)
        for stage in STAGES:
            stages[stage].append(answer.seconds.get(stage, 0.0))
    return seconds, {stage: percentile(found, 50) for stage, found in stages.items()}


def profile(ask: Ask, questions: Sequence[Question], lines: int = 15) -> str:
    """The functions that take most of the time themselves."""
    profiler = cProfile.Profile()
    profiler.enable()
    for question in questions:
        ask(question)
    profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(lines)
    return text.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--family", action="append", choices=(*FAMILIES, *SMALL), help="this one (may repeat)"
    )
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--draw", type=int, default=1, help="2, 3, ...: other questions")
    parser.add_argument("--faster", type=float, default=FASTER, help="the share that is asked for")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    one_core()
    case, _ = prepare(said.questions, said.seed, said.faster, said.draw)
    figures: dict[str, Any] = {}
    lines, profiles = [], []
    for family in said.family or (*FAMILIES, *SMALL):
        fitted = engine(said.seed, family=family, rows=SMALL.get(family, ROWS)).fit()
        for kind, ask in kinds(fitted).items():
            seconds, stages = measure(ask, case)
            median = float(np.median(seconds))
            figures[f"{family}, {kind}"] = {"seconds": seconds, "stages": stages}
            cells = (median, percentile(seconds, 95), *stages.values())
            told = (f"{1000 * value:.1f}" for value in cells)
            lines.append((family, kind, len(seconds), *told))
            if median > REQUIRED:
                over = f"{family}, {kind}: over {1000 * REQUIRED:g} ms"
                profiles.append(f"{over}\n{profile(ask, case.questions)}")
    print(table(("family", "question", "n", "CPU ms", "95th", *STAGES), lines))
    for text in profiles:
        print(f"\n{text}")
    if said.json:
        save(said.json, {"seed": said.seed, "questions": figures})
    return 1 if profiles else 0


if __name__ == "__main__":
    sys.exit(main())
