"""How likely it is an accident that no row breaks a rule: one of its columns is shuffled.

Were two columns independent, every order of the one beside the other would be as likely. A rule
that lets each value x of the one stand beside a set S(x) of values of the other, where of two such
sets one always holds the other (`a * b <= 1024`, `a > 16 -> b <= 4`), holds on all rows in

    product over i = 1 .. n of (s_i - i + 1)

of the n! orders, where s_i is the i-th smallest number of rows whose value is in the set: the row
with the fewest choices is served first, and each takes one from all that follow.

A limit that is the largest product there is (`a * b <= max`) is broken by no row by itself; the
formula is then the chance that shuffled columns have no larger one, the level of a one-sided test.
"""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def log_accident(choices: Counts) -> float:
    """log P that no row breaks a rule; `choices` [n] are the rows that each row's value allows."""
    n = len(choices)
    free = np.sort(choices) - np.arange(n)
    if (free <= 0).any():
        return -np.inf
    return float(np.log(free).sum() - np.log(np.arange(1, n + 1)).sum())


def log_accident_of_limit(left: Floats, right: Floats, limit: float) -> float:
    """log P of `left * right <= limit` [n] on all rows; both are positive."""
    return log_accident(np.searchsorted(np.sort(right), limit / left * (1 + 1e-12), "right"))


def log_accident_of_least(left: Floats, right: Floats, least: float) -> float:
    """log P of `left * right >= least` [n] on all rows; both are positive."""
    below = np.searchsorted(np.sort(right), least / left * (1 - 1e-12), "left")
    return log_accident(len(right) - below)
