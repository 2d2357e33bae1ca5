"""Repair of linear rules: single values are moved just far enough that they hold."""

from typing import Any

import numpy as np
from numba import types

from compass.execute.kernel import f8, f8_2d, i8, integer, kernel, to_f8_2d
from compass.generate.base import Bools, Floats
from compass.generate.blocks import ColumnValues
from compass.generate.linear_rules import BELOW, EQUAL, LinearRules

_ROUNDS = 3  # times that every rule is looked at
_flags_2d = types.Array(types.boolean, 2, "C", readonly=True)


def repair_linear(
    rules: LinearRules, values: ColumnValues, X: Floats, keep: Bools, chance: Floats
) -> Floats:
    """X [n, d] with single values moved just far enough that rules hold, where that succeeds.

    `keep` [n, d] marks cells that must not move; `chance` [n] (in 0 .. 1) decides which of the
    columns of a broken rule gives way.
    """
    X = np.ascontiguousarray(X).copy()
    if len(X) and len(rules.constant):
        given = np.ascontiguousarray(keep), np.ascontiguousarray(chance)
        _repair(*rules, values.start, values.value, *given, _ROUNDS, X)
    return X


@kernel(f8_2d, f8, i8, f8_2d, f8, f8, i8, f8, _flags_2d, f8, integer, to_f8_2d)
def _repair(  # noqa: PLR0912 - one pass without calls is what makes it fast
    factor: Any,
    constant: Any,
    kind: Any,
    term: Any,
    size: Any,
    slack: Any,
    start: Any,
    value: Any,
    keep: Any,
    chance: Any,
    rounds: int,
    X: Any,
) -> None:
    rules, width = factor.shape
    for row in range(X.shape[0]):
        luck = chance[row]
        for _ in range(rounds):
            fine = True
            for r in range(rules):
                total, near, able = constant[r], size[r], 0
                for c in range(width):
                    near += term[r, c] * abs(X[row, c])
                    if factor[r, c] != 0.0:
                        total += factor[r, c] * X[row, c]
                        if start[c + 1] > start[c] and not keep[row, c]:
                            able += 1
                near *= slack[r]
                missed = abs(total) if kind[r] == EQUAL else total
                if missed < -near if kind[r] == BELOW else missed <= near:
                    continue
                fine = False
                if able == 0:
                    continue
                # A fixed sequence of choices from one random number: the same seed, the same row.
                luck = (luck * 9301.0 + 0.49297) % 1.0
                nth = min(int(luck * able), able - 1)
                for c in range(width):
                    if factor[r, c] == 0.0 or start[c + 1] <= start[c] or keep[row, c]:
                        continue
                    if nth > 0:
                        nth -= 1
                        continue
                    wanted = X[row, c] - total / factor[r, c]
                    up = factor[r, c] < 0.0  # the sum falls as the column grows
                    # A sum that has to stay below 0 excludes the value at which it is 0.
                    strict = kind[r] == BELOW
                    close = (-1.0 if strict else 1.0) * near / abs(factor[r, c])
                    first, last = start[c], start[c + 1]
                    limit = wanted - close if up else wanted + close
                    while first < last:
                        middle = (first + last) // 2
                        if value[middle] < limit or (up == strict and value[middle] == limit):
                            first = middle + 1
                        else:
                            last = middle
                    at = first if up else first - 1
                    X[row, c] = value[min(max(at, start[c]), start[c + 1] - 1)]
                    break
            if fine:
                break
