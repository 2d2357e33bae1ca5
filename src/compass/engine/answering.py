"""Search-based answers: recommend, reconfigure, and what-if where something must give way."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass import registry
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
from compass.domain.problem import Problem, Target
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role
from compass.engine import next_runs
from compass.engine.contexts import across, completed, left_open, with_familiar
from compass.engine.court import Court
from compass.engine.effects import with_effects
from compass.engine.judge import Judge
from compass.engine.legality import checked, lawful
from compass.engine.past import measured_at, record_of, verdict
from compass.engine.plan import Plan, assumed, followers, linked
from compass.engine.promise import with_promise
from compass.engine.proving import certified
from compass.engine.shortfall import (
    blocking_rules,
    broken_conditions,
    exhausted,
    notes,
    why_not,
)
from compass.engine.targets import resolve
from compass.engine.workbench import Workbench
from compass.generate.base import Arena, Generated
from compass.generate.predict import Averaged
from compass.generate.repair import forcing_rule
from compass.generate.score import score
from compass.language import format_query
from compass.prepare.encode import Encoder
from compass.settings import Settings

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
    bench: Workbench
    judge: Judge
    provenance: Provenance
    clock: Clock
    began: float = field(default_factory=time.monotonic)  # models are at hand: the search may begin
    wanted: int = 0  # runs to propose; 0: a few, where the evidence is thin

    @property
    def until(self) -> float:
        """time.monotonic() at which the search has to end."""
        return self.began + self.bench.settings.deadline

    @property
    def before(self) -> Config:
        """Predictions at the baseline; empty when there is none."""
        if self.plan.baseline is None:
            return {}
        row = self.plan.origin[None, :]
        return {
            name: self.judge.value(name, trained.model.predict(row)[0])
            for name, trained in self.judge.trained.items()
        }


def answer_by_search(desk: Desk) -> Answer:
    """Find configurations, judge them, and say what could not be satisfied."""
    plan, bench = desk.plan, desk.bench
    before = desk.before
    targets = resolve(
        plan.query.goals,
        before,
        plan.measured,
        {name: trained.scale for name, trained in desk.judge.trained.items()},
        bench.settings.same,
    )
    arena, found, widest = _generate(desk, targets)
    desk.clock.mark("search")
    found, certificate = certified(widest, found, *_time_to_prove(desk))
    if certificate is not None and found.meets.any():
        arena = widest
    desk.clock.mark("proof")
    if plan.query.kind is Kind.RECOMMEND:
        found = replace(found, X=completed(plan, desk.judge, arena, found.X))
    found, certificate, withheld = checked(arena, found, certificate)
    suggestions = _suggestions(desk, arena, found, targets, before)
    desk.clock.mark("trust")
    return _answer(desk, suggestions, targets, arena, found, certificate, withheld)


def _time_to_prove(desk: Desk) -> tuple[float, float]:
    """Seconds for the proof that are wanted, and those that there are.

    Who says how long a proof may take gets that time; else the deadline limits it.
    """
    asked = desk.plan.query.prove
    if asked is not None:
        return asked, asked
    wanted = desk.bench.settings.prove
    return wanted, min(wanted, desk.until - time.monotonic())


def problem_of(desk: Desk, targets: tuple[Target, ...], forced: tuple[str, ...]) -> Problem:
    """The question as a generator sees it, with these features allowed to give way."""
    plan, settings = desk.plan, desk.bench.settings
    encoder = Encoder(desk.judge.here.features)
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


def arena_of(desk: Desk, problem: Problem) -> Arena:
    """The problem in numbers, with the models at hand."""
    plan, bench, here = desk.plan, desk.bench, desk.judge.here
    names = plan.features
    encoder = Encoder(here.features)
    free = np.array([names.index(n) for n in problem.free], dtype=np.int64)
    give = np.array([names.index(n) for n in problem.forced], dtype=np.int64)
    contexts = np.array([encoder.encode(context) for context in problem.contexts])
    models = {name: trained.model for name, trained in desk.judge.trained.items()}
    predict = Averaged(models, contexts, np.concatenate([free, give]))
    arena = Arena(
        space=here.features,
        start=encoder.encode(problem.start),
        free=free,
        forced=give,
        rules=plan.feature_rules,
        # A what-if tells what happens; whether a condition on an outcome still holds is a note.
        outcome_rules=() if plan.query.kind is Kind.WHAT_IF else plan.outcome_rules,
        outcomes=plan.outcomes,
        targets=problem.targets,
        labels={t.name: _position(bench, t) for t in problem.targets if t.is_class},
        predict=predict,
        geometry=bench.geometry(names, problem.weights),
        observed=here.X[here.train],
        proximity=problem.proximity,
        count=problem.count,
        seed=problem.seed,
        settings=_settings(desk),
        until=desk.until,
    )
    return replace(arena, record=record_of(desk.judge, arena, contexts, predict.spread))


def _settings(desk: Desk) -> Settings:
    """The settings with what this question says about them."""
    settings, diversity = desk.bench.settings, desk.plan.query.diversity
    if diversity is None:
        return settings
    weights = settings.loss.model_copy(update={"diversity": diversity})
    return settings.model_copy(update={"loss": weights})


def _position(bench: Workbench, target: Target) -> int:
    parameter = bench.prepared.space[target.name]
    assert isinstance(parameter, Category)
    return parameter.values.index(target.label)


def _generate(desk: Desk, targets: tuple[Target, ...]) -> tuple[Arena, Generated, Arena]:
    """First with everything not named held; then letting give way what rules tie to the rest.

    The arena of the candidates, they themselves, and the widest arena that was searched.
    To reach a goal, labels of the context (machine, application) never give way; they do so only
    where the rules cannot be obeyed otherwise.
    """
    plan = desk.plan
    generator = registry.get("generator", desk.bench.settings.generator)
    moving = {*plan.free, *plan.query.change}
    follow = followers(plan, moving)
    at_once = follow if plan.query.kind is Kind.RECOMMEND else ()
    arena = arena_of(desk, problem_of(desk, targets, at_once))
    conflict: ConflictingRules | None = None
    found: Generated | None = None
    try:
        found = generator.generate(with_familiar(plan, desk.judge, arena))
    except ConflictingRules as error:
        conflict = error
    if found is not None and found.meets.any():
        return arena, found, arena
    forced = linked(plan, moving)
    if found is not None and len(found.X):
        forced = tuple(n for n in forced if n in follow or not _names_context(arena.space[n]))
    wider = arena
    if forced:
        wider = arena_of(desk, problem_of(desk, targets, forced))
        more = generator.generate(with_familiar(plan, desk.judge, wider))
        if found is None or more.meets.any() or _miss(wider, more) < _miss(arena, found):
            return wider, more, wider
        found = replace(found, exhaustive=found.exhaustive and more.exhaustive)
    if found is None:
        assert conflict is not None
        raise conflict
    return arena, found, wider


def _names_context(parameter: Number | Category) -> bool:
    """Whether a column says what runs where, rather than how much of something."""
    return isinstance(parameter, Category) and parameter.role is Role.CONTEXT


def _miss(arena: Arena, found: Generated) -> float:
    """How far the best candidate is from the goals; infinite when there is none."""
    return float(score(arena, found.X[:1]).valid[0]) if len(found.X) else np.inf


def _suggestions(
    desk: Desk, arena: Arena, found: Generated, targets: tuple[Target, ...], before: Config
) -> tuple[Suggestion, ...]:
    if not len(found.X):
        return ()
    assert isinstance(arena.predict, Averaged)
    scores, spreads = arena.predict(found.X), arena.predict.spread(found.X)
    # Beside a baseline `observed` is what was measured there.
    observed = [desk.plan.measured] * len(found.X)
    if desk.plan.baseline is None:
        observed = measured_at(desk.judge, arena, found.X)
    moved = None if desk.plan.baseline is None else (desk.plan.origin, found.X)
    predictions = across(
        desk.plan,
        desk.judge,
        arena,
        found.X,
        desk.judge.predict(scores, spreads, targets, before, observed, moved),
        targets,
    )
    least = desk.bench.settings.trust.chance
    trusts = [
        with_promise(trust, outcomes, least)
        for trust, outcomes in zip(
            with_effects(desk, found.X, desk.judge.trust(found.X), arena.movable),
            predictions,
            strict=True,
        )
    ]
    return tuple(
        _suggestion(desk, arena, x, outcomes, trust, float(near), bool(ok))
        for x, outcomes, trust, near, ok in zip(
            found.X, predictions, trusts, found.proximity, found.meets, strict=True
        )
    )


def _suggestion(
    desk: Desk,
    arena: Arena,
    x: Floats,
    outcomes: tuple[Prediction, ...],
    trust: Trust,
    near: float,
    meets_goals: bool,
) -> Suggestion:
    plan = desk.plan
    config = Encoder(arena.space).decode(x)
    edits = _edits(desk, arena, x, config)
    shown = {*plan.free, *plan.query.change, *(edit.name for edit in edits)}
    distance = near
    if plan.baseline is not None:
        from compass.generate.loss import proximity

        distance = float(proximity(x[None, :], plan.origin, arena.geometry)[0])
    return Suggestion(
        config=config,
        settings={name: config[name] for name in plan.features if name in shown},
        edits=edits,
        outcomes=outcomes,
        distance=distance,
        meets_goals=meets_goals,
        trust=trust,
    )


def _edits(desk: Desk, arena: Arena, x: Floats, config: Config) -> tuple[Moved, ...]:
    """What differs from the baseline, and which rule forced a move that nobody asked for."""
    plan = desk.plan
    if plan.baseline is None:
        moved = [j for j in arena.forced if x[j] != plan.start[j]]
        old = Encoder(arena.space).decode(plan.start)
    else:
        moved = [j for j in range(len(x)) if x[j] != plan.origin[j]]
        old = plan.baseline
    edits = []
    for j in moved:
        parameter = arena.space.parameters[j]
        forced = parameter.name not in plan.free and parameter.name not in plan.query.change
        edits.append(
            Moved(
                name=parameter.name,
                old=old[parameter.name],
                new=config[parameter.name],
                unit=parameter.unit if isinstance(parameter, Number) else None,
                forced_by=forcing_rule(arena, x, int(j)) if forced else None,
            )
        )
    return tuple(edits)


def _answer(
    desk: Desk,
    suggestions: tuple[Suggestion, ...],
    targets: tuple[Target, ...],
    arena: Arena,
    found: Generated,
    certificate: Certificate | None,
    withheld: tuple[str, ...],
) -> Answer:
    plan = desk.plan
    no_answer = why_not(suggestions, targets, found, certificate, lambda: blocking_rules(arena))
    proposals = lawful(arena.rules, next_runs.for_answer(desk, arena, suggestions, no_answer))
    desk.clock.mark("next runs")
    return Answer(
        query=plan.query,
        text=format_query(plan.query),
        suggestions=suggestions,
        baseline=plan.baseline,
        context=assumed(plan, arena.space, arena.movable),
        contexts=len(plan.contexts),
        comparable=Court.of(desk.judge, plan.outcomes).known,
        notes=(
            *plan.notes,
            *withheld,
            *_beside_past_runs(desk, arena, found),
            *notes(plan, suggestions),
            *left_open(plan, desk.judge, arena, found.X),
            *desk.judge.unbounded(changes=plan.baseline is not None),
            *_cut_short(desk, found),
            *broken_conditions(plan, arena, found),
        ),
        no_answer=no_answer,
        exhausted=exhausted(found, certificate),
        certificate=certificate,
        run_next=proposals,
        models=tuple(trained.card for trained in desk.judge.trained.values()),
        provenance=desk.provenance,
        seconds=dict(desk.clock.seconds),
    )


def _beside_past_runs(desk: Desk, arena: Arena, found: Generated) -> tuple[str, ...]:
    """The best measured run, and whether the first suggestion is expected to beat it."""
    best, told = desk.plan.best, verdict(desk.judge, arena, found)
    if not best or any(best in note for note in told):
        return told
    return (f"Best measured run of this context: {best}.", *told)


def _cut_short(desk: Desk, found: Generated) -> tuple[str, ...]:
    if not found.cut:
        return ()
    limit = f"{desk.bench.settings.deadline:g} s"
    return (f"The deadline of {limit} ended the search early; with more time it may do better.",)
