"""Models that people bring as files: opened once, bound to columns, used like learnt ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from compass import registry
from compass.domain.arguments import anything_of, flag, items, path_name, takes
from compass.domain.base import Noun, Value
from compass.domain.errors import BadInput, EngineProblem
from compass.domain.space import Category, Space
from compass.execute.arrays import checked, whole
from compass.model.base import FamilyDefaults, Fitted, FittedDefaults, Floats, Task
from compass.model.files.classes import arranged, order
from compass.model.files.columns import Columns, Feed, fed, feeds, stated
from compass.model.files.limits import Limits
from compass.model.files.opened import Opened, opened
from compass.model.files.recode import over_columns
from compass.model.files.sniff import content_of
from compass.model.recipe import Exponential
from compass.model.trees import flat
from compass.model.trees.fitted import FittedTrees, arranged_forest, restored, suits
from compass.model.trees.flat import FlatForest
from compass.model.trees.joined import rows_for

FAMILY = "brought"
_ARRAYS = {"file": whole("bytes", dtype=np.uint8), "plan": whole("letters", dtype=np.uint8)}


class Plan(Noun):
    """How a brought model is used for one outcome; saved beside it."""

    name: str = Field(description="the file it came from")
    target: str
    width: int = Field(ge=1, description="columns of a configuration")
    feeds: tuple[Feed, ...]
    places: tuple[int, ...] | None = Field(description="the label of each class; None: a number")
    log: bool = Field(description="whether it predicts the logarithm")


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model from a file, before it is known which columns a question has."""

    name = FAMILY

    opened: Opened
    columns: Mapping[str, Any] | Sequence[Any] | None = None
    classes: tuple[Value, ...] | None = None
    log: bool = False
    features: Space | None = None
    target: str = "the outcome"
    labels: tuple[Value, ...] | None = None

    def about(
        self, features: Space, target: str, labels: Sequence[Value] | None = None
    ) -> "ModelFile":
        """The same model as the family that learns `target` (which has these labels)."""
        own = None if labels is None else tuple(labels)
        return replace(self, features=features, target=target, labels=own)

    def fitted(
        self, features: Space, target: str, task: Task, labels: Sequence[Value] | None = None
    ) -> Fitted:
        """The model of one outcome over these features; an error where they do not fit."""
        places = None
        if task.classes is not None:
            known = tuple(range(task.classes)) if labels is None else tuple(labels)
            places = order(self.opened.classes, self.classes, known, self.opened.count)
        elif self.classes is not None:
            raise BadInput(
                f"classes were named for {target}, which is a number",
                hint="leave the classes out, or choose an outcome with labels",
            )
        plan = Plan(
            name=self.opened.content.name,
            target=target,
            width=len(features),
            feeds=feeds(self.opened.inputs, self.columns, features),
            places=places,
            log=self.log,
        )
        model = assembled(self.opened, plan, task)
        model.predict(_lowest(features))  # what does not work at all is an error now
        return model

    def fit(
        self, X: Floats, y: Floats, *, task: Task, features: Space | None = None, **options: Any
    ) -> Fitted:
        """The same model: there is nothing to learn."""
        del X, y, options
        space = features or self.features
        if space is None:
            raise BadInput("a brought model needs to know which columns there are")
        return self.fitted(space, self.target, task, self.labels)

    def restore(self, arrays: Mapping[str, NDArray[np.generic]], task: Task) -> Fitted:
        """The model that was saved with an engine."""
        return ModelFileFamily.restore(arrays, task)


