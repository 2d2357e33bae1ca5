"""Part B: the same questions put to other tools, and to a table look-up; one judge for all."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import compass as cp
from benchmarks.peers.__main__ import ROOT
from benchmarks.show import table
from benchmarks.word.case import DEPTH, TREES, Case, Reply, grow, load_replies
from benchmarks.word.goals import CHANCES, ENGINE_SEED, ask, learnt, say
from benchmarks.word.judge import Check, Share, share
from benchmarks.word.laws import Floats, JobLaw
from benchmarks.word.questions import REDUCE, Question, fresh_runs, questions
from compass.generate.loss import proximity
from compass.prepare.geometry import Geometry

HEAD = (
    *("law", "tool", "asked", "answered", "truly met", "of all asked", "by the law"),
    *("distance", "of those met", "violations", "CPU s"),
)
NEAREST = "nearest measured run"
OURS = "Compass"
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
_QUIET = {"NUMBA_NUM_THREADS": "1", "TQDM_DISABLE": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Judged:
    """One answer of one tool."""

    law: str
    tool: str
    number: int
    answered: bool
    met: bool = False  # legal, and a new run meets the goal
    met_by_law: bool = False
    distance: float | None = None
    violation: bool = False
    seconds: float = 0.0


@cache
def forest_engine(law: JobLaw, rows: int) -> cp.Compass:
    """An engine with a forest of the same size as the other tools have, otherwise the defaults."""
    X, y = law.table(rows, law.seed)
    data = cp.read(law.columns_of(X, y), study=law.study())
    plain = cp.Settings(surrogate="forest", scale="linear")
    forest = plain.forest.model_copy(update={"trees": TREES, "depth": DEPTH})
    settings = plain.model_copy(update={"forest": forest})
    return cp.Compass(data, seed=ENGINE_SEED, settings=settings).fit()


def examine(law: JobLaw, rows: int, count: int, python: str, patience: int) -> list[Judged]:
    """All tools on the reductions among the questions of part A."""
    engine, X, y = learnt(law, rows)
    asked = [q for q in questions(law, X, y, 3 * count) if q.kind == REDUCE][:count]
    same = forest_engine(law, rows)
    view = same.store.view_of(law.names)
    geometry = view.geometry({})
    scale = np.where(geometry.category, 1.0, geometry.scale)
    trained = view.X[view.train], same.store.prepared.column(law.outcome)[view.train]
    case = Case(law, *trained, scale, ENGINE_SEED, patience, tuple(asked))
    apart = np.abs(grow(case).predict(X[:200]) / _predicted(same, law, X[:200]) - 1).max()
    say(f"{law.name}: forests of Compass and scikit-learn differ by at most {apart:.2g}")
    found: list[Judged] = []
    for name, own in (("", engine), (", the same forest", same)):
        for chance in CHANCES:
            replies = [_own(law, own, question, chance) for question in asked]
            found += judged(case, f"{OURS} {chance:.0%}{name}", replies, geometry)
    say(f"{law.name}: Compass asked")
    looked = [nearest(law, X, y, question, geometry) for question in asked]
    found += judged(case, NEAREST, looked, geometry)
    for name, replies in others(case, python).items():
        found += judged(case, name, replies, geometry)
    return found


def _predicted(engine: cp.Compass, law: JobLaw, X: Floats) -> Floats:
    """What an engine's model of the outcome predicts [n]."""
    model = engine.store.train(law.names, (law.outcome,))[law.outcome].model
    return np.asarray(model.predict(X)[:, 0])


