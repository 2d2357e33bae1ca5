"""Answers about machines: a run on another one, or which one to run on, with the run to make next.

Decision 0055 (docs/decisions).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from compass.acquire.base import proposal
from compass.domain.answer import (
    Answer,
    Evidence,
    Label,
    ModelCard,
    Moved,
    Prediction,
    Proposal,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.base import Config
from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.goal import Within
from compass.domain.machines import LineForecast
from compass.domain.query import Kind
from compass.domain.space import Number
from compass.engine.answer import WantedRuns
from compass.engine.machines import MachineQuestion, encoded, on_machines
from compass.engine.scope import Scope
from compass.generate.loss import proximity
from compass.language import format_query, format_value, listed
from compass.platforms.ask import AskOptions, answered
from compass.platforms.order import ordered
from compass.platforms.pairs import Floats
from compass.platforms.predictor import Forecast, PlatformModel
from compass.platforms.support import Support
from compass.prepare.encode import Encoder
from compass.settings import Settings
from compass.trust.words import labelled

_EVIDENCE = 3  # past lines that are cited
_SETTLED = 0.005  # share of pairs of machines in the wrong order that nobody runs anything for
_WORST = [Label.TRUSTED, Label.CAUTION, Label.UNSUPPORTED]


@dataclass(frozen=True)
class _Cell:
    """A line on a machine, with what it is worth."""

    line: int
    machine: int
    log_ratio: float
    rank: float  # what candidates are ordered by: log runtime as the ranker has it
    fastest: float  # chance to be the fastest of all candidates


@dataclass(frozen=True, eq=False)
class _Answering:
    """A question about machines with its model and its forecast."""

    question: MachineQuestion
    scope: Scope
    model: PlatformModel
    settings: Settings

    @cached_property
    def forecast(self) -> Forecast:
        return self.model.predict(self.question.own)

    @cached_property
    def support(self) -> Support:
        return Support(self.model)

    @cached_property
    def distance(self) -> Floats:
        return self.support.distance(self.question.own)

    @cached_property
    def level_in_spreads(self) -> float:
        """Standard deviations of a normal distribution that the interval is wide, to each side."""
        return NormalDist().inv_cdf((1 + self.model.cover) / 2)

    def source_log(self, line: int) -> float:
        return float(self.question.own.log_runtime[line, self.model.place])

    def spread(self, line: int, machine: int) -> float:
        """Standard deviation of the log runtime, by the interval: errors have long tails."""
        return float(np.log(self.forecast.factor[line, machine]) / self.level_in_spreads)

    def value(self, log_runtime: float) -> float:
        """What the runtime column would hold."""
        sign = -1.0 if self.question.known.columns.throughput else 1.0
        return float(np.exp(sign * log_runtime))

    def of_table(self, machine: int) -> int:
        """A machine of the model as a machine of the question's lines."""
        return self.question.own.place(self.model.machines[machine])


def machine_answers(
    question: MachineQuestion,
    scope: Scope,
    model: PlatformModel,
    settings: Settings,
    provenance: Provenance,
    runs: WantedRuns,
    rest: Iterator[Answer] | None,
) -> Iterator[Answer]:
    """The answer; where other outcomes are asked for too, once per answer of `rest` about them."""
    answering = _Answering(question, scope, model, settings)
    cells = _cells(answering)
    if question.query.kind is Kind.WHAT_IF:
        answer = _what_if(answering, cells, provenance, runs)
    else:
        answer = _recommended(answering, cells, provenance, runs)
    if rest is None:
        yield answer
        return
    for other in rest:
        yield _merged(answer, other)


