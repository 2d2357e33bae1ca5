"""What is done with a study: roles given, two merged, one written from what was inferred."""

from collections.abc import Iterable

from compass.domain.errors import StudyProblem
from compass.domain.space import Category, Number, Role, Space
from compass.domain.study import ColumnChoice, MachineChoice, Study, TrustChoice
from compass.prepare.report import ColumnReport
from compass.readers.sample import WEIGHT
from compass.readers.table import Table

_BY_MACHINE = ("prices", "power", "peaks")  # what is said of single machines adds up
UNWEIGHTED = "none"  # as the weight of a study: all rows count alike, those of a sample too


def weight_column(study: Study, table: Table) -> str | None:
    """The column that says how much a row counts; None: all rows count alike."""
    if study.weight is None:
        return None if table.sampled is None else WEIGHT
    return study.weight if study.weight != UNWEIGHTED or UNWEIGHTED in table.names else None


def with_roles(
    study: Study,
    knobs: Iterable[str] | None = None,
    context: Iterable[str] | None = None,
    outcomes: Iterable[str] | None = None,
    ignored: Iterable[str] = (),
) -> Study:
    """The same study with these roles."""
    columns = dict(study.columns)
    given: dict[str, Role] = {}
    for role, names in (
        (Role.KNOB, knobs),
        (Role.CONTEXT, context),
        (Role.OUTCOME, outcomes),
        (Role.IGNORED, ignored),
    ):
        for name in names or ():
            if name in given:
                raise StudyProblem(
                    f"'{name}' is given two roles: {given[name].value} and {role.value}",
                    hint="name each column once",
                )
            given[name] = role
            chosen = columns.pop(name, ColumnChoice())
            columns[name] = chosen.model_copy(update={"role": role})
    return study.model_copy(update={"columns": columns})


def merge(study: Study, overrides: Study) -> Study:
    """One study of two, where the second has the last word."""
    columns = dict(study.columns)
    for name, choice in overrides.columns.items():
        # At the end, where it is the later one: of two patterns the later one wins.
        columns[name] = merge_column(columns.pop(name, ColumnChoice()), choice)
    return Study(
        columns=columns,
        drop=_union(study.drop, overrides.drop),
        rules=_union(study.rules, overrides.rules),
        dependencies=_union(study.dependencies, overrides.dependencies),
        group=overrides.group or study.group,
        time=overrides.time or study.time,
        weight=overrides.weight or study.weight,
        origin=overrides.origin or study.origin,
        comparable=study.comparable if overrides.comparable is None else overrides.comparable,
        trust=_merge_trust(study.trust, overrides.trust),
        machines=_merge_machines(study.machines, overrides.machines),
        map={
            name: {**study.map.get(name, {}), **overrides.map.get(name, {})}
            for name in _union(study.map, overrides.map)
        },
    )


def merge_column(one: ColumnChoice, other: ColumnChoice) -> ColumnChoice:
    """What two choices say of one column, where the second has the last word."""
    given = other.model_dump(exclude_none=True)
    kept = one.model_dump(exclude_none=True)
    # Legal values replace each other as a whole: a new list of labels ends an old range.
    ended: set[str] = set()
    if given.keys() & {"allowed", "values", "kind"}:
        ended = {"low", "high", "step", "allowed", "values", "kind"}
    elif given.keys() & {"low", "high", "step"}:
        ended = {"allowed", "values", *(["kind"] if kept.get("kind") == "category" else [])}
    return ColumnChoice(**{**{k: v for k, v in kept.items() if k not in ended}, **given})


def _merge_trust(one: TrustChoice, other: TrustChoice) -> TrustChoice:
    given, kept = other.model_dump(exclude_none=True), one.model_dump(exclude_none=True)
    close = {"tau", "close_percentile"}  # two ways to say what is close: the later one counts
    ended = close if given.keys() & close else set()
    return TrustChoice(**{**{k: v for k, v in kept.items() if k not in ended}, **given})


def _merge_machines(one: MachineChoice, other: MachineChoice) -> MachineChoice:
    known = {name: {**getattr(one, name), **getattr(other, name)} for name in _BY_MACHINE}
    given = {name: getattr(other, name) for name in other.model_fields_set}
    return one.model_copy(update=given | known)


def _union(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def study_from(
    space: Space, reports: Iterable[ColumnReport] = (), rules: Iterable[str] = ()
) -> Study:
    """A study that says in full what was inferred, to be edited.

    Inferring the same table with it gives the same space again.
    """
    ignored = {report.name for report in reports if report.role is Role.IGNORED}
    columns = {}
    for parameter in space:
        if parameter.role is Role.IGNORED or parameter.name in ignored:
            columns[parameter.name] = ColumnChoice(role=Role.IGNORED)
        elif isinstance(parameter, Number):
            columns[parameter.name] = _of_number(parameter)
        else:
            columns[parameter.name] = _of_category(parameter)
    return Study(columns=columns, rules=tuple(rules))


def _of_number(parameter: Number) -> ColumnChoice:
    told = ["allowed"] if parameter.allowed is not None else ["low", "high", "step"]
    # What was measured is not chosen from a list, and the next run may go beyond the last.
    legal = {} if parameter.role is Role.OUTCOME else {key: getattr(parameter, key) for key in told}
    return ColumnChoice(
        role=parameter.role,
        kind="number",
        unit=parameter.unit,
        missing="none" if parameter.optional else None,
        **legal,
    )


def _of_category(parameter: Category) -> ColumnChoice:
    labels = tuple(value for value in parameter.values if value is not None)
    return ColumnChoice(
        role=parameter.role,
        kind="category",
        values=labels or None,
        missing="none" if None in parameter.values else None,
    )
