"""Whether saved arrays make an ensemble of trees: files are never trusted."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compass.model import walk

if TYPE_CHECKING:
    from compass.model.flat import FlatForest

DTYPES: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "roots": np.int64,
    "slot": np.int64,
    "offset": np.float64,
}
_KINDS = {"width": "iu", "divisor": "f", "link": "U", "single": "b"}


def plain(parts: Mapping[str, NDArray[Any]]) -> bool:
    """Whether saved arrays have the types and shapes that an ensemble's have."""
    arrays = all(parts[name].dtype == dtype for name, dtype in DTYPES.items() if name in parts)
    scalars = all(
        parts[name].shape == (1,) and parts[name].dtype.kind in kinds
        for name, kinds in _KINDS.items()
        if name in parts
    )
    # What is empty or 0 would be taken for a forest's, as where the arrays are not there at all.
    return (
        arrays
        and scalars
        and ("slot" not in parts or parts["slot"].shape == parts["roots"].shape)
        and ("offset" not in parts or parts["offset"].size > 0)
        and ("divisor" not in parts or float(parts["divisor"][0]) > 0)
    )


def sound(forest: "FlatForest") -> bool:
    """Whether a walk ends, stays inside the arrays, and adds up to numbers."""
    return _trees(forest) and _adds_up(forest)


def _trees(forest: "FlatForest") -> bool:
    size, inner = forest.nodes, forest.feature >= 0
    if not (
        forest.feature.shape == forest.threshold.shape == (size,)
        and forest.left.shape == forest.right.shape == (size,)
        and forest.value.ndim == 2
        and forest.value.shape[0] == size
        and forest.roots.ndim == 1
        and forest.trees > 0
    ):
        return False
    children = np.stack([forest.left[inner], forest.right[inner]])
    entered = np.concatenate([children.ravel(), forest.roots])
    return bool(
        np.all(forest.feature < forest.width)
        and np.all((entered >= 0) & (entered < size))
        and np.all(children > np.flatnonzero(inner))
        and np.bincount(entered).max() == 1  # one way into every node
    )


def _adds_up(forest: "FlatForest") -> bool:
    # Every tree must add to columns that exist, and a sum must be a number.
    columns = forest.offset.size
    return bool(
        forest.link in walk.LINKS
        and forest.offset.ndim == 1
        and (forest.link != "sigmoid" or columns == 1)
        and np.all(np.isfinite(forest.offset))
        and np.isfinite(forest.divisor)
        and forest.divisor > 0
        and forest.slot.shape == forest.roots.shape
        and np.all((forest.slot >= 0) & (forest.slot + forest.value.shape[1] <= columns))
        and np.all(np.isfinite(forest.value[forest.feature < 0]))
    )