@dataclass(frozen=True, eq=False)
class FittedModelFile(FittedDefaults):
    """A brought model of one outcome that answers are not proved over."""

    opened: Opened
    plan: Plan
    task: Task
    arranged: FlatForest | None = None  # trees over the model's own inputs
    family: str = FAMILY

    def predict(self, X: Floats) -> Floats:
        """Predictions float64[n, outputs] for X float64[n, d]; class scores sum to 1."""
        inputs = fed(self.plan.feeds, rows_for(self.plan.width, X))
        if self.arranged is not None:
            return flat.mean(self.arranged, inputs)
        if not len(X):
            return np.empty((0, self.task.outputs))
        assert self.opened.sandbox is not None
        texts = {place: f.texts for place, f in enumerate(self.plan.feeds) if f.kind == "text"}
        predicted = self.opened.sandbox.predict(inputs, texts)
        if not np.isfinite(predicted).all():
            raise BadInput(
                f"the model of {self.plan.target} predicts a value that is no number",
                hint="check the numbers that it is fed: columns, codes, units",
            )
        if self.plan.places is not None:
            return arranged(predicted, self.plan.places, self.task.outputs, self.plan.target)
        if predicted.shape[1] != 1:
            raise BadInput(
                f"the model of {self.plan.target} predicts {predicted.shape[1]} columns,"
                " not a number",
                hint="bring a model of this outcome alone",
            )
        return Exponential.of(predicted) if self.plan.log else predicted

    def spread(self, X: Floats) -> Floats:
        """How far its trees disagree; nothing is known about other models: 0."""
        if self.arranged is None:
            return np.zeros(len(X))
        return flat.mean_spread(self.arranged, fed(self.plan.feeds, X))[1]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The file itself and how it is used."""
        if self.opened.content.kind == "pickle":
            raise EngineProblem(
                f"the model of {self.plan.target} came as a pickle, which is never saved",
                hint="save the model as ONNX or skops and bring that",
            )
        return {
            "file": np.frombuffer(self.opened.content.original, dtype=np.uint8),
            "plan": np.frombuffer(self.plan.model_dump_json().encode(), dtype=np.uint8),
        }


@registry.add("surrogate", FAMILY)
class ModelFileFamily(FamilyDefaults):
    """A model from a file: used as it is, never trained."""

    name = FAMILY
    selectable = False  # there is nothing to choose: somebody brings it or not

    @staticmethod
    def obstacle(rows: int, columns: int, task: Task) -> str | None:
        """It cannot be chosen by name: somebody must bring it."""
        del rows, columns, task
        return "it is brought as a file, not trained"

    @staticmethod
    def fit(X: Floats, y: Floats, **options: Any) -> Fitted:
        """There is nothing to train."""
        del X, y, options
        raise BadInput(
            "a brought model is a file, not something to train",
            hint="bring it: Compass(data, models={'runtime': bring('model.onnx')})",
        )

    @staticmethod
    def restore(arrays: Mapping[str, NDArray[np.generic]], task: Task) -> Fitted:
        """The model whose `arrays()` these are, checked as when it was brought."""
        if "file" not in arrays:
            return restored(arrays, task, FAMILY)
        found, _ = checked(arrays, _ARRAYS, "the saved model that somebody brought")
        try:
            plan = Plan.model_validate_json(found["plan"].tobytes())
        except ValidationError:
            raise _damaged() from None
        content = content_of(found["file"].tobytes(), plan.name, allow_pickle=False)
        file = opened(content, Limits())
        if not _fits(plan, file, task):
            raise _damaged()
        return assembled(file, plan, task)


@takes(
    path=path_name,
    classes=items("is a list of labels", "for example classes=['COMPLETED', 'FAILED']"),
    log=flag,
    allow_pickle=flag,
    limits=anything_of(Limits),
)
def bring(
    path: str | Path,
    *,
    columns: Columns | None = None,
    classes: Sequence[Value] | None = None,
    log: bool = False,
    allow_pickle: bool = False,
    limits: Limits | None = None,
) -> ModelFile:
    """Open a model from a file: ONNX, skops, LightGBM, XGBoost, TorchScript, torch.export, Keras.

    `columns` says which column feeds which input: a list in the model's order, a mapping by the
    model's names, or a YAML or JSON file, which may also say the following. `classes` are the
    labels of the model's classes in its order, `log` tells that it predicts the logarithm. No
    Python of the file is run, unless you allow a pickle: only allow one that you made.
    """
    bounds = limits or Limits()
    file = Path(path)
    try:
        if file.is_dir():
            raise BadInput(
                f"{path} is a folder", hint="bring a model in one file, such as .keras or .onnx"
            )
        if not file.is_file():
            raise BadInput(f"there is no file {path}", hint="check the path")
        with file.open("rb") as source:
            content = source.read(bounds.size + 1) if file.stat().st_size <= bounds.size else None
    except OSError as error:
        raise BadInput(
            f"cannot read {path}: {error.strerror or error}", hint="check its permissions"
        ) from None
    if content is None:
        raise _too_large(file.name, bounds)
    return _model_file(content, file.name, columns, classes, log, allow_pickle, bounds)


def bring_bytes(
    content: bytes,
    name: str,
    *,
    columns: Mapping[str, Any] | Sequence[Any] | None = None,
    classes: Sequence[Value] | None = None,
    log: bool = False,
    limits: Limits | None = None,
) -> ModelFile:
    """Open a model that somebody sent: like `bring`, but there is no way to allow a pickle."""
    if isinstance(columns, str | Path):
        raise BadInput("columns must be a list or a mapping, not the name of a file")
    return _model_file(content, name, columns, classes, log, False, limits or Limits())


def _model_file(
    content: bytes,
    name: str,
    columns: Columns | None,
    classes: Sequence[Value] | None,
    log: bool,
    allow_pickle: bool,
    limits: Limits,
) -> ModelFile:
    if len(content) > limits.size:
        raise _too_large(name, limits)
    mapping = stated(columns)
    model = opened(content_of(content, name, allow_pickle=allow_pickle), limits)
    order_of_classes = mapping.classes if classes is None else tuple(classes)
    return ModelFile(model, mapping.columns, order_of_classes, log or mapping.log)


def assembled(file: Opened, plan: Plan, task: Task) -> Fitted:
    """The model as it is used: trees over the columns where possible, which can be proved over."""
    if plan.log and task.classes is not None:
        raise BadInput(f"{plan.target} has classes, which have no logarithm", hint="leave out log")
    if file.forest is None:
        return FittedModelFile(file, plan, task)
    forest = _of_task(file.forest, plan, task)
    if not suits(forest, task):
        raise BadInput(
            f"{plan.name} is damaged: its leaves hold no shares of classes",
            hint="save the model again",
        )
    moved = over_columns(forest, plan.feeds, plan.width)
    if moved is None:
        return FittedModelFile(file, plan, task, arranged=forest)
    return FittedTrees(moved, task, FAMILY)


def _of_task(forest: FlatForest, plan: Plan, task: Task) -> FlatForest:
    """The trees with the outputs that the outcome has."""
    scores = forest.link in ("sigmoid", "softmax") or forest.offset.size > 1
    if plan.places is not None:
        if not scores:
            raise BadInput(
                f"{plan.name} predicts a number, but {plan.target} has classes",
                hint="bring a classifier",
            )
        return arranged_forest(forest, plan.places, task.outputs)
    if scores:
        raise BadInput(
            f"{plan.name} predicts classes, but {plan.target} is a number",
            hint="bring a model that was trained for regression",
        )
    if not plan.log:
        return forest
    if forest.link != "identity":
        raise BadInput(
            f"{plan.name} turns the logarithm into a number by itself", hint="leave out log"
        )
    return replace(forest, link="exp")


def _fits(plan: Plan, file: Opened, task: Task) -> bool:
    """Whether a saved plan can be followed: no place lies outside of what there is."""
    expected = file.inputs.count if file.inputs.names is None else len(file.inputs.names)
    places = plan.places
    return (
        expected in (None, len(plan.feeds))
        and all(feed.place < plan.width for feed in plan.feeds)
        and all(feed.table for feed in plan.feeds if feed.kind == "table")
        and {p for p, f in enumerate(plan.feeds) if f.kind == "text"} == set(file.inputs.texts)
        and (places is None) == (task.classes is None)
        and (places is None or _distinct(places, task.outputs))
        and (places is None or file.count in (None, len(places)))
    )


def _distinct(places: Sequence[int], outputs: int) -> bool:
    return len(set(places)) == len(places) and all(0 <= place < outputs for place in places)


def _lowest(features: Space) -> Floats:
    """One configuration: the lowest of everything, float64[1, d]."""
    lowest = [0.0 if isinstance(p, Category) else p.low for p in features]
    return np.array([lowest])


def _too_large(name: str, limits: Limits) -> BadInput:
    return BadInput(
        f"{name} has more than {limits.size // 2**20} MiB",
        hint="bring a smaller model, or allow more: Limits(size=...)",
    )


def _damaged() -> EngineProblem:
    return EngineProblem(
        "the saved model that somebody brought is damaged", hint="bring it again and save anew"
    )
