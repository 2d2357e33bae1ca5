"""Ask about an application on other machines: ratios, order, trust, and the run to make next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from compass.domain.answer import Label
from compass.domain.errors import DataProblem, unknown
from compass.domain.machines import (
    LineForecast,
    MachineForecast,
    NextRun,
    PastPair,
    Peaks,
    PlatformAnswer,
)
from compass.platforms.counters import counter_mapping
from compass.platforms.intervals import COVER, application_quantile
from compass.platforms.order import Order, doubt, ordered, run_next
from compass.platforms.pairs import Floats, MatchedRuns
from compass.platforms.peaks import peak_errors, peak_log_ratio
from compass.platforms.predictor import Forecast, PlatformModel, fit
from compass.platforms.support import Support

_ALIKE = 3  # past runs that are shown
_NEXT = 3


@dataclass(frozen=True)
class AskOptions:
    """What else is known, and which past runs count."""

    machines: tuple[str, ...] = ()  # only these; empty: all
    prices: Mapping[str, float] = field(default_factory=dict)  # per unit of the runtime
    power: Mapping[str, float] = field(default_factory=dict)
    peaks: Mapping[str, Peaks] = field(default_factory=dict)
    mapping: Path | None = None  # of counters
    cover: float = COVER  # share of runs that the intervals hold
    seed: int = 7


def ask(
    runs: MatchedRuns, application: str, source: str, options: AskOptions | None = None
) -> PlatformAnswer:
    """What an application does on all machines, from its runs on `source`.

    Its runs on other machines, where there are some, correct the rest.
    """
    options = AskOptions() if options is None else options
    for machine in (*options.machines, *options.prices, *options.power):
        if machine not in runs.machines and machine not in options.peaks:
            raise unknown("machine", machine, [*runs.machines, *options.peaks])
    own = runs.of(application)
    if not np.isfinite(own.log_runtime[:, own.place(source)]).any():
        raise DataProblem(
            f"{application} was not run on {source}",
            hint="name a machine that it was run on as the source",
        )
    own = own.ran_on(source)
    model = fit(
        runs.others(application),
        source,
        mapping=counter_mapping(options.mapping),
        cover=options.cover,
        seed=options.seed,
    )
    return answered(model, own, options)


def answered(
    model: PlatformModel,
    own: MatchedRuns,
    options: AskOptions,
    some: Sequence[int] | None = None,
) -> PlatformAnswer:
    """The answer of a model about the lines of one application; `some`: only these of them."""
    forecast, support = model.predict(own), Support(model)
    distance = support.distance(own)
    lines = tuple(
        _line(model, own, forecast, support, float(distance[line]), line, options)
        for line in (range(len(own)) if some is None else some)
    )
    return PlatformAnswer(
        source=model.source,
        level=model.cover,
        lines=lines,
        members=model.chosen.members,
        error=float(np.exp(np.nanmean(np.abs(model.held_out)))),
        notes=_notes(model, forecast),
    )


def _line(
    model: PlatformModel,
    own: MatchedRuns,
    forecast: Forecast,
    support: Support,
    distance: float,
    line: int,
    options: AskOptions,
) -> LineForecast:
    wanted = _wanted(model, options)
    log_ratio = np.where(wanted, forecast.log_ratio[line], np.nan)
    covariance = forecast.covariance[line]
    order_by = np.where(np.isfinite(log_ratio), forecast.order_by[line], np.nan)
    order = ordered(order_by, covariance, options.seed)
    source_log = float(own.log_runtime[line, model.place])
    told = [
        _machine(model, forecast, support, order, distance, line, place, source_log, options)
        for place in order.places
    ]
    unordered = [place for place in np.flatnonzero(wanted) if place not in order.places]
    told += [_unknown(model.machines[place], model, source_log, options) for place in unordered]
    told += [
        _unknown(machine, model, source_log, options)
        for machine in options.peaks
        if machine not in model.machines and (not options.machines or machine in options.machines)
    ]
    known = np.isfinite(log_ratio)
    return LineForecast(
        application=str(own.applications[line]),
        configuration=_configuration(own, line),
        source_runtime=float(np.exp(source_log)),
        machines=tuple(told),
        order_chance=order.chance,
        doubt=doubt(order_by[known], covariance[np.ix_(known, known)]),
        run_next=tuple(
            NextRun(machine=model.machines[place], doubt=left)
            for place, left in run_next(order_by, covariance, forecast.measured[line])[:_NEXT]
        ),
        alike=_alike(model, support, own, line),
    )


def _machine(
    model: PlatformModel,
    forecast: Forecast,
    support: Support,
    order: Order,
    distance: float,
    line: int,
    place: int,
    source_log: float,
    options: AskOptions,
) -> MachineForecast:
    name = model.machines[place]
    ratio = float(np.exp(forecast.log_ratio[line, place]))
    factor = float(forecast.factor[line, place])
    label, reason = support.judged(distance, place, factor)
    measured = bool(forecast.measured[line, place])
    if measured:
        label, reason = Label.TRUSTED, "measured"
    runtime = ratio * float(np.exp(source_log))
    served = label != Label.UNSUPPORTED
    return MachineForecast(
        machine=name,
        ratio=ratio if served else None,
        low=ratio / factor,
        high=ratio * factor,
        runtime=runtime if served else None,
        **(_priced(name, runtime, options) if served else {}),
        fastest=float(order.fastest[place]),
        measured=measured,
        label=label,
        reason=reason,
        applications=support.applications_on(place),
    )


def _priced(machine: str, runtime: float, options: AskOptions) -> dict[str, float]:
    """What a run costs there, and how much energy it takes, where that is known."""
    given = {"cost": options.prices.get(machine), "energy": options.power.get(machine)}
    return {name: runtime * each for name, each in given.items() if each is not None}


def _unknown(
    machine: str, model: PlatformModel, source_log: float, options: AskOptions
) -> MachineForecast:
    """A machine without any run in common with the source: the ratio of the peaks, if known."""
    peaks = options.peaks
    log_ratio = float("nan")
    if model.source in peaks and machine in peaks:
        log_ratio = peak_log_ratio(peaks[model.source], peaks[machine])
    if not np.isfinite(log_ratio):
        return MachineForecast(
            machine=machine,
            label=Label.UNSUPPORTED,
            reason=f"no application is known on {machine} and on {model.source}: run one there, or "
            "give the peaks of both",
        )
    errors = np.abs(peak_errors(model.lines, model.source, peaks))
    half = application_quantile(errors, model.lines.applications, model.cover)
    ratio = float(np.exp(log_ratio))
    bounds = (
        {} if not np.isfinite(half) else {"low": ratio / np.exp(half), "high": ratio * np.exp(half)}
    )
    runtime = ratio * float(np.exp(source_log))
    return MachineForecast(
        machine=machine,
        ratio=ratio,
        **bounds,
        runtime=runtime,
        **_priced(machine, runtime, options),
        label=Label.UNSUPPORTED,
        reason="the ratio of the peaks: no run is known there",
    )


def _wanted(
    model: PlatformModel, options: AskOptions
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    names = model.machines
    wanted = [not options.machines or name in options.machines for name in names]
    wanted[model.place] = True
    return np.array(wanted)


def _alike(
    model: PlatformModel, support: Support, own: MatchedRuns, line: int
) -> tuple[PastPair, ...]:
    past, found = model.lines, []
    log_ratio = past.log_ratio(model.source)
    for at, distance in support.nearest(own, line, _ALIKE):
        ratios = {
            name: float(np.exp(log_ratio[at, place]))
            for place, name in enumerate(past.machines)
            if np.isfinite(log_ratio[at, place]) and place != model.place
        }
        found.append(
            PastPair(
                application=str(past.applications[at]),
                configuration=_configuration(past, at),
                distance=distance,
                ratios=ratios,
                rows=past.rows[at].get(model.place, ()) if past.rows else (),
            )
        )
    return tuple(found)


def _configuration(runs: MatchedRuns, line: int) -> dict[str, float]:
    values: Floats = runs.configuration[line]
    pairs = zip(runs.configuration_names, values.tolist(), strict=True)
    return {name: value for name, value in pairs if np.isfinite(value)}


def _notes(model: PlatformModel, forecast: Forecast) -> tuple[str, ...]:
    found: list[str] = []
    count = len(set(model.lines.applications.tolist()))
    if model.chosen.members == ("mean",):
        found.append(
            "the geometric mean of each machine is served: on held-out applications no profile "
            "told more"
        )
    names = model.lines.counter_names
    ignored = model.mapping.unknown(names)
    if names and len(ignored) == len(names):
        found.append("no counter is known by name: they are used as they are, not as ratios")
    corrected = [
        name
        for place, name in enumerate(model.machines)
        if place != model.place and forecast.measured[:, place].any()
    ]
    if corrected:
        found.append(f"runs on {', '.join(corrected)} correct what is predicted")
    if count < 10:
        found.append(f"{count} applications were learnt from: the intervals rest on few")
    return tuple(found)
