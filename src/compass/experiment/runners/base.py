"""The protocol of a runner, which makes runs somewhere and tells how they are.

Decision 0046 (docs/decisions).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pydantic import Field

from compass.domain.base import Config, Noun
from compass.domain.experiment import RunState


class Launch(Noun):
    """A run as a runner gets it: what is executed, where, and for how long at most."""

    number: int = Field(description="of the run within its experiment")
    folder: Path = Field(description="of this attempt alone; absolute, seen by all machines")
    words: tuple[str, ...] = Field(min_length=1, description="the program and its arguments")
    environment: dict[str, str] = Field(
        default_factory=dict, description="added to that of the person"
    )
    directory: Path = Field(description="where the command runs; absolute")
    time_limit: float | None = Field(None, gt=0, description="seconds")
    config: Config = Field(default_factory=dict, description="what a scheduler is asked for")
    units: dict[str, str] = Field(default_factory=dict, description="of the columns with one")


class Job(Noun):
    """A launch that was submitted."""

    number: int
    id: str = Field(description="how the machine that runs it calls it: 4711_3, node7:1234")
    folder: Path


class JobStatus(Noun):
    """How far a job has come: submitted, running, done, failed or cancelled."""

    state: RunState
    reason: str = Field("", description="why it failed, or what it waits for")
    lost: bool = Field(
        False, description="it failed by what the machine did: nothing is known of its settings"
    )
    seconds: float | None = Field(None, description="wall-clock seconds of the command")
    started_at: datetime | None = None
    ended_at: datetime | None = None


class Runner(Protocol):
    """A place where runs are made. Register a class: `@registry.add("runner", "name")`.

    It is made with the text after the name (`local:slots=2` -> "slots=2", plain `slurm` -> "") and
    raises `BadInput` for a text that it cannot use. What a run prints, standard output and error,
    is kept in its folder where `output_files` of `runners/folder.py` finds it; `supervisor_words`
    has a command that does so, ends the run at its time limit and leaves a result that
    `result_of` reads.
    """

    name: str
    slots: int  # jobs that are worth submitting at a time
    pause: float  # seconds after which a poll can tell something new; poll may change it

    def check(self, launch: Launch) -> None:
        """Raises CompassError where such a launch cannot be made here; nothing is started."""
        ...

    def submit(self, launches: Sequence[Launch]) -> list[Job]:
        """Jobs for these launches, in their order. They go on without this process.

        A launch that was submitted before, by whom it may be, is not started again: its job is
        returned. After an error or a kill, `attach` tells which of them were submitted.
        """
        ...

    def attach(self, folders: Mapping[int, Path]) -> dict[int, Job]:
        """The jobs of runs that another process may have submitted, by number of the run.

        `folders` are those of their launches. A run that is not in the result was never submitted
        and never will be, unless `submit` is called. Raises EnvironmentProblem where that cannot
        be told now.
        """
        ...

    def poll(self, jobs: Sequence[Job]) -> list[JobStatus]:
        """How each job is now. What has ended stays as it is, however often it is asked for."""
        ...

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Ends these jobs soon; `poll` tells when. One that has ended stays as it is."""
        ...

    def close(self) -> None:
        """Lets go of the place; jobs go on."""
        ...
