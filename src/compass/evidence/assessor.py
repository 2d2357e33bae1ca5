"""Predictions and trust of complete configurations, in the nouns of an answer."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Evidence, Label, Prediction, Trust
from compass.domain.base import Config, Value
from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.space import Category, Number
from compass.domain.target import Target
from compass.evidence.classes import class_scores
from compass.evidence.comparable import MatchedRuns
from compass.generate.targets import in_numbers, meets
from compass.learn.features import FeatureView
from compass.learn.intervals import own_spread
from compass.learn.outcomes import LearntOutcome, OutcomeModel
from compass.learn.store import ModelStore
from compass.prepare.encode import Encoder
from compass.prepare.weigh import uneven
from compass.trust.assess import Assessment, assess, published
from compass.trust.change import ends_of_change, spread_of_change
from compass.trust.interval import Conformal, units_needed

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Assessor:
    """Everything that can be said about a configuration of these features."""

    store: ModelStore
    view: FeatureView
    trained: Mapping[str, OutcomeModel]
    asked: float | None = None  # the level of intervals that a question wants

    @cached_property
    def matched(self) -> MatchedRuns:
        """The comparable past runs, for all of its outcomes."""
        learnt = {name: self.learnt(name) for name in self.trained}
        return MatchedRuns.of(self.view, learnt, self.store.settings.trust)

    def learnt(self, name: str) -> LearntOutcome:
        """An outcome with what was measured of it and what is known of its model."""
        return self.store.learnt(self.view.names, name)

    @property
    def level(self) -> float:
        """The share of new runs that an interval holds."""
        return self.store.settings.interval if self.asked is None else self.asked

    def predict(
        self,
        scores: Mapping[str, Floats],
        spreads: Mapping[str, Floats],
        targets: tuple[Target, ...],
        before: Config,
        observed: Sequence[Config],
        moved: tuple[Floats, Floats] | None = None,
        chances: Mapping[str, Floats] | None = None,
        chance: float | None = None,
    ) -> list[tuple[Prediction, ...]]:
        """Per configuration one prediction per outcome; scores and spreads as models give them.

        `observed` says for each configuration what to show as measured beside the prediction,
        `moved` from where [d] to where [n, d] it goes: then changes get intervals. `chances` are
        those of the goals, [n] each, and `chance` what they have to be.
        """
        changes = {
            name: self._changes(name, before.get(name), scores[name], spreads[name], moved)
            for name in self.trained
        }
        by_name = {target.name: target for target in targets}
        return [
            tuple(
                self._prediction(
                    name,
                    scores[name][i],
                    float(spreads[name][i]),
                    by_name.get(name),
                    before.get(name),
                    measured.get(name),
                    changes[name][i],
                    (float(chances[name][i]) if chances and name in chances else None, chance),
                )
                for name in self.trained
            )
            for i, measured in enumerate(observed)
        ]

    def predicted(self, x: Floats) -> Config:
        """What every outcome of a configuration x [d] is predicted to be."""
        return {
            name: self.value(name, trained.model.predict(x[None, :])[0])
            for name, trained in self.trained.items()
        }

    def value(self, name: str, score: Floats) -> Value:
        """A model's output for one configuration as a value: a number or a label."""
        parameter = self.store.prepared.space[name]
        if isinstance(parameter, Category):
            return parameter.values[int(np.argmax(score))]
        return max(float(score[0]), self.floor(name))

    def floor(self, name: str) -> float:
        """The least that is said of an outcome: what was never negative is a time or the like."""
        parameter = self.store.prepared.space[name]
        return 0.0 if isinstance(parameter, Number) and parameter.low >= 0 else -math.inf

    def band(self, name: str, scores: Floats, spread: Floats) -> tuple[Floats, Floats] | None:
        """Both ends [n] of the interval around scores [n, 1]; None for classes."""
        interval, parameter = self.trained[name].interval, self.store.prepared.space[name]
        if interval is None or not isinstance(parameter, Number):
            return None
        low, high = interval.ends(scores[:, 0], spread, self.level)
        return np.maximum(low, self.floor(name)), np.maximum(high, self.floor(name))

    def _changes(
        self,
        name: str,
        before: Value,
        scores: Floats,
        spread: Floats,
        moved: tuple[Floats, Floats] | None,
    ) -> list[tuple[float | None, float | None]]:
        """Both ends of the interval of the change for each of the configurations."""
        trained = self.trained[name]
        known = trained.change
        if known is None or moved is None or not isinstance(before, float):
            return [(None, None)] * len(scores)
        after, (start, X) = scores[:, 0], moved
        own = own_spread(trained.model, start[None, :], known.log), spread
        if known.log:
            own = own[0], spread / after
        trees = trained.perturbed.forests[0]
        apart = spread_of_change(trees, start[None, :], X, own, log=known.log)
        ends = ends_of_change(known, np.full(len(X), before), after, apart, self.level)
        least = self.floor(name) - before  # nothing falls by more than all of it
        return [
            (max(float(low), least), max(float(high), least))
            for low, high in zip(*ends, strict=True)
        ]

    def unbounded(self, *, changes: bool = False) -> tuple[str, ...]:
        """Which intervals have no end, and what would give them one; `changes`: theirs too."""
        found = []
        for name, known in self.trained.items():
            if known.interval is not None and math.isinf(known.interval.quantile(self.level)):
                found.append(self._no_end(f"interval of {name}", known.interval, "runs of"))
                continue
            change = known.change if changes else None
            if change is not None and math.isinf(change.quantile(self.level)):
                what = f"interval of the change of {name}"
                found.append(self._no_end(what, change, "pairs of"))
        return tuple(found)

    def _no_end(self, what: str, known: Conformal, of: str) -> str:
        units = known.units
        grouped = self.store.prepared.group is not None
        kind = "groups" if grouped else f"{of} different configurations"
        needed = units_needed(self.level)
        in_all = math.ceil(needed / self.store.settings.validation_share)
        total = f" (about {in_all} in all)" if grouped or of == "runs of" else ""
        there = f"there are {units}"
        if units >= needed and uneven(self.store.prepared.weight) is not None:
            worth = math.floor(10 * known.effective) / 10
            there = f"by their weights the {units} there are count like {worth:g} of equal weight"
        elif units >= needed:
            there = f"the runs are too unevenly spread over the {units} there are"
        return (
            f"The {what} is unbounded: a level of {100 * self.level:g} % needs at least "
            f"{needed} {kind} to check with{total}, and {there}."
        )

    def _prediction(
        self,
        name: str,
        score: Floats,
        spread: float,
        target: Target | None,
        before: Value,
        measured: Value,
        ends: tuple[float | None, float | None],
        chances: tuple[float | None, float | None],
    ) -> Prediction:
        value = self.value(name, score)
        parameter = self.store.prepared.space[name]
        low = high = change = percent = probability = None
        likely, least = chances
        met = meets(target, value)
        if target is not None and target.by_chance and least is not None and likely is not None:
            met = likely >= least - 1e-9
        band = self.band(name, score[None, :], np.array([spread]))
        if band is None:
            probability = float(np.max(score))
        else:
            low, high = float(band[0][0]), float(band[1][0])
        if isinstance(value, float) and isinstance(before, float | int):
            change = value - before
            percent = 100 * change / abs(before) if before else None
        return Prediction(
            name=name,
            value=value,
            unit=parameter.unit if isinstance(parameter, Number) else None,
            low=low,
            high=high,
            level=None if band is None else self.level,
            before=before,
            observed=measured,
            change=change,
            change_percent=percent,
            change_low=ends[0],
            change_high=ends[1],
            probability=probability,
            meets=met,
            chance=likely,
            against=None if target is None else target.against,
            wanted=None if target is None or target.direction else in_numbers(target),
            scores=class_scores(parameter, score),
        )

    def chances(self, name: str, scores: Floats, spread: Floats, target: Target) -> Floats | None:
        """How likely new runs with these predictions lie in a range, [n]; None for classes."""
        if self.trained[name].interval is None:
            return None
        errors, predicted = self.learnt(name).errors, scores[:, 0]
        own = spread / predicted if errors.log else spread
        return errors.chance(predicted, own, target.low, target.high)

    def trust(self, X: Floats) -> list[Trust]:
        """Algorithm 1 for each configuration, with the past runs that support it."""
        return [self._trust(assessment) for assessment in self._assessments(X)]

    def labels(self, X: Floats) -> list[Label]:
        """Only the labels, without gathering evidence."""
        return [assessment.label for assessment in self._assessments(X)]

    def without_doubt(self, X: Floats) -> NDArray[np.bool_]:
        """Of which configurations X [n, d] novelty and certainty leave no doubt, [n]."""
        return np.array([not one.doubts for one in self._assessments(X)], dtype=np.bool_)

    def _assessments(self, X: Floats) -> list[Assessment]:
        certainty = self.store.certainty(self.view.features.names, tuple(self.trained))
        names, settings = self.view.features.names, self.store.settings.trust
        return assess(X, self.view.support, certainty, settings, names, self.view.runs.count(X))

    def _trust(self, assessment: Assessment) -> Trust:
        shown = self.store.settings.trust.evidence
        close = zip(assessment.rows[:shown], assessment.distances[:shown], strict=True)
        scores = assessment.scores
        return Trust(
            label=assessment.label,
            published=published(scores, self.store.settings.trust),
            measured=scores.runs,
            doubts=assessment.doubts,
            ood=scores.ood,
            uq=scores.uq,
            risk=scores.risk,
            support=scores.near,
            tau=self.view.support.tau,
            evidence=tuple(self._evidence(int(i), float(d)) for i, d in close),
            reason="",  # made of all doubts, when they are known
        )

    def _evidence(self, index: int, distance: float) -> Evidence:
        prepared = self.store.prepared
        position = int(self.view.supporting[index])
        row = int(prepared.row_id[position])
        file, _ = prepared.table.part_of(row)
        outcomes, columns = self._outcomes
        return Evidence(
            row=row,
            file=file if len(prepared.table.parts) > 1 else None,
            source=prepared.table.source_of(row),
            distance=distance,
            config=self._features.decode(self.view.X[position]),
            outcomes=outcomes.decode(prepared.values[position, columns]),
        )

    @cached_property
    def _features(self) -> Encoder:
        return Encoder(self.view.features)

    @cached_property
    def _outcomes(self) -> tuple[Encoder, list[int]]:
        """The encoder of the outcomes, and their columns in the prepared table."""
        space, names = self.store.prepared.space, tuple(self.trained)
        return Encoder(space.select(names)), [space.names.index(name) for name in names]


