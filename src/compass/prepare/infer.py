"""Finds out what the columns of a table are: legal values, roles and units, all correctable."""

import math
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from compass.domain.base import Value
from compass.domain.errors import StudyProblem, unknown
from compass.domain.space import Category, Number, Role, Space
from compass.domain.study import ColumnChoice, Study
from compass.domain.units import canonical
from compass.prepare import names
from compass.prepare.cells import coded, label_key, numbers
from compass.prepare.facts import ColumnFacts, facts_of
from compass.prepare.grid import step_of
from compass.prepare.legal import summary
from compass.prepare.mapping import label_text, mapped
from compass.prepare.report import ColumnReport
from compass.prepare.study import weight_column
from compass.prepare.text_columns import read_texts
from compass.readers import Table
from compass.readers.sample import COLUMNS, FILE, ROW, WEIGHT

LEVELS = 1000  # labels beyond which text is free text
_SMALL = 12  # in small tables, this many different values can still be a list or labels
_REPEATS = 5  # rows per value from which a list of values is taken for complete
_DOMAIN = ("low", "high", "step", "allowed", "values")


def infer(table: Table, study: Study | None = None) -> tuple[Space, tuple[ColumnReport, ...]]:
    """The space of all columns in the table's order, and a report that says why.

    Ignored columns of free text have no labels in the space: give them a role in the study, and
    their labels are listed.
    """
    study = study or Study()
    _check_names(table, study)
    arrow = read_texts(mapped(table.arrow, study.map), study).arrow
    found = [
        _column(facts_of(field, column), column, _choice(study, field.name), study)
        for field, column in zip(arrow.schema, arrow.columns, strict=True)
    ]
    if table.sampled is not None or study.weight == WEIGHT:
        found = [_of_sample(*one, study) for one in found]
    if not any(parameter.role is Role.KNOB for parameter, _ in found):
        found = [_with_role(*one, _RUNNING, Role.KNOB, _SWEEP) for one in found]
    if not any(parameter.role is Role.OUTCOME for parameter, _ in found):
        measured = [_with_role(*one, _CONTINUOUS, Role.OUTCOME, _MEASURED) for one in found]
        if any(parameter.role is Role.KNOB for parameter, _ in measured):
            found = measured
    return Space(parameters=tuple(p for p, _ in found)), tuple(report for _, report in found)


_STATED = "as the study says"
_RUNNING = "running index"
_SWEEP = "counts 1, 2, 3, ... like an index, but nothing else can be set"
_CONTINUOUS = "nearly every value is different: measured? then make it an outcome"
_MEASURED = "nearly every value is different, and no column is named like a result: measured"


def _with_role(
    parameter: Number | Category, report: ColumnReport, note: str, role: Role, why: str
) -> tuple[Number | Category, ColumnReport]:
    """The column with another role, if it was understood for this reason."""
    if report.note != note:
        return parameter, report
    update: dict[str, object] = {"role": role}
    return parameter.model_copy(update=update), report.model_copy(update={**update, "note": why})


_SAMPLED = {
    WEIGHT: "how many rows of the source this one stands for",
    FILE: "the file that the row was sampled from",
    ROW: "the row's number in that file",
}


def _of_sample(
    parameter: Number | Category, report: ColumnReport, study: Study
) -> tuple[Number | Category, ColumnReport]:
    """A column of a sample; what tells of the sampling itself is never learnt from."""
    name = parameter.name
    if name not in COLUMNS:
        return parameter, report
    role = _choice(study, name).role
    if role not in (None, Role.IGNORED) and name not in study.drop:
        assert role is not None
        raise StudyProblem(
            f"'{name}' tells how the rows were sampled, so it cannot be a {role.value}",
            hint="leave it ignored",
        )
    update: dict[str, object] = {"role": Role.IGNORED}
    told = report.model_copy(update={**update, "note": _SAMPLED[name], "stated": False})
    return parameter.model_copy(update=update), told


def _check_names(table: Table, study: Study) -> None:
    named = (study.group, study.time, study.origin, weight_column(study, table))
    single = [name for name in named if name is not None]
    for name in (*study.columns, *study.drop, *study.map, *single, *(study.comparable or ())):
        if name not in table.names:
            raise unknown("column", name, table.names, where="in the study")


def _choice(study: Study, name: str) -> ColumnChoice:
    return study.columns.get(name, ColumnChoice())


def _column(
    facts: ColumnFacts, column: pa.ChunkedArray, choice: ColumnChoice, study: Study
) -> tuple[Number | Category, ColumnReport]:
    role, note = _role(facts, choice, study)
    try:
        parameter = _parameter(facts, column, choice, role)
    except ValidationError as problem:
        message = str(problem.errors()[0]["msg"]).removeprefix("Value error, ")
        raise StudyProblem(f"in the study, {message}", hint="correct the study") from problem
    return parameter, _report(facts, parameter, note)


