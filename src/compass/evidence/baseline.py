"""The configuration that a question starts from: read, checked and changed as stated."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Config, Value
from compass.domain.errors import BaselineProblem, QueryProblem
from compass.domain.query import Given, Plus, Query, Row, SetTo, Times
from compass.domain.space import Category, Number, Role, Space
from compass.evidence.unseen import in_words, unseen_value
from compass.language import format_value
from compass.learn.features import FeatureView
from compass.learn.store import ModelStore
from compass.prepare.encode import Encoder
from compass.rules import Rule

Floats = NDArray[np.float64]
_MEASURED = 0.01  # a stated outcome may be rounded this much


def encode(baseline: Row | Given, store: ModelStore, view: FeatureView) -> tuple[Floats, Config]:
    """The baseline's features [d], and its measured outcomes where they are known."""
    space = store.prepared.space
    if isinstance(baseline, Row):
        position = store.everything.position(baseline.row)  # also says when there is no such row
        config = Encoder(space).decode(store.everything.values[position])
        where = store.everything.table.row_label(baseline.row)
        known = bool(store.everything.measured[position])
    else:
        config, where, known = baseline.config, "the baseline", True
    features = view.features.names
    gaps = [
        name
        for name in features
        if name not in config or (_missing(config[name]) and not view.features[name].optional)
    ]
    if gaps:
        raise BaselineProblem(
            f"{where} has no value for {', '.join(gaps)}",
            hint="give every feature, or start from a past run (--from row:N)",
        )
    vector = Encoder(view.features).encode({name: config[name] for name in features})
    measured = {
        name: config[name]
        for name in (space.having(Role.OUTCOME) if known else ())
        if name in config and name not in features and not _missing(config[name])
    }
    return vector, measured


def _missing(value: Value) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def check_stated(query: Query, space: Space, origin: Floats, measured: Mapping[str, Value]) -> None:
    """A stated old value must be the baseline's."""
    config = Encoder(space).decode(origin)
    for name, claimed in query.stated.items():
        if name in config:
            actual, slack = config[name], 1e-9
        elif name in measured:
            actual, slack = measured[name], _MEASURED
        else:
            continue  # an outcome that was not measured at this baseline
        if not _agrees(claimed, actual, slack):
            raise BaselineProblem(
                f"the question says {name} is {format_value(claimed)}, "
                f"but the baseline has {format_value(actual)}",
                hint=f"write `{name}: old -> ...`, or start from another run",
            )


def _agrees(claimed: Value, actual: Value, slack: float) -> bool:
    numbers = (int, float)
    if isinstance(claimed, numbers) and isinstance(actual, numbers):
        return math.isclose(claimed, actual, rel_tol=slack, abs_tol=1e-12)
    return claimed == actual


def edited(
    query: Query, space: Space, origin: Floats | None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The encoded new values of what the question sets, and notes about unusual ones."""
    found: dict[str, float] = {}
    notes: list[str] = []
    for name, edit in query.change.items():
        parameter = space[name]
        column = space.names.index(name)
        if isinstance(edit, SetTo):
            value = float(Encoder(space.select([name])).encode({name: edit.value})[0])
        else:
            assert origin is not None
            value = _moved(edit, parameter, float(origin[column]))
        if isinstance(parameter, Number) and parameter.whole and not float(value).is_integer():
            raise QueryProblem(
                f"{name} would become {value:g}, but it takes whole numbers",
                hint=f"write e.g. {name}: old -> {round(value)}",
            )
        unseen = unseen_value(parameter, value)
        if unseen is not None:
            notes.append(in_words(unseen))
        found[name] = value
    return found, tuple(notes)


def _moved(edit: Times | Plus, parameter: Number | Category, old: float) -> float:
    assert isinstance(parameter, Number)
    if old == parameter.none_code:
        raise QueryProblem(
            f"{parameter.name} is none at the baseline, so it cannot be multiplied or added to",
            hint="set it to a value instead",
        )
    new = old * edit.factor if isinstance(edit, Times) else old + edit.amount
    return float(f"{new:.12g}")


def check_rules(rules: tuple[Rule, ...], space: Space, origin: Floats, named: set[str]) -> None:
    """A baseline may break a rule only where the question lets it move."""
    config = Encoder(space).decode(origin)
    for rule in rules:
        if rule.violation(origin[None, :])[0] > 0 and not named & set(rule.names):
            values = ", ".join(f"{name} = {format_value(config[name])}" for name in rule.names)
            raise BaselineProblem(
                f"the baseline breaks the rule {rule.text} ({values})",
                hint="start from a run that obeys it, drop the rule, or ask for one of its columns",
            )
