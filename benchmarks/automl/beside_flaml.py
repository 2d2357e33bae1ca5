"""Selection and tuning beside FLAML: the same rows, seconds and cores, and rows nobody has seen."""

import argparse
import json
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.automl.learn import within
from benchmarks.automl.tables import Problem, problems
from benchmarks.show import save, table
from compass.execute.processors import cores
from compass.model.error import mape, small

MOST = 1.0  # times FLAML's error, on the mean over the tables
SCRIPT = Path(__file__).with_name("run_flaml.py")


@dataclass(frozen=True)
class Row:
    """One table."""

    table: str
    rows: int
    ours: float
    model: str
    trials: int
    seconds: float
    theirs: float
    estimator: str
    their_seconds: float
    logged: float | None  # FLAML's error when it learns the logarithm, if that was asked for

    @property
    def ratio(self) -> float:
        """Our error over theirs."""
        return self.ours / self.theirs


def run(given: argparse.Namespace) -> int:
    """Print every table, then the mean."""
    if given.python is None:
        print("--python has to name the interpreter that has FLAML (make automl does)")
        return 2
    rows = []
    for problem in problems(given.data, given.seed, tuple(given.only)):
        if given.only_theirs:
            print(problem.name, _theirs(problem, given, log=given.log), flush=True)
            continue
        rows.append(_row(problem, given))
        print(_told([rows[-1]]).splitlines()[-1], flush=True)
    if given.only_theirs:
        return 0
    print("\n" + _told(rows))
    ratio = float(np.mean([row.ratio for row in rows]))
    better = sum(row.ratio <= 1 for row in rows)
    print(f"\nerror / FLAML's error, mean over {len(rows)} tables: {ratio:.3f} (at most {MOST})")
    print(f"geometric mean {np.exp(np.mean([np.log(r.ratio) for r in rows])):.3f}")
    print(f"at or below FLAML on {better} of {len(rows)} tables")
    if given.log:
        logged = float(np.mean([row.ours / (row.logged or np.nan) for row in rows]))
        print(f"error / error of FLAML on the logarithm, mean: {logged:.3f}")
    if given.json:
        save(given.json, {"tables": [asdict(row) for row in rows], "ratio": ratio})
    return int(ratio > MOST)


def _row(problem: Problem, given: argparse.Namespace) -> Row:
    said = _theirs(problem, given, log=False)
    logged = _theirs(problem, given, log=True) if given.log else None
    made = within(problem, given.seconds)
    kind = made.recipe.family + (" (log)" if made.recipe.log else "")
    return Row(
        table=problem.name,
        rows=len(problem.y),
        ours=made.error,
        model=kind + (" tuned" if made.recipe.changes else ""),
        trials=0 if made.tuned is None else made.tuned.trials,
        seconds=made.seconds,
        theirs=said["error"],
        estimator=said["estimator"],
        their_seconds=said["seconds"],
        logged=None if logged is None else logged["error"],
    )


def _theirs(problem: Problem, given: argparse.Namespace, *, log: bool) -> dict[str, Any]:
    """FLAML's result, from the file of earlier runs where it is there."""
    known = {}
    if given.theirs is not None and given.theirs.is_file():
        known = json.loads(given.theirs.read_text(encoding="utf-8"))
    key = f"{problem.name}, seed {given.seed}, {given.seconds:g} s" + (", log" if log else "")
    if key not in known:
        known[key] = flaml(problem, given.python, given.seconds, log=log)
        if given.theirs is not None:
            given.theirs.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return dict(known[key])


def flaml(problem: Problem, python: Path, seconds: float, *, log: bool) -> dict[str, Any]:
    """FLAML in a process of its own; its predictions are judged here."""
    with tempfile.TemporaryDirectory() as folder:
        case, answer = Path(folder) / "case.npz", Path(folder) / "answer.npz"
        labels = np.array([parameter.kind == "category" for parameter in problem.features])
        np.savez(case, X=problem.X, y=problem.y, X_test=problem.X_test, labels=labels)
        options = ["--seconds", str(seconds), "--cores", str(cores())] + ["--log"] * log
        done = subprocess.run(
            [str(python), str(SCRIPT), str(case), str(answer), *options],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        said = json.loads(done.stdout.splitlines()[-1])
        with np.load(answer) as found:
            predicted = found["predicted"]
    error = mape(problem.y_test, predicted, scale=small(problem.y))
    return {**said, "error": error}


def _told(rows: list[Row]) -> str:
    head = (
        *("table", "rows", "Compass", "model", "settings tried", "s"),
        *("FLAML", "estimator", "s", "ratio", "FLAML on log"),
    )
    lines = [
        (
            *(row.table, row.rows, f"{row.ours:.4f}", row.model, row.trials, f"{row.seconds:.0f}"),
            *(f"{row.theirs:.4f}", row.estimator, f"{row.their_seconds:.0f}", f"{row.ratio:.3f}"),
            "" if row.logged is None else f"{row.logged:.4f}",
        )
        for row in rows
    ]
    return table(head, lines)
