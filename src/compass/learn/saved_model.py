"""One trained outcome as plain numbers and arrays, and back: checked before anything uses it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, NonNegativeInt, PositiveInt

from compass.domain.answer import ModelCard
from compass.domain.base import Noun
from compass.domain.errors import BadInput
from compass.domain.space import Category, Space
from compass.execute.arrays import damaged, under
from compass.learn.held_out import Carry
from compass.learn.outcomes import OutcomeChecks, OutcomeModel
from compass.learn.reliability import Reliability
from compass.model.base import Fitted, Task, are_shares
from compass.model.recipe import Recipe
from compass.settings import Settings
from compass.trust.chance import Errors
from compass.trust.interval import Conformal
from compass.trust.spread import Perturbed

Arrays = Mapping[str, NDArray[Any]]


class StoredInterval(Noun):
    """The numbers of an interval; its arrays are with those of the model."""

    unseen: FiniteFloat = Field(gt=0)
    usual: FiniteFloat = Field(ge=0)
    log: bool
    units: NonNegativeInt


class StoredChecks(Noun):
    """What repeated and held-out runs tell; the errors are with the arrays of the model."""

    noise: float = Field(ge=0)
    error: float = Field(ge=0)
    repeats: NonNegativeInt
    usual_error: float | None = Field(None, ge=0, description="None for classes")
    seen: float | None = Field(None, ge=0, le=1, description="share of an error that carries over")
    unseen: float | None = Field(None, ge=0, le=1)
    usual: float | None = Field(None, ge=0, description="spread")
    floor: float | None = Field(None, ge=0)

    @classmethod
    def of(cls, checks: OutcomeChecks) -> "StoredChecks":
        """The numbers of these checks."""
        known = checks.reliability
        numbers: dict[str, float | None] = {}
        if checks.errors is not None and checks.carry is not None:
            numbers = {
                "usual_error": checks.usual_error,
                "seen": checks.carry.seen,
                "unseen": checks.carry.unseen,
                "usual": checks.errors.usual,
                "floor": checks.errors.floor,
            }
        return cls(noise=known.noise, error=known.error, repeats=known.repeats, **numbers)

    def restored(self, arrays: Arrays, *, log: bool, number: bool) -> OutcomeChecks:
        """The checks with these arrays; of a number everything has to be there."""
        known = Reliability(self.noise, self.error, self.repeats)
        if not number:
            return OutcomeChecks(known, None, None, None)
        usual_error, seen, unseen, usual, floor = (
            self.usual_error,
            self.seen,
            self.unseen,
            self.usual,
            self.floor,
        )
        if None in (usual_error, seen, unseen, usual, floor):
            raise ValueError("numbers are missing")
        errors = Errors.restore(arrays, usual=usual, log=log, floor=floor)
        return OutcomeChecks(known, usual_error, errors, Carry(seen or 0.0, unseen or 0.0))


class StoredModel(Noun):
    """One trained outcome; its arrays are in `file`."""

    features: tuple[str, ...] = Field(min_length=1)
    target: str
    classes: PositiveInt | None
    recipe: Recipe
    file: str = Field(pattern=r"^model-[0-9]+\.npz$")
    digest: str = Field(description="of the file, so that a damaged one is noticed")
    card: ModelCard
    scale: FiniteFloat = Field(gt=0)
    interval: StoredInterval | None = Field(description="of a prediction; None for classes")
    change: StoredInterval | None = Field(description="of a change; None for classes")
    checks: StoredChecks


def stored(
    trained: OutcomeModel,
    checks: OutcomeChecks,
    features: tuple[str, ...],
    target: str,
    file: str,
    digest: str,
) -> StoredModel:
    """What is kept of a trained outcome beside its arrays."""
    return StoredModel(
        features=features,
        target=target,
        classes=trained.model.task.classes,
        recipe=trained.recipe,
        file=file,
        digest=digest,
        card=trained.card,
        scale=trained.scale,
        interval=_numbers(trained.interval),
        change=_numbers(trained.change),
        checks=StoredChecks.of(checks),
    )


def arrays_of(trained: OutcomeModel, checks: OutcomeChecks) -> dict[str, NDArray[Any]]:
    """The arrays of a trained outcome: of its model, and of what tells how far to rely on it."""
    parts: dict[str, Mapping[str, NDArray[Any]]] = {
        "model": trained.recipe.arrays(trained.model),
        "perturbed": trained.perturbed.arrays(),
    }
    for kind, interval in (("interval", trained.interval), ("change", trained.change)):
        if interval is not None:
            parts[kind] = interval.arrays()
    if checks.errors is not None:
        parts["errors"] = checks.errors.arrays()
    return {f"{kind}/{name}": array for kind, part in parts.items() for name, array in part.items()}


def restored(kept: StoredModel, arrays: Arrays, space: Space, settings: Settings) -> OutcomeModel:
    """The trained outcome, if all its parts fit to each other and to the columns of the engine."""
    what = f"the saved model of {kept.target[:80]}"
    task = _task(kept, space, what)
    _check_recipe(kept.recipe, settings, what)
    model = kept.recipe.restore(under(arrays, "model/"), task)
    perturbed = Perturbed.restore(under(arrays, "perturbed/"))
    _check_certainty(perturbed, kept, task, what)
    _try(model, task, space.select(kept.features), what)
    return OutcomeModel(
        model=model,
        recipe=kept.recipe,
        perturbed=perturbed,
        interval=_interval(kept.interval, under(arrays, "interval/")),
        change=_interval(kept.change, under(arrays, "change/")),
        card=kept.card,
        scale=kept.scale,
        checks=kept.checks.restored(
            under(arrays, "errors/"), log=kept.recipe.log, number=task.classes is None
        ),
    )


def _task(kept: StoredModel, space: Space, what: str) -> Task:
    """What is predicted, according to the columns of the engine."""
    names = (*kept.features, kept.target)
    if len(set(names)) != len(names) or not all(name in space for name in names):
        raise damaged(what, "its columns are not those of the data")
    parameter = space[kept.target]
    classes = len(parameter.values) if isinstance(parameter, Category) else None
    if kept.classes != classes:
        raise damaged(what, "its classes are not those of the data")
    logs = {kept.recipe.log, *(part.log for part in (kept.interval, kept.change) if part)}
    if len(logs) > 1 or (classes is not None and kept.recipe.log):
        raise damaged(what, "its parts disagree about the logarithm")
    if any((part is None) != (classes is not None) for part in (kept.interval, kept.change)):
        raise damaged(what, "it lacks an interval, or has one that it cannot have")
    return Task(classes)


def _check_recipe(recipe: Recipe, settings: Settings, what: str) -> None:
    """Refuse settings that do not exist: they would be used when new runs arrive."""
    try:
        for section, values in recipe.changes.items():
            current = getattr(settings, section)
            type(current).model_validate(dict(current) | values)
    except (AttributeError, TypeError, ValueError):
        raise damaged(what, "it was made with settings that there are not") from None


def _check_certainty(perturbed: Perturbed, kept: StoredModel, task: Task, what: str) -> None:
    if not (
        perturbed.models.size == 1
        and perturbed.rows.shape[1] == len(kept.features)
        and perturbed.forests[0].outputs == task.outputs
        and np.isnan(perturbed.sizes[0]) == (task.classes is not None)
    ):
        raise damaged(what, "its measure of certainty is about another outcome")


def _try(model: Fitted, task: Task, features: Space, what: str) -> None:
    """Ask it for the corners of the columns: any family, also one of a plug-in, has to answer."""
    X = _corners(features)
    try:
        predicted, spread = model.predict(X), model.spread(X)
    except BadInput as error:
        raise damaged(what, error.message) from None
    if predicted.shape != (len(X), task.outputs) or spread.shape != (len(X),):
        raise damaged(what, "it predicts another number of columns")
    if not (np.isfinite(predicted).all() and np.isfinite(spread).all()):
        raise damaged(what, "it predicts a value that is no number")
    if task.classes is not None and not are_shares(predicted):
        raise damaged(what, "the scores of its classes do not add up to 1")


def _corners(features: Space) -> NDArray[np.float64]:
    """Configurations float64[3, d]: all lowest, all highest, and `none` where there is that."""
    rows = []
    for parameter in features:
        if isinstance(parameter, Category):
            last = float(len(parameter.values) - 1)
            rows.append((0.0, last, last))
        else:
            beyond = parameter.none_code if parameter.optional else parameter.high
            rows.append((parameter.low, parameter.high, beyond))
    return np.array(rows, dtype=np.float64).T.copy()


def _numbers(interval: Conformal | None) -> StoredInterval | None:
    if interval is None:
        return None
    return StoredInterval(**{name: getattr(interval, name) for name in StoredInterval.model_fields})


def _interval(kept: StoredInterval | None, arrays: Arrays) -> Conformal | None:
    return None if kept is None else Conformal.restore(arrays, **dict(kept))
