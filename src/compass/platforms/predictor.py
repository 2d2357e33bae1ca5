"""The default model: from a profile on one machine to the runtime ratios of all others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import DataProblem
from compass.platforms.base import Member, Predict, Training
from compass.platforms.combine import Chosen, choose, combined, ratio_errors
from compass.platforms.counters import CounterMapping, counter_mapping
from compass.platforms.intervals import COVER, application_quantile
from compass.platforms.members import MEMBERS
from compass.platforms.pairs import Floats, MatchedRuns, Whole
from compass.platforms.residuals import ErrorModel
from compass.platforms.views import Scaling, balanced, profile

Progress = Callable[[str, int, int], None]
_FOLDS = 6  # of applications
_LINES = 150  # of an application that are learnt from
_FEWEST = 3  # applications


@dataclass(frozen=True, eq=False)
class Learner:
    """Members learnt from some lines, with the scales of their views."""

    source: int
    scalings: Mapping[str, Scaling]
    predicts: Mapping[str, tuple[str, Predict]]  # name -> view, model
    low: Floats  # [m]
    high: Floats

    @classmethod
    def of(
        cls,
        views: Mapping[str, Floats],
        log_ratio: Floats,
        applications: NDArray[np.str_],
        source: int,
        members: Sequence[Member],
        seed: int,
    ) -> "Learner":
        """Of profiles [n, d] by view and log ratios [n, m]."""
        weight = balanced(applications)
        scalings = {view: Scaling.of(X, weight) for view, X in views.items()}
        predicts = {}
        for member in members:
            X = scalings[member.view].apply(views[member.view])
            training = Training(X, log_ratio, applications, weight, seed)
            predicts[member.name] = member.view, member.fit(training)
        known = np.isfinite(log_ratio)
        low = np.where(known, log_ratio, np.inf).min(axis=0)
        high = np.where(known, log_ratio, -np.inf).max(axis=0)
        return cls(source, scalings, predicts, low, high)

    def each(self, views: Mapping[str, Floats]) -> dict[str, Floats]:
        """What each member predicts, [k, m]; the source machine's ratio is 1."""
        scaled = {view: scaling.apply(views[view]) for view, scaling in self.scalings.items()}
        found = {}
        for name, (view, predict) in self.predicts.items():
            log_ratio = np.array(predict(scaled[view]), dtype=np.float64)
            log_ratio[:, self.source] = 0.0
            found[name] = log_ratio
        return found


