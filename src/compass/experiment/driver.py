"""The driver of an experiment: takes suggested runs, has a runner make them, tells what came out.

Everything it needs to go on is in the store and in the folders of the runs. A driver may be killed
at any moment: the next one finds what was submitted, collects what has ended and repeats nothing.
"""

import time
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from compass.domain.base import Config
from compass.domain.errors import CompassError, DataProblem, ExperimentProblem, StudyProblem
from compass.domain.experiment import ExperimentRun, RunChange, RunOrigin, RunState
from compass.domain.goal import IsClass, Observe
from compass.experiment.command import CommandTemplate, checked
from compass.experiment.drivers import BEAT, DriverMark, is_gone
from compass.experiment.experiment import Experiment
from compass.experiment.outcomes import check_readings, read_outcomes
from compass.experiment.place import SUFFIX, is_database, without_password
from compass.experiment.results import ended
from compass.experiment.runners.base import Job, JobStatus, Launch, Runner
from compass.experiment.runners.folder import result_of
from compass.experiment.runners.open import open_runner

_HOPELESS = 5  # runs that failed, and none that did not, after which a driver stops
_ATTEMPTS = 3  # times that a run is begun whose machine was lost


class Watcher(Protocol):
    """Who sees what a driver does."""

    def changed(self, run: ExperimentRun) -> None:
        """A run came further."""

    def tick(self) -> None:
        """Time passed."""

    def note(self, text: str) -> None:
        """Something worth knowing."""


def drive(experiment: Experiment, watch: Watcher, *, detach: bool = False) -> None:
    """Make runs until the budget is spent, more are not worth it, or nothing can be made.

    `detach`: only submit what can be submitted now.
    """
    template, runner = _ready(experiment)
    try:
        mark = DriverMark(runs_folder(experiment))
        try:
            _Driver(experiment, runner, template, watch, mark.name).drive(detach=detach)
        finally:
            mark.close()
    finally:
        runner.close()


def _ready(experiment: Experiment) -> tuple[CommandTemplate, Runner]:
    """The command and the runner; whatever is wrong with them is said before anything runs."""
    plan = experiment.plan
    if plan.command is None:
        raise StudyProblem(
            "the plan has no command to run",
            hint="--command './prog -t {threads}', or make the runs yourself: compass next, tell",
        )
    needed = [name for name, goal in plan.goals.items() if not isinstance(goal, Observe)]
    for name in needed:
        if name not in plan.read:
            raise StudyProblem(
                f"it is not said how {name} is read from a run",
                hint=f"--read {name}=seconds, or --read '{name}=/{name}: (\\S+)/'",
            )
    check_readings(plan.read)
    template = checked(plan.command, experiment.space.names)
    runner = open_runner(plan.runner)
    try:
        example = experiment.example()
        runner.check(launch_of(experiment, template, example, 0, runs_folder(experiment) / "0"))
    except BaseException:
        runner.close()
        raise
    return template, runner


def launch_of(
    experiment: Experiment, template: CommandTemplate, config: Config, number: int, folder: Path
) -> Launch:
    """A configuration as a runner gets it."""
    command = template.command(config, run=number, folder=folder)
    return Launch(
        number=number,
        folder=folder,
        words=command.words,
        environment=command.environment,
        directory=Path.cwd(),
        time_limit=experiment.plan.time_limit,
        config=config,
        units=experiment.units,
    )


