"""Compiled loops that find pairs of comparable runs; `ledger` says what they are for."""

import numpy as np
from numpy.typing import NDArray

from compass.execute.kernel import (
    f8,
    f8_2d,
    i4,
    i4_2d,
    i8,
    integer,
    kernel,
    number,
    to_f8,
    to_f8_2d,
    to_i8,
)
from compass.trust.distance import CATEGORY, add_squares
from compass.trust.rank import Floats, Rows

_NEAR = 0.125  # a value is near the old or the new one within this share of the move
_FAR = 1e6  # more than any two values of one column are apart, squared


@kernel()
def _between(kind: int, a: float, b: float) -> float:
    """The square of how far two coordinates are apart."""
    if kind == CATEGORY:
        return 0.0 if a == b else 1.0
    if np.isnan(a) or np.isnan(b):
        return 0.0 if np.isnan(a) and np.isnan(b) else 1.0
    return (a - b) * (a - b)


@kernel(i8, f8_2d, integer, integer, f8, i8, to_f8_2d)
def totals(
    kind: Rows,
    columns: Floats,
    first: int,
    last: int,
    point: Floats,
    sized: Rows,
    apart: Floats,
) -> None:
    """Squares of distances to a point: of the sizes of the problem, and of everything."""
    for j in range(kind.size):
        add_squares(kind[j], columns[j, first:last], point[j], apart[1])
    for j in sized:
        add_squares(kind[j], columns[j, first:last], point[j], apart[0])


@kernel(integer, f8, number, number, to_f8)
def shift(kind: int, values: Floats, old: float, new: float, apart: Floats) -> None:
    """Squares of distances when one coordinate of the point changes."""
    if kind == CATEGORY or np.isnan(old) or np.isnan(new):
        for i in range(values.size):
            apart[i] += _between(kind, values[i], new) - _between(kind, values[i], old)
        return
    for i in range(values.size):
        step = (values[i] - new) * (values[i] - new) - (values[i] - old) * (values[i] - old)
        apart[i] += 0.0 if np.isnan(step) else step


@kernel(i8, f8_2d, integer, f8, f8_2d, f8, i8, i4, f8, to_i8, to_f8)
def gather(
    kind: Rows,
    columns: Floats,
    first: int,
    apart: Floats,
    near: Floats,
    point: Floats,
    moved: Rows,
    among: NDArray[np.int32],
    values: Floats,
    found: Rows,
    least: Floats,
) -> None:
    """Of runs that are at one end of the first moved column, those that are nearest otherwise."""
    most = found.size
    lead, q = moved[0], point[moved[0]]
    # At an end that is a label or `none` all runs are as far from the suggestion in that column.
    exact = kind[lead] == CATEGORY or np.isnan(near[0, 0]) or np.isnan(q)
    same = _between(kind[lead], near[0, 0], q)
    slack = _FAR * (moved.size - 1)
    for t in range(among.size):
        i = among[t]
        total = apart[i - first] - (same if exact else (values[t] - q) * (values[t] - q))
        if not total < least[most - 1] + slack:
            continue
        fits = True
        for m in range(1, moved.size):
            value = columns[moved[m], i]
            none = np.isnan(near[m, 0])
            fits = np.isnan(value) if none else near[m, 0] <= value <= near[m, 1]
            if not fits:
                break
            total -= _between(kind[moved[m]], value, point[moved[m]])
        total = max(total, 0.0)
        if fits and total < least[most - 1]:
            place = most - 1
            while place > 0 and least[place - 1] > total:
                least[place] = least[place - 1]
                found[place] = found[place - 1]
                place -= 1
            least[place] = total
            found[place] = i


@kernel(i8, f8_2d, i8, i8, i8, i8, number, to_i8, to_f8)
def match(
    kind: Rows,
    columns: Floats,
    same: Rows,
    old: Rows,
    new: Rows,
    others: Rows,
    tolerance: float,
    partner: Rows,
    gap: Floats,
) -> None:
    """Give each run at the new end the closest free run at the old end with the same context."""
    used = np.zeros(old.size, dtype=np.bool_)
    limit = tolerance * tolerance * (1 + 1e-9)
    for b in range(new.size):
        if new[b] < 0:
            break
        best, least = -1, np.inf
        for a in range(old.size):
            if old[a] < 0:
                break
            if used[a] or same[old[a]] != same[new[b]]:
                continue
            total = 0.0
            for j in others:
                total += _between(kind[j], columns[j, old[a]], columns[j, new[b]])
                if total > limit:
                    break
            if total <= limit and total < least:
                best, least = a, total
        if best >= 0:
            used[best] = True
            partner[b] = old[best]
            gap[b] = np.sqrt(least)


@kernel()
def _bound(values: Floats, x: float, above: bool) -> int:
    """Where values at least (or above) x begin; NaN, which is `none`, is larger than all."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        value = values[middle]
        smaller = value <= x if above else value < x
        before = (above or not np.isnan(value)) if np.isnan(x) else smaller
        if before:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(i8, f8_2d, i4_2d, f8_2d, i8, integer, f8, f8, f8, i8, i8, number, to_i8, to_i8, to_f8)
def find(
    kind: Rows,
    columns: Floats,
    order: NDArray[np.int32],
    ranked: Floats,
    same: Rows,
    first: int,
    apart: Floats,
    start: Floats,
    point: Floats,
    moved: Rows,
    others: Rows,
    tolerance: float,
    old: Rows,
    new: Rows,
    gap: Floats,
) -> None:
    """Pairs for one move: `new` gets the runs at its new end, `old` their partners or -1."""
    most, last = new.size, first + apart.size
    near, turned = np.empty((moved.size, 2)), moved.copy()
    found = np.full((2, most), -1, dtype=np.int64)
    for side in range(2):
        lead, low, high = 0, 0, 0
        for m in range(moved.size):
            j = moved[m]
            near_end = start[j] if side == 0 else point[j]
            far_end = point[j] if side == 0 else start[j]
            exact = kind[j] == CATEGORY or np.isnan(near_end) or np.isnan(far_end)
            room = 0.0 if exact else _NEAR * abs(far_end - near_end) * (1 + 1e-9)
            near[m, 0], near[m, 1] = near_end - room, near_end + room
            turned[m] = j
            begin = _bound(ranked[j, first:last], near[m, 0], False)
            end = _bound(ranked[j, first:last], near[m, 1], True)
            if m == 0 or end - begin < high - low:
                lead, low, high = m, begin, end
        # The runs at this end of the column with the fewest; of the other columns each is asked.
        for c in range(2):
            near[0, c], near[lead, c] = near[lead, c], near[0, c]
        turned[0], turned[lead] = turned[lead], turned[0]
        among = order[turned[0], first + low : first + high]
        values = ranked[turned[0], first + low : first + high]
        least = np.full(most, np.inf)
        gather(kind, columns, first, apart, near, point, turned, among, values, found[side], least)
    new[:] = found[1]
    match(kind, columns, same, found[0], found[1], others, tolerance, old, gap)
