"""What-if over many past runs, and curves of one parameter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import (
    Answer,
    Curve,
    CurvePoint,
    ForcedMove,
    Label,
    OutcomeCondition,
    Population,
    Prediction,
    Provenance,
)
from compass.domain.errors import QueryProblem
from compass.domain.query import Plus, Query, SetTo, Times
from compass.domain.space import Category, Number, Space
from compass.engine.scope import Scope
from compass.evidence.assessor import Assessor
from compass.evidence.classes import class_scores
from compass.evidence.conditions import held, predicted_of
from compass.evidence.effects import effects, unsupported, with_doubts
from compass.evidence.matching import obeyed
from compass.generate.repair_runs import forcing_rules, repair_runs
from compass.generate.task import SearchTask
from compass.language import format_query
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal_mask, legal_values, snap
from compass.prepare.weigh import effective, error_of_mean, mean, uneven
from compass.rules import Rule
from compass.trust.words import labelled, population_in_words

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_LABELLED = 200  # runs of a population whose trust is looked at
_POINTS = 48  # points of a curve


@dataclass(frozen=True, eq=False)
class ChangedRuns:
    """The past runs that match a what-if, before and after its change."""

    before: Floats  # [n, d]
    after: Floats  # [n, d]
    weight: Floats  # [n] how much each counts
    left_out: int = 0  # matching runs to which the change cannot be applied
    moved: tuple[ForcedMove, ...] = ()  # what rules make move besides
    adjusted: int = 0  # runs in which they do
    interpolated: int = 0  # runs that get a value between those that were run
    conditions: tuple[Rule, ...] = ()  # on outcomes, by which the runs were chosen
    notes: tuple[str, ...] = ()


def changed_runs(query: Query, scope: Scope, assessor: Assessor) -> ChangedRuns:
    """The change applied to every past run that matches and can make it.

    What rules tie to the change moves with it; a run is left out where nothing legal is near.
    """
    view = assessor.view
    space = view.features
    fits, conditions = _matching(query, scope, assessor)
    before = view.X[fits]
    plain = apply_edits(query, space, before)
    possible, between = _possible(query, space, plain)
    changed = [space.names.index(name) for name in query.change]
    # A condition on what is changed says which runs are meant; it is about them before the change.
    rules = [
        rule
        for rule in scope.rules
        if not (rule.text in conditions and {*rule.names} & {*query.change})
    ]
    fixed = repair_runs(
        space, rules, view.geometry(query.weights), before[possible], plain[possible], changed
    )
    keep = np.flatnonzero(possible)[fixed.obey]
    start, first, after = before[keep], plain[keep], fixed.X[fixed.obey]
    moved = _forced(space, rules, start, first, after, changed)
    others = [j for j in range(len(space)) if j not in changed]
    runs = ChangedRuns(
        before=start,
        after=after,
        weight=view.prepared.weight[fits][keep],
        left_out=len(before) - len(keep),
        moved=moved,
        adjusted=int((after[:, others] != start[:, others]).any(axis=1).sum()),
        interpolated=int(between[keep].sum()),
        conditions=scope.conditions,
    )
    told = _told(runs, len(before), int((~possible).sum()), int((~fixed.obey).sum()))
    return replace(runs, notes=told)


def _matching(query: Query, scope: Scope, assessor: Assessor) -> tuple[Bools, set[str]]:
    """Which past runs [n] a what-if is about, and the texts of its own conditions."""
    view = assessor.view
    fits = np.isfinite(view.X).all(axis=1) & view.prepared.measured
    conditions = {constraint.text for constraint in query.where}
    rules = (*scope.rules, *scope.conditions)
    checks = obeyed(scope.rules, scope.conditions, scope.outcomes, view)
    for holds, rule in zip(checks, rules, strict=True):
        if rule.text in conditions:
            fits &= holds
    space = view.features
    for name, claimed in query.stated.items():
        if name in space:
            code = Encoder(space.select([name])).encode({name: claimed})[0]
            fits &= view.X[:, space.names.index(name)] == code
    return fits, conditions


def _possible(query: Query, space: Space, after: Floats) -> tuple[Bools, Bools]:
    """Which changed runs [n] have values that a prediction can be made for, and which of these
    have one between values that were run."""
    possible, between = np.ones((2, len(after)), dtype=bool)
    between[:] = False
    for name in query.change:
        parameter, values = space[name], after[:, space.names.index(name)]
        legal = legal_mask(parameter, values)
        inside = np.zeros_like(legal)
        if isinstance(parameter, Number):
            inside = (values > parameter.low) & (values < parameter.high)
            if parameter.whole:
                inside &= values == np.round(values)
        possible &= legal | inside
        between |= inside & ~legal
    return possible, between & possible


def _forced(
    space: Space,
    rules: Sequence[Rule],
    before: Floats,
    plain: Floats,
    after: Floats,
    changed: Sequence[int],
) -> tuple[ForcedMove, ...]:
    """What moves besides the change, in how many of the runs and by which rule."""
    found = []
    for column, name in enumerate(space.names):
        count = int((after[:, column] != before[:, column]).sum())
        if column not in changed and count:
            rule = forcing_rules(rules, before, plain, after, column)
            found.append(ForcedMove(name=name, runs=count, forced_by=rule))
    return tuple(sorted(found, key=lambda move: -move.runs))


def _told(runs: ChangedRuns, matching: int, beyond: int, stuck: int) -> tuple[str, ...]:
    """What was left out, filled in and moved, as sentences."""
    notes = []
    if beyond:
        notes.append(
            f"{beyond:,} of {matching:,} matching runs were left out: the change leads beyond the "
            "values that were run, or to no whole number."
        )
    if stuck:
        notes.append(
            f"{stuck:,} of {matching:,} matching runs were left out: with the change made, no "
            "legal values of the other columns obey the rules."
        )
    if runs.interpolated:
        notes.append(
            f"In {runs.interpolated:,} of {len(runs.before):,} runs the change leads to values "
            "between those that were run: these predictions are interpolated."
        )
    if runs.moved:
        parts = [
            f"{one.name} in {one.runs:,}" + (f" ({one.forced_by})" if one.forced_by else "")
            for one in runs.moved
        ]
        notes.append(
            f"In {runs.adjusted:,} of {len(runs.before):,} runs rules make something else move as "
            f"well: {'; '.join(parts)}."
        )
    elif len(runs.before):
        notes.append("Nothing else has to move: the change alone breaks no rule.")
    return tuple(notes)


def answer_population(
    query: Query, runs: ChangedRuns, assessor: Assessor, provenance: Provenance
) -> Answer:
    """The mean change over these runs, its interval and their number."""
    population: Population | None = None
    why: str | None = "No past run matches the question and can make this change."
    notes = runs.notes
    if len(runs.before):
        population = _population(query, runs, assessor, provenance.sample is not None)
        notes = (*notes, *_words(population.outcomes))
        why = None
        if population.label is Label.UNSUPPORTED:
            why = "After the change all of these runs lie outside the past runs."
    return Answer(
        query=query,
        text=format_query(query),
        context="No baseline: the change is applied to every matching run.",
        comparable=assessor.matched.known,
        population=population,
        notes=notes,
        no_answer=why,
        models=tuple(trained.card for trained in assessor.trained.values()),
        provenance=provenance,
    )


def _population(query: Query, runs: ChangedRuns, assessor: Assessor, sampled: bool) -> Population:
    outcomes = []
    for name, trained in assessor.trained.items():
        if name not in query.goals:
            continue
        old, new = trained.model.predict(runs.before), trained.model.predict(runs.after)
        outcomes.append(_mean_change(assessor, name, old, new, runs.weight))
    population = Population(
        runs=len(runs.before),
        left_out=runs.left_out,
        adjusted=runs.adjusted,
        moved=runs.moved,
        interpolated=runs.interpolated,
        conditions=_conditions(query, runs, assessor),
        stands_for=float(runs.weight.sum()) if sampled else None,
        outcomes=tuple(outcomes),
        **_trust(assessor, runs),
        reason="",
    )
    comparable = assessor.matched.known
    reason = labelled(population.label, population_in_words(population, comparable))
    return population.model_copy(update={"reason": reason})


def apply_edits(query: Query, space: Space, X: Floats) -> Floats:
    """Past runs [n, d] with the question's changes made to each."""
    after = X.copy()
    for name, edit in query.change.items():
        column = space.names.index(name)
        if isinstance(edit, SetTo):
            after[:, column] = Encoder(space.select([name])).encode({name: edit.value})[0]
            continue
        parameter = space[name]
        old = X[:, column]
        assert isinstance(edit, Times | Plus)
        new = old * edit.factor if isinstance(edit, Times) else old + edit.amount
        if isinstance(parameter, Number):
            new = np.where(old == parameter.none_code, old, new)
        after[:, column] = [float(f"{value:.12g}") for value in new]
    return after


