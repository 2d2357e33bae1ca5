"""Random columns: their names, how to draw values, and which values are legal."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

NAMES = ("a", "core 0", "b", "Time[s]", "c", "x-y", "d", "2nd", "e", "and")
LABELS = ("u", "v w", "it's", "x", "none of it", "z")
STEPS = ("0.1", "0.25", "0.5", "0.05", "0.3")


@dataclass(frozen=True)
class Column:
    """A random column; numbers have bounds and a step, or a list of values."""

    name: str
    kind: str  # grid, list, real, label, optional
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    step: Fraction = Fraction(1)
    values: tuple[Any, ...] = ()

    @property
    def text(self) -> str:
        """The name as a rule writes it."""
        plain = self.name.isidentifier() and self.name != "and"
        return self.name if plain else f"`{self.name}`"

    @property
    def number(self) -> bool:
        """Whether rules may calculate with it."""
        return self.kind in ("grid", "list", "real")

    @cached_property
    def legal(self) -> list[Any] | None:
        """All legal values, None (the level none) included; None where they cannot be listed."""
        if self.kind == "real":
            return None
        if self.kind in ("list", "label"):
            return list(self.values)
        count = int((self.high - self.low) / self.step) + 1
        points = [plain(self.low + i * self.step) for i in range(count)]
        return [*points, None] if self.kind == "optional" else points

    def allows(self, value: Any) -> bool:
        """Whether a suggestion may use a value."""
        if self.kind == "real":
            return value is not None and self.low <= Fraction(value) <= self.high
        legal = self.legal
        assert legal is not None
        return not isinstance(value, bool) and value in legal

    def draw(self, rng: np.random.Generator, n: int) -> list[Any]:
        """Random legal values."""
        if self.kind == "real":
            found = np.round(rng.uniform(float(self.low), float(self.high), n), 3)
            return [float(v) for v in found]
        legal = self.legal
        assert legal is not None
        return [legal[int(i)] for i in rng.integers(len(legal), size=n)]

    @property
    def choice(self) -> dict[str, Any]:
        """What the study says of it."""
        if self.kind == "list":
            return {"role": "knob", "allowed": list(self.values)}
        if self.kind == "label":
            return {"role": "knob", "kind": "category"}
        bounds = {"low": float(self.low), "high": float(self.high), "kind": "number"}
        if self.kind == "real":
            return {"role": "knob", **bounds}
        missing = {"missing": "none"} if self.kind == "optional" else {}
        return {"role": "knob", **bounds, "step": float(self.step), **missing}


def plain(value: Fraction) -> int | float:
    """A number as a person writes it."""
    return int(value) if value.denominator == 1 else float(value)


def columns(rng: np.random.Generator) -> list[Column]:
    """Two to seven columns, at least one of them a number."""
    names = [str(name) for name in rng.permutation(NAMES)[: int(rng.integers(2, 8))]]
    found = [_column(rng, name) for name in names]
    if not any(column.number for column in found):
        found[0] = Column(found[0].name, "grid", Fraction(-2), Fraction(9))
    return found


def _column(rng: np.random.Generator, name: str) -> Column:
    low = Fraction(int(rng.integers(-4, 4)))
    match str(rng.choice(["grid", "grid", "decimal", "list", "real", "label", "optional"])):
        case "decimal":
            step = Fraction(str(rng.choice(STEPS)))
            high = low + step * int(rng.choice([3, 8, 30]))
            return Column(name, "grid", low, high, step)
        case "list":
            whole = tuple(2**p for p in range(int(rng.integers(2, 6))))
            decimals = (-0.7, 0, 0.1, 0.3, 1.2, 4)[: int(rng.integers(2, 7))]
            return Column(name, "list", values=whole if rng.random() < 0.6 else decimals)
        case "label":
            return Column(name, "label", values=LABELS[: int(rng.integers(2, 6))])
        case "real":
            return Column(name, "real", low, low + int(rng.choice([1, 12, 900])))
        case kind:
            high = low + int(rng.choice([2, 5, 12, 60, 6000]))
            return Column(name, kind, low, high)


def law(row: dict[str, Any], cols: Sequence[Column]) -> float:
    """The outcome of a configuration, before noise."""
    total = 5.0
    for place, column in enumerate(cols):
        value = row[column.name]
        if value is None:
            total += 1.5
        elif isinstance(value, str):
            total += 2.0 * column.values.index(value) * (place % 2)
        elif column.kind == "list":
            total += 0.4 * value * (1 - place % 2)
        else:
            share = (value - float(column.low)) / float(column.high - column.low)
            total += 4.0 * (share - 0.4) ** 2 + share * (place % 3)
    return float(total)
