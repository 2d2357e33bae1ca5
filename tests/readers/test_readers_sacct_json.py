"""`sacct --json` of several Slurm versions, whole and damaged."""

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from compass.domain.errors import CompassError, DataProblem
from compass.readers import files, read

MIB = 2**20


def tres(**counts: int) -> list[dict[str, Any]]:
    named = {"gpu": ("gres", "gpu"), "disk": ("fs", "disk")}
    found = []
    for key, count in counts.items():
        kind, name = named.get(key, (key, ""))
        found.append({"type": kind, "name": name, "id": 1, "count": count})
    return found


def clock(seconds: float) -> dict[str, int]:
    return {"seconds": int(seconds), "microseconds": round(seconds % 1 * 1e6)}


def step(name: str, tasks: int, memory: int, cpu: float) -> dict[str, Any]:
    usage = tres(cpu=int(cpu * 1000), mem=memory, vmem=2 * memory, disk=77)
    return {
        "step": {"id": name, "name": name},
        "tasks": {"count": tasks},
        "time": {"elapsed": 600, "total": clock(cpu), "user": clock(cpu), "system": clock(0)},
        "tres": {"requested": {"max": usage, "average": usage}, "consumed": {"max": []}},
        "statistics": {"energy": {"consumed": 40}},
    }


def job(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "job_id": number,
        "name": "solve",
        "account": "acct",
        "cluster": "lab",
        "user": "me",
        "array": {"job_id": 0, "task_id": None},
        "het": {"job_id": 0, "job_offset": None},
        "state": {"current": "COMPLETED", "reason": "None"},
        "exit_code": {"status": "SUCCESS", "return_code": 0},
        "time": {
            **{"elapsed": 600, "submission": 1767225600, "start": 1767225700, "end": 1767226300},
            **{"limit": 60, "total": clock(0), "user": clock(0), "system": clock(0)},
        },
        "required": {"CPUs": 4},
        "allocation_nodes": 2,
        "tres": {
            "allocated": tres(cpu=4, mem=16384, node=2, gpu=2),
            "requested": tres(cpu=4, mem=16384, node=2),
        },
        "steps": [step("batch", 1, 2048 * MIB, 600.5), step("0", 4, 1024 * MIB, 1200)],
        **changes,
    }


def modern(value: Any, key: str = "") -> Any:
    """The same facts as later versions write them: numbers and states wrapped."""
    if isinstance(value, dict):
        return {name: modern(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [modern(one) for one in value]
    if key == "current":
        return [value]
    if key in ("limit", "return_code", "task_id", "job_offset", "priority", "consumed"):
        return {"set": value is not None, "infinite": False, "number": value or 0}
    return value


def write(path: Path, jobs: list[Any], **beside: Any) -> Path:
    path.write_text(json.dumps({**beside, "jobs": jobs, "errors": []}))
    return path


def test_one_row_per_job(tmp_path: Path) -> None:
    path = write(tmp_path / "jobs.json", [job(7)], meta={"command": ['sacct "jobs": [']})
    assert files.reader_for(path).name == "sacct-json"
    row = read(path).row(0)
    assert row["JobID"] == "7"
    assert row["MaxRSS"] == 2048 * MIB
    assert row["memory_used"] == 4096 * MIB
    assert row["memory_efficiency"] == 0.25
    whole = job(7)
    for one in whole["steps"]:
        one["tres"]["requested"]["total"] = tres(mem=3072 * MIB)
    assert read(write(path, [whole])).row(0)["memory_used"] == 3072 * MIB
    assert row["TotalCPU"] == 1800.5  # the steps', where the job has none
    assert row["cpu_efficiency"] == 1800.5 / 2400
    assert row["AveCPU"] == 1200
    assert row["Timelimit"] == 3600
    assert row["wait_s"] == 100
    assert row["Submit"] == "2026-01-01T00:00:00"
    assert row["ConsumedEnergyRaw"] == 80
    assert (row["alloc_gpus"], row["alloc_cpus"], row["alloc_mem"]) == (2, 4, 16384 * MIB)


def test_versions_tell_the_same(tmp_path: Path) -> None:
    jobs = [
        job(7),
        job(8, array={"job_id": 5, "task_id": 3}),
        job(9, het={"job_id": 9, "job_offset": 1}, state={"current": "FAILED"}, steps=[]),
    ]
    old = read(write(tmp_path / "old.json", jobs))
    new = read(write(tmp_path / "new.json", [modern(one) for one in jobs]))
    assert [old.row(n)["JobID"] for n in range(3)] == ["7", "5_3", "9+1"]
    assert old.fingerprint == new.fingerprint


def test_numbers_that_are_not_set_or_infinite_are_missing(tmp_path: Path) -> None:
    wild = job(7)
    wild["time"]["limit"] = {"set": True, "infinite": True, "number": 0}
    wild["time"]["start"] = 0
    wild["exit_code"] = {
        "return_code": {"set": False},
        "signal": {"id": {"set": True, "number": 9}},
    }
    row = read(write(tmp_path / "jobs.json", [wild])).row(0)
    assert (row["Timelimit"], row["Start"], row["wait_s"]) == (None, None, None)
    assert (row["ExitCode"], row["exit_signal"]) == (None, 9)


def test_a_file_of_many_jobs_is_read_piece_by_piece(tmp_path: Path) -> None:
    path = write(tmp_path / "jobs.json", [job(n, name=f"é{n}") for n in range(2000)])
    assert path.stat().st_size > 2 << 20
    table = read(path)
    assert table.column("JobID").to_pylist() == [str(n) for n in range(2000)]
    assert table.column("JobName").to_pylist()[-1] == "é1999"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"jobs": [', "too early"),
        ('{"meta": {}}', "no list of jobs"),
        ('{"jobs": [7]}', "not an object"),
        ('{"jobs": [' + '{"a":' * 100_000, "deep|early"),
        ('{"jobs": []}', "no jobs"),
        ("", "empty"),
        ('{"jobs": [{"job_id": ' + "9" * 10_000 + "}]}", "early"),
    ],
)
def test_what_is_no_accounting_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "jobs.json"
    path.write_text(text)
    with pytest.raises(DataProblem, match=why):
        read(path, reader="sacct-json")


def test_odd_values_do_not_break_it(tmp_path: Path) -> None:
    chance = random.Random(3)
    odd = [None, [], {}, "x", -1, 1e300, 10**400, True, {"set": True}, [{}], float("nan")]

    def spoiled(value: Any) -> Any:
        if chance.random() < 0.04:
            return chance.choice(odd)
        if isinstance(value, dict):
            return {key: spoiled(one) for key, one in value.items()}
        return [spoiled(one) for one in value] if isinstance(value, list) else value

    for _ in range(150):
        jobs = [spoiled(job(7)) or {}, spoiled(modern(job(8)))]
        path = write(tmp_path / "jobs.json", jobs)
        with contextlib.suppress(CompassError):
            assert read(path, reader="sacct-json").rows >= 1


def test_a_failed_job_with_code_0_has_an_unknown_code(tmp_path: Path) -> None:
    jobs = [job(7, state={"current": "FAILED"}), job(8)]
    table = read(write(tmp_path / "jobs.json", jobs))
    assert table.column("ExitCode").to_pylist() == [None, 0]


def test_squeue_is_not_sacct(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    path.write_text('{"jobs": [{"job_id": 7, "job_state": "RUNNING"}]}')
    assert not files.readers()["sacct-json"].sniff(path, path.read_bytes())
