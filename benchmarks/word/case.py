"""What other tools are given and hand back: plain files. Only numpy is needed here."""

import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.word.laws import LAWS, Floats, JobLaw
from benchmarks.word.questions import Question

TREES, DEPTH = 100, 12  # of the forest that tools are asked about


@dataclass(frozen=True)
class Case:
    """The runs of one law that a forest learns, the scale of distance, and the questions."""

    law: JobLaw
    X: Floats  # [n, d] what Compass trains on; the runs that it validates with are not here
    y: Floats  # [n]
    scale: Floats  # [d] one step of distance per column
    seed: int  # of the forest
    patience: int  # seconds that a tool may take for a question
    questions: tuple[Question, ...]

    def save(self, folder: Path) -> None:
        """Write everything into a folder."""
        np.savez(folder / "rows.npz", X=self.X, y=self.y, scale=self.scale)
        said = {
            "law": self.law.name,
            "seed": self.seed,
            "patience": self.patience,
            "questions": [asdict(q) for q in self.questions],
        }
        (folder / "case.json").write_text(json.dumps(said), encoding="utf-8")


@dataclass(frozen=True)
class Reply:
    """The suggestions of a tool to one question, encoded."""

    number: int
    rows: tuple[tuple[float, ...], ...]
    seconds: float
    note: str = ""


def load(folder: Path) -> Case:
    """The case that was saved in a folder."""
    said = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    law = next(one for one in LAWS if one.name == said["law"])
    with np.load(folder / "rows.npz") as rows:
        X, y, scale = rows["X"], rows["y"], rows["scale"]
    asked = tuple(_question(one) for one in said["questions"])
    return Case(law, X, y, scale, said["seed"], said["patience"], asked)


def _question(said: dict[str, Any]) -> Question:
    return Question(**{**said, "start": tuple(said["start"]), "free": tuple(said["free"])})


def save_replies(path: Path, replies: dict[str, list[Reply]]) -> None:
    """The replies of every method of a tool; what is not a number becomes null."""
    said = {method: [asdict(one) for one in own] for method, own in replies.items()}
    path.write_text(json.dumps(said).replace("NaN", "null"), encoding="utf-8")


def load_replies(path: Path) -> dict[str, list[Reply]]:
    """What a tool wrote."""
    said = json.loads(path.read_text(encoding="utf-8"))
    return {method: [_reply(one) for one in own] for method, own in said.items()}


def _reply(said: dict[str, Any]) -> Reply:
    rows = tuple(tuple(math.nan if v is None else v for v in row) for row in said["rows"])
    return Reply(said["number"], rows, said["seconds"], said["note"])


def grow(case: Case) -> Any:
    """The forest of the case: the same rows, seed and trees in every environment."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        n_estimators=TREES, max_depth=DEPTH, random_state=case.seed, n_jobs=1
    )
    # Equal weights are not the same as none: scikit-learn then draws its samples another way.
    return forest.fit(case.X, case.y, sample_weight=np.ones(len(case.y)))


def ranges(law: JobLaw, question: Question) -> dict[str, tuple[float, float]]:
    """The range that the rules leave to each movable column while the others stay.

    Tools that cannot be told rules can be told ranges: bounds of each rule over the ranges of its
    columns, repeated until nothing changes.
    """
    low = dict(zip(law.names, question.start, strict=True))
    high = dict(low)
    for column in law.columns:
        if column.name in question.free:
            low[column.name], high[column.name] = column.low, column.top
    changed = True
    while changed:
        changed = False
        for rule in law.rules:
            for name, c in rule.terms.items():
                others = [(n, other) for n, other in rule.terms.items() if n != name]
                least = sum(other * (low[n] if other > 0 else high[n]) for n, other in others)
                bound = (rule.bound - least) / c
                if name not in question.free:
                    continue
                if c > 0 and bound < high[name]:
                    high[name], changed = math.floor(bound), True
                elif c < 0 and bound > low[name]:
                    low[name], changed = math.ceil(bound), True
    return {name: (low[name], high[name]) for name in question.free}


def told(tool: str, number: int, of: int, seconds: float) -> None:
    """Progress."""
    if number % 20 == 0:
        print(f"{tool}: {number} of {of}, {seconds:.2f} s", file=sys.stderr, flush=True)
