"""What a place where runs are made promises: each run once, its output kept, how it ended."""

import inspect
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.domain.errors import BadInput
from compass.domain.experiment import RunState
from compass.experiment.printed import Text
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.folder import output_files
from compass.testing.base import Witness, witness

_SECONDS = 120.0  # of patience with a run of a moment
_SHORT = 1.5  # seconds: a time limit


def check_runner(
    runner: Any,
    *,
    name: str | None = None,
    text: str = "",
    folder: Path | None = None,
    patience: float = _SECONDS,
) -> None:
    """Raise ConformanceError unless the runner keeps its promises.

    A class is made with `text` and closed; an object is used as it is, and stays open. `folder` is
    where runs are made, seen by all machines that make them; `patience` are the seconds that they
    may take.
    """
    found = witness("runner", runner, name)
    with tempfile.TemporaryDirectory(dir=folder) as base, _ready(found, runner, text) as opened:
        cases = _Cases(found, opened, Path(base).resolve(), patience)
        cases.describes_itself()
        cases.makes_runs()
        cases.makes_a_run_once()
        if inspect.isclass(runner):
            other: Any = runner
            cases.is_found_again(lambda: other(text))
        cases.cancels()


@contextmanager
def _ready(found: Witness, runner: Any, text: str) -> Iterator[Any]:
    if not inspect.isclass(runner):
        yield runner
        return
    make: Any = runner
    with found.at(f"plugin({text!r})").calling("it is made with the text after its name"):
        opened: Any = make(text)
    try:
        try:
            make("\t no such text \t")
        except BadInput:
            pass
        else:
            at = found.at(r"plugin('\t no such text \t')")
            raise at.broken("a text that it cannot use is a BadInput", "it was made")
        yield opened
    finally:
        opened.close()


@dataclass
class _Cases:
    """What a runner is asked to do, in a folder."""

    found: Witness
    runner: Any
    base: Path
    patience: float
    number: int = 0

    def describes_itself(self) -> None:
        """`slots` and `pause` are numbers that a driver can use."""
        slots, pause = self.runner.slots, self.runner.pause
        self.found.at("runner.slots, runner.pause").expect(
            isinstance(slots, int) and slots >= 1 and 0 < pause <= 60,
            "it says how many jobs to submit, and how long to wait between two polls",
            f"{slots!r}, {pause!r}",
        )

    def makes_runs(self) -> None:
        """Some that end well, some that do not."""
        good = self._launch("echo one; echo two >&2; echo $COMPASS_KIND; pwd")
        bad = self._launch("echo no such file; exit 3")
        absent = self._launch("").model_copy(update={"words": ("/no/such/program",)})
        slow = self._launch("sleep 600", time_limit=_SHORT)
        at = self.found.at("runner.submit([launch, ...])")
        with at.calling("it submits launches"):
            jobs = self.runner.submit([good, bad, absent, slow])
        at.expect(
            [job.number for job in jobs] == [good.number, bad.number, absent.number, slow.number]
            and len({job.id for job in jobs}) == 4,
            "it returns a job with an id of its own for each launch, in their order",
            repr(jobs),
        )
        ended = self._ended(jobs)
        at = self.found.at("runner.poll(jobs)")
        expected = [RunState.DONE, *[RunState.FAILED] * 3]
        at.expect(
            [status.state for status in ended] == expected,
            "a command that ends with 0 is done; one that fails, cannot be started or takes too "
            "long has failed",
            repr([(status.state, status.reason) for status in ended]),
        )
        at.expect(
            all(status.reason for status in ended[1:]), "it says why a run failed", repr(ended)
        )
        done = ended[0]
        at.expect(
            done.seconds is not None and done.started_at is not None and done.ended_at is not None,
            "it says when a run began and ended, and how many seconds it took",
            repr(done),
        )
        at.expect(ended == self._poll(jobs), "what has ended stays as it is", "another status")
        printed = Text(output_files(good.folder), "the output").end(10_000).split()
        self.found.at("output_files(launch.folder)").expect(
            printed == ["one", "two", "conformance", str(self.base)],
            "what a run prints is kept in its folder; it has its environment and directory",
            repr(printed),
        )

    def makes_a_run_once(self) -> None:
        """A launch that is submitted twice."""
        launch = self._launch(f"echo begun >> {self.base}/begun; sleep 0.5")
        first = self.runner.submit([launch])
        again = self.runner.submit([launch])
        self._ended(first)
        last = self.runner.submit([launch])
        self._ended([*again, *last])
        begun = (self.base / "begun").read_text().split()
        self.found.at("runner.submit([launch]); runner.submit([launch])").expect(
            begun == ["begun"], "a launch is started once", f"it was started {len(begun)} times"
        )

    def is_found_again(self, make: Callable[[], Any]) -> None:
        """Another runner, as in a program that was started again."""
        going, never = self._launch("sleep 1"), self._launch("true")
        job = self.runner.submit([going])[0]
        other = make()
        try:
            at = self.found.at("other.attach({launch.number: launch.folder})")
            with at.calling("jobs can be looked for"):
                found = other.attach({going.number: going.folder, never.number: never.folder})
            at.expect(
                found == {going.number: job},
                "another one finds the jobs that were submitted, and no others",
                repr(found),
            )
            status = self._ended([job], other)[0]
            at.expect(status.state is RunState.DONE, "and tells how they ended", repr(status))
        finally:
            other.close()

    def cancels(self) -> None:
        """A run that takes long."""
        launch = self._launch("sleep 600")
        jobs = self.runner.submit([launch])
        at = self.found.at("runner.cancel(jobs)")
        with at.calling("jobs can be cancelled"):
            self.runner.cancel(jobs)
        status = self._ended(jobs)[0]
        at.expect(
            status.state is RunState.CANCELLED, "what was cancelled says so", repr(status.state)
        )
        with at.calling("what has ended can be cancelled: nothing happens"):
            self.runner.cancel(jobs)
        at.expect(self._poll(jobs) == [status], "it stays as it is", repr(self._poll(jobs)))

    def _launch(self, script: str, time_limit: float | None = None) -> Launch:
        self.number += 1
        return Launch(
            number=self.number,
            folder=self.base / f"run-{self.number}",
            words=("/bin/sh", "-c", script),
            environment={"COMPASS_KIND": "conformance"},
            directory=self.base,
            time_limit=time_limit,
        )

    def _poll(self, jobs: Sequence[Job], runner: Any = None) -> list[JobStatus]:
        with self.found.at("runner.poll(jobs)").calling("jobs can be polled"):
            return list((runner or self.runner).poll(jobs))

    def _ended(self, jobs: Sequence[Job], runner: Any = None) -> list[JobStatus]:
        """How jobs ended."""
        until = time.monotonic() + self.patience
        while True:
            found = self._poll(jobs, runner)
            if len(found) == len(jobs) and all(status.state.ended for status in found):
                return found
            self.found.at("runner.poll(jobs)").expect(
                time.monotonic() < until,
                "runs come to an end",
                f"after {self.patience:.0f} s: {[(one.state, one.reason) for one in found]}",
            )
            time.sleep((runner or self.runner).pause)
