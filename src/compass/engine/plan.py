"""Binds a question to the table as a search task: the only place where the three kinds differ.

Decisions 0031 and 0006 (docs/decisions).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compass.domain.base import Config
from compass.domain.constraint import Constraint
from compass.domain.errors import BaselineProblem, QueryProblem
from compass.domain.expression import Comparison
from compass.domain.goal import Observe, Same
from compass.domain.query import Kind, Query, Row
from compass.domain.space import Category, Role
from compass.domain.target import Target
from compass.engine.bounds import context_bounds
from compass.engine.dependencies import unstated
from compass.engine.scope import Scope, scope_of
from compass.engine.starts import contexts_of, matching_rows, pinned_by
from compass.evidence import baseline as base
from compass.evidence.assessor import Assessor
from compass.evidence.chances import GoalChances
from compass.evidence.contexts import completed, near_past_runs
from compass.evidence.matching import best_run
from compass.evidence.past_runs import past_runs_of
from compass.evidence.runnable import usual_in
from compass.generate.base import Bools
from compass.generate.objectives import weighted
from compass.generate.predict import Averaged
from compass.generate.remembered import remembered
from compass.generate.targets import resolve
from compass.generate.task import Assumptions, SearchTask, StartingPoint
from compass.learn.features import FeatureView, Floats, Rows
from compass.learn.store import ModelStore
from compass.prepare.encode import Encoder
from compass.rules import components
from compass.settings import Settings

Assess = Callable[[Scope], Assessor]


@dataclass(frozen=True)
class _Start:
    """Where a kind of question starts, what it may move, and how its answers are preferred."""

    start: Floats  # [d]
    contexts: Floats  # [c, d]
    free: tuple[str, ...]
    proximity: bool  # whether closeness to the start is wanted
    origin: Floats | None = None  # [d] the baseline; None: there is none
    measured: Config = field(default_factory=dict)  # outcomes of the baseline, where known
    follow: bool = False  # what equalities tie to the free parameters moves from the beginning
    forward: bool = False  # what happens is reported, conditions are not enforced
    count: int | None = None  # suggestions, where nobody says how many; None: as in the settings
    assumed: Assumptions = field(default_factory=Assumptions)


def is_population(query: Query) -> bool:
    """Whether a question is about all past runs that match: a what-if without a baseline.

    One that asks what else has to change starts from one run, also where nobody names it.
    """
    if query.kind is not Kind.WHAT_IF or query.baseline is not None:
        return False
    return not query.ask and all(isinstance(goal, Observe) for goal in query.goals.values())


def plan(
    query: Query, store: ModelStore, standing: tuple[Constraint, ...], assess: Assess
) -> tuple[SearchTask, Assessor]:
    """The task of a bound query, and what assesses its candidates.

    What is wrong with the question is raised before `assess` trains any model.
    """
    scope = scope_of(query, store, standing)
    view = scope.view
    start = _KINDS[query.kind](query, scope, store)
    assessor = assess(scope)
    baseline = None if start.origin is None else _starting_point(start, view, assessor)
    targets = resolve(
        query.goals,
        {} if baseline is None else baseline.predicted,
        start.measured,
        {name: trained.scale for name, trained in assessor.trained.items()},
        store.settings.same,
    )
    if start.forward:  # what happens is reported: nothing has to be likely
        targets = tuple(t.model_copy(update={"by_chance": False}) for t in targets)
    targets = weighted(targets, query.weights)
    names = view.names
    seed = query.seed if query.seed is not None else store.settings.seed
    knobs = tuple(n for n in view.features.having(Role.KNOB) if n not in query.change)
    moving = tuple(dict.fromkeys((*start.free, *knobs, *(query.change if start.forward else ()))))
    bounds = context_bounds(query, view, start.contexts, start.origin, moving)
    task = SearchTask(
        space=view.features,
        start=start.start,
        free=_columns(names, start.free),
        forced=_columns(names, ()),
        # What a what-if changes is the person's own word.
        rules=scope.rules if query.beyond or start.forward else (*scope.rules, *bounds),
        outcome_rules=() if start.forward else scope.conditions,
        outcomes=scope.outcomes,
        targets=targets,
        labels={t.name: _position(store, t) for t in targets if t.is_class},
        predict=Averaged({}, start.contexts, _columns(names, ())),
        geometry=view.geometry(query.weights),
        observed=view.X[view.train],
        proximity=start.proximity,
        count=query.count or start.count or store.settings.count,
        seed=seed,
        settings=_settings(query, store.settings),
        until=time.monotonic() + store.settings.deadline,
        measured=lambda: {n: assessor.learnt(n).scores[view.train] for n in assessor.trained},
        query=query,
        contexts=start.contexts,
        baseline=baseline,
        conditions=scope.conditions,
        forward=start.forward,
        assumed=replace(start.assumed, kept=scope.kept, dropped=scope.dropped, bounds=bounds),
    )
    return allowing(task, followers(task) if start.follow else (), assessor), assessor


def _with_chances(task: SearchTask, assessor: Assessor) -> SearchTask:
    """The task with the chances of its goals."""
    if all(target.direction is not None for target in task.targets):
        return task
    wanted = task.settings.chance if task.query.chance is None else task.query.chance
    return replace(task, chances=GoalChances.of(task, assessor, wanted))


def allowing(task: SearchTask, forced: tuple[str, ...], assessor: Assessor) -> SearchTask:
    """The task with these features, which nobody asked for, allowed to give way."""
    columns = _columns(task.space.names, forced)
    models = {name: trained.model for name, trained in assessor.trained.items()}
    predict = Averaged(models, task.contexts, np.concatenate([task.free, columns]))
    wider = replace(task, forced=columns, predict=predict, past_runs=None)
    wider = _with_chances(wider, assessor)
    past_runs = past_runs_of(wider, assessor, task.contexts, predict.spread)
    limits = task.settings.trust
    usual = usual_in(wider, assessor, unstated(wider, assessor.view))
    return replace(
        wider,
        usual=None if usual is None else remembered(usual),
        past_runs=past_runs,
        familiar=remembered(near_past_runs(wider, assessor, limits.caution)),
        supported=remembered(near_past_runs(wider, assessor, limits.unsupported)),
        trusted=remembered(_without_doubt(wider, assessor)),
    )


def _without_doubt(task: SearchTask, assessor: Assessor) -> Callable[[Floats], Bools]:
    """A way to tell of which candidates nothing is in doubt but what their changes do."""

    usual = unstated(task, assessor.view)

    def fine(X: Floats) -> Bools:
        full = X if task.baseline is not None else completed(task, assessor, X)
        keep = np.ones(len(X), dtype=np.bool_)
        for rule in usual:
            keep &= rule.holds(full)
        keep[keep] = assessor.without_doubt(full[keep])
        return keep

    return fine


def _starting_point(start: _Start, view: FeatureView, assessor: Assessor) -> StartingPoint:
    assert start.origin is not None
    config = Encoder(view.features).decode(start.origin) | start.measured
    return StartingPoint(start.origin, config, start.measured, assessor.predicted(start.origin))


def _columns(names: tuple[str, ...], some: tuple[str, ...]) -> Rows:
    return np.array([names.index(name) for name in some], dtype=np.int64)


def _position(store: ModelStore, target: Target) -> int:
    parameter = store.prepared.space[target.name]
    assert isinstance(parameter, Category)
    return parameter.values.index(target.label)


def _settings(query: Query, settings: Settings) -> Settings:
    """The settings with what this question says about them."""
    chosen: dict[str, Any] = {}
    if query.generator is not None:
        chosen["generator"] = query.generator
    terms = query.loss if query.diversity is None else {**query.loss, "diversity": query.diversity}
    if terms:
        chosen["loss"] = settings.loss.model_copy(update=terms)
    return settings.model_copy(update=chosen) if chosen else settings


def _recommend(query: Query, scope: Scope, store: ModelStore) -> _Start:
    """Start from past runs that meet the conditions, and average over their contexts."""
    view, prepared = scope.view, store.prepared
    names = view.names
    given, notes = base.edited(query, view.features, origin=None)
    pinned = given | pinned_by(query, view.features)
    free = tuple(query.ask) or tuple(n for n in view.features.having(Role.KNOB) if n not in pinned)
    if not free:
        raise QueryProblem(
            "there is nothing to recommend: no parameter is asked for",
            hint="write e.g. X = {threads: ?}",
        )
    rows, unmet = matching_rows(scope, given)
    rng = np.random.default_rng(query.seed if query.seed is not None else store.settings.seed)
    best = best_run(rows, query.goals, prepared, rng)
    start = view.X[best].copy()
    for name, value in pinned.items():
        start[names.index(name)] = value
    # What rules tie to the asked parameters stays as in the starting run: another run's values
    # beside the recommended ones would be a configuration that nobody can use.
    tied = {n for group in components(scope.rules, names) if {*free} & {*group} for n in group}
    varying = [j for j, n in enumerate(names) if n not in tied and n not in free]
    fixed = {names.index(name): value for name, value in pinned.items()}
    contexts = contexts_of(view, rows, start, varying, fixed, store.settings.search.contexts, rng)
    return _Start(
        start=start,
        contexts=contexts,
        free=free,
        proximity=False,
        follow=True,
        assumed=Assumptions(
            matching=0 if unmet else len(rows),
            rows=rows[:0] if unmet else rows,
            given=tuple(pinned),
            sampled=prepared.sample is not None,
            notes=(*notes, *unmet),
        ),
    )


def _reconfigure(query: Query, scope: Scope, store: ModelStore) -> _Start:
    """Start at the baseline; without a word on what may move, all knobs that are not set may."""
    return _from_baseline(query, scope, store, everything=not query.change)


def _what_if(query: Query, scope: Scope, store: ModelStore) -> _Start:
    """Start at the baseline with the change made; only what has to compensate moves."""
    found = _from_baseline(query, scope, store, everything=False)
    # A plain what-if has one answer: the change with the least that rules make move with it.
    return replace(found, forward=True, count=None if found.free else 1)


_KINDS = {
    Kind.RECOMMEND: _recommend,
    Kind.RECONFIGURE: _reconfigure,
    Kind.WHAT_IF: _what_if,
}


def _from_baseline(query: Query, scope: Scope, store: ModelStore, *, everything: bool) -> _Start:
    """The baseline with the stated changes made; `everything`: all other knobs may move."""
    if query.baseline is None:
        raise BaselineProblem(
            f"{query.kind.value} needs a configuration to start from",
            hint="add `from row N` or `from {name: value, ...}` to the question (--from row:N)",
        )
    view = scope.view
    origin, measured = base.encode(query.baseline, store, view)
    base.check_stated(query, view.features, origin, measured)
    changed, notes = base.edited(query, view.features, origin)
    start = origin.copy()
    for name, value in changed.items():
        start[view.names.index(name)] = value
    free = tuple(query.ask)
    compensate = any(isinstance(goal, Same) for goal in query.goals.values())
    if not free and (compensate or everything):
        free = tuple(n for n in view.features.having(Role.KNOB) if n not in changed)
    base.check_rules(scope.rules, view.features, origin, {*free, *changed})
    where = "the one given"
    if isinstance(query.baseline, Row):
        where = store.everything.table.row_label(query.baseline.row)
    return _Start(
        start=start,
        contexts=start[None, :],
        free=free,
        proximity=True,
        origin=origin,
        measured=measured,
        assumed=Assumptions(where=where, notes=notes),
    )


def linked(task: SearchTask) -> tuple[str, ...]:
    """The held features that rules tie to what moves, or that a broken rule speaks of."""
    touched = _moving(task)
    for rule in task.rules:
        if rule.violation(task.start[None, :])[0] > 0:
            touched |= set(rule.names)
    groups = components(task.rules, task.space.names)
    tied = {name for group in groups if touched & set(group) for name in group}
    return tuple(name for name in _held(task) if name in tied)


def given_in_full(query: Query) -> bool:
    """Whether a reconfigure gives all of X a value: what else moves is for the answer to say."""
    return query.kind is Kind.RECONFIGURE and bool(query.change) and not query.ask


def opening(task: SearchTask, assessor: Assessor) -> SearchTask | None:
    """The task with all knobs free that X, given in full, does not name; None: X is not.

    The change alone does not reach the goal: then something else has to move as well.
    """
    if not given_in_full(task.query):
        return None
    knobs = tuple(n for n in task.space.having(Role.KNOB) if n not in task.query.change)
    opened = replace(task, free=_columns(task.space.names, knobs))
    return allowing(opened, linked(opened), assessor) if knobs else None


def followers(task: SearchTask) -> tuple[str, ...]:
    """What equalities leave no choice about once the moving parameters have their values.

    `nodes_alloc == nodes`, where only nodes are asked for: held where it is, nodes_alloc would
    decide what can be answered.
    """
    equalities = [
        set(rule.names)
        for rule in task.rules
        if isinstance(rule.expression, Comparison) and rule.expression.op == "=="
    ]
    moving, held = _moving(task), set(_held(task))
    found: set[str] = set()
    for _ in equalities:
        for names in equalities:
            left = names & held - found
            if len(left) == 1 and names & (moving | found):
                found |= left
    return tuple(name for name in _held(task) if name in found)


def _moving(task: SearchTask) -> set[str]:
    """What the question itself moves."""
    return {*task.free_names, *task.query.change}


def _held(task: SearchTask) -> tuple[str, ...]:
    """The features that may move only where a rule leaves no other way."""
    moving = _moving(task)
    return tuple(name for name in task.space.names if name not in moving)
