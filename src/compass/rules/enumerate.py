"""All legal combinations of values, where there are few enough of them."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from compass.rules.domains import Domain, listed
from compass.rules.evaluate import Rule
from compass.rules.functions import FloatArray
from compass.rules.narrow import narrow
from compass.rules.solve import solvable, solve

_CHUNK = 1 << 18  # rows tried at once
_EFFORT = 50  # rows tried in all, in units of the limit
_PRUNES = 0.3  # what a rule is expected to leave of the rows it is applied to


def components(rules: Iterable[Rule], free: Sequence[str]) -> list[tuple[str, ...]]:
    """The free columns in groups that share rules, each group in the order of `free`."""
    group = {name: {name} for name in free}
    for rule in rules:
        linked = [group[name] for name in rule.names if name in group]
        for other in linked[1:]:
            merged = linked[0]
            if other is not merged:
                merged |= other
                group.update(dict.fromkeys(other, merged))
    seen: dict[int, tuple[str, ...]] = {}
    for name in free:
        seen.setdefault(id(group[name]), tuple(n for n in free if n in group[name]))
    return list(seen.values())


def legal_tuples(
    rules: Sequence[Rule],
    names: Sequence[str],
    domains: Mapping[str, Domain],
    fixed: Mapping[str, float],
    limit: int,
) -> FloatArray | None:
    """Every combination [m, len(names)] of legal values that obeys the rules, in order.

    Only rules whose columns are all among `names` and `fixed` are applied, each as soon as its
    last column is placed. None: a domain is not finite, or the table of partial combinations
    would grow beyond `limit` rows.
    """
    known = {*names, *fixed}
    relevant = [rule for rule in rules if known.issuperset(rule.names)]
    narrowed = narrow(relevant, {name: domains[name] for name in names}, fixed)
    if narrowed is None:
        return np.empty((0, len(names)))
    values: dict[str, FloatArray] = {}
    for name, domain in narrowed.items():
        legal = listed(domain, limit).values
        if legal is None or len(legal) > limit:
            return None
        values[name] = legal
    search = _Enumeration(
        relevant, values, {name: np.array([float(v)]) for name, v in fixed.items()}, limit
    )
    columns = search.run()
    if columns is None:
        return None
    if not names:
        return np.empty((1, 0))
    table = np.column_stack([columns[name] for name in names])
    return table[np.lexsort(table.T[::-1])]


class _Enumeration:
    """Columns placed one after the other, the most determined first."""

    def __init__(
        self,
        rules: Sequence[Rule],
        values: Mapping[str, FloatArray],
        fixed: Mapping[str, FloatArray],
        limit: int,
    ) -> None:
        self.rules = [rule for rule in rules if any(name in values for name in rule.names)]
        self.values = values
        self.fixed = {name: value for name, value in fixed.items() if name not in values}
        self.limit = limit
        self.effort = _EFFORT * limit

    def run(self) -> dict[str, FloatArray] | None:
        """The columns of all legal combinations; None when there are too many."""
        columns: dict[str, FloatArray] = {}
        left = list(self.values)
        while left:
            name = min(left, key=lambda n: self._growth(n, columns))
            left.remove(name)
            rows = len(next(iter(columns.values()))) if columns else 1
            if rows == 0:
                return {n: np.empty(0) for n in self.values}
            found = self._place(name, columns, rows)
            if found is None:
                return None
            columns = found
        return columns

    def _complete(self, name: str, columns: Mapping[str, FloatArray]) -> list[Rule]:
        """The rules whose last column this is."""
        there = {*columns, *self.fixed, name}
        return [r for r in self.rules if name in r.names and there.issuperset(r.names)]

    def _growth(self, name: str, columns: Mapping[str, FloatArray]) -> float:
        complete = self._complete(name, columns)
        solved = bool(columns) and any(solvable(rule, name) for rule in complete)
        return (1.0 if solved else len(self.values[name])) * float(_PRUNES ** len(complete))

    def _place(
        self, name: str, columns: Mapping[str, FloatArray], rows: int
    ) -> dict[str, FloatArray] | None:
        complete = self._complete(name, columns)
        exact = next((r for r in complete if columns and solvable(r, name)), None)
        size = 2 if exact is not None else len(self.values[name])
        kept: list[dict[str, FloatArray]] = []
        total = 0
        per_chunk = max(1, _CHUNK // max(size, 1))
        for start in range(0, rows, per_chunk):
            part = {n: column[start : start + per_chunk] for n, column in columns.items()}
            repeated, new = self._extend(name, part, min(per_chunk, rows - start), exact)
            self.effort -= len(repeated)
            grown = {n: column[repeated] for n, column in part.items()} | {name: new}
            good = np.ones(len(repeated), dtype=np.bool_)
            for rule in complete:
                good &= rule.holds_for(self.fixed | grown)
            kept.append({n: column[good] for n, column in grown.items()})
            total += int(good.sum())
            if total > self.limit or self.effort < 0:
                return None
        return {n: np.concatenate([part[n] for part in kept]) for n in [*columns, name]}

    def _extend(
        self, name: str, part: Mapping[str, FloatArray], rows: int, exact: Rule | None
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Rows to repeat and the value that each repetition gets."""
        values = self.values[name]
        every = np.arange(rows)
        if exact is None:
            return np.repeat(every, len(values)), np.tile(values, rows)
        wanted, anything = solve(exact, name, {**self.fixed, **part})
        wanted = np.broadcast_to(wanted, rows)
        open_rows = every[np.broadcast_to(anything, rows)]
        sure = every[~np.broadcast_to(anything, rows) & np.isfinite(wanted)]
        place = np.clip(np.searchsorted(values, np.round(wanted[sure])), 0, len(values) - 1)
        repeated = np.concatenate([sure, np.repeat(open_rows, len(values))])
        return repeated, np.concatenate([values[place], np.tile(values, len(open_rows))])
