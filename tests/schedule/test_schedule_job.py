"""Jobs that ask for something else, and what decides how long they then run."""

from dataclasses import replace

import numpy as np
import pytest

from compass.domain.errors import BadInput, DataProblem, UnknownName
from compass.schedule.job import Job, job_of, reconfigured
from compass.schedule.law import law
from compass.schedule.measures import measures
from compass.schedule.simulate import simulate
from compass.schedule.trace import JobTrace, job_trace
from compass.schedule.truth import LawTruth, MeasuredTruth, SurrogateTruth

AMDAHL = LawTruth({}, law("amdahl:serial=0.2"))


def trace() -> JobTrace:
    return job_trace(
        [0, 1, 2],
        [100, 100, 30],
        [200, 200, 60],
        {"nodes": [4, 4, 1], "cores": [128, 128, 8]},
        application=["wrf", "cm1", "wrf"],
        user=["ann", "bob", "ann"],
        power=np.array([800.0, np.nan, 100.0]),
    )


def halved(job: Job) -> Job:
    return job.on(max(1, job.nodes // 2))


def test_changed_jobs_run_as_long_as_the_truth_says() -> None:
    found = reconfigured(trace(), halved, AMDAHL)
    assert found.need.tolist() == [[2, 64], [2, 64], [1, 8]]
    slower = (0.2 + 0.8 / 2) / (0.2 + 0.8 / 4)
    assert found.run.tolist() == pytest.approx([100 * slower, 100 * slower, 30])
    assert found.power.tolist() == pytest.approx([400, np.nan, 100], nan_ok=True)
    assert (found.changed, found.truth) == (2, "law amdahl:serial=0.2")
    assert not found.circular
    assert trace().run.tolist() == [100, 100, 30]


def test_jobs_that_nobody_changes_run_as_they_did() -> None:
    found = reconfigured(trace(), lambda job: job, MeasuredTruth({}))
    assert found.changed == 0
    assert found.run.tolist() == [100, 100, 30]


def test_every_application_has_its_own_law() -> None:
    truth = LawTruth({"wrf": law("amdahl:serial=0"), "cm1": law("amdahl:serial=1")})
    assert reconfigured(trace(), halved, truth).run.tolist() == pytest.approx([200, 100, 30])
    with pytest.raises(UnknownName, match="no application with a law of scaling named 'cm1'"):
        reconfigured(trace(), halved, LawTruth({"wrf": law("amdahl")}))


def test_measured_runtimes() -> None:
    truth = MeasuredTruth({"wrf": {1: 90.0, 4: 30.0}, "cm1": {2: 7.0, 4: 14.0}})
    job = job_of(trace(), 0)
    assert truth.ratio(job, job.on(1)) == pytest.approx(3)
    assert truth.ratio(job, job.on(2)) == pytest.approx(np.sqrt(3))  # halfway between on log scales
    other = job_of(trace(), 1)
    assert truth.ratio(other, other.on(2)) == pytest.approx(0.5)
    with pytest.raises(BadInput, match="cm1 was not measured on 1 nodes"):
        truth.ratio(other, other.on(1))
    with pytest.raises(DataProblem, match="what no run can be"):
        MeasuredTruth({"wrf": {0: 5.0}})


def test_a_model_that_scores_itself_is_marked_in_every_output() -> None:
    truth = SurrogateTruth(lambda job: 10.0 * job.nodes)
    found = reconfigured(trace(), halved, truth)
    assert found.run.tolist() == [50, 50, 30]
    assert found.circular
    schedule = simulate(found, {"nodes": 8})
    assert schedule.trace.circular
    assert measures(schedule).circular
    assert measures(schedule).truth == "the adviser's own model"
    with pytest.raises(BadInput, match="the model predicts no runtime for job 1"):
        reconfigured(trace(), halved, SurrogateTruth(lambda job: -1.0))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda job: job.on(0), "asking for 0 of nodes"),
        (lambda job: replace(job, limit=0.0), "for 0 s"),
        (lambda job: replace(job, run=1.0), "came back as another job"),
        (lambda job: replace(job, submit=0.5), "came back as another job"),
        (lambda job: replace(job, need={"nodes": 2}), "came back asking for"),
        (lambda job: replace(job, need={"nodes": 2.5, "cores": 1}), "came back asking for"),
    ],
)
def test_what_a_job_cannot_be_changed_to(change, match: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadInput, match=match):
        reconfigured(trace(), change, AMDAHL)
