"""Forests of scikit-learn in a skops file, read as plain arrays.

skops does not count scikit-learn's trees as harmless, rightly: their nodes hold positions that
scikit-learn follows without looking. So no tree is ever made of them here: the arrays are read
from the archive and checked like any other trees.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.model.files.archive import array_of
from compass.model.trees.arrays import Inconsistent
from compass.model.trees.flat import FlatForest

_NUMBERS = ("RandomForestRegressor", "ExtraTreesRegressor")
_CLASSES = ("RandomForestClassifier", "ExtraTreesClassifier")
_MODULE = "sklearn.ensemble._forest"
_NODE = {
    "left_child": np.int64,
    "right_child": np.int64,
    "feature": np.int64,
    "threshold": np.float64,
}

Files = Mapping[str, bytes]
Found = tuple[FlatForest, tuple[str, ...] | None, tuple[Value, ...] | None]


def holds_forest(files: Files) -> bool:
    """Whether the model in the archive is a forest itself, not something around one."""
    schema = json.loads(files["schema.json"])
    kind = (schema["__module__"], schema["__class__"])
    return kind in {(_MODULE, name) for name in _NUMBERS + _CLASSES}


def read(files: Files) -> Found:
    """The forest, the names of its inputs and its classes, where it has them."""
    schema = json.loads(files["schema.json"])
    state = schema["content"]["content"]
    if _plain(state["n_outputs_"]) != 1:
        raise Inconsistent("it predicts several outcomes")
    classes = None
    if schema["__class__"] in _CLASSES:
        classes = tuple(_listed(state["classes_"], files))
    trees = [_tree(member, files) for member in state["estimators_"]["content"]]
    starts = np.cumsum([0, *(len(nodes) for nodes, _ in trees)])[:-1]
    nodes = np.concatenate([nodes for nodes, _ in trees])
    value = np.concatenate([value for _, value in trees])
    if value.shape[1] != (1 if classes is None else len(classes)):
        raise Inconsistent("it has leaves of another width than its classes")
    if classes is not None:  # older versions hold counts
        value = value / value.sum(axis=1, keepdims=True)
    shift = np.repeat(starts, [len(nodes) for nodes, _ in trees])
    inner = nodes["left_child"] >= 0
    forest = FlatForest(
        feature=np.where(inner, nodes["feature"], -1),
        threshold=np.where(inner, nodes["threshold"], 0.0),
        left=np.where(inner, nodes["left_child"] + shift, -1),
        right=np.where(nodes["right_child"] >= 0, nodes["right_child"] + shift, -1),
        value=value,
        roots=starts.astype(np.int64),
        width=int(_plain(state["n_features_in_"])),
    )
    named = state.get("feature_names_in_")
    names = None if named is None else tuple(str(name) for name in _listed(named, files))
    return forest, names, classes


def _tree(member: Any, files: Files) -> tuple[NDArray[Any], NDArray[np.float64]]:
    state = member["content"]["content"]["tree_"]["content"]["content"]
    nodes, values = _array(state["nodes"], files), _array(state["values"], files)
    if nodes.ndim != 1 or values.ndim != 3 or values.shape[:2] != (len(nodes), 1):
        raise Inconsistent("it has a tree whose nodes lack a part")
    if any(nodes[name].dtype != dtype for name, dtype in _NODE.items()):
        raise Inconsistent("it has a tree of something else than numbers")
    beyond = np.int64(len(nodes))
    if np.any((nodes["left_child"] >= beyond) | (nodes["right_child"] >= beyond)):
        raise Inconsistent("it has a tree with a branch that leads nowhere")
    if values.dtype != np.float64:
        raise Inconsistent("it has a tree of something else than numbers")
    return nodes, values[:, 0, :]


def _listed(node: Any, files: Files) -> list[Value]:
    if node["type"] == "json":
        return [_plain(item) for item in node["content"]]
    found: list[Value] = _array(node, files).tolist()
    return found


def _array(node: Any, files: Files) -> NDArray[Any]:
    # Never a pickle: arrays of objects are refused.
    return array_of(files[node["file"]])


def _plain(node: Any) -> Any:
    if node["is_json"] is not True:
        raise ValueError("something else than a plain value")
    return json.loads(node["content"])
