"""What advice about nodes does to a queue, by split, adviser and truth."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.schedule.advisers import Adviser, choices, compass, oracle, predictive
from benchmarks.schedule.traces import Case, fold
from compass.schedule.job import Job, reconfigured
from compass.schedule.measures import change as paired
from compass.schedule.power import PowerModel
from compass.schedule.simulate import Schedule, simulate
from compass.schedule.trace import JobTrace
from compass.schedule.truth import SurrogateTruth, Truth

SPLITS = 5
POLICY = "fcfs+easy"
CIRCULAR = "circular"
_MOST_LEARNT = 4000  # jobs, drawn from the other four stretches
_SEED = 7


@dataclass(frozen=True)
class Outcome:
    """One queue against that of what users asked for; shares: -0.1 is a tenth less."""

    case: str
    seed: int
    split: int
    truth: str
    adviser: str
    changed: float  # share of the jobs
    turnaround: float
    wait: float
    run: float
    nodes: float
    node_hours: float
    energy: float  # of jobs and idle nodes
    low: float  # of the interval of the change in turnaround
    high: float
    throughput: float  # jobs per day
    overran: float  # share of jobs past their limit, in addition


def study(case: Case, tell: Callable[[str], None]) -> Iterator[Outcome]:
    """Every split, truth and adviser of a trace."""
    fitting = case.trace.only(case.trace.need[:, 0] <= case.trace.capacity["nodes"])
    case = replace(case, trace=fitting)
    for split in range(SPLITS):
        rest, test = fold(case.trace, split, SPLITS)
        learnt = _some(rest, split)
        here = replace(case, trace=test)
        tell(f"{case.name}, seed {case.seed}, split {split + 1}: {len(learnt)} jobs learnt")
        advisers = [
            predictive(here, learnt, test, _SEED + split),
            *compass(here, learnt, test, _SEED + split),
        ]
        before = simulate(test, how=POLICY, kill=False)
        for name, truth in case.truths.items():
            knows = oracle(truth, choices(here, learnt))
            yield _outcome(case, split, name, "oracle", before, knows, truth)
            for one in advisers:
                yield _outcome(case, split, name, one.name, before, one, truth)
        for one in advisers:
            itself = SurrogateTruth(one.predict)
            yield _outcome(case, split, CIRCULAR, one.name, before, one, itself)


def _some(rest: JobTrace, split: int) -> JobTrace:
    rows = np.random.default_rng([_SEED, split]).permutation(len(rest))[:_MOST_LEARNT]
    return rest.only(np.sort(rows))


def _outcome(
    case: Case,
    split: int,
    truth_name: str,
    adviser: str,
    before: Schedule,
    change: Callable[[Job], Job] | Adviser,
    truth: Truth,
) -> Outcome:
    trace = reconfigured(before.trace, change, truth)
    after = simulate(trace, before.machine, POLICY, kill=False)
    if len(after.trace) != len(before.trace):
        raise AssertionError(f"{adviser} asked for more than the machine has")

    def share(new: float, old: float) -> float:
        return new / old - 1

    interval = paired(after, before, lambda schedule: schedule.turnaround)
    return Outcome(
        case=case.name,
        seed=case.seed,
        split=split,
        truth=truth_name,
        adviser=adviser,
        changed=trace.changed / len(trace),
        turnaround=share(after.turnaround.mean(), before.turnaround.mean()),
        wait=share(after.wait.mean(), before.wait.mean()),
        run=share(after.ran.mean(), before.ran.mean()),
        nodes=share(trace.need[:, 0].mean(), before.trace.need[:, 0].mean()),
        node_hours=share(_work(after), _work(before)),
        energy=share(_energy(after, case.power), _energy(before, case.power)),
        low=interval.low,
        high=interval.high,
        throughput=share(_span(before), _span(after)),
        overran=float(
            (trace.run > trace.limit).mean() - (before.trace.run > before.trace.limit).mean()
        ),
    )


def _overran(trace: JobTrace) -> float:
    return float((trace.run > trace.limit).mean())


def _work(schedule: Schedule) -> float:
    return float((schedule.trace.need[:, 0] * schedule.ran).sum())


def _span(schedule: Schedule) -> float:
    return float(schedule.end.max() - schedule.trace.submit[0])


def _energy(schedule: Schedule, power: PowerModel) -> float:
    return float(power.job_energy(schedule).sum()) + power.idle_energy(schedule)