@dataclass(frozen=True, eq=False)
class Forecast:
    """Log ratios of lines on all machines, [k, m], and how far they can be off."""

    machines: tuple[str, ...]
    log_ratio: Floats
    spread: Floats  # standard deviation
    factor: Floats  # the runtime is within this factor, as often as the model covers
    order_by: Floats  # [k, m] log ratios that machines are ordered by
    covariance: Floats  # [k, m, m] of these
    measured: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PlatformModel:
    """What was learnt about machines from runs matched across them, seen from a source machine."""

    machines: tuple[str, ...]
    source: str
    mapping: CounterMapping
    learner: Learner
    chosen: Chosen
    errors: ErrorModel
    order_errors: ErrorModel
    quantile: float
    quantile_told: float  # after a run on the target
    cover: float  # share of new applications' runs that the intervals hold
    held_out: Floats  # [n, m] errors of lines learnt from, each predicted without its application
    lines: MatchedRuns  # learnt from
    notes: tuple[str, ...] = field(default=())

    @property
    def place(self) -> int:
        """The column of the source machine."""
        return self.machines.index(self.source)

    def views(self, runs: MatchedRuns) -> dict[str, Floats]:
        """The profiles of lines, by view."""
        names = self.learner.scalings
        return {view: profile(runs, self.source, view, self.mapping) for view in names}

    def predict(self, runs: MatchedRuns) -> Forecast:
        """The lines of one application; what was measured on other machines corrects the rest."""
        each = self.learner.each(self.views(runs))
        return self.corrected(runs, self.served(each), self.ordered(each))

    def served(self, each: Mapping[str, Floats]) -> Floats:
        """The combination of the members that earned their place, [k, m]."""
        low, high = self.learner.low, self.learner.high
        return combined(each, self.chosen.members, self.chosen.share, low, high)

    def ordered(self, each: Mapping[str, Floats]) -> Floats:
        """What machines are ordered by, [k, m]: the median of all members.

        Members were chosen for small errors; on public tables all of them together order machines
        better than those few.
        """
        return combined(each, tuple(each), 1.0, self.learner.low, self.learner.high)

    def corrected(self, runs: MatchedRuns, predicted: Floats, order_by: Floats) -> Forecast:
        """Predictions [k, m] of lines of one application, after what was measured of them."""
        truth = runs.log_ratio(self.source)
        errors = truth - predicted
        errors[:, self.place] = np.nan  # nothing is learnt from the source itself
        shift, spread = self.errors.conditioned(errors, runs.configuration)
        measured = np.isfinite(truth)
        told = measured.any(axis=0)
        quantile = np.where(told, self.quantile_told, self.quantile)
        log_ratio = np.where(measured, truth, predicted + shift)
        spread = np.where(measured, 0.0, spread)
        spread[:, self.place] = 0.0
        covariance = np.array(
            [self._order_covariance(runs, order_by, np.array([line])) for line in range(len(runs))]
        ).reshape(len(runs), len(self.machines), len(self.machines))
        return Forecast(
            self.machines,
            log_ratio,
            spread,
            np.exp(np.minimum(quantile * spread, 50.0)),
            self._order_mean(runs, order_by),
            covariance,
            measured,
        )

    def together(self, runs: MatchedRuns, lines: Whole) -> tuple[Floats, Floats]:
        """What these of the lines of one application are ordered by, all machines of all lines.

        Log ratios [l m] and their covariance [l m, l m], the machines of one line together.
        """
        order_by = self.ordered(self.learner.each(self.views(runs)))
        mean = self._order_mean(runs, order_by)[lines].ravel()
        return mean, self._order_covariance(runs, order_by, lines)

    def _order_off(self, runs: MatchedRuns, order_by: Floats) -> Floats:
        """How far what machines are ordered by is from what was measured elsewhere, [k, m]."""
        off = np.array(runs.log_ratio(self.source) - order_by)
        off[:, self.place] = np.nan
        return off

    def _order_mean(self, runs: MatchedRuns, order_by: Floats) -> Floats:
        truth = runs.log_ratio(self.source)
        off = self._order_off(runs, order_by)
        shift, _ = self.order_errors.conditioned(off, runs.configuration)
        return np.where(np.isfinite(truth), truth, order_by + shift)

    def _order_covariance(self, runs: MatchedRuns, order_by: Floats, lines: Whole) -> Floats:
        off = self._order_off(runs, order_by)
        covariance = self.order_errors.covariance_of(off, runs.configuration, lines)
        return _pinned(covariance, np.isfinite(runs.log_runtime[lines]).ravel())


def fit(
    runs: MatchedRuns,
    source: str,
    *,
    mapping: CounterMapping | None = None,
    members: Sequence[Member] = MEMBERS,
    cover: float = COVER,
    seed: int = 7,
    progress: Progress | None = None,
) -> PlatformModel:
    """Learn the runtime ratios of all machines as seen from `source`.

    `progress` is told (what, done, total) after each part.
    """
    mapping = counter_mapping() if mapping is None else mapping
    runs = _thinned(runs.ran_on(source), seed)
    place = runs.place(source)
    log_ratio = runs.log_ratio(source)
    elsewhere = np.atleast_1d(np.isfinite(np.delete(log_ratio, place, axis=1)).any(axis=1))
    runs, log_ratio = runs.some(elsewhere), log_ratio[elsewhere]
    count = len(set(runs.applications.tolist()))
    if count < _FEWEST:
        raise DataProblem(
            f"{count} applications were run on {source} and on another machine in the same "
            f"configuration: {_FEWEST} are needed to learn from",
            hint="say which columns have to be equal in compared runs (config), or give more runs",
        )
    views = {
        view: profile(runs, source, view, mapping) for view in sorted({m.view for m in members})
    }
    tell = progress or (lambda *_: None)
    each = _held_out(views, log_ratio, runs.applications, place, members, seed, tell)
    learner = Learner.of(views, log_ratio, runs.applications, place, members, seed)
    low, high = learner.low, learner.high
    judged = np.array(log_ratio)
    judged[:, place] = np.nan  # the ratio of the source to itself is no prediction
    chosen = choose(each, low, high, ratio_errors(judged, runs.applications))
    errors = judged - combined(each, chosen.members, chosen.share, low, high)
    itself = np.arange(len(runs.machines)) == place
    model = ErrorModel.of(np.where(itself, 0.0, errors), runs.applications)
    order_off = judged - combined(each, tuple(each), 1.0, low, high)
    return PlatformModel(
        machines=runs.machines,
        source=source,
        mapping=mapping,
        learner=learner,
        chosen=chosen,
        errors=model,
        order_errors=ErrorModel.of(np.where(itself, 0.0, order_off), runs.applications),
        quantile=application_quantile(np.abs(errors) / model.spread, runs.applications, cover),
        quantile_told=_after_a_run(model, errors, runs, cover, seed),
        cover=cover,
        held_out=errors,
        lines=runs,
    )


