"""The simulator against a plain one, and against what it promises on real traces."""

import numpy as np
import pytest
from schedule_reference import Reference

from benchmarks.roles import data_folder
from compass.domain.errors import BadInput, UnknownName
from compass.schedule.policy import Backfill, Order, Policy, PriorityWeights, policy
from compass.schedule.read import read_trace
from compass.schedule.simulate import Schedule, simulate
from compass.schedule.trace import JobTrace, job_trace

POLICIES = [
    Policy(order=order, backfill=backfill, weights=PriorityWeights(oldest=10, half_life=7))
    for order in Order
    for backfill in Backfill
]


def random_trace(seed: int, resources: int = 1) -> tuple[JobTrace, dict[str, int]]:
    """A few jobs on a small machine: many of one instant, size, limit and length."""
    rng = np.random.default_rng(seed)
    jobs, nodes = int(rng.integers(2, 13)), int(rng.integers(1, 6))
    need = {"nodes": rng.integers(1, nodes + 1, jobs)}
    machine = {"nodes": nodes}
    if resources > 1:
        need |= {"gpus": rng.integers(0, 3, jobs), "memory": rng.integers(0, 9, jobs)}
        machine |= {"gpus": 2, "memory": 8}
    run = rng.integers(0, 7, jobs)
    # Some ask for what they use, some for more, some for less than they use.
    limit = np.maximum(run + rng.choice([0, 0, 1, 3, -2], jobs), 1)
    trace = job_trace(
        np.sort(rng.integers(0, int(rng.integers(1, 20)), jobs)),
        run,
        limit,
        need,
        user=[f"u{u}" for u in rng.integers(0, 3, jobs)],
    )
    return trace, machine


@pytest.mark.parametrize("how", POLICIES, ids=lambda how: how.name)
@pytest.mark.parametrize("kill", [True, False], ids=["killed", "overrun"])
def test_jobs_start_when_the_plain_scheduler_starts_them(how: Policy, kill: bool) -> None:
    for seed in range(250):
        trace, machine = random_trace(seed, resources=1 + seed % 2)
        found = simulate(trace, machine, how, kill=kill)
        plain = Reference(found.trace, machine, how, kill).run()
        jobs = range(len(found.trace))
        assert found.start.tolist() == [plain.start[j] for j in jobs], seed
        assert found.end.tolist() == [plain.end[j] for j in jobs], seed
        promised = [plain.promised.get(j, np.nan) for j in jobs]
        assert np.array_equal(found.promised, promised, equal_nan=True), seed


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        *(("fcfs", 260), ("fcfs+easy", 260), ("sjf+easy", 120), ("multifactor+easy", 60)),
        ("fcfs+conservative", 70),
    ],
)
def test_long_queues_start_as_the_plain_scheduler_starts_them(name: str, jobs: int) -> None:
    rng = np.random.default_rng(5)
    run = rng.integers(1, 60, jobs)
    trace = job_trace(
        np.sort(rng.integers(0, 3 * jobs, jobs)),
        run,
        run + rng.choice([0, 0, 5, 50], jobs),
        {"nodes": rng.integers(1, 9, jobs)},
        user=[f"u{u}" for u in rng.integers(0, 4, jobs)],
    )
    found = simulate(trace, {"nodes": 8}, name)
    plain = Reference(found.trace, {"nodes": 8}, policy(name), kill=True).run()
    assert found.start.tolist() == [plain.start[j] for j in range(jobs)]
    waiting = [((trace.submit <= t) & (found.start > t)).sum() for t in trace.submit]
    assert max(waiting) > jobs / 2  # in order of arrival: blocks of 64 are looked at together


def real(file: str) -> JobTrace:
    path = data_folder() / file
    if not path.is_file():
        pytest.skip(f"the public trace {file} is not there")
    return read_trace(path)


def assert_never_overfull(schedule: Schedule) -> None:
    """At no time is more in use than the machine has."""
    need = schedule.trace.need[:, 0]
    times = np.concatenate([schedule.end, schedule.start])
    taken = np.concatenate([-need, need])
    order = np.lexsort((taken > 0, times))
    assert np.cumsum(taken[order]).max() <= schedule.machine["nodes"]


