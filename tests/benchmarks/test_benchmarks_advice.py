"""Advice judged: waste by hand, and peers that know nothing of what has not ended."""

import numpy as np
import pytest

from benchmarks.schedule.advice.dump import lines
from benchmarks.schedule.advice.judge import Judged, judged, waste
from benchmarks.schedule.advice.peers import largest_5, last_12, ponder, replayed, sizey
from benchmarks.schedule.advice.traces import generated
from compass.schedule.advice.jobs import Jobs
from compass.schedule.advice.source import past_jobs


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    dump = tmp_path_factory.mktemp("dump") / "jobs.psv"
    dump.write_text("\n".join(lines(500, 9)) + "\n")
    return past_jobs(str(dump))


def test_waste_counts_every_try() -> None:
    later = Judged(np.arange(3), np.array([3.0, 5.0, 4.0]), np.array([1.0, 2, 1]))
    failures, lost = waste(np.array([4.0, 4.0, 4.0]), later)
    assert failures == pytest.approx(1 / 3)
    assert lost == 1.0 + 2 * (4.0 + 8.0 - 5.0) + 0.0


def test_peers_are_what_they_are_called() -> None:
    past = [(10.0, 1.0), (20.0, 2.0), (30.0, 3.0), (12.0, 1.2)]
    assert last_12(past, 1.0) == pytest.approx(14.4)
    assert largest_5(past, 1.0) == 30.0
    assert ponder(past, 5.0) == pytest.approx(50.0)  # ten for each of the size
    assert ponder(past[:2], 5.0) is None
    guess = sizey(past, 2.0)
    assert guess is not None
    assert 10.0 < guess < 60.0


def test_peers_know_what_had_ended(jobs: Jobs) -> None:
    told = replayed(jobs, jobs.limit, jobs.elapsed)["max of 5"]
    who = np.array([f"{u} {n}" for u, n in zip(jobs.user, jobs.name, strict=True)], dtype=object)
    checked = 0
    for row in range(0, len(jobs), 13):
        before = np.flatnonzero((who == who[row]) & (jobs.end <= jobs.submit[row]))
        if len(before) and not str(jobs.name[row]).startswith("run_"):
            last = before[np.argsort(jobs.end[before], kind="stable")][-5:]
            assert told[row] == jobs.elapsed[last].max()
            checked += 1
    assert checked > 5


def test_a_trace_is_judged(jobs: Jobs) -> None:
    found = judged(jobs, "time")
    assert found["jobs"] > 100
    assert found["request"][0] == 0.0  # a job that completed had asked for enough
    assert 0.0 < found["compass"][0] < 0.2
    assert found["compass"][1] < found["request"][1]
    assert generated.__doc__
