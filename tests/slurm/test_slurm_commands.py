"""The commands of Slurm: what is passed on to them, and what is made of their answers."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.slurm import commands
from compass.slurm.commands import accounting_options, refusal_of_job, states_of_jobs

Fake = Callable[[str, str], None]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fake:
    """Puts a shell script in the place of a command of Slurm."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def put(name: str, script: str) -> None:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return put


@pytest.mark.parametrize(
    "text",
    [
        *("-o JobID", "--format=ALL", "--form ALL", "--json", "-P", "-n", "--delimiter=,"),
        *("-f /etc/passwd", "--file=/x", "-c", "--units=G", "--noconvert", "word", "-S 'x", "-B"),
        *("; rm -rf /", "$(id)", "-S", "--helpformat", "-l"),
    ],
)
def test_only_options_that_choose_jobs_are_passed_on(text: str) -> None:
    with pytest.raises(BadInput):
        accounting_options(text)


def test_options_are_passed_on_one_by_one() -> None:
    assert accounting_options("-S 2026-01-01 -aX --user='a b' --start now") == [
        *("-S2026-01-01", "-a", "-X", "--user=a b", "--starttime=now")
    ]


def test_the_last_line_says_why_a_job_is_refused(fake: Fake) -> None:
    fake("sbatch", "echo 'sbatch: x' >&2; echo 'sbatch: error: no such queue' >&2; exit 1")
    assert refusal_of_job("#!/bin/sh\n") == "no such queue"
    fake("sbatch", "exit 3")
    assert refusal_of_job("#!/bin/sh\n") == "exit code 3"


def test_a_job_that_is_taken_has_no_refusal(fake: Fake, tmp_path: Path) -> None:
    fake("sbatch", f'echo "$1" > {tmp_path}/seen; cat "$2" >> {tmp_path}/seen; echo hint >&2')
    assert refusal_of_job("the script\n") == ""
    assert (tmp_path / "seen").read_text() == "--test-only\nthe script\n"


def test_equal_states_are_said_once(fake: Fake) -> None:
    fake("squeue", "echo 'PENDING, Resources'; echo ' RUNNING, None'; echo 'PENDING, Resources'")
    assert states_of_jobs(["1", "2", "3"]) == ["PENDING, Resources", "RUNNING, None"]
    fake("squeue", "exit 0")
    assert states_of_jobs(["1"]) == []


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("squeue", lambda: states_of_jobs(["1"])),
        ("sbatch", lambda: refusal_of_job("")),
        ("sacct", lambda: commands.accounting([], "sacct:")),
    ],
)
def test_a_slurm_that_does_not_answer_is_not_waited_for(
    command: str, call: Callable[[], object], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_SECONDS", 0.2)
    fake(command, "exec sleep 30")
    with pytest.raises(EnvironmentProblem, match=f"{command} gave no answer within"):
        call()
