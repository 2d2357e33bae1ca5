"""Past runs, for a person who asks: the best one, a single one, two side by side."""

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from compass.chat.draft import Inquiry
from compass.chat.listing import aligned, cell, settings_list
from compass.chat.outcomes import outcome_meant
from compass.domain.base import Config
from compass.domain.constraint import Constraint
from compass.domain.errors import BadInput, BaselineProblem, QueryProblem, UnknownName
from compass.domain.expression import names_in
from compass.domain.findings import Findings, PastRun
from compass.domain.space import Category, Number, Role, Space
from compass.engine.compass import Compass
from compass.engine.constants import remaining
from compass.engine.rules import compiled, ignored_column
from compass.evidence.direction import usual_direction
from compass.evidence.failed_labels import failures
from compass.language import listed, parse_rule
from compass.language.bind import bind_constraint
from compass.prepare import Prepared
from compass.prepare.encode import decode_value

Bools = NDArray[np.bool_]

_ROWS = 5  # rows of equally good runs that are named
_SETTINGS = 7  # settings and outcomes of two runs side by side
_OUTCOMES = 4


def best_run(engine: Compass, inquiry: Inquiry) -> Findings:
    """The measured run with the least or the most of an outcome, of those that obey the rules."""
    prepared = engine.data.prepared
    name = outcome_meant(engine.space, inquiry.outcome)
    parameter = prepared.space[name]
    if isinstance(parameter, Category):
        raise QueryProblem(
            f"{name} has labels, of which none is the best",
            hint="name an outcome that is a number",
        )
    direction = inquiry.direction or usual_direction(name)
    y = prepared.outcome(name)
    rules = _bound(prepared, inquiry.where)
    among = np.isfinite(y) & prepared.measured & _obeying(prepared, rules)
    asked = {named for rule in rules for named in names_in(parse_rule(rule.text))}
    left_out = [one for one in failures(prepared, asked) if (one.runs & among).any()]
    for one in left_out:
        among &= ~one.runs
    which = f" where {' and '.join(inquiry.where)}" if inquiry.where else ""
    told = [f"Runs with {listed([one.words for one in left_out])} are left out."]
    if not among.any():
        lines = [f"No past run{which} has a measured {name}.", *(told if left_out else ())]
        unused = prepared.table.rows - prepared.rows
        if unused:
            lines.append(
                f"{unused} of {prepared.table.rows} rows were left out when the data was cleaned."
            )
        return Findings(text="\n".join(lines), outcome=name, among=0)
    best = y[among].min() if direction == "minimize" else y[among].max()
    first, *others = np.flatnonzero(among & (y == best)).tolist()
    run = _past_run(engine, int(prepared.row_id[first]))
    ties = tuple(int(row) for row in prepared.row_id[others])
    most = "lowest" if direction == "minimize" else "highest"
    count = int(among.sum())
    runs = "the only past run" if count == 1 else f"{count} past runs"
    lines = [
        f"The {most} {name} of {runs}{which}: {cell(float(best), parameter.unit)}, in "
        f"{_label(run)}.",
        *_columns(run, prepared.space),
        *_equally_good(ties),
        *_repeated(prepared, first, among, parameter),
        *(told if left_out else ()),
        *_several_contexts(prepared, among),
    ]
    return Findings(text="\n".join(lines), outcome=name, runs=(run,), ties=ties, among=count)


def _bound(prepared: Prepared, rules: Sequence[str]) -> list[Constraint]:
    """The rules with the names of columns in use; one that holds for every run is left out."""
    bound = []
    for text in rules:
        try:
            rule = bind_constraint(Constraint(text=text), prepared.with_constants)
        except UnknownName as error:
            raise ignored_column(error, prepared) from None
        left = remaining(rule.text, prepared)
        if left is not None:
            bound.append(rule.model_copy(update={"text": left}))
    return bound


def _obeying(prepared: Prepared, rules: Sequence[Constraint]) -> Bools:
    """Which of the runs [n] obey all these rules."""
    fine = np.ones(prepared.rows, dtype=np.bool_)
    for check in compiled(rules, prepared.space, prepared.space.names):
        fine &= check.holds(prepared.values)
    return fine


def _equally_good(ties: Sequence[int]) -> list[str]:
    if not ties:
        return []
    rows = [str(row) for row in ties[:_ROWS]]
    more = [f"{len(ties) - _ROWS} more"] if len(ties) > _ROWS else []
    return [f"Just as good: {'row' if len(ties) == 1 else 'rows'} {listed([*rows, *more])}."]