class _Driver:
    """One process that drives an experiment."""

    def __init__(
        self,
        experiment: Experiment,
        runner: Runner,
        template: CommandTemplate,
        watch: Watcher,
        worker: str,
    ) -> None:
        self.experiment = experiment
        self.runner = runner
        self.template = template
        self.watch = watch
        self.worker = worker
        self.jobs: dict[int, Job] = {}
        self.unwanted: set[int] = set()  # jobs that were told to end
        self.nothing_more = False  # whether models had no run to make since one came in
        self.heard = time.monotonic()
        self.states: dict[int, RunState] = {}
        self.folder = runs_folder(experiment)
        goals = experiment.plan.goals.items()
        self.classes = [name for name, goal in goals if isinstance(goal, IsClass)]
        self.failed = 0
        self.any_done = any(
            run.state is RunState.DONE and run.origin is not RunOrigin.HISTORY
            for run in experiment.runs()
        )

    def drive(self, *, detach: bool) -> None:
        """Until nothing is left to do."""
        try:
            self._take_over()
            self._read_again()
            while True:
                self._collect()
                self._check_hope()
                more = self._fill()
                if detach:
                    self._leave()
                    return
                if not self.jobs and not more:
                    self._check_hope(at_the_end=True)
                    return
                self.watch.tick()
                self._beat()
                time.sleep(self.runner.pause)
        except KeyboardInterrupt:
            self._interrupted()
            raise

    def _take_over(self) -> None:
        """The runs that a driver submitted, or was about to submit, which is there no more."""
        states = (RunState.SUBMITTED, RunState.RUNNING, RunState.CANCELLED)
        gone: dict[str, bool] = {}
        for run in self.experiment.runs(*states):
            worker = run.worker or ""
            if worker not in gone:
                gone[worker] = is_gone(worker, self.experiment, self.folder)
        left = [run for run in self.experiment.runs(*states) if gone.get(run.worker or "", False)]
        known = self.runner.attach({r.number: Path(r.output) for r in left if r.output is not None})
        own = [run for run in left if run.state is not RunState.CANCELLED]
        for run in left:
            if run.number in known:
                self.jobs[run.number] = known[run.number]
                self.states[run.number] = run.state
        self.experiment.change(
            [RunChange(number=r.number, state=r.state, worker=self.worker) for r in own]
        )
        self._submit([run for run in own if run.number not in known])
        count = sum(run.number in known for run in own)
        if count:
            self.watch.note(f"{count} run{'s' if count != 1 else ''} of before: collected")

    def _read_again(self) -> None:
        """Results of runs that had failed because the plan said otherwise how to read them."""
        failed = [r for r in self.experiment.runs(RunState.FAILED) if r.output is not None]
        changes = []
        for run in failed:
            folder = Path(run.output or "")
            status = result_of(folder)
            if status is None or status.state is not RunState.DONE:
                continue
            change = self._read(run, folder, status.seconds)
            if change.state is RunState.DONE:
                changes.append(change.model_copy(update={"read_again": True}))
        self._tell(changes)

    def _read(self, run: ExperimentRun, folder: Path, seconds: float | None) -> RunChange:
        """The end of a run whose command ended well, by what it printed."""
        plan, failed, outcomes = self.experiment.plan, None, {}
        try:
            outcomes = read_outcomes(plan.read, folder, seconds, self.classes)
        except DataProblem as problem:
            failed = problem.message
        return ended(run, outcomes, self.experiment.objective, failed=failed)

    def _beat(self) -> None:
        """Tell other machines now and then that this driver is there."""
        if time.monotonic() - self.heard > BEAT:
            self.experiment.store.heartbeat(self.experiment.name, self.worker)
            self.heard = time.monotonic()

    def _collect(self) -> None:
        """Tell the store what became of the jobs."""
        numbers = list(self.jobs)
        self._cancel_unwanted(numbers)
        found = self.runner.poll([self.jobs[number] for number in numbers])
        changes = []
        for number, status in zip(numbers, found, strict=True):
            if status.state is not self.states.get(number) or status.state.ended:
                changes.append(self._change(number, status))
        self._tell(changes)

    def _cancel_unwanted(self, numbers: Sequence[int]) -> None:
        """End the jobs of runs that a person cancelled meanwhile."""
        if not numbers:
            return
        over = {run.number for run in self.experiment.runs(RunState.CANCELLED)}
        fresh = [number for number in numbers if number in over - self.unwanted]
        if fresh:
            self.runner.cancel([self.jobs[number] for number in fresh])
            self.unwanted.update(fresh)

    def _tell(self, changes: Sequence[RunChange]) -> None:
        if not changes:
            return
        for change, new in zip(changes, self.experiment.change(changes), strict=True):
            self.states[change.number] = change.state
            if change.state.ended or change.state is RunState.SUGGESTED:
                self.jobs.pop(change.number, None)
                self.nothing_more = False
            if not new:
                continue
            self.failed += change.state is RunState.FAILED
            self.any_done |= change.state is RunState.DONE
            self.watch.changed(self.experiment.run(change.number))

    def _change(self, number: int, status: JobStatus) -> RunChange:
        """What a job's status means for its run."""
        job = self.jobs[number]
        run = self.experiment.run(number)
        if run.output not in (None, str(job.folder)):
            # Another driver makes it again: what became of this attempt no longer matters.
            return RunChange(number=number, state=run.state)
        facts = {"job": job.id, "seconds": status.seconds, "output": str(job.folder)}
        if status.state is RunState.DONE:
            return self._read(run, job.folder, status.seconds).model_copy(update=facts)
        # A job here is ended by whoever drives: it is made again, unless its run is cancelled.
        stopped = status.state is RunState.CANCELLED and self.runner.name == "local"
        if stopped or (status.lost and self._attempts(number) < _ATTEMPTS):
            return RunChange(number=number, state=RunState.SUGGESTED, reason=status.reason)
        reason = status.reason if status.state.ended else ""
        return RunChange(number=number, state=status.state, reason=reason, **facts)

    def _fill(self) -> bool:
        """Submit as many runs as there is room for; whether there are more to come."""
        room = min(self.runner.slots, self.experiment.at_once()) - len(self.jobs)
        if room <= 0:
            return True
        if self.nothing_more:  # asking the models would only disturb what is measured
            runs = self.experiment.store.claim(self.experiment.name, room, self.worker)
        else:
            runs = self.experiment.next(room, worker=self.worker)
            self.nothing_more = len(runs) < room
        self._submit(runs)
        return bool(runs)

    def _submit(self, runs: Sequence[ExperimentRun]) -> None:
        """Hand runs to the runner; before that the store knows in which folder each is made."""
        if not runs:
            return
        launches = self._possible([self._launch(run) for run in runs])
        changes = [
            RunChange(
                number=one.number,
                state=RunState.SUBMITTED,
                worker=self.worker,
                output=str(one.folder),
            )
            for one in launches
        ]
        taken = self.experiment.change(changes)
        # What was cancelled meanwhile is not begun.
        launches = [one for one, ours in zip(launches, taken, strict=True) if ours]
        if not launches:
            return
        jobs = self.runner.submit(launches)
        self.experiment.change(
            [RunChange(number=j.number, state=RunState.SUBMITTED, job=j.id) for j in jobs]
        )
        claimed = {run.number: run for run in runs}
        for job in jobs:
            self.jobs[job.number] = job
            self.states[job.number] = RunState.SUBMITTED
            self.watch.changed(claimed[job.number])

    def _possible(self, launches: Sequence[Launch]) -> list[Launch]:
        """Those that can be made here; of the others it is told why they cannot."""
        fine, changes = [], []
        for launch in launches:
            try:
                self.runner.check(launch)
            except CompassError as problem:
                impossible = RunState.INFEASIBLE
                why = problem.message
                changes.append(RunChange(number=launch.number, state=impossible, reason=why))
            else:
                fine.append(launch)
        self._tell(changes)
        return fine

    def _launch(self, run: ExperimentRun) -> Launch:
        folder = Path(run.output) if run.output is not None else self._new_folder(run.number)
        return launch_of(self.experiment, self.template, run.config, run.number, folder)

    def _new_folder(self, number: int) -> Path:
        return self.folder / f"{number:06d}-{self._attempts(number) + 1}"

    def _attempts(self, number: int) -> int:
        """How often a run was begun: it has a folder for each time."""
        return sum(1 for _ in self.folder.glob(f"{number:06d}-*"))

    def _check_hope(self, *, at_the_end: bool = False) -> None:
        """Stop where every run fails: rather the command or the reading is wrong."""
        if self.any_done or self.failed < (1 if at_the_end else _HOPELESS):
            return
        failed = self.experiment.runs(RunState.FAILED)
        own = [run for run in failed if run.origin is not RunOrigin.HISTORY]
        last = _most_usual(own)
        count = f"{self.failed} run{'s' if self.failed != 1 else ''}"
        raise ExperimentProblem(
            f"{count} failed and none gave a result: {last.reason}",
            hint=f"look at {last.output}; mend the command or --read, and go on: "
            "what was printed is read again",
        )

    def _leave(self) -> None:
        count = len(self.jobs)
        self.watch.note(
            f"{count} run{'s' if count != 1 else ''} submitted; the same command collects them"
        )

    def _interrupted(self) -> None:
        """What is being made here is ended and made again next time; elsewhere it goes on."""
        if self.runner.name != "local" or not self.jobs:
            if self.jobs:
                self._leave()
            return
        self.runner.cancel(list(self.jobs.values()))
        self.experiment.change(
            [
                RunChange(number=number, state=RunState.SUGGESTED, reason="interrupted")
                for number in self.jobs
            ]
        )
        self.watch.note("interrupted; the same command goes on")


def _most_usual(failed: Sequence[ExperimentRun]) -> ExperimentRun:
    """The last of the failed runs that failed for the reason that most of them have."""
    counts = Counter(run.reason for run in failed)
    return max(failed, key=lambda run: (counts[run.reason], run.number))


def runs_folder(experiment: Experiment) -> Path:
    """Where the folders of an experiment's runs are: beside its file, or here for a database."""
    place = experiment.place
    if is_database(place):
        # Experiments of one name in two databases are not the same.
        mark = blake2b(without_password(place).encode(), digest_size=4).hexdigest()
        return Path.cwd() / f"{experiment.name}-{mark}.runs"
    path = Path(place).resolve()
    return path.with_name(path.name.removesuffix(SUFFIX) + ".runs") / experiment.name
