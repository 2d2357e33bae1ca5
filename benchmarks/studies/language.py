"""Compass beside a language model of rows: `python -m benchmarks.studies.language`.

One table (zeus: 1,609 trainings under power limits). Measured: CPU seconds until an engine with
default settings has learnt both outcomes, and of a question after that; and of be-great 0.0.14, in
an environment of its own (`make study-peers`), a step of learning and the writing of one row.
Extrapolated, and named so: the steps that be-great's 100 epochs, or the paper's 1,000, would take.
Each is a product of measured seconds per step and the number of steps; nothing else is assumed.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv

import compass as cp
from benchmarks.roles import ROOT, data_folder, sources
from benchmarks.show import save, table
from benchmarks.studies.run_language import BATCH

TABLE = "zeus"
QUESTIONS = 10
EPOCHS = (100, 1000)  # be-great's default; what the paper gave it


def ours(folder: Path, seed: int) -> tuple[float, list[float], int]:
    """CPU seconds of learning and of questions, and the number of runs."""
    source = sources()[TABLE]
    data = source.read(folder)
    engine = cp.Compass(data, seed=seed)
    began = time.process_time()
    engine.fit()
    fit = time.process_time() - began
    rng, asked = np.random.default_rng(seed), []
    for row in rng.choice(len(data), QUESTIONS + 1, replace=False):
        run = data.row(int(row))
        given = {name: run[name] for name in ("gpu", "dataset", "network", "optimizer")}
        began = time.process_time()
        engine.recommend(source.ask, dict.fromkeys(source.goals, cp.minimize), fixed=given)
        asked.append(time.process_time() - began)
    return fit, asked[1:], len(data)


def theirs(folder: Path, python: Path) -> dict[str, Any]:
    """What the other one measures of itself."""
    alone = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "TOKENIZERS_PARALLELISM": "false"}
    source = sources()[TABLE]
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "table.csv"
        csv.write_csv(source.read(folder).table.arrow, path)
        done = subprocess.run(
            [str(python), "-m", "benchmarks.studies.run_language", str(path), "64"],
            cwd=ROOT,
            env={**os.environ, **alone},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure both, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-great" / "bin" / "python")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the values here too")
    said = parser.parse_args()
    if not said.python.exists():
        raise SystemExit(f"error: there is no {said.python}\nhint: make study-peers")
    fit, asked, rows = ours(data_folder(), said.seed)
    answer = float(np.median(asked))
    measured = theirs(data_folder(), said.python)
    lines = [("Compass, both outcomes", "", "", f"{fit:.1f}", "", f"{answer:.3f}", "")]
    steps = math.ceil(rows / BATCH)
    for name, one in measured.items():
        for epochs in EPOCHS:
            learns = epochs * steps * one["step"]
            lines.append(
                (
                    f"GReaT, {name}, {epochs} epochs",
                    f"{one['parameters'] / 1e6:.1f} M",
                    f"{one['step']:.3f}",
                    f"{learns:,.0f} (extrapolated)",
                    f"{learns / fit:,.0f} x",
                    f"{one['row']:.3f}",
                    f"{one['row'] / answer:,.1f} x",
                )
            )
    head = ("", "weights", "a step", "learning, CPU s", "of ours", "a suggestion, CPU s", "of ours")
    print(f"{TABLE}, {rows} runs, {steps} steps of {BATCH} rows an epoch")
    print(table(head, lines))
    if said.json:
        figures = {"seed": said.seed, "rows": rows, "fit": fit, "answers": asked}
        save(said.json, {**figures, "great": measured})


if __name__ == "__main__":
    main()
