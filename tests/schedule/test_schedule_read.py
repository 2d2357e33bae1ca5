"""Job traces from the formats that people have."""

from pathlib import Path

import numpy as np
import pytest

from compass.domain.errors import DataProblem, UnknownName
from compass.schedule.read import read_trace
from compass.schedule.trace import job_trace, peak_use

SWF = """\
; Computer: a small one
; MaxProcs: 64
    1   100   5   60  8 -1 -1  8 120 2048 1 3 1 7 2 -1 -1 -1
    3   130  10    0  4 -1 -1  4  60   -1 5 4 1 7 2 -1 -1 -1
    2   120   0   30 16 -1 -1 -1  -1   -1 1 4 1 9 1 -1 -1 -1
"""


def test_the_standard_workload_format(tmp_path: Path) -> None:
    file = tmp_path / "small.swf"
    file.write_text(SWF)
    trace = read_trace(file)
    assert trace.job.tolist() == ["1", "2"]  # the third was cancelled before it ran
    assert trace.submit.tolist() == [100, 120]
    assert trace.run.tolist() == [60, 30]
    assert trace.limit.tolist() == [120, 30]
    assert trace.resources == ("nodes", "memory")
    assert trace.need.tolist() == [[8, 8 * 2048 * 1024], [16, 0]]
    assert trace.capacity == {"nodes": 64}
    assert [trace.user.of(0), trace.application.of(1), trace.partition.of(0)] == ["3", "9", "2"]
    assert trace.notes == (
        "left out, never run or too little said: 1 of 3 jobs",
        "without a limit, their runtime stands for it: 1 of 2 jobs",
    )


SACCT = {
    "JobID": ["7", "7.batch", "8", "9"],
    "JobIDRaw": ["7", "7.batch", "8", "9"],
    "User": ["ann", "", "bob", "bob"],
    "JobName": ["wrf", "batch", "cm1", "cm1"],
    "Partition": ["big", "", "small", "small"],
    "Submit": [f"2026-01-05T{time}:00" for time in ("10:00", "10:01", "09:00", "09:30")],
    "Start": ["2026-01-05T10:01:00"] * 2 + ["Unknown", "2026-01-05T09:30:00"],
    "End": ["2026-01-05T11:01:00"] * 2 + ["Unknown", "2026-01-05T09:40:00"],
    "Elapsed": ["01:00:00", "01:00:00", "00:00:00", "00:10:00"],
    "Timelimit": ["02:00:00", "", "00:10:00", "00:10:00"],
    "NNodes": ["2", "1", "1", "1"],
    "NCPUS": ["64", "32", "1", "4"],
    "ReqTRES": [
        *("cpu=64,gres/gpu=8,mem=10G,node=2", ""),
        *("cpu=1,mem=1G,node=1", "cpu=4,mem=1G,node=1"),
    ],
    "State": ["COMPLETED", "COMPLETED", "CANCELLED by 5", "TIMEOUT"],
    "ConsumedEnergyRaw": ["", "3600000", "", ""],
}


def test_accounting_of_slurm(tmp_path: Path) -> None:
    file = tmp_path / "jobs.sacct"
    lines = [SACCT, *zip(*SACCT.values(), strict=True)]
    file.write_text("".join("|".join(line) + "\n" for line in lines))
    trace = read_trace(file)
    assert trace.job.tolist() == ["9", "7"]
    assert np.diff(trace.submit).tolist() == [1800]
    assert trace.wait.tolist() == [0, 60]
    assert trace.run.tolist() == [600, 3600]
    assert trace.limit.tolist() == [600, 7200]
    assert trace.resources == ("nodes", "cores", "gpus", "memory")
    assert trace.need.tolist() == [[1, 4, 0, 2**30], [2, 64, 8, 10 * 2**30]]
    assert [trace.user.of(1), trace.application.of(1), trace.partition.of(1)] == [
        "ann",
        "wrf",
        "big",
    ]
    assert np.isnan(trace.power[0])
    assert trace.power[1] == 1000
    assert peak_use(trace) == {"nodes": 2, "cores": 64, "gpus": 8, "memory": 10 * 2**30}


def test_a_table_like_that_of_pm100() -> None:
    table = {
        "job_id": [11, 12],
        "submit_time": ["2020-05-05T10:00:00", "2020-05-05T10:00:30"],
        "start_time": ["2020-05-05T10:00:10", "2020-05-05T10:01:30"],
        "end_time": ["2020-05-05T10:10:10", "2020-05-05T10:02:00"],
        "run_time": [600, 30],
        "time_limit": [1200, 60],
        "num_nodes_req": [2, 1],
        "num_cores_req": [64, 32],
        "num_gpus_req": [8, 4],
        "user_id": [5, 6],
        "job_state": ["COMPLETED", "FAILED"],
    }
    trace = read_trace(table)
    assert trace.resources == ("nodes", "cores", "gpus")
    assert trace.need.tolist() == [[2, 64, 8], [1, 32, 4]]
    assert trace.wait.tolist() == [10, 60]
    assert trace.user.of(0) == "5"


def test_columns_of_other_names_are_named() -> None:
    table = {"queued": [0, 10], "took": [5, 6], "hosts": [1, 2]}
    with pytest.raises(DataProblem, match="no column holds the time of submission") as problem:
        read_trace(table)
    assert "queued, took, hosts" in problem.value.hint
    trace = read_trace(table, columns={"submit": "queued", "run": "took", "nodes": "hosts"})
    assert (trace.submit.tolist(), trace.run.tolist()) == ([0, 10], [5, 6])
    with pytest.raises(UnknownName, match="no column named 'host'"):
        read_trace(table, columns={"submit": "queued", "run": "took", "nodes": "host"})
    with pytest.raises(UnknownName, match="no part of a job named 'node'"):
        read_trace(table, columns={"node": "hosts"})
    with pytest.raises(DataProblem, match="how many nodes or cores"):
        read_trace(table, columns={"submit": "queued", "run": "took"})


def test_jobs_that_cannot_be_are_refused() -> None:
    with pytest.raises(DataProblem, match="job 2 cannot be"):
        job_trace([0, 1], [5, -1], [5, 5], {"nodes": [1, 1]})
    with pytest.raises(DataProblem, match="job b cannot be"):
        job_trace([0, 1], [5, 1], [5, 5], {"nodes": [1, 0]}, job=["a", "b"])
    with pytest.raises(DataProblem, match="needs jobs"):
        job_trace([], [], [], {"nodes": []})
    with pytest.raises(DataProblem, match="has no job that ran"):
        read_trace({"submit": [1], "run": [5], "nodes": [0]})


def test_jobs_of_one_instant_stay_in_order() -> None:
    trace = job_trace([5, 0, 5, 0], [1, 2, 3, 4], [9] * 4, {"nodes": [1] * 4})
    assert trace.job.tolist() == ["2", "4", "1", "3"]
    assert trace.compressed(0.5).submit.tolist() == [0, 0, 2.5, 2.5]
    assert trace.known_limits().limit.tolist() == [2, 4, 1, 3]