def _held_out(
    views: Mapping[str, Floats],
    log_ratio: Floats,
    applications: NDArray[np.str_],
    source: int,
    members: Sequence[Member],
    seed: int,
    tell: Progress,
) -> dict[str, Floats]:
    """What each member predicts of applications it has not seen, [n, m]."""
    names, place = np.unique(applications, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(names)) % min(_FOLDS, len(names))
    found = {member.name: np.full(log_ratio.shape, np.nan) for member in members}
    parts = int(fold.max()) + 1
    for part in range(parts):
        tell("learning machines", part, parts)
        out = fold[place] == part
        own = {view: X[~out] for view, X in views.items()}
        learner = Learner.of(own, log_ratio[~out], applications[~out], source, members, seed)
        each = learner.each({view: X[out] for view, X in views.items()})
        for name, predicted in each.items():
            # A machine that only these applications were run on: nothing is known of it.
            found[name][out] = np.clip(predicted, learner.low, learner.high)
    tell("learning machines", parts, parts)
    return found


def _after_a_run(
    model: ErrorModel, errors: Floats, runs: MatchedRuns, cover: float, seed: int
) -> float:
    """The conformal quantile of what is left after one run on each target machine."""
    rng = np.random.default_rng(seed)
    scores = np.full(errors.shape, np.nan)
    for application in np.unique(runs.applications):
        own = np.flatnonzero(runs.applications == application)
        if len(own) < 2:
            continue
        own = own if len(own) <= 40 else np.sort(rng.choice(own, 40, replace=False))
        configuration = runs.configuration[own]
        for machine in range(errors.shape[1]):
            known = own[np.isfinite(errors[own, machine])]
            if len(known) < 2:
                continue
            told = np.full((len(own), errors.shape[1]), np.nan)
            line = int(rng.choice(known))
            told[own == line, machine] = errors[line, machine]
            mean, spread = model.conditioned(told, configuration)
            left = np.abs(errors[own, machine] - mean[:, machine]) / spread[:, machine]
            scores[own, machine] = np.where(own == line, np.nan, left)
    found = application_quantile(scores, runs.applications, cover)
    if np.isfinite(found):
        return found
    return application_quantile(np.abs(errors) / model.spread, runs.applications, cover)


def _thinned(runs: MatchedRuns, seed: int) -> MatchedRuns:
    """At most so many lines of each application."""
    rng = np.random.default_rng(seed)
    kept = []
    for application in np.unique(runs.applications):
        own = np.flatnonzero(runs.applications == application)
        kept.append(own if len(own) <= _LINES else rng.choice(own, _LINES, replace=False))
    return runs.some(np.sort(np.concatenate(kept))) if kept else runs


def _pinned(covariance: Floats, measured: NDArray[np.bool_]) -> Floats:
    """Nothing is uncertain about what was measured."""
    open_ = ~measured
    return np.asarray(covariance * np.outer(open_, open_))
