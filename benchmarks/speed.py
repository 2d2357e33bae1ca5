"""How quick Compass is, in three minutes, beside the last change: `make speed`.

What counts is CPU time in units of a fixed piece of work that is done beside it, so that figures of
a busier or slower hour can be compared with those that are kept in `benchmarks/speed.json`:

* whole questions to a forest of 30,000 jobs (`benchmarks.peers`), trust and evidence included, no
  proof, and how many times as long the other tools took (kept from a run of `make peers`);
* what a person waits for in a new process: `--help`, `columns`, a question to a saved engine, and
  the first answer of `compass demo` with nothing in any cache;
* a fit with its defaults: the embedded runs, and three outcomes of 6,000 jobs.

`--keep` writes the figures to that file: run it and commit it with every change on the way of
a question. `--peers FILE` keeps the other tools' figures from `python -m benchmarks.peers --json`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.automl.fit_cost import powers
from benchmarks.latency import COUNT, STAGES, kinds
from benchmarks.peers.ask import pace
from benchmarks.peers.case import VARIANTS, Case, movable
from benchmarks.peers.jobs import OUTCOME, decode
from benchmarks.peers.prepare import FASTER, prepare
from benchmarks.peers.run_compass import engine
from benchmarks.show import save, table
from compass import embedded

KEPT = Path(__file__).with_name("speed.json")
COUNTS = {"DiCE genetic": 4, "DiCE random": 4, "treecf": 1, "Optuna TPE": 1}
REPEATS = 3


@dataclass(frozen=True)
class Figure:
    """CPU time of something: in seconds, and in units of the fixed piece of work beside it."""

    seconds: float
    work: float


def timed(run: Callable[[], object]) -> Figure:
    """The CPU time of a call in this process."""
    before = pace()
    began = time.process_time()
    run()
    seconds = time.process_time() - began
    return Figure(seconds, seconds / ((before + pace()) / 2))


def process(*words: str, fresh: bool = False) -> Figure:
    """The least CPU time of a command in a new process; `fresh`: once, with empty caches."""
    found = []
    for _ in range(1 if fresh else REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            caches = {"XDG_CACHE_HOME": folder, "PYTHONPYCACHEPREFIX": folder} if fresh else {}
            before = pace()
            began = _children()
            subprocess.run(
                [sys.executable, "-m", "compass.cli.main", *words],
                env={**os.environ, **caches},
                stdout=subprocess.DEVNULL,
                check=True,  # what fails at once is no record
            )
            seconds = _children() - began
            found.append(Figure(seconds, seconds / ((before + pace()) / 2)))
    return min(found, key=lambda figure: figure.work)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def median(found: Sequence[Figure]) -> Figure:
    """The medians of several figures."""
    return Figure(
        float(np.median([figure.seconds for figure in found])),
        float(np.median([figure.work for figure in found])),
    )


def questions(fitted: cp.Compass, case: Case) -> dict[str, Figure]:
    """Whole questions, and the wall seconds of their stages in units of the same work."""
    found: dict[str, Figure] = {}
    asks: dict[str, Callable[[Any], cp.Answer]] = dict(kinds(fitted))
    for variant in VARIANTS:
        asks[f"reconfigure, {variant}, one suggestion"] = lambda question, v=variant: (
            fitted.reconfigure(
                decode(question.row),
                ask=movable(v),
                goals={OUTCOME: cp.at_most(question.ceiling)},
                count=1,
            )
        )
    for name, ask in asks.items():
        ask(case.warm)
        answers: list[cp.Answer] = []
        each = [timed(lambda q=q: answers.append(ask(q))) for q in case.questions]  # noqa: B023
        found[name] = median(each)
        if name != "reconfigure":
            continue
        for stage in STAGES:
            parts = [
                Figure(a.seconds.get(stage, 0.0), a.seconds.get(stage, 0.0) / f.seconds * f.work)
                for a, f in zip(answers, each, strict=True)
            ]
            found[f"- {stage}"] = median(parts)
    return found


def ratios(found: dict[str, Figure], peers: dict[str, dict[str, float]]) -> list[tuple[str, str]]:
    """How many times as long the other tools took."""
    lines = []
    for tool, count in COUNTS.items():
        for variant in VARIANTS:
            work = peers.get(tool, {}).get(variant)
            plain = "reconfigure" if variant == "free" else "reconfigure, fixed"
            name = plain if count == COUNT else f"reconfigure, {variant}, one suggestion"
            if work is not None:
                lines.append((f"{tool}, {variant}", f"{work / found[name].work:.1f}x"))
    return lines


def measure(asked: int, seed: int) -> dict[str, Figure]:
    """All figures."""
    case, _ = prepare(asked, seed, FASTER, 1)
    fitted = engine(seed).fit()
    found = questions(fitted, case)
    with tempfile.TemporaryDirectory() as folder:
        saved = str(Path(folder, "jobs.compass"))
        fitted.save(saved)
        config = decode(case.questions[0].row)
        asked_for = f"Recommend X = {{nodes: ?}} to achieve Y = {{{OUTCOME}: minimize}}"
        asked_for += f" where C = {{solver == '{config['solver']}'}}"
        found["compass --help"] = process("--help")
        found["compass columns, 3,000 runs"] = process("columns", str(embedded.path()))
        found["compass ask, saved engine, 30,000 runs"] = process(
            "ask", saved, asked_for, "--prove", "0"
        )
    found["compass demo, caches empty"] = process("demo", fresh=True)
    data = cp.read(embedded.path(), study=embedded.study())
    jobs = powers(6000)
    for each in (data, jobs):
        each.prepared  # noqa: B018 - reading is not what is measured
    found["fit, embedded, 3 outcomes"] = timed(lambda: cp.Compass(data).fit())
    found["fit, 6,000 jobs, 3 outcomes"] = timed(lambda: cp.Compass(jobs).fit())
    return found


def show(found: dict[str, Figure], kept: dict[str, Any]) -> str:
    """The figures beside those of the last change."""
    lines = []
    for name, figure in found.items():
        before = kept.get("figures", {}).get(name)
        compared = f"{figure.work / before:.2f}" if before else ""
        told = f"{before:.1f}" if before else ""
        lines.append((name, f"{1000 * figure.seconds:.0f}", f"{figure.work:.1f}", told, compared))
    text = table(("what", "CPU ms", "work", "kept", "now / kept"), lines)
    compared_with = ratios(found, kept.get("peers", {}))
    if compared_with:
        text += "\n\n" + table(("another tool, kept", "took"), compared_with)
    return text


def peers_of(file: Path) -> dict[str, dict[str, float]]:
    """The work of the other tools, from the figures of `benchmarks.peers`."""
    found: dict[str, dict[str, float]] = {}
    for one in json.loads(file.read_text())["verdicts"]:
        if one["tool"] in COUNTS:
            each = np.array(one["seconds"]) / np.array(one["paces"])
            found.setdefault(one["tool"], {})[one["variant"]] = float(np.median(each))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="write the figures to speed.json")
    parser.add_argument("--peers", type=Path, help="keep the other tools' figures of this file")
    said = parser.parse_args(arguments)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if said.peers:
        kept["peers"] = peers_of(said.peers)
    found = measure(said.questions, said.seed)
    print(show(found, kept))
    if said.keep:
        kept["figures"] = {name: figure.work for name, figure in found.items()}
    if said.keep or said.peers:
        save(KEPT, {"peers": kept.get("peers", {}), "figures": kept.get("figures", {})})
    return 0


if __name__ == "__main__":
    sys.exit(main())
