"""`compass advise`: lines to paste, JSON, and what it refuses."""

import json
from pathlib import Path

import pytest
from cli_case import compass, refused

from benchmarks.schedule.advice.dump import lines
from slurm_lab import SlurmLab


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "jobs.psv"
    path.write_text("\n".join(lines(300, 4)) + "\n")
    return path


def test_lines_to_paste_come_with_their_chances(dump: Path) -> None:
    shown = compass("advise", "--from", dump, "--last", "5")
    assert shown.code == 0, shown.err
    assert "+ #SBATCH --time=" in shown.out
    assert "too little for" in shown.out
    assert "rests on jobs" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 100
    found = json.loads(compass("advise", "--from", dump, "--last", "5", "--json").out)
    assert 1 <= len(found) <= 5
    options = [edit["option"] for one in found for edit in one["edits"]]
    assert "time" in options
    for one in found:
        assert len(one["directives"]) == len(one["edits"])
        assert one["edits"] or one["kept"]


def test_a_script_and_a_job(dump: Path, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH -J app0-u1 -t 2-0 --mem=90G\nsrun ./x\n")
    shown = compass("advise", "--from", dump, "--script", script, "--user", "user1")
    assert "- #SBATCH --time=2-00:00:00" in shown.out
    assert "- #SBATCH --mem=90G" in shown.out
    stranger = compass("advise", "--from", dump, "--script", script, "--user", "nobody")
    assert "unsupported, no past job of nobody" in stranger.out
    assert "#SBATCH" not in stranger.out
    job = json.loads(compass("advise", "--from", dump, "--last", "1", "--json").out)[0]
    number = job["about"].split()[1]
    assert f"job {number}" in compass("advise", number, "--from", dump).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("12345678",), "no job 12345678 is known"),
        (("--last", "3", "--script", "x.sh"), "exclude each other"),
        (("--risk", "0.7"), "not between 0 and 0.5"),
        (("--last", "3", "--user", "nobody"), "no job of nobody"),
    ],
)
def test_what_cannot_be_is_refused(dump: Path, words: tuple[str, ...], message: str) -> None:
    refused(compass("advise", "--from", dump, *words), message)


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "no.psv"
    refused(compass("advise", "--from", missing, "--last", "2"), "there is no file")


def test_a_running_slurm_is_asked(slurm: SlurmLab) -> None:
    options = ("--job-name=live-app", "--time=10", "--mem=300M")
    jobs = [slurm.submit("sleep 1", *options) for _ in range(2)]
    array = slurm.submit("sleep 1", *options, "--array=1-3")
    slurm.finished(*jobs, array)
    shown = compass("advise", str(jobs[0]))
    assert shown.code == 0, shown.err
    assert f"job {jobs[0]} (live-app)" in shown.out
    assert "live-app" in shown.out
    shown = compass("advise", str(array), "--json")
    assert shown.code == 0, shown.err
    found = json.loads(shown.out)[0]
    assert found["about"].startswith(f"job {array}_")
    assert {f"{array}_1", f"{array}_2", f"{array}_3"} <= {one["id"] for one in found["evidence"]}
    assert found["request"]["limit"] == 600.0
    assert found["start"]["waits"] or found["start"]["missing"]
