"""The compiled loops that ask which branches a box of inputs can reach."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.execute.kernel import f8, f8_2d, i4, i8, kernel, to_f8, to_i4, to_i8

Floats = NDArray[np.float64]
Any1D = NDArray[Any]


@kernel(i4, f8, i4, i4, i8, f8, f8, to_i4, to_i4, to_i4, to_i4, to_i8, to_i4, to_i4)
def restrict(
    feature: Any1D,
    threshold: Floats,
    left: Any1D,
    right: Any1D,
    roots: Any1D,
    floor: Floats,
    ceiling: Floats,
    new_feature: Any1D,
    new_left: Any1D,
    new_right: Any1D,
    origin: Any1D,
    new_roots: Any1D,
    stack_node: Any1D,
    stack_parent: Any1D,
) -> int:
    """Write the nodes that a box can reach, in preorder; how many there are."""
    kept = 0
    for t in range(roots.size):
        new_roots[t] = kept
        node, waiting = roots[t], 0
        while True:
            split = feature[node]
            while split >= 0:
                if ceiling[split] <= threshold[node]:
                    node = left[node]
                elif floor[split] > threshold[node]:
                    node = right[node]
                else:
                    break
                split = feature[node]
            new_feature[kept], origin[kept] = split, node
            new_left[kept] = new_right[kept] = -1
            kept += 1
            if split >= 0:
                # The left child is the next node out; the right one waits for its number.
                new_left[kept - 1] = kept
                stack_node[waiting], stack_parent[waiting] = right[node], kept - 1
                waiting += 1
                node = left[node]
                continue
            if waiting == 0:
                break
            waiting -= 1
            node = stack_node[waiting]
            new_right[stack_parent[waiting]] = kept
    return kept


@kernel(i4, f8, i4, i4, f8_2d, i8, i8, f8, f8, to_i4, to_f8, to_f8)
def extremes(
    feature: Any1D,
    threshold: Floats,
    left: Any1D,
    right: Any1D,
    value: Floats,
    roots: Any1D,
    slot: Any1D,
    floor: Floats,
    ceiling: Floats,
    stack: Any1D,
    least: Floats,
    most: Floats,
) -> None:
    """Add up the smallest and largest leaf of every tree that a box can reach, tree by tree."""
    wide = value.shape[1]
    low, high = np.empty(wide), np.empty(wide)
    for t in range(roots.size):
        low[:], high[:] = np.inf, -np.inf
        stack[0], waiting = roots[t], 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            split = feature[node]
            if split < 0:
                for c in range(wide):
                    low[c] = min(low[c], value[node, c])
                    high[c] = max(high[c], value[node, c])
                continue
            if floor[split] <= threshold[node]:
                stack[waiting] = left[node]
                waiting += 1
            if ceiling[split] > threshold[node]:
                stack[waiting] = right[node]
                waiting += 1
        for c in range(wide):
            least[slot[t] + c] += low[c]
            most[slot[t] + c] += high[c]