def others(case: Case, python: str) -> dict[str, list[Reply]]:
    """The replies of the tools that run in an environment of their own."""
    if not Path(python).exists():
        say(f"DiCE and treecf are left out: there is no {python} (make peers installs it)")
        return {}
    found: dict[str, list[Reply]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        case.save(folder)
        for name in ("run_dice", "run_treecf"):
            subprocess.run(
                [python, "-m", f"benchmarks.word.{name}", str(folder)],
                cwd=ROOT,
                env={**os.environ, **_ALONE, **_QUIET, "PYTHONPATH": str(ROOT)},
                check=True,
            )
            found |= load_replies(folder / f"{name}.json")
    return found


def _own(law: JobLaw, engine: cp.Compass, question: Question, chance: float) -> Reply:
    """Compass; only the first suggestion counts."""
    answer = ask(law, engine, question, chance)
    rows = [law.encode(one.config) for one in answer][:1] if answer.answered else []
    seconds = sum(answer.seconds.values())
    return Reply(question.number, tuple(tuple(row.tolist()) for row in rows), seconds)


def nearest(law: JobLaw, X: Floats, y: Floats, question: Question, geometry: Geometry) -> Reply:
    """The nearest measured run of the same context that met the goal, nothing fixed moved."""
    held = [j for j, name in enumerate(law.names) if name not in question.free]
    start = question.row
    fit = (X[:, held] == start[held]).all(axis=1) & (y <= question.ceiling)
    rows = X[fit]
    if not len(rows):
        return Reply(question.number, (), 0.0)
    best = rows[int(np.argmin(proximity(rows, start, geometry)))]
    return Reply(question.number, (tuple(best.tolist()),), 0.0)


def judged(case: Case, tool: str, replies: Sequence[Reply], geometry: Geometry) -> list[Judged]:
    """Every reply: of several suggestions the closest legal one counts, which favours the tool."""
    asked = {question.number: question for question in case.questions}
    return [one_judged(case.law, tool, asked[reply.number], reply, geometry) for reply in replies]


def one_judged(
    law: JobLaw, tool: str, question: Question, reply: Reply, geometry: Geometry
) -> Judged:
    """What is true of one reply."""
    rows = np.array(reply.rows)
    if not len(rows):
        return Judged(law.name, tool, question.number, False, seconds=reply.seconds)
    legal = np.array([_legal(law, tool, row, question) for row in rows])
    apart = proximity(rows, question.row, geometry)
    chosen = int(np.argmin(np.where(legal, apart, np.inf))) if legal.any() else 0
    row = rows[chosen][None, :]
    usable = bool(legal[chosen])
    known = bool(np.isfinite(row).all())
    return Judged(
        law.name,
        tool,
        question.number,
        True,
        met=usable and float(fresh_runs(law, question, row)[0]) <= question.ceiling,
        met_by_law=usable and law.value(row[0]) <= question.ceiling,
        distance=float(apart[chosen]) if known else None,
        violation=not usable,
        seconds=reply.seconds,
    )


def _legal(law: JobLaw, tool: str, row: Floats, question: Question) -> bool:
    """Values, rules and what had to stay; Compass may move more where it names a rule."""
    free = law.knobs if tool.startswith(OURS) else question.free
    return not law.faults(row, question.row, free)


@dataclass(frozen=True)
class Line:
    """One tool on one law."""

    law: str
    tool: str
    asked: int
    answered: int
    met: Share  # of the answers
    of_all: Share
    by_law: Share
    distance: float  # median of the answers
    distance_met: float  # median of those that met
    violations: int
    seconds: float


def lines(found: Sequence[Judged]) -> list[Line]:
    """Per law and tool."""
    told = []
    for law, tool in dict.fromkeys((one.law, one.tool) for one in found):
        own = [one for one in found if (one.law, one.tool) == (law, tool)]
        answers = [one for one in own if one.answered]
        told.append(
            Line(
                law,
                tool,
                len(own),
                len(answers),
                share(one.met for one in answers),
                share(one.met for one in own),
                share(one.met_by_law for one in answers),
                _median([one.distance for one in answers]),
                _median([one.distance for one in answers if one.met]),
                sum(one.violation for one in answers),
                _median([one.seconds for one in own]),
            )
        )
    return told


def _median(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else float("nan")


def show(told: Sequence[Line]) -> str:
    """The lines as a table."""
    return table(
        HEAD,
        [
            (
                one.law,
                one.tool,
                one.asked,
                one.answered,
                str(one.met),
                f"{one.of_all.value:.1%}",
                str(one.by_law),
                f"{one.distance:.3f}",
                f"{one.distance_met:.3f}",
                one.violations,
                f"{one.seconds:.2f}",
            )
            for one in told
        ],
    )


def checks(found: Sequence[Judged]) -> list[Check]:
    """One of ours meets the goals of most questions; as often true as another, it is no farther.

    Distances are compared on the questions that both answered.
    """
    told: list[Check] = []
    every = lines(found)
    for law in dict.fromkeys(one.law for one in every):
        ours = [one for one in every if one.law == law and one.tool.startswith(OURS)]
        best = max(ours, key=lambda one: one.of_all.hits)
        for theirs in every:
            if theirs.law != law or theirs.tool.startswith(OURS) or not theirs.met.of:
                continue
            said = f"{law}: {best.tool} truly meets {best.of_all.hits} of {best.asked}"
            most = best.of_all.hits >= theirs.of_all.hits
            told.append(Check(most, f"{said}, {theirs.tool} {theirs.of_all.hits}"))
            told.append(_no_farther(found, ours, theirs))
    return told


def _no_farther(found: Sequence[Judged], ours: Sequence[Line], theirs: Line) -> Check:
    """Our nearest among those as often true; else among those not shown to be less often true."""
    answered = [one for one in ours if one.met.of]
    equal = [one for one in answered if one.met.value >= theirs.met.value]
    equal = equal or [one for one in answered if one.met.value >= theirs.met.ends[0]]
    if not equal:
        said = f"{theirs.law}: nothing of ours is as often true as {theirs.tool} ({theirs.met})"
        return Check(False, said)
    pairs = [(one, *_paired(found, theirs.law, one.tool, theirs.tool)) for one in equal]
    nearest, own, other = min(pairs, key=lambda pair: pair[1] - pair[2])
    said = f"{theirs.law}: as often true, {nearest.tool} is {own:.3f} far"
    return Check(not own > other + 1e-9, f"{said}, {theirs.tool} {other:.3f}")


def _paired(found: Sequence[Judged], law: str, ours: str, theirs: str) -> tuple[float, float]:
    """Median distances of two tools over the questions that both answered."""
    own, other = (
        {one.number: one.distance for one in found if (one.law, one.tool) == (law, tool)}
        for tool in (ours, theirs)
    )
    both = [n for n, value in own.items() if value is not None and other.get(n) is not None]
    return _median([own[n] for n in both]), _median([other[n] for n in both])
