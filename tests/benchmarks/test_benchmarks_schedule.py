"""The study of queues: advisers, truths, splits; on a small trace whose law is known."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.schedule.advisers import Advice, Adviser, _passes, key_of, oracle, predictive
from benchmarks.schedule.report import gate, show
from benchmarks.schedule.speed import longer, promised_late
from benchmarks.schedule.study import study
from benchmarks.schedule.traces import POWER, BorrowedLaw, Case, fold
from compass.schedule.job import job_of, reconfigured
from compass.schedule.law import law
from compass.schedule.simulate import simulate
from compass.schedule.trace import JobTrace, job_trace
from compass.schedule.truth import LawTruth, SurrogateTruth

TRUTH = LawTruth({}, law("amdahl:serial=0.1"))


def small(jobs: int = 400, seed: int = 3) -> JobTrace:
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1, 2, 4, 8], jobs)
    work = rng.choice([100.0, 1000.0], jobs)
    run = np.round(work * (0.1 + 0.9 / nodes))
    return job_trace(
        np.cumsum(rng.exponential(150, jobs)).round(),
        run,
        2 * run,
        {"nodes": nodes},
        user=[f"w{w:.0f}" for w in work],
        capacity={"nodes": 8},
    )


CASE = Case("small", small(), ("user",), {"law": TRUTH}, POWER)


def test_a_fold_is_a_stretch_of_time_and_the_rest() -> None:
    parts = [fold(CASE.trace, part, 5) for part in range(5)]
    tests = [name for _, test in parts for name in test.job.tolist()]
    assert tests == CASE.trace.job.tolist()
    for rest, test in parts:
        assert not set(rest.job.tolist()) & set(test.job.tolist())
        assert (np.diff(test.submit) >= 0).all()


def test_the_oracle_gains_enough_by_the_closest_number_of_nodes() -> None:
    knows = oracle(TRUTH, [1, 2, 3, 4, 8])
    trace = small()
    for place in range(50):
        job = job_of(trace, place)
        changed = knows(job)
        if job.nodes == 8:
            assert changed == job  # nothing is faster on this machine
            continue
        assert TRUTH.ratio(job, changed) <= 0.9
        nearer = [n for n in (1, 2, 3, 4, 8) if abs(n - job.nodes) < abs(changed.nodes - job.nodes)]
        assert all(TRUTH.ratio(job, job.on(n)) > 0.9 for n in nearer)


def test_an_adviser_is_scored_by_what_it_said_itself() -> None:
    job = job_of(CASE.trace, 0)
    told = Adviser("x", {key_of(CASE, job): Advice(5, 0.25)}, CASE)
    found = reconfigured(CASE.trace, told, SurrogateTruth(told.predict))
    assert found.circular
    assert (found.need[0, 0], found.run[0]) == (5, job.run / 4)
    assert found.changed < len(CASE.trace)


def test_the_predictive_baseline_takes_the_fastest_it_expects() -> None:
    rest, test = fold(CASE.trace, 0, 5)
    found = predictive(replace(CASE, trace=test), rest, test, seed=1)
    assert found.told
    assert all(advice.ratio <= 1 for advice in found.told.values())


@pytest.mark.parametrize(
    ("gate", "label", "advice", "passes"),
    [
        ("", "unsupported", Advice(8, 0.9), True),
        (", trusted", "caution", Advice(8, 0.1), False),
        (", trusted", "trusted", Advice(8, 0.9), True),
        (", trusted and frugal", "trusted", Advice(8, 0.9), False),
        (", trusted and frugal", "trusted", Advice(8, 0.4), True),
        (", trusted and frugal", "caution", Advice(8, 0.4), False),
        (", trusted and surely frugal", "trusted", Advice(8, 0.4, 0.6), False),
        (", trusted and surely frugal", "trusted", Advice(8, 0.4, 0.5), True),
        (", trusted and surely frugal", "trusted", Advice(8, 0.4), False),
        (", trusted and surely frugal", "caution", Advice(8, 0.4, 0.4), False),
    ],
)
def test_gates(gate: str, label: str, advice: Advice, passes: bool) -> None:
    assert _passes(gate, (4, 60.0, ("w",)), advice, label) is passes


def test_borrowed_laws_stay_with_their_user() -> None:
    truth = BorrowedLaw((law("amdahl:serial=0"), law("amdahl:serial=1")))
    job = job_of(small(), 0)
    ratios = {truth.ratio(replace(job, user=f"u{i}"), job.on(2 * job.nodes)) for i in range(20)}
    assert ratios == {0.5, 1.0}
    assert truth.ratio(job, job) == 1


def test_a_longer_trace_is_the_same_one_again() -> None:
    trace = small(50)
    many = longer(trace, 120)
    assert len(many) == 120
    assert (np.diff(many.submit) >= 0).all()
    assert many.run[50:100].tolist() == trace.run.tolist()


def test_heads_after_their_guarantee_are_counted() -> None:
    found = simulate(small())
    assert promised_late(found, found.start) == 0
    waited = int(np.argmax(found.wait))
    later = found.start.copy()
    later[waited] = found.promised[waited] + 10_000
    assert promised_late(found, later) >= 1


def test_the_study_and_its_report() -> None:
    rows = [vars(one) for one in study(CASE, lambda _: None) if one.split == 0]
    assert {row["truth"] for row in rows} == {"law", "circular"}
    oracle_row = next(row for row in rows if row["adviser"] == "oracle")
    assert oracle_row["run"] < -0.1
    users = [row for row in rows if row["changed"] == 0]
    assert all(row["turnaround"] == 0 for row in users)
    text = show(rows)
    assert "small, 1 splits, truth: law" in text
    assert "closest, trusted: of 1 queues" in gate(rows)
