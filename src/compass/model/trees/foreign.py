"""Boosted trees of LightGBM and XGBoost as flat arrays, read from the formats they publish."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.model.trees.arrays import Inconsistent
from compass.model.trees.flat import FlatForest

Floats = NDArray[np.float64]

# How the objectives of each library make a prediction of a sum of trees.
_LIGHTGBM = dict.fromkeys(
    ("regression", "regression_l1", "huber", "fair", "quantile", "mape", "none"), "identity"
) | {
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
    "binary": "sigmoid",
    "multiclass": "softmax",
}
_XGBOOST = dict.fromkeys(
    (
        "reg:squarederror",
        "reg:squaredlogerror",
        "reg:absoluteerror",
        "reg:pseudohubererror",
        "binary:logitraw",
    ),
    "identity",
) | {
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
    "binary:logistic": "sigmoid",
    "multi:softprob": "softmax",
    "multi:softmax": "softmax",
}
# LightGBM reads |x| up to this (its kZeroThreshold, a float32) as 0.
_ZERO = float(np.float32(1e-35))
_LIGHTGBM_CATEGORY, _LIGHTGBM_ZERO_MISSING = 1, 4  # bits of a LightGBM decision type


@dataclass(frozen=True, eq=False)
class _Tree:
    """One tree; node 0 is its root, children come after their parents, -1 marks a leaf."""

    feature: NDArray[Any]
    threshold: Floats
    left: NDArray[Any]
    right: NDArray[Any]
    value: Floats

    def __post_init__(self) -> None:
        parts = (self.feature, self.threshold, self.left, self.right)
        # Trees are laid one after another: what one has too much another must not have too little.
        if self.value.ndim != 1 or any(part.shape != self.value.shape for part in parts):
            raise Inconsistent("it has a tree whose nodes lack a part")


def from_lightgbm(booster: Any) -> FlatForest:
    """The flat form of a LightGBM booster: numbers, two classes or several.

    It predicts what `booster.predict` does (with the best number of rounds, where training
    stopped early); two classes get two columns. Inputs are compared as float64. Categorical
    splits, linear leaves and zeros that count as missing are refused.
    """
    return lightgbm_forest(booster.model_to_string())


def lightgbm_forest(text: str) -> FlatForest:
    """The flat form of the text of a LightGBM model; see `from_lightgbm`."""
    head, blocks = _sections(text)
    objective = head.get("objective", "none").split(" ")
    link, factor = _lightgbm_link(objective)
    each = int(head["num_tree_per_iteration"])
    trees = [_lightgbm_tree(block, factor) for block in blocks]
    _lightgbm_counts(head, blocks, each, link)
    averaged = "average_output" in head
    return _assemble(
        trees or [_leaf(0.0)],
        slot=np.arange(max(len(trees), 1)) % each,
        offset=np.zeros(each),
        divisor=max(len(trees) // each, 1) if averaged else 1.0,
        link=link,
        width=int(head["max_feature_idx"]) + 1,
        single=False,
    )


def _lightgbm_counts(
    head: Mapping[str, str], blocks: Sequence[Mapping[str, str]], each: int, link: str
) -> None:
    """Refuse a file that holds other trees than it says."""
    if each < 1 or (each > 1) != (link == "softmax") or each != int(head.get("num_class", each)):
        raise Inconsistent("it says another number of classes than its objective has")
    if len(blocks) % each:
        raise Inconsistent(f"it has {len(blocks)} trees for {each} classes")
    if len(head.get("tree_sizes", "").split()) not in (0, len(blocks)):
        raise Inconsistent("it holds another number of trees than it says")
    if any(block["Tree"] != str(place) for place, block in enumerate(blocks)):
        raise Inconsistent("its trees are not in order")


def _sections(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    head: dict[str, str] = {}
    blocks: list[dict[str, str]] = []
    for line in text.splitlines():
        if line == "end of trees":
            break
        key, _, rest = line.partition("=")
        if key == "Tree":
            blocks.append({key: rest.strip()})
        elif key:
            (blocks[-1] if blocks else head)[key] = rest
    return head, blocks


def _lightgbm_link(objective: Sequence[str]) -> tuple[str, float]:
    name, options = objective[0], dict(part.partition(":")[::2] for part in objective[1:])
    if name not in _LIGHTGBM or "sqrt" in options:
        raise _unsupported("LightGBM", f"the objective {' '.join(objective)}")
    return _LIGHTGBM[name], float(options.get("sigmoid", 1)) if name == "binary" else 1.0


def _lightgbm_tree(block: Mapping[str, str], factor: float) -> _Tree:
    if block.get("is_linear", "0") != "0":
        raise _unsupported("LightGBM", "linear models in its leaves")
    leaves = factor * np.array(block["leaf_value"].split(), dtype=np.float64)
    inner = leaves.size - 1
    if int(block["num_leaves"]) != leaves.size:
        raise Inconsistent("it has a tree with another number of leaves than it says")
    if inner == 0:
        return _leaf(float(leaves[0]))
    decision = np.array(block["decision_type"].split(), dtype=np.int64)
    if decision.size != inner:
        raise Inconsistent("it has a tree whose nodes lack a part")
    if np.any(decision & _LIGHTGBM_CATEGORY):
        raise _unsupported("LightGBM", "categorical splits")
    if np.any((decision >> 2) & 3 == _LIGHTGBM_ZERO_MISSING >> 2):
        raise _unsupported("LightGBM", "zeros that count as missing")
    threshold = np.array(block["threshold"].split(), dtype=np.float64)
    # All of -ZERO .. ZERO goes where 0 goes: the thresholds move to the ends of that range.
    threshold[(threshold >= 0) & (threshold < _ZERO)] = _ZERO
    threshold[(threshold < 0) & (threshold >= -_ZERO)] = np.nextafter(-_ZERO, -np.inf)
    padding = np.full(leaves.size, -1)
    children = (
        np.array(block[side].split(), dtype=np.int64) for side in ("left_child", "right_child")
    )
    # A leaf is written as -1 - its number; here leaves come after the inner nodes.
    left, right = (
        np.where(child < 0, inner - 1 - child, child)
        for child in map(_within, children, repeat(-leaves.size), repeat(inner))
    )
    return _Tree(
        feature=np.concatenate([np.array(block["split_feature"].split(), np.int64), padding]),
        threshold=np.concatenate([threshold, np.zeros(leaves.size)]),
        left=np.concatenate([left, padding]),
        right=np.concatenate([right, padding]),
        value=np.concatenate([np.zeros(inner), leaves]),
    )


def _within(positions: NDArray[np.int64], least: int, below: int) -> NDArray[np.int64]:
    """The positions, none of which is out of range: nothing is calculated with those that are."""
    if np.any((positions < least) | (positions >= below)):
        raise Inconsistent("it has a tree with a branch that leads nowhere")
    return positions


def from_xgboost(booster: Any) -> FlatForest:
    """The flat form of an XGBoost booster of trees: numbers, two classes or several.

    It predicts what `booster.predict` does, which sums in float32, to that rounding; two classes
    get two columns, `multi:softmax` gets scores. Inputs are cast to float32. Categorical splits,
    linear boosters and several targets are refused.
    """
    return xgboost_forest(json.loads(bytes(booster.save_raw("json"))))


def xgboost_forest(document: Mapping[str, Any]) -> FlatForest:
    """The flat form of the document that XGBoost saves a model as; see `from_xgboost`."""
    learner = document["learner"]
    objective = learner["objective"]["name"]
    if objective not in _XGBOOST:
        raise _unsupported("XGBoost", f"the objective {objective}")
    link, param = _XGBOOST[objective], learner["learner_model_param"]
    if int(param.get("num_target", "1")) > 1:
        raise _unsupported("XGBoost", "several targets in one model")
    model, weights = xgboost_trees(learner["gradient_booster"])
    columns, width = max(int(param["num_class"]), 1), int(param["num_feature"])
    trees = [
        _xgboost_tree(tree, weight) for tree, weight in zip(model["trees"], weights, strict=True)
    ]
    slot = _whole(model["tree_info"])
    _xgboost_counts(model, slot, columns, link)
    order = _round_by_round(slot)
    return _assemble(
        [trees[i] for i in order] or [_leaf(0.0)],
        slot=slot[order] if trees else np.zeros(1, dtype=np.int64),
        offset=_margin(param["base_score"], link, columns),
        divisor=1.0,  # trees grown side by side in a round are already shares of it
        link=link,
        width=width,
        single=True,
    )


def _xgboost_counts(
    model: Mapping[str, Any], slot: NDArray[np.int64], columns: int, link: str
) -> None:
    """Refuse a document that holds other trees than it says."""
    if (columns > 1) != (link == "softmax"):
        raise Inconsistent("it says another number of classes than its objective has")
    declared = int(model["gbtree_model_param"]["num_trees"])
    if not len(model["trees"]) == slot.size == declared:
        raise Inconsistent(f"it holds {len(model['trees'])} trees and says {declared}")
    if np.any((slot < 0) | (slot >= columns)):
        raise Inconsistent("it has a tree of a class that there is not")
    if np.unique(np.bincount(slot, minlength=columns)).size > 1:
        raise Inconsistent("it has more trees for one class than for another")


def xgboost_trees(booster: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[float]]:
    """The part of a document that holds the trees, and how much each tree counts."""
    if booster["name"] == "dart":
        return booster["gbtree"]["model"], booster["weight_drop"]
    if booster["name"] != "gbtree":
        raise _unsupported("XGBoost", f"a booster of the kind {booster['name']}")
    return booster["model"], [1.0] * len(booster["model"]["trees"])


def _xgboost_tree(tree: Mapping[str, Any], weight: float) -> _Tree:
    if any(tree["split_type"]) or tree["categories"]:
        raise _unsupported("XGBoost", "categorical splits")
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise _unsupported("XGBoost", "several targets in one model")
    count = int(tree["tree_param"]["num_nodes"])
    left, right = (
        _within(_whole(tree[side]), -1, count) for side in ("left_children", "right_children")
    )
    leaf = left < 0
    # A node's condition is a threshold, a leaf's is its value.
    condition = _numbers(tree["split_conditions"]).astype(np.float32)
    below = np.nextafter(condition, np.float32(-np.inf))  # x < t is x <= the float32 before t
    features = _whole(tree["split_indices"])
    if not left.shape == right.shape == condition.shape == features.shape == (count,):
        raise Inconsistent("it has a tree with another number of nodes than it says")
    return _in_order(
        _Tree(
            feature=np.where(leaf, -1, features),
            threshold=np.where(leaf, 0.0, below.astype(np.float64)),
            left=left,
            right=right,
            value=np.where(leaf, weight * condition.astype(np.float64), 0.0),
        )
    )


def _whole(values: Any) -> NDArray[np.int64]:
    """Whole numbers of a document; what only looks like some is not taken for them."""
    found = np.array(values)
    if found.ndim != 1 or (found.size and found.dtype != np.int64):
        raise Inconsistent("it has something else where whole numbers should be")
    return found.astype(np.int64)


def _numbers(values: Any) -> Floats:
    """Numbers of a document; what only looks like some is not taken for them."""
    found = np.array(values)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "if"):
        raise Inconsistent("it has something else where numbers should be")
    return found.astype(np.float64)


def _in_order(tree: _Tree) -> _Tree:
    """The same tree, parents before children, without nodes that pruning left behind."""
    order = [0]
    for node in order:
        if tree.left[node] >= 0:
            order += [int(tree.left[node]), int(tree.right[node])]
        if len(order) > tree.left.size:  # or a damaged file would be followed without end
            raise BadInput("the nodes of a tree do not form a tree", hint="save the model again")
    place = np.full(tree.left.size + 1, -1)  # the last one answers for -1
    place[order] = np.arange(len(order))
    return _Tree(
        feature=tree.feature[order],
        threshold=tree.threshold[order],
        left=place[tree.left[order]],
        right=place[tree.right[order]],
        value=tree.value[order],
    )


def _round_by_round(slot: NDArray[np.int64]) -> NDArray[np.int64]:
    # Trees grown side by side come class by class; a round is one tree of every class.
    turn = np.zeros(slot.size, dtype=np.int64)
    for column in np.unique(slot):
        mine = slot == column
        turn[mine] = np.arange(np.count_nonzero(mine))
    return np.lexsort((slot, turn))


def _margin(written: str, link: str, columns: int) -> Floats:
    score = np.array(written.strip("[]").split(","), dtype=np.float32).astype(np.float64)
    # Saved as a prediction, added before the link.
    if link == "sigmoid":
        score = np.log(score) - np.log1p(-score)
    elif link == "exp":
        score = np.log(score)
    return np.array(np.broadcast_to(score, columns))


def _leaf(value: float) -> _Tree:
    none = np.array([-1])
    return _Tree(none, np.zeros(1), none, none, np.array([value]))


def _assemble(
    trees: Sequence[_Tree],
    *,
    slot: NDArray[np.int64],
    offset: Floats,
    divisor: float,
    link: str,
    width: int,
    single: bool,
) -> FlatForest:
    starts = np.cumsum([0, *(tree.value.size for tree in trees)])[:-1]
    moved = [
        [np.where(child < 0, -1, child + start) for child in (tree.left, tree.right)]
        for tree, start in zip(trees, starts, strict=True)
    ]
    return FlatForest(
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=np.concatenate([left for left, _ in moved]),
        right=np.concatenate([right for _, right in moved]),
        value=np.concatenate([tree.value for tree in trees])[:, np.newaxis],
        roots=starts.astype(np.int64),
        width=width,
        slot=slot,
        offset=offset,
        divisor=divisor,
        link=link,
        single=single,
    )


def _unsupported(library: str, what: str) -> BadInput:
    return BadInput(
        f"this {library} model cannot be flattened: it has {what}",
        hint="train it with plain numeric splits and a standard objective",
    )
