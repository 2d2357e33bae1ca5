"""How the rows of a source are chosen: what a person wants, and the plan of the pass for that."""

from dataclasses import dataclass, field, replace

import numpy as np

from compass import registry
from compass.domain.errors import BadInput, DataProblem, unknown
from compass.domain.space import Role
from compass.domain.study import Study
from compass.readers.sample import COLUMNS
from compass.reducers.columns import Cells, cells_of, is_label
from compass.reducers.draws import check_share
from compass.reducers.filters import filters_of
from compass.reducers.pilot import Pilot, PilotPool, learn_pilot, required_of
from compass.reducers.probabilities import ByScore, EqualProbability, label_features, strata
from compass.reducers.scan import ScanPlan, usable_rows
from compass.settings import ReduceSettings

METHODS = ("guided", "uniform", "stratified", "front")
_COUNTED = 60  # labels of a column up to which they are counted one by one


@dataclass(frozen=True)
class Choice:
    """What a person wants of a sample."""

    keep: float
    method: str = "guided"
    by: tuple[str, ...] = ()  # columns of the strata
    where: tuple[str, ...] = ()  # conditions that rows must meet
    seed: int = 7
    study: Study = field(default_factory=Study)
    skip_unreadable: bool = False
    settings: ReduceSettings = field(default_factory=ReduceSettings)

    def check(self) -> None:
        """Raises the error that says what cannot be meant."""
        check_share(self.keep)
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if self.by and self.method != "stratified":
            raise BadInput(
                f"the method {self.method} makes no strata", hint="add --method stratified"
            )


def scan_plan(pool: PilotPool, choice: Choice) -> tuple[ScanPlan, Pilot | None]:
    """How rows are chosen, from what the pool teaches."""
    arrow = pool.table.arrow
    seen, failed = pool.seen(choice.study)
    types = {one.name: one.type for one in seen.schema}
    used = [p.name for p in pool.space if p.role is not Role.IGNORED]
    measured = [n for n in used if not is_label(types[n])]
    columns = cells_of(seen, failed)
    counted = [n for n in used if is_label(types[n]) and len(columns[n].codes()[1]) <= _COUNTED]
    plan = ScanPlan(
        seed=choice.seed,
        shape=pool.shape,
        probabilities=EqualProbability(choice.keep),
        filters=filters_of(choice.where, pool.space),
        required=required_of(pool.space, types),
        outcomes=tuple((n, not is_label(types[n])) for n in pool.space.having(Role.OUTCOME)),
        numbers={name: _about(columns[name]) for name in measured},
        labels=tuple(counted),
        rewrite=choice.study.map or None,
        writings=pool.writings,
        names=tuple(n for n in arrow.column_names if n not in (*COLUMNS, *choice.study.drop)),
        known=frozenset(arrow.column_names),
    )
    usable = usable_rows(columns, seen, plan, arrow.num_rows, {}).view(np.bool_)
    if not usable.any():
        raise DataProblem(
            f"none of the {arrow.num_rows} rows looked at first meets the conditions and has all "
            "values",
            hint="look at the columns first: compass columns; keep gaps with --missing COL=none",
        )
    if choice.method == "uniform":
        return plan, None
    if choice.method == "stratified":
        by = choice.by or label_features(pool.space, types)
        probabilities = strata(columns, by, usable, choice.keep, choice.settings.floor)
        return replace(plan, probabilities=probabilities), None
    if choice.method == "front":
        reducer = registry.get("reducer", "front")
        floor = choice.settings.floor
        probabilities = reducer.of_pilot(columns, pool.space, usable, choice.keep, floor)
        return replace(plan, probabilities=probabilities), None
    pilot = learn_pilot(pool, choice.study, usable, choice.keep, choice.seed, choice.settings)
    return replace(plan, probabilities=ByScore(pilot.scorer, pilot.a, pilot.b)), pilot


def _about(cells: Cells) -> float:
    values = np.asarray(cells.numbers(), dtype=np.float64)
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else 0.0
