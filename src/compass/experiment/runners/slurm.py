"""The runner `slurm`: a batch of runs becomes a job array, one for each set of resources.

A task does nothing but start the supervisor of its run, so what a run leaves is the same as on one
machine, in its own folder on the shared file system. Slurm is asked seldom, and only about what has
left no result: squeue while it knows the job, the accounting after that.
"""

import contextlib
import os
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.domain.experiment import RunState
from compass.execute.options import count_of, options_of
from compass.experiment.printed import Text, shown
from compass.experiment.runners import supervise
from compass.experiment.runners.base import Job, JobStatus, Launch
from compass.experiment.runners.claims import claim_of, new_claim, submitted_number
from compass.experiment.runners.folder import (
    folder_problem,
    maker,
    result_of,
    started_at,
    supervisor_words,
    write_end,
    write_launch,
)
from compass.experiment.runners.slurm_states import (
    REASONS,
    Meaning,
    accounted_states,
    meaning,
    state_of,
)
from compass.slurm.commands import (
    accounted_jobs,
    cancel_jobs,
    queue_of_person,
    refusal_of_job,
    submit_job,
)
from compass.slurm.directives import OPTION, directives, with_defaults

# Options of sbatch that can be given here; what a configuration says comes before them.
_SBATCH = ("time", "partition", "account", "qos", "mem", "mem-per-cpu", "constraint")
_DEFAULTS = {"header": "", "slots": "100", **dict.fromkeys(_SBATCH, "")}
_DIRECTIVE = re.compile(r"#SBATCH\s+--([\w-]+)")
_MOST_TASKS = 500  # of one array; clusters have a limit, which is 1000 by default
_SPARE = 60.0  # seconds that Slurm gives a run beyond its own time limit
_SHORTEST, _LONGEST = 1.0, 60.0  # seconds between two questions to Slurm
_GROWTH = 1.5  # of the time between two questions while nothing changes
_LOOK = 5.0  # seconds at most between two looks into the folders
# Results on a network file system are seen late (attribute caches last up to a minute), the
# accounting is written late, and a job that was preempted is requeued a little later.
_PATIENCE = 90.0


