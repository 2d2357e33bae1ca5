"""The files and saved engines that `fuzz_files` alters: one of every kind, family and embedding."""

import importlib.util
import os
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from compass import registry
from compass.domain.space import Category, Number, Space
from compass.learn.compare import selectable_families
from compass.settings import (
    EmbeddingSettings,
    ForestSettings,
    LightGBMSettings,
    NeuralSettings,
    TrustSettings,
    XGBoostSettings,
)

APPS = ("lammps", "wrf", "hpl")
SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=16, step=1),
        Category(name="app", values=APPS),
        Number(name="size", low=0.5, high=8.0),
    )
)
NAMES = ["nodes", "app", "size"]
CODED: list[Any] = ["nodes", {"column": "app", "codes": {"lammps": 0, "wrf": 1, "hpl": 2}}, "size"]
LABELS = ("low", "middle", "high")
QUICK = cp.Settings(
    forest=ForestSettings(trees=4, depth=5),
    lightgbm=LightGBMSettings(rounds=4, leaves=6),
    xgboost=XGBoostSettings(rounds=4, depth=3),
    neural=NeuralSettings(epochs=2, units=4, layers=2),
    embedding=EmbeddingSettings(epochs=1, width=2, units=4),
    trust=TrustSettings(trees=2, models=2),
    prove=0.1,
)
Write = Callable[[Path, int | None], None]


@dataclass(frozen=True)
class Subject:
    """Something that can be loaded."""

    name: str  # such as "xgboost json, classes" or "engine: gaussian"
    path: Path  # a file, or the folder of an engine
    classes: bool  # of a file: whether it predicts LABELS
    apart: bool = False  # of a file: a process apart loads it, which takes seconds

    @property
    def engine(self) -> bool:
        """Whether it is a saved engine."""
        return self.path.is_dir()


def rows(n: int = 200, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(1, 17, n), rng.integers(0, 3, n), rng.uniform(0.5, 8, n)]
    return np.column_stack(columns).astype(np.float64)


def law(X: np.ndarray) -> np.ndarray:
    return 3 + X[:, 2] * 10 / X[:, 0] + 2 * (X[:, 1] == 1)


def outcome(X: np.ndarray, classes: int | None) -> np.ndarray:
    if classes is None:
        return law(X)
    return np.digitize(law(X), np.quantile(law(rows()), np.arange(1, classes) / classes))


def files(folder: Path, *, apart: bool = True) -> list[Subject]:
    """Models as people bring them; those that need a process apart where it is wanted."""
    made = []
    for name, (write, own_process) in _WRITERS.items():
        if own_process and not (apart and _installed(name)):
            continue
        for classes in (None, 3):
            told = f"{name}{', classes' if classes else ''}"
            path = folder / (told.replace(", ", "-").replace(" ", "-") + _ENDINGS[name])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # libraries warn about themselves
                write(path, classes)
            made.append(Subject(f"file: {told}", path, bool(classes), own_process))
    return made


def engines(folder: Path, only: Collection[str] = ()) -> list[Subject]:
    """A saved engine of every family, on both scales, and with every embedding; or `only` some."""
    families = selectable_families()
    plans: dict[str, dict[str, Any]] = {
        f"{family}{', logarithm' * log}": {"surrogate": family, "scale": "log" if log else "linear"}
        for family in families
        for log in (False, True)
    }
    if _installed("torchscript"):
        for name in registry.everything("embedding"):
            plans[f"{name} before linear"] = {"surrogate": "linear", "represent": name}
            plans[f"{name} before forest"] = {"surrogate": "forest", "represent": name}
    made = []
    for name, plan in plans.items():
        if only and name not in only:
            continue
        path = folder / (name.replace(", ", "-").replace(" ", "-") + ".compass")
        engine = cp.Compass(_runs(), settings=QUICK.model_copy(update=plan))
        if plan.get("represent"):
            _represented(engine, plan)
        engine.fit().save(path)
        made.append(Subject(f"engine: {name}", path, False))
    brought = folder / "brought.txt"
    _lightgbm(brought, None)
    models = {"y": cp.bring(brought, columns=CODED)}
    path = cp.Compass(_runs(), models=models, settings=QUICK).fit().save(folder / "brought.compass")
    return [*made, Subject("engine: brought", path, False)]


