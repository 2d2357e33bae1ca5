"""What a rule says about configurations: whether it holds, and how far away that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compass.domain.errors import RuleProblem, unknown
from compass.domain.expression import Expression, names_in
from compass.domain.space import Category, Number, Space
from compass.language import format_rule
from compass.rules.check import check_rule
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.linear import LinearForm, linear_form
from compass.rules.truth import truth
from compass.rules.values import EncodedColumns, decimal_columns, whole_columns


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule that can be asked about an encoded matrix X [n, d].

    A rule that involves a missing (NaN) cell, or something without a value such as a division by
    zero, is unknown and does not hold. The level `none` of an optional number equals only `none`;
    every other comparison with it is false.
    """

    text: str
    names: tuple[str, ...]
    expression: Expression
    linear: LinearForm | None
    parameters: Mapping[str, Number | Category]
    columns: tuple[str, ...]
    whole: frozenset[str]
    decimal: frozenset[str]

    def holds(self, X: FloatArray) -> BoolArray:
        """Whether each row of X [n, d] obeys the rule: bool [n]."""
        return np.array(np.broadcast_to(self.holds_for(self._by_name(X)), len(X)))

    def violation(self, X: FloatArray) -> FloatArray:
        """By how much each row misses the rule: float64 [n], finite, 0 exactly where it holds."""
        return np.array(np.broadcast_to(self.violation_for(self._by_name(X)), len(X)))

    def holds_for(self, columns: Mapping[str, FloatArray]) -> BoolArray:
        """The same for columns by name, of any shapes that broadcast together."""
        with np.errstate(all="ignore"):
            return truth(self.expression, self.table(columns), measure=False).holds

    def violation_for(self, columns: Mapping[str, FloatArray]) -> FloatArray:
        """The violation for columns by name, of any shapes that broadcast together."""
        with np.errstate(all="ignore"):
            found = truth(self.expression, self.table(columns), measure=True)
        assert found.amount is not None
        return found.amount

    def table(self, columns: Mapping[str, FloatArray]) -> EncodedColumns:
        """Columns by name together with what they mean."""
        return EncodedColumns(columns, self.parameters, self.whole, self.decimal)

    def _by_name(self, X: FloatArray) -> dict[str, FloatArray]:
        if X.ndim != 2 or X.shape[1] != len(self.columns):
            raise RuleProblem(
                f"a matrix of shape {X.shape} does not have the {len(self.columns)} columns "
                f"that the rule was made for: {self.text}",
                hint=f"its columns are {', '.join(self.columns[:8])}",
            )
        # Rules read a column several times: one copy beats many strided passes.
        return {n: np.ascontiguousarray(X[:, self.columns.index(n)]) for n in self.names}


def compile_rule(
    expression: Expression, space: Space, columns: Sequence[str], text: str | None = None
) -> Rule:
    """The rule that a bound expression states about matrices with these columns.

    A rule that makes no sense on the space is refused with a RuleProblem; an unknown label or
    column with an UnknownName.
    """
    names = names_in(expression)
    for name in names:
        if name not in space:
            raise unknown("column", name, space.names)
        if name not in columns:
            raise unknown("column", name, columns, where=f"in: {format_rule(expression)}")
    check_rule(expression, space)
    parameters = {name: space[name] for name in names}
    return Rule(
        text=format_rule(expression) if text is None else text,
        names=names,
        expression=expression,
        linear=linear_form(expression, space),
        parameters=parameters,
        columns=tuple(columns),
        whole=whole_columns(parameters),
        decimal=decimal_columns(parameters),
    )
