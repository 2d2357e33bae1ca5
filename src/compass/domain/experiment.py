"""An experiment: runs that are chosen, made and told until a budget is spent."""

from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from typing import ClassVar, Self

from pydantic import Field, model_validator

from compass.domain.answer import Label, Prediction
from compass.domain.base import Config, Input, Noun, Real, Whole
from compass.domain.errors import StudyProblem
from compass.domain.front import Front
from compass.domain.goal import Goal
from compass.domain.study import Study


class RunState(StrEnum):
    """How far a run of an experiment has come."""

    SUGGESTED = "suggested"  # to be made
    SUBMITTED = "submitted"  # somebody makes it; it has not begun
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # it was tried and gave no result
    INFEASIBLE = "infeasible"  # it cannot be tried: a rule or the machine forbids it
    CANCELLED = "cancelled"  # nobody waits for it any more

    @property
    def ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self in (self.DONE, self.FAILED, self.INFEASIBLE, self.CANCELLED)

    @property
    def pending(self) -> bool:
        """Whether its result is still awaited."""
        return not self.ended


class RunOrigin(StrEnum):
    """Why a configuration is among the runs of an experiment."""

    START = "start"  # chosen to cover the space, before anything is known
    MODEL = "model"
    PERSON = "person"
    HISTORY = "history"  # measured before the experiment began, and attached to it


class ReadFrom(StrEnum):
    """What of a text an outcome is; the text is what the command prints, or a file it writes."""

    PATTERN = "pattern"  # the first group of a regular expression, in the last line that it fits
    JSON = "json"  # a path such as `timing.total` in the last JSON object
    LINE = "line"  # the last line that is not empty
    SECONDS = "seconds"  # of no text: wall-clock seconds of the command


class OutcomeReading(Input):
    """How one outcome is read from a run."""

    problem: ClassVar[type[StudyProblem]] = StudyProblem

    source: ReadFrom = ReadFrom.PATTERN
    text: str = Field("", description="the pattern, or the path inside the JSON")
    file: str | None = Field(
        None, description="its path inside the run's own folder; None: what the command prints"
    )
    scale: Real = Field(1.0, description="what the number is multiplied by")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs_text = self.source in (ReadFrom.PATTERN, ReadFrom.JSON)
        if needs_text and not self.text:
            raise ValueError(f"an outcome read by {self.source.value} needs to say which")
        if not needs_text and self.text:
            raise ValueError(f"an outcome read by {self.source.value} needs no text")
        if self.source is ReadFrom.SECONDS and self.file is not None:
            raise ValueError("seconds are measured, not read from a file")
        if self.file is not None:
            path = PurePosixPath(self.file)
            if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in self.file:
                raise ValueError("the file of an outcome is inside the folder of the run")
        if self.scale == 0:
            raise ValueError("an outcome times 0 says nothing")
        return self


class ExperimentPlan(Input):
    """What is tried, what for, and how: everything that stays the same during an experiment."""

    problem: ClassVar[type[StudyProblem]] = StudyProblem

    study: Study = Field(description="columns with roles and legal values, and the rules")
    goals: dict[str, Goal] = Field(description="what the outcomes should become")
    weights: dict[str, Real] = Field(
        default_factory=dict,
        description="how much each minimised or maximised outcome counts; without any, several are "
        "traded off",
    )
    reference: dict[str, Real] = Field(
        default_factory=dict,
        description="where several outcomes are traded off: from where on each counts; without "
        "one, a tenth behind the trade-offs measured so far",
    )
    fixed: Config = Field(
        default_factory=dict, description="values that all runs have: the input, the machine"
    )
    budget: Whole = Field(30, ge=1, description="runs in all, repeats counted")
    starts: Whole | None = Field(
        None,
        ge=1,
        description="runs that cover the space first; None: a quarter of the budget, 5 to 20",
    )
    repeats: Whole = Field(1, ge=1, description="times that each configuration is run")
    stop_below: Real = Field(
        0.001,
        ge=0,
        lt=1,
        description="stop where one more run is expected to gain less than this share; 0: never",
    )
    acquisition: str = Field(
        "expected-volume",
        description="where several outcomes are traded off: what chooses the runs "
        "(expected-volume; qlognehvi, qlognparego: BoTorch)",
    )
    seed: Whole = Field(0, ge=0)
    command: str | None = Field(
        None, description="what is run: {name} is a value of the configuration"
    )
    read: dict[str, OutcomeReading] = Field(
        default_factory=dict, description="how each outcome is read from a run"
    )
    runner: str = Field("local", description="where runs are made: local:slots=2, slurm:time=10")
    time_limit: Real | None = Field(None, gt=0, description="seconds after which a run is ended")

    @model_validator(mode="after")
    def _has_goals(self) -> Self:
        if not self.goals:
            raise ValueError("an experiment needs a goal, such as runtime: minimize")
        if not all(name.strip() for name in (*self.goals, *self.read)):
            raise ValueError("an outcome needs a name, such as runtime")
        return self


