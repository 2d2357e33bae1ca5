"""What a member of the combination has to do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compass.platforms.pairs import Floats


@dataclass(frozen=True, eq=False)
class Training:
    """Rows that a member learns from, as arrays."""

    X: Floats  # [n, d] profiles on the source machine, standardised
    log_ratio: Floats  # [n, m]; nan where a line was not run on a machine
    applications: NDArray[np.str_]  # [n]
    weight: Floats  # [n]; every application counts the same
    seed: int


Predict = Callable[[Floats], Floats]  # X [k, d] -> log ratios [k, m]


class Member(Protocol):
    """A model of the log runtime ratios of all machines."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def view(self) -> str:
        """Which view of the profile it learns from: see `compass.platforms.views`."""

    def fit(self, training: Training) -> Predict:
        """What it learnt of these rows; nan for a machine that none of them was run on."""
