"""Compass beside DiCE, treecf and Optuna on one table: `make peers`.

30,000 jobs with twelve mixed columns and five linear rules, one forest of 100 trees of depth 12
that every tool is asked about, and 20 jobs to be made at least 20 % faster with the smallest
change; a second time with nodes, gpus and memory fixed. Every tool runs in a process of its own on
one core; what counts is the CPU time of whole calls. One judge checks every suggestion: legal
values, rules, what was fixed, and the goal by scikit-learn's prediction; usable is what passes all.
`pace` is the CPU time of a fixed piece of work beside every question; ratios are of medians in
units of it, since tools run one after the other and the machine may be busier for one of them.

The exit code is 1 where a target is missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.case import VARIANTS, Case, Sheet, load_sheets
from benchmarks.peers.judge import Verdict, beaten, judge, nearer
from benchmarks.peers.prepare import FASTER, prepare
from benchmarks.show import save, table

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("run_dice", "run_treecf", "run_optuna")
AGREE = 1e-9  # relative; the same forest in every process
HEAD = (
    *("variant", "tool", "CPU median", "worst", "returned", "usable", "answered"),
    *("Compass is", "theirs / ours", "theirs closer", "misreported", "pace ms"),
)


@dataclass(frozen=True)
class Target:
    """What a comparison has to reach."""

    tool: str
    count: int  # suggestions that Compass is asked for
    faster: float | None  # ratio of median CPU time


TARGETS = (
    Target("DiCE genetic", 4, 20.0),
    Target("DiCE random", 4, 6.0),
    Target("DiCE random, binary", 4, None),
    Target("DiCE kdtree", 4, None),
    Target("DiCE kdtree, binary", 4, None),
    Target("treecf", 1, 15.0),
    Target("Optuna TPE", 1, 100.0),
)


def run(name: str, folder: Path, python: str) -> None:
    """One tool in a process of its own, single-threaded."""
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    quiet = {"TQDM_DISABLE": "1", "RAYON_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    subprocess.run(
        [python, "-m", f"benchmarks.peers.{name}", str(folder)],
        cwd=ROOT,
        env={**os.environ, **alone, **quiet},
        check=True,
    )


def checks(verdicts: Sequence[Verdict]) -> list[tuple[bool, str]]:
    """Every target with whether it is reached."""
    by = {(verdict.tool, verdict.variant): verdict for verdict in verdicts}
    found = []
    for verdict in verdicts:
        if verdict.tool.startswith("Compass"):
            whole = verdict.usable == verdict.returned and verdict.answered == len(verdict.closest)
            share = verdict.usable / max(verdict.returned, 1)
            text = f"{verdict.tool}, {verdict.variant}: every suggestion usable ({share:.0%})"
            found.append((whole, text))
    for target in TARGETS:
        for variant in VARIANTS:
            if (target.tool, variant) not in by:
                continue
            theirs, ours = by[target.tool, variant], by[f"Compass, {target.count}", variant]
            ratio, lost = theirs.work / ours.work, beaten(ours, theirs)
            where = f"{target.tool}, {variant}"
            if target.faster is not None:
                said = f"{where}: {target.faster:g}x faster ({ratio:.2f}x)"
                found.append((ratio >= target.faster, said))
            found.append((lost == 0, f"{where}: never farther ({lost} of {len(ours.closest)})"))
    return found


def show(verdicts: Sequence[Verdict]) -> str:
    """All verdicts as a table; ratios against Compass with as many suggestions."""
    by = {(verdict.tool, verdict.variant): verdict for verdict in verdicts}
    counts = {target.tool: target.count for target in TARGETS}
    lines = []
    for v in sorted(verdicts, key=lambda v: VARIANTS.index(v.variant)):
        ours = by.get((f"Compass, {counts.get(v.tool)}", v.variant))
        compared = ("", "", "")
        if ours is not None:
            ratio, times = v.work / ours.work, nearer(ours, v)
            compared = (f"{ratio:.1f}x faster", f"{times:.2f}", str(beaten(ours, v)))
        lines.append(
            (
                v.variant,
                v.tool,
                f"{v.median:.3f}",
                f"{v.worst:.3f}",
                f"{v.returned}/{v.asked}",
                f"{v.usable / max(v.returned, 1):.0%}",
                f"{v.answered}/{len(v.closest)}",
                *compared,
                f"{v.misreported:.2g}",
                f"{1000 * float(np.median(v.paces)):.1f}",
            )
        )
    return table(HEAD, lines)


def replies(said: argparse.Namespace, folder: Path, case: Case) -> list[Sheet]:
    """Put the questions to every tool, Compass first."""
    folder.mkdir(parents=True, exist_ok=True)
    case.save(folder)
    names = [n for n in PEERS if not said.only or n.removeprefix("run_") in said.only]
    run("run_compass", folder, sys.executable)
    for name in names:
        if not (said.reuse and (folder / f"{name}.json").exists()):
            run(name, folder, said.python)
    return [s for n in ("run_compass", *names) for s in load_sheets(folder / f"{n}.json")]


def report(verdicts: Sequence[Verdict], case: Case) -> bool:
    """Print everything; whether all targets are reached."""
    print(show(verdicts))
    for verdict in verdicts:
        if verdict.faults:
            counted = ", ".join(f"{n} x {fault}" for fault, n in verdict.faults.items())
            print(f"{verdict.tool}, {verdict.variant}: {counted}")
    largest = max(verdict.disagreement for verdict in verdicts)
    print(f"largest difference between any tool's forest and scikit-learn's: {largest:.2g} s")
    same = (largest <= AGREE * float(case.y.max()), "every tool asks the same forest")
    reached = [same, *checks(verdicts)]
    for passed, text in reached:
        print(f"{'PASS' if passed else 'MISS'} {text}")
    return all(passed for passed, _ in reached)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--python", default=".venv-peers/bin/python", help="of the other tools")
    parser.add_argument("--only", action="append", metavar="TOOL", help="dice, treecf or optuna")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--draw", type=int, default=1, help="2, 3, ...: other questions")
    parser.add_argument("--faster", type=float, default=FASTER, help="the share that is asked for")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keep the files here")
    parser.add_argument("--reuse", action="store_true", help="take the peers' replies of --folder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    case, predict = prepare(said.questions, said.seed, said.faster, said.draw)
    with tempfile.TemporaryDirectory() as temporary:
        sheets = replies(said, said.folder or Path(temporary), case)
    verdicts = [judge(sheet, case, predict) for sheet in sheets]
    reached = report(verdicts, case)
    if said.json:
        save(said.json, {"seed": said.seed, "verdicts": [asdict(v) for v in verdicts]})
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