class NewRun(Noun):
    """A configuration that is to be run, with what was predicted of it."""

    config: Config
    repeat: int = Field(0, ge=0, lt=2**31, description="0: the first time; 1: once more, ...")
    origin: RunOrigin = RunOrigin.MODEL
    member: str = Field("", description="which model of the portfolio chose it")
    predicted: tuple[Prediction, ...] = ()
    widening: dict[str, float] = Field(
        default_factory=dict,
        description="of each predicted outcome, by how much the interval of the model was "
        "widened, going by how far earlier predictions were off",
    )
    failure: float | None = Field(None, description="how likely it fails, as predicted")
    improvement: float | None = Field(
        None, description="what it was expected to gain, as a share of the best so far"
    )
    label: Label | None = Field(None, description="how far the prediction can be relied on")
    model: str = Field("", description="what predicted it, and from how many runs")
    why: str = Field("", description="why it is worth running")


class MeasuredRun(NewRun):
    """A run that was made without the experiment having asked for it: history, or a person's."""

    origin: RunOrigin = RunOrigin.HISTORY
    state: RunState = RunState.DONE
    outcomes: Config = Field(default_factory=dict)
    reason: str = Field("", description="why it failed")
    seconds: float | None = Field(None, description="how long it took")

    @model_validator(mode="after")
    def _was_tried(self) -> Self:
        if self.state not in (RunState.DONE, RunState.FAILED):
            raise ValueError(f"a run that was made is done or failed, not {self.state.value}")
        return self


class ExperimentRun(NewRun):
    """One run of an experiment."""

    number: int = Field(description="within the experiment, counted from 1")
    key: str = Field(description="the same for the same configuration")
    state: RunState
    job: str | None = Field(None, description="how the machine that runs it calls it")
    worker: str | None = Field(None, description="who makes it")
    outcomes: Config = Field(default_factory=dict)
    reason: str = Field("", description="why it failed, cannot be tried or was cancelled")
    seconds: float | None = Field(None, description="how long it took")
    output: str | None = Field(None, description="where its output is kept")
    suggested_at: datetime
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    event: int = Field(description="id of the last event that is about it")


class RunChange(Noun):
    """What became of a run."""

    number: int = Field(ge=1, lt=2**31)
    state: RunState
    job: str | None = None
    worker: str | None = None
    outcomes: Config = Field(default_factory=dict)
    reason: str = ""
    seconds: float | None = None
    output: str | None = None
    read_again: bool = Field(
        False, description="what it printed was read again: a failed run may have a result now"
    )


class RunEvent(Noun):
    """Something that happened in an experiment; events are only ever added."""

    id: int = Field(description="ascending")
    at: datetime
    number: int | None = Field(None, description="the run; None: the experiment as a whole")
    state: RunState | None = None
    facts: dict[str, object] = Field(default_factory=dict, description="what else is known of it")


class ExperimentStatus(Noun):
    """How far an experiment has come."""

    name: str
    goals: dict[str, str] = Field(description="as text, by outcome")
    counts: dict[RunState, int] = Field(description="runs by state, history not counted")
    history: int = Field(0, description="past runs that were attached")
    used: int = Field(description="runs of the budget that were made or are awaited")
    budget: int
    best: ExperimentRun | None = Field(
        None,
        description="None: no run meets the goals yet; where outcomes are traded off, the most "
        "balanced trade-off",
    )
    front: Front | None = Field(
        None, description="the trade-offs that were measured, where outcomes are traded off"
    )
    stop: str | None = Field(None, description="why there are no more runs to make; None: go on")
    improvement: float | None = Field(
        None,
        description="what one more run is expected to gain, as a share of the best, or of the "
        "hypervolume where outcomes are traded off",
    )
    left: int | None = Field(
        None, description="legal configurations never run; None: too many to list"
    )


class LearningPoint(Noun):
    """The best so far after one more run; the hypervolume where outcomes are traded off."""

    runs: int = Field(description="runs that had ended")
    number: int = Field(description="the run that ended last")
    best: float | None = Field(description="None: no run meets the goals yet")
    measured: float | None = Field(
        description="what that run gave; None: nothing, or several outcomes that are traded off"
    )
    failed: bool
    better: bool = Field(description="whether it is better than all before")


class LabelError(Noun):
    """How far predictions of one label were off when their runs came in."""

    label: Label | None = Field(description="None: predicted before labels could be told")
    runs: int
    mean_error: float = Field(description="mean absolute error, as a share of what was measured")
    median_error: float
    inside: float | None = Field(None, description="share of the runs inside their interval")


class ExperimentReport(Noun):
    """What an experiment found, and how good its predictions were."""

    status: ExperimentStatus
    title: str = Field(
        description="what the curve is of: an outcome, the hypervolume, or all goals together"
    )
    curve: tuple[LearningPoint, ...]
    errors: tuple[LabelError, ...]
    runs: tuple[ExperimentRun, ...] = Field(description="without the attached history")
