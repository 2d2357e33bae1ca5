"""How the time and the memory of an answer grow: `make growth`.

A made-up table with 10,000 runs, 20 parameters, 5 linear rules, one outcome and a forest of 100
trees is changed in one respect at a time: runs, trees, parameters, rules, outcomes. Each time ten
questions are asked (reconfigure for 20 % less of the first outcome and no more of the others, every
parameter movable, four suggestions, no proof), in a process of its own on one core. Told are the
median CPU seconds of a whole answer, those of fitting, the memory that fitting took at its peak,
that of the fitted engine loaded from its file, and what answering adds to it. The same as a
picture goes to docs/images/growth.svg.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compass as cp
from benchmarks.chart import Panel, svg
from benchmarks.peers.ask import one_core
from benchmarks.show import save, table
from compass.settings import ForestSettings

Floats = NDArray[np.float64]
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "growth.svg"
LEVELS = 32  # whole numbers go from 1 to this
LABELS = ("a", "b", "c", "d")
LESS = 0.2
COUNT = 4
ROOM = 1.6  # a rule's bound, in units of LEVELS: few random pairs are beyond it


@dataclass(frozen=True)
class Shape:
    """The size of a problem."""

    rows: int = 10_000
    trees: int = 100
    parameters: int = 20
    rules: int = 5
    outcomes: int = 1


VARIED: dict[str, tuple[int, ...]] = {
    "rows": (1_000, 10_000, 100_000, 1_000_000),
    "trees": (25, 100, 400),
    "parameters": (5, 20, 80, 500),
    "rules": (0, 5, 20),
    "outcomes": (1, 2, 4, 8),
}


@dataclass(frozen=True)
class Made:
    """A table of one shape: encoded runs, what is known of the columns, and its rules."""

    X: Floats  # [n, d]; every fourth column is a label's position, every fifth a real number
    Y: Floats  # [n, outcomes]
    kinds: tuple[str, ...]
    rules: tuple[str, ...]

    def config(self, row: Floats) -> dict[str, Any]:
        """One run as a person writes it."""
        return {f"x{j}": _plain(kind, row[j]) for j, kind in enumerate(self.kinds)}


def kind_of(j: int) -> str:
    """What the column at this place holds."""
    if j % 4 == 3:
        return "label"
    return "real" if j % 5 == 4 else "whole"


def make(shape: Shape, rng: np.random.Generator) -> Made:
    """Runs that obey all rules, and an outcome of a few parameters with 5 % noise."""
    kinds = tuple(kind_of(j) for j in range(shape.parameters))
    X = np.column_stack([_draw(kind, shape.rows, rng) for kind in kinds])
    pairs = pairs_of(kinds, shape.rules)
    for i, j in pairs:  # a run beyond the bound gives up some of its second number
        over = np.maximum(X[:, i] + X[:, j] - ROOM * LEVELS, 0.0)
        X[:, j] = np.maximum(X[:, j] - np.ceil(over), 1.0)
    rules = tuple(f"x{i} + x{j} <= {ROOM * LEVELS:g}" for i, j in pairs)
    # Each outcome reads the columns from another one on: they pull in different directions.
    laws = [outcome(np.roll(X, k, axis=1), kinds) for k in range(shape.outcomes)]
    Y = np.column_stack(laws) * np.exp(rng.normal(0, 0.05, (shape.rows, shape.outcomes)))
    return Made(X, Y, kinds, rules)


def pairs_of(kinds: tuple[str, ...], count: int) -> list[tuple[int, int]]:
    """The columns that the rules tie together: pairs of numbers, neighbours first."""
    numbers = [j for j, kind in enumerate(kinds) if kind != "label"]
    pairs = sorted(combinations(numbers, 2), key=lambda pair: (pair[1] - pair[0], pair))
    if len(pairs) < count:
        raise ValueError(f"{len(kinds)} parameters have no {count} pairs of numbers")
    return pairs[:count]


def outcome(X: Floats, kinds: tuple[str, ...]) -> Floats:
    """The law [n]: every parameter counts a little less than the one before it."""
    total = np.full(len(X), 20.0)
    for j, kind in enumerate(kinds):
        size = 60 / (1 + j)
        share = X[:, j] / (len(LABELS) - 1 if kind == "label" else LEVELS)
        total += size * (share if j % 2 else 1 / (0.3 + share))
    return total + 30 * (X[:, 0] / LEVELS) * (X[:, 1] / LEVELS)


def _draw(kind: str, n: int, rng: np.random.Generator) -> Floats:
    if kind == "label":
        return rng.integers(0, len(LABELS), n).astype(float)
    if kind == "real":
        return rng.uniform(1, LEVELS, n)
    return rng.integers(1, LEVELS + 1, n).astype(float)


def _plain(kind: str, value: float) -> Any:
    if kind == "label":
        return LABELS[int(value)]
    return int(value) if kind == "whole" else float(value)


def learn(made: Made, shape: Shape, seed: int) -> cp.Compass:
    """An engine fitted on a made table."""
    names = [f"y{k}" for k in range(shape.outcomes)]
    columns: dict[str, Any] = {name: made.Y[:, k].tolist() for k, name in enumerate(names)}
    study: dict[str, Any] = {name: {"role": "outcome", "kind": "number"} for name in names}
    for j, kind in enumerate(made.kinds):
        columns[f"x{j}"] = [_plain(kind, value) for value in made.X[:, j]]
        choice: dict[str, Any] = {"role": "knob", "kind": "number", "low": 1, "high": LEVELS}
        if kind == "label":
            choice = {"role": "knob", "kind": "category", "values": list(LABELS)}
        study[f"x{j}"] = choice | ({"step": 1} if kind == "whole" else {})
    data = cp.read(columns, study={"columns": study, "rules": list(made.rules)})
    forest = ForestSettings(trees=shape.trees)
    return cp.Compass(
        data,
        seed=seed,
        settings=cp.Settings(surrogate="forest", scale="linear", forest=forest, prove=0.0),
    ).fit()


@dataclass(frozen=True)
class Point:
    """One measurement."""

    varied: str
    value: int
    fit: float  # CPU seconds
    median: float  # CPU seconds of an answer
    worst: float
    answered: int
    questions: int
    fit_memory: float  # MiB at the peak of fitting
    memory: float  # MiB of a process that has loaded the engine and asked once
    ask_memory: float  # MiB that asking added to it at its peak


def measure(varied: str, value: int, questions: int, seed: int) -> Point:
    """Fit one shape in a process, and ask in another one."""
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, Any] = {}
        for part in ("fit", "ask"):
            said = [part, folder, varied, str(value), str(questions), str(seed)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.growth", "part", *said],
                stdout=subprocess.PIPE,
                check=True,
            )
            found |= json.loads(done.stdout)
    return Point(varied, value, questions=questions, **found)


def _part(part: str, folder: str, varied: str, value: str, questions: str, seed: str) -> None:
    """One half of a measurement, told as JSON."""
    one_core()
    shape = replace(Shape(), **{varied: int(value)})
    file, starts = Path(folder, "engine.compass"), Path(folder, "starts.json")
    if part == "ask":  # which makes no table: its memory would hide that of asking
        print(json.dumps(_asked(cp.load(file), shape, json.loads(starts.read_text()))))
        return
    made = make(shape, np.random.default_rng([int(seed), shape.parameters, shape.rules]))
    starts.write_text(json.dumps(_starts(made, int(questions) + 1, int(seed))))
    began = time.process_time()
    engine = learn(made, shape, int(seed))
    print(json.dumps({"fit": time.process_time() - began, "fit_memory": _peak()}))
    engine.save(file)


def _starts(made: Made, count: int, seed: int) -> list[tuple[dict[str, Any], list[float]]]:
    """Runs that are slower than most, so that there is something to gain, with their outcomes."""
    order = np.argsort(made.Y[:, 0])[len(made.Y) // 2 :]
    rows = np.random.default_rng(seed).choice(order, count, replace=False)
    return [(made.config(made.X[row]), made.Y[row].tolist()) for row in rows]


def _asked(
    engine: cp.Compass, shape: Shape, asked: Sequence[tuple[dict[str, Any], list[float]]]
) -> dict[str, Any]:
    """Put the questions; the first one, which loads what is needed, does not count."""
    ask = [f"x{j}" for j in range(shape.parameters)]
    seconds, answered, loaded = [], 0, 0.0
    for config, y in asked:
        limits = {f"y{k}": cp.at_most(1.1 * y[k]) for k in range(1, shape.outcomes)}
        goals = {"y0": cp.less(LESS), **limits}
        began = time.process_time()
        answer = engine.reconfigure(config, ask=ask, goals=goals, count=COUNT)
        seconds.append(time.process_time() - began)
        if len(seconds) == 1:
            loaded = _peak()
            continue
        answered += bool(len(answer) and answer[0].meets_goals)
    counted = seconds[1:]
    return {
        "median": float(np.median(counted)),
        "worst": max(counted),
        "answered": answered,
        "memory": loaded,
        "ask_memory": _peak() - loaded,
    }


def _peak() -> float:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(points: Sequence[Point]) -> str:
    """The measurements as a table."""
    head = (
        *("varied", "value", "fit CPU s", "fit MiB", "answer CPU ms", "worst", "answered"),
        *("MiB", "asking adds"),
    )
    lines = [
        (
            p.varied,
            f"{p.value:,}",
            f"{p.fit:.1f}",
            f"{p.fit_memory:.0f}",
            f"{1000 * p.median:.1f}",
            f"{1000 * p.worst:.1f}",
            f"{p.answered}/{p.questions}",
            f"{p.memory:.0f}",
            f"{p.ask_memory:.0f}",
        )
        for p in points
    ]
    return table(head, lines)


def picture(points: Sequence[Point]) -> str:
    """The measurements as an SVG file."""
    panels = []
    for varied in dict.fromkeys(point.varied for point in points):
        here = [point for point in points if point.varied == varied]
        panels.append(
            Panel(
                varied,
                {
                    "median answer": [(p.value, 1000 * p.median) for p in here],
                    "worst of ten": [(p.value, 1000 * p.worst) for p in here],
                },
            )
        )
    return svg(panels, "CPU ms")


def main(arguments: Sequence[str] | None = None) -> int:
    if sys.argv[1:2] == ["part"] and arguments is None:
        _part(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", choices=tuple(VARIED), help="vary this alone; draws nothing")
    parser.add_argument("--most", type=int, help="leave out larger values")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where the SVG goes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    said = parser.parse_args(arguments)
    points = []
    for varied, values in VARIED.items():
        chosen = [value for value in values if said.most is None or value <= said.most]
        for value in chosen if said.only in (None, varied) else ():
            print(f"{varied} = {value} ...", file=sys.stderr, flush=True)
            points.append(measure(varied, value, said.questions, said.seed))
            print(show(points[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    print(show(points))
    if not said.only and said.most is None:
        said.picture.parent.mkdir(parents=True, exist_ok=True)
        said.picture.write_text(picture(points), encoding="utf-8")
    if said.json:
        save(said.json, {"seed": said.seed, "points": [asdict(point) for point in points]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
