"""A rule: what does not fit into the formula language, as a function of arrays."""

import numpy as np
from numpy.typing import NDArray

from compass import registry

Floats = NDArray[np.float64]


@registry.add("rule", "fits_in_memory")
def fits_in_memory(nodes: Floats, size: Floats) -> Floats:
    """The problem and its halo fit into the memory of the nodes.

    Numbers tell a search how far it is from obeying: at most 0 means that the rule holds.
    """
    halo = 0.05 * size * np.log2(np.maximum(nodes, 1))
    return size + halo - 64.0 * nodes  # GB; a node has 64
