"""Conditions on rows, checked batch by batch."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.expression import (
    And,
    Comparison,
    Expression,
    Literal,
    Membership,
    Name,
    names_in,
)
from compass.domain.space import Category, Parameter, Space
from compass.language.bind import bind_rule
from compass.language.parse import parse_rule
from compass.prepare.cells import label_key
from compass.prepare.encode import Encoder
from compass.readers import Table
from compass.reducers.columns import Cells
from compass.rules.evaluate import compile_rule

_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class NumberFilter:
    """`column op number`: the common case, without encoding the batch."""

    text: str
    name: str
    op: str
    value: float

    def holds(self, columns: dict[str, Cells], table: pa.Table | None) -> NDArray[np.bool_]:
        """Which rows obey, bool[n]; a missing cell does not."""
        del table
        values = columns[self.name].numbers()
        found: NDArray[np.bool_] = _COMPARE[self.op](values, self.value)
        if self.op == "!=" and values.dtype.kind == "f":
            found &= ~np.isnan(values)
        return found


@dataclass(frozen=True)
class LabelFilter:
    """`column == label` or `column in {labels}`; the same without encoding the batch."""

    text: str
    name: str
    values: tuple[Value, ...]

    def holds(self, columns: dict[str, Cells], table: pa.Table | None) -> NDArray[np.bool_]:
        """Which rows obey, bool[n]; a missing cell does not."""
        del table
        codes, labels = columns[self.name].codes()
        allowed = np.array([*(label in self.values for label in labels), False])
        return np.take(allowed, codes)


@dataclass(frozen=True)
class RuleFilter:
    """Any other rule, over the columns that it names."""

    text: str
    expression: Expression
    space: Space

    def holds(self, columns: dict[str, Cells], table: pa.Table | None) -> NDArray[np.bool_]:
        """Which rows obey, bool[n]; a missing cell does not."""
        assert table is not None  # a batch that is looked at quickly has plain conditions only
        space = Space(parameters=tuple(_with_new_labels(one, columns) for one in self.space))
        rule = compile_rule(self.expression, space, space.names, self.text)
        part = Table.of(table.select(space.names))
        found: NDArray[np.bool_] = rule.holds(Encoder(space).encode_table(part))
        return found


def _with_new_labels(parameter: Parameter, columns: dict[str, Cells]) -> Parameter:
    """A category with the labels of a batch that were not among the rows looked at first."""
    if not isinstance(parameter, Category):
        return parameter
    known = set(map(label_key, parameter.values))
    labels = columns[parameter.name].codes()[1]
    new = tuple(label for label in labels if label_key(label) not in known)
    return parameter.model_copy(update={"values": (*parameter.values, *new)}) if new else parameter


Filter = NumberFilter | LabelFilter | RuleFilter


def filters_of(texts: tuple[str, ...], space: Space) -> tuple[Filter, ...]:
    """The conditions that rows have to meet; names and labels are those of the space."""
    return tuple(
        one for text in texts for one in _of(bind_rule(parse_rule(text), space), space, text)
    )


def _of(rule: Expression, space: Space, text: str) -> list[Filter]:
    match rule:
        case And(operands):
            return [one for part in operands for one in _of(part, space, text)]
        case Comparison(op, Name(name), Literal(value)):
            parameter = space[name]
            if isinstance(parameter, Category) and op == "==" and isinstance(value, str):
                return [LabelFilter(text, name, (value,))]
            plain = not isinstance(parameter, Category) and not parameter.optional
            if plain and isinstance(value, int | float):
                return [NumberFilter(text, name, op, float(value))]
        case Membership(Name(name), values):
            labels = tuple(one.value for one in values)
            if isinstance(space[name], Category) and all(isinstance(v, str) for v in labels):
                return [LabelFilter(text, name, labels)]
    compile_rule(rule, space, space.names, text)
    return [RuleFilter(text, rule, space.select(names_in(rule)))]
