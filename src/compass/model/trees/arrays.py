"""What the arrays of an ensemble of trees must be, wherever they come from: no walk may leave them.

Saved engines and files that people bring go through the same checks (`flat.restore`).
"""

from typing import TYPE_CHECKING

import numpy as np

from compass.execute.arrays import flags, floats, texts, whole
from compass.model.trees import walk

if TYPE_CHECKING:
    from compass.model.trees.flat import FlatForest


class Inconsistent(ValueError):
    """Parts of a model that do not fit together; the message says which, beginning with "it"."""


ARRAYS = {
    "feature": whole("nodes", dtype=np.int32, least=-1, some=True),
    "threshold": floats("nodes"),
    "left": whole("nodes", dtype=np.int32, least=-1, below="nodes"),
    "right": whole("nodes", dtype=np.int32, least=-1, below="nodes"),
    "value": floats("nodes", "outputs", some=True),
    "roots": whole("trees", least=0, below="nodes", some=True),
    "slot": whole("trees", least=0),
    "offset": floats("columns", some=True),
    "width": whole(1, least=1),
    "divisor": floats(1, least=1),
    "link": texts(1, among=walk.LINKS),
    "single": flags(1),
}
SCALARS = ("width", "divisor", "link", "single")
LARGEST = 1e150  # of a prediction: its square, of which a spread is made, must be a number too


def fault(forest: "FlatForest") -> str | None:
    """Why arrays that are of the right types and shapes are no ensemble of trees; None: they are.

    A walk must end and stay inside the arrays, and what its leaves say must add up to a number.
    """
    return _not_trees(forest) or _no_sum(forest)


def _not_trees(forest: "FlatForest") -> str | None:
    inner = forest.feature >= 0
    if not (np.array_equal(inner, forest.left >= 0) and np.array_equal(inner, forest.right >= 0)):
        return "a node is neither a split with two branches nor a leaf"
    if np.any(forest.feature >= forest.width):
        return f"a split looks at a column that is not among its {forest.width}"
    children = np.stack([forest.left[inner], forest.right[inner]])
    entered = np.concatenate([children.ravel(), forest.roots])
    # Parents come first, so that no walk goes round; and there is one way into every node.
    if np.any(children <= np.flatnonzero(inner)) or np.bincount(entered).max() > 1:
        return "its nodes do not form trees"
    return None


def _no_sum(forest: "FlatForest") -> str | None:
    columns, wide = forest.offset.size, forest.value.shape[1]
    # Subtracted, not added: a sum of large positions would be a small number again.
    if np.any(forest.slot > columns - wide):
        return "a tree adds to a column that is not there"
    if forest.link == "sigmoid" and columns != 1:
        return "two classes must be the sigmoid of one sum"
    largest = float(np.log(LARGEST)) if forest.link == "exp" else LARGEST
    return None if _highest(forest, largest) < largest else "its sums are too large to be numbers"


def _highest(forest: "FlatForest", enough: float) -> float:
    """A sum that no prediction before the link exceeds; the exact highest only where it matters."""
    with np.errstate(over="ignore"):
        most = float(np.abs(forest.value).max()) * (forest.trees / forest.divisor)
        rough = float(np.abs(forest.offset).max()) + most
    if rough < enough:
        return rough
    from compass.model.trees.bounds import raw_bounds

    everything = np.full(forest.width, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        least, highest = raw_bounds(forest, -everything, everything)
    # The exponential of a low number is small, not large.
    lowest = 0.0 if forest.link == "exp" and np.isfinite(least).all() else -float(least.min())
    return max(float(highest.max()), lowest)
