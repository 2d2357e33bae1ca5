"""Whether trust can be checked: `make trust`.

    python -m benchmarks.trust            everything
    python -m benchmarks.trust labels     the error of predictions by label, on held-out runs
    python -m benchmarks.trust coverage   whether intervals hold what they state, and their width
    python -m benchmarks.trust meets      suggestions looked up in tables with every configuration

Identical configurations are never learnt and held out at once. Random splits hold out a fifth of
the configurations, region splits one label of the context (a GPU, an application) or the lowest or
highest fifth of a number. Which scale (and family, with --surrogate auto) learns an outcome is
decided once per table. Nothing is scored by the model that made a suggestion.

The exit code is 1 where a target is missed, unless the run is quick.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.roles import data_folder
from benchmarks.show import save
from benchmarks.trust import coverage, labels, meets, report
from benchmarks.trust.plan import Plan, quick, say
from benchmarks.trust.problems import problems

Outcome = tuple[str, dict[str, Any], list[str]]
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def _labels(names: list[str], run: "Run") -> Outcome | None:
    known = [name for name in problems(run.folder) if not names or name in names]
    found = run.each(labels.examine, known)
    return report.labels(found) if found else None


def _coverage(names: list[str], run: "Run") -> Outcome | None:
    known = problems(run.folder)
    numbers = [n for n, one in known.items() if not one.classes and (not names or n in names)]
    found = run.each(coverage.examine, numbers)
    return report.coverage(found) if found else None


def _meets(names: list[str], run: "Run") -> Outcome | None:
    known = [n for n in meets.names(run.folder) if not names or n in names]
    found = [sample for samples in run.each(meets.examine, known) for sample in samples]
    return report.meets(found) if found else None


PARTS: dict[str, Callable[[list[str], "Run"], Outcome | None]] = {
    "labels": _labels,
    "coverage": _coverage,
    "meets": _meets,
}


class Run:
    """The folder, the plan, and the processes that share the tables."""

    def __init__(self, folder: Path, plan: Plan, processes: int) -> None:
        self.folder, self.plan, self.processes = folder, plan, processes

    def each(self, examine: Callable[..., Any], names: Sequence[str]) -> list[Any]:
        """What is found about each name, in their order."""
        work = partial(examine, folder=self.folder, plan=self.plan)
        if self.processes < 2 or len(names) < 2:
            return [work(name) for name in names]
        for variable in _SINGLE:
            os.environ.setdefault(variable, "1")  # the processes started below inherit it
        with ProcessPoolExecutor(self.processes, mp_context=get_context("spawn")) as pool:
            return list(pool.map(work, names))


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--only", metavar="NAME", action="append", help="this table (may repeat)")
    parser.add_argument("--surrogate", default="forest", help="a family of models, or auto")
    parser.add_argument("--quick", action="store_true", help="a smoke run: figures mean nothing")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(given)
    folder, only = data_folder(), list(said.only or ())
    for part in said.parts:
        if part not in PARTS:
            parser.error(f"no part '{part}'; there are: {', '.join(PARTS)}")
    known = [*problems(folder), *meets.names(folder)]
    for name in only:
        if name not in known:
            parser.error(f"no table '{name}'; there are: {', '.join(known) or 'none'}")
    small = quick(said.seed, said.surrogate)
    plan = small if said.quick else Plan(seed=said.seed, surrogate=said.surrogate)
    run = Run(folder, plan, said.processes)
    figures: dict[str, Any] = {"seed": said.seed, "surrogate": said.surrogate}
    missed: list[str] = []
    for part in said.parts or PARTS:
        began = time.perf_counter()
        outcome = PARTS[part](only, run)
        if outcome is None:
            say(f"{part}: no table for it in {folder} (set COMPASS_DATA)")
            continue
        text, figures[part], lacking = outcome
        missed += lacking
        print(f"# {part} ({time.perf_counter() - began:.0f} s)\n\n{text}\n", flush=True)
    if said.json:
        save(said.json, figures)
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed and not said.quick else 0


if __name__ == "__main__":
    sys.exit(main())