def _mean_change(
    assessor: Assessor, name: str, old: Floats, new: Floats, weight: Floats
) -> Prediction:
    parameter = assessor.store.prepared.space[name]
    if isinstance(parameter, Category):
        return _mean_classes(parameter, old, new, weight)
    level = assessor.level
    floor = assessor.floor(name)
    old, new = np.maximum(old, floor), np.maximum(new, floor)
    change = new[:, 0] - old[:, 0]
    usual = mean(change, weight)
    half = _half_width(change, weight, level)
    base = mean(old[:, 0], weight)
    return Prediction(
        name=name,
        value=mean(new[:, 0], weight),
        unit=parameter.unit,
        before=base,
        change=usual,
        change_percent=100 * usual / abs(base) if base else None,
        change_low=max(usual - half, floor - base),
        change_high=usual + half,
        level=level,
    )


def _mean_classes(parameter: Category, old: Floats, new: Floats, weight: Floats) -> Prediction:
    """The mean probability of each label over the runs, before and after."""
    was, now = (np.array([mean(column, weight) for column in one.T]) for one in (old, new))
    likely = int(now.argmax())
    return Prediction(
        name=parameter.name,
        value=parameter.values[likely],
        before=parameter.values[int(was.argmax())],
        probability=float(now[likely]),
        change_percent=100 * float(now[likely] - was[likely]),
        scores=class_scores(parameter, now),
        scores_before=class_scores(parameter, was),
    )