def _role(facts: ColumnFacts, choice: ColumnChoice, study: Study) -> tuple[Role, str]:
    """The role of a column, and why where that is worth saying."""
    if facts.name in study.drop:
        return Role.IGNORED, "left out by the study"
    if choice.role is not None:
        if choice.role is not Role.IGNORED and not facts.distinct:
            raise StudyProblem(
                f"the study makes '{facts.name}' a {choice.role.value}, but it has no values",
                hint="leave it ignored",
            )
        return choice.role, _STATED
    if facts.name == study.weight:
        return Role.IGNORED, "how much a row counts"
    if facts.name == study.origin:
        return Role.IGNORED, "how a row came to be"
    if facts.name == study.time:
        return Role.IGNORED, "orders the rows in time"
    role = names.role_of(facts.name, text=facts.text)
    if names.is_run(facts.name) and not facts.text and facts.few is None:
        role = Role.OUTCOME
    wanted = any(getattr(choice, key) is not None for key in _DOMAIN)
    reason = None if wanted and facts.distinct else _why_ignored(facts, role, choice)
    if reason is not None:
        return Role.IGNORED, reason
    if role is Role.KNOB and not facts.text and not facts.whole and _mostly_different(facts):
        return role, _CONTINUOUS
    return role, ""


def _mostly_different(facts: ColumnFacts) -> bool:
    return facts.distinct > _SMALL and facts.distinct > facts.present / 2


def _why_ignored(facts: ColumnFacts, role: Role, choice: ColumnChoice) -> str | None:
    """Why a column can be neither set nor learnt from, or None when it can."""
    level = choice.missing == "none" and facts.missing > 0
    if not facts.distinct:
        return "empty"
    if facts.distinct == 1 and not level:
        return "constant" if not facts.missing else "constant where it is given"
    moment = names.is_moment(facts.name) and _mostly_different(facts)
    if facts.moment or moment or names.is_date(facts.name):
        return "time stamp"
    if names.is_afterwards(facts.name):
        return f"known only after the job; --role {facts.name}=outcome to ask for it"
    if names.is_repetition(facts.name) or (names.is_run(facts.name) and facts.few is not None):
        return "counts repetitions"
    if (identifier := _identifier(facts, role)) is not None:
        return identifier
    if facts.text and (text := _text_without_levels(facts, role)) is not None:
        return text
    if not facts.exact and facts.distinct > LEVELS and role is not Role.OUTCOME:
        return "whole numbers too large to calculate with"
    if role is not Role.OUTCOME and facts.missing > facts.rows / 2 and not level:
        share = math.floor(100 * facts.missing / facts.rows)
        return f"missing in {share} % of the rows; --missing {facts.name}=none keeps it as a level"
    return None


def _text_without_levels(facts: ColumnFacts, role: Role) -> str | None:
    if names.is_file(facts.name):
        return "names a file or a command"
    if facts.distinct > LEVELS:
        return f"free text: {facts.distinct} different values"
    if facts.distinct == facts.present > _SMALL:
        return "every row has a value of its own"
    if role is not Role.CONTEXT and _mostly_different(facts):
        return "free text: more than half of the values are different"
    return None


def _identifier(facts: ColumnFacts, role: Role) -> str | None:
    if role is Role.OUTCOME or not (facts.text or facts.whole):
        return None
    named = names.is_identifier(facts.name) or names.is_unnamed(facts.name)
    many = facts.distinct > 0.9 * facts.present or (
        facts.distinct > 20 and facts.distinct > 0.1 * facts.present
    )
    if named and many:
        return "looks like an id"
    if facts.running and facts.low in (0, 1) and facts.rows >= 20:
        return _RUNNING
    return None


def _parameter(
    facts: ColumnFacts, column: pa.ChunkedArray, choice: ColumnChoice, role: Role
) -> Number | Category:
    kind = choice.kind
    if kind is None and choice.values is not None:
        kind = "category"
    if kind is None and any(getattr(choice, key) is not None for key in _DOMAIN):
        kind = "number"
    if kind is None:
        few = facts.whole and facts.few is not None and not facts.moment
        as_class = names.is_class(facts.name) and few
        inexact = not facts.exact and facts.distinct <= LEVELS and role is not Role.OUTCOME
        labels = facts.text or not facts.distinct or as_class or inexact
        kind = "category" if labels else "number"
    if kind == "category":
        return Category(name=facts.name, role=role, values=_labels(facts, column, choice, role))
    return _number(_as_number(facts, column), column, choice, role)


