"""What jobs asked for against what they used: a report for those who run a cluster."""

from pydantic import Field

from compass.domain.base import Noun


class UsageShare(Noun):
    """One group of jobs. Shares are of what was reserved; None: nothing tells."""

    name: str
    jobs: int
    core_hours: float = Field(description="cores that were given, times the time they were kept")
    cores_busy: float | None = Field(description="share of the core-hours that were busy")
    memory_used: float | None = Field(description="share of the GB-hours asked for that were used")
    time_used: float | None = Field(
        description="share of the limits that was needed, by core-hours"
    )
    memory_gb_hours: float = Field(description="GB-hours asked for and not used")
    timeouts: int
    out_of_memory: int


class UsageWeek(Noun):
    """A week of the trend, by the day that it begins."""

    begins: str
    jobs: int
    cores_busy: float | None
    memory_used: float | None
    time_used: float | None


class UsageChange(Noun):
    """A change of requests that would free much."""

    user: str
    application: str | None
    jobs: int
    directives: tuple[str, ...]
    core_hours: float = Field(
        description="of limits that is reserved and not used, over these jobs"
    )
    gb_hours: float
    why: str
    label: str


class UsageReport(Noun):
    """Requested against used, over all jobs and by group."""

    whole: UsageShare
    first: str | None
    last: str | None
    users: tuple[UsageShare, ...]
    applications: tuple[UsageShare, ...]
    partitions: tuple[UsageShare, ...]
    weeks: tuple[UsageWeek, ...]
    changes: tuple[UsageChange, ...] = Field(description="those that would free most, first")
    remarks: tuple[str, ...] = ()
