"""A runner for PBS (OpenPBS, PBS Pro, Torque): a job per run, submitted, asked after and deleted.

What another scheduler needs is the same with other commands. A job is named before it is submitted:
whoever was killed in between, the next one asks the scheduler for that name.
"""

import contextlib
import fcntl
import os
import re
import secrets
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compass import files, registry
from compass.domain.errors import EnvironmentProblem
from compass.domain.experiment import RunState
from compass.execute.options import count_of, options_of
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.folder import (
    result_of,
    started_at,
    supervisor_words,
    write_end,
    write_launch,
)
from compass.experiment.runners.supervise import CANCEL

NAME, ID, SCRIPT = "pbs.name", "pbs.id", "pbs.sh"  # files in the folder of a run
SPARE = 60  # seconds that PBS gives a run beyond its own time limit
OFTEN = 5.0  # seconds between two questions to the scheduler
PATIENCE = 90.0  # seconds: a network file system shows late what a job has left
ENDED = frozenset("CFX")  # states of qstat; E (exiting), Q, H, R, ... have not ended


@registry.add("runner", "pbs")
class Pbs:
    """Jobs of PBS: `pbs:queue=short,walltime=00:10:00,slots=50`."""

    name = "pbs"
    pause = OFTEN

    def __init__(self, text: str = "") -> None:
        known = {"queue": "", "walltime": "", "slots": "50"}
        self.options = options_of(self.name, text, known, kind="runner")
        self.slots = count_of(self.name, self.options["slots"], kind="runner")
        self.states: dict[str, str] = {}  # of jobs, as qstat told last
        self.asked = 0.0
        self.silent: dict[str, float] = {}  # since when a job has ended and left nothing

    def check(self, launch: Launch) -> None:
        """There has to be a PBS."""
        del launch
        if shutil.which("qsub") is None:
            raise EnvironmentProblem("there is no qsub here", hint="is this a login node of PBS?")

    def submit(self, launches: Sequence[Launch]) -> list[Job]:
        """A job for each that has none."""
        known = self.attach({launch.number: launch.folder for launch in launches})
        self.asked = 0.0
        return [known.get(launch.number) or self._submit(launch) for launch in launches]

    def _submit(self, launch: Launch) -> Job:
        write_launch(launch)
        folder, name = launch.folder, f"c{secrets.token_hex(5)}"  # some PBS take 15 characters
        command = shlex.join(supervisor_words(folder))
        files.write_text(folder / SCRIPT, f"#!/bin/sh\nexec {command}\n")
        files.write_text(folder / NAME, name)
        words = ["qsub", "-V", "-N", name, "-j", "oe", "-o", str(folder / "pbs.out")]
        walltime = self.options["walltime"]
        if not walltime and launch.time_limit is not None:
            minutes = int(launch.time_limit + SPARE + 59) // 60
            walltime = f"{minutes // 60:02}:{minutes % 60:02}:00"
        words += ["-l", f"walltime={walltime}"] if walltime else []
        words += ["-q", self.options["queue"]] if self.options["queue"] else []
        with submitting(folder) as lock:
            job = told([*words, str(folder / SCRIPT)], held=lock).strip()
        files.write_text(folder / ID, job)
        return Job(number=launch.number, id=job, folder=folder)

    def attach(self, folders: Mapping[int, Path]) -> dict[int, Job]:
        """Jobs whose number is written down, or that qstat knows by the name that is."""
        found: dict[int, Job] = {}
        named: dict[str, str] | None = None
        for number, folder in folders.items():
            if not (folder / NAME).exists():
                continue
            with submitting(folder):  # a qsub of somebody who was killed has come to its end
                if not (folder / ID).exists():
                    named = names(told(["qstat", "-f"])) if named is None else named
                    job = named.get((folder / NAME).read_text())
                    if job is None and result_of(folder) is None and started_at(folder) is None:
                        continue
                    files.write_text(folder / ID, job or "ended")
            job = (folder / ID).read_text()
            found[number] = Job(number=number, id=job, folder=folder)
        return found

    def poll(self, jobs: Sequence[Job]) -> list[JobStatus]:
        """What the folders tell; PBS is asked, seldom, about runs that have left nothing."""
        results = {job.number: result_of(job.folder) for job in jobs}
        waiting = [job.id for job in jobs if results[job.number] is None]
        if waiting and time.monotonic() - self.asked >= OFTEN:
            self.states = states(told(["qstat", "-f", *waiting], fine=None))
            self.asked = time.monotonic()
        return [results[job.number] or self._without_result(job) for job in jobs]

    def _without_result(self, job: Job) -> JobStatus:
        state = self.states.get(job.id, "X")  # PBS forgets a job soon after its end
        if state not in ENDED:
            self.silent.pop(job.id, None)
            began = started_at(job.folder)
            state = RunState.RUNNING if began else RunState.SUBMITTED
            return JobStatus(state=state, started_at=began)
        since = self.silent.setdefault(job.id, time.monotonic())
        cancelled = (job.folder / CANCEL).exists()
        if not cancelled and time.monotonic() - since < PATIENCE:
            return JobStatus(state=RunState.RUNNING, started_at=started_at(job.folder))
        return result_of(job.folder) or write_end(job.folder, "PBS ended it", lost=True)

    def cancel(self, jobs: Sequence[Job]) -> None:
        """The supervisor of a run gets SIGTERM from qdel and ends everything that belongs to it."""
        for job in jobs:
            if result_of(job.folder) is None:
                (job.folder / CANCEL).touch()
                told(["qdel", job.id], fine=None)
        self.asked = 0.0

    def close(self) -> None:
        """Jobs go on."""


@contextlib.contextmanager
def submitting(folder: Path) -> Iterator[int]:
    """Only one at a time submits the run of a folder; qsub holds the lock as well."""
    lock = os.open(folder / "pbs.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def told(words: Sequence[str], *, held: int | None = None, fine: int | None = 0) -> str:
    """What a command of PBS prints; one that does not end with `fine` is an error."""
    handles = () if held is None else (held,)
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, pass_fds=handles, check=False
    )
    if fine is not None and done.returncode != fine:
        why = " ".join(done.stderr.split())[:300]
        raise EnvironmentProblem(f"{words[0]} says: {why}", hint=f"try {shlex.join(words[:2])}")
    return done.stdout


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The jobs of `qstat -f`: number, and what is told of it."""
    for block in re.split(r"^Job Id:\s*", text, flags=re.MULTILINE)[1:]:
        number, _, rest = block.partition("\n")
        yield number.strip(), rest


def states(text: str) -> dict[str, str]:
    """The state of each job."""
    return {job: found[1] for job, rest in blocks(text) if (found := field(rest, "job_state"))}


def names(text: str) -> dict[str, str]:
    """The job of each name."""
    return {found[1]: job for job, rest in blocks(text) if (found := field(rest, "Job_Name"))}


def field(rest: str, name: str) -> re.Match[str] | None:
    """The line of one field."""
    return re.search(rf"^\s*{name} = (\S+)", rest, re.MULTILINE)
