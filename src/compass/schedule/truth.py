"""What decides how long a changed job really runs.

It must not be the model that advised the change: a model that scores its own advice agrees with
itself. `SurrogateTruth` does just that, and what it decides is marked as circular everywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from compass.domain.errors import BadInput, DataProblem, unknown
from compass.schedule.job import Job
from compass.schedule.law import Law
from compass.schedule.trace import Floats

CIRCULAR = (
    "circular: the model that advised the changes decides how long the changed jobs run; "
    "this says nothing about the machine"
)


class Truth(Protocol):
    """How long a changed job runs, against the job as it ran."""

    @property
    def name(self) -> str:
        """What decides, in a few words."""

    @property
    def circular(self) -> bool:
        """Whether it is the model that advised the change."""

    def ratio(self, job: Job, changed: Job) -> float:
        """The runtime of the changed job over that of the job as it was."""


@dataclass(frozen=True)
class LawTruth:
    """Laws of scaling: one per application, or one for all that have none."""

    laws: Mapping[str, Law]
    other: Law | None = None
    circular: bool = False

    @property
    def name(self) -> str:
        """What decides."""
        if not self.laws and self.other is not None:
            return f"law {self.other.name}"
        more = f", {self.other.name} for others" if self.other is not None else ""
        return f"laws of {len(self.laws)} applications{more}"

    def ratio(self, job: Job, changed: Job) -> float:
        """By the law of the job's application."""
        found = self.laws.get(job.application, self.other)
        if found is None:
            raise unknown("application with a law of scaling", job.application, self.laws)
        return found.time(changed.nodes) / found.time(job.nodes)


@dataclass(frozen=True)
class MeasuredTruth:
    """Measured runtimes by application and number of nodes.

    Between two measured numbers of nodes the runtime is a power of the nodes; beyond the smallest
    and the largest nothing is known, and asking is an error.
    """

    runtimes: Mapping[str, Mapping[int, float]]
    circular: bool = False

    def __post_init__(self) -> None:
        for name, measured in self.runtimes.items():
            if not measured or any(n < 1 or not 0 < t < np.inf for n, t in measured.items()):
                raise DataProblem(
                    f"the scaling table of {name} is empty, or holds what no run can be",
                    hint="nodes of at least 1, runtimes above 0",
                )

    @property
    def name(self) -> str:
        """What decides."""
        return f"measured runtimes of {len(self.runtimes)} applications"

    def ratio(self, job: Job, changed: Job) -> float:
        """From the table of the job's application."""
        measured = self.runtimes.get(job.application)
        if measured is None:
            raise unknown("application with measured runtimes", job.application, self.runtimes)
        nodes = np.array(sorted(measured), dtype=np.float64)
        times = np.array([measured[int(n)] for n in nodes])
        return _between(nodes, times, job, changed.nodes) / _between(nodes, times, job, job.nodes)


def _between(nodes: Floats, times: Floats, job: Job, asked: int) -> float:
    if not nodes[0] <= asked <= nodes[-1]:
        raise BadInput(
            f"{job.application} was not measured on {asked} nodes",
            hint=f"it was measured on {nodes[0]:.0f} to {nodes[-1]:.0f}",
        )
    return float(np.exp(np.interp(np.log(asked), np.log(nodes), np.log(times))))


@dataclass(frozen=True)
class SurrogateTruth:
    """The adviser's own model, which agrees with itself: circular."""

    predict: Callable[[Job], float]
    circular: bool = True

    @property
    def name(self) -> str:
        """What decides."""
        return "the adviser's own model"

    def ratio(self, job: Job, changed: Job) -> float:
        """What the model predicts of the one over what it predicts of the other."""
        before, after = self.predict(job), self.predict(changed)
        if not (before > 0 and after > 0 and np.isfinite(before) and np.isfinite(after)):
            raise BadInput(
                f"the model predicts no runtime for job {job.job}: {before:g} s, {after:g} s",
                hint="learn the outcome on a logarithmic scale, or use another truth",
            )
        return after / before
