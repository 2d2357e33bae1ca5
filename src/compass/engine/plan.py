"""A question and a table into a problem: the only place where the three kinds differ."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Config, Value
from compass.domain.constraint import Constraint
from compass.domain.errors import BaselineProblem, QueryProblem
from compass.domain.expression import Comparison, Expression, Literal, Name, names_in
from compass.domain.goal import Extreme, IsClass, Same, Within
from compass.domain.query import Kind, Query, Row
from compass.domain.space import Category, Number, Role, Space
from compass.engine import baseline as base
from compass.evidence.measured_runs import MeasuredRuns
from compass.language import format_value, parse_rule
from compass.learn.store import FeatureView, ModelStore
from compass.prepare.encode import Encoder
from compass.prepare.weigh import order
from compass.rules import Rule, compile_rule, components

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """What to predict, from where, what may move and what must hold."""

    query: Query
    features: tuple[str, ...]
    outcomes: tuple[str, ...]  # everything that has to be predicted
    rules: tuple[Constraint, ...]
    feature_rules: tuple[Rule, ...]  # over the features
    outcome_rules: tuple[Rule, ...]  # over features and outcomes
    start: Floats  # [d]
    origin: Floats  # [d] what changes are told against: the baseline, else the start
    contexts: Floats  # [c, d]
    free: tuple[str, ...]
    forced: tuple[str, ...]  # may move where a rule leaves no other way
    measured: Config = field(default_factory=dict)  # outcomes of the baseline, where known
    baseline: Config | None = None
    matching: int = 0
    context: str = ""
    notes: tuple[str, ...] = ()
    best: MeasuredRuns | None = None  # the best one of the context; None: none is comparable
    sampled: bool = False  # whether the past runs are a sample of more


def plan(query: Query, store: ModelStore, standing: tuple[Constraint, ...]) -> Plan:
    """The plan for a bound query; `standing` are the rules of the study."""
    shell = shell_of(query, store, standing)
    make = _recommend if query.kind is Kind.RECOMMEND else _from_baseline
    return make(shell, store, store.view_of(shell.features))


def shell_of(query: Query, store: ModelStore, standing: tuple[Constraint, ...]) -> Plan:
    """What all kinds share: the features, the outcomes to predict, and the rules on them."""
    space = store.prepared.space
    features = features_of(query, space)
    rules = (*standing, *query.where)
    outcomes = outcomes_of(query, rules, features)
    trees = {rule.text: parse_rule(rule.text) for rule in rules}
    plain = [text for text, tree in trees.items() if set(names_in(tree)) <= set(features)]
    columns = (*features, *outcomes)
    alone, extended = space.select(features), space.select(columns)
    return Plan(
        query=query,
        features=features,
        outcomes=outcomes,
        rules=rules,
        feature_rules=tuple(compile_rule(trees[t], alone, features, t) for t in plain),
        outcome_rules=tuple(
            compile_rule(tree, extended, columns, t) for t, tree in trees.items() if t not in plain
        ),
        start=np.empty(0),
        origin=np.empty(0),
        contexts=np.empty((0, 0)),
        free=(),
        forced=(),
        sampled=store.prepared.sample is not None,
    )


def features_of(query: Query, space: Space) -> tuple[str, ...]:
    """The columns that predictions are made from: roles are defaults that a query overrides."""
    named = {*query.ask, *query.change}
    features = tuple(
        p.name
        for p in space
        if p.name not in query.goals and (p.role in (Role.KNOB, Role.CONTEXT) or p.name in named)
    )
    if not features:
        raise QueryProblem(
            "no column is left to predict from",
            hint="give at least one column the role knob or context",
        )
    return features


def outcomes_of(
    query: Query, rules: tuple[Constraint, ...], features: tuple[str, ...]
) -> tuple[str, ...]:
    """The outcomes of the question and those that its rules speak of."""
    found = dict.fromkeys(query.goals)
    for rule in rules:
        found.update(dict.fromkeys(n for n in names_in(parse_rule(rule.text)) if n not in features))
    return tuple(found)


def _recommend(shell: Plan, store: ModelStore, view: FeatureView) -> Plan:
    """Start from past runs that meet the conditions, and average over their contexts."""
    query, features = shell.query, shell.features
    given, notes = base.edited(query, view.features, origin=None)
    pinned = given | _pinned(query.where, view.features, query.ask)
    free = tuple(query.ask) or tuple(n for n in view.features.having(Role.KNOB) if n not in pinned)
    if not free:
        raise QueryProblem(
            "there is nothing to recommend: no parameter is asked for",
            hint="write e.g. X = {threads: ?}",
        )
    rows, note = _matching_rows(shell, store, view, given)
    notes = (*notes, *note)
    rng = np.random.default_rng(query.seed if query.seed is not None else store.settings.seed)
    best = best_run(rows, query, store, rng)
    start = view.X[best].copy()
    for name, value in pinned.items():
        start[features.index(name)] = value
    # What rules tie to the asked parameters stays as in the starting run: another run's values
    # beside the recommended ones would be a configuration that nobody can use.
    tied = {
        n
        for group in components(shell.feature_rules, features)
        if {*free} & {*group}
        for n in group
    }
    varying = [j for j, n in enumerate(features) if n not in tied and n not in free]
    contexts = _contexts(view.X, rows, start, varying, pinned, features, store, rng)
    forced = tuple(name for name in features if name not in free and name not in given)
    problem = [features.index(name) for name in view.features.having(Role.CONTEXT)]
    comparable = not note and (contexts[:, problem] == start[problem]).all()
    return replace(
        shell,
        start=start,
        origin=start,
        contexts=contexts,
        free=free,
        forced=forced,
        matching=0 if note else len(rows),
        notes=notes,
        best=_measured_best(best, query, store) if comparable else None,
    )


def best_run(
    rows: NDArray[np.int64], query: Query, store: ModelStore, rng: np.random.Generator
) -> int:
    """Of these past runs the one whose measured outcomes come closest to the goals.

    Of equally good ones the seed decides; a run without a measurement comes last.
    """
    badness = np.zeros(len(rows))
    for name, goal in query.goals.items():
        parameter, y = store.prepared.space[name], store.prepared.column(name)[rows]
        if isinstance(parameter, Number) and parameter.optional:
            y = np.where(y == parameter.none_code, np.nan, y)
        scale = float(np.nanstd(y)) if np.isfinite(y).any() else 0.0
        match goal:
            case Extreme(direction=direction):
                miss = (y if direction == "minimize" else -y) / (scale or 1.0)
            case Within(low=low, high=high):
                below = np.maximum(0.0 if low is None else low - y, 0.0)
                above = np.maximum(0.0 if high is None else y - high, 0.0)
                miss = (below + above) / (scale or 1.0)
            case IsClass(value=value) if isinstance(parameter, Category):
                miss = (y != parameter.values.index(value)).astype(np.float64)
            case _:
                continue
        badness += np.where(np.isfinite(y), miss, np.inf)
    return int(rows[np.lexsort((rng.random(len(rows)), badness))[0]])


def _measured_best(position: int, query: Query, store: ModelStore) -> MeasuredRuns:
    """The best run of the same context, as it was measured: what a suggestion has to beat."""
    space = store.prepared.space.select(query.goals)
    measured = Encoder(space).decode(store.prepared.columns_of(tuple(query.goals))[position])
    row = int(store.prepared.row_id[position])
    return MeasuredRuns.of(store.prepared, [row], measured)


def _from_baseline(shell: Plan, store: ModelStore, view: FeatureView) -> Plan:
    """Reconfigure and what-if start at the baseline, with the stated changes applied."""
    query, features = shell.query, shell.features
    if query.baseline is None:
        raise BaselineProblem(
            f"{query.kind.value} needs a configuration to start from",
            hint="add `from row N` or `from {name: value, ...}` to the question (--from row:N)",
        )
    origin, measured = base.encode(query.baseline, store, view)
    base.check_stated(query, view.features, origin, measured)
    changed, notes = base.edited(query, view.features, origin)
    start = origin.copy()
    for name, value in changed.items():
        start[features.index(name)] = value
    free = tuple(query.ask)
    compensate = any(isinstance(goal, Same) for goal in query.goals.values())
    if not free and (compensate or (query.kind is Kind.RECONFIGURE and not changed)):
        free = tuple(n for n in view.features.having(Role.KNOB) if n not in changed)
    base.check_rules(shell.feature_rules, view.features, origin, {*free, *changed})
    forced = tuple(n for n in features if n not in free and n not in changed)
    decoded = Encoder(view.features).decode(origin)
    where = "the one given"
    if isinstance(query.baseline, Row):
        where = store.everything.table.told(query.baseline.row)
    return replace(
        shell,
        start=start,
        origin=origin,
        contexts=start[None, :],
        free=free,
        forced=forced,
        measured=measured,
        baseline=decoded | measured,
        context=f"Baseline: {where}; everything not named stays as it is.",
        notes=notes,
    )


def linked(shell: Plan, moving: set[str]) -> tuple[str, ...]:
    """The forced features that rules tie to what moves, or that a broken rule speaks of."""
    at_start = shell.start[None, :]
    touched = set(moving)
    for rule in shell.feature_rules:
        if rule.violation(at_start)[0] > 0:
            touched |= set(rule.names)
    groups = components(shell.feature_rules, shell.features)
    tied = {name for group in groups if touched & set(group) for name in group}
    return tuple(name for name in shell.forced if name in tied)


def followers(shell: Plan, moving: set[str]) -> tuple[str, ...]:
    """What equalities leave no choice about once the moving parameters have their values.

    `nodes_alloc == nodes`, where only nodes are asked for: held where it is, nodes_alloc would
    decide what can be answered.
    """
    equalities = [
        set(rule.names)
        for rule in shell.feature_rules
        if isinstance(rule.expression, Comparison) and rule.expression.op == "=="
    ]
    found: set[str] = set()
    for _ in equalities:
        for names in equalities:
            left = names & set(shell.forced) - found
            if len(left) == 1 and names & (moving | found):
                found |= left
    return tuple(name for name in shell.forced if name in found)


def _pinned(where: tuple[Constraint, ...], space: Space, ask: tuple[str, ...]) -> dict[str, float]:
    """Features that the conditions set to one value (`partition == 1`)."""
    found: dict[str, float] = {}
    for rule in where:
        pair = _equality(parse_rule(rule.text))
        if pair is not None and pair[0] in space and pair[0] not in ask:
            vector = Encoder(space.select([pair[0]])).encode({pair[0]: pair[1]})
            found[pair[0]] = float(vector[0])
    return found


def _equality(node: Expression) -> tuple[str, Value] | None:
    match node:
        case Comparison("==", Name(name), Literal(value)):
            return name, value
        case Comparison("==", Literal(value), Name(name)):
            return name, value
        case _:
            return None


def _matching_rows(
    shell: Plan, store: ModelStore, view: FeatureView, given: dict[str, float]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Past runs that meet all conditions, else those that meet most of them (and a note)."""
    complete = np.isfinite(view.X).all(axis=1)
    checks, names = past_checks(shell, store, view)
    for name, value in given.items():
        checks.append(view.X[:, shell.features.index(name)] == value)
        names.append(f"{name} = {_told(view.features, name, value)}")
    if not checks:
        return np.flatnonzero(complete), ()
    met = np.column_stack(checks)
    everything = complete & met.all(axis=1)
    if everything.any():
        return np.flatnonzero(everything), ()
    count = np.where(complete, met.sum(axis=1), -1)
    best = np.flatnonzero(count == count.max())
    unmet = np.flatnonzero(~met[best].all(axis=0))
    common = [names[i] for i in unmet]
    note = (
        "No past run meets all conditions; the search starts from runs that meet most of them"
        f" (not met by all of those: {'; '.join(dict.fromkeys(common))})."
    )
    return best, (note,)


