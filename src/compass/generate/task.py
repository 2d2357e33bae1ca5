"""A question bound to a table: in numbers, with its models; all that a search needs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from compass.domain.base import Config
from compass.domain.mined import Mined
from compass.domain.query import Kind, Query
from compass.domain.space import Space
from compass.domain.target import Target
from compass.generate.base import Bools, Chances, Columns, Floats, Predictor
from compass.generate.linear_rules import LinearRules, linear_rules_of
from compass.prepare.geometry import Geometry
from compass.rules import Rule
from compass.settings import Settings

if TYPE_CHECKING:
    from compass.generate.past import PastRuns


@dataclass(frozen=True, eq=False)
class StartingPoint:
    """The baseline of a question: a complete configuration, and what is known of it."""

    x: Floats  # [d]
    config: Config  # the same as values, and the outcomes that were measured there
    measured: Config  # outcomes
    predicted: Config  # outcomes


@dataclass(frozen=True)
class Assumptions:
    """What an answer assumes about everything that its question does not say."""

    where: str = ""  # where the baseline comes from; empty: there is none
    matching: int = 0  # past runs that meet the conditions
    sampled: bool = False  # whether the past runs are a sample of more
    notes: tuple[str, ...] = ()
    rows: Columns = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # of these runs
    given: tuple[str, ...] = ()  # parameters that a recommendation sets
    bounds: tuple[Rule, ...] = ()  # limits that past runs of the context show, obeyed or not
    kept: tuple[Mined, ...] = ()  # dependencies among the rules: found in the runs, not stated
    dropped: tuple[str, ...] = ()  # those that what is given breaks, so that they are not kept


@dataclass(frozen=True)
class SearchTask:
    """A bound question in numbers, with its models. Columns are those of `space`, in order.

    A generator needs no more than the fields up to `past_runs`; those after it say what the answer
    is about.
    """

    space: Space
    start: Floats  # [d]
    free: Columns  # columns that may take new values
    forced: Columns  # columns that may move only where a rule leaves no other way
    rules: tuple[Rule, ...]  # over the columns of the space
    outcome_rules: tuple[Rule, ...]  # over those and the predicted outcomes
    outcomes: tuple[str, ...]  # predicted outcomes, in the order the outcome rules expect
    targets: tuple[Target, ...]  # what predictions have to be: shifted to keep the chance
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

    chances: Chances | None = None  # how likely goals are met; None: none has to be likely
    supported: Callable[[Floats], Bools] | None = None  # which configurations past runs support
    trusted: Callable[[Floats], Bools] | None = (
        None  # of which nothing but their effects is in doubt
    )
    usual: Callable[[Floats], Bools] | None = (
        None  # which configurations combine values as past runs do, and likely do not fail
    )
    query: Query = field(default_factory=lambda: Query(kind=Kind.RECOMMEND))
    contexts: Floats = field(default_factory=lambda: np.empty((0, 0)))  # [c, d] averaged over
    baseline: StartingPoint | None = None
    conditions: tuple[Rule, ...] = ()  # rules that speak of outcomes, enforced or not
    forward: bool = False  # a what-if: what happens is reported, conditions are not enforced
    assumed: Assumptions = field(default_factory=Assumptions)

    @property
    def origin(self) -> Floats:
        """What changes are counted against, [d]: the baseline, else the start."""
        return self.start if self.baseline is None else self.baseline.x

    @property
    def free_names(self) -> tuple[str, ...]:
        """The parameters that values are looked for."""
        return tuple(self.space.names[column] for column in self.free)

    @cached_property
    def linear_rules(self) -> LinearRules:
        """The linear rules on features, as arrays."""
        return linear_rules_of(self.rules, self.space.names)

    @property
    def timed_out(self) -> bool:
        """Whether it is time to end what is optional."""
        return time.monotonic() > self.until

    @cached_property
    def movable(self) -> Columns:
        """Free and forced columns together."""
        return np.concatenate([self.free, self.forced]).astype(np.int64)
