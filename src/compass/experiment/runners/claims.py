"""Claims: which launches are handed to Slurm as which tasks of which job array.

A claim is written before sbatch is called, and names the job as nobody else does. Its lock is open
in sbatch too: when it is free, sbatch has come to its end, whoever was killed meanwhile, and Slurm
can be asked by that name whether there is such a job.
"""

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from compass import files
from compass.domain.errors import EnvironmentProblem
from compass.experiment.runners.base import Launch
from compass.experiment.runners.folder import folder_problem
from compass.slurm.commands import accounted_jobs, queue_of_person

CLAIM = "claim.json"  # in the folder of a run
_FOLDER = "jobs"  # beside the folders of the runs
_SCRIPT, _LOCK, _ID = "job.sh", "lock", "id"
_PATIENCE = 150.0  # seconds for sbatch to end: it is given 120
_YOUNG = 60.0  # seconds in which a job may still be on its way to the queue
_AGAIN = 2.0  # seconds until a young claim is looked for once more


class Claim(BaseModel):
    """What the folder of a run says about its job."""

    name: str = Field(pattern=r"^compass-[0-9a-f]{12}$")
    task: int = Field(ge=0)


@dataclass(frozen=True)
class ClaimFolder:
    """The folder of one job array: its script, lock and number, and what Slurm itself prints."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the job."""
        return self.path.name

    @property
    def script(self) -> Path:
        """What sbatch gets."""
        return self.path / _SCRIPT

    @property
    def log_pattern(self) -> str:
        """Where a task prints, as sbatch takes it."""
        return str(self.path).replace("%", "%%") + "/%a.out"

    def log(self, task: int) -> Path:
        """What Slurm and the header printed for a task; nothing, as a rule."""
        return self.path / f"{task}.out"

    def number(self) -> str:
        """The number of the job; empty: it is not written here."""
        with contextlib.suppress(OSError):
            text = (self.path / _ID).read_text(encoding="utf-8")[:40].strip()
            return text if text.isdecimal() else ""
        return ""

    def write_number(self, number: str) -> None:
        """Keep the number; where that fails, it is looked up by the name of the job."""
        with contextlib.suppress(OSError):
            files.write_text(self.path / _ID, number)


def new_claim(launches: Sequence[Launch], script: str) -> tuple[ClaimFolder, int]:
    """Claim these launches for one job array; its folder, and its lock, which is ours."""
    claim = ClaimFolder(launches[0].folder.parent / _FOLDER / f"compass-{secrets.token_hex(6)}")
    try:
        claim.path.mkdir(parents=True)
        lock = os.open(claim.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        files.write_text(claim.script, script)
        for task, launch in enumerate(launches):
            text = Claim(name=claim.name, task=task).model_dump_json()
            files.write_text(launch.folder / CLAIM, text)
    except OSError as problem:
        raise folder_problem(claim.path, problem) from None
    return claim, lock


def claim_of(folder: Path) -> tuple[ClaimFolder, int] | None:
    """The claim of a run, and which task it is; None: it has none."""
    try:
        claim = Claim.model_validate_json((folder / CLAIM).read_bytes()[:1000])
    except (OSError, ValidationError):
        return None
    return ClaimFolder(folder.parent / _FOLDER / claim.name), claim.task


def submitted_number(claim: ClaimFolder) -> str:
    """The number of the job of a claim; empty: there is none, and sbatch makes none any more."""
    _wait_for_sbatch(claim)
    if number := claim.number():
        return number
    number = _found_by_name(claim.name)
    if not number and _age(claim) < _YOUNG:
        time.sleep(_AGAIN)
        number = _found_by_name(claim.name)
    if number:
        claim.write_number(number)
    return number


def _wait_for_sbatch(claim: ClaimFolder) -> None:
    try:
        lock = os.open(claim.path / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # it was not locked before it was there
        return
    until = time.monotonic() + _PATIENCE
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > until:
                    raise EnvironmentProblem(
                        f"sbatch has been submitting {claim.name} for minutes",
                        hint="does sinfo answer? try again later",
                    ) from None
            except OSError:  # a file system without locks
                return
            time.sleep(0.1)
    finally:
        os.close(lock)


def _found_by_name(name: str) -> str:
    """The number of the job of that name, as squeue or the accounting knows it."""
    for job in queue_of_person():
        if job.name == name:
            return job.id.partition("_")[0]
    # Without a starting time, sacct tells of today only.
    found = accounted_jobs([f"--name={name}", "--starttime=now-30days"])
    return next((job.id.partition("_")[0].partition(".")[0] for job in found), "")


def _age(claim: ClaimFolder) -> float:
    with contextlib.suppress(OSError):
        return time.time() - claim.path.stat().st_mtime
    return 0.0