def _cells(a: _Answering) -> list[_Cell]:
    """Every legal line on every machine that something is known of, best first."""
    question, m = a.question, len(a.model.machines)
    mean, covariance = a.model.together(question.own, question.lines)
    source = np.array([a.source_log(int(line)) for line in question.lines])
    mean = mean + np.repeat(source, m)
    legal = question.legal[:, [a.of_table(machine) for machine in range(m)]].ravel()
    order = ordered(np.where(legal, mean, np.nan), covariance, a.settings.seed)
    return [
        _Cell(
            int(question.lines[at // m]),
            at % m,
            float(a.forecast.log_ratio[question.lines[at // m], at % m]),
            float(mean[at]),
            float(order.fastest[at]),
        )
        for at in order.places
    ]


def _what_if(
    a: _Answering, cells: Sequence[_Cell], provenance: Provenance, runs: WantedRuns
) -> Answer:
    question = a.question
    target = int(np.flatnonzero(question.legal[0])[0])
    name = question.own.machines[target]
    if not cells:
        nothing = f"Nothing is known of {name}: no application was run on it and {question.source}."
        return _answer(a, (), question.lines.tolist(), provenance, runs, no_answer=nothing)
    told, why = _suggestion(a, cells[0], None), None
    if told.trust.label is Label.UNSUPPORTED:
        why = _why(a, cells[0])
    return _answer(a, (told,), [cells[0].line], provenance, runs, no_answer=why)


def _recommended(
    a: _Answering, cells: Sequence[_Cell], provenance: Provenance, runs: WantedRuns
) -> Answer:
    goal = a.question.query.goals[a.question.known.columns.runtime]
    within = goal if isinstance(goal, Within) else None
    count = a.question.query.count or a.settings.count
    found = [_suggestion(a, cell, within) for cell in cells]
    if within is not None:
        found.sort(key=lambda one: -(one.outcomes[0].chance or 0.0))
    good = [s for s in found if s.trust.label is not Label.UNSUPPORTED and s.meets_goals]
    ideas = [s for s in found if s not in good]
    why = None
    if not good:
        chance = f" with a chance of {_wanted_chance(a):.0%}" if within is not None else ""
        supported = any(s.trust.label is not Label.UNSUPPORTED for s in found)
        why = (
            f"No machine meets the goal{chance}."
            if supported
            else "Of no machine enough is known; make the proposed run first."
        )
    lines = list(dict.fromkeys(cell.line for cell in cells[:count]))
    return _answer(a, good[:count], lines, provenance, runs, ideas=ideas[:count], no_answer=why)


def _wanted_chance(a: _Answering) -> float:
    asked = a.question.query.chance
    return a.settings.chance if asked is None else asked


def _suggestion(a: _Answering, cell: _Cell, goal: Within | None) -> Suggestion:
    question, scope = a.question, a.scope
    x = on_machines(question, scope, cell.line)[a.of_table(cell.machine)]
    space = scope.view.features
    config = _config(a, x)
    query = question.query
    start = None if question.start is None else encoded(question, scope, question.start)
    edits = () if start is None else _edits(a, start, x)
    shown = {*query.ask, *query.change, *(edit.name for edit in edits)}
    prediction, meets = _prediction(a, cell, goal)
    near = 0.0
    if start is not None:
        geometry, both = scope.view.geometry(query.weights), np.isfinite(x)
        near = float(
            proximity(np.where(both, x, 0)[None, :], np.where(both, start, 0), geometry)[0]
        )
    return Suggestion(
        config=config,
        settings={name: config[name] for name in space.names if name in shown},
        edits=edits,
        outcomes=(prediction,),
        distance=near,
        meets_goals=meets,
        trust=_trust(a, cell),
    )


def _config(a: _Answering, x: Floats) -> Config:
    """A configuration in words; an application that was never run has its own name."""
    return Encoder(a.scope.view.features).decode(x) | dict(a.question.new)


def _edits(a: _Answering, start: Floats, x: Floats) -> tuple[Moved, ...]:
    space = a.scope.view.features
    old, new = Encoder(space).decode(start), Encoder(space).decode(x)
    machine = a.question.known.columns.machine
    return tuple(
        Moved(
            name=parameter.name,
            old=old[parameter.name],
            new=new[parameter.name],
            unit=parameter.unit if isinstance(parameter, Number) else None,
            forced_by=None
            if parameter.name in a.question.query.change
            else f"what runs on {new[machine]} usually have",
        )
        for j, parameter in enumerate(space.parameters)
        if x[j] != start[j] and np.isfinite(x[j])
    )


def _prediction(a: _Answering, cell: _Cell, goal: Within | None) -> tuple[Prediction, bool]:
    """The runtime there, and whether it meets its goal."""
    name = a.question.known.columns.runtime
    parameter = a.scope.view.everything.space[name]
    log_runtime = a.source_log(cell.line) + cell.log_ratio
    factor = float(a.forecast.factor[cell.line, cell.machine])
    measured = bool(a.forecast.measured[cell.line, cell.machine])
    withheld = _doubt(a, cell) is not None and _label(a, cell) is Label.UNSUPPORTED
    ends = sorted(a.value(log_runtime + side * np.log(factor)) for side in (-1, 1))
    value = a.value(log_runtime)
    fields: dict[str, float | str | bool | None] = {}
    start = a.question.start
    if start is not None:
        before = a.value(a.source_log(start))
        fields = {"before": before, "observed": before}
        if not withheld:
            change = value - before
            fields |= {"change": change, "change_percent": 100 * change / before}
        fields |= {"change_low": ends[0] - before, "change_high": ends[1] - before}
    meets = True
    if goal is not None:
        chance = _chance(a, cell, log_runtime, goal)
        meets = chance >= _wanted_chance(a)
        fields |= {"chance": chance, "meets": meets, "wanted": _in_words(name, goal)}
    return (
        Prediction(
            name=name,
            value=None if withheld else value,
            unit=parameter.unit if isinstance(parameter, Number) else None,
            low=None if measured else ends[0],
            high=None if measured else ends[1],
            level=None if measured else a.model.cover,
            **fields,
        ),
        meets,
    )


def _chance(a: _Answering, cell: _Cell, log_runtime: float, goal: Within) -> float:
    """How likely a run meets a limit."""
    ends = [
        float("nan") if bound is None else float(np.log(max(bound, 1e-300)))
        for bound in (goal.low, goal.high)
    ]
    if a.question.known.columns.throughput:
        ends = [-end for end in reversed(ends)]
    low = -np.inf if np.isnan(ends[0]) else ends[0]
    high = np.inf if np.isnan(ends[1]) else ends[1]
    spread = a.spread(cell.line, cell.machine)
    if spread <= 0:
        return float(low <= log_runtime <= high)
    normal = NormalDist(log_runtime, spread)
    return normal.cdf(high) - normal.cdf(low)


def _in_words(name: str, goal: Within) -> str:
    if goal.low is None:
        return f"{name} <= {format_value(goal.high)}"
    if goal.high is None:
        return f"{name} >= {format_value(goal.low)}"
    return f"{format_value(goal.low)} <= {name} <= {format_value(goal.high)}"


def _doubt(a: _Answering, cell: _Cell) -> tuple[Doubt, str] | None:
    """What speaks most against a cell; nothing speaks against what was measured."""
    if bool(a.forecast.measured[cell.line, cell.machine]):
        return None
    factor = float(a.forecast.factor[cell.line, cell.machine])
    return a.support.doubt(float(a.distance[cell.line]), cell.machine, factor)


def _label(a: _Answering, cell: _Cell) -> Label:
    if bool(a.forecast.measured[cell.line, cell.machine]):
        return Label.TRUSTED
    factor = float(a.forecast.factor[cell.line, cell.machine])
    return a.support.judged(float(a.distance[cell.line]), cell.machine, factor)[0]


def _trust(a: _Answering, cell: _Cell) -> Trust:
    support, model, known = a.support, a.model, a.question.known
    distance = float(a.distance[cell.line])
    found, label = _doubt(a, cell), _label(a, cell)
    own = a.question.own
    rows = own.rows[cell.line].get(a.of_table(cell.machine), ())
    spreads = np.where(np.isfinite(model.held_out), model.errors.spread, np.nan)
    certain = spreads[np.isfinite(spreads)] < a.forecast.spread[cell.line, cell.machine]
    tau = float(support.usual[-1])
    doubts = () if found is None else (_about(found[0], known.columns.machine),)
    return Trust(
        label=label,
        measured=len(rows),
        doubts=doubts,
        ood=support.stranger_than(distance),
        uq=float(certain.mean()) if len(certain) else 0.0,
        support=support.within(own, cell.line, cell.machine, tau),
        tau=tau,
        evidence=_evidence(a, cell),
        reason=labelled(label, _why(a, cell)),
    )


def _why(a: _Answering, cell: _Cell) -> str:
    """What the label of a cell rests on."""
    support, model, own = a.support, a.model, a.question.own
    distance = float(a.distance[cell.line])
    factor = float(a.forecast.factor[cell.line, cell.machine])
    rows = own.rows[cell.line].get(a.of_table(cell.machine), ())
    if rows or a.forecast.measured[cell.line, cell.machine]:
        why = f"measured {len(rows)} times" if len(rows) > 1 else "measured"
    else:
        why = support.judged(distance, cell.machine, factor)[1]
        near = support.nearest(own, cell.line, _EVIDENCE)
        alike = dict.fromkeys(str(model.lines.applications[at]) for at, _ in near)
        why += f". The most alike profiles are those of {listed(list(alike))}"
    if a.question.query.kind is Kind.RECOMMEND:
        why += f". It is the fastest with a chance of {cell.fastest:.0%}"
    return f"{why}."


def _about(doubt: Doubt, machine: str) -> Doubt:
    """The doubt with the column that it is about, where it is about the machine."""
    about_machine = doubt.code in (DoubtCode.UNSEEN_VALUE, DoubtCode.NO_RUN_NEAR)
    return doubt.model_copy(update={"columns": (machine,)}) if about_machine else doubt


def _evidence(a: _Answering, cell: _Cell) -> tuple[Evidence, ...]:
    """The past runs with the most alike profiles, on the source and on the machine."""
    data, names = a.scope.view.everything, a.scope.view.names
    outcomes = (a.question.known.columns.runtime,)
    found = []
    for at, distance in a.support.nearest(a.question.own, cell.line, _EVIDENCE):
        rows = a.model.lines.rows[at]
        for machine in dict.fromkeys((a.model.place, cell.machine)):
            for row in rows.get(machine, ())[:1]:
                position = data.position(row)
                file, _ = data.table.part_of(row)
                found.append(
                    Evidence(
                        row=row,
                        file=file if len(data.table.parts) > 1 else None,
                        source=data.table.source_of(row),
                        distance=distance,
                        config=_decoded(a, names, position),
                        outcomes=_decoded(a, outcomes, position),
                    )
                )
    return tuple(found)


def _decoded(a: _Answering, names: Sequence[str], position: int) -> Config:
    data = a.scope.view.everything
    return Encoder(data.space.select(names)).decode(data.columns_of(names)[position])


def _answer(
    a: _Answering,
    suggestions: Sequence[Suggestion],
    lines: Sequence[int],
    provenance: Provenance,
    runs: WantedRuns,
    *,
    ideas: Sequence[Suggestion] = (),
    no_answer: str | None = None,
) -> Answer:
    question, query = a.question, a.question.query
    machines = answered(a.model, question.own, _options(a), lines)
    goals = query.goals.values()
    return Answer(
        query=query,
        text=format_query(query),
        suggestions=tuple(suggestions),
        ideas=tuple(ideas),
        baseline=_baseline(a),
        context=_context(a),
        chance=_wanted_chance(a) if any(isinstance(goal, Within) for goal in goals) else None,
        machines=machines,
        notes=(*question.notes, *machines.notes),
        no_answer=no_answer,
        exhausted=query.kind is Kind.RECOMMEND,
        run_next=_run_next(a, machines.lines[0], lines[0], suggestions, runs),
        models=(_card(a),),
        provenance=provenance,
    )


def _options(a: _Answering) -> AskOptions:
    """What else the study says of machines; only those that a recommendation may choose."""
    question, choice = a.question, a.question.known.choice
    legal = question.legal.any(axis=0)
    names = tuple(np.array(question.own.machines)[legal].tolist())
    known = {*question.own.machines, *choice.peaks}
    return AskOptions(
        machines=names if question.query.kind is Kind.RECOMMEND and not legal.all() else (),
        prices={name: price for name, price in choice.prices.items() if name in known},
        power={name: power for name, power in choice.power.items() if name in known},
        peaks=choice.peaks,
        seed=a.settings.seed,
    )


def _run_next(
    a: _Answering,
    forecast: LineForecast,
    line: int,
    suggestions: Sequence[Suggestion],
    runs: WantedRuns,
) -> tuple[Proposal, ...]:
    """The single runs that would settle most: of a what-if the run itself, else of the order."""
    question = a.question
    X = on_machines(question, a.scope, line)
    busy = runs.encoded(a.scope.view.features)
    doubt = f"{forecast.doubt:.0%} of the pairs of machines are expected to be in the wrong order"
    found: dict[str, str] = {}
    if question.query.kind is Kind.WHAT_IF:
        trusted = all(s.trust.label is Label.TRUSTED for s in suggestions) and suggestions
        if trusted and not runs.count:
            return ()
        target = question.own.machines[int(np.flatnonzero(question.legal[0])[0])]
        if target not in {one.machine for one in forecast.machines if one.measured}:
            found[target] = "it would be measured and not predicted"
    for one in forecast.run_next:
        why = f"{doubt}; a run on {one.machine} would leave {one.doubt:.0%}"
        if one.machine in found:
            why = f"{found[one.machine]}; {why}"
        if forecast.doubt > _SETTLED:
            found[one.machine] = why
    places = {name: question.own.place(name) for name in found}
    fresh = [n for n in found if not any((X[places[n]] == other).all() for other in busy)]
    return tuple(
        proposal(_config(a, X[places[name]]), found[name]) for name in fresh[: runs.count or 1]
    )


def _baseline(a: _Answering) -> Config | None:
    if a.question.start is None:
        return None
    config = _config(a, encoded(a.question, a.scope, a.question.start))
    return config | {a.question.known.columns.runtime: a.value(a.source_log(a.question.start))}


def _context(a: _Answering) -> str:
    """What the answer is about, and what it was learnt from."""
    question = a.question
    others = len(set(a.model.lines.applications.tolist()))
    equal = listed(list(question.known.columns.configuration))
    said = f"{question.application} as it was measured on {question.source}"
    return (
        f"{said}; other machines by {others} other applications"
        f"{f', matched by equal {equal}' if equal else ''}."
    )


def _card(a: _Answering) -> ModelCard:
    """What predicted the runtime, and how far it was off on applications that it did not see."""
    model = a.model
    off = np.abs(np.expm1(np.minimum(model.held_out, 50.0)))
    names = model.lines.applications
    own = [off[names == name] for name in np.unique(names)]
    each = [float(np.nanmean(one)) for one in own if np.isfinite(one).any()]
    return ModelCard(
        target=a.question.known.columns.runtime,
        family=f"across machines: median of {', '.join(model.chosen.members)}",
        rows=sum(len(rows) for line in model.lines.rows for rows in line.values()),
        features=(*model.lines.configuration_names, *model.lines.counter_names),
        error=float(np.mean(each)),
        error_name="mean relative error",
        checked=int(np.isfinite(off).sum()),
        log=True,
        seconds=0.0,
        notes=("on applications that it did not see",),
    )


def _merged(answer: Answer, other: Answer) -> Answer:
    """The answer about the runtime with what other models say of the other outcomes."""
    if not answer.suggestions or not other.suggestions:
        return answer
    mine, theirs = answer.suggestions[0], other.suggestions[0]
    outcomes = {one.name: one for one in (*mine.outcomes, *theirs.outcomes)}
    order = [name for name in answer.query.goals if name in outcomes]
    worst = max((mine.trust.label, theirs.trust.label), key=_WORST.index)
    runtime = mine.outcomes[0].name
    rest = listed([name for name in order if name != runtime])
    reason = f"{runtime}: {mine.trust.reason} {rest}: {theirs.trust.reason}"
    trust = mine.trust.model_copy(
        update={
            "label": worst,
            "doubts": (*mine.trust.doubts, *theirs.trust.doubts),
            "effects": theirs.trust.effects,
            "reason": labelled(worst, reason),
        }
    )
    told = mine.model_copy(
        update={"outcomes": tuple(outcomes[name] for name in order), "trust": trust}
    )
    note = f"{runtime} is told by what is known across machines, {rest} by models of all columns."
    return answer.model_copy(
        update={
            "suggestions": (told, *answer.suggestions[1:]),
            "comparable": other.comparable,
            "notes": (note, *answer.notes, *other.notes),
            "no_answer": answer.no_answer or other.no_answer,
            "pending": other.pending,
            "models": (*answer.models, *other.models),
        }
    )
