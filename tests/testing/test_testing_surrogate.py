"""Built-in model families keep their promises, and the suite tells when one does not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from testing_broken import caught

from compass import registry
from compass.model.base import FamilyDefaults, FittedDefaults, Floats, Task
from compass.model.search_space import SearchSpace, TunedNumber
from compass.model.trees.fitted import constant
from compass.testing import check, check_surrogate
from compass.testing.learning_cases import FEATURES, fitted, learning_case, learning_cases


# What a person brings is a file: nothing trains it.
@pytest.mark.parametrize("name", sorted({*registry.everything("surrogate")} - {"brought"}))
def test_built_ins_keep_their_promises(name: str) -> None:
    check("surrogate", name)


@dataclass(frozen=True)
class Near(FittedDefaults):
    """The mean of the five nearest rows."""

    X: Floats
    y: Floats
    weight: Floats
    task: Task
    family: str = "near"

    def predict(self, X: Floats) -> Floats:
        return self._both(X)[0]

    def spread(self, X: Floats) -> Floats:
        return self._both(X)[1]

    def _both(self, X: Floats) -> tuple[Floats, Floats]:
        apart = (np.abs(X[:, None, :] - self.X) / (self.X.std(axis=0) + 1e-9)).sum(axis=2)
        near = np.argsort(apart, axis=1, kind="stable")[:, :5]
        share = self.weight[near] / self.weight[near].sum(axis=1, keepdims=True)
        values = self.y[near][:, :, None]
        if self.task.classes is not None:
            values = (values == np.arange(self.task.classes)).astype(np.float64)
        mean = (share[:, :, None] * values).sum(axis=1)
        return mean, values.std(axis=1).max(axis=1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"X": self.X, "y": self.y, "weight": self.weight}


def near(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    return Near(X.copy(), y.copy(), np.ones(len(y)) if weight is None else weight.copy(), task)


class NearFamily(FamilyDefaults):
    """The nearest rows."""

    name = "near"
    make: Callable[..., Near] = staticmethod(near)
    kind: type[Near] = Near

    @classmethod
    def fit(
        cls,
        X: Floats,
        y: Floats,
        *,
        task: Task,
        weight: Any,
        seed: int,
        settings: object,
        features: object = None,
    ) -> Near:
        made = cls.make(X, y, task, weight)
        return cls.kind(made.X, made.y, made.weight, made.task, made.family)

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], task: Task) -> Near:
        return cls.kind(arrays["X"], arrays["y"], arrays["weight"], task)


_OF_FAMILY = ("name", "make", "fit", "restore", "obstacle", "search_space", "effort", "fit_many")


def family(**changes: Any) -> type[NearFamily]:
    """The family with some of its parts changed."""
    kept = _OF_FAMILY
    own = {key: changes.pop(key) for key in kept if key in changes}
    own = {k: staticmethod(v) if callable(v) else v for k, v in own.items()}
    own["kind"] = type("Changed", (Near,), changes)
    return type("Changed family", (NearFamily,), {"__doc__": "Changed.", **own})


def flat(self: Near, X: Floats) -> Floats | None:
    """The slopes of a mean over the same rows, almost everywhere."""
    return None if self.task.classes else np.zeros(X.shape)


def test_an_honest_family_passes() -> None:
    check_surrogate(NearFamily)
    check_surrogate(family(), name="near")
    check_surrogate(family(gradient=flat))
    check_surrogate(family(obstacle=lambda rows, columns, task: "huge" if rows > 500 else None))


def in_place(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    X -= X.mean(axis=0)
    return near(X, y, task, weight)


def sorting(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    made = near(X, y, task, weight)
    if weight is not None:
        weight.sort()
    return made


def keeping(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    return Near(X, y, np.ones(len(y)) if weight is None else weight, task)


def moving_the_question(self: Near, X: Floats) -> Floats:
    answer = Near.predict(self, X)
    X += 1.0
    return answer


def by_batch(self: Near, X: Floats) -> Floats:
    return Near.predict(self, X) + (0.1 * (len(X) > 1) if self.task.classes is None else 0.0)


def by_layout(self: Near, X: Floats) -> Floats:
    if not X.flags.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    return Near.predict(self, X)


def by_memory(self: Near, X: Floats) -> Floats:
    return Near.predict(self, X.ravel(order="K").reshape(X.shape))


def not_alone(self: Near, X: Floats) -> Floats:
    return Near.predict(self, np.array([X[0], X[1], *X[2:]]))


def once(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    if TRAINED:
        raise RuntimeError("already trained")
    TRAINED.append(True)
    return near(X, y, task, weight)


TRAINED: list[bool] = []


def without_none(X: Floats, y: Floats, task: Task, weight: Floats) -> Near:
    return near(X, y, task, weight * 1.0)


def only_seen(self: Near, X: Floats) -> Floats:
    scores = Near.predict(self, X)
    return scores if self.task.classes is None else scores[:, : int(self.y.max()) + 1]


def only_numbers(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    if task.classes is not None:
        raise NotImplementedError("classes")
    return near(X, y, task, weight)


def many(X: Floats, y: Floats, task: Task, weight: Floats | None) -> Near:
    if len(y) < 5:
        raise ValueError("need at least 5 rows")
    return near(X, y, task, weight)


def unaware(X: Floats, y: Floats, *, task: Task, weight: Any, seed: int, settings: object) -> Near:
    return near(X, y, task, weight)


def labelled(self: Near, X: Floats) -> Floats:
    """Slopes only where the suite tells what the columns are: the level none occurs."""
    known = X.shape[1] == 4 and (X[:, 2] == FEATURES.parameters[2].none_code).any()
    return np.ones(X.shape) * [0, 0, 0, 1] if known else np.zeros(X.shape)


NOISE = np.random.default_rng(0)

BROKEN: dict[str, tuple[Any, str]] = {
    "no declarations": (
        type("Bare", (), {**vars(NearFamily), "__doc__": "Bare."}),
        "it declares all members of `Family`",
    ),
    "no search space": (family(search_space="depth"), "is a SearchSpace, or None"),
    "made-up settings": (
        family(search_space=SearchSpace("forest", (TunedNumber("nothing", 0, 1),))),
        "names settings that exist",
    ),
    "no effort": (family(effort=lambda *_: 0.0), "`effort` is positive"),
    "one for all": (
        family(fit_many=lambda X, Y, *, tasks, weight, **_: [near(X, Y[:, 0], tasks[0], weight)]),
        "one model each, in their order",
    ),
    "learns from the others": (
        family(
            fit_many=lambda X, Y, *, tasks, weight, **_: [
                near(X, np.round(Y.mean(axis=1)) % 2 if task.classes else y, task, weight)
                for y, task in zip(Y.T, tasks, strict=True)
            ]
        ),
        "has the model that it has alone",
    ),
    "other trees": (
        family(trees=lambda s: constant(np.full(s.task.outputs, 0.5), s.X.shape[1])),
        "its trees predict what it predicts",
    ),
    "no name": (family(name=""), "it has a `name`"),
    "no summary": (type("Quiet", (NearFamily,), {"__doc__": None}), "its docstring"),
    "needs weights": (family(make=without_none), "it learns from numbers"),
    "no classes": (family(make=only_numbers), "it learns from classes"),
    "needs many rows": (family(make=many), "it learns from two rows"),
    "flat": (family(predict=lambda s, X: Near.predict(s, X)[:, 0]), "float64 array of shape"),
    "short": (family(predict=lambda s, X: Near.predict(s, X)[1:]), "float64 array of shape"),
    "single precision": (
        family(predict=lambda s, X: Near.predict(s, X).astype(np.float32)),
        "float64 array of shape",
    ),
    "a list": (family(predict=lambda s, X: Near.predict(s, X).tolist()), "float64 array of shape"),
    "lost classes": (family(predict=only_seen), "float64 array of shape [40, 4]"),
    "NaN": (family(predict=lambda s, X: Near.predict(s, X) * np.nan), "predictions are finite"),
    "scores": (
        family(predict=lambda s, X: Near.predict(s, X) * (1 if s.task.classes is None else 2)),
        "sum to 1",
    ),
    "negative scores": (
        family(predict=lambda s, X: Near.predict(s, X) * 3 - 2 / max(s.task.classes or 1, 1)),
        "not negative and sum to 1",
    ),
    "negative spread": (family(spread=lambda s, X: Near.spread(s, X) - 1), "spreads are not neg"),
    "infinite spread": (family(spread=lambda s, X: np.full(len(X), np.inf)), "spreads are finite"),
    "wide spread": (
        family(spread=lambda s, X: Near.spread(s, X)[:, None]),
        "spreads are a float64",
    ),
    "batches": (family(predict=by_batch), "predict: a row alone gives the same as in a batch"),
    "ranks": (
        family(spread=lambda s, X: Near.spread(s, X) / max(Near.spread(s, X).max(), 1e-9)),
        "spread: a row alone",
    ),
    "layout": (family(predict=by_layout), "it predicts on slices"),
    "memory": (family(predict=by_memory), "the memory layout of a matrix"),
    "cannot predict": (family(predict=lambda s, X: 1 / 0), "it predicts"),
    "never alone": (family(predict=not_alone), "it predicts a single row"),
    "no arrays": (family(arrays=lambda s: 1 / 0), "it gives its arrays"),
    "once": (family(make=once), "it learns again"),
    "unseeded": (
        family(make=lambda X, *a: near(X + NOISE.normal(0, 1, X.shape), *a)),
        "the same rows and seed give the same model",
    ),
    "restless": (
        family(
            predict=lambda s, X: Near.predict(s, X) * (1 + (s.task.outputs == 1) * NOISE.normal())
        ),
        "a row alone",
    ),
    "objects": (
        family(arrays=lambda s: {**Near.arrays(s), "task": np.array([s.task])}),
        "arrays of plain numbers",
    ),
    "not an array": (family(arrays=lambda s: {"n": 5}), "arrays of plain numbers"),
    "a bar in a name": (
        family(arrays=lambda s: {"a|b": s.X}),
        "names without '|'",
    ),
    "not a dict": (family(arrays=lambda s: [s.X]), "`arrays()` is a dict"),
    "lost weights": (
        family(restore=lambda a, task: near(a["X"], a["y"], task, None)),
        "a restored model gives the same bit for bit",
    ),
    "rounded": (
        family(arrays=lambda s: {k: v.astype(np.float32) for k, v in Near.arrays(s).items()}),
        "a restored model gives the same bit for bit",
    ),
    "cannot restore": (family(restore=lambda a, task: a["forest"]), "it restores what"),
    "wrong family": (
        family(make=lambda *a: replace(near(*a), family="near-2")),
        "a model's `family`",
    ),
    "wrong task": (family(make=lambda *a: replace(near(*a), task=Task(9))), "a model's `task`"),
    "centres X": (family(make=in_place), "it leaves X as it is"),
    "sorts weights": (family(make=sorting), "it leaves weight as it is"),
    "moves the question": (family(predict=moving_the_question), "it leaves the question as it is"),
    "keeps a view": (family(make=keeping), "does not depend on the arrays"),
    "the mean": (
        family(
            make=lambda X, y, t, w: near(X, y if t.classes else np.full(len(y), y.mean()), t, w)
        ),
        "on an easy law",
    ),
    "the first class": (
        family(make=lambda X, y, t, w: near(X, y * 0 if t.classes == 3 else y, t, w)),
        "on easy classes",
    ),
    "needs no columns": (
        type("Deaf", (NearFamily,), {"__doc__": "Deaf.", "fit": staticmethod(unaware)}),
        "it learns from numbers",
    ),
    "a wrong slope": (
        family(gradient=lambda s, X: np.ones(X.shape)),
        "gradients are the slopes of the prediction",
    ),
    "a narrow slope": (
        family(gradient=lambda s, X: np.zeros(len(X))),
        "gradients are a float64 array of shape",
    ),
    "no slope": (family(gradient=lambda s, X: 1 / 0), "it gives its gradient"),
    "a slope of labels": (
        family(gradient=labelled),
        "labels and `none` have none: 0",
    ),
    "an obstacle that is no text": (
        family(obstacle=lambda rows, columns, task: rows > 100),
        "an obstacle is a few words",
    ),
    "an obstacle that fails": (
        family(obstacle=lambda rows, columns, task: 1 / 0),
        "whether something speaks against",
    ),
    "deaf to weights": (
        family(make=lambda X, y, t, w: near(X, y, t, None)),
        "a row counts as much as its weight says",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_family_is_caught(what: str) -> None:
    plugin, promise = BROKEN[what]
    caught(lambda: check_surrogate(plugin), promise)


def test_methods_must_work_on_the_class_itself() -> None:
    class Instance(FamilyDefaults):
        """Wants to be made first."""

        name = "instance"

        def fit(self, X: Floats, y: Floats, **more: Any) -> Near:
            return near(X, y, more["task"], more["weight"])

    error = caught(lambda: check_surrogate(Instance), "it learns from numbers")
    assert "missing 1 required positional argument" in error.seen


def test_the_name_must_be_the_one_it_is_registered_under() -> None:
    error = caught(lambda: check_surrogate(NearFamily, name="nearest"), "registered under")
    assert error.name == "nearest"


def test_what_the_message_says_can_be_repeated() -> None:
    """The code in `to see it` is made of these two functions."""
    case = learning_case("classes")
    assert fitted(NearFamily, case).predict(case.ask).shape == (40, 3)
    assert len({one.label for one in learning_cases()}) == len(learning_cases())
