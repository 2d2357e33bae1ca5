"""Simulates a queue: when each job of a trace starts and ends on a machine under a policy.

Decision 0061 (docs/decisions). At every instant jobs end first, then jobs arrive, then the
scheduler passes once over the queue. It knows limits, not runtimes.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compass.native import kernel
from compass.schedule.machine import Machine, fitted, machine_for
from compass.schedule.policy import Backfill, Order, Policy, policy
from compass.schedule.trace import Floats, Ints, JobTrace

Tell = Callable[[str, int, int], None]

_ORDER = {Order.FCFS: 0, Order.SJF: 1, Order.MULTIFACTOR: 2}
_BACKFILL = {Backfill.NONE: 0, Backfill.EASY: 1, Backfill.CONSERVATIVE: 2}
_LOOK = 0.1  # s between two looks at how far it is


@dataclass(frozen=True, eq=False)
class Schedule:
    """When the jobs of a trace started and ended.

    `promised` is the latest start that the scheduler could promise a job when it first had to: to
    the first of the queue under EASY, to every job when it arrived under conservative backfilling.
    NaN: nothing was promised.
    """

    trace: JobTrace
    machine: dict[str, int]
    policy: Policy
    kill: bool
    start: Floats  # [n] s
    end: Floats  # [n] s
    promised: Floats  # [n] s

    @property
    def wait(self) -> Floats:
        """Seconds in the queue."""
        return self.start - self.trace.submit

    @property
    def turnaround(self) -> Floats:
        """Seconds from submission to end."""
        return self.end - self.trace.submit

    @property
    def ran(self) -> Floats:
        """Seconds that each job ran."""
        return self.end - self.start

    @property
    def killed(self) -> int:
        """How many jobs were ended at their limit."""
        return int((self.trace.run > self.trace.limit).sum()) if self.kill else 0


def simulate(
    trace: JobTrace,
    machine: Machine | None = None,
    how: Policy | str = "fcfs+easy",
    *,
    kill: bool = True,
    tell: Tell | None = None,
) -> Schedule:
    """When each job starts and ends.

    `machine` says how much there is of each resource (default: what the trace says). `kill`: jobs
    end at their limit at the latest; otherwise they run as long as they did.
    """
    chosen = policy(how) if isinstance(how, str) else how
    has = machine_for(trace, machine)
    jobs = fitted(trace, has)
    start, end, promised = (np.empty(len(jobs)) for _ in range(3))
    users = len(jobs.user.known)
    what = np.array([_ORDER[chosen.order], _BACKFILL[chosen.backfill], kill, users], dtype=np.int64)
    weights = chosen.weights
    numbers = [weights.age, weights.oldest, weights.fair_share, weights.half_life]
    state = np.zeros(2, dtype=np.int64)
    _run(
        (
            *(np.ascontiguousarray(one) for one in (jobs.submit, jobs.run, jobs.limit)),
            np.ascontiguousarray(jobs.need),
            np.array([has[name] for name in jobs.resources], dtype=np.int64),
            np.ascontiguousarray(jobs.user.code),
            _fixed_priority(jobs, has, chosen),
            what,
            np.array(numbers),
            *(start, end, promised, state),
        ),
        state,
        len(jobs),
        tell,
    )
    return Schedule(jobs, has, chosen, kill, start, end, promised)


def _fixed_priority(trace: JobTrace, machine: Machine, chosen: Policy) -> Floats:
    """The part of a priority that does not change while a job waits: size and partition."""
    weights = chosen.weights
    size = trace.need[:, 0] / machine[trace.resources[0]]
    extra = np.array([weights.partitions.get(name, 0.0) for name in trace.partition.known])
    fixed: Floats = weights.size * size + extra[trace.partition.code]
    return fixed


def _run(given: tuple[object, ...], state: Ints, jobs: int, tell: Tell | None) -> None:
    """Run the kernel; a person who waits sees how far it is, and may interrupt it."""
    problems: list[BaseException] = []

    def work() -> None:
        try:
            kernel("schedule")(*given)
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_LOOK)
            if tell is not None:
                tell("simulating the queue", int(state[0]), jobs)
    finally:
        state[1] = 1  # does nothing where it has ended by itself
        thread.join()
    if problems:
        raise problems[0]
