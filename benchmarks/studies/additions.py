"""What parts that the papers do not have bring, by truth: `python -m benchmarks.studies.additions`.

Each part is left out here, in the benchmark; the product has no switch for it.

* search: reconfigurations of jobs whose law is known, put to the default generator as it is, with
  trees that are not cut down to the question (`specialisation`), and without knowing where the
  model's cells end (`cell edges`: values of past runs are tried instead). No chance is asked for.
* proof: the same questions to an engine, with and without a certificate.
* chance: the goal to be met by the mean (50 %), with 80 %, the default, and with 95 %; a new run is
  drawn from the law.
* evidence: the nodes of jobs of a confounded trace are doubled, with and without scaling runs in
  it. Labels by OOD and UQ alone (Algorithm 1 as published), and with effect evidence.

What each member of the loop's portfolio brings is in the study `loop`.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.show import save, table
from benchmarks.trust.trace import law as trace_law
from benchmarks.trust.trace import trace
from benchmarks.word.goals import CHANCES, ENGINE_SEED, ask, goals_of
from benchmarks.word.laws import LAWS, Floats, JobLaw
from benchmarks.word.questions import REDUCE, Question, fresh_runs, questions
from compass.domain.answer import CertificateStatus
from compass.domain.query import Kind
from compass.engine.arguments import query_of
from compass.engine.plan import plan
from compass.engine.scope import Scope
from compass.evidence.assessor import Assessor
from compass.generate.predict import Averaged
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.settings import ForestSettings

LAW = LAWS[0]
ROWS = 1500
CALLS = 3  # the least CPU time of so many counts


def learnt(law: JobLaw, rows: int) -> tuple[cp.Compass, list[Question]]:
    """An engine with a forest, and the reductions from learnt runs among the questions of a law."""
    X, y = law.table(rows, law.seed)
    settings = cp.Settings(surrogate="forest", scale="log", forest=ForestSettings(trees=100))
    data = cp.read(law.columns_of(X, y), study=law.study())
    engine = cp.Compass(data, seed=ENGINE_SEED, settings=settings).fit([law.outcome])
    some = [q for q in questions(law, X, y, 200) if q.kind == REDUCE and q.past is not None]
    return engine, some


class WithoutEdges:
    """A predictor that does not say where the cells of its trees end."""

    def __init__(self, predict: Averaged) -> None:
        self._predict = predict

    def __call__(self, X: Floats) -> dict[str, Floats]:
        """What is predicted."""
        return self._predict(X)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._predict, name)

    def edges(self, _: int) -> Floats | None:
        """Nobody knows."""
        return None


def bound(engine: cp.Compass, law: JobLaw, question: Question) -> tuple[SearchTask, Assessor]:
    """The search task of a question, as an engine would make it, its goals without a chance."""
    store = engine.store

    def assess(scope: Scope) -> Assessor:
        trained = store.train(scope.view.names, scope.outcomes)
        return Assessor(store, scope.view, trained, None)

    made = query_of(Kind.RECONFIGURE, question.free, {}, goals_of(law, question), ())
    query = engine.query(made, run=question.past)
    task, assessor = plan(query, store, engine.rules, assess)
    return replace(task, chances=None), assessor


def uncut(task: SearchTask, assessor: Assessor) -> SearchTask:
    """The task with trees as they were learnt, branches for other values included."""
    models = {name: one.model for name, one in assessor.trained.items()}
    every = np.arange(len(task.space))
    return replace(task, predict=Averaged(models, task.contexts, every))


def without_edges(task: SearchTask, _: Assessor) -> SearchTask:
    """The task with values of past runs in place of cells."""
    return replace(task, predict=WithoutEdges(task.predict))


VARIANTS: dict[str, Callable[[SearchTask, Assessor], SearchTask]] = {
    "as it is": lambda task, _: task,
    "no specialisation": uncut,
    "no cell edges": without_edges,
}


@dataclass(frozen=True)
class Search:
    """One question put to one variant of the search."""

    variant: str
    number: int
    seconds: float
    distance: float | None  # None: no candidate meets the goal under the model
    met: bool  # by the law
    same: bool  # the first candidate is that of the search as it is


def searches(engine: cp.Compass, asked: Sequence[Question], law: JobLaw = LAW) -> list[Search]:
    """Every question put to every variant."""
    found = []
    for question in asked:
        first: Floats | None = None
        for variant, altered in VARIANTS.items():
            task, assessor = bound(engine, law, question)
            seconds = []
            for _ in range(CALLS):
                made = altered(task, assessor)
                began = time.process_time()
                candidates = LegalSearch.generate(made)
                seconds.append(time.process_time() - began)
            x = candidates.X[0] if len(candidates.X) else None
            first = x if first is None else first
            meets = x is not None and bool(candidates.meets[0])
            row = law.encode(Encoder(task.space).decode(x)) if meets else None
            found.append(
                Search(
                    variant,
                    question.number,
                    min(seconds),
                    float(candidates.proximity[0]) if meets else None,
                    row is not None and law.value(row) <= question.ceiling,
                    bool(x is not None and first is not None and np.array_equal(x, first)),
                )
            )
    return found


def show_searches(found: Sequence[Search]) -> str:
    """A line per variant; distances over the questions that all of them reach."""
    every = {one.number for one in found}
    reached = [n for n in every if all(o.distance is not None for o in found if o.number == n)]
    lines = []
    for variant in VARIANTS:
        own = [one for one in found if one.variant == variant]
        distances = [one.distance for one in own if one.number in reached]
        lines.append(
            (
                variant,
                len(own),
                sum(one.distance is not None for one in own),
                sum(one.met for one in own),
                f"{np.mean(distances):.4f}" if distances else "",
                sum(one.same for one in own),
                f"{1000 * np.median([one.seconds for one in own]):.0f}",
            )
        )
    head = ("search", "asked", "reached", "met by the law", "distance", "same first", "CPU ms")
    return table(head, lines)


@dataclass(frozen=True)
class Proof:
    """One question to an engine that proves its answer or does not."""

    number: int
    proved: bool
    status: str | None
    closer: float | None  # how much closer the first suggestion is than without a proof
    seconds: float


def proofs(engine: cp.Compass, asked: Sequence[Question], law: JobLaw = LAW) -> list[Proof]:
    """Every question with and without a certificate."""
    found = []
    for question in asked:
        answers = {}
        for prove in (0.0, 2.0):
            began = time.process_time()
            answer = engine.reconfigure(
                question.past, question.free, goals_of(law, question), prove=prove
            )
            took = time.process_time() - began
            answers[prove] = answer
            status = answer.certificate.status if answer.certificate and prove else None
            both = all(one.answered for one in answers.values())
            closer = answers[0.0][0].distance - answer[0].distance if prove and both else None
            closed = status in (CertificateStatus.OPTIMAL, CertificateStatus.INFEASIBLE)
            said = status.value if status else None
            found.append(Proof(question.number, closed, said, closer, took))
    return found


def show_proofs(found: Sequence[Proof]) -> str:
    """A line without and one with proofs."""
    without, with_ = found[::2], found[1::2]
    closer = [one.closer for one in with_ if one.closer is not None]
    gained = sum(value > 1e-9 for value in closer)
    head = ("proof", "asked", "optimal or infeasible, proved", "closer than without", "CPU ms")
    lines = [
        ("without", len(without), 0, "", f"{1000 * np.median([o.seconds for o in without]):.0f}"),
        (
            *("with", len(with_), sum(one.proved for one in with_), f"{gained} of {len(closer)}"),
            f"{1000 * np.median([one.seconds for one in with_]):.0f}",
        ),
    ]
    return table(head, lines)


@dataclass(frozen=True)
class Met:
    """One question at one chance, judged by a new run."""

    chance: float
    number: int
    answered: bool
    met: bool
    distance: float | None


def chances(engine: cp.Compass, asked: Sequence[Question], law: JobLaw = LAW) -> list[Met]:
    """Every question at every chance."""
    found = []
    for chance in CHANCES:
        for question in asked:
            answer = ask(law, engine, question, chance)
            if not (answer.answered and len(answer)):
                found.append(Met(chance, question.number, False, False, None))
                continue
            value = fresh_runs(law, question, law.encode(answer[0].config)[None, :])[0]
            met = bool(value <= question.ceiling)
            found.append(Met(chance, question.number, True, met, answer[0].distance))
    return found


def show_chances(found: Sequence[Met]) -> str:
    """A line per chance."""
    lines = []
    for chance in CHANCES:
        own = [one for one in found if one.chance == chance]
        answered = [one for one in own if one.answered]
        lines.append(
            (
                f"{chance:.0%}",
                len(own),
                len(answered),
                sum(one.met for one in answered),
                f"{np.mean([one.met for one in answered]):.0%}" if answered else "",
                f"{np.median([one.distance for one in answered]):.3f}" if answered else "",
            )
        )
    return table(("stated chance", "asked", "answered", "met by a new run", "", "distance"), lines)


@dataclass(frozen=True)
class Doubled:
    """One job with twice the nodes: both labels, and whether the predicted direction is true."""

    trace: str
    published: str
    label: str
    right: bool


def evidence(jobs: int, asked: int, seed: int) -> list[Doubled]:
    """Jobs of a confounded trace, without and with scaling runs."""
    found = []
    for name, scaling in (("confounded", 0), ("with scaling runs", 3)):
        made = trace(jobs, seed, scaling=scaling)
        columns = made.only("app", "input", "nodes", "runtime")
        data = cp.read(columns).roles(
            knobs=["nodes"], context=["app", "input"], outcomes=["runtime"]
        )
        engine = cp.Compass(data, surrogate="forest", seed=seed).fit()
        nodes = np.array(columns["nodes"])
        possible = np.flatnonzero(np.isin(2 * nodes, nodes))
        for row in np.random.default_rng(seed).choice(possible, asked, replace=False):
            answer = engine.what_if(int(row), {"nodes": cp.times(2)}, ["runtime"])
            change = answer[0].outcome("runtime").change
            truth = trace_law(made.work[row], 2 * nodes[row]) - trace_law(
                made.work[row], nodes[row]
            )
            trust = answer[0].trust
            published = trust.published.value if trust.published else ""
            right = change is not None and bool(np.sign(change) == np.sign(truth))
            found.append(Doubled(name, published, trust.label.value, right))
    return found


def show_evidence(found: Sequence[Doubled]) -> str:
    """Per trace: what each kind of label trusts, and how much of that has the right direction."""
    lines = []
    for name in dict.fromkeys(one.trace for one in found):
        own = [one for one in found if one.trace == name]
        cells: list[object] = [name, len(own), sum(one.right for one in own)]
        for kind in ("published", "label"):
            trusted = [one for one in own if getattr(one, kind) == "trusted"]
            cells += [len(trusted), sum(not one.right for one in trusted)]
        lines.append(tuple(cells))
    head = (
        *("trace", "asked", "direction right", "trusted by Algorithm 1", "wrong"),
        *("trusted with evidence", "wrong"),
    )
    return table(head, lines)


def main() -> None:
    """Measure every part and print its table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.additions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--questions", type=int, default=12, help="about jobs, of each part")
    parser.add_argument("--doubled", type=int, default=60, help="jobs of each trace")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value here too")
    said = parser.parse_args()
    engine, every = learnt(LAW, said.rows)
    asked = every[: said.questions]
    found: dict[str, list[Any]] = {
        "search": searches(engine, asked),
        "proof": proofs(engine, asked),
        "chance": chances(engine, asked),
        "evidence": evidence(said.rows, said.doubled, ENGINE_SEED),
    }
    shown: dict[str, Callable[[Any], str]] = {
        "search": show_searches,
        "proof": show_proofs,
        "chance": show_chances,
        "evidence": show_evidence,
    }
    print("\n\n".join(show(found[name]) for name, show in shown.items()))
    if said.json:
        kept = {name: [asdict(one) for one in rows] for name, rows in found.items()}
        save(said.json, {"law": LAW.name, "rows": said.rows, "seed": ENGINE_SEED, **kept})


if __name__ == "__main__":
    main()
