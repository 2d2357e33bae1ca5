"""A question bound to a table: in numbers, with its models; all that a search needs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from compass.domain.space import Space
from compass.domain.target import Target
from compass.generate.base import Bools, Columns, Floats, Predictor
from compass.generate.sums import Sums, sums_of
from compass.prepare.geometry import Geometry
from compass.rules import Rule
from compass.settings import Settings

if TYPE_CHECKING:
    from compass.generate.past import PastRuns


@dataclass(frozen=True)
class SearchTask:
    """A problem in numbers: all that a search needs. Columns are those of `space`, in order."""

    space: Space
    start: Floats  # [d]
    free: Columns  # columns that may take new values
    forced: Columns  # columns that may move only where a rule leaves no other way
    rules: tuple[Rule, ...]  # over the columns of the space
    outcome_rules: tuple[Rule, ...]  # over those and the predicted outcomes
    outcomes: tuple[str, ...]  # predicted outcomes, in the order the outcome rules expect
    targets: tuple[Target, ...]
    labels: dict[str, int]  # position of the wanted class of a target
    predict: Predictor
    geometry: Geometry
    observed: Floats  # [n, d] past configurations
    proximity: bool
    count: int
    seed: int
    settings: Settings
    until: float = np.inf  # time.monotonic() at which what is optional ends
    familiar: Callable[[Floats], Bools] | None = None  # which configurations are near past runs
    measured: Callable[[], dict[str, Floats]] = dict  # outcomes [n, outputs] of `observed`
    past_runs: "PastRuns | None" = (
        None  # what was measured in the context; None: only the model counts
    )

    @cached_property
    def sums(self) -> Sums:
        """The rules on features that are sums, all at once."""
        return sums_of(self.rules, self.space.names)

    @property
    def late(self) -> bool:
        """Whether it is time to end what is optional."""
        return time.monotonic() > self.until

    @property
    def movable(self) -> Columns:
        """Free and forced columns together."""
        return np.concatenate([self.free, self.forced]).astype(np.int64)