def _conditions(
    query: Query, runs: ChangedRuns, assessor: Assessor
) -> tuple[OutcomeCondition, ...]:
    """How likely the conditions on outcomes hold over these runs, before and after."""
    asked = frozenset(rule.text for rule in query.where)
    outcomes = tuple(assessor.trained)
    found = []
    for rule in runs.conditions:
        was, now = (
            held(rule, outcomes, predicted_of(assessor, X), assessor)
            for X in (runs.before, runs.after)
        )
        chances = [None if c is None else mean(c, runs.weight) for c in (was[1], now[1])]
        found.append(
            OutcomeCondition(
                text=rule.text,
                outcomes=tuple(name for name in rule.names if name in outcomes),
                asked=rule.text in asked,
                holds=mean(now[0].astype(np.float64), runs.weight) > 0.5,
                before=chances[0],
                chance=chances[1],
            )
        )
    return tuple(found)


def _words(outcomes: Sequence[Prediction]) -> tuple[str, ...]:
    """What the interval of a mean change is, and what it is not."""
    if all(outcome.level is None for outcome in outcomes):
        return ()
    return (
        "The interval is that of the mean over runs like these of the change that the model "
        "predicts; the model's own error is not in it.",
    )


def _half_width(change: Floats, weight: Floats, level: float) -> float:
    """Half the confidence interval of a mean (Student's t), rows as often as they count."""
    from scipy.special import stdtrit  # scipy.stats takes long to import

    freedom = len(change) - 1 if uneven(weight) is None else effective(weight) - 1
    if len(change) < 2 or freedom <= 0:
        return float("inf")
    return float(stdtrit(freedom, (1 + level) / 2) * error_of_mean(change, weight))


