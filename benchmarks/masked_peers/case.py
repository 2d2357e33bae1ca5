"""What every tool is given and hands back: plain files. Only numpy is needed here."""

import json
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.legal import RULES

Floats = NDArray[np.float64]
RECOMMEND, RECONFIGURE, WHAT_IF = "recommend", "reconfigure", "what-if"


@dataclass(frozen=True)
class Column:
    """A feature: labels by their position, or numbers with the values that are legal."""

    name: str
    labels: tuple[Any, ...] = ()
    values: tuple[float, ...] = ()  # of a number; none: anything from low to high
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    none_code: float | None = None  # the number that stands for "no value"

    def cell(self, code: float) -> Any:
        """An encoded value as a person writes it."""
        if self.labels:
            return self.labels[int(code)]
        return None if code == self.none_code else code

    def nearest(self, code: float) -> float:
        """The legal value that is nearest: tools that know ranges alone are helped with it."""
        if self.labels:
            return float(np.clip(round(code), 0, len(self.labels) - 1))
        if self.values:
            return min(self.values, key=lambda value: abs(value - code))
        inside = float(np.clip(code, self.low, self.high))
        return float(round(inside)) if self.whole else inside

    def choices(self) -> tuple[float, ...]:
        """All codes that are legal, where they can be listed."""
        return tuple(map(float, range(len(self.labels)))) if self.labels else self.values


@dataclass(frozen=True)
class Question:
    """A complete row, what may move in it, and the range that the outcome is to come into."""

    number: int
    kind: str
    row: tuple[float, ...]  # encoded; of a recommendation the asked ones are NaN
    low: float
    high: float


@dataclass(frozen=True)
class Case:
    """One partition of one table."""

    table: str
    columns: tuple[Column, ...]
    asked: tuple[int, ...]  # places of the parameters that are hidden
    rules: tuple[str, ...]
    X: Floats  # [n, d] the rows that the forest learns
    y: Floats  # [n]
    scale: tuple[float, ...]  # [d] one step of distance; 1 for labels
    trees: int
    depth: int
    seed: int
    questions: tuple[Question, ...]

    def save(self, folder: Path) -> None:
        """Write everything into a folder."""
        np.savez(folder / "rows.npz", X=self.X, y=self.y)
        said = {key: value for key, value in vars(self).items() if key not in ("X", "y")}
        said["columns"] = [asdict(one) for one in self.columns]
        said["questions"] = [asdict(one) for one in self.questions]
        (folder / "case.json").write_text(json.dumps(said), encoding="utf-8")

    def config(self, row: Sequence[float]) -> dict[str, Any]:
        """An encoded row as a person writes it."""
        return {one.name: one.cell(code) for one, code in zip(self.columns, row, strict=True)}

    def broken(self, row: Sequence[float]) -> int:
        """How many rules a row breaks."""
        config = self.config(row)
        return sum(not RULES[text](config) for text in self.rules)

    def of(self, *kinds: str) -> Iterator[Question]:
        """The questions of some kinds."""
        return (one for one in self.questions if one.kind in kinds)


def load(folder: Path) -> Case:
    """The case that was saved in a folder."""
    said = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    with np.load(folder / "rows.npz") as rows:
        X, y = rows["X"], rows["y"]
    columns = tuple(_column(one) for one in said.pop("columns"))
    asked = tuple(Question(**{**one, "row": tuple(one["row"])}) for one in said.pop("questions"))
    rest = {key: tuple(v) if isinstance(v, list) else v for key, v in said.items()}
    return Case(columns=columns, questions=asked, X=X, y=y, **rest)


def _column(said: dict[str, Any]) -> Column:
    lists = {key: tuple(said[key]) for key in ("labels", "values")}
    return Column(**{**said, **lists})


@dataclass(frozen=True)
class Reply:
    """The first suggestion of a tool, encoded; for a what-if the outcome that it predicts."""

    number: int
    kind: str
    row: tuple[float, ...] | None
    predicted: float | None
    seconds: float  # CPU
    note: str = ""


Ask = Callable[[Question], tuple[Sequence[float] | None, float | None, str]]


class TooLong(BaseException):
    """A search that does not end; no ordinary exception, which the tool might catch."""


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raise `TooLong` after so many seconds."""

    def stop(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


PATIENCE = 120  # seconds by the clock; the machine may be busy


def replies(tool: str, questions: Iterator[Question], ask: Ask) -> list[Reply]:
    """Put questions to a tool; what it raises is an answer too."""
    found = []
    for question in questions:
        began = time.process_time()
        row, predicted, note = None, None, ""
        try:
            with patience(PATIENCE):
                row, predicted, note = ask(question)
        except Exception as error:  # a tool that finds nothing raises: that is its answer
            note = f"{type(error).__name__}: {error}"[:200]
        except TooLong:
            note = f"no answer in {PATIENCE} s"
        took = time.process_time() - began
        told = None if row is None else tuple(map(float, row))
        found.append(Reply(question.number, question.kind, told, predicted, took, note))
        print(f"{tool} {question.kind} {question.number}: {took:.2f} s {note}", file=sys.stderr)
    return found


def save_replies(path: Path, found: dict[str, list[Reply]]) -> None:
    """The replies of every method of a tool; what is not a number becomes null."""
    said = {method: [asdict(one) for one in own] for method, own in found.items()}
    path.write_text(json.dumps(said).replace("NaN", "null"), encoding="utf-8")


def load_replies(path: Path) -> dict[str, list[Reply]]:
    """What a tool wrote."""
    said = json.loads(path.read_text(encoding="utf-8"))
    return {method: [_reply(one) for one in own] for method, own in said.items()}


def _reply(said: dict[str, Any]) -> Reply:
    row = said["row"]
    if row is not None:
        row = tuple(math.nan if v is None else v for v in row)
    return Reply(**{**said, "row": row})


class Forest:
    """A forest that has learnt the logarithm of an outcome, as Compass's has."""

    def __init__(self, trees: Any) -> None:
        self.trees = trees  # of scikit-learn; they predict the logarithm

    def predict(self, X: Floats) -> Floats:
        """The outcome [n]."""
        return np.asarray(np.exp(self.trees.predict(X)))


def grow(case: Case) -> Forest:
    """The forest of the case: the same rows, seed and trees in every environment."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        n_estimators=case.trees, max_depth=case.depth, random_state=case.seed, n_jobs=1
    )
    # Equal weights are not the same as none: scikit-learn then draws its samples another way.
    return Forest(forest.fit(case.X, np.log(case.y), sample_weight=np.ones(len(case.y))))


def main(run: Callable[[Case], dict[str, list[Reply]]], name: str) -> None:
    """Read the case from the folder named on the command line and write the replies there."""
    folder = Path(sys.argv[1])
    save_replies(folder / f"{name}.json", run(load(folder)))
