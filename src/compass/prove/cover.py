"""The compiled loops behind shrinking: the best leaf below a node, and in a cell of an axis."""

from typing import Any

from compass.execute.kernel import f8, i4, i8, kernel, number, to_f8, to_f8_2d
from compass.generate.base import Floats


@kernel(i8, f8, i8, i8, f8, f8, number, to_f8_2d)
def cover(
    tree: Any,
    value: Floats,
    low: Any,
    high: Any,
    others: Floats,
    cost: Floats,
    budget: float,
    least: Floats,
) -> None:
    """Lower `least` [cells, trees] to the smallest value of a leaf that reaches the cell.

    A leaf [m] covers the cells low .. high of the axis; it reaches one within the budget when what
    it costs on the other axes and the cost of the cell do not exceed it.
    """
    for i in range(tree.size):
        for c in range(low[i], high[i] + 1):
            if others[i] + cost[c] <= budget and value[i] < least[c, tree[i]]:
                least[c, tree[i]] = value[i]


@kernel(i4, i4, i4, to_f8)
def below(feature: Any, left: Any, right: Any, value: Floats) -> None:
    """Set `value` [m], which is given at leaves, to the smallest one below every node."""
    for i in range(feature.size - 1, -1, -1):  # children come after their parents
        if feature[i] >= 0:
            value[i] = min(value[left[i]], value[right[i]])
