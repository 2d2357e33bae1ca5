"""A real Slurm runs jobs; its text, its JSON and the live source must tell the same."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

import compass as cp
from compass.domain.errors import DataProblem, EnvironmentProblem
from compass.readers import Table, files, read
from slurm_lab import SlurmLab

MEGABYTES = 150
WORK = f"""python3 - <<'END'
import time
held = bytearray({MEGABYTES} << 20)
start = time.process_time()
while time.process_time() - start < 1.5:
    pass
END
srun --ntasks=2 sleep 1"""


@dataclass(frozen=True)
class Ran:
    work: int
    failed: int
    array: int
    cancelled: int

    @property
    def all(self) -> str:
        return f"{self.work},{self.failed},{self.array},{self.cancelled}"


@pytest.fixture(scope="module")
def ran(slurm: SlurmLab) -> Ran:
    cancelled = slurm.submit("true", "--hold")
    slurm.run("scancel", str(cancelled))
    name = "--job-name=odd|name\nof a job"
    work = slurm.submit(WORK, "--ntasks=2", "--mem=400M", "--time=5", name)
    failed = slurm.submit("exit 3", "--mem-per-cpu=100M")
    array = slurm.submit("sleep 1", "--array=1-2")
    slurm.finished(work, failed, array, cancelled)
    return Ran(work, failed, array, cancelled)


@pytest.fixture(scope="module")
def live(ran: Ran) -> Table:
    return read(f"sacct:-j {ran.all}")


def by_job(table: Table) -> dict[str, dict[str, object]]:
    found = {str(table.row(n)["JobID"]): dict(table.row(n)) for n in range(table.rows)}
    assert len(found) == table.rows
    return found


def test_one_row_per_job_and_array_task(ran: Ran, live: Table) -> None:
    names = {str(ran.work), str(ran.failed), f"{ran.array}_1", f"{ran.array}_2"}
    assert set(by_job(live)) == names | {str(ran.cancelled)}


def test_what_the_job_did_is_what_is_read(ran: Ran, live: Table) -> None:
    row = by_job(live)[str(ran.work)]
    assert row["State"] == "COMPLETED"
    assert row["JobName"] == "odd|name\nof a job"
    # Slurm samples the memory each second, and Python itself needs some.
    assert MEGABYTES * 2**20 < row["MaxRSS"] < (MEGABYTES + 60) * 2**20
    assert row["ReqMem"] == row["alloc_mem"] == 400 * 2**20
    assert row["memory_used"] / row["ReqMem"] == row["memory_efficiency"]
    assert (row["AllocCPUS"], row["NTasks"], row["Timelimit"]) == (2, 2, 300)
    assert row["TotalCPU"] > 1.4
    assert row["Elapsed"] >= 2  # 1.5 s of work, then a second of sleep
    assert row["CPUTimeRAW"] == 2 * row["Elapsed"]
    assert row["cpu_efficiency"] == row["TotalCPU"] / row["CPUTimeRAW"]
    assert row["wall_efficiency"] == row["Elapsed"] / 300
    assert row["wait_s"] >= 0


def test_failure_and_cancellation_are_seen(ran: Ran, live: Table) -> None:
    failed = by_job(live)[str(ran.failed)]
    assert (failed["State"], failed["ExitCode"], failed["exit_signal"]) == ("FAILED", 3, 0)
    assert by_job(live)[str(ran.cancelled)]["State"] == "CANCELLED"


def test_text_and_json_tell_the_same(
    slurm: SlurmLab, ran: Ran, live: Table, tmp_path: Path
) -> None:
    text, lines = tmp_path / "jobs.json", tmp_path / "jobs.psv"
    text.write_text(slurm.run("sacct", "--json", "-j", ran.all))
    lines.write_text(slurm.run("sacct", "--parsable2", "--format=ALL", "-j", ran.all))
    assert files.reader_for(text).name == "sacct-json"
    assert files.reader_for(lines).name == "sacct"
    told, from_json, from_text = by_job(live), by_job(read(text)), by_job(read(lines))
    assert set(read(text).names) == set(live.names)
    assert told.keys() == from_json.keys() == from_text.keys()
    exact = [
        *("JobIDRaw", "JobName", "State", "Elapsed", "Timelimit", "AllocCPUS"),
        *("ReqMem", "MaxRSS", "NTasks", "alloc_mem", "CPUTimeRAW", "wait_s", "memory_used"),
        *("User", "Partition", "alloc_cpus", "memory_efficiency", "wall_efficiency"),
    ]
    for job, row in told.items():
        for name in exact:
            assert from_json[job][name] == row[name], (job, name)
            assert from_text[job][name] == row[name], (job, name)
        assert from_text[job]["ExitCode"] == row["ExitCode"]
        # Slurm 22.05 does not tell the code of a failed job in JSON.
        assert from_json[job]["ExitCode"] in (row["ExitCode"], None)
        # JSON has microseconds where text has milliseconds.
        assert from_json[job]["TotalCPU"] == pytest.approx(row["TotalCPU"], abs=0.01)
        assert from_text[job]["TotalCPU"] == row["TotalCPU"]
        for moment in ("Submit", "Start", "End"):
            assert from_json[job][moment] == row[moment]


def test_time_zones_do_not_move_live_times(
    ran: Ran, live: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    again = read(f"sacct:-j {ran.all}")
    assert again.column("Start").to_pylist() == live.column("Start").to_pylist()


def test_it_is_a_source_like_any_other(ran: Ran) -> None:
    data = cp.read(f"sacct:-j {ran.array} -X")
    assert len(data) == 2
    assert data.table.parts[0].file == f"sacct:-j {ran.array} -X"


@pytest.mark.usefixtures("slurm")
def test_no_jobs_and_refused_options_are_said() -> None:
    with pytest.raises(DataProblem, match="no jobs") as none:
        read("sacct:-S 2001-01-01 -E 2001-01-02")
    assert "-S" in none.value.hint
    with pytest.raises(DataProblem, match="sacct refuses"):
        read("sacct:-S nonsense")


def test_without_sacct_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="not installed"):
        read("sacct:")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Slurm accounting storage is disabled", "keeps no accounting"),
        ("sacct: error: Unable to contact slurmdbd: Connection refused", "does not reach Slurm"),
    ],
)
def test_an_unusable_sacct_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, why: str
) -> None:
    fake = tmp_path / "sacct"
    fake.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(EnvironmentProblem, match=why):
        read("sacct:")
