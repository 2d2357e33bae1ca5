"""Which machine, in which order, how sure: what a dataset's applications do on its machines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from compass.domain.errors import DataProblem, unknown
from compass.domain.machines import ApplicationRuns, MachinesView, PlatformAnswer
from compass.domain.space import Number
from compass.platforms.ask import AskOptions, answered
from compass.platforms.intervals import COVER
from compass.platforms.predictor import Progress

if TYPE_CHECKING:
    from compass.engine.dataset import Dataset
    from compass.engine.machines import MachineRuns

MOST_LINES = 60  # inputs and configurations that are forecast at once


@dataclass(frozen=True)
class ForecastOptions:
    """What else is known of the machines; what is not given is as the study has it."""

    machines: tuple[str, ...] = ()  # only these and the source; empty: all
    prices: Mapping[str, float] = field(default_factory=dict)
    power: Mapping[str, float] = field(default_factory=dict)
    level: float = COVER  # share of runs that the intervals hold
    first: int = 0  # of the inputs and configurations; `MOST_LINES` of them are told
    seed: int = 7


def machines_view(data: "Dataset") -> MachinesView:
    """What a dataset tells of runs on several machines."""
    known = _known(data)
    runs, columns, choice = known.runs, known.columns, known.choice
    ran = np.isfinite(runs.log_runtime)
    parameter = data.prepared.space[columns.runtime]
    applications = []
    for name in sorted(set(runs.applications.tolist())):
        own = ran[runs.applications == name]
        counts = zip(runs.machines, own.sum(axis=0).tolist(), strict=True)
        on = {machine: count for machine, count in counts if count}
        applications.append(ApplicationRuns(application=name, lines=len(own), machines=on))
    return MachinesView(
        machine=columns.machine,
        application=columns.application,
        runtime=columns.runtime,
        unit=parameter.unit if isinstance(parameter, Number) else None,
        throughput=columns.throughput,
        configuration=columns.configuration,
        counters=columns.counters,
        machines=runs.machines,
        applications=tuple(applications),
        prices=choice.prices,
        power=choice.power,
    )


def machine_forecast(
    data: "Dataset",
    application: str,
    source: str,
    options: ForecastOptions | None = None,
    tell: Progress | None = None,
) -> PlatformAnswer:
    """What an application that was run on `source` does on every machine, and in which order."""
    options = ForecastOptions() if options is None else options
    known = _known(data)
    runs, choice = known.runs, known.choice
    every = (*runs.machines, *choice.peaks)
    for machine in (*options.machines, *options.prices, *options.power):
        if machine not in every:
            raise unknown("machine", machine, every)
    ran = runs.of(application)
    own = ran.ran_on(source)
    if not len(own):
        on = [name for name in runs.machines if len(ran.ran_on(name))]
        raise DataProblem(
            f"{application} was not run on {source}", hint=f"it was run on {', '.join(on)}"
        )
    model = known.model(source, application, options.level, options.seed, tell or _silent)
    prices, power = (
        {machine: each for machine, each in {**stated, **given}.items() if machine in every}
        for stated, given in ((choice.prices, options.prices), (choice.power, options.power))
    )
    asked = AskOptions(
        machines=options.machines,
        prices=prices,
        power=power,
        peaks=choice.peaks,
        cover=options.level,
        seed=options.seed,
    )
    lines = range(options.first, min(options.first + MOST_LINES, len(own)))
    return answered(model, own, asked, lines)


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody how far the learning is."""


def _known(data: "Dataset") -> "MachineRuns":
    known = data.machines
    if known is None:
        raise DataProblem(
            "this table does not tell of one application on several machines",
            hint="it needs a column of labels called machine (or cluster, system, gpu), one called "
            "app (or kernel, benchmark), and an outcome called runtime (or time, seconds)",
        )
    return known