def _as_number(facts: ColumnFacts, column: pa.ChunkedArray) -> ColumnFacts:
    """The facts of a column whose text the person wants to be read as numbers."""
    if facts.low is not None:
        return facts
    parsed = pa.chunked_array([pa.array(numbers(column), pa.float64(), from_pandas=True)])
    found = facts_of(pa.field(facts.name, pa.float64()), parsed)
    if found.low is None:
        raise StudyProblem(
            f"the study makes '{facts.name}' a number, but its values are not numbers",
            hint="say kind: category",
        )
    return found


def _labels(
    facts: ColumnFacts, column: pa.ChunkedArray, choice: ColumnChoice, role: Role
) -> tuple[Value, ...]:
    if role is Role.IGNORED and facts.distinct > LEVELS:
        return ()
    if choice.values is not None:
        labels: list[Value] = [_like_column(facts, value) for value in choice.values]
    elif facts.text:
        labels = [label for label, _ in facts.labels]
    else:
        labels = _number_labels(coded(column)[1])
    optional = choice.missing == "none" or None in labels
    labels = [label for label in labels if label is not None]
    distinct = list({label_key(label): label for label in labels}.values())
    return (*distinct, None) if optional else tuple(distinct)


def _number_labels(values: Iterable[Value]) -> list[Value]:
    """Numbers as labels, ascending; whole ones without a decimal point."""
    finite = [v for v in values if isinstance(v, int | float) and math.isfinite(v)]
    return [*sorted(int(v) if float(v).is_integer() else v for v in finite)]


def _like_column(facts: ColumnFacts, value: Value) -> Value:
    """A label from a study file as the column writes it: 1 is '1' in a column of text."""
    if value is None or not pa.types.is_large_string(facts.type):
        return value
    return label_text(value)


def _number(
    facts: ColumnFacts, column: pa.ChunkedArray, choice: ColumnChoice, role: Role
) -> Number:
    assert facts.low is not None
    assert facts.high is not None
    # An empty text says that there is none, whatever the file or the name tells.
    unit = choice.unit if choice.unit is not None else facts.unit or names.unit_of(facts.name)
    low = facts.low if choice.low is None else choice.low
    high = facts.high if choice.high is None else choice.high
    allowed, step = choice.allowed, choice.step
    if allowed is not None:
        allowed = tuple(sorted(set(allowed)))
    elif step is None:
        step = 1.0 if facts.whole and low.is_integer() else None
        if _is_list(facts) and low <= high:
            assert facts.few is not None
            # A bound beyond the data means that more than the seen values are legal.
            wider = low < facts.low or high > facts.high
            allowed = None if wider else tuple(v for v in facts.few if low <= v <= high) or None
        if allowed is None and role in (Role.KNOB, Role.CONTEXT) and not facts.moment:
            step = _grid_step(column, low) or step
    if allowed is not None:
        low, high, step = allowed[0], allowed[-1], None
    return Number(
        name=facts.name,
        role=role,
        low=low,
        high=high,
        step=step,
        allowed=allowed,
        unit=(canonical(unit) or unit) if unit else None,
        optional=choice.missing == "none",
    )


def _grid_step(column: pa.ChunkedArray, low: float) -> float | None:
    """The step of the grid that all values and the lowest legal one stand on."""
    values = numbers(pa.chunked_array([pc.unique(column)]))
    return step_of(np.append(values[np.isfinite(values)], low))


def _is_list(facts: ColumnFacts) -> bool:
    """Whether the values seen are all that can be set: few of them, repeated or powers of two."""
    if facts.few is None or facts.moment:
        return False
    repeats = facts.present / facts.distinct
    if repeats >= _REPEATS or (facts.distinct <= _SMALL and repeats >= 2):
        return True
    powers = all(value >= 1 and math.log2(value).is_integer() for value in facts.few)
    return facts.whole and facts.distinct > 2 and powers


def _report(facts: ColumnFacts, parameter: Number | Category, note: str) -> ColumnReport:
    common = sorted(facts.labels, key=lambda pair: -pair[1])[:3]
    return ColumnReport(
        name=facts.name,
        kind=parameter.kind,
        role=parameter.role,
        unit=parameter.unit if isinstance(parameter, Number) else None,
        distinct=facts.distinct,
        missing=facts.missing,
        low=facts.low,
        high=facts.high,
        common=tuple(common),
        legal=summary(parameter),
        stated=note == _STATED,
        note=note,
        cells=facts.cells.sentence(parameter.role) if facts.cells is not None else "",
    )
