"""A job trace with a known scaling law, in which big inputs ask for many nodes.

runtime = 2 + work / nodes^0.9 + 0.02 nodes, times noise of 3 %. `work` depends on program and
input. People choose the nodes by the size of the input, so nodes and runtime grow together
although more nodes make every job faster.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PROGRAMS = ("ocean", "lattice", "plasma")
INPUTS = 6
NODES = (1, 2, 4, 8, 16, 32, 64, 128)
USERS = 20
NOISE = 0.03


@dataclass(frozen=True)
class Trace:
    """Jobs with what the data would not tell."""

    columns: dict[str, Any]
    work: Floats  # [n]

    def only(self, *names: str) -> dict[str, Any]:
        """Some of the columns."""
        return {name: self.columns[name] for name in names}


def law(work: Floats | float, nodes: Floats | float) -> Floats:
    """The runtime without noise."""
    return np.asarray(2 + work / np.asarray(nodes, dtype=np.float64) ** 0.9 + 0.02 * nodes)


def trace(jobs: int, seed: int, *, scaling: int = 0) -> Trace:
    """So many jobs as people ask for them, then scaling runs.

    `scaling` is how often every program and input is run at every number of nodes.
    """
    rng = np.random.default_rng(seed)
    program, size = rng.integers(0, len(PROGRAMS), jobs), rng.integers(0, INPUTS, jobs)
    nodes = np.array(NODES, dtype=np.float64)[size + 1]
    if scaling:
        grid = np.array([(p, s, n) for p in range(3) for s in range(INPUTS) for n in NODES])
        more = np.repeat(grid, scaling, axis=0)
        program, size = np.r_[program, more[:, 0]], np.r_[size, more[:, 1]]
        nodes = np.r_[nodes, more[:, 2]]
    work = 60.0 * 3.0**size * (1 + program)
    runtime = law(work, nodes) * np.exp(NOISE * rng.standard_normal(len(nodes)))
    columns = {
        "user": (program * 7 + rng.integers(0, USERS - 14, len(nodes))).astype(np.int64),
        "app": [PROGRAMS[p] for p in program],
        "input": [f"case{s}" for s in size],
        "nodes": nodes.astype(np.int64),
        "runtime": runtime,
    }
    return Trace(columns, work)
