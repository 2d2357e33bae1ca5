"""One case: a random table, an engine on it, and questions whose answers are checked."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

import compass as cp
from benchmarks.fuzz.checks import Question, check, refuted_refusal
from benchmarks.fuzz.columns import Column, columns, law
from benchmarks.fuzz.rules import Condition, conditions
from compass.domain.errors import CompassError, ConflictingRules
from compass.settings import (
    ForestSettings,
    LightGBMSettings,
    NeuralSettings,
    SearchSettings,
    Settings,
    XGBoostSettings,
)

TREES = ("forest", "extra-trees", "lightgbm", "xgboost")
OTHERS = ("linear", "neighbours", "svm", "gaussian", "neural")
QUESTIONS = 6  # of one engine


def case(seed: int) -> Counter[str]:
    """Make, ask and check one case; what happened. Raises AssertionError on a finding."""
    rng = np.random.default_rng(seed)
    cols = columns(rng)
    n = int(rng.integers(40, 220))
    drawn = {column.name: column.draw(rng, n) for column in cols}
    rows = [{name: drawn[name][i] for name in drawn} for i in range(n)]
    y = [law(row, cols) + float(rng.normal(0, 0.3)) for row in rows]
    middle = float(np.median(y))
    table = drawn | {"y": y, "ok": ["good" if v < middle else "bad" for v in y]}
    standing = conditions(rng, cols, rows[0])[:1]
    study = {
        "columns": {c.name: c.choice for c in cols}
        | {"y": {"role": "outcome", "kind": "number"}, "ok": {"role": "outcome"}},
        "rules": [rule.text for rule in standing],
    }
    family = str(rng.choice(TREES if rng.random() < 0.8 else OTHERS))
    try:
        engine = cp.Compass(cp.read(table, study=study), settings=_settings(rng, family, seed))
    except CompassError as error:
        return Counter({f"refused: {type(error).__name__}": 1})
    happened: Counter[str] = Counter({family: 1})
    for _ in range(QUESTIONS):
        row = int(rng.integers(n))
        asked = [*standing, *conditions(rng, cols, rows[row])]
        happened += _question(rng, engine, cols, asked, len(standing), rows, row, y)
    return happened


def _settings(rng: np.random.Generator, family: str, seed: int) -> Settings:
    """Small models; the search with and without enumeration, the proof with and without."""
    tried = int(rng.choice([1, 20_000]))
    return Settings(
        forest=ForestSettings(trees=8, depth=6),
        lightgbm=LightGBMSettings(rounds=12, leaves=8, leaf=3),
        xgboost=XGBoostSettings(rounds=10, depth=3),
        neural=NeuralSettings(layers=1, units=8, epochs=20),
        search=SearchSettings(enumerate=tried, tuples=tried if tried == 1 else 200_000),
        surrogate=family,
        prove=float(rng.choice([0.0, 0.3, 2.0])),
        seed=seed % 1000,
    )


def _question(
    rng: np.random.Generator,
    engine: cp.Compass,
    cols: Sequence[Column],
    rules: Sequence[Condition],
    standing: int,
    rows: Sequence[dict[str, Any]],
    row: int,
    y: Sequence[float],
) -> Counter[str]:
    names = [column.name for column in cols]
    free = [str(n) for n in rng.permutation(names)[: int(rng.integers(1, len(names) + 1))]]
    goals = _goals(rng, y)
    where = [rule.text for rule in rules[standing:]]
    count = int(rng.choice([1, 3, 8]))
    relative = any(isinstance(goal, type(cp.less(0.1))) for goal in goals.values())
    start: dict[str, Any] | None = rows[row]
    try:
        if rng.random() < 0.4 and not relative:
            free, start = (names if rng.random() < 0.6 else free), None
            answer = engine.recommend(free, goals, where=where, count=count)
        elif rng.random() < 0.2:
            column = cols[int(rng.integers(len(cols)))]
            change = {column.name: column.draw(rng, 1)[0]}
            free, start = [], {**rows[row], **change}
            answer = engine.what_if(row, change, ["y"], where=where)
        else:
            answer = engine.reconfigure(row, free, goals, where=where, count=count)
    except ConflictingRules as error:
        question = Question(cols, rules, tuple(free), start, rows)
        refuted_refusal(question, error, rng)
        return Counter({"refused: conflict": 1})
    except CompassError as error:
        return Counter({f"refused: {type(error).__name__}": 1})
    question = Question(cols, rules, tuple(free), start, rows)
    return check(question, answer, engine, rng)


def _goals(rng: np.random.Generator, y: Sequence[float]) -> dict[str, Any]:
    low, high = np.quantile(y, np.sort(rng.random(2)))
    return {
        0: {"y": cp.minimize},
        1: {"y": cp.maximize},
        2: {"y": cp.at_most(float(low))},
        3: {"ok": cp.is_class("good")},
        4: {"y": cp.at_most(float(np.quantile(y, 0.7))), "ok": cp.is_class("good")},
        5: {"y": cp.less(float(rng.uniform(0.01, 0.5)))},
        6: {"y": cp.at_least(float(high))},
        7: {"y": cp.within(float(low), float(high))},
        8: {"y": cp.minimize, "ok": cp.is_class("bad")},
    }[int(rng.integers(9))]