def heads_after_their_guarantee(schedule: Schedule) -> tuple[int, int]:
    """From starts alone: jobs that were first in the queue and had to wait, and late ones.

    A job is first in the queue from its submission, or the start of the last one before it. Those
    of its own instant that stand behind it start after the promise is made.
    """
    trace, start, late, heads = schedule.trace, schedule.start, 0, 0
    need, limit = trace.need[:, 0], trace.limit
    first = np.maximum(trace.submit, np.maximum.accumulate(np.r_[-np.inf, start])[:-1])
    for j in np.flatnonzero(start > first):
        now = first[j]
        runs = (start <= now) & (schedule.end > now)
        runs[j:] &= start[j:] < now
        frees = np.maximum(start[runs] + limit[runs], now)
        order = np.argsort(frees, kind="stable")
        left = schedule.machine["nodes"] - need[runs].sum() + np.cumsum(need[runs][order])
        heads += 1
        late += start[j] > frees[order][np.argmax(left >= need[j])]
    return heads, late


@pytest.mark.parametrize("file", ["swf_kth/raw/KTH-SP2-1996-2.swf.gz", "swf_theta/raw/train.swf"])
def test_no_head_of_a_real_queue_starts_after_its_guarantee(file: str) -> None:
    found = simulate(real(file), how="fcfs+easy")
    assert_never_overfull(found)
    heads, late = heads_after_their_guarantee(found)
    assert heads > len(found.trace) / 20
    assert late == 0
    assert not (found.start > found.promised).any()
    without = simulate(real(file), how="fcfs")
    assert found.wait.mean() < without.wait.mean() / 2


@pytest.mark.parametrize("file", ["swf_kth/raw/KTH-SP2-1996-2.swf.gz", "swf_theta/raw/train.swf"])
def test_no_job_starts_after_its_reservation(file: str) -> None:
    found = simulate(real(file), how="fcfs+conservative")
    assert_never_overfull(found)
    assert np.isfinite(found.promised).all()
    assert not (found.start > found.promised).any()


def test_jobs_that_the_machine_cannot_hold_are_left_out_and_told() -> None:
    trace = job_trace([0, 1, 2], [5, 5, 5], [9, 9, 9], {"nodes": [2, 8, 1]})
    found = simulate(trace, {"nodes": 4})
    assert found.trace.job.tolist() == ["1", "3"]
    assert found.trace.notes == ("left out, larger than the machine: 1 jobs",)
    with pytest.raises(BadInput, match="every job asks for more"):
        simulate(trace.only(np.array([1])), {"nodes": 4})


def test_a_machine_that_nobody_described_is_asked_for() -> None:
    trace = job_trace([0, 1], [5, 5], [9, 9], {"nodes": [2, 8]})
    with pytest.raises(BadInput, match="how many nodes") as problem:
        simulate(trace)
    assert "the largest job asks for 8" in problem.value.hint
    with pytest.raises(UnknownName, match="no resource named 'node'") as unknown:
        simulate(trace, {"node": 8})
    assert unknown.value.hint == "did you mean nodes?"
    with pytest.raises(UnknownName, match="ask for no gpus"):
        simulate(trace, {"nodes": 8, "gpus": 1})


@pytest.mark.parametrize(
    ("name", "match"),
    [("fifo", "no order"), ("fcfs+eazy", "no kind of backfilling"), ("", "no order")],
)
def test_policies_that_are_not_there(name: str, match: str) -> None:
    with pytest.raises(UnknownName, match=match):
        policy(name)


def test_names_of_policies_are_read_back() -> None:
    assert [policy(how.name).name for how in POLICIES] == [how.name for how in POLICIES]


def test_a_simulation_can_be_watched_and_stopped() -> None:
    rng = np.random.default_rng(0)
    jobs = 30_000  # conservative reservations for a queue that only grows: this would take hours
    run = rng.integers(100, 1000, jobs)
    trace = job_trace(np.arange(jobs), run, 2 * run, {"nodes": rng.integers(1, 64, jobs)})
    told: list[int] = []

    def tell(what: str, done: int, total: int) -> None:
        told.append(done)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(trace, {"nodes": 64}, "fcfs+conservative", tell=tell)
    assert told == sorted(told)
    assert told[-1] < jobs
