"""What a peer is given and what it gives back. Only numpy is needed: every environment has it.

A case is one space: the values of each parameter, the configurations as positions in them, what
was measured, and the starts of each seed. An evaluation of a configuration that was evaluated
before is answered and not counted.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PeerCase:
    """One space."""

    name: str
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]  # per parameter, numbers ascending
    places: Places  # [m, d] positions in the values
    y: Floats  # [m]; NaN where the launch failed
    starts: dict[int, list[int]]  # by seed
    budget: int

    @property
    def place_of(self) -> dict[tuple[int, ...], int]:
        """The row of a configuration."""
        return {tuple(row): i for i, row in enumerate(self.places.tolist())}

    def save(self, path: Path) -> None:
        """Write it to a file."""
        kept = {
            "name": self.name,
            "names": self.names,
            "values": self.values,
            "places": self.places.tolist(),
            "y": [None if np.isnan(one) else one for one in self.y.tolist()],
            "starts": self.starts,
            "budget": self.budget,
        }
        path.write_text(json.dumps(kept), encoding="utf-8")

    @staticmethod
    def read(path: Path) -> "PeerCase":
        """The case of a file."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        return PeerCase(
            name=raw["name"],
            names=tuple(raw["names"]),
            values=tuple(tuple(one) for one in raw["values"]),
            places=np.array(raw["places"], dtype=np.int64),
            y=np.array([np.nan if one is None else one for one in raw["y"]]),
            starts={int(seed): rows for seed, rows in raw["starts"].items()},
            budget=raw["budget"],
        )


class Evaluations:
    """The configurations that were evaluated, in order; each counts once."""

    def __init__(self, case: PeerCase) -> None:
        self.case = case
        self.order: list[int] = []
        self._known: set[int] = set()

    def __call__(self, row: int) -> float:
        """What is measured there; NaN where the launch fails."""
        if row not in self._known:
            if self.full:
                raise BudgetSpent
            self._known.add(row)
            self.order.append(row)
        return float(self.case.y[row])

    def __contains__(self, row: int) -> bool:
        return row in self._known

    @property
    def full(self) -> bool:
        """Whether the budget is spent."""
        return len(self.order) >= self.case.budget


class BudgetSpent(Exception):
    """One more evaluation was asked for than there may be."""


Contestant = Callable[[PeerCase, int], Evaluations]


def serve(contestants: dict[str, Contestant], arguments: Sequence[str] | None = None) -> None:
    """Replay a case with the seeds asked for: `CONTESTANT CASE SEED,SEED,...`, JSON lines out."""
    name, path, seeds = (arguments or sys.argv[1:])[:3]
    case = PeerCase.read(Path(path))
    for seed in map(int, seeds.split(",")):
        began = time.process_time()
        found = contestants[name](case, seed)
        spent = time.process_time() - began
        asked = len(found.order) - len(case.starts[seed])
        line = {"seed": seed, "order": found.order, "cpu": spent / max(asked, 1)}
        print(json.dumps(line), flush=True)