def _runs() -> cp.Dataset:
    X = rows(90)
    table = {
        "nodes": X[:, 0].astype(int).tolist(),
        "app": [APPS[int(code)] for code in X[:, 1]],
        "size": X[:, 2].tolist(),
        "cap": [None if row % 5 == 0 else 100.0 + row % 7 for row in range(len(X))],
        "y": law(X).tolist(),
        "state": [LABELS[code] for code in outcome(X, 3)],
    }
    columns: dict[str, Any] = {name: {"role": "knob"} for name in ("nodes", "app", "size", "cap")}
    columns["cap"] |= {"missing": "none", "kind": "number"}
    columns |= {"y": {"role": "outcome"}, "state": {"role": "outcome"}}
    return cp.read(table, study={"columns": columns})


def _represented(engine: cp.Compass, plan: dict[str, Any]) -> None:
    """Let the engine take the embedding without comparing: here it need not be the best."""
    from compass.learn.compare import Selection
    from compass.model.recipe import Recipe

    recipe = Recipe(family=plan["surrogate"], embedding=plan["represent"])
    engine.store.chosen = lambda *_: (recipe, Selection(recipe, ()))  # type: ignore[method-assign]


def _lightgbm(path: Path, classes: int | None) -> None:
    import lightgbm

    said: dict[str, Any] = {"objective": "regression"}
    if classes:
        said = {"objective": "multiclass", "num_class": classes}
    said |= {"verbosity": -1, "num_leaves": 6, "num_threads": 1}
    data = lightgbm.Dataset(rows(), outcome(rows(), classes), feature_name=NAMES, params=said)
    lightgbm.train(said, data, 4).save_model(path)


def _xgboost(path: Path, classes: int | None) -> None:
    import xgboost

    said: dict[str, Any] = {"objective": "reg:squarederror"}
    if classes:
        said = {"objective": "multi:softprob", "num_class": classes}
    data = xgboost.DMatrix(rows(), outcome(rows(), classes), feature_names=NAMES, nthread=1)
    xgboost.train(said | {"max_depth": 3, "nthread": 1}, data, 4).save_model(path)


def _forest(classes: int | None) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    return kind(n_estimators=3, max_depth=3, random_state=0).fit(rows(), outcome(rows(), classes))


def _skops(path: Path, classes: int | None) -> None:
    from skops import io

    io.dump(_forest(classes), path)


def _onnx(path: Path, classes: int | None) -> None:
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType

    table = [("X", FloatTensorType([None, 3]))]
    options = {"zipmap": False} if classes else None
    path.write_bytes(
        to_onnx(_forest(classes), initial_types=table, options=options).SerializeToString()
    )


def _net(classes: int | None) -> Any:
    import torch

    torch.manual_seed(3)
    layers = [torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, classes or 1)]
    return torch.nn.Sequential(*layers, *([torch.nn.Softmax(dim=1)] if classes else [])).eval()


def _torchscript(path: Path, classes: int | None) -> None:
    import torch

    torch.jit.script(_net(classes)).save(str(path))


def _export(path: Path, classes: int | None) -> None:
    import torch

    rows_ = torch.export.Dim("rows", min=1)
    program = torch.export.export(
        _net(classes), (torch.zeros(7, 3),), dynamic_shapes={"input": {0: rows_}}
    )
    torch.export.save(program, str(path))


def _keras(path: Path, classes: int | None) -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    keras.utils.set_random_seed(4)
    last = keras.layers.Dense(classes or 1, activation="softmax" if classes else None)
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu"), last]).save(path)


# How each kind is written, and whether a process apart loads it.
_WRITERS: dict[str, tuple[Write, bool]] = {
    "lightgbm": (_lightgbm, False),
    "xgboost json": (_xgboost, False),
    "xgboost ubj": (_xgboost, False),
    "skops": (_skops, False),
    "onnx": (_onnx, True),
    "torchscript": (_torchscript, True),
    "export": (_export, True),
    "keras": (_keras, True),
    "h5": (_keras, True),
}
_ENDINGS = {
    "lightgbm": ".txt",
    "xgboost json": ".json",
    "xgboost ubj": ".ubj",
    "skops": ".skops",
    "onnx": ".onnx",
    "torchscript": ".pt",
    "export": ".pt2",
    "keras": ".keras",
    "h5": ".h5",
}
_NEEDS = {"onnx": ("onnxruntime", "skl2onnx"), "torchscript": ("torch",), "export": ("torch",)}


def _installed(name: str) -> bool:
    needed = _NEEDS.get(name, ("keras", "torch", "h5py"))
    return all(importlib.util.find_spec(module) is not None for module in needed)
