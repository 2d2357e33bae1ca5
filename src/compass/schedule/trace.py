"""A job trace: what was submitted to a machine, as columns of numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import DataProblem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What a job may ask for, in this order; the first one that a trace names is what is counted in
# node-hours, and its machine is full when none of it is left.
RESOURCES = ("nodes", "cores", "gpus", "memory")


@dataclass(frozen=True)
class Names:
    """A column of names: which of them each job has."""

    code: Ints  # [n]
    known: tuple[str, ...]

    def of(self, job: int) -> str:
        """The name of one job."""
        return self.known[int(self.code[job])]


@dataclass(frozen=True, eq=False)
class JobTrace:
    """Jobs in the order in which they were submitted.

    `limit` is what the user asked for, `run` how long the job ran; `need` has a column for each of
    the resources. `power` is what a job was measured to draw in W, NaN where nothing is known.
    """

    job: NDArray[np.str_]  # [n] their names
    submit: Floats  # [n] s
    run: Floats  # [n] s
    limit: Floats  # [n] s
    need: Ints  # [n, k]
    resources: tuple[str, ...]
    wait: Floats  # [n] s as recorded; NaN: not known
    power: Floats  # [n] W
    user: Names
    application: Names
    partition: Names
    capacity: Mapping[str, int] = field(default_factory=dict)  # what the trace says of its machine
    notes: tuple[str, ...] = ()
    changed: int = 0  # jobs that ask for something else than their user did
    truth: str = ""  # what decides how long those run; empty: no job was changed
    circular: bool = False  # whether that is the model that advised the changes

    def __len__(self) -> int:
        return len(self.submit)

    def asks(self, resource: str) -> Ints:
        """How much of a resource each job asks for."""
        return self.need[:, self.resources.index(resource)]

    def only(self, rows: NDArray[Any]) -> "JobTrace":
        """Some of the jobs, in the same order."""
        if not len(self.submit[rows]):
            raise DataProblem("no job is left", hint="ask for other jobs, or read another trace")
        return replace(
            self,
            job=self.job[rows],
            submit=self.submit[rows],
            run=self.run[rows],
            limit=self.limit[rows],
            need=self.need[rows],
            wait=self.wait[rows],
            power=self.power[rows],
            user=_rows(self.user, rows),
            application=_rows(self.application, rows),
            partition=_rows(self.partition, rows),
        )

    def noted(self, *notes: str) -> "JobTrace":
        """The same jobs, with something more to say about them."""
        return replace(self, notes=(*self.notes, *notes))

    def compressed(self, factor: float) -> "JobTrace":
        """The same jobs submitted faster (a factor below 1) or slower one after the other."""
        submit = self.submit[0] + (self.submit - self.submit[0]) * factor
        return replace(self, submit=submit)

    def known_limits(self) -> "JobTrace":
        """The same jobs with limits that users would ask for if they knew the runtime."""
        return replace(self, limit=np.maximum(self.run, 1.0))


def _rows(names: Names, rows: NDArray[Any]) -> Names:
    return Names(names.code[rows], names.known)


def names_of(texts: NDArray[np.str_] | list[str]) -> Names:
    """A column of names from its texts."""
    known, code = np.unique(np.asarray(texts, dtype=np.str_), return_inverse=True)
    return Names(code.astype(np.int64), tuple(known.tolist()))


def job_trace(
    submit: Floats | list[float],
    run: Floats | list[float],
    limit: Floats | list[float],
    need: Mapping[str, Ints | list[int]],
    *,
    job: list[str] | None = None,
    user: list[str] | None = None,
    application: list[str] | None = None,
    partition: list[str] | None = None,
    wait: Floats | None = None,
    power: Floats | None = None,
    capacity: Mapping[str, int] | None = None,
) -> JobTrace:
    """A trace of columns, sorted by the time of submission; jobs of one instant stay in order."""
    when = np.asarray(submit, dtype=np.float64)
    count = len(when)
    resources = tuple(name for name in RESOURCES if name in need)
    if not count or not resources:
        raise DataProblem("a trace needs jobs, and what they ask for", hint="nodes, cores, ...")
    unknown = np.full(count, np.nan)
    trace = JobTrace(
        job=np.asarray(job if job is not None else [str(i + 1) for i in range(count)]),
        submit=when,
        run=np.asarray(run, dtype=np.float64),
        limit=np.asarray(limit, dtype=np.float64),
        need=np.stack([np.asarray(need[name], dtype=np.int64) for name in resources], axis=1),
        resources=resources,
        wait=unknown if wait is None else wait,
        power=unknown if power is None else power,
        user=names_of(user if user is not None else [""] * count),
        application=names_of(application if application is not None else [""] * count),
        partition=names_of(partition if partition is not None else [""] * count),
        capacity=dict(capacity or {}),
    )
    _check(trace)
    order = np.argsort(when, kind="stable")
    return trace if (order == np.arange(count)).all() else trace.only(order)


def _check(trace: JobTrace) -> None:
    """Times and requests that a job can have."""
    bad = ~(np.isfinite(trace.submit) & np.isfinite(trace.run) & np.isfinite(trace.limit))
    bad |= (trace.run < 0) | (trace.limit <= 0) | (trace.need[:, 0] < 1)
    bad |= (trace.need < 0).any(axis=1) | (np.abs(trace.submit) > 1e15)
    if bad.any():
        raise DataProblem(
            f"job {trace.job[int(np.argmax(bad))]} cannot be: it needs a time of submission, a "
            f"runtime of 0 or more, a limit above 0, and at least one of {trace.resources[0]}",
            hint="leave such jobs out",
        )


def peak_use(trace: JobTrace) -> dict[str, int]:
    """The most of each resource that was in use at once, where the trace has recorded waits."""
    known = np.isfinite(trace.wait)
    if not known.any():
        return {}
    start = trace.submit[known] + trace.wait[known]
    times = np.concatenate([start + trace.run[known], start])
    need = np.concatenate([-trace.need[known], trace.need[known]])
    order = np.lexsort((np.arange(len(times)), times))  # of one instant, ends come first
    used = np.cumsum(need[order], axis=0)
    return dict(zip(trace.resources, used.max(axis=0).tolist(), strict=True))
