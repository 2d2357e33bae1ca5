"""One job of a trace, and a trace whose jobs ask for something else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from compass.domain.errors import BadInput
from compass.schedule.trace import JobTrace

if TYPE_CHECKING:
    from compass.schedule.truth import Truth


@dataclass(frozen=True)
class Job:
    """A job as its user submitted it; `run` is how long it ran like that."""

    job: str
    submit: float
    run: float
    limit: float
    need: dict[str, int]
    user: str
    application: str
    partition: str

    @property
    def nodes(self) -> int:
        """How many nodes it asks for, or cores where the trace counts no nodes."""
        return next(iter(self.need.values()))

    def on(self, nodes: int, limit: float | None = None) -> "Job":
        """The same job on another number of nodes; what else it needs grows with them."""
        share = nodes / self.nodes
        need = {name: round(amount * share) for name, amount in self.need.items()}
        first = next(iter(need))
        return replace(
            self, need={**need, first: nodes}, limit=self.limit if limit is None else limit
        )


Reconfigure = Callable[[Job], Job]


def job_of(trace: JobTrace, place: int) -> Job:
    """One job of a trace."""
    return Job(
        job=str(trace.job[place]),
        submit=float(trace.submit[place]),
        run=float(trace.run[place]),
        limit=float(trace.limit[place]),
        need=dict(zip(trace.resources, trace.need[place].tolist(), strict=True)),
        user=trace.user.of(place),
        application=trace.application.of(place),
        partition=trace.partition.of(place),
    )


def reconfigured(
    trace: JobTrace,
    reconfigure: Reconfigure,
    truth: "Truth",
    *,
    tell: Callable[[str, int, int], None] | None = None,
) -> JobTrace:
    """The trace with every job as `reconfigure` gives it back, running as long as `truth` says.

    A job may be given back with other resources and another limit. Measured power grows with the
    nodes.
    """
    need, run = trace.need.copy(), trace.run.copy()
    limit, power = trace.limit.copy(), trace.power.copy()
    moved = 0
    for place in range(len(trace)):
        if tell is not None and place % 1000 == 0:
            tell("changing jobs", place, len(trace))
        job = job_of(trace, place)
        changed = reconfigure(job)
        _check(job, changed)
        limit[place] = changed.limit
        if changed.need == job.need:
            continue
        ratio = truth.ratio(job, changed)
        if not 0 < ratio < np.inf:
            raise BadInput(
                f"{truth.name}: job {job.job} would run {ratio:g} times as long",
                hint="a truth gives a ratio above 0",
            )
        need[place] = [changed.need[name] for name in trace.resources]
        run[place] = job.run * ratio
        power[place] *= changed.nodes / job.nodes
        moved += 1
    return replace(
        trace,
        need=need,
        run=run,
        limit=limit,
        power=power,
        changed=moved,
        truth=truth.name,
        circular=truth.circular,
    )


def _check(job: Job, changed: Job) -> None:
    """Only resources and the limit of a job can be changed."""
    if replace(changed, need=job.need, limit=job.limit) != job:
        raise BadInput(
            f"job {job.job} came back as another job", hint="change its resources and limit only"
        )
    amounts = changed.need.values()
    if list(changed.need) != list(job.need) or not all(
        isinstance(amount, int) and amount >= 0 for amount in amounts
    ):
        raise BadInput(
            f"job {job.job} came back asking for {changed.need}",
            hint=f"whole numbers of {', '.join(job.need)}",
        )
    if changed.nodes < 1 or not 0 < changed.limit < np.inf:
        raise BadInput(
            f"job {job.job} came back asking for {changed.nodes} of {next(iter(job.need))} for "
            f"{changed.limit:g} s",
            hint="at least 1, and a limit above 0",
        )
