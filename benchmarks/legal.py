"""Checks of suggestions that share no code with the engine: rules by hand, values by the table."""

from __future__ import annotations  # other tools read the rules where neither Compass nor Arrow is

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.domain.answer import Suggestion
    from compass.prepare import Study

Row = Mapping[str, Any]
Check = Callable[[Row], bool]

LISTED = 64  # columns with up to this many different values take no others
EXACT = 1e-9


def _shared_memory(c: Row) -> bool:
    width = c["block_size_x"] * c["tile_size_x"] + c["filter_width"] - 1
    height = c["block_size_y"] * c["tile_size_y"] + c["filter_height"] - 1
    return bool(c["use_shmem"] == 0 or width * height < 12 * 1024)


def _if(condition: bool, then: bool) -> bool:
    return then or not condition


# The same rules as in the studies, written again as plain Python on a decoded configuration.
RULES: dict[str, Check] = {
    "use_padding==0 or block_size_x % 32 != 0": lambda c: (
        c["use_padding"] == 0 or c["block_size_x"] % 32 != 0
    ),
    "block_size_x*block_size_y<=1024": lambda c: c["block_size_x"] * c["block_size_y"] <= 1024,
    "use_padding==0 or use_shmem != 0": lambda c: c["use_padding"] == 0 or c["use_shmem"] != 0,
    "use_shmem == 0 or (((block_size_x*tile_size_x+(filter_width-1)))*"
    "((block_size_y*tile_size_y+(filter_height-1)))) < 12*1024": _shared_memory,
    "ppn * nthreads in {64, 128}": lambda c: c["ppn"] * c["nthreads"] in (64, 128),
    "ndirections % ndirsets == 0": lambda c: c["ndirections"] % c["ndirsets"] == 0,
    "ngroups % ngroupsets == 0": lambda c: c["ngroups"] % c["ngroupsets"] == 0,
    "P * Q * R == ppn_count * nnodes": lambda c: (
        c["P"] * c["Q"] * c["R"] == c["ppn_count"] * c["nnodes"]
    ),
    "ppn_count * nthreads in {64, 128}": lambda c: c["ppn_count"] * c["nthreads"] in (64, 128),
    "gpu == 'p100' -> power_limit >= 125 and power_limit <= 250": lambda c: _if(
        c["gpu"] == "p100", 125 <= c["power_limit"] <= 250
    ),
    "gpu == 'v100' -> power_limit <= 250": lambda c: _if(
        c["gpu"] == "v100", c["power_limit"] <= 250
    ),
    "gpu == 'rtx6000' -> power_limit <= 260": lambda c: _if(
        c["gpu"] == "rtx6000", c["power_limit"] <= 260
    ),
    "ReqNodes <= ReqCPUS": lambda c: c["ReqNodes"] <= c["ReqCPUS"],
}


@dataclass(frozen=True)
class Legal:
    """The values that one column may take, found from the raw cells."""

    listed: frozenset[Any] | None
    low: float = -np.inf
    high: float = np.inf
    whole: bool = False
    none: bool = False

    def allows(self, value: Any) -> bool:
        """Whether a suggestion may use this value."""
        if value is None:
            return self.none
        if self.listed is not None:
            return value in self.listed
        return self.low <= value <= self.high and (not self.whole or value == int(value))


def legal_values(table: pa.Table, study: Study, columns: tuple[str, ...]) -> dict[str, Legal]:
    """What the cells of a table, and its study where it speaks, leave as legal values."""
    found = {}
    for name in columns:
        choice = study.columns[name]
        none = choice.missing == "none"
        cells = {value for value in table.column(name).to_pylist() if value is not None}
        if name in study.map:
            cells = {value for value in cells if value not in study.map[name]}
        if choice.allowed is not None:
            found[name] = Legal(frozenset(choice.allowed), none=none)
            continue
        numbers = _numbers(cells) if choice.kind != "category" else None
        if numbers is None:
            found[name] = Legal(frozenset(cells), none=none)
        elif choice.step is None and len(numbers) <= LISTED:
            found[name] = Legal(frozenset(numbers), none=none)
        else:
            whole = all(value == int(value) for value in numbers)
            found[name] = Legal(None, min(numbers), max(numbers), whole, none)
    return found


def _numbers(cells: set[Any]) -> list[float] | None:
    """The cells as numbers, or None where they are labels."""
    try:
        return sorted({float(value) for value in cells})
    except ValueError:
        return None


@dataclass(frozen=True)
class Checker:
    """Everything a suggestion for one table has to obey."""

    rules: Mapping[str, Check]
    values: Mapping[str, Legal]

    @classmethod
    def of(cls, table: pa.Table, study: Study, columns: tuple[str, ...]) -> Checker:
        """The checks of a study; a rule that nobody has written by hand is an error."""
        rules = {text: RULES[text] for text in study.rules}
        return cls(rules, legal_values(table, study, columns))

    def broken(self, config: Row) -> list[str]:
        """The rules that a configuration breaks."""
        return [text for text, holds in self.rules.items() if not holds(config)]

    def share_broken(self, config: Row) -> float:
        """The share of the rules that a configuration breaks."""
        return len(self.broken(config)) / len(self.rules) if self.rules else 0.0

    def problems(self, suggestion: Suggestion, given: Row) -> list[str]:
        """Broken rules, illegal values, and given values that were changed without need.

        A given value may move where the answer names a rule that forced it, and only if putting
        the value back really breaks a rule.
        """
        config = suggestion.config
        said = {edit.name for edit in suggestion.edits if edit.forced_by is not None}
        found = self.broken(config)
        found += [
            f"{name} = {config[name]}"
            for name, legal in self.values.items()
            if not legal.allows(config[name])
        ]
        moved = {name: v for name, v in given.items() if not same(config[name], v)}
        for name, value in moved.items():
            told = f"{name} was given as {value} and is {config[name]}"
            if name not in said:
                found.append(told)
            elif not self.broken({**config, name: value}):
                found.append(f"{told}, said to be forced, but no rule forbids {value}")
        return found


def same(one: Any, other: Any) -> bool:
    """Whether two cells hold the same value."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= EXACT * max(1.0, abs(other))
    return bool(one == other)
