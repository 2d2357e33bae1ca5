"""What a contestant of a replay is given and gives back. Only numpy is needed."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FrontCase:
    """One space: every configuration that may be asked for, and what was measured there."""

    name: str
    sizes: tuple[int, ...]  # values of each parameter
    labels: tuple[bool, ...]  # whether a parameter has labels instead of numbers
    places: Places  # [m, d] positions in the values
    Y: Floats  # [m, k] to be minimised, all above 0
    starts: dict[int, list[int]]  # by seed
    budget: int

    def save(self, path: Path) -> None:
        """Write it to a file."""
        kept = {
            "name": self.name,
            "sizes": self.sizes,
            "labels": self.labels,
            "places": self.places.tolist(),
            "Y": self.Y.tolist(),
            "starts": self.starts,
            "budget": self.budget,
        }
        path.write_text(json.dumps(kept), encoding="utf-8")

    @staticmethod
    def read(path: Path) -> "FrontCase":
        """The case of a file."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        return FrontCase(
            name=raw["name"],
            sizes=tuple(raw["sizes"]),
            labels=tuple(raw["labels"]),
            places=np.array(raw["places"], dtype=np.int64),
            Y=np.array(raw["Y"]),
            starts={int(seed): rows for seed, rows in raw["starts"].items()},
            budget=raw["budget"],
        )
