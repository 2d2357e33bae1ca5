"""The questions whose answers are recorded: every kind, goal, certificate and family of models."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import compass as cp
from benchmarks.roles import data_folder, sources
from compass import embedded
from compass.domain.space import Number, Role
from compass.settings import LightGBMSettings, NeuralSettings, Settings

FAMILIES = ("forest", "lightgbm", "xgboost", "linear", "neural", "gaussian")
PROVE = 5.0  # seconds; a proof that is cut all the same is not compared
ROWS = 1500  # of a public table: families such as gaussian grow faster than the rows


@dataclass(frozen=True)
class Asked:
    """One question: its name and how it is asked."""

    name: str
    ask: Callable[[], Any]


def engines() -> Iterator[tuple[str, cp.Compass]]:
    """The embedded data with every family, each public table that is here with three."""
    own = cp.read(embedded.path(), study=embedded.study())
    for family in FAMILIES:
        yield f"embedded/{family}", cp.Compass(own, settings=settings(family))
    folder = data_folder()
    for name, source in sources().items():
        if source.absent(folder):
            continue
        data = source.read(folder)
        for family in ("forest", "lightgbm", "linear"):
            keep = min(1.0, ROWS / data.table.rows)
            yield f"{name}/{family}", cp.Compass(data, settings=settings(family), keep=keep)


def settings(family: str) -> Settings:
    """Small models: the answers are compared, not admired."""
    return Settings(
        surrogate=family,
        scale="linear" if family == "xgboost" else "log" if family == "lightgbm" else "auto",
        lightgbm=LightGBMSettings(rounds=60),
        neural=NeuralSettings(layers=1, units=16, epochs=40),
        prove=PROVE,
        deadline=600.0,
    )


def questions(engine: cp.Compass) -> Iterator[Asked]:
    """The questions of one engine, made from its own columns and runs."""
    space, prepared = engine.space, engine.data.prepared
    knobs = list(space.having(Role.KNOB))[:6]
    outcomes = [n for n in space.having(Role.OUTCOME) if isinstance(space[n], Number)]
    if not outcomes:
        return  # a table of classes only has none of these questions
    outcome = outcomes[0]
    y = prepared.column(outcome)
    rows = [int(prepared.row_id[i]) for i in np.flatnonzero(np.isfinite(y))[[3, 57, 211]]]
    low, middle = (float(v) for v in np.nanquantile(y, [0.1, 0.5]))
    first = engine.data.row(rows[0])
    contexts = [n for n in space.having(Role.CONTEXT) if first.get(n) is not None][:2]
    where = [f"`{n}` == {_said(first[n])}" for n in contexts]
    yield Asked(
        "recommend, least", lambda: engine.recommend(knobs, {outcome: cp.minimize}, count=5)
    )
    yield Asked(
        "recommend in a context",
        lambda: engine.recommend(knobs, {outcome: cp.minimize}, where=where, count=3),
    )
    yield Asked(
        "recommend two knobs",
        lambda: engine.recommend(knobs[:2], {outcome: cp.at_most(middle)}, where=where),
    )
    yield Asked(
        "recommend a range", lambda: engine.recommend(knobs, {outcome: cp.within(low, middle)})
    )
    yield Asked(
        "recommend the impossible",
        lambda: engine.recommend(
            knobs, {outcome: cp.at_most(low - 10 * abs(low) - 1)}, where=where
        ),
    )
    number = next((n for n in knobs if isinstance(space[n], Number)), None)
    if number is not None:
        yield Asked(
            "recommend under a conflict",
            lambda: engine.recommend(
                knobs, {outcome: cp.minimize}, where=[f"`{number}` > 1", f"`{number}` < 1"]
            ),
        )
    for row in rows:
        yield Asked(
            f"reconfigure row {row}",
            lambda row=row: engine.reconfigure(row, knobs, {outcome: cp.less(0.1)}, count=4),
        )
        yield Asked(
            f"reconfigure two knobs of row {row}",
            lambda row=row: engine.reconfigure(row, knobs[:2], {outcome: cp.less(0.3)}),
        )
        other = engine.data.row(rows[0] if row != rows[0] else rows[1])[knobs[0]]
        yield Asked(
            f"what if row {row}",
            lambda row=row, other=other: engine.what_if(row, {knobs[0]: other}, [outcome]),
        )
    yield Asked(
        "what if all",
        lambda: engine.what_if(None, {knobs[0]: first[knobs[0]]}, [outcome], where=where),
    )
    yield Asked("run next", lambda: engine.run_next(4))
    yield Asked("explain", lambda: engine.explain(rows[0], [outcome]))


def _said(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
