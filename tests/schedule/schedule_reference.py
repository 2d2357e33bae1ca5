"""A scheduler that is slow and plain: every instant is worked out from what was decided before."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from compass.schedule.machine import Machine
from compass.schedule.policy import Backfill, Order, Policy
from compass.schedule.trace import JobTrace


@dataclass
class Reference:
    """Decides instant by instant; what is in use is counted anew at every question."""

    trace: JobTrace
    machine: Machine
    policy: Policy
    kill: bool
    start: dict[int, float] = field(default_factory=dict)
    end: dict[int, float] = field(default_factory=dict)
    promised: dict[int, float] = field(default_factory=dict)
    reserved: dict[int, float] = field(default_factory=dict)

    def run(self) -> "Reference":
        jobs, now, late = len(self.trace), -math.inf, False
        while len(self.end) < jobs or any(end > now for end in self.end.values()):
            last, now = now, self.next_instant(now)
            # A job of no length starts and ends in one instant: the next pass is at the same one.
            ended = [j for j in self.end if last <= self.end[j] <= now and j not in self.gone]
            self.gone.update(ended)
            queue = [j for j in range(jobs) if self.trace.submit[j] <= now and j not in self.start]
            queue.sort(key=lambda j: self.key(j, now))
            if self.policy.backfill is Backfill.CONSERVATIVE:
                early = any(self.expected(j) > now for j in ended)
                overdue = any(self.expected(j) <= now for j in self.running())
                self.conservative(queue, now, early or overdue or late)
                late = overdue
            else:
                self.easy(queue, now)
        return self

    gone: set[int] = field(default_factory=set)  # jobs that have ended

    def next_instant(self, now: float) -> float:
        times = [self.end[j] for j in self.running()]
        times += [t for t in self.trace.submit if t > now]
        times += [t for j, t in self.reserved.items() if t > now and j not in self.start]
        return min(times)

    def running(self) -> list[int]:
        return [j for j in self.start if j not in self.gone]

    def expected(self, j: int) -> float:
        return self.start[j] + float(self.trace.limit[j])

    def left(self, taken: Iterable[int]) -> np.ndarray:
        has = np.array([self.machine[name] for name in self.trace.resources])
        return has - sum((self.trace.need[j] for j in taken), np.zeros_like(has))

    def fits(self, j: int, left: np.ndarray) -> bool:
        return bool((self.trace.need[j] <= left).all())

    def begin(self, j: int, now: float) -> None:
        ran = float(self.trace.run[j])
        self.start[j] = now
        self.end[j] = now + (min(ran, float(self.trace.limit[j])) if self.kill else ran)

    def key(self, j: int, now: float) -> tuple[float, int]:
        if self.policy.order is Order.FCFS:
            return (0.0, j)
        if self.policy.order is Order.SJF:
            return (float(self.trace.limit[j]), j)
        return (-self.priority(j, now), j)

    def priority(self, j: int, now: float) -> float:
        weights, trace = self.policy.weights, self.trace
        fixed = weights.size * trace.need[j, 0] / self.machine[trace.resources[0]]
        fixed += weights.partitions.get(trace.partition.of(j), 0.0)
        age = min(now - trace.submit[j], weights.oldest) / weights.oldest
        mine = self.used(now, int(trace.user.code[j]))
        every = self.used(now, None)
        fair = 2 ** -(mine / every * len(trace.user.known)) if every > 0 else 1.0
        return float(np.rint(fixed + weights.age * age + weights.fair_share * fair))

    def used(self, now: float, user: int | None) -> float:
        """The integral of 2^-(age / half-life) over what was in use until now."""
        total, life = 0.0, self.policy.weights.half_life
        for j, start in self.start.items():
            if user is None or self.trace.user.code[j] == user:
                upto = min(self.end[j], now)
                newest, oldest = 2 ** -((now - upto) / life), 2 ** -((now - start) / life)
                total += self.trace.need[j, 0] * life / math.log(2) * (newest - oldest)
        return total

    def easy(self, queue: list[int], now: float) -> None:
        while queue and self.fits(queue[0], self.left(self.running())):
            self.begin(queue.pop(0), now)
        if not queue or self.policy.backfill is Backfill.NONE:
            return
        head = queue[0]
        times = sorted({max(now, self.expected(j)) for j in self.running()})
        shadow = next(t for t in times if self.fits(head, self.left(self.there_after(t, now))))
        self.promised.setdefault(head, shadow)
        for j in queue[1:]:
            if not self.fits(j, self.left(self.running())):
                continue
            # With this job running too: does the head still fit at its time?
            after = self.there_after(shadow, now)
            if now + float(self.trace.limit[j]) > shadow:
                after = [*after, j]
            if self.fits(head, self.left(after)):
                self.begin(j, now)

    def there_after(self, time: float, now: float) -> list[int]:
        return [j for j in self.running() if max(now, self.expected(j)) > time]

    def conservative(self, queue: list[int], now: float, moved: bool) -> None:
        for j in queue:
            if j in self.reserved and not moved:
                continue
            self.reserved.pop(j, None)
            self.reserved[j] = self.earliest(j, now)
            self.promised.setdefault(j, self.reserved[j])
        for j in queue:
            if self.reserved[j] <= now and self.fits(j, self.left(self.running())):
                self.begin(j, now)

    def earliest(self, j: int, now: float) -> float:
        booked = [(i, self.start[i], self.expected(i)) for i in self.running()]
        waiting = [i for i in self.reserved if i not in self.start]
        booked += [(i, self.reserved[i], self.reserved[i] + self.trace.limit[i]) for i in waiting]
        times = sorted({now} | {t for _, a, b in booked for t in (a, b) if t > now})

        def free(start: float) -> bool:
            end = start + float(self.trace.limit[j])
            return all(
                self.fits(j, self.left(i for i, a, b in booked if a <= t < b))
                for t in times
                if start <= t < end
            )

        return next(float(t) for t in times if free(t))
