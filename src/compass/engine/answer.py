"""Search-based answers: recommend, reconfigure, and what-if where something must give way."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.acquire import propose as next_runs
from compass.domain.answer import (
    Answer,
    Certificate,
    Moved,
    Prediction,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.base import Config
from compass.domain.errors import ConflictingRules
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role
from compass.domain.target import Problem, Target
from compass.engine.legality import checked, lawful
from compass.engine.plan import Plan, assumed, followers, linked
from compass.engine.shortfall import (
    blocking_rules,
    broken_conditions,
    exhausted,
    notes,
    why_not,
)
from compass.evidence.assessor import Assessor
from compass.evidence.comparable import MatchedRuns
from compass.evidence.contexts import across, completed, left_open, with_familiar
from compass.evidence.effects import with_effects
from compass.evidence.goal_chance import goal_doubts
from compass.evidence.past_runs import beside_best, measured_at, past_runs_of
from compass.generate.base import Candidates
from compass.generate.predict import Averaged
from compass.generate.repair import forcing_rule
from compass.generate.score import score
from compass.generate.targets import resolve
from compass.generate.task import SearchTask
from compass.language import format_query
from compass.learn.store import ModelStore
from compass.prepare.encode import Encoder
from compass.prove.certify import certified
from compass.settings import Settings
from compass.trust.conclude import concluded

Floats = NDArray[np.float64]


@dataclass
class Clock:
    """The time of each stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def mark(self, stage: str) -> None:
        """Everything since the last mark belongs to this stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


@dataclass(frozen=True)
class Desk:
    """A plan with its models at hand."""

    plan: Plan
    store: ModelStore
    assessor: Assessor
    provenance: Provenance
    clock: Clock
    began: float = field(default_factory=time.monotonic)  # models are at hand: the search may begin
    wanted: int = 0  # runs to propose; 0: a few, where the evidence is thin

    @property
    def until(self) -> float:
        """time.monotonic() at which the search has to end."""
        return self.began + self.store.settings.deadline

    @property
    def before(self) -> Config:
        """Predictions at the baseline; empty when there is none."""
        if self.plan.baseline is None:
            return {}
        row = self.plan.origin[None, :]
        return {
            name: self.assessor.value(name, trained.model.predict(row)[0])
            for name, trained in self.assessor.trained.items()
        }


def answer_by_search(desk: Desk) -> Answer:
    """Find configurations, judge them, and say what could not be satisfied."""
    plan, store = desk.plan, desk.store
    before = desk.before
    targets = resolve(
        plan.query.goals,
        before,
        plan.measured,
        {name: trained.scale for name, trained in desk.assessor.trained.items()},
        store.settings.same,
    )
    task, found, widest = _generate(desk, targets)
    desk.clock.mark("search")
    found, certificate = certified(widest, found, *_time_to_prove(desk))
    if certificate is not None and found.meets.any():
        task = widest
    desk.clock.mark("proof")
    if plan.query.kind is Kind.RECOMMEND:
        found = replace(found, X=completed(plan, desk.assessor, task, found.X))
    found, certificate, withheld = checked(task, found, certificate)
    suggestions = _suggestions(desk, task, found, targets, before)
    desk.clock.mark("trust")
    return _answer(desk, suggestions, targets, task, found, certificate, withheld)


def _time_to_prove(desk: Desk) -> tuple[float, float]:
    """Seconds for the proof that are wanted, and those that there are.

    Who says how long a proof may take gets that time; else the deadline limits it.
    """
    asked = desk.plan.query.prove
    if asked is not None:
        return asked, asked
    wanted = desk.store.settings.prove
    return wanted, min(wanted, desk.until - time.monotonic())


def problem_of(desk: Desk, targets: tuple[Target, ...], forced: tuple[str, ...]) -> Problem:
    """The question as a generator sees it, with these features allowed to give way."""
    plan, settings = desk.plan, desk.store.settings
    encoder = Encoder(desk.assessor.view.features)
    # A plain what-if has one answer: the change with the least that rules make move with it.
    usual = settings.count if plan.free or plan.query.kind is not Kind.WHAT_IF else 1
    return Problem(
        start=encoder.decode(plan.start),
        contexts=tuple(encoder.decode(row) for row in plan.contexts),
        free=plan.free,
        forced=forced,
        targets=targets,
        rules=plan.rules,
        weights=plan.query.weights,
        proximity=plan.query.kind is not Kind.RECOMMEND,
        count=plan.query.count or usual,
        seed=plan.query.seed if plan.query.seed is not None else settings.seed,
    )


def task_of(desk: Desk, problem: Problem) -> SearchTask:
    """The problem in numbers, with the models at hand."""
    plan, store, view = desk.plan, desk.store, desk.assessor.view
    names = plan.features
    encoder = Encoder(view.features)
    free = np.array([names.index(n) for n in problem.free], dtype=np.int64)
    give = np.array([names.index(n) for n in problem.forced], dtype=np.int64)
    contexts = np.array([encoder.encode(context) for context in problem.contexts])
    models = {name: trained.model for name, trained in desk.assessor.trained.items()}
    predict = Averaged(models, contexts, np.concatenate([free, give]))
    task = SearchTask(
        space=view.features,
        start=encoder.encode(problem.start),
        free=free,
        forced=give,
        rules=plan.feature_rules,
        # A what-if tells what happens; whether a condition on an outcome still holds is a note.
        outcome_rules=() if plan.query.kind is Kind.WHAT_IF else plan.outcome_rules,
        outcomes=plan.outcomes,
        targets=problem.targets,
        labels={t.name: _position(store, t) for t in problem.targets if t.is_class},
        predict=predict,
        geometry=store.geometry(names, problem.weights),
        observed=view.X[view.train],
        proximity=problem.proximity,
        count=problem.count,
        seed=problem.seed,
        settings=_settings(desk),
        until=desk.until,
    )
    return replace(task, past_runs=past_runs_of(desk.assessor, task, contexts, predict.spread))


def _settings(desk: Desk) -> Settings:
    """The settings with what this question says about them."""
    settings, diversity = desk.store.settings, desk.plan.query.diversity
    if diversity is None:
        return settings
    weights = settings.loss.model_copy(update={"diversity": diversity})
    return settings.model_copy(update={"loss": weights})


def _position(store: ModelStore, target: Target) -> int:
    parameter = store.prepared.space[target.name]
    assert isinstance(parameter, Category)
    return parameter.values.index(target.label)


def _generate(desk: Desk, targets: tuple[Target, ...]) -> tuple[SearchTask, Candidates, SearchTask]:
    """First with everything not named held; then letting give way what rules tie to the rest.

    The task of the candidates, they themselves, and the widest task that was searched.
    To reach a goal, labels of the context (machine, application) never give way; they do so only
    where the rules cannot be obeyed otherwise.
    """
    plan = desk.plan
    generator = registry.get("generator", desk.store.settings.generator)
    moving = {*plan.free, *plan.query.change}
    follow = followers(plan, moving)
    at_once = follow if plan.query.kind is Kind.RECOMMEND else ()
    task = task_of(desk, problem_of(desk, targets, at_once))
    conflict: ConflictingRules | None = None
    found: Candidates | None = None
    try:
        found = generator.generate(with_familiar(plan, desk.assessor, task))
    except ConflictingRules as error:
        conflict = error
    if found is not None and found.meets.any():
        return task, found, task
    forced = linked(plan, moving)
    if found is not None and len(found.X):
        forced = tuple(n for n in forced if n in follow or not _names_context(task.space[n]))
    wider = task
    if forced:
        wider = task_of(desk, problem_of(desk, targets, forced))
        more = generator.generate(with_familiar(plan, desk.assessor, wider))
        if found is None or more.meets.any() or _miss(wider, more) < _miss(task, found):
            return wider, more, wider
        found = replace(found, exhaustive=found.exhaustive and more.exhaustive)
    if found is None:
        assert conflict is not None
        raise conflict
    return task, found, wider


def _names_context(parameter: Number | Category) -> bool:
    """Whether a column says what runs where, rather than how much of something."""
    return isinstance(parameter, Category) and parameter.role is Role.CONTEXT


def _miss(task: SearchTask, found: Candidates) -> float:
    """How far the best candidate is from the goals; infinite when there is none."""
    return float(score(task, found.X[:1]).valid[0]) if len(found.X) else np.inf


def _suggestions(
    desk: Desk, task: SearchTask, found: Candidates, targets: tuple[Target, ...], before: Config
) -> tuple[Suggestion, ...]:
    if not len(found.X):
        return ()
    assert isinstance(task.predict, Averaged)
    scores, spreads = task.predict(found.X), task.predict.spread(found.X)
    # Beside a baseline `observed` is what was measured there.
    observed = [desk.plan.measured] * len(found.X)
    if desk.plan.baseline is None:
        observed = measured_at(desk.assessor, task, found.X)
    moved = None if desk.plan.baseline is None else (desk.plan.origin, found.X)
    predictions = across(
        desk.plan,
        desk.assessor,
        task,
        found.X,
        desk.assessor.predict(scores, spreads, targets, before, observed, moved),
        targets,
    )
    least = desk.store.settings.trust.chance
    comparable = MatchedRuns.of(desk.assessor, desk.plan.outcomes).known
    trusts = [
        concluded(trust, goal_doubts(outcomes, least), comparable)
        for trust, outcomes in zip(
            with_effects(desk, found.X, desk.assessor.trust(found.X), task.movable),
            predictions,
            strict=True,
        )
    ]
    return tuple(
        _suggestion(desk, task, x, outcomes, trust, float(near), bool(ok))
        for x, outcomes, trust, near, ok in zip(
            found.X, predictions, trusts, found.proximity, found.meets, strict=True
        )
    )


def _suggestion(
    desk: Desk,
    task: SearchTask,
    x: Floats,
    outcomes: tuple[Prediction, ...],
    trust: Trust,
    near: float,
    meets_goals: bool,
) -> Suggestion:
    plan = desk.plan
    config = Encoder(task.space).decode(x)
    edits = _edits(desk, task, x, config)
    shown = {*plan.free, *plan.query.change, *(edit.name for edit in edits)}
    distance = near
    if plan.baseline is not None:
        from compass.generate.loss import proximity

        distance = float(proximity(x[None, :], plan.origin, task.geometry)[0])
    return Suggestion(
        config=config,
        settings={name: config[name] for name in plan.features if name in shown},
        edits=edits,
        outcomes=outcomes,
        distance=distance,
        meets_goals=meets_goals,
        trust=trust,
    )


def _edits(desk: Desk, task: SearchTask, x: Floats, config: Config) -> tuple[Moved, ...]:
    """What differs from the baseline, and which rule forced a move that nobody asked for."""
    plan = desk.plan
    if plan.baseline is None:
        moved = [j for j in task.forced if x[j] != plan.start[j]]
        old = Encoder(task.space).decode(plan.start)
    else:
        moved = [j for j in range(len(x)) if x[j] != plan.origin[j]]
        old = plan.baseline
    edits = []
    for j in moved:
        parameter = task.space.parameters[j]
        forced = parameter.name not in plan.free and parameter.name not in plan.query.change
        edits.append(
            Moved(
                name=parameter.name,
                old=old[parameter.name],
                new=config[parameter.name],
                unit=parameter.unit if isinstance(parameter, Number) else None,
                forced_by=forcing_rule(task, x, int(j)) if forced else None,
            )
        )
    return tuple(edits)


def _answer(
    desk: Desk,
    suggestions: tuple[Suggestion, ...],
    targets: tuple[Target, ...],
    task: SearchTask,
    found: Candidates,
    certificate: Certificate | None,
    withheld: tuple[str, ...],
) -> Answer:
    plan = desk.plan
    no_answer = why_not(suggestions, targets, found, certificate, lambda: blocking_rules(task))
    proposals = lawful(task.rules, next_runs.for_answer(desk, task, suggestions, no_answer))
    desk.clock.mark("next runs")
    return Answer(
        query=plan.query,
        text=format_query(plan.query),
        suggestions=suggestions,
        baseline=plan.baseline,
        context=assumed(plan, task.space, task.movable),
        contexts=len(plan.contexts),
        comparable=MatchedRuns.of(desk.assessor, plan.outcomes).known,
        notes=(
            *plan.notes,
            *withheld,
            *beside_best(desk.assessor, task, found, plan.best),
            *notes(plan, suggestions),
            *left_open(plan, desk.assessor, task, found.X),
            *desk.assessor.unbounded(changes=plan.baseline is not None),
            *_cut_short(desk, found),
            *broken_conditions(plan, task, found),
        ),
        no_answer=no_answer,
        exhausted=exhausted(found, certificate),
        certificate=certificate,
        run_next=proposals,
        models=tuple(trained.card for trained in desk.assessor.trained.values()),
        provenance=desk.provenance,
        seconds=dict(desk.clock.seconds),
    )


def _cut_short(desk: Desk, found: Candidates) -> tuple[str, ...]:
    if not found.cut:
        return ()
    limit = f"{desk.store.settings.deadline:g} s"
    return (f"The deadline of {limit} ended the search early; with more time it may do better.",)
