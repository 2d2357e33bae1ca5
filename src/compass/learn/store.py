"""The models of an engine, trained when a question first needs them and kept."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import ModelCard
from compass.domain.errors import CompassError
from compass.domain.space import Category
from compass.execute import Executor, opened
from compass.learn.compare import Selection
from compass.learn.features import FeatureView, Floats, Rows
from compass.learn.folds import CrossValidation
from compass.learn.intervals import change_interval, some_rows, value_interval
from compass.learn.outcomes import LearntOutcome, OutcomeData, OutcomeModel
from compass.learn.select import select_recipe
from compass.learn.skill import skill_of
from compass.learn.training import FinalModel, TrainingPlan, train_final
from compass.model.base import Fitted, Learner
from compass.model.error import HeldOutPredictions, folds_interval
from compass.model.files import ModelFile
from compass.model.function import FunctionModel, PredictFunction
from compass.model.recipe import Recipe
from compass.prepare import Prepared
from compass.prepare.split import configurations
from compass.prepare.weigh import deviation
from compass.settings import Settings
from compass.trust.interval import Conformal
from compass.trust.spread import Perturbed

Progress = Callable[[str, int, int], None]
Key = tuple[tuple[str, ...], str]  # features, outcome
Name = TypeVar("Name")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class _Selected:
    """An outcome, and what is to learn it."""

    target: str
    data: OutcomeData
    learner: Learner
    selection: Selection
    seconds: float  # that the selection took


class Restored(MutableMapping[Name, Made]):
    """Things by name; one that a file holds is made when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[Name, Made] = {}
        self._names: dict[Name, Callable[[], Made] | None] = {}  # in order; None: it is made
        self.on_restored: Callable[[], None] | None = None  # called once, for the first of them

    def later(self, name: Name, make: Callable[[], Made]) -> None:
        """Have something made when it is asked for."""
        self._names[name] = make

    def __getitem__(self, name: Name) -> Made:
        make = self._names[name]
        if make is not None:
            self[name] = make()
            told, self.on_restored = self.on_restored, None
            if told is not None:
                told()
        return self._made[name]

    def __setitem__(self, name: Name, value: Made) -> None:
        self._made[name] = value
        self._names[name] = None

    def __delitem__(self, name: Name) -> None:
        del self._names[name]
        self._made.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass
