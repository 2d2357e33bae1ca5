"""Configurations that may improve the answer to a question, and what each of them may give."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire import improvement as decision
from compass.acquire.runnable import allowed
from compass.domain.answer import Label, Suggestion
from compass.domain.space import Number
from compass.evidence.assessor import Assessor
from compass.evidence.contexts import completed
from compass.evidence.past_runs import past_runs_of
from compass.generate.blocks import Block, blocks
from compass.generate.past import PastRuns
from compass.generate.predict import Averaged
from compass.generate.repair import broken, settle
from compass.generate.task import SearchTask
from compass.generate.variation import children, draw, variation_of
from compass.language import format_value
from compass.learn.outcomes import OutcomeModel
from compass.learn.reliability import Reliability
from compass.model.trees import flat
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 256
_BRED = 384  # candidates bred from suggestions and from the best measured runs
_RANDOM = 192  # legal candidates from anywhere
_PARENTS = 32  # measured configurations, best first, that candidates are bred from
_REPEATED = 8  # of those, the ones that may be run again
_DIGITS = 4  # of numbers without a grid
_UNKNOWN = Reliability(noise=0.0, error=1.0)


@dataclass(frozen=True, eq=False)
class Prospects:
    """Candidates, suggestions first, with S draws of what each may give."""

    X: Floats  # [m, d] complete configurations
    drawn: dict[str, Floats]  # per outcome [S, m]
    result: decision.Result  # [S, m]
    losses: Floats  # [S, m]
    today: decision.Today  # the best decision that is possible without a further run
    holder: str  # what that decision is, in words
    met: bool  # whether it meets the goals
    centre: dict[str, Floats]  # per number [m]: what is believed of each
    deviation: dict[str, Floats]  # per number [m]: how far one run may move that

    @property
    def chance(self) -> Floats:
        """How likely each candidate [m] is to be better than the best decision of today."""
        return np.asarray((self.losses < self.today.loss).mean(axis=0))


def prospects(
    task: SearchTask, assessor: Assessor, suggestions: tuple[Suggestion, ...]
) -> Prospects | None:
    """Everything that could be run for a question; None where no configuration is legal."""
    rng = np.random.default_rng(task.seed)
    encoder = Encoder(task.space)
    own = np.array([encoder.encode(s.config) for s in suggestions]).reshape(-1, len(task.start))
    past_runs = _measured(task, assessor)
    known = _best_measured(task, past_runs)
    seen = np.empty((0, len(task.start))) if past_runs is None else past_runs.X[known]
    found = [own, seen[:_REPEATED], _pool(task, np.concatenate([own, seen]), rng)]
    X = np.concatenate(found)
    if task.baseline is None and len(X):
        X = _placed(task, assessor, X)
    X = _first_of_each(X[_fine(task, X)])
    if not len(X):
        return None
    averaged = len(task.contexts) > 1
    drawn, centre, deviation = _drawn(task, assessor, past_runs, X, rng, averaged=averaged)
    result = decision.result(task, X, drawn)
    worst = float(result.value.max())
    losses = result.losses(worst)
    open_ = _decisions(task, assessor, past_runs, known[:_REPEATED], suggestions, X, losses, worst)
    today, holder = _today(open_, losses)
    met = today.loss <= worst
    return Prospects(X, drawn, result, losses, today, holder, met, centre, deviation)


def within(task: SearchTask, assessor: Assessor, X: Floats, place: int, holder: int) -> Prospects:
    """One candidate of X [m, d] and the decision of today, both in the context of the candidate.

    A recommendation is averaged over contexts, a run is made in one of them.
    """
    rows = X[[place, holder]].copy()
    fixed = np.setdiff1d(np.arange(X.shape[1]), task.movable)
    rows[1, fixed] = rows[0, fixed]
    models = {name: trained.model for name, trained in assessor.trained.items()}
    inside = replace(task, predict=Averaged(models, rows[:1], task.movable), past_runs=None)
    past_runs = _measured(inside, assessor, rows[:1])
    rng = np.random.default_rng(task.seed)
    drawn, centre, deviation = _drawn(inside, assessor, past_runs, rows, rng)
    result = decision.result(inside, rows, drawn)
    losses = result.losses(float(result.value.max()))
    today = decision.Today(float(losses[:, 1].mean()), 1)
    met = bool((result.miss[:, 1] <= 0).mean() > 0.5)
    return Prospects(rows, drawn, result, losses, today, "", met, centre, deviation)


def _placed(task: SearchTask, assessor: Assessor, X: Floats) -> Floats:
    """Settings X [m, d] in the best known context, of several in one where they were not run yet.

    A run that was made already teaches little, and where a question is about several contexts the
    settings can be tried in another one.
    """
    contexts, space = task.contexts, task.space
    settings = np.repeat(task.start[None, :], len(X), axis=0)
    settings[:, task.movable] = X[:, task.movable]
    full = completed(task, assessor, _first_of_each(settings))
    made = assessor.view.all_runs
    again = np.flatnonzero(made.known(full))
    if len(contexts) < 2 or not len(again):
        return full
    tried = np.tile(contexts, (len(again), 1))
    tried[:, task.movable] = np.repeat(full[again][:, task.movable], len(contexts), axis=0)
    fresh = ~made.known(tried) & allowed(space, task.rules, tried, task.movable)
    far = np.full(len(tried), np.inf)
    far[fresh] = assessor.view.support.novelty(tried[fresh])
    nearest = far.reshape(len(again), -1).argmin(axis=1) + np.arange(len(again)) * len(contexts)
    full[again] = np.where(fresh[nearest][:, None], tried[nearest], full[again])
    return full


def _measured(
    task: SearchTask, assessor: Assessor, contexts: Floats | None = None
) -> PastRuns | None:
    """What was measured in the context of the question; None where there are several contexts."""
    if task.past_runs is not None or not isinstance(task.predict, Averaged):
        return task.past_runs
    # A record is kept of what is minimised; goals are looked up in the same way.
    aimed = tuple(t.model_copy(update={"direction": "minimize"}) for t in task.targets)
    where = task.contexts if contexts is None else contexts
    return past_runs_of(replace(task, targets=aimed), assessor, where, task.predict.spread)


def _best_measured(task: SearchTask, past_runs: PastRuns | None) -> Integers:
    """Positions in the record of the best configurations that are legal, best first.

    What was measured is drawn towards the model as far as runs scatter.
    """
    if past_runs is None:
        return np.empty(0, dtype=np.int64)
    rows = np.ones(len(past_runs.X), dtype=np.bool_)
    for name in _names(task):
        rows &= past_runs.runs[name] > 0
    places = np.flatnonzero(rows)
    places = places[_fine(task, past_runs.X[places])]
    if not len(places):
        return places
    as_measured = {name: _plain(past_runs.mean[name][places]) for name in _names(task)}
    found = decision.result(task, past_runs.X[places], as_measured)
    losses = found.losses(float(found.value.max()))[0]
    best = places[np.argsort(losses, kind="stable")[:_PARENTS]]
    losses = _believed(task, past_runs, best)
    return np.asarray(best[np.argsort(losses, kind="stable")])


def _believed(
    task: SearchTask, past_runs: PastRuns, places: Integers, worst: float | None = None
) -> Floats:
    """The losses [k] of measured configurations, drawn towards the model."""
    X = past_runs.X[places]
    believed = past_runs.believed(task.predict(X), places)
    found = decision.result(task, X, {n: _plain(believed[n]) for n in _names(task)})
    return np.asarray(found.losses(float(found.value.max()) if worst is None else worst)[0])


def _names(task: SearchTask) -> tuple[str, ...]:
    """The outcomes that decide."""
    aimed = [target.name for target in task.targets]
    return tuple(dict.fromkeys([*aimed, *(task.outcomes if task.outcome_rules else ())]))


def _plain(scores: Floats) -> Floats:
    """Numbers, or positions of the likeliest class, [1, m] from scores [m, outputs]."""
    one = scores[:, 0] if scores.shape[1] == 1 else scores.argmax(axis=1).astype(np.float64)
    return np.asarray(one[None, :])


def _fine(task: SearchTask, X: Floats) -> NDArray[np.bool_]:
    return allowed(task.space, task.rules, X, task.movable)


def _pool(task: SearchTask, parents: Floats, rng: np.random.Generator) -> Floats:
    """Legal candidates: near the parents, mixtures of them, and from anywhere."""
    bare = replace(task, past_runs=None)
    groups = blocks(bare) if len(task.movable) else []
    if not groups or any(block.table is not None and not len(block.table) for block in groups):
        return task.start[None, :]
    variation = variation_of(bare, groups)
    random = np.repeat(variation.home[None, :], _RANDOM, axis=0)
    for block in groups:
        random[:, block.columns] = draw(block, len(random), rng)
    heads = parents if len(parents) else random
    bred = children(variation, heads, _BRED, rng)
    X = np.concatenate([*(_steps(x, groups) for x in heads[:4]), bred, random])
    X = settle(bare, X[broken(task, X) == 0])
    return _rounded(task, X)


def _steps(x: Floats, groups: list[Block]) -> Floats:
    """Configurations that differ from x [d] by one step of one column."""
    found = [x]
    for block in groups:
        for column, values in zip(block.columns, block.values, strict=True):
            view = int(np.searchsorted(values, x[column]))
            for place in (view - 1, view, view + 1):
                if 0 <= place < len(values) and values[place] != x[column]:
                    moved = x.copy()
                    moved[column] = values[place]
                    found.append(moved)
    return np.array(found)


def _rounded(task: SearchTask, X: Floats) -> Floats:
    """Numbers without a grid as a person would type them, where the rules allow it."""
    short = X.copy()
    for column in task.movable:
        parameter = task.space.parameters[column]
        if isinstance(parameter, Number) and not parameter.step and not parameter.allowed:
            values = X[:, column]
            told = [float(f"{value:.{_DIGITS}g}") for value in values]
            kept = (values == task.geometry.none[column]) | (values == task.start[column])
            short[:, column] = np.where(kept, values, told)
    return np.where(_fine(task, short)[:, None], short, X)


def _first_of_each(X: Floats) -> Floats:
    _, first = np.unique(X, axis=0, return_index=True)
    return np.asarray(X[np.sort(first)])


def _drawn(
    task: SearchTask,
    assessor: Assessor,
    past_runs: PastRuns | None,
    X: Floats,
    rng: np.random.Generator,
    *,
    averaged: bool = False,
) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, Floats]]:
    """Per outcome draws [S, m]; per number what is believed and how far a run may move it.

    `averaged`: of predictions over several contexts, in one of which each run would be made.
    """
    assert isinstance(task.predict, Averaged)
    said, spreads = task.predict(X), task.predict.spread(X)
    taught = _taught(task, assessor, X) if averaged else {}
    runs = np.zeros(len(X), dtype=np.int64)
    if past_runs is not None:
        place = past_runs.find(X)
        tried = np.flatnonzero(place >= 0)
        believed = past_runs.believed({n: v[tried] for n, v in said.items()}, place[tried])
        for name in said:
            said[name] = said[name].copy()
            said[name][tried] = believed[name]
        runs[tried] = np.min([past_runs.runs[n][place[tried]] for n in _names(task)], axis=0)
    drawn, centre, deviation = {}, {}, {}
    for name in _names(task):
        trained, parameter = assessor.trained[name], assessor.store.prepared.space[name]
        if not isinstance(parameter, Number):
            first = task.labels.get(name, int(said[name].mean(axis=0).argmax()))
            z = decision.joint(-_members(trained, X, first), _DRAWS, rng)
            drawn[name] = decision.classes_drawn(said[name], z, first)
            continue
        assert trained.interval is not None
        half = trained.interval.deviation(said[name][:, 0], spreads[name])
        half = np.where(np.isfinite(half), half, trained.scale)
        own = _UNKNOWN if past_runs is None else past_runs.reliability[name]
        centre[name], deviation[name] = said[name][:, 0], decision.surprise(half, own, runs)
        if name in taught:
            positive = parameter.low > 0 and (centre[name] > 0).all()
            size = np.abs(centre[name]) if positive else 1.0
            deviation[name] = np.minimum(deviation[name], size * taught[name])
        z = decision.joint(_members(trained, X, 0), _DRAWS, rng)
        drawn[name] = decision.numbers_drawn(
            centre[name], deviation[name], z, positive=parameter.low > 0
        )
    return drawn, centre, deviation


def _taught(task: SearchTask, assessor: Assessor, X: Floats) -> dict[str, Floats]:
    """Per number how far a run in the one context of each candidate X [m, d] may move it, [m].

    Of what is positive, as a share. The mean over contexts is not moved by more than that.
    """
    found = {}
    made = assessor.view.all_runs
    runs = made.count(X)
    known = _measured(task, assessor, X[:1])
    for name in _names(task):
        trained, parameter = assessor.trained[name], assessor.store.prepared.space[name]
        if trained.interval is None or not isinstance(parameter, Number):
            continue
        said = trained.model.predict(X)[:, 0]
        half = trained.interval.deviation(said, trained.model.spread(X))
        half = np.where(np.isfinite(half), half, trained.scale)
        own = _UNKNOWN if known is None else known.reliability[name]
        moved = decision.surprise(half, own, runs)
        found[name] = moved / np.abs(said) if parameter.low > 0 and (said > 0).all() else moved
    return found


def _members(trained: OutcomeModel, X: Floats, output: int) -> Floats:
    """What every tree of the perturbed models says of X [m, d], [t, m]."""
    forest = trained.perturbed.forests[0]
    said = [flat.mean(forest.only(t, t + 1), X)[:, output] for t in range(forest.trees)]
    return np.array(said)


@dataclass(frozen=True)
class _Open:
    """A decision that could be made today."""

    place: int  # which candidate it is
    loss: float
    words: str


def _decisions(
    task: SearchTask,
    assessor: Assessor,
    past_runs: PastRuns | None,
    known: Integers,
    suggestions: tuple[Suggestion, ...],
    X: Floats,
    losses: Floats,
    worst: float,
) -> list[_Open]:
    """What could be decided today: measured configurations and trusted suggestions.

    Where there are neither, the suggestions as they are, else what is predicted to be best.
    """
    found: dict[int, _Open] = {}
    if past_runs is not None and len(known):
        costs = _believed(task, past_runs, known, worst)
        for place, cost in zip(known, costs, strict=True):
            for spot in _same(task, past_runs.X[place], X):
                words = _measured_words(task, assessor, past_runs, int(place))
                found[int(spot)] = _Open(int(spot), float(cost), words)
    encoder = Encoder(task.space)
    doubtful: dict[int, _Open] = {}
    for rank, suggestion in enumerate(suggestions, 1):
        for spot in _same(task, encoder.encode(suggestion.config), X):
            words = f"suggestion {rank}, as predicted"
            told = _Open(int(spot), float(losses[:, spot].mean()), words)
            trusted = suggestion.trust.label is Label.TRUSTED
            (found if trusted else doubtful).setdefault(int(spot), told)
    if not found:
        # The first suggestion is the decision of today, whatever the draws say of the others.
        if doubtful:
            return list(doubtful.values())
        spot = int(np.argmin(losses.mean(axis=0)))
        return [_Open(spot, float(losses[:, spot].mean()), "what is predicted to be best")]
    return sorted(found.values(), key=lambda one: one.loss)


def _same(task: SearchTask, x: Floats, X: Floats) -> Integers:
    """The first candidate of X [m, d] with the settings of x [d], whatever the context; or none."""
    return np.flatnonzero((x[task.movable] == X[:, task.movable]).all(axis=1))[:1]


def _today(open_: list[_Open], losses: Floats) -> tuple[decision.Today, str]:
    """The first decision, what the best other one costs, and the words for the first."""
    first = open_[0]
    others = [one.loss for one in open_[1:]]
    if not others:  # then somebody would go by the predictions
        others = [*np.delete(losses.mean(axis=0), first.place), np.inf]
    # What is predicted to be better than the decision of today is not trusted to be so.
    other = max(float(min(others)), first.loss)
    return decision.Today(first.loss, first.place, other), first.words


def _measured_words(task: SearchTask, assessor: Assessor, past_runs: PastRuns, place: int) -> str:
    """A measured configuration as `row 12 (time 4.1 ms)`."""
    told = []
    for target in task.targets:
        value = assessor.value(target.name, past_runs.mean[target.name][place])
        unit = getattr(assessor.store.prepared.space[target.name], "unit", None)
        amount = f"{value:.4g}" if isinstance(value, float) else format_value(value)
        told.append(f"{target.name} {amount}" + (f" {unit}" if unit else ""))
    made = assessor.view.all_runs
    return f"row {made.rows(past_runs.X[place])[0]} ({', '.join(told)})"