@registry.add("runner", "slurm")
class Slurm:
    """Slurm jobs: `slurm:time=10,partition=short,header=site.sh`."""

    name = "slurm"

    def __init__(self, text: str = "") -> None:
        options = options_of(self.name, text, _DEFAULTS, kind="runner")
        self.slots = count_of(self.name, options["slots"], kind="runner")
        self.pause = _SHORTEST
        self._header = _header(options["header"])
        self._options = _checked({name: options[name] for name in _SBATCH if options[name]})
        self._interval = _SHORTEST
        self._next_question = 0.0
        self._states: dict[str, str] = {}  # of jobs, as Slurm said last; empty: it knows none
        self._since: dict[str, float] = {}  # when a job was first seen to have ended, or unknown

    def check(self, launch: Launch) -> None:
        """Raises EnvironmentProblem if Slurm would not take the job."""
        script = self._script([launch])
        if refusal := refusal_of_job(script, self._resources(launch)):
            raise EnvironmentProblem(
                f"Slurm does not take the job: {refusal}",
                hint="see sinfo for the partitions and their limits",
            )

    def submit(self, launches: Sequence[Launch]) -> list[Job]:
        """Submit an array for each set of resources; what was submitted before stays as it is."""
        known = self.attach({launch.number: launch.folder for launch in launches})
        groups: dict[tuple[Path, tuple[str, ...]], list[Launch]] = {}
        for launch in launches:
            if launch.number not in known:
                alike = launch.folder.parent, tuple(self._resources(launch))
                groups.setdefault(alike, []).append(launch)
        for (_, options), group in groups.items():
            for start in range(0, len(group), _MOST_TASKS):
                part = group[start : start + _MOST_TASKS]
                known |= {job.number: job for job in self._submit(part, options)}
        self._ask_soon()
        return [known[launch.number] for launch in launches]

    def _submit(self, launches: Sequence[Launch], options: Sequence[str]) -> list[Job]:
        for launch in launches:
            write_launch(launch)
        claim, lock = new_claim(launches, self._script(launches))
        try:
            own = (
                f"--job-name={claim.name}",
                f"--array=0-{len(launches) - 1}",
                f"--output={claim.log_pattern}",
                "--open-mode=append",
                f"--chdir={claim.path}",
            )
            number = submit_job(claim.script, [*own, *options], held=[lock])
            claim.write_number(number)
        finally:
            os.close(lock)
        return [
            Job(number=launch.number, id=f"{number}_{task}", folder=launch.folder)
            for task, launch in enumerate(launches)
        ]

    def _script(self, launches: Sequence[Launch]) -> str:
        """A script that starts the supervisor of a task; the header of the site comes first."""
        cases = [
            f"{task}) folder={shlex.quote(str(launch.folder))} ;;"
            for task, launch in enumerate(launches)
        ]
        supervisor = shlex.join(supervisor_words(launches[0].folder)[:-1])
        return "\n".join(
            [
                *_fitting(self._header, self._asked(launches[0])),
                "",
                'case "$SLURM_ARRAY_TASK_ID" in',
                *cases,
                "esac",
                f'exec {supervisor} "$folder"',
                "",
            ]
        )

    def _resources(self, launch: Launch) -> list[str]:
        """The options of sbatch for a launch."""
        return [f"--{option}={value}" for option, value in self._asked(launch).items()]

    def _asked(self, launch: Launch) -> dict[str, str]:
        """What is asked of sbatch: by the configuration of a launch, then by the runner."""
        asked = with_defaults(directives(launch.config, launch.units).options, self._options)
        if launch.time_limit is not None:
            asked.setdefault("time", str(int((launch.time_limit + _SPARE + 59) // 60)))
        return asked

    def attach(self, folders: Mapping[int, Path]) -> dict[int, Job]:
        """The runs that Slurm has, or had; Slurm is asked by the names of their jobs."""
        found: dict[int, Job] = {}
        numbers: dict[str, str] = {}
        for number, folder in folders.items():
            claimed = claim_of(folder)
            if claimed is None:
                continue
            claim, task = claimed
            told = maker(folder)[1]  # by the task itself
            if not told and claim.name not in numbers:
                numbers[claim.name] = submitted_number(claim)
            if told or numbers[claim.name]:
                job = told or f"{numbers[claim.name]}_{task}"
                found[number] = Job(number=number, id=job, folder=folder)
        return found

    def poll(self, jobs: Sequence[Job]) -> list[JobStatus]:
        """How each job is: by its folder, else by what Slurm says of it."""
        results = {job.id: result_of(job.folder) for job in jobs}
        waiting = [job.id for job in jobs if results[job.id] is None]
        now = time.monotonic()
        if waiting and now >= self._next_question:
            before = dict(self._states)
            self._states = _states_now(waiting)
            changed = self._states != before
            grown = min(self._interval * _GROWTH, _LONGEST)
            self._interval = _SHORTEST if changed else grown
            self._next_question = time.monotonic() + self._interval
        self.pause = min(max(self._next_question - time.monotonic(), _SHORTEST), _LOOK)
        return [results[job.id] or self._without_result(job) for job in jobs]

    def cancel(self, jobs: Sequence[Job]) -> None:
        """End these jobs, also those that wait."""
        for job in jobs:
            with contextlib.suppress(FileNotFoundError):
                try:
                    (job.folder / supervise.CANCEL).touch()
                except PermissionError as problem:
                    raise folder_problem(job.folder, problem) from None
        if jobs:
            cancel_jobs([job.id for job in jobs])
        self._ask_soon()

    def close(self) -> None:
        """Jobs go on."""

    def _ask_soon(self) -> None:
        self._interval, self._next_question = _SHORTEST, 0.0

    def _without_result(self, job: Job) -> JobStatus:
        state = self._states.get(job.id)
        if state is None:  # it has not been asked about yet
            return JobStatus(state=RunState.SUBMITTED)
        means = meaning(state) if state else Meaning.LOST
        if means in (Meaning.WAITS, Meaning.RUNS):
            self._since.pop(job.id, None)
            began = started_at(job.folder) if means is Meaning.RUNS else None
            if began is None:
                return JobStatus(state=RunState.SUBMITTED, reason=f"Slurm: {state}")
            return JobStatus(state=RunState.RUNNING, started_at=began)
        if means is Meaning.CANCELLED:
            return JobStatus(state=RunState.CANCELLED, reason="cancelled in Slurm")
        if means is Meaning.FAILED:
            return write_end(job.folder, REASONS[state], lost=False)
        since = self._since.setdefault(job.id, time.monotonic())
        if time.monotonic() - since < _PATIENCE:
            return JobStatus(state=RunState.RUNNING, started_at=started_at(job.folder))
        return self._given_up(job, state)

    def _given_up(self, job: Job, state: str) -> JobStatus:
        """A job that has ended or is not known, and left no result for long enough."""
        found = result_of(job.folder)
        if found is not None:
            return found
        if not state:
            reason = (
                f"job {job.id} vanished: neither squeue nor sacct know it "
                "(is this another cluster? was the accounting purged?)"
            )
        else:
            reason = REASONS.get(state, f"Slurm says {state}, and the run left no result")
            reason += _last_words(job)
        return write_end(job.folder, reason, lost=True)


def _states_now(jobs: Sequence[str]) -> dict[str, str]:
    """The states of these jobs; an empty one: neither squeue nor sacct knows the job."""
    queued = {job.id: job.state for job in queue_of_person()}
    missing = [job for job in jobs if not state_of(job, queued) and job[:1].isdecimal()]
    numbers = sorted({job.partition("_")[0] for job in missing})
    known = accounted_states(accounted_jobs([f"--jobs={','.join(numbers)}"])) if numbers else {}
    return {job: state_of(job, queued, known) for job in jobs}


def _last_words(job: Job) -> str:
    """What the header of the site, or Slurm itself, printed last."""
    claimed = claim_of(job.folder)
    if claimed is None or not (log := claimed[0].log(claimed[1])).exists():
        return ""
    last = shown(Text([log], "the log").last_line())
    return f": {last}" if last else ""


def _header(name: str) -> list[str]:
    """The lines of the site's header."""
    if not name:
        return ["#!/bin/sh"]
    try:
        lines = Path(name).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, RuntimeError) as problem:
        raise BadInput(
            f"the header {name} cannot be read: {getattr(problem, 'strerror', '') or problem}",
            hint="a text file with what every job script of the site begins with",
        ) from None
    return lines if lines and lines[0].startswith("#!") else ["#!/bin/sh", *lines]


def _fitting(header: Sequence[str], asked: Mapping[str, str]) -> list[str]:
    """The header without what contradicts the options that are asked for: Slurm refuses both."""

    def fits(line: str) -> bool:
        found = _DIRECTIVE.match(line)
        return (
            found is None or found[1] in asked or found[1] in with_defaults(asked, {found[1]: ""})
        )

    return [line if fits(line) else f"# not used: {line}" for line in header]


def _checked(options: dict[str, str]) -> dict[str, str]:
    for name, value in options.items():
        if OPTION.fullmatch(value) is None:
            raise BadInput(
                f"the option {name} of the runner slurm cannot be '{value}'",
                hint="letters, digits and . , : / @ + - _ may stand in it",
            )
    if "mem" in options and "mem-per-cpu" in options:
        raise BadInput(
            "the runner slurm takes mem or mem-per-cpu, not both", hint="leave one of them out"
        )
    if "time" in options and re.fullmatch(r"[\d:-]+", options["time"]) is None:
        raise BadInput(
            f"'{options['time']}' is no time limit of Slurm",
            hint="minutes (time=10), or hours, minutes and seconds (time=01:30:00)",
        )
    return options
