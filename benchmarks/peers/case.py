"""What every tool is given, and what it hands back: plain files that any environment can read."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.jobs import COLUMNS, FIXED, NAMES, RULES

Floats = NDArray[np.float64]
VARIANTS = ("free", "fixed")  # every column may move; nodes, gpus and memory may not


@dataclass(frozen=True)
class Question:
    """The smallest change of `start` [d] (encoded) that is predicted to run in `ceiling` s."""

    start: tuple[float, ...]
    ceiling: float

    @property
    def row(self) -> Floats:
        """The start as an array [d]."""
        return np.array(self.start)


@dataclass(frozen=True)
class Case:
    """The learnt rows, the scales of distance and the questions."""

    X: Floats  # [n, d] the rows that the forest learns from
    y: Floats  # [n]
    scale: tuple[float, ...]  # one step of distance per column [d]
    trees: int
    depth: int
    seed: int
    questions: tuple[Question, ...]
    warm: Question  # asked first and not counted: compilers and caches

    def save(self, folder: Path) -> None:
        """Write everything into a folder."""
        np.savez(folder / "rows.npz", X=self.X, y=self.y)
        said = {key: value for key, value in vars(self).items() if key not in ("X", "y")}
        said["questions"] = [asdict(question) for question in self.questions]
        said["warm"] = asdict(self.warm)
        (folder / "case.json").write_text(json.dumps(said), encoding="utf-8")


def load(folder: Path) -> Case:
    """The case that was saved in a folder."""
    said = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    with np.load(folder / "rows.npz") as rows:
        X, y = rows["X"], rows["y"]
    questions = tuple(_question(one) for one in said.pop("questions"))
    warm, scale = _question(said.pop("warm")), tuple(said.pop("scale"))
    return Case(X=X, y=y, scale=scale, questions=questions, warm=warm, **said)


def _question(said: dict[str, Any]) -> Question:
    return Question(tuple(said["start"]), said["ceiling"])


@dataclass(frozen=True)
class Reply:
    """What a tool said to one question, and the CPU seconds that it took."""

    seconds: float
    pace: float  # CPU seconds of a fixed piece of work just before and after
    rows: tuple[tuple[float, ...], ...]  # suggestions, encoded
    reported: tuple[float, ...]  # what the tool says is predicted for each
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """All replies of one tool to one variant of the questions."""

    tool: str
    variant: str
    asked: int  # suggestions per question
    settings: str  # how the tool was called, for the report
    replies: tuple[Reply, ...]
    probe: tuple[float, ...] = ()  # the tool's own predictions at the starts


def save_sheets(path: Path, sheets: list[Sheet]) -> None:
    """Write the sheets of a tool; a value that is not a number becomes null."""
    text = json.dumps([asdict(sheet) for sheet in sheets])
    path.write_text(text.replace("NaN", "null"), encoding="utf-8")


def load_sheets(path: Path) -> list[Sheet]:
    """The sheets that a tool wrote."""
    return [_sheet(said) for said in json.loads(path.read_text(encoding="utf-8"))]


def _sheet(said: dict[str, Any]) -> Sheet:
    replies = tuple(
        Reply(
            one["seconds"],
            one["pace"],
            tuple(tuple(math.nan if v is None else v for v in row) for row in one["rows"]),
            tuple(math.nan if v is None else v for v in one["reported"]),
            one["note"],
        )
        for one in said["replies"]
    )
    return Sheet(**{**said, "replies": replies, "probe": tuple(said["probe"])})


def movable(variant: str) -> tuple[str, ...]:
    """The columns that a suggestion may change."""
    return NAMES if variant == "free" else tuple(n for n in NAMES if n not in FIXED)


def limits(start: Floats, variant: str) -> dict[str, tuple[float, float]]:
    """The range that the rules leave to each movable column while the others stay.

    Tools that cannot be told rules can be told ranges: bounds of each rule over the ranges of its
    columns, repeated until nothing changes.
    """
    free = movable(variant)
    low, high = _ranges(start, free)
    changed = True
    while changed:
        changed = False
        for name, sign, bound in _bounds(low, high):
            if name not in free:
                continue
            if sign > 0 and bound < high[name]:
                high[name], changed = math.floor(bound), True
            elif sign < 0 and bound > low[name]:
                low[name], changed = math.ceil(bound), True
    return {name: (low[name], high[name]) for name in free}


def _ranges(start: Floats, free: tuple[str, ...]) -> tuple[dict[str, float], dict[str, float]]:
    low = dict(zip(NAMES, start.tolist(), strict=True))
    high = dict(low)
    for column in COLUMNS:
        if column.name in free:
            low[column.name], high[column.name] = column.low, column.top
    return low, high


def _bounds(low: dict[str, float], high: dict[str, float]) -> Iterator[tuple[str, float, float]]:
    """For every column of every rule: the sign of its coefficient and the bound it implies."""
    for rule in RULES:
        for name, c in rule.terms.items():
            least = sum(
                other * (low[n] if other > 0 else high[n])
                for n, other in rule.terms.items()
                if n != name
            )
            yield name, c, (rule.bound - least) / c