def past_checks(
    shell: Plan, store: ModelStore, view: FeatureView
) -> tuple[list[NDArray[np.bool_]], list[str]]:
    """Which past runs [n] obey each rule, outcomes as they were measured; and the rules' texts."""
    checks = [rule.holds(view.X) for rule in shell.feature_rules]
    if shell.outcome_rules:
        values = store.prepared.columns_of((*shell.features, *shell.outcomes))
        checks += [rule.holds(values) for rule in shell.outcome_rules]
    return checks, [rule.text for rule in (*shell.feature_rules, *shell.outcome_rules)]


def _told(space: Space, name: str, value: float) -> str:
    return format_value(Encoder(space.select([name])).decode(np.array([value]))[name])


def _contexts(
    X: Floats,
    rows: NDArray[np.int64],
    start: Floats,
    fixed: list[int],
    pinned: dict[str, float],
    features: tuple[str, ...],
    store: ModelStore,
    rng: np.random.Generator,
) -> Floats:
    """Distinct past values of what is not asked for; the start's own come first.

    Drawn from the matching rows of X [n, d] as often as runs of the source have them.
    """
    full = np.repeat(start[None, :], len(rows), axis=0)
    full[:, fixed] = X[rows][:, fixed]
    for name, value in pinned.items():
        full[:, features.index(name)] = value
    limit = store.settings.search.contexts
    chosen = full[order(store.prepared.weight[rows], len(full), rng)[: 8 * limit]]
    distinct = np.unique(np.concatenate([start[None, :], chosen]), axis=0, return_index=True)[1]
    ordered = np.concatenate([start[None, :], chosen])[np.sort(distinct)]
    return np.asarray(ordered[:limit])