def _trust(assessor: Assessor, runs: ChangedRuns) -> dict[str, Any]:
    """How far the mean change can be relied on, going by the labels of the runs that change."""
    matched = assessor.matched
    before, after, weight = runs.before, runs.after, runs.weight
    rng = np.random.default_rng(assessor.store.settings.seed)
    changing = np.flatnonzero((before != after).any(axis=1))
    if not len(changing):
        return {"label": Label.CAUTION}
    chosen = changing[rng.permutation(len(changing))[:_LABELLED]]
    found = effects(matched, list(before[chosen]), after[chosen])
    labels = with_doubts(assessor.labels(after[chosen]), found)
    trusted = _share([label is Label.TRUSTED for label in labels], weight[chosen])
    supported = _share([not unsupported(mine) for mine in found], weight[chosen])
    if all(label is Label.UNSUPPORTED for label in labels):
        label = Label.UNSUPPORTED
    else:
        label = Label.TRUSTED if trusted > 0.5 else Label.CAUTION
    return {
        "label": label,
        "changing": len(changing),
        "trusted": trusted,
        "supported": supported if matched.known.identifiable else None,
    }


def _share(yes: Sequence[bool], weight: Floats) -> float:
    if uneven(weight) is None:
        return sum(yes) / len(yes)
    return float(weight[np.array(yes)].sum() / weight.sum())


def curves(task: SearchTask, assessor: Assessor, parameters: tuple[str, ...]) -> tuple[Curve, ...]:
    """How every outcome answers to each parameter, everything else as the question has it."""
    found = []
    for name in parameters:
        if name not in task.space.names:
            raise QueryProblem(
                f"{name} is not a parameter that predictions depend on",
                hint=f"choose one of {', '.join(task.space.names[:8])}",
            )
        found += _curve(task, assessor, name)
    return tuple(found)


def _curve(task: SearchTask, assessor: Assessor, name: str) -> list[Curve]:
    space = task.space
    column = space.names.index(name)
    values = _along(space[name], float(task.start[column]))
    X = np.repeat(task.start[None, :], len(values), axis=0)
    X[:, column] = values
    feasible = np.ones(len(X), dtype=bool)
    for rule in task.rules:
        feasible &= rule.holds(X)
    matched = assessor.matched
    labels = with_doubts(assessor.labels(X), effects(matched, [task.origin] * len(X), X))
    shown = [Encoder(space.select([name])).decode(values[[i]])[name] for i in range(len(values))]
    result = []
    for outcome, trained in assessor.trained.items():
        if outcome not in task.query.goals:
            continue
        scores = trained.model.predict(X)
        band = assessor.band(outcome, scores, trained.model.spread(X))
        points = tuple(
            CurvePoint(
                value=shown[i],
                predicted=assessor.value(outcome, scores[i]),
                low=None if band is None else float(band[0][i]),
                high=None if band is None else float(band[1][i]),
                label=labels[i],
                feasible=bool(feasible[i]),
            )
            for i in range(len(X))
        )
        result.append(Curve(parameter=name, outcome=outcome, points=points))
    return result


def _along(parameter: Number | Category, start: float) -> Floats:
    values = legal_values(parameter, _POINTS)
    if values is None and isinstance(parameter, Category):
        values = np.arange(len(parameter.values), dtype=np.float64)  # labels have no in-between
    elif values is None:
        assert isinstance(parameter, Number)
        values = snap(parameter, np.linspace(parameter.low, parameter.high, _POINTS))
        if parameter.optional:
            values = np.append(values, parameter.none_code)
    return np.unique(np.append(values, start))
