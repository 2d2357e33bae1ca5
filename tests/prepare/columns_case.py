"""Tables of performance runs whose columns' roles are known, for judging guessed roles.

`columns/develop.yaml` may be read by whoever writes the guesser; `columns/score.yaml` and
`columns/score2.yaml` are only run.
The rows are generated: a table is its header, the statistics of its columns and how its outcomes
follow from its settings. `columns/README.md` lists what a column may say.

`python -m tests.prepare.columns_case develop` prints how many roles are guessed right in one half;
`-v` adds the columns that are guessed wrong.
"""

import argparse
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import yaml

from compass.prepare import infer
from compass.readers import read

FOLDER = Path(__file__).parent / "columns"
ROLES = ("knob", "context", "outcome", "ignored")
DESIGNS = ("grid", "sample", "trace")
Half = Literal["develop", "score", "score2"]

# Words of which notes are made.
WORDS = ("rerun", "after", "node", "failed", "new", "compiler", "check", "ok", "baseline", "test")
# The first second of the generated runs: 2024-01-01.
FIRST_MOMENT = 1_704_067_200

Column = Mapping[str, Any]


def _seed(*words: object) -> int:
    """A seed that does not change between processes, as `hash` of a text would."""
    return zlib.crc32("/".join(map(str, words)).encode())


@dataclass(frozen=True)
class LabelledTable:
    """A header, the right roles of its columns and how to generate its rows."""

    name: str
    source: str
    rows: int
    design: str
    columns: tuple[Column, ...]
    latent: tuple[Column, ...]

    @cached_property
    def roles(self) -> dict[str, frozenset[str]]:
        """The right roles of every column: `role` and what is as defensible."""
        return {
            column["name"]: frozenset((column["role"], *column.get("also", ())))
            for column in self.columns
        }

    @cached_property
    def first_role(self) -> dict[str, str]:
        """The best role of every column."""
        return {column["name"]: column["role"] for column in self.columns}

    def arrow(self) -> pa.Table:
        """The generated rows, always the same, with the types a reader of CSV would give."""
        rows = _Rows(self)
        arrays = [rows.array(column) for column in self.columns]
        return pa.table(dict(zip(self.roles, arrays, strict=True)))


