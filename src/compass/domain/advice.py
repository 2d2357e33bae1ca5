"""Advice for a job that is about to be submitted: what to ask the scheduler for, and why."""

from pydantic import Field

from compass.domain.answer import Label
from compass.domain.base import Noun


class JobRequest(Noun):
    """What a job asks for. Memory is in bytes on each node, the limit in seconds."""

    user: str | None = None
    name: str | None = Field(None, description="of the job, as --job-name has it")
    partition: str | None = None
    limit: float | None = Field(None, gt=0, allow_inf_nan=False)
    memory: float | None = Field(None, gt=0, allow_inf_nan=False)
    cores: float | None = Field(None, gt=0, allow_inf_nan=False)
    nodes: float | None = Field(None, gt=0, allow_inf_nan=False)
    gpus: float | None = Field(None, ge=0, allow_inf_nan=False)
    memory_per_cpu: bool = Field(False, description="memory is asked for as --mem-per-cpu")
    exclusive: bool = Field(False, description="whole nodes are asked for")


class PastJob(Noun):
    """A past job that an advice rests on."""

    id: str
    state: str | None
    elapsed: float | None = Field(None, description="seconds")
    memory: float | None = Field(None, description="bytes used on a node; None: not known")


class RequestEdit(Noun):
    """One option of sbatch that should be another, or be given."""

    option: str = Field(description="as sbatch has it, without the dashes: mem, time")
    old: str | None
    new: str
    risk: float | None = Field(None, description="chance that a job needs more")
    risk_before: float | None = Field(None, description="the same chance for what was asked")
    why: str
    label: Label


class KeptOption(Noun):
    """One option of sbatch for which nothing else is advised, and why."""

    option: str
    why: str


class PredictedWait(Noun):
    """How long a request would be in the queue, in seconds."""

    of: str = Field(description="which request: as asked, as advised, half the cores ...")
    cores: float | None
    nodes: float | None
    limit: float | None
    wait: float = Field(description="as likely longer as shorter")
    low: float
    high: float
    level: float = Field(description="how many of such waits are between low and high")
    may_run_longer: float | None = Field(
        description="seconds that it may run longer than as asked and be done as early, by the "
        "predicted waits; negative: it has to run shorter"
    )
    label: Label
    reason: str


class WaitAdvice(Noun):
    """When the next job would start; without waits, `missing` says why."""

    at: str | None = Field(None, description="of the last submission that the accounting tells")
    waits: tuple[PredictedWait, ...] = ()
    missing: str | None = None


class Advice(Noun):
    """What the next job of this kind should ask for."""

    about: str = Field(description="the job, script or request that was asked about")
    request: JobRequest
    application: str | None
    edits: tuple[RequestEdit, ...]
    kept: tuple[KeptOption, ...]
    label: Label
    reason: str
    evidence: tuple[PastJob, ...] = Field(description="similar past jobs, the latest first")
    similar: int = Field(description="how many similar past jobs there are")
    saved_core_hours: float = Field(description="of a job: reserved and not used; less is negative")
    saved_gb_hours: float
    after_failure: bool = Field(False, description="the next attempt of a job that ran out of it")
    remarks: tuple[str, ...] = ()
    start: WaitAdvice | None = Field(None, description="when it would start; None: not asked")

    @property
    def directives(self) -> tuple[str, ...]:
        """The lines to paste into the job script."""
        return tuple(f"#SBATCH --{edit.option}={edit.new}" for edit in self.edits)


class AdviceList(Noun):
    """One advice for each kind of job."""

    advice: tuple[Advice, ...]
