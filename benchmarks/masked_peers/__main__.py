"""Masked questions put to Compass and to other tools: `python -m benchmarks.masked_peers`.

Table IV of the COMPASS paper on public tables. Runs are held out with their configuration
(benchmarks/masked.py); per run, some parameters are hidden and asked for, the goal being a range of
5 % on either side of what was measured (one outcome, since most tools know one):

* recommend: everything else is given; ours, BoFire, Optuna, GReaT, and the nearest past run;
* reconfigure: the same goal from a past run with other values of the hidden parameters; ours, DiCE,
  treecf, NICE, Optuna, and the nearest past run. All ask the same forest (of the logarithm);
* what-if: the complete run is given, its outcome is asked for; ours, BoFire, GReaT, nearest run.

Everybody's first suggestion is judged: penalised MAPE of the hidden parameters (of the outcome)
with a 95 % interval over the partitions; no answer counts as 1. `violations`: a broken rule, an
illegal value, or a given one that moved. `in range`: of the suggestions whose configuration was
measured (anywhere in the table), the share whose measured outcome is in the range: the truth.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.legal import Checker, same
from benchmarks.masked import Examiner, goal_for
from benchmarks.masked_peers.case import (
    RECOMMEND,
    RECONFIGURE,
    WHAT_IF,
    Case,
    Column,
    Question,
    Reply,
    grow,
    load_replies,
)
from benchmarks.measure import NO_ANSWER, interval, penalised
from benchmarks.roles import ROOT, Source, data_folder, sources
from benchmarks.show import save, table
from benchmarks.tables import Plan, partitions
from compass.domain.space import Number, Role
from compass.prepare.encode import Encoder

TABLES = ("zeus", "clip", "convolution", "kripke")
OURS, NEAREST = "Compass", "nearest past run"
FOREST = cp.Settings(surrogate="forest", scale="log")  # outcomes here are positive, over decades
# Runner: the environment that has it, made by `make study-peers`.
RUNNERS = {
    "run_dice": ".venv-peers",
    "run_treecf": ".venv-peers",
    "run_optuna": ".venv-peers",
    "run_nice": ".venv-peers",
    "run_bofire": ".venv-bofire",
    "run_great": ".venv-great",
}
HEAD = (
    *("table", "question", "tool", "asked", "no answer", "penalised MAPE", "violations"),
    *("looked up", "in range", "CPU s", "worst"),
)
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
_QUIET = {"NUMBA_NUM_THREADS": "1", "TQDM_DISABLE": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Judged:
    """One answer of one tool."""

    table: str
    kind: str
    tool: str
    partition: int
    number: int
    error: float
    answered: bool
    violation: bool
    in_range: bool | None  # None: this configuration was never measured
    seconds: float
    note: str = ""


class Partition:
    """One engine with the runs that it has not seen, as questions for everybody."""

    def __init__(self, source: Source, engine: cp.Compass, checker: Checker, seed: int) -> None:
        self.source, self.engine, self.checker, self.seed = source, engine, checker, seed
        self.goal = source.goals[0]
        self.examiner = Examiner(engine, source.ask, (self.goal,), checker)
        self.features = self.examiner.features
        self.view = engine.store.view_of(self.features)
        self.space = engine.space.select(self.features)
        self.runs: list[dict[str, Any]] = []
        self.starts: list[tuple[int, list[str]]] = []

    def case(self, held_out: Any) -> Case:
        """Everything that other tools are given."""
        rng = np.random.default_rng(self.seed)
        encoder, questions = Encoder(self.space), []
        asked = tuple(self.features.index(name) for name in self.source.ask)
        for number, (vector, run) in enumerate(held_out):
            start = self.examiner.start(vector, rng)
            past = self.engine.data.row(start[0])
            self.runs.append(run)
            self.starts.append(start)
            full = encoder.encode({name: run[name] for name in self.features})
            before = full.copy()
            hidden = full.copy()
            for place in asked:
                name = self.features[place]
                before[place] = encoder.encode({name: past[name]}, partial=True)[place]
                hidden[place] = np.nan
            goal = goal_for(run[self.goal])
            limits = (float(goal.low), float(goal.high))  # type: ignore[union-attr, arg-type]
            for kind, row in ((RECOMMEND, hidden), (RECONFIGURE, before), (WHAT_IF, full)):
                questions.append(Question(number, kind, tuple(row.tolist()), *limits))
        scale = [self.examiner.prepared.column(name).std() or 1.0 for name in self.features]
        numbers = [isinstance(self.space[name], Number) for name in self.features]
        forest = FOREST.forest
        return Case(
            table=self.source.name,
            columns=tuple(column_of(self.space[name]) for name in self.features),
            asked=asked,
            rules=tuple(self.checker.rules),
            X=self.view.X[self.view.train],
            y=self.engine.store.prepared.column(self.goal)[self.view.train],
            scale=tuple(float(s) if n else 1.0 for s, n in zip(scale, numbers, strict=True)),
            trees=forest.trees,
            depth=forest.depth,
            seed=self.seed,
            questions=tuple(questions),
        )

    def ours(self) -> list[Reply]:
        """What Compass says."""
        ask, found = self.source.ask, []
        encoder = Encoder(self.space)
        for number, (run, (start, stated)) in enumerate(zip(self.runs, self.starts, strict=True)):
            goals = {self.goal: goal_for(run[self.goal])}
            given = {name: run[name] for name in self.examiner.given}
            changed = {name: run[name] for name in stated}
            whole = changed | {name: run[name] for name in ask}
            questions = {
                RECOMMEND: lambda g=goals, f=given: self.engine.recommend(ask, g, fixed=f),
                RECONFIGURE: lambda g=goals, s=start, c=changed: self.engine.reconfigure(
                    s, ask, g, change=c
                ),
                WHAT_IF: lambda s=start, w=whole: self.engine.what_if(s, w, (self.goal,)),
            }
            for kind, put in questions.items():
                began = time.process_time()
                try:
                    answer = put()
                except cp.CompassError as problem:
                    took = time.process_time() - began
                    found.append(Reply(number, kind, None, None, took, str(problem)))
                    continue
                took = time.process_time() - began
                # Ranges are narrow: what was found counts, whether or not it is likely enough.
                first = next(iter([*answer, *answer.ideas]), None)
                if first is None:
                    found.append(Reply(number, kind, None, None, took, answer.no_answer or ""))
                    continue
                told = encoder.encode({name: first.config[name] for name in self.features})
                value = float(first.outcome(self.goal).value)  # type: ignore[arg-type]
                row = None if kind == WHAT_IF else tuple(told.tolist())
                found.append(Reply(number, kind, row, value, took))
        return found

    def nearest(self, case: Case) -> list[Reply]:
        """The past run that is nearest in what is given and, but for a what-if, in the goal."""
        names = [*self.features, self.goal]
        past = np.column_stack([self.examiner.prepared.column(name) for name in names])
        label = np.array([bool(one.labels) for one in case.columns] + [False])
        width = float(np.nanstd(past[:, -1])) or 1.0
        scale = np.array([*case.scale, width])
        found = []
        for question in case.questions:
            middle = np.nan if question.kind == WHAT_IF else (question.low + question.high) / 2
            here = np.array([*question.row, middle])
            if question.kind == RECONFIGURE:
                here[list(case.asked)] = np.nan
            known = np.isfinite(here)
            apart = np.where(label, past != here, np.abs(past - here) / scale)[:, known].sum(axis=1)
            apart[~np.isfinite(past[:, -1])] = np.inf
            best = past[int(np.nanargmin(apart))]
            row = np.array(question.row)
            row[list(case.asked)] = best[list(case.asked)]
            told = None if question.kind == WHAT_IF else tuple(row.tolist())
            found.append(Reply(question.number, question.kind, told, float(best[-1]), 0.0))
        return found

    def judged(
        self, tool: str, replies: Sequence[Reply], case: Case, partition: int, truth: "Truth"
    ) -> Iterator[Judged]:
        """What is true of every reply."""
        for reply in replies:
            run = self.runs[reply.number]
            one = Judged(
                *(case.table, reply.kind, tool, partition, reply.number, NO_ANSWER, False, False),
                *(None, reply.seconds, reply.note),
            )
            if reply.kind == WHAT_IF and reply.predicted is not None:
                got = {self.goal: reply.predicted}
                want = {self.goal: run[self.goal]}
                error = penalised(got, want, self.examiner.scales, 0.0)
                yield replace(one, error=error, answered=True)
            elif reply.row is not None and np.isfinite(reply.row).all():
                config = case.config(reply.row)
                want = {name: run[name] for name in self.source.ask}
                broken = self.checker.share_broken(config)
                error = penalised(config, want, self.examiner.scales, broken)
                moved = any(not same(config[n], run[n]) for n in self.examiner.given)
                illegal = any(not v.allows(config[n]) for n, v in self.checker.values.items())
                measured = truth.value(reply.row)
                goal = goal_for(run[self.goal])
                low, high = float(goal.low), float(goal.high)  # type: ignore[union-attr, arg-type]
                inside = None if measured is None else bool(low <= measured <= high)
                violation = bool(broken) or moved or illegal
                yield replace(one, error=error, answered=True, violation=violation, in_range=inside)
            else:
                yield one


class Truth:
    """What was measured of every configuration of a table, held-out runs included."""

    def __init__(self, data: cp.Dataset, features: tuple[str, ...], goal: str) -> None:
        prepared = data.prepared
        found: dict[bytes, list[float]] = {}
        for row, y in zip(prepared.columns_of(features), prepared.column(goal), strict=True):
            if np.isfinite(y):
                found.setdefault(row.tobytes(), []).append(float(y))
        self._means = {key: float(np.mean(values)) for key, values in found.items()}

    def value(self, row: Sequence[float]) -> float | None:
        """The mean of the runs of a configuration; None if there is none."""
        return self._means.get(np.array(row, dtype=float).tobytes())


def column_of(parameter: Any) -> Column:
    """A feature as other tools are told of it."""
    if not isinstance(parameter, Number):
        return Column(parameter.name, labels=tuple(parameter.values))
    code = float(parameter.none_code)
    values = tuple(map(float, parameter.allowed or ()))
    if values and parameter.optional:
        values = (*values, code)
    return Column(
        parameter.name,
        values=values,
        low=float(parameter.low),
        high=float(max(parameter.high, code) if parameter.optional else parameter.high),
        whole=bool(parameter.whole),
        none_code=code if parameter.optional else None,
    )


def others(case: Case, only: Sequence[str], folder: Path) -> Iterator[tuple[str, list[Reply]]]:
    """The replies of the tools that run in environments of their own."""
    case.save(folder)
    for name, home in RUNNERS.items():
        python = ROOT / home / "bin" / "python"
        if only and name.removeprefix("run_") not in only:
            continue
        if not python.exists():
            _say(f"{name} is left out: there is no {home} (make study-peers)")
            continue
        done = subprocess.run(
            [str(python), "-m", f"benchmarks.masked_peers.{name}", str(folder)],
            cwd=ROOT,
            env={**os.environ, **_ALONE, **_QUIET, "PYTHONPATH": str(ROOT)},
            stdout=sys.stderr,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"error: {name} ended with exit code {done.returncode}")
        yield from load_replies(folder / f"{name}.json").items()


def examine(source: Source, folder: Path, plan: Plan, only: Sequence[str]) -> list[Judged]:
    """All tools on one table."""
    data = source.read(folder)
    features = data.prepared.space.having(Role.KNOB, Role.CONTEXT)
    checker = Checker.of(data.table.arrow, data.study, features)
    truth = Truth(data, features, source.goals[0])
    found: list[Judged] = []
    for number, (engine, held_out, *_) in enumerate(partitions(source, data, folder, plan)):
        asked = cp.Compass(engine.data, seed=plan.seed, settings=FOREST).fit(source.goals[:1])
        part = Partition(source, asked, checker, plan.seed)
        case = part.case(held_out)
        told = {OURS: part.ours(), NEAREST: part.nearest(case)}
        apart = disagreement(part, case)
        _say(f"{source.name} {number}: the forests differ by at most {apart:.2g}, relative")
        with tempfile.TemporaryDirectory() as temporary:
            told |= dict(others(case, only, Path(temporary)))
        for tool, replies in told.items():
            found += part.judged(tool, replies, case, number, truth)
        _say(show(found))
    return found


def disagreement(part: Partition, case: Case) -> float:
    """How far the forest of the others is from that of Compass, on rows that both learnt."""
    trained = part.engine.store.train(part.features, (part.goal,))[part.goal].model
    rows = case.X[:200]
    ours = np.asarray(trained.predict(rows)[:, 0])
    return float(np.abs(grow(case).predict(rows) / ours - 1).max())


def show(found: Sequence[Judged]) -> str:
    """A line per table, kind of question and tool."""
    lines = []
    keys = dict.fromkeys((one.table, one.kind, one.tool) for one in found)
    kinds = (RECOMMEND, RECONFIGURE, WHAT_IF)
    for name, kind, tool in sorted(keys, key=lambda k: (k[0], kinds.index(k[1]))):
        own = [one for one in found if (one.table, one.kind, one.tool) == (name, kind, tool)]
        parts = [
            [one.error for one in own if one.partition == number]
            for number in dict.fromkeys(one.partition for one in own)
        ]
        measured = [one.in_range for one in own if one.in_range is not None]
        seconds = [one.seconds for one in own]
        lines.append(
            (
                *(name, kind, tool, len(own), sum(not one.answered for one in own)),
                *(str(interval(parts)), sum(one.violation for one in own)),
                len(measured) if kind != WHAT_IF else "",
                f"{np.mean(measured):.0%}" if measured else "",
                *(f"{np.median(seconds):.2f}", f"{max(seconds):.2f}"),
            )
        )
    return table(HEAD, lines)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def figures(found: Sequence[Judged], seed: int) -> Mapping[str, Any]:
    """Every answer, as it is kept."""
    return {"seed": seed, "answers": [asdict(one) for one in found]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask everybody; 1 if a suggestion of Compass breaks something."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.masked_peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", metavar="TABLE", action="append", help=", ".join(TABLES))
    parser.add_argument("--tool", action="append", default=[], help="dice, treecf, great, ...")
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5, help="held-out runs per partition")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every answer here too")
    said = parser.parse_args(arguments)
    known, folder = sources(), data_folder()
    plan, found = Plan(said.partitions, said.rows, said.seed), []
    for name in said.only or TABLES:
        absent = known[name].absent(folder)
        if absent:
            _say(f"{name}: skipped, {folder} has no {', '.join(absent)} (set COMPASS_DATA)")
            continue
        found += examine(known[name], folder, plan, said.tool)
    if not found:
        _say("nothing was measured")
        return 0
    print(show(found))
    if said.json:
        save(said.json, figures(found, said.seed))
    return int(any(one.violation for one in found if one.tool == OURS))


if __name__ == "__main__":
    sys.exit(main())
