"""Measures of schedules, worked out by hand and by brute force."""

from itertools import pairwise

import numpy as np
import pytest

from compass.domain.errors import BadInput
from compass.schedule.measures import bounded_slowdown, change, measures, used_between
from compass.schedule.power import PowerModel
from compass.schedule.simulate import Schedule, simulate
from compass.schedule.trace import job_trace


def small() -> Schedule:
    """Job 2 waits for job 1; job 3 passes it."""
    trace = job_trace([0, 10, 20], [100, 50, 5], [100, 60, 30], {"nodes": [3, 2, 1]})
    return simulate(trace, {"nodes": 4})


def busy(seed: int = 1, jobs: int = 4000) -> Schedule:
    rng = np.random.default_rng(seed)
    run = rng.exponential(100, jobs)
    trace = job_trace(
        np.cumsum(rng.exponential(40, jobs)), run, 2 * run, {"nodes": rng.integers(1, 9, jobs)}
    )
    return simulate(trace, {"nodes": 16})


def test_measures_by_hand() -> None:
    found = measures(small(), PowerModel(busy=200, idle=50))
    assert small().start.tolist() == [0, 100, 20]
    assert found.wait.value == pytest.approx((0 + 90 + 0) / 3)
    assert found.turnaround.value == pytest.approx((100 + 140 + 5) / 3)
    assert found.slowdown.value == pytest.approx((1 + 140 / 50 + 1) / 3)
    assert found.node_hours.value == pytest.approx((300 + 100 + 5) / 3600)
    assert (found.makespan, found.longest_wait, found.median_wait) == (150, 90, 0)
    assert found.energy is not None
    assert found.energy.value == pytest.approx(200 * 405)
    assert found.idle_energy == pytest.approx(50 * (4 * 150 - 405))
    assert np.isnan(found.wait.low)  # three jobs tell nothing about an interval


def test_short_jobs_do_not_count_as_shorter_than_the_bound() -> None:
    assert bounded_slowdown(small()).tolist() == [1.0, 2.8, 1.0]


def test_a_measured_power_is_kept() -> None:
    trace = job_trace([0], [10], [10], {"nodes": [2]}, power=np.array([700.0]))
    found = measures(simulate(trace, {"nodes": 2}), PowerModel(busy=200))
    assert found.energy is not None
    assert found.energy.value == 7000


def test_use_between_times_is_that_of_every_second() -> None:
    found = small()
    edges = np.array([0.0, 15.0, 22.0, 101.0, 160.0])
    every = [
        sum(n for n, a, b in zip([3, 2, 1], found.start, found.end, strict=True) if a <= t < b)
        for t in range(160)
    ]
    slow = [sum(every[int(a) : int(b)]) for a, b in pairwise(edges)]
    assert used_between(found, edges) == pytest.approx(slow)


def test_intervals_hold_the_mean_of_other_traces_of_the_same_kind() -> None:
    waits = [measures(busy(seed), seed=seed).wait for seed in range(40)]
    truth = np.mean([measures(busy(seed)).wait.value for seed in range(100, 160)])
    covered = np.mean([one.low <= truth <= one.high for one in waits])
    assert covered >= 0.85


def test_a_change_is_measured_on_the_same_jobs() -> None:
    one = busy()
    half = simulate(one.trace, {"nodes": 32})
    found = change(half, one, lambda schedule: schedule.turnaround)
    assert found.value == pytest.approx(half.turnaround.sum() / one.turnaround.sum() - 1)
    assert found.low < found.value < found.high < 0
    with pytest.raises(BadInput, match="other jobs"):
        change(half, small(), lambda schedule: schedule.turnaround)
