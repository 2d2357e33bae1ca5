"""Where a recommendation starts: matching past runs, the contexts they ran in, the best of them.

Decision 0005 (docs/decisions).
"""

import numpy as np

from compass.domain.base import Value
from compass.domain.expression import Comparison, Expression, Literal, Name
from compass.domain.query import Query
from compass.domain.space import Space
from compass.engine.scope import Scope
from compass.evidence.matching import obeyed
from compass.language import format_value, parse_rule
from compass.learn.features import FeatureView, Floats, Rows
from compass.prepare.encode import Encoder
from compass.prepare.weigh import order


def pinned_by(query: Query, space: Space) -> dict[str, float]:
    """Features that the conditions set to one value (`partition == 1`), encoded."""
    found: dict[str, float] = {}
    for rule in query.where:
        pair = equality(parse_rule(rule.text))
        if pair is not None and pair[0] in space and pair[0] not in query.ask:
            vector = Encoder(space.select([pair[0]])).encode({pair[0]: pair[1]})
            found[pair[0]] = float(vector[0])
    return found


def equality(node: Expression) -> tuple[str, Value] | None:
    """The column and the value of a rule such as `partition == 1`."""
    match node:
        case Comparison("==", Name(name), Literal(value)):
            return name, value
        case Comparison("==", Literal(value), Name(name)):
            return name, value
        case _:
            return None


def matching_rows(scope: Scope, given: dict[str, float]) -> tuple[Rows, tuple[str, ...]]:
    """Past runs that meet all conditions, else those that meet most of them (and a note)."""
    view = scope.view
    complete = np.isfinite(view.X).all(axis=1) & view.prepared.measured
    checks = obeyed(scope.rules, scope.conditions, scope.outcomes, view)
    names = [rule.text for rule in (*scope.rules, *scope.conditions)]
    for name, value in given.items():
        checks.append(view.X[:, view.names.index(name)] == value)
        names.append(f"{name} = {_shown(view.features, name, value)}")
    if not checks:
        return np.flatnonzero(complete), ()
    met = np.column_stack(checks)
    everything = complete & met.all(axis=1)
    if everything.any():
        return np.flatnonzero(everything), ()
    count = np.where(complete, met.sum(axis=1), -1)
    best = np.flatnonzero(count == count.max())
    unmet = np.flatnonzero(~met[best].all(axis=0))
    common = [names[i] for i in unmet]
    note = (
        "No past run meets all conditions; the search starts from runs that meet most of them"
        f" (not met by all of those: {'; '.join(dict.fromkeys(common))})."
    )
    return best, (note,)


def _shown(space: Space, name: str, value: float) -> str:
    return format_value(Encoder(space.select([name])).decode(np.array([value]))[name])


def contexts_of(
    view: FeatureView,
    rows: Rows,
    start: Floats,
    varying: list[int],
    fixed: dict[int, float],
    limit: int,
    rng: np.random.Generator,
) -> Floats:
    """Distinct past values [c, d] of the `varying` columns; the start's own come first.

    Drawn from the matching rows as often as runs of the source have them; `fixed` columns have one
    value everywhere.
    """
    full = np.repeat(start[None, :], len(rows), axis=0)
    full[:, varying] = view.X[rows][:, varying]
    for column, value in fixed.items():
        full[:, column] = value
    chosen = full[order(view.prepared.weight[rows], len(full), rng)[: 8 * limit]]
    together = np.concatenate([start[None, :], chosen])
    distinct = np.unique(together, axis=0, return_index=True)[1]
    return np.asarray(together[np.sort(distinct)][:limit])
