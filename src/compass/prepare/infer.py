"""Finds out what the columns of a table are: legal values, roles and units, all correctable."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pydantic import ValidationError

from compass.domain.base import Value
from compass.domain.errors import StudyProblem, unknown
from compass.domain.space import Category, Number, Role, Space
from compass.domain.study import ColumnChoice, Study
from compass.domain.units import canonical
from compass.prepare import names
from compass.prepare.cells import coded, label_key, numbers
from compass.prepare.facts import SMALL, ColumnFacts, facts_of
from compass.prepare.grid import step_of_column
from compass.prepare.guess import Guess
from compass.prepare.legal import summary
from compass.prepare.mapping import label_text, mapped
from compass.prepare.patterns import spelled_out
from compass.prepare.report import ColumnReport, ReasonCode, RoleQuestion
from compass.prepare.role_words import note_of, question_of
from compass.prepare.roles import guess_roles
from compass.prepare.same import without_followers
from compass.prepare.study import weight_column
from compass.prepare.text_columns import read_texts
from compass.prepare.unusable import LEVELS, RUNNING, why_unusable
from compass.readers import Table
from compass.readers.sample import COLUMNS, FILE, ROW, WEIGHT

_REPEATS = 5  # rows per value from which a list of values is taken for complete
_DOMAIN = ("low", "high", "step", "allowed", "values")


def infer(table: Table, study: Study | None = None) -> tuple[Space, tuple[ColumnReport, ...]]:
    """The space of all columns in the table's order, and a report that says why.

    Ignored columns of free text have no labels in the space: give them a role in the study, and
    their labels are listed.
    """
    study = spelled_out(study or Study(), table.names)
    _check_names(table, study)
    arrow = read_texts(mapped(table.arrow, study.map), study).arrow
    facts = [facts_of(field, arrow.column(field.name)) for field in arrow.schema]
    found = [
        _column(one, arrow.column(one.name), _choice(study, one.name), understood)
        for one, understood in zip(facts, _understood(facts, arrow, study), strict=True)
    ]
    if table.sampled is not None or study.weight == WEIGHT:
        found = [_of_sample(*one, study) for one in found]
    found = without_followers(found, arrow)
    return Space(parameters=tuple(p for p, _ in found)), tuple(report for _, report in found)


@dataclass(frozen=True)
class _Understood:
    """The role of a column, and why where that is worth saying."""

    role: Role
    note: str = ""
    stated: bool = False
    question: RoleQuestion | None = None


def _understood(
    facts: Sequence[ColumnFacts], arrow: pa.Table, study: Study
) -> Iterator[_Understood]:
    """What each column is taken for."""
    settled = {one.name: _settled(one, _choice(study, one.name), study) for one in facts}
    known = {name: found.role for name, found in settled.items() if found is not None}
    guesses = guess_roles(facts, arrow, known)
    _with_something(guesses, settled)
    for one in facts:
        found = settled[one.name]
        yield _guessed(guesses[one.name], _choice(study, one.name)) if found is None else found


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
    for name in (*study.map, *single, *(study.comparable or ())):
        if name not in table.names:
            raise unknown("column", name, table.names, where="in the study")


def _choice(study: Study, name: str) -> ColumnChoice:
    return study.columns.get(name, ColumnChoice())


def _column(
    facts: ColumnFacts, column: pa.ChunkedArray, choice: ColumnChoice, understood: _Understood
) -> tuple[Number | Category, ColumnReport]:
    try:
        parameter = _parameter(facts, column, choice, understood.role)
    except ValidationError as problem:
        message = str(problem.errors()[0]["msg"]).removeprefix("Value error, ")
        raise StudyProblem(f"in the study, {message}", hint="correct the study") from problem
    return parameter, _report(facts, parameter, understood)


def _settled(facts: ColumnFacts, choice: ColumnChoice, study: Study) -> _Understood | None:
    """What a column is where nothing has to be guessed."""
    if facts.name in study.drop:
        return _Understood(Role.IGNORED, "left out by the study")
    if choice.role is not None:
        if choice.role is not Role.IGNORED and not facts.distinct:
            raise StudyProblem(
                f"the study makes '{facts.name}' a {choice.role.value}, but it has no values",
                hint="leave it ignored",
            )
        return _Understood(choice.role, "as the study says", stated=True)
    for name, note in (
        (study.weight, "how much a row counts"),
        (study.origin, "how a row came to be"),
        (study.time, "orders the rows in time"),
    ):
        if facts.name == name:
            return _Understood(Role.IGNORED, note)
    wanted = any(getattr(choice, key) is not None for key in _DOMAIN)
    if wanted and facts.distinct:
        return None
    reason = why_unusable(facts, optional=choice.missing == "none")
    return None if reason is None else _Understood(Role.IGNORED, reason)


def _guessed(guess: Guess, choice: ColumnChoice) -> _Understood:
    facts, role = guess.facts, guess.role
    wanted = any(getattr(choice, key) is not None for key in _DOMAIN)
    if role is not Role.OUTCOME and not wanted:
        if not facts.exact and facts.distinct > LEVELS:
            return _Understood(Role.IGNORED, "whole numbers too large to calculate with")
        if facts.missing > facts.rows / 2 and choice.missing != "none":
            share = math.floor(100 * facts.missing / facts.rows)
            keep = f"that can be kept as a level (--missing {facts.name}=none)"
            return _Understood(Role.IGNORED, f"missing in {share} % of the rows; {keep}")
    return _Understood(role, note_of(guess), question=question_of(guess))


def _with_something(guesses: Mapping[str, Guess], settled: dict[str, _Understood | None]) -> None:
    """Where nothing can be set, the likeliest columns are what was set.

    What looks like an index, or else what may be given or chosen.
    """
    if any(guess.role is Role.KNOB for guess in guesses.values()):
        return
    running = [
        name for name, found in settled.items() if found is not None and found.note == RUNNING
    ]
    for name in running:
        settled[name] = _Understood(
            Role.KNOB, "counts 1, 2, 3, ... like an index, but nothing else can be set"
        )
    for guess in guesses.values() if not running else ():
        # The sizes of matrices, where they are all that was varied.
        if guess.role is Role.CONTEXT and guess.fixed is None and not guess.surely_named:
            guess.add(ReasonCode.NOTHING_ELSE, Role.KNOB, guess.odds[Role.CONTEXT] + 2.0)


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
            hint="take it for a category (kind: category in a study file)",
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
            step = step_of_column(column, low) or step
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


def _is_list(facts: ColumnFacts) -> bool:
    """Whether the values seen are all that can be set: few of them, repeated or powers of two."""
    if facts.few is None or facts.moment:
        return False
    repeats = facts.present / facts.distinct
    if repeats >= _REPEATS or (facts.distinct <= SMALL and repeats >= 2):
        return True
    powers = all(value >= 1 and math.log2(value).is_integer() for value in facts.few)
    return facts.whole and facts.distinct > 2 and powers


def _report(
    facts: ColumnFacts, parameter: Number | Category, understood: _Understood
) -> ColumnReport:
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
        stated=understood.stated,
        note=understood.note,
        question=understood.question,
        cells=facts.cells.sentence(parameter.role) if facts.cells is not None else "",
    )
