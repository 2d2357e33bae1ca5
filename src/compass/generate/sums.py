"""Rules that are sums, all of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.rules import Rule

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

SLACK = 1e-9  # share of its terms by which a sum may miss a rule before rounding is ruled out
AT_MOST, EQUAL, BELOW = 0, 1, 2
_KINDS = {"==": EQUAL, "<": BELOW, ">": BELOW}


@dataclass(frozen=True, eq=False)
class Sums:
    """Rules of the form `sum of factor * column + constant <= 0` (or `== 0`, or `< 0`)."""

    factor: Floats  # [r, d]
    constant: Floats  # [r]
    kind: Integers  # [r] AT_MOST, EQUAL or BELOW

    def surely(self, X: Floats) -> Bools:
        """Which rows of X [n, d] obey which sums beyond doubt: bool [n, r]."""
        total = X @ self.factor.T + self.constant
        # What is exactly 0 is as good as below: rules forgive rounding. `< 0` and `== 0` do not.
        slack = SLACK * (np.abs(X) @ np.abs(self.factor).T + np.abs(self.constant))
        limit = np.where(self.kind == AT_MOST, 0.0, np.where(self.kind == BELOW, -slack, -np.inf))
        return np.asarray(total <= limit)

    def turns(self, x: Floats) -> Floats:
        """Per sum and column the value at which it turns true when only that column moves.

        [r, d]; not finite where the sum does not speak of the column.
        """
        total = self.factor @ x + self.constant
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(x - total[:, None] / np.where(self.factor, self.factor, np.nan))


def is_sum(rule: Rule) -> bool:
    """Whether a rule is one of the sums."""
    return rule.linear is not None and rule.linear.op != "!="


def sums_of(rules: Sequence[Rule], names: Sequence[str]) -> Sums:
    """The sums among the rules, over these columns."""
    linear = [rule.linear for rule in rules if is_sum(rule) and rule.linear is not None]
    factor, constant = np.zeros((len(linear), len(names))), np.zeros(len(linear))
    for r, form in enumerate(linear):
        sign = -1.0 if form.op in (">", ">=") else 1.0
        constant[r] = sign * form.constant
        for name, value in form.coefficients.items():
            factor[r, list(names).index(name)] = sign * value
    kind = [_KINDS.get(form.op, AT_MOST) for form in linear]
    return Sums(factor, constant, np.array(kind, dtype=np.int64))
