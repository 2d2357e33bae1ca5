"""The papers' models on other machines, as they were kept: `python -m benchmarks.studies.papers`.

`python -m benchmarks.platforms.papers` measures them again.
"""

import json
from pathlib import Path

import numpy as np

from benchmarks.platforms.papers import HEAD
from benchmarks.show import table

KEPT = Path(__file__).resolve().parents[1] / "platforms" / "papers.json"


def show() -> str:
    """The mean over the seeds of every method."""
    lines = []
    for name, values in json.loads(KEPT.read_text(encoding="utf-8")).items():
        if name == "machine":
            continue
        each = np.array(values, dtype=float)
        means = (f"{value:.3g}" for value in each.mean(axis=0))
        lines.append((name, *means, f"{each[:, 0].std():.2g}"))
    return table(HEAD, lines)


if __name__ == "__main__":
    print(show())