def assumed(plan: Plan, space: Space, movable: NDArray[np.int64]) -> str:
    """What an answer assumes about everything that was not asked for and did not move."""
    if plan.baseline is not None:
        return plan.context
    told = []
    decoded = [Encoder(space).decode(row) for row in plan.contexts]
    for j, parameter in enumerate(space.parameters):
        if j in movable:
            continue
        values = list(dict.fromkeys(row[parameter.name] for row in decoded))
        numbers = [v for v in values if isinstance(v, int | float)]
        if len(values) == 1:
            told.append(f"{parameter.name} = {format_value(values[0])}")
        elif isinstance(parameter, Number) and len(numbers) > 1:
            none = " or none" if None in values else ""
            told.append(f"{parameter.name} {min(numbers):g}..{max(numbers):g}{none}")
        else:
            told.append(
                f"{parameter.name} in {{{', '.join(format_value(v) for v in values[:4])}"
                + (", ..." if len(values) > 4 else "")
                + "}"
            )
    among = " of the sample" if plan.sampled else ""
    head, whose = f"{plan.matching} past runs{among} match.", "of their contexts"
    if plan.matching == 1:
        head = f"1 past run{among} matches."
    if not plan.matching:
        head, whose = f"No past run{among} matches.", "contexts of the closest"
    if not told:
        return head
    if len(plan.contexts) == 1:
        return f"{head} Assumed: {', '.join(told)}."
    return f"{head} Averaged over {len(plan.contexts)} {whose}: {', '.join(told)}."
