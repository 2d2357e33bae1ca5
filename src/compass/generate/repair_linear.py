"""Repair of linear rules: single values are moved just far enough that they hold."""

import numpy as np

from compass.generate.base import Bools, Floats
from compass.generate.blocks import ColumnValues
from compass.generate.linear_rules import LinearRules
from compass.native import kernel

_ROUNDS = 3  # times that every rule is looked at

_repair = kernel("repair_rules")


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
