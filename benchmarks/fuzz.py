"""Random tables, rules and questions until time is over: `make fuzz`.

Every case is a small table over random columns (grids, lists, real numbers, labels, numbers that
may be missing), random rules of every kind, a random family of trees and a random question. The
rules are judged by plain Python written here. Looked for are: a suggestion that breaks a rule, has
an illegal value, or does not have the predicted value that it tells; two that are alike; a
certificate that a random configuration refutes; and any error that is not one of Compass' own.

The exit code is 1 where something was found; `--seed N --cases 1` repeats a case.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import compass as cp
from compass.domain.answer import Answer, Standing
from compass.domain.errors import CompassError
from compass.prepare.encode import Encoder
from compass.settings import ForestSettings, LightGBMSettings, Settings, XGBoostSettings

Row = Mapping[str, Any]
TRIED = 400  # random configurations that a certificate is held against
CLOSE = 1e-6
SLACK = 1e-7


@dataclass(frozen=True)
class Column:
    """A random column: how to draw its values and which are legal."""

    name: str
    kind: str  # grid, list, real, label, optional
    low: float = 0.0
    high: float = 1.0
    values: tuple[Any, ...] = ()

    def draw(self, rng: np.random.Generator, n: int) -> list[Any]:
        """Random legal values."""
        if self.kind in ("grid", "optional"):
            found = [int(v) for v in rng.integers(int(self.low), int(self.high) + 1, n)]
            gone = rng.random(n) < (0.2 if self.kind == "optional" else 0.0)
            return [None if g else v for v, g in zip(found, gone, strict=True)]
        if self.kind == "real":
            return [float(v) for v in np.round(rng.uniform(self.low, self.high, n), 3)]
        return [self.values[int(i)] for i in rng.integers(len(self.values), size=n)]

    def legal(self, value: Any) -> bool:
        """Whether a suggestion may use a value."""
        if value is None:
            return self.kind == "optional"
        if self.kind in ("list", "label"):
            return value in self.values
        whole = self.kind == "real" or value == int(value)
        return bool(self.low - 1e-9 <= value <= self.high + 1e-9 and whole)

    @property
    def number(self) -> bool:
        """Whether rules may calculate with it."""
        return self.kind in ("grid", "list", "real")

    @property
    def choice(self) -> dict[str, Any]:
        """What the study says of it."""
        said: dict[str, Any] = {"role": "knob"}
        if self.kind == "grid":
            said |= {"low": self.low, "high": self.high, "step": 1}
        if self.kind == "optional":
            said |= {"low": self.low, "high": self.high, "step": 1, "missing": "none"}
        if self.kind == "real":
            said |= {"low": self.low, "high": self.high, "kind": "number"}
        if self.kind == "list":
            said |= {"allowed": list(self.values)}
        if self.kind == "label":
            said |= {"kind": "category"}
        return said


@dataclass(frozen=True)
class Said:
    """A rule as text and as plain Python."""

    text: str
    judge: Callable[[Row, float], bool]  # with a slack: in its favour, or against it when negative

    def holds(self, row: Row) -> bool:
        """Whether a row obeys it, rounding forgiven."""
        return self.judge(row, SLACK)

    def surely(self, row: Row) -> bool:
        """Whether a row obeys it beyond doubt."""
        return self.judge(row, -SLACK)


def columns(rng: np.random.Generator) -> list[Column]:
    found = []
    for number in range(int(rng.integers(2, 7))):
        name, kind = f"c{number}", str(rng.choice(["grid", "list", "real", "label", "optional"]))
        low = int(rng.integers(0, 4))
        if kind == "list":
            powers = tuple(2**p for p in range(int(rng.integers(2, 7))))
            found.append(Column(name, kind, values=powers))
        elif kind == "label":
            found.append(Column(name, kind, values=tuple("uvwxyz"[: int(rng.integers(2, 6))])))
        else:
            high = low + int(rng.choice([3, 12, 60, 6000]))
            found.append(Column(name, kind, low, high))
    if not any(column.number for column in found):
        found.append(Column("n0", "grid", 1, 24))
    return found


def rules(rng: np.random.Generator, cols: Sequence[Column], row: Row) -> list[Said]:
    """Rules that the given row obeys, so that there is something to find (most of the time)."""
    numbers = [column for column in cols if column.number]
    found: list[Said] = []
    for _ in range(int(rng.integers(0, 6))):
        a, b = (numbers[int(i)].name for i in rng.integers(len(numbers), size=2))
        said = _rule(rng, cols, a, b, row)
        if said is not None and (said.holds(row) or rng.random() < 0.05):
            found.append(said)
    return found


def _rule(
    rng: np.random.Generator, cols: Sequence[Column], a: str, b: str, row: Row
) -> Said | None:
    k, sign = int(rng.integers(1, 5)), str(rng.choice(["<=", ">=", "<", ">"]))
    judge = {
        "<=": _le,
        ">=": lambda x, y, e: _le(y, x, e),
        "<": _lt,
        ">": lambda x, y, e: _lt(y, x, e),
    }[sign]
    x, y = row[a], row[b]
    labels = [column for column in cols if column.kind == "label"]
    optional = [column for column in cols if column.kind == "optional"]
    match int(rng.integers(10)):
        case 0:
            return Said(f"{a} {sign} {k} * {b}", lambda c, e: judge(c[a], k * c[b], e))
        case 1:
            limit = round(float(x + y + rng.uniform(-5, 20)), 2)
            return Said(f"{a} + {b} {sign} {limit}", lambda c, e: judge(c[a] + c[b], limit, e))
        case 2:
            limit = int(x * y)
            return Said(f"{a} * {b} {sign} {limit}", lambda c, e: judge(c[a] * c[b], limit, e))
        case 3:
            return Said(f"{a} % {k} == 0", lambda c, e: min(c[a] % k, k - c[a] % k) < max(e, 1e-12))
        case 4 if labels:
            name, value = labels[0].name, labels[0].values[0]
            text = f"{name} == '{value}' -> {a} {sign} {k}"
            return Said(text, lambda c, e: c[name] != value or judge(c[a], k, e))
        case 5:
            text = f"min({a}, {b}) {sign} {k} or max({a}, {b}) >= {k}"
            return Said(
                text, lambda c, e: judge(min(c[a], c[b]), k, e) or _le(k, max(c[a], c[b]), e)
            )
        case 6:
            return Said(f"not {a} == {b}", lambda c, e: not _eq(c[a], c[b], -e))
        case 7 if optional:
            name = optional[0].name
            text = f"{name} == none or {name} {sign} {k}"
            return Said(text, lambda c, e: c[name] is None or judge(c[name], k, e))
        case 8 if a != b:
            total = float(np.round(x + y, 3))
            return Said(f"{a} + {b} == {total}", lambda c, e: _eq(c[a] + c[b], total, e))
        case 9:
            members = sorted({int(x), k, 2 * k, 8})
            text = f"{a} in {{{', '.join(map(str, members))}}}"
            return Said(text, lambda c, e: any(_eq(c[a], m, e) for m in members))
    return None


def _le(x: float, y: float, e: float) -> bool:
    return x <= y + e * max(1.0, abs(x), abs(y))


def _lt(x: float, y: float, e: float) -> bool:
    return x < y + e * max(1.0, abs(x), abs(y))


def _eq(x: float, y: float, e: float) -> bool:
    return abs(x - y) <= max(e, 1e-12) * max(1.0, abs(x), abs(y))


def case(seed: int) -> Counter[str]:
    """Make, ask and check one case; what happened. Raises AssertionError on a finding."""
    rng = np.random.default_rng(seed)
    cols = columns(rng)
    n = int(rng.integers(40, 300))
    table = {column.name: column.draw(rng, n) for column in cols}
    rows = [{name: table[name][i] for name in table} for i in range(n)]
    said = rules(rng, cols, rows[0])
    y = [_law(row, cols) + float(rng.normal(0, 0.3)) for row in rows]
    middle = float(np.median(y))
    table |= {"y": y, "ok": ["good" if v < middle else "bad" for v in y]}
    study = {
        "columns": {c.name: c.choice for c in cols}
        | {"y": {"role": "outcome", "kind": "number"}, "ok": {"role": "outcome"}},
        "rules": [rule.text for rule in said],
    }
    family = str(rng.choice(["forest", "extra-trees", "lightgbm", "xgboost"]))
    settings = Settings(
        forest=ForestSettings(trees=8, depth=6),
        lightgbm=LightGBMSettings(rounds=12, leaves=8, leaf=3),
        xgboost=XGBoostSettings(rounds=10, depth=3),
        surrogate=family,
        prove=0.3,
    )
    try:
        engine = cp.Compass(cp.read(table, study=study), settings=settings, seed=seed % 1000)
        answer = ask(rng, engine, cols, y)
    except CompassError as error:
        return Counter({f"refused: {type(error).__name__}": 1})
    check(answer, cols, said, engine, rng)
    status = "none" if answer.certificate is None else answer.certificate.status.value
    return Counter({f"answered, {answer.query.kind.value}": 1, f"proof: {status}": 1, family: 1})


def _law(row: Row, cols: Sequence[Column]) -> float:
    total = 5.0
    for place, column in enumerate(cols):
        value = row[column.name]
        if value is None:
            total += 1.5
        elif isinstance(value, str):
            total += 2.0 * column.values.index(value) * (place % 2)
        else:
            span = (column.high - column.low) or 1.0
            share = (value - column.low) / span if column.kind != "list" else np.log2(value) / 4
            total += 4.0 * (share - 0.4) ** 2 + share * (place % 3)
    return float(total)


def ask(
    rng: np.random.Generator, engine: cp.Compass, cols: Sequence[Column], y: Sequence[float]
) -> Answer:
    names = [column.name for column in cols]
    free = [str(n) for n in rng.permutation(names)[: int(rng.integers(1, len(names) + 1))]]
    goal = {
        0: {"y": cp.minimize},
        1: {"y": cp.maximize},
        2: {"y": cp.at_most(float(np.quantile(y, rng.random())))},
        3: {"ok": cp.is_class("good")},
        4: {"y": cp.at_most(float(np.quantile(y, 0.7))), "ok": cp.is_class("good")},
        5: {"y": cp.less(float(rng.uniform(0.01, 0.5)))},
    }[int(rng.integers(6))]
    count = int(rng.choice([1, 3, 8]))
    row = int(rng.integers(len(y)))
    if rng.random() < 0.4 and not isinstance(goal.get("y"), type(cp.less(0.1))):
        return engine.recommend(free, goal, count=count)
    if rng.random() < 0.2:
        column = cols[int(rng.integers(len(cols)))]
        return engine.what_if(row, {column.name: column.draw(rng, 1)[0]}, ["y"])
    return engine.reconfigure(row, free, goal, count=count)


def check(
    answer: Answer,
    cols: Sequence[Column],
    said: Sequence[Said],
    engine: cp.Compass,
    rng: np.random.Generator,
) -> None:
    """Everything that must be true of an answer."""
    seen = set()
    moved = {edit.name for s in answer for edit in s.edits} | set(answer.query.ask)
    moved |= set(answer.query.change)
    for suggestion in answer:
        config = suggestion.config
        for rule in said:
            if any(name in rule.text for name in moved):
                assert rule.holds(config), f"breaks {rule.text}: {config}"
        for column in cols:
            if column.name in moved:
                assert column.legal(config[column.name]), f"illegal {column.name} in {config}"
        key = tuple(suggestion.settings.items())
        assert key not in seen, f"twice the same: {key}"
        seen.add(key)
    if answer.query.kind.value != "recommend" and answer.certificate is not None:
        _refute(answer, cols, said, engine, rng)


def _refute(
    answer: Answer,
    cols: Sequence[Column],
    said: Sequence[Said],
    engine: cp.Compass,
    rng: np.random.Generator,
) -> None:
    """Random configurations that are legal and meet the goals must not be closer than proved."""
    certificate = answer.certificate
    assert certificate is not None
    if certificate.status not in (Standing.OPTIMAL, Standing.INFEASIBLE) or not answer.query.ask:
        return
    if any(goal.kind == "extreme" for goal in answer.query.goals.values()):
        return
    assert answer.baseline is not None
    free = set(answer.query.ask)
    draws = {c.name: c.draw(rng, TRIED) for c in cols}
    best = answer[0].distance if answer.suggestions and answer[0].meets_goals else np.inf
    start = {name: answer.baseline[name] for name in (c.name for c in cols)}
    tried = [
        {**start, **{n: draws[n][i] for n in free if rng.random() < 0.6}} for i in range(TRIED)
    ]
    rounding = 0.01 * sum(column.kind == "real" for column in cols)  # plain numbers cost as much
    legal = [config for config in tried if all(rule.surely(config) for rule in said)]
    for config, met in zip(legal, _met(answer, legal, engine), strict=True):
        far = _distance(config, start, cols, engine)
        assert not met or far >= best - rounding - CLOSE * max(1.0, best), (
            f"{certificate.status}: {config} is at {far}, the answer at {best}"
        )


def _met(answer: Answer, configs: Sequence[Row], engine: cp.Compass) -> list[bool]:
    """Whether the models predict for each configuration what the goals ask for."""
    met = np.ones(len(configs), dtype=bool)
    for name, goal in answer.query.goals.items():
        trained = next(t for (_, target), t in engine.bench.trained.items() if target == name)
        space = engine.space.select(trained.card.features)
        X = np.array([Encoder(space).encode(config) for config in configs])
        said = trained.model.predict(X) if len(X) else np.empty((0, 2))
        if goal.kind == "is":
            met &= said.argmax(axis=1) == engine.space[name].values.index(goal.value)
        elif goal.kind == "within":
            met &= said[:, 0] <= goal.high
        else:
            met &= False
    return met.tolist()


def _distance(config: Row, start: Row, cols: Sequence[Column], engine: cp.Compass) -> float:
    """The change between two configurations, in standard deviations of the runs learnt from."""
    field = next(iter(engine.bench.fields.values()))
    total = 0.0
    for column in cols:
        one, other = config[column.name], start[column.name]
        if column.kind == "label" or one is None or other is None:
            total += float(one != other)
        else:
            place = field.features.names.index(column.name)
            total += abs(one - other) / float(field.scale[place])
    return total


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--cases", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args(arguments)
    until, happened, failed, number = time.monotonic() + 60 * said.minutes, Counter(), 0, 0
    while number < said.cases and time.monotonic() < until:
        seed = said.seed + number
        number += 1
        try:
            happened += case(seed)
        except Exception as error:  # every other kind of end is a finding
            failed += 1
            print(f"case {seed}: {type(error).__name__}: {error}")
            if not isinstance(error, AssertionError):
                traceback.print_exc()
    print(f"{number} cases, {failed} findings")
    for what, times in sorted(happened.items()):
        print(f"  {times:6d}  {what}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
