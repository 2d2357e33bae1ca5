"""Linear rules as arrays, so that all of them are evaluated at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from compass.generate.base import Bools, Columns, Floats
from compass.rules import Rule

AT_MOST, EQUAL, BELOW = 0, 1, 2
_KINDS = {"==": EQUAL, "<": BELOW, ">": BELOW}


class LinearRules(NamedTuple):
    """Rules of the form `sum of factor * column + constant <= 0` (or `== 0`, or `< 0`).

    Within `slack` of the size of its terms a sum may count as equal to 0; 0 for whole numbers,
    which are compared exactly.
    """

    factor: Floats  # [r, d]
    constant: Floats  # [r]
    kind: Columns  # [r] AT_MOST, EQUAL or BELOW
    term: Floats  # [r, d] sizes of the factors before terms cancelled out
    size: Floats  # [r] the same of the constant
    slack: Floats  # [r]

    def surely(self, X: Floats) -> Bools:
        """Which rows of X [n, d] obey which sums beyond doubt: bool [n, r]; never an equality."""
        total = X @ self.factor.T + self.constant
        near = self.slack * (np.abs(X) @ self.term.T + self.size)
        return np.asarray(
            np.where(self.kind == BELOW, total < -near, (total <= 0.0) & (self.kind == AT_MOST))
        )

    def turns(self, x: Floats) -> Floats:
        """Per sum and column the value at which it turns true when only that column moves.

        [r, d]; not finite where the sum does not speak of the column.
        """
        total = self.factor @ x + self.constant
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(x - total[:, None] / np.where(self.factor, self.factor, np.nan))


def is_linear(rule: Rule) -> bool:
    """Whether a rule is linear, and no `!=`."""
    return rule.linear is not None and rule.linear.op != "!="


def linear_rules_of(rules: Sequence[Rule], names: Sequence[str]) -> LinearRules:
    """The linear ones among the rules, over these columns."""
    linear = [rule.linear for rule in rules if is_linear(rule) and rule.linear is not None]
    column_of = {name: column for column, name in enumerate(names)}
    sign = np.array([-1.0 if form.op in (">", ">=") else 1.0 for form in linear])
    factor, term = np.zeros((2, len(linear), len(names)))
    for r, form in enumerate(linear):
        for name, value in form.coefficients.items():
            factor[r, column_of[name]] = sign[r] * value
        for name, value in form.sizes.items():
            term[r, column_of[name]] = value
    return LinearRules(
        factor,
        sign * np.array([form.constant for form in linear]),
        np.array([_KINDS.get(form.op, AT_MOST) for form in linear], dtype=np.int64),
        term,
        np.array([form.size for form in linear], dtype=np.float64),
        np.array([form.slack for form in linear], dtype=np.float64),
    )
