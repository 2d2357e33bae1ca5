"""What is known of a machine, and what is said about an application on other machines."""

from pydantic import Field

from compass.domain.base import Input, Noun, Real
from compass.domain.label import Label


class Peaks(Input):
    """What a machine can do at best."""

    flops: Real | None = Field(None, gt=0, description="floating point operations per second")
    bandwidth: Real | None = Field(None, gt=0, description="bytes per second from memory")


class MachineForecast(Noun):
    """One run of an application on one machine."""

    machine: str = Field(description="the machine")
    ratio: float | None = Field(
        None, description="runtime there / runtime on the source; below 1 is faster; null: not told"
    )
    low: float | None = Field(None, description="lower end of the interval")
    high: float | None = Field(None, description="upper end of the interval")
    runtime: float | None = Field(None, description="expected runtime")
    cost: float | None = Field(None, description="runtime x the price of the machine")
    energy: float | None = Field(None, description="runtime x the power of the machine")
    fastest: float | None = Field(None, description="chance to be the fastest machine")
    measured: bool = Field(False, description="it was run there: nothing is predicted")
    label: Label = Field(description="how far this can be relied on")
    reason: str = Field(description="why, in a sentence")
    applications: int = Field(0, description="applications that were run on both machines")


class PastPair(Noun):
    """A past run on the source that is like the asked one, and its ratios."""

    application: str = Field(description="the application")
    configuration: dict[str, float] = Field(description="its input and configuration")
    distance: float = Field(description="of the profiles, in standard deviations per column")
    ratios: dict[str, float] = Field(description="measured runtime ratios by machine")
    rows: tuple[int, ...] = Field((), description="rows of the table, on the source machine")


class NextRun(Noun):
    """A single run that would say more about the order of the machines."""

    machine: str = Field(description="where to run it")
    doubt: float = Field(description="share of machine pairs that are then expected to be wrong")


class LineForecast(Noun):
    """One input and configuration of an application on all machines, fastest first."""

    application: str = Field(description="the application")
    configuration: dict[str, float] = Field(description="input and configuration")
    source_runtime: float | None = Field(description="runtime on the source machine")
    machines: tuple[MachineForecast, ...] = Field(description="fastest first")
    order_chance: float = Field(description="chance that the order is exactly this")
    doubt: float = Field(description="share of machine pairs that are expected to be wrong")
    run_next: tuple[NextRun, ...] = Field((), description="runs that would settle the order")
    alike: tuple[PastPair, ...] = Field((), description="past runs with the most alike profiles")


class PlatformAnswer(Noun):
    """What is said about an application, seen from one machine."""

    source: str = Field(description="the machine that it was measured on")
    level: float = Field(description="share of runs that the intervals hold")
    lines: tuple[LineForecast, ...] = Field(description="each input and configuration")
    members: tuple[str, ...] = Field(description="models whose median is served")
    error: float = Field(description="typical factor by which held-out applications were missed")
    notes: tuple[str, ...] = Field((), description="what to know about the answer")


class ApplicationRuns(Noun):
    """An application with the machines that it was run on."""

    application: str = Field(description="the application")
    lines: int = Field(description="inputs and configurations")
    machines: dict[str, int] = Field(description="how many of them were run on each machine")


class MachinesView(Noun):
    """What a table tells of runs on several machines, and by which columns."""

    machine: str = Field(description="column that names the machine")
    application: str = Field(description="column that names the application")
    runtime: str = Field(description="column that says how long a run took")
    unit: str | None = Field(None, description="of the runtime")
    throughput: bool = Field(False, description="it holds work per second")
    configuration: tuple[str, ...] = Field(description="columns that are equal in compared runs")
    counters: tuple[str, ...] = Field(description="columns of counters that tell runs apart")
    machines: tuple[str, ...] = Field(description="the machines")
    applications: tuple[ApplicationRuns, ...] = Field(description="by name")
    prices: dict[str, float] = Field(description="of machines, as the study states them")
    power: dict[str, float] = Field(description="of machines, as the study states it")
