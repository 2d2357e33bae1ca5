"""Questions about machines: which ones what is known across machines answers, and from what.

Decision 0055 (docs/decisions).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.errors import CompassError, StudyProblem, UnknownName
from compass.domain.goal import Extreme, Observe, Within
from compass.domain.query import Given, Kind, Plus, Query, Row, SetTo, Times
from compass.domain.space import Category, Space
from compass.domain.study import MachineChoice
from compass.engine.scope import Scope
from compass.language.bind import bind_value
from compass.platforms.columns import study_columns
from compass.platforms.counters import counter_mapping
from compass.platforms.pairs import Floats, MatchedRuns, PairColumns, Whole, joined, match
from compass.platforms.predictor import PlatformModel, Progress, fit
from compass.prepare.encode import Encoder
from compass.readers.table import Table

if TYPE_CHECKING:
    from compass.engine.dataset import Dataset

Bools = NDArray[np.bool_]
_KEPT = 4  # models
_CELLS = 600  # of a configuration on a machine, that are ordered together


@dataclass(frozen=True, eq=False)
class MachineRuns:
    """The past runs of a dataset, matched across its machines."""

    columns: PairColumns
    runs: MatchedRuns
    table: Table
    choice: MachineChoice  # what the study says of machines
    models: dict[tuple[object, ...], PlatformModel] = field(default_factory=dict)

    @classmethod
    def of(cls, data: "Dataset") -> "MachineRuns | None":
        """None: the dataset has no column of machines, or runs of fewer than two of them."""
        prepared, choice = data.prepared, data.study.machines
        columns = study_columns(data.meant, prepared.space, choice, counter_mapping())
        if columns is None or columns.machine not in prepared.space:
            if choice.machine is not None:
                raise StudyProblem(
                    f"machines: {choice.machine} names the machine, but which column names the "
                    "application or the runtime is not known, or it is ignored itself",
                    hint="say machines: {machine: ..., application: ..., runtime: ...}",
                )
            return None
        rows = prepared.row_id[prepared.citable(np.arange(prepared.rows))]
        try:
            runs = match(data.meant, columns, rows)
        except CompassError:
            if choice.machine is not None:  # somebody said that it is one
                raise
            return None
        return cls(columns, runs, data.meant, choice) if len(runs.machines) > 1 else None

    @property
    def stated(self) -> bool:
        """Whether somebody said that there are machines."""
        return self.choice.machine is not None

    def model(
        self, source: str, application: str, level: float, seed: int, tell: Progress
    ) -> PlatformModel:
        """What all other applications tell of runs on `source`; the last few are kept."""
        key = (source, application, level, seed)
        if key not in self.models:
            others = self.runs.others(application)
            found = fit(others, source, cover=level, seed=seed, progress=tell)
            for old in list(self.models)[: max(0, len(self.models) - _KEPT + 1)]:
                del self.models[old]
            self.models[key] = found
        return self.models[key]

    def values(self, row: int) -> dict[str, Value]:
        """What a row of the table has in the columns that say which run it is."""
        self.table.check_row(row)
        named = (self.columns.machine, self.columns.application, *self.columns.configuration)
        return {name: self.table.column(name)[row].as_py() for name in named}

    def row_of(self, runs: MatchedRuns, line: int, machine: int) -> int | None:
        """A row of the table in which a line was run on a machine."""
        rows = runs.rows[line].get(machine, ()) if runs.rows else ()
        return rows[0] if rows else None

    def configured(self, runs: MatchedRuns, line: int) -> dict[str, Value] | None:
        """The configuration of a line, in the terms of the table."""
        rows = [row for own in runs.rows[line].values() for row in own] if runs.rows else []
        if not rows:
            return None
        return {
            name: self.table.column(name)[rows[0]].as_py() for name in self.columns.configuration
        }


@dataclass(frozen=True, eq=False)
class MachineQuestion:
    """A question about one application on other machines than that it was run on."""

    query: Query
    known: MachineRuns
    own: MatchedRuns  # all lines of the application that were run on the source
    application: str
    source: str
    lines: Whole  # those that are asked about
    start: int | None  # the line of the baseline; None: there is none
    legal: Bools  # [l, m] machines that each may be run on
    config: Mapping[str, Value] | None = None  # of a baseline that is no past run
    new: Mapping[str, str] = field(default_factory=dict)  # its application, if it is a new one
    notes: tuple[str, ...] = ()


class NotAcrossMachines(Exception):
    """Why a question about machines is answered as any other is."""


def machine_question(query: Query, scope: Scope, known: MachineRuns) -> MachineQuestion | None:
    """A bound question as one about machines; None: it is not one.

    Raises `NotAcrossMachines` where it is one, but cannot be answered from other machines.
    """
    machine, runtime = known.columns.machine, known.columns.runtime
    asked = machine in query.ask or machine in query.change
    if not asked or runtime not in query.goals or query.kind is Kind.RECONFIGURE:
        return None
    if scope.conditions:
        raise NotAcrossMachines("a condition is on an outcome")
    if query.kind is Kind.WHAT_IF:
        return _what_if(query, scope, known)
    return _recommend(query, scope, known) if machine in query.ask else None


def new_application(query: Query, baseline: Given, known: MachineRuns, space: Space) -> Query:
    """The query with an application that the table does not know apart from its baseline."""
    name = known.columns.application
    label = baseline.config.get(name)
    if not isinstance(label, str) or name not in space:
        return query
    parameter = space[name]
    try:
        bind_value(label, parameter)
    except UnknownName:
        config = {other: value for other, value in baseline.config.items() if other != name}
        apart = baseline.model_copy(update={"config": config, "new": {name: label}})
        return query.model_copy(update={"baseline": apart})
    return query


def _what_if(query: Query, scope: Scope, known: MachineRuns) -> MachineQuestion | None:
    if query.baseline is None:
        raise NotAcrossMachines("no run is named to start from")
    if query.ask or not all(isinstance(goal, Observe) for goal in query.goals.values()):
        raise NotAcrossMachines("something has to compensate for the change")
    edit = query.change[known.columns.machine]
    assert isinstance(edit, SetTo)
    if isinstance(query.baseline, Row):
        runs, values = known.runs, known.values(query.baseline.row)
        config, new = None, {}
    else:
        new = query.baseline.new
        config = query.baseline.config | new
        runs, values = _with_given(query.baseline, known)
    source, target = str(values[known.columns.machine]), str(edit.value)
    application = str(values[known.columns.application])
    if source == target:
        return None
    own = _own(runs, application, source)
    start = _line(known, own, values, config)
    changed = values | {n: _edited(values[n], e) for n, e in query.change.items() if n in values}
    line = start if changed == values | {known.columns.machine: edit.value} else None
    if line is None:
        line = _line(known, own, changed, None)
    others = [n for n in query.change if n not in values]
    if others:
        raise NotAcrossMachines(f"{others[0]} changes too, which is not part of the configuration")
    if start is None or line is None:
        raise NotAcrossMachines(f"{application} was not run on {source} in this configuration")
    legal = np.array([[name == target for name in own.machines]])
    found = MachineQuestion(
        query, known, own, application, source, np.array([line]), start, legal, config, new
    )
    if not _legal(found, scope)[0, own.place(target)]:
        raise NotAcrossMachines("rules make something else move with the machine")
    return found


def _recommend(query: Query, scope: Scope, known: MachineRuns) -> MachineQuestion:
    columns = known.columns
    if len(query.goals) > 1:
        raise NotAcrossMachines("more than one outcome has a goal")
    goal = query.goals[columns.runtime]
    wanted = "maximize" if columns.throughput else "minimize"
    if not isinstance(goal, Within) and not (
        isinstance(goal, Extreme) and goal.direction == wanted
    ):
        raise NotAcrossMachines(f"the goal is neither to {wanted} {columns.runtime} nor a limit")
    strange = [n for n in query.ask if n not in (columns.machine, *columns.configuration)]
    if strange:
        raise NotAcrossMachines(f"{strange[0]} is asked for, which is not part of a configuration")
    candidates = _fitting(query, known)
    names = sorted({str(known.runs.applications[line]) for line in candidates})
    if len(names) != 1:
        many = "no application matches" if not names else f"{len(names)} applications match"
        raise NotAcrossMachines(f"{many}: name one with {columns.application} == ...")
    ran = np.isfinite(known.runs.log_runtime[candidates]).sum(axis=0)
    source = known.runs.machines[int(ran.argmax())]
    own = _own(known.runs, names[0], source)
    lines = np.flatnonzero(np.isin(_places(known.runs, names[0], source), candidates))
    every = np.ones((len(lines), len(own.machines)), dtype=bool)
    found = MachineQuestion(query, known, own, names[0], source, lines, None, every)
    legal = _legal(found, scope)
    lines, legal = lines[legal.any(axis=1)], legal[legal.any(axis=1)]
    if not len(lines):
        raise NotAcrossMachines("no past run on any machine obeys the rules and conditions")
    return _one_context(replace(found, lines=lines, legal=legal))


def _own(runs: MatchedRuns, application: str, source: str) -> MatchedRuns:
    """The lines of an application that were run on a machine."""
    if source not in runs.machines or application not in runs.applications:
        raise NotAcrossMachines(f"no run of {application} on {source} has a runtime")
    return runs.of(application).ran_on(source)


def _places(runs: MatchedRuns, application: str, source: str) -> Whole:
    """The places of these lines among all."""
    ran = np.isfinite(runs.log_runtime[:, runs.place(source)])
    return np.flatnonzero((runs.applications == application) & ran)


def _fitting(query: Query, known: MachineRuns) -> Whole:
    """The lines whose application and configuration the question does not rule out.

    Equalities decide which application is meant; all else is for `_legal`.
    """
    from compass.engine.starts import equality
    from compass.language import parse_rule

    given: dict[str, Value] = {
        name: edit.value for name, edit in query.change.items() if isinstance(edit, SetTo)
    }
    for rule in query.where:
        pair = equality(parse_rule(rule.text))
        if pair is not None:
            given[pair[0]] = pair[1]
    named = (known.columns.application, *known.columns.configuration)
    given = {name: value for name, value in given.items() if name in named}
    lines = range(len(known.runs))
    fits = [line for line in lines if _has(known, line, given)]
    return np.array(fits, dtype=np.int64)


def _has(known: MachineRuns, line: int, given: Mapping[str, Value]) -> bool:
    rows = [row for own in known.runs.rows[line].values() for row in own]
    have = known.values(rows[0])
    return all(_same(have[name], value) for name, value in given.items())


def _same(one: Value, other: Value) -> bool:
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return bool(np.isclose(float(one), float(other), rtol=1e-9, atol=0.0))
    return str(one) == str(other)


def _edited(old: Value, edit: "SetTo | Times | Plus") -> Value:
    if isinstance(edit, SetTo):
        return edit.value
    if not isinstance(old, int | float):
        raise NotAcrossMachines("what changes has no number to start from")
    return old * edit.factor if isinstance(edit, Times) else old + edit.amount


def _line(
    known: MachineRuns, own: MatchedRuns, values: Mapping[str, Value], given: Any
) -> int | None:
    """The line of this configuration; one that was given with the question comes last."""
    for line in reversed(range(len(own))):
        have = known.configured(own, line)
        if have is None:
            if given is not None:
                return line
            continue
        if all(_same(have[name], values[name]) for name in have):
            return line
    return None


def _with_given(baseline: Given, known: MachineRuns) -> tuple[MatchedRuns, dict[str, Value]]:
    """The past runs and, if it is new, the run that a baseline describes."""
    columns = known.columns
    named = (columns.machine, columns.application, *columns.configuration)
    given = baseline.config | baseline.new
    gaps = [name for name in named if given.get(name) is None]
    if gaps:
        raise NotAcrossMachines(f"the baseline has no {gaps[0]}")
    values: dict[str, Value] = {name: given[name] for name in named}
    runtime = given.get(columns.runtime)
    if not isinstance(runtime, int | float) or runtime <= 0:
        return known.runs, values
    own = values | {columns.runtime: float(runtime)} | dict(baseline.counters)
    counters = tuple(name for name in columns.counters if name in own)
    types = {name: known.table.column(name).type for name in own}
    cells = {name: pa.array([_cell(own[name], types[name])], types[name]) for name in own}
    one = match(Table.of(pa.table(cells)), replace(columns, counters=counters))
    one = replace(one, rows=())
    return joined([known.runs, one]), values


def _cell(value: Value, kind: pa.DataType) -> object:
    if pa.types.is_integer(kind) and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def encoded(question: MachineQuestion, scope: Scope, line: int) -> Floats:
    """The features of a line as it was run on the source, [d]; nan: not known, or never run."""
    view, known = scope.view, question.known
    own = question.own
    row = known.row_of(own, line, own.place(question.source))
    if row is None:
        assert question.config is not None
        # An application of its own has no code: it is nan, and equal to none.
        config = {
            name: value
            for name, value in question.config.items()
            if name in view.names and name not in question.new
        }
        return Encoder(view.features).encode(config, partial=True)
    return _features(scope, row)


def _features(scope: Scope, row: int) -> Floats:
    data = scope.view.everything
    return np.asarray(data.columns_of(scope.view.names)[data.position(row)], dtype=np.float64)


def on_machines(question: MachineQuestion, scope: Scope, line: int) -> Floats:
    """The features of a line on each machine, [m, d].

    What belongs to a machine and not to the configuration is what runs there usually have.
    """
    names, columns = scope.view.names, question.known.columns
    here = encoded(question, scope, line)
    X = np.repeat(here[None, :], len(question.own.machines), axis=0)
    labels = scope.view.features[columns.machine]
    assert isinstance(labels, Category)
    named = [str(value) for value in labels.values]
    place = names.index(columns.machine)
    kept = {columns.application, *columns.configuration, *columns.counters}
    belongs = [j for j, name in enumerate(names) if name not in kept and j != place]
    data = scope.view.everything
    values = data.columns_of(names)
    for at, machine in enumerate(question.own.machines):
        if machine == question.source:
            continue
        if machine not in named:
            raise NotAcrossMachines(f"{machine} is no label of {columns.machine}")
        code = float(named.index(machine))
        X[at, place] = code
        there = values[values[:, place] == code]
        for j in belongs:
            seen = Counter(there[np.isfinite(there[:, j]), j].tolist())
            if seen:
                X[at, j] = seen.most_common(1)[0][0]
    return X


def _legal(question: MachineQuestion, scope: Scope) -> Bools:
    """Which machines each line may be run on by the rules and conditions, [l, m]."""
    found = question.legal.copy()
    for at, line in enumerate(question.lines):
        X = on_machines(question, scope, int(line))
        for rule in scope.rules:
            found[at] &= rule.holds(X)
    return found


def _one_context(question: MachineQuestion) -> MachineQuestion:
    """Only lines that differ in what is asked for: everything else is the same in all of them.

    Of several such groups the one with the most runs, then that of the middle runtime.
    """
    known, own = question.known, question.own
    columns = known.columns
    held = [name for name in columns.configuration if name not in question.query.ask]
    groups: dict[tuple[Value, ...], list[int]] = {}
    for place, line in enumerate(question.lines.tolist()):
        have = known.configured(own, line)
        assert have is not None
        groups.setdefault(tuple(have[name] for name in held), []).append(place)
    source = own.place(question.source)
    seconds = {
        key: float(np.median(own.log_runtime[question.lines[places], source]))
        for key, places in groups.items()
    }
    most = max(map(len, groups.values()))
    largest = sorted(
        (key for key, at in groups.items() if len(at) == most), key=seconds.__getitem__
    )
    chosen = largest[(len(largest) - 1) // 2]
    at = np.array(groups[chosen][: max(1, _CELLS // len(own.machines))])
    notes = question.notes
    if len(groups) > 1:
        from compass.language import format_value

        told = ", ".join(
            f"{name} = {format_value(value)}" for name, value in zip(held, chosen, strict=True)
        )
        notes = (
            *notes,
            f"{question.application} was run in {len(groups)} configurations: this is about "
            f"{told}. Name another with {held[0]} == ...",
        )
    return replace(question, lines=question.lines[at], legal=question.legal[at], notes=notes)
