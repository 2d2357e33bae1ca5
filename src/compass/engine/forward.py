"""What-if over many past runs, and curves of one parameter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import (
    Answer,
    Curve,
    CurvePoint,
    Label,
    Population,
    Prediction,
    Provenance,
)
from compass.domain.errors import QueryProblem
from compass.domain.query import Plus, Query, SetTo, Times
from compass.domain.space import Category, Number, Space
from compass.engine.scope import Scope
from compass.evidence.assessor import Assessor
from compass.evidence.effects import effects, unsupported, with_doubts
from compass.evidence.matching import obeyed
from compass.generate.task import SearchTask
from compass.language import format_query
from compass.prepare.encode import Encoder
from compass.prepare.legal import legal_mask, legal_values, snap
from compass.prepare.weigh import effective, error_of_mean, mean, uneven
from compass.trust.words import labelled, population_in_words

Floats = NDArray[np.float64]

_LABELLED = 200  # runs of a population whose trust is looked at
_POINTS = 48  # points of a curve


@dataclass(frozen=True, eq=False)
class ChangedRuns:
    """The past runs that match a what-if, before and after its change."""

    before: Floats  # [n, d]
    after: Floats  # [n, d]
    weight: Floats  # [n] how much each counts
    notes: tuple[str, ...]


def changed_runs(query: Query, scope: Scope, assessor: Assessor) -> ChangedRuns:
    """The change applied to every past run that matches and can make it."""
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
    before = view.X[fits]
    after = apply_edits(query, space, before)
    possible = np.ones(len(after), dtype=bool)
    for name in query.change:
        possible &= legal_mask(space[name], after[:, space.names.index(name)])
    notes = []
    if len(after) and not possible.all():
        notes.append(
            f"{int((~possible).sum())} of {len(after)} matching runs were left out: "
            "the change leads to values that were never seen."
        )
    obey = np.ones(len(after), dtype=bool)
    for rule in scope.rules:
        obey &= rule.holds(after) | ~rule.holds(before)
    if (possible & ~obey).any():
        count = int((possible & ~obey).sum())
        notes.append(f"{count} matching runs were left out: the change alone breaks a rule there.")
    keep = possible & obey
    weight = view.prepared.weight[fits][keep]
    return ChangedRuns(before[keep], after[keep], weight, tuple(notes))


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
        was, now = old.argmax(axis=1), new.argmax(axis=1)
        labels, counts = len(parameter.values), uneven(weight)
        common = int(np.bincount(now, counts, minlength=labels).argmax())
        after, before = (mean((one == common).astype(np.float64), weight) for one in (now, was))
        return Prediction(
            name=name,
            value=parameter.values[common],
            before=parameter.values[int(np.bincount(was, counts).argmax())],
            probability=after,
            change_percent=100 * (after - before),
        )
    level = assessor.level
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
        change_low=usual - half,
        change_high=usual + half,
        level=level,
    )


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