class _Rows:
    """The values of one table's columns, each made when a formula or the table asks for it."""

    def __init__(self, table: LabelledTable) -> None:
        self.table = table
        self.specs = {column["name"]: column for column in (*table.columns, *table.latent)}
        self.made: dict[str, np.ndarray] = self._crossed() if table.design == "grid" else {}

    def _crossed(self) -> dict[str, np.ndarray]:
        """Every combination of the listed settings once, as often as the rows have room for."""
        lists = {
            name: _listed(spec)
            for name, spec in self.specs.items()
            if spec.get("role") in ("knob", "context") and _listed(spec) is not None
        }
        sizes = tuple(len(values) for values in lists.values() if values is not None)
        cells, rows = int(np.prod(sizes, dtype=np.int64)), self.table.rows
        rng = np.random.default_rng(_seed(self.table.name, "cells"))
        if rows <= cells < 5_000_000:
            drawn = np.sort(rng.permutation(cells)[:rows])
        elif rows <= cells:
            drawn = np.sort(rng.integers(0, cells, rows))
        else:
            drawn = np.arange(rows) % cells
        places = np.unravel_index(drawn, sizes)
        return {
            name: values[place]
            for (name, values), place in zip(lists.items(), places, strict=True)
            if values is not None
        }

    def values(self, name: str) -> np.ndarray:
        """The values of a column before some are lost and others are written as text."""
        if name not in self.made:
            self.made[name] = self._make(name, self.specs[name])
        return self.made[name]

    def _make(self, name: str, spec: Column) -> np.ndarray:
        rng = np.random.default_rng(_seed(self.table.name, name))
        rows = self.table.rows
        listed = _listed(spec)
        if listed is not None:
            return np.asarray(listed[self._draw(rng, len(listed))])
        match spec:
            case {"formula": str(formula)}:
                exact = self._evaluate(name, formula, rng)
                noise = float(spec.get("noise", 0.0))
                noisy = exact * np.exp(noise * rng.normal(size=rows)) if noise else exact
                return _rounded(noisy, spec)
            case {"moment": _}:
                return FIRST_MOMENT + np.cumsum(rng.geometric(1 / 400, rows))
            case {"constant": value}:
                return np.full(rows, value)
            case {"whole": [low, high]}:
                return rng.integers(low, high, rows, endpoint=True)
            case {"log": [low, high]}:
                drawn = np.exp(rng.uniform(np.log(float(low)), np.log(float(high)), rows))
                return _rounded(drawn, spec)
            case {"uniform": [low, high]}:
                return _rounded(rng.uniform(low, high, rows), spec)
            case {"counting": first}:
                return np.arange(first, first + rows)
            case {"labels_many": many}:
                words = [f"{spec.get('prefix', name + '_')}{k:04d}" for k in range(many)]
                places = self._draw(rng, many) if many < rows else rng.permutation(many)[:rows]
                return np.array(words, dtype=object)[places]
            case {"hash": int(letters)}:
                return np.array([rng.bytes(32).hex()[:letters] for _ in range(rows)], dtype=object)
            case {"text": True}:
                counts = rng.integers(2, 7, rows)
                return np.array([" ".join(rng.choice(WORDS, n)) for n in counts], dtype=object)
        raise ValueError(f"{self.table.name}: column {name!r} does not say how it is made")

    def _draw(self, rng: np.random.Generator, many: int) -> np.ndarray:
        """Places in a list; people's jobs repeat the first ones far more often than the last."""
        if self.table.design != "trace":
            return rng.integers(0, many, self.table.rows)
        weights = 1 / np.arange(1, many + 1) ** 0.9
        return rng.choice(many, self.table.rows, p=weights / weights.sum())

    def _evaluate(self, name: str, formula: str, rng: np.random.Generator) -> np.ndarray:
        """A formula of the corpus over the other columns, one value per row."""

        def effect(of: object, spread: float = 0.5) -> Any:
            """A positive factor of every label, the same for the same label of this table."""
            if isinstance(of, str):
                drawn = np.random.default_rng(_seed(self.table.name, of)).normal()
                return float(np.exp(spread * drawn))
            known, places = np.unique(np.asarray(of).astype(str), return_inverse=True)
            return np.array([effect(str(label), spread) for label in known])[places]

        names = {"np": np, "c": _Lookup(self), "effect": effect, "this": name, "rng": rng}
        builtins = {"len": len, "int": int, "float": float, "str": str, "object": object}
        value = eval(formula, {"__builtins__": builtins}, _Lookup(self, names))
        return np.broadcast_to(np.asarray(value), (self.table.rows,))

    def array(self, spec: Column) -> pa.Array:
        """A column as a reader of CSV would type it."""
        name = spec["name"]
        values = self.values(name)
        rng = np.random.default_rng(_seed(self.table.name, name, "lost"))
        lost = rng.random(len(values)) < float(spec.get("missing", 0.0))
        if "when" in spec:
            lost |= ~self._evaluate(name, spec["when"], rng).astype(bool)
        if "moment" in spec:
            return _moments(values, spec["moment"], lost)
        if spec.get("clock"):
            values = np.array([_clock(int(value)) for value in values], dtype=object)
        elif "unit" in spec:
            values = np.array([f"{value}{spec['unit']}" for value in values], dtype=object)
        match values.dtype.kind:
            case "b":
                return pa.array(values, type=pa.bool_(), mask=lost)
            case "i" | "u":
                return pa.array(values.astype(np.int64), type=pa.int64(), mask=lost)
            case "f":
                return pa.array(values, type=pa.float64(), mask=lost)
        words = values.astype(str).astype(object)
        if all(word.isdecimal() for word in words):
            return pa.array(words.astype(np.int64), type=pa.int64(), mask=lost)
        return pa.array(words, type=pa.large_string(), mask=lost)


class _Lookup(dict[str, Any]):
    """The names a formula may use: functions first, then the columns of the table."""

    def __init__(self, rows: _Rows, names: Mapping[str, Any] | None = None) -> None:
        super().__init__(names or {})
        self.rows = rows

    def __missing__(self, name: str) -> np.ndarray:
        if name not in self.rows.specs:
            raise KeyError(name)
        return self.rows.values(name)


def _listed(spec: Column) -> np.ndarray | None:
    """The values a column is drawn from, where it names them."""
    if "numbers" in spec:
        return np.array(spec["numbers"])
    if "labels" in spec:
        flags = all(isinstance(label, bool) for label in spec["labels"])
        return np.array(spec["labels"], dtype=bool if flags else object)
    return None


def _rounded(values: np.ndarray, spec: Column) -> np.ndarray:
    if spec.get("integer"):
        return np.asarray(np.rint(np.asarray(values, dtype=float)), dtype=np.int64)
    if "decimals" in spec:
        return np.asarray(np.round(np.asarray(values, dtype=float), spec["decimals"]))
    if "digits" in spec:
        return np.array([float(f"{value:.{spec['digits']}g}") for value in values])
    return values


