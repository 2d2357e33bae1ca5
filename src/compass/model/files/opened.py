"""A brought file made ready: its inputs, its classes, and its trees or the process that runs it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from compass.domain.base import Noun, Value
from compass.domain.errors import BadInput, EngineProblem
from compass.model.files import skops_forest
from compass.model.files.archive import members
from compass.model.files.columns import INPUTS, Inputs
from compass.model.files.limits import Limits
from compass.model.files.sandbox import Sandbox
from compass.model.files.sniff import Content
from compass.model.trees import flat
from compass.model.trees.arrays import Inconsistent
from compass.model.trees.flat import FlatForest
from compass.model.trees.foreign import lightgbm_forest, xgboost_forest, xgboost_trees

CLASSES = 10_000
# The trees, the names of their inputs and their classes.
Read = tuple[FlatForest, Sequence[str] | None, tuple[Value, ...] | None]
_DAMAGED = (
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)


@dataclass(frozen=True, eq=False)
class Opened:
    """A model that can be asked."""

    content: Content
    inputs: Inputs
    classes: tuple[Value, ...] | None  # as the file names them
    forest: FlatForest | None  # over the inputs of the model
    sandbox: Sandbox | None

    @property
    def count(self) -> int | None:
        """How many classes it has; None: it predicts a number, or does not tell."""
        if self.classes is not None:
            return len(self.classes)
        if self.forest is None or self.forest.link in ("identity", "exp"):
            return None
        return self.forest.outputs


class ModelFacts(Noun):
    """What a model says about itself; not believed further than this."""

    names: tuple[str, ...] | None = Field(None, max_length=INPUTS)
    count: int | None = Field(None, ge=1, le=INPUTS)
    texts: tuple[int, ...] = ()
    classes: tuple[Value, ...] | None = Field(None, max_length=CLASSES)
    forest: bool = False
    read_only: bool = False


def opened(content: Content, limits: Limits) -> Opened:
    """The model in a checked file: trees are read here, everything else is loaded apart."""
    if content.kind == "lightgbm":
        return _trees(content, _lightgbm)
    if content.kind == "xgboost":
        return _trees(content, _xgboost)
    if content.kind == "skops" and _holds_forest(content):
        return _trees(content, _skops)
    sandbox = Sandbox(content, limits)
    answer, arrays = sandbox.facts()
    try:
        fields = {name: value for name, value in answer.items() if name != "arrays"}
        facts = ModelFacts.model_validate(fields)
        if facts.names is not None:
            _check_names(facts.names, facts.count or len(facts.names))
        forest = _checked(_stacked(arrays, facts), content) if facts.forest else None
    except (ValidationError, *_DAMAGED) as error:
        sandbox.close()
        raise _damaged(content, error) from None
    except BadInput:
        sandbox.close()
        raise
    inputs = Inputs(facts.names, facts.count, frozenset(facts.texts))
    if forest is not None:
        sandbox.close()
        return Opened(content, inputs, facts.classes, forest, None)
    return Opened(content, inputs, facts.classes, None, sandbox)


def _trees(content: Content, read: Callable[[Content], Read]) -> Opened:
    try:
        with np.errstate(all="ignore"):  # numbers that are none are refused below
            forest, names, classes = read(content)
        forest = _checked(forest, content)
        inputs = Inputs(_real(names, forest.width), forest.width)
        if classes is not None and len(set(classes)) != len(classes):
            raise Inconsistent("it names a class twice")
    except _DAMAGED as error:
        raise _damaged(content, error) from None
    return Opened(content, inputs, classes, forest, None)


def _holds_forest(content: Content) -> bool:
    try:
        return skops_forest.holds_forest(members(content.checked, content.name))
    except _DAMAGED as error:
        raise _damaged(content, error) from None


def _skops(content: Content) -> Read:
    return skops_forest.read(members(content.checked, content.name))


def _lightgbm(content: Content) -> Read:
    text = content.original.decode("utf-8")
    if "\nend of trees" not in text:
        raise Inconsistent("it is cut off")
    head = dict(line.partition("=")[::2] for line in text.partition("\nTree=")[0].splitlines())
    _moderate(int(head["max_feature_idx"]) + 1, int(head["num_tree_per_iteration"]))
    if "\nTree=" not in text:
        raise Inconsistent("it holds no trees")
    return lightgbm_forest(text), head["feature_names"].split(" "), None


def _xgboost(content: Content) -> Read:
    document: Mapping[str, Any] = content.document
    learner = document["learner"]
    param = learner["learner_model_param"]
    _moderate(int(param["num_feature"]), max(int(param["num_class"]), 1))
    names = [str(name) for name in learner.get("feature_names", ())]
    if not xgboost_trees(learner["gradient_booster"])[0]["trees"]:
        raise Inconsistent("it holds no trees")
    return xgboost_forest(document), names, None


def _moderate(inputs: int, classes: int) -> None:
    if not (1 <= inputs <= INPUTS and 1 <= classes <= CLASSES):
        raise Inconsistent("it says that it has no inputs or classes, or too many")


def _real(names: Sequence[str] | None, width: int) -> tuple[str, ...] | None:
    """The names of the inputs, one for each; None if the library only counted them."""
    if not names:
        return None
    _check_names(names, width)
    counted = ([f"Column_{place}" for place in range(width)], [f"f{p}" for p in range(width)])
    return tuple(names) if list(names) not in counted else None


def _check_names(names: Sequence[str], width: int) -> None:
    """Refuse names that are not one for each input: which column feeds which would be a guess."""
    if len(names) != width:
        raise Inconsistent(f"it names {len(names)} of its {width} inputs")
    if len(set(names)) != width:
        raise Inconsistent("it names an input twice")


def _stacked(arrays: Sequence[NDArray[Any]], facts: ModelFacts) -> FlatForest:
    """The forest whose trees were sent one after another, each counting from 0."""
    sizes, left, right, feature, threshold, value = arrays
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    shift = np.repeat(starts, sizes)
    if facts.count is None:
        raise Inconsistent("it does not say how many inputs it has")
    inner = feature >= 0
    return FlatForest(
        feature=np.where(inner, feature, -1),
        threshold=np.where(inner, threshold, 0.0),
        left=np.where(left >= 0, left + shift, -1),
        right=np.where(right >= 0, right + shift, -1),
        value=value,
        roots=starts.astype(np.int64),
        width=facts.count,
    )


def _checked(forest: FlatForest, content: Content) -> FlatForest:
    """What was read from a file, checked as saved engines are: no walk may ever leave it."""
    try:
        return flat.restore(forest.arrays(), content.name)
    except EngineProblem as error:
        raise BadInput(error.message, hint="save the model again") from None


def _damaged(content: Content, error: Exception) -> BadInput:
    # Other errors keep the words of the code that met them.
    why = str(error) if isinstance(error, Inconsistent) else "it does not hold what it should"
    return BadInput(f"{content.name} is damaged: {why}", hint="save the model again")
