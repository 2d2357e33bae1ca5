"""What candidates may give: draws of their outcomes, and the decision that would be made today."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire import improvement
from compass.acquire.base import AcquisitionRequest
from compass.acquire.candidates import (
    REPEATED,
    best_measured,
    deciding_outcomes,
    legal_candidates,
    measured_in,
    measured_losses,
)
from compass.acquire.improvement import Incumbent
from compass.domain.answer import Label, Suggestion
from compass.domain.quantity import quantity
from compass.domain.space import Number
from compass.evidence.assessor import Assessor
from compass.generate.past import PastRuns
from compass.generate.predict import Averaged
from compass.generate.task import SearchTask
from compass.language import format_value
from compass.learn.outcomes import OutcomeModel
from compass.learn.reliability import Reliability
from compass.model.trees import flat
from compass.prepare.encode import Encoder

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 256
_UNKNOWN = Reliability(noise=0.0, error=1.0)


@dataclass(frozen=True, eq=False)
class DrawnCandidates:
    """Candidates, suggestions first, with S draws of what each may give."""

    X: Floats  # [m, d] complete configurations
    drawn: dict[str, Floats]  # per outcome [S, m]
    result: improvement.Result  # [S, m]
    losses: Floats  # [S, m]
    incumbent: Incumbent  # the best decision that is possible without a further run
    met: bool  # whether it meets the goals
    centre: dict[str, Floats]  # per number [m]: what is believed of each
    deviation: dict[str, Floats]  # per number [m]: how far one run may move that
    pending: Integers  # the candidates that are being run already

    @property
    def chance(self) -> Floats:
        """How likely each candidate [m] is to be better than the best decision of today."""
        return np.asarray((self.losses < self.incumbent.loss).mean(axis=0))


def draw_candidates(request: AcquisitionRequest) -> DrawnCandidates | None:
    """Everything that could be run for a question; None where no configuration is legal."""
    task, assessor, suggestions = request.task, request.assessor, request.suggestions
    rng = np.random.default_rng(task.seed)
    encoder = Encoder(task.space)
    own = np.array([encoder.encode(s.config) for s in suggestions]).reshape(-1, len(task.start))
    past_runs = measured_in(task, assessor)
    known = best_measured(task, past_runs)
    seen = np.empty((0, len(task.start))) if past_runs is None else past_runs.X[known]
    X = legal_candidates(task, assessor, own, seen, rng)
    if not len(X):
        return None
    pending = np.empty(0, dtype=np.int64)
    if len(request.pending):
        X = np.concatenate([X, request.pending])
        pending = np.arange(len(X) - len(request.pending), len(X))
    averaged = len(task.contexts) > 1
    drawn, centre, deviation = _drawn(task, assessor, past_runs, X, rng, averaged=averaged)
    result = improvement.result(task, X, drawn)
    worst = float(result.value.max())
    losses = result.losses(worst)
    measured = _measured_decisions(task, assessor, past_runs, known[:REPEATED], X, worst)
    decisions = _decisions(task, suggestions, measured, X, losses)
    incumbent = _incumbent(decisions, losses)
    met = incumbent.loss <= worst
    return DrawnCandidates(X, drawn, result, losses, incumbent, met, centre, deviation, pending)


def within(
    task: SearchTask, assessor: Assessor, X: Floats, place: int, other: int
) -> DrawnCandidates:
    """One candidate of X [m, d] and the incumbent, both in the context of the candidate.

    A recommendation is averaged over contexts, a run is made in one of them.
    """
    rows = X[[place, other]].copy()
    fixed = np.setdiff1d(np.arange(X.shape[1]), task.movable)
    rows[1, fixed] = rows[0, fixed]
    models = {name: trained.model for name, trained in assessor.trained.items()}
    inside = replace(task, predict=Averaged(models, rows[:1], task.movable), past_runs=None)
    past_runs = measured_in(inside, assessor, rows[:1])
    rng = np.random.default_rng(task.seed)
    drawn, centre, deviation = _drawn(inside, assessor, past_runs, rows, rng)
    result = improvement.result(inside, rows, drawn)
    losses = result.losses(float(result.value.max()))
    incumbent = Incumbent(float(losses[:, 1].mean()), 1)
    met = bool((result.miss[:, 1] <= 0).mean() > 0.5)
    nothing = np.empty(0, dtype=np.int64)
    return DrawnCandidates(rows, drawn, result, losses, incumbent, met, centre, deviation, nothing)


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
    predicted, spreads = task.predict(X), task.predict.spread(X)
    limited = _moved_in_context(task, assessor, X) if averaged else {}
    runs = np.zeros(len(X), dtype=np.int64)
    if past_runs is not None:
        place = past_runs.find(X)
        tried = np.flatnonzero(place >= 0)
        believed = past_runs.believed({n: v[tried] for n, v in predicted.items()}, place[tried])
        for name in predicted:
            predicted[name] = predicted[name].copy()
            predicted[name][tried] = believed[name]
        runs[tried] = np.min(
            [past_runs.runs[n][place[tried]] for n in deciding_outcomes(task)], axis=0
        )
    drawn, centre, deviation = {}, {}, {}
    for name in deciding_outcomes(task):
        trained, parameter = assessor.trained[name], assessor.store.prepared.space[name]
        if not isinstance(parameter, Number):
            first = task.labels.get(name, int(predicted[name].mean(axis=0).argmax()))
            z = improvement.joint(-_members(trained, X, first), _DRAWS, rng)
            drawn[name] = improvement.classes_drawn(predicted[name], z, first)
            continue
        assert trained.interval is not None
        half = trained.interval.deviation(predicted[name][:, 0], spreads[name])
        half = np.where(np.isfinite(half), half, trained.scale)
        own = _UNKNOWN if past_runs is None else past_runs.reliability[name]
        centre[name], deviation[name] = (
            predicted[name][:, 0],
            improvement.expected_move(half, own, runs),
        )
        if name in limited:
            positive = parameter.low > 0 and (centre[name] > 0).all()
            size = np.abs(centre[name]) if positive else 1.0
            deviation[name] = np.minimum(deviation[name], size * limited[name])
        z = improvement.joint(_members(trained, X, 0), _DRAWS, rng)
        drawn[name] = improvement.numbers_drawn(
            centre[name], deviation[name], z, positive=parameter.low > 0
        )
    return drawn, centre, deviation


def _moved_in_context(task: SearchTask, assessor: Assessor, X: Floats) -> dict[str, Floats]:
    """Per number how far a run in the one context of each candidate X [m, d] may move it, [m].

    Of what is positive, as a share. The mean over contexts is not moved by more than that.
    """
    found = {}
    made = assessor.view.all_runs
    runs = made.count(X)
    known = measured_in(task, assessor, X[:1])
    for name in deciding_outcomes(task):
        trained, parameter = assessor.trained[name], assessor.store.prepared.space[name]
        if trained.interval is None or not isinstance(parameter, Number):
            continue
        predicted = trained.model.predict(X)[:, 0]
        half = trained.interval.deviation(predicted, trained.model.spread(X))
        half = np.where(np.isfinite(half), half, trained.scale)
        own = _UNKNOWN if known is None else known.reliability[name]
        moved = improvement.expected_move(half, own, runs)
        found[name] = (
            moved / np.abs(predicted) if parameter.low > 0 and (predicted > 0).all() else moved
        )
    return found


def _members(trained: OutcomeModel, X: Floats, output: int) -> Floats:
    """What every tree of the perturbed models predicts of X [m, d], [t, m]."""
    forest = trained.perturbed.forests[0]
    predicted = [flat.mean(forest.only(t, t + 1), X)[:, output] for t in range(forest.trees)]
    return np.array(predicted)


def _measured_decisions(
    task: SearchTask,
    assessor: Assessor,
    past_runs: PastRuns | None,
    known: Integers,
    X: Floats,
    worst: float,
) -> dict[int, Incumbent]:
    """The measured configurations at `known` that are candidates of X [m, d], by place."""
    found: dict[int, Incumbent] = {}
    if past_runs is None or not len(known):
        return found
    costs = measured_losses(task, past_runs, known, worst)
    for place, cost in zip(known, costs, strict=True):
        for spot in _same(task, past_runs.X[place], X):
            name = _measured_text(task, assessor, past_runs, int(place))
            found[int(spot)] = Incumbent(float(cost), int(spot), name=name)
    return found


def _decisions(
    task: SearchTask,
    suggestions: tuple[Suggestion, ...],
    measured: dict[int, Incumbent],
    X: Floats,
    losses: Floats,
) -> list[Incumbent]:
    """What could be decided today: measured configurations and trusted suggestions.

    Where there are neither, the suggestions as they are, else what is predicted to be best.
    """
    found = dict(measured)
    encoder = Encoder(task.space)
    doubtful: dict[int, Incumbent] = {}
    for rank, suggestion in enumerate(suggestions, 1):
        for spot in _same(task, encoder.encode(suggestion.config), X):
            loss, name = float(losses[:, spot].mean()), f"suggestion {rank}"
            mine = Incumbent(loss, int(spot), name=name, predicted=True)
            trusted = suggestion.trust.label is Label.TRUSTED
            (found if trusted else doubtful).setdefault(int(spot), mine)
    if not found:
        # The first suggestion is the decision of today, whatever the draws say of the others.
        if doubtful:
            return list(doubtful.values())
        spot = int(np.argmin(losses.mean(axis=0)))
        loss = float(losses[:, spot].mean())
        return [Incumbent(loss, spot, name="what is predicted to be best")]
    return sorted(found.values(), key=lambda one: one.loss)


def _same(task: SearchTask, x: Floats, X: Floats) -> Integers:
    """The first candidate of X [m, d] with the settings of x [d], whatever the context; or none."""
    return np.flatnonzero((x[task.movable] == X[:, task.movable]).all(axis=1))[:1]


def _incumbent(decisions: list[Incumbent], losses: Floats) -> Incumbent:
    """The first decision, with what the best other one costs."""
    first = decisions[0]
    others = [one.loss for one in decisions[1:]]
    if not others:  # then somebody would go by the predictions
        others = [*np.delete(losses.mean(axis=0), first.place), np.inf]
    # What is predicted to be better than the decision of today is not trusted to be so.
    other = max(float(min(others)), first.loss)
    return replace(first, other=other)


def _measured_text(task: SearchTask, assessor: Assessor, past_runs: PastRuns, place: int) -> str:
    """A measured configuration as `row 12 (time 4.1 ms)`."""
    parts = []
    for target in task.targets:
        value = assessor.value(target.name, past_runs.mean[target.name][place])
        unit = getattr(assessor.store.prepared.space[target.name], "unit", None)
        amount = quantity(value, unit) if isinstance(value, float) else format_value(value)
        parts.append(f"{target.name} {amount}")
    runs = assessor.view.all_runs
    return f"row {runs.rows(past_runs.X[place])[0]} ({', '.join(parts)})"
