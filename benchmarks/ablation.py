"""Switch the terms of the C3G loss on and off: `python -m benchmarks.ablation`.

Table VII of the COMPASS paper on public tables with rules: the generator `c3g` minimises equation 1
as it stands, with the weight of validity 1 and the other three 0 or 1, and once without validity.
The last row is the default generator on the same questions. All see the same task and model; no
engine stands between the generator and the figures, so what breaks a rule counts as it was found.

The questions are masked (benchmarks/masked.py): recommend and reconfigure ask for the hidden
parameters of a held-out run, with what it measured as the goal, and get three configurations.
What-if states the first of them and everything else that differs as a change of a past run, and
lets the others move: with no goal, only nearness and the rules say where. It gets one
configuration, and the predicted outcomes are compared with the measured ones.

Per set of configurations: the penalised MAPE of the first one (the cheapest, or the best of the
default generator), the share of all that break a rule by hand-written checks, and the means of
their OOD and UQ (Algorithm 1).
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.legal import Checker
from benchmarks.masked import KINDS, Examiner, HeldOut, goal_for
from benchmarks.measure import NO_ANSWER, interval, penalised
from benchmarks.roles import Source, data_folder, sources
from benchmarks.show import save, table
from benchmarks.tables import PARTS, Plan, partitions
from compass.domain.goal import Goal, Observe
from compass.domain.query import Kind, Query
from compass.domain.space import Role
from compass.engine.arguments import edit, query_of
from compass.engine.plan import plan
from compass.engine.scope import Scope
from compass.evidence.assessor import Assessor
from compass.generate.c3g import least_loss
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.settings import LossWeights

Floats = NDArray[np.float64]
TABLES = ("kripke", "amg", "convolution")
DEFAULT = "default generator"
HEAD = ("broken", "OOD", "UQ")  # of every kind, after its penalised MAPE


def rows() -> dict[str, LossWeights | None]:
    """The rows of the table: weights of the loss by name; None: the default generator."""
    found: dict[str, LossWeights | None] = {}
    for near, different, rules in product((0.0, 1.0), repeat=3):
        chosen = LossWeights(proximity=near, diversity=different, constraint=rules)
        found[named(chosen)] = chosen
    without = LossWeights(valid=0.0)
    return {**found, named(without): without, DEFAULT: None}


def named(weights: LossWeights) -> str:
    """The terms that are switched on."""
    return " + ".join(name for name, weight in weights if weight)


@dataclass(frozen=True)
class Question:
    """A masked question, and what a perfect answer would be."""

    kind: str
    query: Query
    want: dict[str, Any]  # parameters, or for a what-if outcomes


@dataclass
class Scores:
    """What one row of the table got on one partition."""

    errors: list[float] = field(default_factory=list)
    broken: list[float] = field(default_factory=list)  # share of each set that breaks a rule
    ood: list[float] = field(default_factory=list)
    uq: list[float] = field(default_factory=list)
    empty: int = 0  # sets without a configuration


@dataclass(frozen=True)
class RowResult:
    """One row: a kind of question, the terms, and the scores of every partition."""

    table: str
    kind: str
    terms: str
    partitions: list[Scores]

    def line(self) -> tuple[str, ...]:
        """The row as it is printed: penalised MAPE, violations, OOD and UQ."""
        errors = interval([one.errors for one in self.partitions])
        means = [
            float(np.mean([v for one in self.partitions for v in getattr(one, name)] or [np.nan]))
            for name in ("broken", "ood", "uq")
        ]
        share, ood, uq = means
        return (str(errors), f"{share:.1%}", f"{ood:.2f}", f"{uq:.2f}")


class Ablation:
    """Puts the questions of one partition to every row."""

    def __init__(self, engine: cp.Compass, source: Source, checker: Checker) -> None:
        self.engine, self.checker = engine, checker
        self.examiner = Examiner(engine, source.ask, source.goals, checker)

    def scores(self, held_out: HeldOut, seed: int) -> dict[tuple[str, str], Scores]:
        """The scores by kind of question and row."""
        found = {(kind, terms): Scores() for kind in KINDS for terms in rows()}
        for question in self.questions(held_out, seed):
            task, assessor = self.bound(question.query)
            for terms, weights in rows().items():
                X = chosen_set(task, weights)
                self._judge(found[question.kind, terms], question, task, assessor, X)
        return found

    def questions(self, held_out: HeldOut, seed: int) -> Iterator[Question]:
        """The three questions about every held-out run."""
        asker, rng = self.examiner, np.random.default_rng(seed)
        first, others = asker.ask[0], asker.ask[1:]
        observed: dict[str, Goal] = {name: Observe() for name in asker.goals}
        for vector, run in held_out:
            start, stated = asker.start(vector, rng)
            goals = {name: goal_for(run[name]) for name in asker.goals}
            asked = {name: run[name] for name in asker.ask}
            given = {name: edit(run[name]) for name in asker.given}
            changed = {name: edit(run[name]) for name in stated}
            recommend = query_of(Kind.RECOMMEND, asker.ask, given, goals, ())
            yield Question("recommend", self.engine.query(recommend), asked)
            reconfigure = query_of(Kind.RECONFIGURE, asker.ask, changed, goals, ())
            yield Question("reconfigure", self.engine.query(reconfigure, run=start), asked)
            moved = {**changed, first: edit(run[first])}
            what_if = query_of(Kind.WHAT_IF, others, moved, observed, ())
            measured = {name: run[name] for name in asker.goals}
            yield Question("what-if", self.engine.query(what_if, run=start, count=1), measured)

    def bound(self, query: Query) -> tuple[SearchTask, Assessor]:
        """The search task of a question, as an engine would make it."""
        store = self.engine.store

        def assess(scope: Scope) -> Assessor:
            trained = store.train(scope.view.names, scope.outcomes)
            return Assessor(store, scope.view, trained, None)

        return plan(query, store, self.engine.rules, assess)

    def _judge(
        self, scores: Scores, question: Question, task: SearchTask, assessor: Assessor, X: Floats
    ) -> None:
        if not len(X):
            scores.errors.append(NO_ANSWER)
            scores.empty += 1
            return
        encoder = Encoder(task.space)
        configs = [encoder.decode(x) for x in X]
        got = configs[0]
        if question.kind == "what-if":
            predicted = task.predict(X[:1])
            got = {name: assessor.value(name, predicted[name][0]) for name in question.want}
        share = self.checker.share_broken(configs[0])
        scores.errors.append(penalised(got, question.want, self.examiner.scales, share))
        scores.broken.append(float(np.mean([bool(self.checker.broken(c)) for c in configs])))
        trusts = assessor.trust(X)
        scores.ood.append(float(np.mean([trust.ood for trust in trusts])))
        scores.uq.append(float(np.mean([trust.uq for trust in trusts])))


def chosen_set(task: SearchTask, weights: LossWeights | None) -> Floats:
    """The configurations [n, d] that a row chooses, best first, rule-breaking ones included."""
    if weights is None:
        try:
            return LegalSearch.generate(task).X
        except cp.CompassError:  # no configuration can obey the rules
            return np.empty((0, len(task.start)))
    settings = task.settings.model_copy(update={"loss": weights})
    return least_loss(replace(task, settings=settings)).X


def examine(source: Source, folder: Path, plan_: Plan) -> list[RowResult]:
    """Every row on one table."""
    data = source.read(folder)
    features = data.prepared.space.having(Role.KNOB, Role.CONTEXT)
    checker = Checker.of(data.table.arrow, data.study, features)
    found: dict[tuple[str, str], list[Scores]] = {}
    for number, (engine, held_out, *_) in enumerate(partitions(source, data, folder, plan_)):
        began = time.perf_counter()
        scored = Ablation(engine, source, checker).scores(held_out, plan_.seed + number)
        for key, scores in scored.items():
            found.setdefault(key, []).append(scores)
        took = time.perf_counter() - began
        _say(f"{source.name}: partition {number + 1} of {plan_.partitions}, {took:.1f} s")
    return [RowResult(source.name, kind, terms, some) for (kind, terms), some in found.items()]


def show(results: Sequence[RowResult]) -> str:
    """One table per source: a row for the terms, the kinds of question side by side."""
    parts = []
    for name in dict.fromkeys(one.table for one in results):
        found = {(one.kind, one.terms): one for one in results if one.table == name}
        count = sum(len(one.errors) for one in found["recommend", DEFAULT].partitions)
        head = (f"{name}, {count} of each", *(word for kind in KINDS for word in (kind, *HEAD)))
        lines = [
            (terms, *(cell for kind in KINDS for cell in found[kind, terms].line()))
            for terms in rows()
        ]
        parts.append(table(head, lines))
    return "\n\n".join(parts)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="NAME", action="append", help="this table (may repeat)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value here too")
    parser.add_argument("--full", action="store_true", help="five partitions of forty runs")
    parser.add_argument("--rows", type=int, default=10, help="held-out runs, of three partitions")
    parser.add_argument("--seed", type=int, default=7)
    said = parser.parse_args(arguments)
    known, folder = sources(), data_folder()
    for name in said.only or ():
        if name not in known:
            parser.error(f"no table '{name}'; there are: {', '.join(known)}")
    plan_ = Plan(PARTS, 40, said.seed) if said.full else Plan(3, said.rows, said.seed)
    results: list[RowResult] = []
    for name in said.only or TABLES:
        absent = known[name].absent(folder)
        if absent:
            _say(f"{name}: skipped, {folder} has no {', '.join(absent)} (set COMPASS_DATA)")
            continue
        results += examine(known[name], folder, plan_)
    if not results:
        _say("nothing was measured")
        return 0
    print(show(results))
    if said.json:
        save(said.json, {"seed": said.seed, "rows": [asdict(one) for one in results]})
    broken = [v for r in results if r.terms == DEFAULT for one in r.partitions for v in one.broken]
    return int(any(broken))


if __name__ == "__main__":
    sys.exit(main())
