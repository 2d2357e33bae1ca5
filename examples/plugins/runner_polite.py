"""A runner: processes of low priority, all at once; the supervisor of each run does the rest."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from compass import registry
from compass.domain.errors import BadInput
from compass.domain.experiment import RunState
from compass.experiment.command import find_program
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.folder import (
    lock_of,
    maker,
    result_of,
    started_at,
    supervisor_words,
    write_end,
    write_launch,
)
from compass.experiment.runners.supervise import CANCEL


@registry.add("runner", "polite")
class Polite:
    """Runs that give way to everything else on this machine: `polite:19`."""

    name = "polite"
    slots = 4
    pause = 0.1

    def __init__(self, text: str = "") -> None:
        if text and not text.isdecimal():
            raise BadInput(f"polite:{text} names no priority", hint="write polite:19")
        self.niceness = text or "10"

    def check(self, launch: Launch) -> None:
        """The program has to be there."""
        find_program(launch.words[0], launch.directory)

    def submit(self, launches: Sequence[Launch]) -> list[Job]:
        """A scheduler would get `supervisor_words(launch.folder)` as the command of a job."""
        known = self.attach({launch.number: launch.folder for launch in launches})
        return [known.get(launch.number) or self._start(launch) for launch in launches]

    def _start(self, launch: Launch) -> Job:
        write_launch(launch)
        words = ["nice", "-n", self.niceness, *supervisor_words(launch.folder)]
        in_background = ["/bin/sh", "-c", '"$@" > /dev/null 2>&1 &', "sh", *words]
        subprocess.run(in_background, check=True, start_new_session=True)
        while not maker(launch.folder)[0]:
            time.sleep(0.01)
        return Job(number=launch.number, id=maker(launch.folder)[0], folder=launch.folder)

    def attach(self, folders: Mapping[int, Path]) -> dict[int, Job]:
        """A run that was submitted has a supervisor that says who it is."""
        return {
            number: Job(number=number, id=maker(folder)[0], folder=folder)
            for number, folder in folders.items()
            if maker(folder)[0]
        }

    def poll(self, jobs: Sequence[Job]) -> list[JobStatus]:
        """What the folders of the runs tell."""
        return [result_of(job.folder) or self._without_result(job) for job in jobs]

    def _without_result(self, job: Job) -> JobStatus:
        lock = lock_of(job.folder)
        if lock is None:  # its supervisor has it
            began = started_at(job.folder)
            state = RunState.RUNNING if began else RunState.SUBMITTED
            return JobStatus(state=state, started_at=began)
        ended = result_of(job.folder) or write_end(job.folder, "it was killed", lost=True)
        os.close(lock)
        return ended

    def cancel(self, jobs: Sequence[Job]) -> None:
        """The supervisor ends everything that belongs to its run."""
        for job in jobs:
            if result_of(job.folder) is None:
                (job.folder / CANCEL).touch()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(job.id.partition(":")[2]), signal.SIGTERM)

    def close(self) -> None:
        """Runs go on."""
