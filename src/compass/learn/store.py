"""The models of an engine, trained when a question first needs them and kept."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import ModelCard
from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number, Space
from compass.execute import Executor, opened
from compass.learn import widths
from compass.learn.compare import Selection
from compass.learn.folds import CrossValidation
from compass.learn.reliability import Reliability
from compass.learn.select import select_recipe
from compass.learn.training import FinalModel, TrainingData, train_final
from compass.model.base import Fitted, Learner, Task
from compass.model.error import score_interval, small
from compass.model.files import ModelFile
from compass.model.function import FunctionModel, PredictFunction
from compass.model.recipe import Recipe
from compass.prepare import Prepared
from compass.prepare.geometry import Geometry
from compass.prepare.split import by_configuration, by_group, by_time, configurations
from compass.prepare.weigh import deviation
from compass.settings import Settings
from compass.trust.interval import Conformal
from compass.trust.pairs.effect import Outcome
from compass.trust.pairs.index import PairIndex
from compass.trust.spread import Perturbed
from compass.trust.support import Support

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class OutcomeModel:
    """Everything learnt about one outcome from one set of features."""

    model: Fitted
    recipe: Recipe  # how it was made
    perturbed: Perturbed
    interval: Conformal | None  # None for classes
    change: Conformal | None  # of differences between two configurations; None for classes
    card: ModelCard
    scale: float  # standard deviation of the outcome


@dataclass(frozen=True)
class FeatureView:
    """The past runs seen through one set of features."""

    features: Space
    train: Rows  # positions in the prepared table
    valid: Rows
    X: Floats  # [n, d] all runs
    support: Support
    scale: Floats  # [d]


@dataclass(frozen=True, eq=False)
class OutcomeData:
    """One outcome of a field: what it is and which rows know it."""

    field: FeatureView
    y: Floats  # [n] all runs, NaN where it was not measured
    task: Task
    train: Rows
    valid: Rows


@dataclass(frozen=True, eq=False)
class Past:
    """All complete past runs seen through one set of features, by configuration."""

    key: NDArray[np.uint64]  # [n] ascending
    X: Floats  # [n, d]
    position: Rows  # [n] in the prepared table


@dataclass
class ModelStore:
    """Fields and trained models by what they are made of."""

    everything: Prepared  # all runs: any of them can be a baseline
    prepared: Prepared  # the runs that are learnt from
    settings: Settings
    progress: Progress | None = None
    given: Mapping[str, PredictFunction | ModelFile] = field(
        default_factory=dict
    )  # outcomes with a model at hand
    journal: Path | None = None  # where tuning keeps what it has tried
    executor: str | Executor | None = None  # where models are compared
    place: Executor | None = None  # the same, while it is open
    views: dict[tuple[str, ...], FeatureView] = field(default_factory=dict)
    trained: dict[tuple[tuple[str, ...], str], OutcomeModel] = field(default_factory=dict)
    joint: dict[tuple[tuple[str, ...], tuple[str, ...]], Perturbed] = field(default_factory=dict)
    past: dict[tuple[str, ...], Past] = field(default_factory=dict)
    reliability: dict[tuple[tuple[str, ...], str], Reliability] = field(default_factory=dict)
    pair_indexes: dict[tuple[tuple[str, ...], tuple[str, ...]], PairIndex] = field(
        default_factory=dict
    )
    told: dict[tuple[tuple[str, ...], str, int], Outcome] = field(default_factory=dict)
    complete: dict[tuple[str, ...], Rows] = field(default_factory=dict)
    alike: dict[tuple[str, ...], tuple[Rows, Rows]] = field(default_factory=dict)
    disagreement: dict[tuple[tuple[str, ...], str], float | None] = field(default_factory=dict)

    def view_of(self, features: tuple[str, ...]) -> FeatureView:
        """The split, the neighbours and the scales for these features."""
        if features not in self.views:
            self.views[features] = self._build_view(features)
        return self.views[features]

    def train(self, features: tuple[str, ...], targets: Iterable[str]) -> dict[str, OutcomeModel]:
        """The trained models of these outcomes; those that exist are reused."""
        wanted = tuple(targets)
        missing = [t for t in wanted if (features, t) not in self.trained]
        with self._at_work(bool(missing)):
            for done, target in enumerate(missing):
                self.tell(f"learning {target}", done, len(missing))
                self.trained[features, target] = self._train(features, target)
        if missing:
            self.tell("learnt", len(missing), len(missing))
        return {target: self.trained[features, target] for target in wanted}

    @contextmanager
    def _at_work(self, needed: bool) -> Iterator[None]:
        """Opens the executor that was asked for, once for all outcomes."""
        if self.executor is None or self.place is not None or not needed:
            yield
            return
        with opened(self.executor) as place:
            self.place = place
            try:
                yield
            finally:
                self.place = None

    def geometry(self, features: tuple[str, ...], weights: dict[str, float]) -> Geometry:
        """Distances between configurations, with the person's costs of change."""
        view = self.view_of(features)
        parameters = view.features.parameters
        return Geometry(
            scale=view.scale,
            weight=np.array([weights.get(name, 1.0) for name in features]),
            category=np.array([isinstance(p, Category) for p in parameters]),
            none=np.array(
                [
                    p.none_code if isinstance(p, Number) and p.optional else np.nan
                    for p in parameters
                ]
            ),
        )

    def past_of(self, features: tuple[str, ...]) -> Past:
        """The past runs sorted by what they are a run of."""
        if features not in self.past:
            X = self.view_of(features).X
            complete = np.flatnonzero(np.isfinite(X).all(axis=1))
            key = configurations(X[complete])
            order = np.argsort(key, kind="stable")
            position = complete[order]
            self.past[features] = Past(key[order], X[position], position)
        return self.past[features]

    def certainty(self, features: tuple[str, ...], targets: tuple[str, ...]) -> Perturbed:
        """The perturbed models of several outcomes as one measure."""
        key = (features, targets)
        if key not in self.joint:
            parts = [trained.perturbed for trained in self.train(features, targets).values()]
            self.joint[key] = Perturbed.together(parts)
        return self.joint[key]

    def chosen(self, lesson: "OutcomeData", target: str) -> tuple[Learner, Selection]:
        """What learns an outcome: the function that a person gave, or the recipe that is best."""
        if target in self.given:
            return self.followed(lesson, target, Recipe(family="given"))
        rows = lesson.train
        data = self.training_data(lesson).take(rows)
        found = select_recipe(
            CrossValidation.of(data, self._groups(lesson.field.X, rows)),
            journal=self.journal,
            executor=self.place,
            progress=self.progress,
        )
        return found.recipe, found

    def followed(
        self, lesson: "OutcomeData", target: str, recipe: Recipe
    ) -> tuple[Learner, Selection]:
        """What learns an outcome when the recipe is known already."""
        if target not in self.given:
            return recipe, Selection(recipe, ())
        model, features = self.given[target], lesson.field.features
        if isinstance(model, ModelFile):
            parameter = self.prepared.space[target]
            labels = parameter.values if isinstance(parameter, Category) else None
            kind: Learner = model.about(features, target, labels)
        else:
            kind = FunctionModel(model, features, target)
        return kind, Selection(Recipe(family=kind.name), ())

    def _groups(self, X: Floats, rows: Rows) -> NDArray[np.generic]:
        """What stays on one side of every fold: groups where there are, else configurations."""
        group = self.prepared.group
        return configurations(X[rows]) if group is None else group[rows]

    def tell(self, what: str, done: int, total: int) -> None:
        """Say how far it is, if somebody listens."""
        if self.progress is not None:
            self.progress(what, done, total)

    def _build_view(self, features: tuple[str, ...]) -> FeatureView:
        space = self.prepared.space.select(features)
        X = self.prepared.columns_of(features)
        complete = np.flatnonzero(np.isfinite(X).all(axis=1))
        if len(complete) < 2:
            raise DataProblem(
                f"only {len(complete)} past runs have a value for all of: {', '.join(features)}",
                hint="ignore a column that is mostly empty, or keep its gaps (--missing COL=none)",
            )
        train, valid = self._split(X, complete)
        seed = self.settings.seed
        weight = self.prepared.weight
        self.tell("measuring distances", 0, 1)
        support = Support.build(
            X[train],
            X[valid],
            space,
            self.settings.trust,
            seed,
            train_weight=weight[train],
            valid_weight=weight[valid],
        )
        return FeatureView(space, train, valid, X, support, _scales(X[train], space, weight[train]))

    def _split(self, X: Floats, complete: Rows) -> tuple[Rows, Rows]:
        """Training and validation rows; identical configurations never lie on both sides."""
        share, seed = self.settings.validation_share, self.settings.seed
        group, time_ = self.prepared.group, self.prepared.time
        if group is not None:
            train, valid = by_group(group[complete], share, seed)
        elif time_ is not None:
            train, valid = by_time(time_[complete], share)
        else:
            train, valid = by_configuration(X[complete], share, seed)
        train, valid = complete[train], complete[valid]
        kinds = configurations(X)
        return train, valid[~np.isin(kinds[valid], kinds[train])]

    def _train(self, features: tuple[str, ...], target: str) -> OutcomeModel:
        began = time.perf_counter()
        lesson = self.lesson(features, target)
        kind, selected = self.chosen(lesson, target)
        final = train_final(kind, self.training_data(lesson), lesson.train, lesson.valid)
        return self.assembled(lesson, target, final, selected, began)

    def training_data(self, lesson: "OutcomeData") -> TrainingData:
        """All rows of an outcome, as training takes them."""
        return TrainingData(
            lesson.field.X,
            lesson.y,
            lesson.task,
            self.prepared.weight,
            self.settings.seed,
            self.settings,
            lesson.field.features,
        )

    def assembled(
        self,
        lesson: "OutcomeData",
        target: str,
        final: FinalModel,
        selected: Selection,
        began: float,
    ) -> OutcomeModel:
        """A model with what tells how far it can be relied on."""
        view, train, valid = lesson.field, lesson.train, lesson.valid
        weight = self.prepared.weight
        perturbed = Perturbed.fit(
            view.X[train],
            {target: lesson.y[train]},
            {target: lesson.task},
            view.features,
            self.settings,
            self.settings.seed,
            X_valid=view.X[valid],
            weight=weight[train],
            valid_weight=weight[valid],
        )
        card = self._card(lesson, target, final, selected, time.perf_counter() - began)
        number = lesson.task.classes is None
        intervals = self._intervals(lesson, final.fitted, perturbed, selected.recipe.log)
        scale = deviation(lesson.y[train], weight[train]) if number else 1.0
        return OutcomeModel(
            final.fitted, selected.recipe, perturbed, *intervals, card, scale or 1.0
        )

    def _intervals(
        self, lesson: "OutcomeData", model: Fitted, perturbed: Perturbed, log: bool
    ) -> tuple[Conformal | None, Conformal | None]:
        """How wide the intervals of predictions and of changes are; None for classes."""
        if lesson.task.classes is not None:
            return None, None
        view, limit, seed = lesson.field, self.settings.trust.validation_rows, self.settings.seed
        about = (model, perturbed.forests[0], view.X, lesson.y)
        weight, group = self.prepared.weight, self.prepared.group
        train, valid = (widths.some(rows, limit, seed) for rows in (lesson.train, lesson.valid))
        return (
            widths.of_values(*about, train, lesson.valid, weight=weight, group=group, log=log),
            widths.of_changes(
                *about, train, valid, space=view.features, weight=weight, group=group, log=log
            ),
        )

    def lesson(self, features: tuple[str, ...], target: str) -> "OutcomeData":
        """The rows that an outcome is learnt from and checked with."""
        view = self.view_of(features)
        parameter = self.prepared.space[target]
        y = self.prepared.column(target)
        if isinstance(parameter, Number) and parameter.optional:
            y = np.where(y == parameter.none_code, np.nan, y)  # `none` is no amount to learn
        train, valid = _measured(view, np.isfinite(y), target)
        task = Task(len(parameter.values) if isinstance(parameter, Category) else None)
        return OutcomeData(view, y, task, train, valid)

    def _card(
        self,
        lesson: "OutcomeData",
        target: str,
        final: FinalModel,
        selected: Selection,
        seconds: float,
    ) -> ModelCard:
        recipe, train, valid = selected.recipe, lesson.train, lesson.valid
        weight = self.prepared.weight
        low, high = score_interval(
            lesson.y[valid],
            final.fitted.predict(lesson.field.X[valid]),
            lesson.task,
            scale=small(lesson.y[train], weight[train]) if lesson.task.classes is None else None,
            weight=weight[valid],
            seed=self.settings.seed,
        )
        return ModelCard(
            target=target,
            family=final.fitted.family,
            rows=len(lesson.train),
            anew=len(lesson.train),
            features=lesson.field.features.names,
            error=final.score.error,
            error_name=final.score.name,
            low=low,
            high=high,
            checked=len(valid),
            log=recipe.log,
            embedding=recipe.embedding,
            tuned={name: v for part in recipe.changes.values() for name, v in part.items()},
            provable=final.fitted.trees() is not None,
            scores=selected.scores,
            notes=selected.notes,
            sample=self.prepared.sample,
            seconds=seconds,
        )


def _measured(view: FeatureView, known: NDArray[np.bool_], target: str) -> tuple[Rows, Rows]:
    """The training and validation rows whose outcome is known."""
    train, valid = view.train[known[view.train]], view.valid[known[view.valid]]
    if len(train) < 2 or not len(valid):
        few = f"only {int(known.sum())} past runs have a value of {target}"
        repeated = f"the runs to check {target} with repeat configurations that are learnt from"
        raise DataProblem(
            few if len(view.valid) else repeated, hint="choose another outcome, or read more runs"
        )
    return train, valid


def _scales(X: Floats, space: Space, weight: Floats) -> Floats:
    """What counts as a large difference per column: the standard deviation of past runs."""
    scales = []
    for column, parameter in zip(X.T, space.parameters, strict=True):
        values, counts = column, weight
        if isinstance(parameter, Number) and parameter.optional:
            given = column != parameter.none_code
            values, counts = column[given], weight[given]
        spread = deviation(values, counts) if len(values) else 0.0
        scales.append(1.0 if isinstance(parameter, Category) or not spread else spread)
    return np.array(scales)