def _moments(values: np.ndarray, form: str, lost: np.ndarray) -> pa.Array:
    seconds = values.astype(np.int64)
    if form == "epoch":
        return pa.array(seconds, type=pa.int64(), mask=lost)
    if form == "iso":
        return pa.array(seconds, type=pa.timestamp("s"), mask=lost)
    written = np.where(lost, "Unknown", seconds.astype("datetime64[s]").astype(str))
    return pa.array(written.astype(object), type=pa.large_string())


def _clock(seconds: int) -> str:
    """Seconds as Slurm writes them: days-hours:minutes:seconds."""
    days, rest = divmod(max(seconds, 0), 86_400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def _table(entry: Mapping[str, Any]) -> LabelledTable:
    """One entry of a corpus file, checked; a column with `names` stands for one of each name."""
    columns: list[Column] = []
    for column in entry["columns"]:
        names = column.get("names", [column.get("name")])
        columns.extend({**column, "name": str(name)} for name in names)
    table = LabelledTable(
        name=entry["table"],
        source=entry["source"],
        rows=entry["rows"],
        design=entry["design"],
        columns=tuple(columns),
        latent=tuple(entry.get("latent", ())),
    )
    if table.design not in DESIGNS or len(table.roles) != len(columns):
        raise ValueError(f"{table.name}: unknown design or two columns of one name")
    for name, roles in table.roles.items():
        if not roles <= set(ROLES):
            raise ValueError(f"{table.name}: column {name!r} has an unknown role")
    return table


@cache
def tables(half: Half, folder: Path = FOLDER) -> tuple[LabelledTable, ...]:
    """The labelled tables of one half of the corpus."""
    entries = yaml.safe_load((folder / f"{half}.yaml").read_text(encoding="utf-8"))
    return tuple(_table(entry) for entry in entries)


@dataclass(frozen=True)
class Wrong:
    """A column whose guessed role is not among the right ones."""

    table: str
    column: str
    guessed: str
    right: frozenset[str]


@dataclass(frozen=True)
class Score:
    """How many columns were guessed right, and which were not."""

    columns: int
    right: int
    exact: int  # of these, how many have the first role and not one that is as defensible
    wrong: tuple[Wrong, ...]
    by_table: Mapping[str, float]  # the share of right columns of each table

    @property
    def outcomes_as_knobs(self) -> tuple[Wrong, ...]:
        """Measured columns offered as settings: the worst mistake, they leak the answer."""
        return tuple(
            wrong for wrong in self.wrong if wrong.guessed == "knob" and "outcome" in wrong.right
        )

    @property
    def share(self) -> float:
        """The share of columns with a right role."""
        return self.right / self.columns

    @property
    def share_of_tables(self) -> float:
        """The mean share of the tables, in which a table of 197 counters counts once."""
        return sum(self.by_table.values()) / len(self.by_table)


def score(
    guess: Callable[[pa.Table], Mapping[str, str]], half: Half, folder: Path = FOLDER
) -> Score:
    """Judge a guesser, which gets a table and says the role of each of its columns.

    A column the guesser leaves out counts as guessed `ignored`.
    """
    columns = exact = 0
    wrong: list[Wrong] = []
    by_table: dict[str, float] = {}
    for table in tables(half, folder):
        guessed = guess(table.arrow())
        roles = {name: guessed.get(name, "ignored") for name in table.roles}
        missed = [
            Wrong(table.name, name, role, table.roles[name])
            for name, role in roles.items()
            if role not in table.roles[name]
        ]
        columns += len(roles)
        exact += sum(role == table.first_role[name] for name, role in roles.items())
        by_table[table.name] = 1 - len(missed) / len(roles)
        wrong.extend(missed)
    return Score(columns, columns - len(wrong), exact, tuple(wrong), by_table)


def guessed(table: pa.Table) -> dict[str, str]:
    """The roles that Compass takes the columns of a table for."""
    _, reports = infer(read(table))
    return {report.name: report.role.value for report in reports}


def report(found: Score, *, wrong: bool = False) -> str:
    """The figures of one half, table by table; `wrong` adds the columns that are not right."""
    lines = [f"{share:7.1%}  {name}" for name, share in found.by_table.items()]
    lines.append(f"{found.share:7.1%}  of {found.columns} columns")
    lines.append(f"{len(found.outcomes_as_knobs):7}  measured columns taken for knobs")
    if wrong:
        lines += [
            f"{one.table}: {one.column} is {'/'.join(sorted(one.right))}, not {one.guessed}"
            for one in found.wrong
        ]
    return "\n".join(lines)


def main() -> None:
    """Prints how well the roles of one half are guessed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("half", choices=("develop", "score", "score2"))
    parser.add_argument("-v", action="store_true", help="show the columns that are guessed wrong")
    given = parser.parse_args()
    print(report(score(guessed, given.half), wrong=given.v))


if __name__ == "__main__":
    main()