class ModelStore:
    """Feature views and outcome models, by the features and the outcome they are made of."""

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
    trained: Restored[Key, OutcomeModel] = field(default_factory=Restored)
    on_learnt: Callable[[], None] | None = None  # called whenever models were trained
    views: Restored[tuple[str, ...], FeatureView] = field(default_factory=Restored)
    _learnt: dict[Key, LearntOutcome] = field(default_factory=dict)
    _joint: dict[tuple[tuple[str, ...], tuple[str, ...]], Perturbed] = field(default_factory=dict)

    def view_of(self, features: tuple[str, ...]) -> FeatureView:
        """The past runs seen through these features."""
        if features not in self.views:
            self.tell("measuring distances", 0, 1)
            built = FeatureView.build(self.prepared, self.everything, features, self.settings)
            self.views[features] = built
        return self.views[features]

    def learnt(self, features: tuple[str, ...], target: str) -> LearntOutcome:
        """An outcome with its model and what is known of both."""
        model = self.train(features, (target,))[target]
        known = self._learnt.get((features, target))
        if known is None or known.learnt is not model:
            known = LearntOutcome(self.view_of(features), target, model)
            self._learnt[features, target] = known
        return known

    def train(self, features: tuple[str, ...], targets: Iterable[str]) -> dict[str, OutcomeModel]:
        """The trained models of these outcomes; those that exist are reused."""
        wanted = tuple(targets)
        missing = [t for t in wanted if (features, t) not in self.trained]
        if missing:
            with self._at_work():
                self._train(features, missing)
            self.tell("learnt", len(missing), len(missing))
            if self.on_learnt is not None:
                self.on_learnt()
        return {target: self.trained[features, target] for target in wanted}

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Opens the executor that was asked for, once for all outcomes."""
        if self.executor is None or self.place is not None:
            yield
            return
        with opened(self.executor) as place:
            self.place = place
            try:
                yield
            finally:
                self.place = None

    def certainty(self, features: tuple[str, ...], targets: tuple[str, ...]) -> Perturbed:
        """The perturbed models of several outcomes as one measure."""
        key = (features, targets)
        if key not in self._joint:
            parts = [trained.perturbed for trained in self.train(features, targets).values()]
            self._joint[key] = Perturbed.together(parts)
        return self._joint[key]

    def chosen(self, data: OutcomeData, target: str) -> tuple[Learner, Selection]:
        """What learns an outcome: the function that a person gave, or the recipe that is best."""
        if target in self.given:
            return self.followed(data, target, Recipe(family="given"))
        rows = self.prepared.citable(data.train)  # no error is measured on synthetic rows
        found = select_recipe(
            CrossValidation.of(data.training(self.settings).take(rows), self._groups(data.X, rows)),
            journal=self.journal,
            executor=self.place,
            progress=self.progress,
        )
        return found.recipe, found

    def followed(self, data: OutcomeData, target: str, recipe: Recipe) -> tuple[Learner, Selection]:
        """What learns an outcome when the recipe is known already."""
        if target not in self.given:
            return recipe, Selection(recipe, ())
        model, features = self.given[target], data.view.features
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

    def data_of(self, features: tuple[str, ...], target: str) -> OutcomeData:
        """The rows that an outcome is learnt from and checked with."""
        return OutcomeData.of(self.view_of(features), target)

    def _train(self, features: tuple[str, ...], targets: Sequence[str]) -> None:
        """Select a recipe for each outcome, then train those of one recipe together.

        Where one cannot be learnt, those before it are kept.
        """
        selected: list[_Selected] = []
        try:
            for done, target in enumerate(targets):
                self.tell(f"learning {target}", done, len(targets))
                began = time.perf_counter()
                data = self.data_of(features, target)
                learner, selection = self.chosen(data, target)
                spent = time.perf_counter() - began
                selected.append(_Selected(target, data, learner, selection, spent))
        except CompassError:
            self._finish(features, selected)
            raise
        self._finish(features, selected)

    def _finish(self, features: tuple[str, ...], selected: Sequence[_Selected]) -> None:
        """Train the final models of the outcomes whose recipes are selected."""
        began = time.perf_counter()
        plans = [
            TrainingPlan(
                one.learner, one.data.training(self.settings), one.data.train, one.data.valid
            )
            for one in selected
        ]
        finals = train_final(plans)
        share = (time.perf_counter() - began) / max(len(selected), 1)
        for one, final in zip(selected, finals, strict=True):
            began = time.perf_counter() - one.seconds - share
            learnt = self.assembled(one.data, one.target, final, one.selection, began)
            self.trained[features, one.target] = learnt

    def assembled(
        self, data: OutcomeData, target: str, final: FinalModel, selected: Selection, began: float
    ) -> OutcomeModel:
        """A model with what tells how far it can be relied on."""
        view, train, valid = data.view, data.train, data.valid
        weight = self.prepared.weight
        perturbed = Perturbed.fit(
            view.X[train],
            {target: data.y[train]},
            {target: data.task},
            view.features,
            self.settings,
            self.settings.seed,
            X_valid=view.X[valid],
            weight=weight[train],
            valid_weight=weight[valid],
        )
        card = self._card(data, target, final, selected, time.perf_counter() - began)
        number = data.task.classes is None
        intervals = self._intervals(data, final.fitted, perturbed, selected.recipe.log)
        scale = deviation(data.y[train], weight[train]) if number else 1.0
        return OutcomeModel(
            final.fitted, selected.recipe, perturbed, *intervals, card, scale or 1.0
        )

    def _intervals(
        self, data: OutcomeData, model: Fitted, perturbed: Perturbed, log: bool
    ) -> tuple[Conformal | None, Conformal | None]:
        """How wide the intervals of predictions and of changes are; None for classes."""
        if data.task.classes is not None:
            return None, None
        limit, seed = self.settings.trust.validation_rows, self.settings.seed
        group = self.prepared.group
        about = (model, perturbed.forests[0], data.training(self.settings))
        train, valid = (some_rows(rows, limit, seed) for rows in (data.train, data.valid))
        space = data.view.features
        return (
            value_interval(*about, train, data.valid, group=group, log=log),
            change_interval(*about, train, valid, space=space, group=group, log=log),
        )

    def _card(
        self, data: OutcomeData, target: str, final: FinalModel, selected: Selection, seconds: float
    ) -> ModelCard:
        recipe, valid = selected.recipe, data.valid
        weight = self.prepared.weight
        predicted = final.fitted.predict(data.view.X[valid])
        low, high = folds_interval(
            [HeldOutPredictions(data.y[valid], predicted, weight[valid])],
            data.task,
            scale=data.training(self.settings).scale_of(data.train),
            seed=self.settings.seed,
        )
        known = skill_of(data, predicted)
        return ModelCard(
            target=target,
            family=final.fitted.family,
            rows=len(data.train),
            anew=len(data.train),
            features=data.view.features.names,
            error=final.score.error,
            error_name=final.score.name,
            low=low,
            high=high,
            checked=len(valid),
            unseen=target not in self.given,
            skill=known.score,
            skilled=known.clear,
            log=recipe.log,
            embedding=recipe.embedding,
            tuned={name: v for part in recipe.changes.values() for name, v in part.items()},
            provable=final.fitted.trees() is not None,
            scores=selected.scores,
            notes=selected.notes,
            sample=self.prepared.sample,
            seconds=seconds,
        )
