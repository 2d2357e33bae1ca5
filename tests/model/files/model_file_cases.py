"""Small models of every kind as files, made by the libraries that write them."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compass.domain.errors import CompassError
from compass.domain.space import Category, Number, Space
from compass.model.base import Fitted, Task
from compass.model.files import archive, bring_bytes

os.environ["KERAS_BACKEND"] = "torch"  # read when Keras is first imported

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


def rows(n: int = 400, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.integers(1, 17, n), rng.integers(0, 3, n), rng.uniform(0.5, 8, n)]
    ).astype(np.float64)


def law(X: np.ndarray) -> np.ndarray:
    return 3 + X[:, 2] * 10 / X[:, 0] + 2 * (X[:, 1] == 1)


def kinds(X: np.ndarray, classes: int = 3) -> np.ndarray:
    return np.digitize(law(X), np.quantile(law(rows()), np.arange(1, classes) / classes))


@contextmanager
def quiet() -> Iterator[None]:
    """Libraries warn about themselves while they save; that is not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def lightgbm_model(folder: Path, names: list[str] | str = "auto", **more: Any) -> tuple[Path, Any]:
    import lightgbm

    X = rows()
    parameters = {"objective": "regression", "verbosity": -1, "num_leaves": 8, "num_threads": 1}
    parameters |= more
    y = kinds(X, parameters.get("num_class", 2)) if parameters["objective"] in CLASSY else law(X)
    data = lightgbm.Dataset(X, y, feature_name=names, params=parameters)
    booster = lightgbm.train(parameters, data, 10)
    path = folder / "model.txt"
    booster.save_model(path)
    return path, booster


CLASSY = ("binary", "multiclass", "binary:logistic", "multi:softprob")


def xgboost_model(
    folder: Path, names: list[str] | None = None, file: str = "model.json", **more: Any
) -> tuple[Path, Callable[[np.ndarray], np.ndarray]]:
    import xgboost

    X = rows()
    parameters = {"objective": "reg:squarederror", "max_depth": 4, "nthread": 1} | more
    y = kinds(X, parameters.get("num_class", 2)) if parameters["objective"] in CLASSY else law(X)
    data = xgboost.DMatrix(X, y, feature_names=names, nthread=1)
    booster = xgboost.train(parameters, data, 10)
    path = folder / file
    booster.save_model(path)

    def predict(new: np.ndarray) -> np.ndarray:
        return booster.predict(xgboost.DMatrix(new, feature_names=names, nthread=1))

    return path, predict


def onnx_model(folder: Path, inputs: list[tuple[str, Any, list[Any]]], nodes: list[Any]) -> Path:
    """An ONNX file with these inputs and nodes; the last node's output `y` is the prediction."""
    from onnx import TensorProto, helper, save

    made = [helper.make_tensor_value_info(*one) for one in inputs]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "model", made, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = folder / "model.onnx"
    save(model, path)
    return path


def sklearn_onnx(folder: Path, model: Any, width: int = 3, **options: Any) -> Path:
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType

    with quiet():
        made = to_onnx(
            model, initial_types=[("X", FloatTensorType([None, width]))], options=options or None
        )
    path = folder / "sklearn.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def net(outputs: int = 1) -> Any:
    import torch

    torch.manual_seed(3)
    layers = [torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, outputs)]
    if outputs > 1:
        layers.append(torch.nn.Softmax(dim=1))
    return torch.nn.Sequential(*layers).eval()


def keras_library() -> Any:
    with quiet():
        return pytest.importorskip("keras")


def keras_net(classes: int | None = None, *extra: Any) -> Any:
    keras = keras_library()
    keras.utils.set_random_seed(4)
    last = keras.layers.Dense(classes or 1, activation="softmax" if classes else None)
    return keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(8, activation="relu"), *extra, last]
    )


NEW = rows(700, seed=9)
LABELS = ("low", "middle", "high")


def the_same_in_every_batch(model: Fitted) -> None:
    whole = model.predict(NEW)
    pieces = [model.predict(NEW[a:b]) for a, b in ((0, 1), (1, 8), (8, 300), (300, 700))]
    assert np.array_equal(whole, np.vstack(pieces))
    assert np.array_equal(whole[::-1], model.predict(NEW[::-1]))
    assert model.predict(NEW[:0]).shape == (0, whole.shape[1])
    assert not model.spread(NEW).any()


def refused(content: bytes, name: str, match: str, **options: Any) -> CompassError:
    with pytest.raises(CompassError, match=match) as told:
        bring_bytes(content, name, columns=CODED, **options).fitted(SPACE, "runtime", Task())
    assert told.value.hint
    return told.value


def changed(content: bytes, edit: Callable[[dict[str, bytes]], Any]) -> bytes:
    """An archive with other files in it."""
    files = archive.members(content, "made here")
    edit(files)
    return archive.packed(files)
