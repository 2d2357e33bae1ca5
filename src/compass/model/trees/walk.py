"""The compiled loops of flat trees: pack their nodes, walk them, add up what their leaves say.

Every loop exists twice: for inputs that are cast to float32 before they are compared (single),
and for inputs that are compared as they are.
"""

import numpy as np

from compass.native import Run, kernel

LINKS = ("identity", "sigmoid", "softmax", "exp")  # kernels know a link by its place

# What a walk needs of a node, in 16 bytes: one cache line per step instead of four.
NODE = np.dtype([("edge", "f4"), ("feature", "i4"), ("left", "i4"), ("right", "i4")])
WIDE_NODE = np.dtype(
    [("edge", "f8"), ("feature", "i4"), ("left", "i4"), ("right", "i4"), ("unused", "i4")]
)


def _both(name: str) -> dict[bool, Run]:
    """The two forms of a kernel, by whether inputs are cast to float32."""
    return {True: kernel(f"{name}_single"), False: kernel(f"{name}_wide")}


pack = _both("pack")
mean = _both("mean")
mean_spread = _both("mean_spread")