def _repeated(prepared: Prepared, position: int, among: Bools, outcome: Number) -> list[str]:
    """What the same configuration gave in all of its runs: the best of many was lucky."""
    X = prepared.columns_of(prepared.space.having(Role.KNOB, Role.CONTEXT))
    values = prepared.outcome(outcome.name)[(X[position] == X).all(axis=1) & among]
    if len(values) < 2:
        return []
    mean = cell(float(values.mean()), outcome.unit)
    return [f"This configuration was run {len(values)} times: {mean} on average."]


def _several_contexts(prepared: Prepared, among: Bools) -> list[str]:
    """That runs of other programs and inputs are no comparison, where there are any."""
    names = prepared.space.having(Role.CONTEXT)
    varied = [n for n in names if np.ptp(prepared.column(n)[among]) > 0]
    if not varied:
        return []
    shown = varied if len(varied) <= _ROWS else [*varied[:_ROWS], "..."]
    return [
        f"These runs differ in their context: name one to compare like runs ({', '.join(shown)})."
    ]


def one_run(engine: Compass, inquiry: Inquiry) -> Findings:
    """One row with every column."""
    if inquiry.row is None:
        raise BadInput("no row is named", hint="name one, such as row 12")
    run = _past_run(engine, inquiry.row)
    label = _label(run)
    lines = [f"{label[0].upper()}{label[1:]}:", *_columns(run, engine.space)]
    if run.others:
        lines.append(f"Not in use: {settings_list(run.others, {})}")
    if run.left_out:
        lines.append(f"Nothing is learnt from it: {run.left_out}.")
    return Findings(text="\n".join(lines), runs=(run,))


def two_runs(engine: Compass, inquiry: Inquiry) -> Findings:
    """Two rows side by side: settings that differ, and what was measured."""
    if len(inquiry.places) != 2:
        raise BadInput("two rows are compared", hint="name two, such as rows 3 and 7")
    last = engine.data.table.rows - 1
    runs = tuple(_past_run(engine, last if row == -1 else row) for row in inquiry.places)
    one, other = runs
    units = _units(engine.space)
    differing = [n for n in one.settings if one.settings[n] != other.settings[n]]
    rows = [("", *(f"row {run.row}" for run in runs))]
    rows += [_side_by_side(n, [r.settings for r in runs], units) for n in differing[:_SETTINGS]]
    measured = [*one.outcomes][:_OUTCOMES]
    rows += [_side_by_side(n, [r.outcomes for r in runs], units) for n in measured]
    count = f"{len(differing)} of {len(one.settings)} settings differ"
    left = f"; the first {_SETTINGS} of them" if len(differing) > _SETTINGS else ""
    lines = [f"{count}{left}:", aligned(rows)]
    if len(one.outcomes) > _OUTCOMES:
        lines.append(f"{len(one.outcomes) - _OUTCOMES} more outcomes are not shown.")
    lines += [f"Nothing is learnt from it: {run.left_out}." for run in runs if run.left_out]
    return Findings(text="\n".join(lines), runs=runs)


def _side_by_side(
    name: str, runs: Sequence[Config], units: Mapping[str, str | None]
) -> tuple[str, ...]:
    return (name, *(cell(run[name], units.get(name)) for run in runs))


def _past_run(engine: Compass, row: int) -> PastRun:
    """A row by what its columns are for: as it was cleaned where it was used, else as it is."""
    table, prepared = engine.data.table, engine.data.prepared
    values = table.row(row)
    file, _ = table.part_of(row)
    left_out = ""
    try:
        cleaned = prepared.values[prepared.position(row)]
    except BaselineProblem as error:
        left_out = error.message
    else:
        for parameter, value in zip(prepared.space, cleaned.tolist(), strict=True):
            values[parameter.name] = None if isnan(value) else decode_value(parameter, value)
    known = engine.space
    return PastRun(
        row=row,
        file=file if len(table.parts) > 1 else None,
        source=table.source_of(row),
        left_out=left_out,
        settings={n: values.get(n) for n in known.having(Role.KNOB, Role.CONTEXT)},
        outcomes={n: values.get(n) for n in known.having(Role.OUTCOME)},
        others={n: value for n, value in values.items() if n not in known},
    )


def _label(run: PastRun) -> str:
    """A row as people know it."""
    place = run.source or run.file
    return f"row {run.row}" if place is None else f"row {run.row} ({place})"


def _columns(run: PastRun, space: Space) -> list[str]:
    """The columns in use of a run, one line for each role."""
    units = _units(space)
    parts = {
        "Knobs": {n: run.settings[n] for n in space.having(Role.KNOB)},
        "Context": {n: run.settings[n] for n in space.having(Role.CONTEXT)},
        "Outcomes": run.outcomes,
    }
    return [f"{head}: {settings_list(part, units)}" for head, part in parts.items() if part]


def _units(space: Space) -> dict[str, str | None]:
    return {p.name: p.unit if isinstance(p, Number) else None for p in space}
