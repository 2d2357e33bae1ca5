"""Put masked questions to public tables: `python -m benchmarks.tables`.

For every table of roles.yaml: the time of each stage, the latency of questions to a fitted engine,
how many answers break a rule, leave the legal values or change what was given (checked by code that
shares nothing with the engine), and the penalised MAPE on held-out runs with a 95 % confidence
interval over five partitions. Tables with a file of test runs have one engine and five disjoint
samples of that file; the others have five engines, each without a fifth of the configurations.
See benchmarks/masked.py for the questions, benchmarks/measure.py for the measures and
benchmarks/regret.py for the regret on the exhaustive table.

The exit code is 1 when an answer breaks a rule.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks import regret
from benchmarks.legal import Checker
from benchmarks.masked import KINDS, Examiner, HeldOut, Tally
from benchmarks.measure import configurations, folds, interval, percentile
from benchmarks.roles import PLAIN, Source, data_folder, sources, stated
from benchmarks.show import save, table
from compass.domain.space import Role

Floats = NDArray[np.float64]
PARTS = 5
STAGES = ("plan", "search", "trust", "next runs")
STAGE_HEAD = (
    *("table", "rows", "learnt", "features", "rules"),
    *("read s", "prepare s", "fit s", "fit CPU s", "error of the models"),
)
QUESTION_HEAD = (
    *("question", "n", "penalised MAPE", "copied", "violations"),
    *("no answer", "failed", "forced", "p50 s", "p95 s"),
)


@dataclass(frozen=True)
class KindResult:
    """How questions of one kind went, over all partitions."""

    kind: str
    queries: int
    error: float
    half: float
    copied: float | None
    copied_half: float | None
    violations: int
    unanswered: int
    failures: int
    forced: int
    p50: float
    p95: float
    stages: dict[str, float]  # median seconds
    examples: list[str]  # of violations and failures


@dataclass
class TableResult:
    """One table: its size, the time of each stage, and its questions."""

    name: str
    rows: int
    learnt: int
    features: int
    rules: int
    read: float
    prepare: float
    fit: float
    fit_cpu: float
    cards: dict[str, str]
    kinds: list[KindResult] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """How much is asked."""

    partitions: int
    rows: int  # held-out runs per partition
    seed: int


def examine(source: Source, folder: Path, plan: Plan) -> TableResult:
    """Everything about one table."""
    began = time.perf_counter()
    data = source.read(folder)
    read = time.perf_counter() - began
    began = time.perf_counter()
    prepared = data.prepared
    prepare = time.perf_counter() - began
    features = prepared.space.having(Role.KNOB, Role.CONTEXT)
    checker = Checker.of(data.table.arrow, data.study, features)
    result = None
    tallies: dict[str, list[Tally]] = {kind: [] for kind in KINDS}
    for number, (engine, held_out, fit, cpu) in enumerate(partitions(source, data, folder, plan)):
        if result is None:
            cards = {c.target: f"{c.error_name} {c.error:.3f}" for c in engine.cards}
            result = TableResult(
                name=source.name,
                rows=prepared.rows,
                learnt=engine.data.prepared.rows,
                features=len(features),
                rules=len(data.study.rules),
                read=read,
                prepare=prepare,
                fit=fit,
                fit_cpu=cpu,
                cards=cards,
            )
        began = time.perf_counter()
        examiner = Examiner(engine, source.ask, source.goals, checker)
        for kind, tally in examiner.examine(held_out, plan.seed + number).items():
            tallies[kind].append(tally)
        took = time.perf_counter() - began
        _say(f"{source.name}: partition {number + 1} of {plan.partitions}, {took:.1f} s")
    assert result is not None
    result.kinds = [_summary(kind, tallies[kind]) for kind in KINDS]
    return result


def partitions(
    source: Source, data: cp.Dataset, folder: Path, plan: Plan
) -> Iterator[tuple[cp.Compass, HeldOut, float, float]]:
    """Engines with runs that they have not seen, and the seconds (wall, CPU) of learning."""
    study = stated(data)
    space = data.prepared.space
    values = data.prepared.values
    features = space.having(Role.KNOB, Role.CONTEXT)
    if source.test is not None:
        test = cp.read(str(folder / source.test), study=study).prepared
        if test.space.select(features) != space.select(features):
            raise ValueError(f"{source.test} has values that {source.path} has not")
        both = np.concatenate([data.prepared.columns_of(features), test.columns_of(features)])
        number = configurations(both)
        own, other = number[: len(values)], number[len(values) :]
        measured = np.isfinite(test.columns_of(source.goals)).all(axis=1)
        known = np.flatnonzero(measured & ~np.isin(other, own))
        engine, fit, cpu = _fitted(data.with_study(study), plan.seed)
        for part in folds(other[known], plan.partitions, plan.seed):
            yield engine, HeldOut(space, _some(test.values[known][part], plan)), fit, cpu
        return
    usable = np.flatnonzero(np.isfinite(data.prepared.columns_of(source.goals)).all(axis=1))
    parts = folds(configurations(data.prepared.columns_of(features)), PARTS, plan.seed)
    for part in parts[: plan.partitions]:
        rest = np.setdiff1d(np.arange(len(values)), part)
        arrow = data.table.arrow.take(data.prepared.row_id[rest])
        engine, fit, cpu = _fitted(cp.read(arrow, study=study), plan.seed)
        yield engine, HeldOut(space, _some(values[np.intersect1d(part, usable)], plan)), fit, cpu


def _some(values: Floats, plan: Plan) -> Floats:
    rng = np.random.default_rng(plan.seed)
    return values[rng.permutation(len(values))[: plan.rows]]


def _fitted(data: cp.Dataset, seed: int) -> tuple[cp.Compass, float, float]:
    engine = cp.Compass(data, seed=seed, settings=PLAIN)
    began, cpu = time.perf_counter(), time.process_time()
    engine.fit()
    return engine, time.perf_counter() - began, time.process_time() - cpu


def _summary(kind: str, tallies: list[Tally]) -> KindResult:
    error = interval([t.errors for t in tallies])
    copied = interval([t.copied for t in tallies])
    seconds = [s for t in tallies for s in t.seconds]
    found = [s for t in tallies for s in t.violations]
    failures = [s for t in tallies for s in t.failures]
    stages = {
        stage: percentile([s for t in tallies for s in t.stages.get(stage, [])], 50)
        for stage in STAGES
    }
    own = any(t.copied for t in tallies)
    return KindResult(
        kind=kind,
        queries=sum(len(t.errors) for t in tallies),
        error=error.mean,
        half=error.half,
        copied=copied.mean if own else None,
        copied_half=copied.half if own else None,
        violations=len(found),
        unanswered=sum(t.unanswered for t in tallies),
        failures=len(failures),
        forced=sum(t.forced for t in tallies),
        p50=percentile(seconds, 50),
        p95=percentile(seconds, 95),
        stages=stages,
        examples=list(dict.fromkeys([*found, *failures]))[:5],
    )


def show(results: Sequence[TableResult]) -> str:
    """Two tables: the stages, and the questions."""
    stages = table(
        STAGE_HEAD,
        [
            (
                r.name,
                r.rows,
                r.learnt,
                r.features,
                r.rules,
                f"{r.read:.2f}",
                f"{r.prepare:.2f}",
                f"{r.fit:.1f}",
                f"{r.fit_cpu:.1f}",
                ", ".join(f"{target}: {error}" for target, error in r.cards.items()),
            )
            for r in results
        ],
    )
    questions = table(
        (*QUESTION_HEAD, *STAGES),
        [
            (
                f"{r.name} {k.kind}",
                k.queries,
                f"{k.error:.3f} ± {k.half:.3f}",
                "" if k.copied is None else f"{k.copied:.3f} ± {k.copied_half:.3f}",
                k.violations,
                k.unanswered,
                k.failures,
                k.forced,
                f"{k.p50:.3f}",
                f"{k.p95:.3f}",
                *(f"{k.stages[stage]:.3f}" for stage in STAGES),
            )
            for r in results
            for k in r.kinds
        ],
    )
    return f"{stages}\n\n{questions}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="NAME", action="append", help="this table (may repeat)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--quick", action="store_true", help="two partitions of five runs")
    parser.add_argument("--rows", type=int, default=60, help="held-out runs per partition")
    parser.add_argument("--seed", type=int, default=7)
    said = parser.parse_args(arguments)
    known, folder = sources(), data_folder()
    for name in said.only or ():
        if name not in known:
            parser.error(f"no table '{name}'; there are: {', '.join(known)}")
    plan = Plan(2, 5, said.seed) if said.quick else Plan(PARTS, said.rows, said.seed)
    results, regrets = [], []
    for name in said.only or known:
        absent = known[name].absent(folder)
        if absent:
            _say(f"{name}: skipped, {folder} has no {', '.join(absent)} (set COMPASS_DATA)")
            continue
        results.append(examine(known[name], folder, plan))
        if name == "convolution":
            regrets = regret.examine(known[name], folder, 1 if said.quick else 3, said.seed)
    if not results:
        _say("nothing was measured")
        return 0
    print(show(results))
    if regrets:
        print(f"\n{regret.show(regrets)}")
    if said.json:
        figures = {
            "seed": said.seed,
            "tables": [asdict(r) for r in results],
            "regret": [asdict(r) for r in regrets],
        }
        save(said.json, figures)
    for result in results:
        for kind in result.kinds:
            for example in kind.examples:
                print(f"{result.name} {kind.kind}: {example}")
    return 1 if any(kind.violations for result in results for kind in result.kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