def measured_doubts(
    assessor: "Assessor", x: Floats, outcomes: Sequence[Prediction]
) -> tuple[Doubt, ...]:
    """A doubt for every outcome that past runs of the configuration x [d] had otherwise.

    Otherwise: their mean is outside of the interval around the prediction.
    """
    rows = assessor.view.runs.positions(x)
    found = []
    for one in outcomes if len(rows) else ():
        y = assessor.learnt(one.name).y[rows]
        y = y[np.isfinite(y)]
        if not len(y) or one.low is None or one.high is None:
            continue
        mean = float(y.mean())
        if not one.low <= mean <= one.high:
            about = DoubtCode.MEASURED_OTHERWISE
            found.append(Doubt(code=about, outcome=one.name, value=mean))
    return tuple(found)


def skill_doubts(assessor: "Assessor") -> tuple[Doubt, ...]:
    """A doubt for every outcome whose model does not clearly beat the simplest prediction."""
    return tuple(
        Doubt(code=DoubtCode.NO_SKILL, outcome=name, value=trained.card.skill)
        for name, trained in assessor.trained.items()
        if not trained.card.skilled
    )


def goal_doubts(
    outcomes: Sequence[Prediction], least: float, by_chance: Collection[str]
) -> tuple[Doubt, ...]:
    """A doubt for every goal that is missed, or of these met with a chance below `least`.

    Who reads `trusted` takes it for what was asked for: what misses its goal is none.
    """
    found = []
    for one in outcomes:
        if one.name in by_chance and one.chance is not None and one.chance < least:
            about = DoubtCode.GOAL_CHANCE
            found.append(Doubt(code=about, outcome=one.name, value=one.chance, limit=least))
        elif one.meets is False:
            found.append(Doubt(code=DoubtCode.GOAL_MISSED, outcome=one.name))
    return tuple(found)
