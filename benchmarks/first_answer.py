"""Seconds from a new table to the first answer: `python -m benchmarks.first_answer`.

838 runs of 12 parameters and 10 outcomes, made by a law. Twice on the command line and twice
through a server: waiting until every outcome is learnt, then asking about one of them; and asking
at once, for which that one is learnt. The answers are compared.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import compass as cp
from benchmarks.show import save, table

ROWS, PARAMETERS, OUTCOMES = 838, 12, 10
QUESTION = "Recommend X = {p0: ?, p1: ?, p2: ?} to achieve Y = {y0: minimize}"


def columns(rows: int = ROWS, seed: int = 0) -> dict[str, list[float]]:
    """Parameters on small grids, and outcomes of other weights and interactions each."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 9, (rows, PARAMETERS)).astype(float)
    found = {f"p{j}": X[:, j].tolist() for j in range(PARAMETERS)}
    for k in range(OUTCOMES):
        weight = rng.gamma(1.0, 1.0, PARAMETERS)
        a, b = rng.choice(PARAMETERS, 2, replace=False)
        y = 10 + X @ weight + 3 * X[:, a] * X[:, b] / (1 + X[:, (a + k) % PARAMETERS])
        found[f"y{k}"] = (y * rng.lognormal(0, 0.05, rows)).tolist()
    return found


def roles() -> list[str]:
    """The roles as flags, so that nothing is left to be guessed."""
    named = {f"p{j}": "knob" for j in range(PARAMETERS)}
    named |= {f"y{k}": "outcome" for k in range(OUTCOMES)}
    return [word for name, role in named.items() for word in ("--role", f"{name}={role}")]


def compass(folder: Path, *words: object) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "compass.cli.main", *map(str, words)],
        env=os.environ | {"COMPASS_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of a server that offers nothing of its own, which it would learn meanwhile."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "compass.cli.main", "serve", __file__),
            *("--port", "0", "--state", str(folder / "state")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if address := re.search(r"listens on (http://\S+)", line):
                yield address.group(1)
                break
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def suggested(answer: Any) -> str:
    """The suggestions of an answer, as JSON."""
    told = answer if isinstance(answer, dict) else json.loads(answer.model_dump_json())
    return json.dumps(told["suggestions"], sort_keys=True)


def on_the_command_line(folder: Path, path: Path) -> dict[str, tuple[float, str]]:
    """Seconds until the first answer, and the answer, by what is waited for."""
    engine, asked = folder / "all.compass", ("--no-prove", "--json")
    began = time.perf_counter()
    compass(folder, "fit", path, "-o", engine, *roles())
    told = compass(folder, "ask", engine, QUESTION, *asked)
    whole = time.perf_counter() - began
    began = time.perf_counter()
    single = compass(folder, "ask", path, QUESTION, *roles(), *asked)
    seconds = time.perf_counter() - began
    return {
        "all": (whole, suggested(json.loads(told))),
        "one": (seconds, suggested(json.loads(single))),
    }


def through_a_server(folder: Path, path: Path) -> dict[str, tuple[float, str]]:
    """The same with a table that is uploaded."""
    names = {
        "knobs": [f"p{j}" for j in range(PARAMETERS)],
        "outcomes": [f"y{k}" for k in range(OUTCOMES)],
    }
    found = {}
    for outcomes in (None, ()):
        with server(folder) as address:
            made = cp.connect(address)
            began = time.perf_counter()
            # Each on a state of its own: what is uploaded is learnt from scratch.
            engine = made.upload(path).roles(**names).fit(outcomes=outcomes)
            answer = next(engine.stream(QUESTION, prove=0))
            seconds = time.perf_counter() - began
            found["all" if outcomes is None else "one"] = (seconds, suggested(answer))
            engine.delete()
            made.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compass-first-") as place:
        folder = Path(place)
        os.environ["XDG_CONFIG_HOME"] = place  # the keys of workspaces are none of the person's
        path = folder / "runs.csv"
        made = columns()
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(made)
            writer.writerows(zip(*made.values(), strict=True))
        found = {
            "command line": on_the_command_line(folder, path),
            "server": through_a_server(folder, path),
        }
    lines = [
        (place, f"{times['all'][0]:.1f}", f"{times['one'][0]:.1f}")
        for place, times in found.items()
    ]
    print(table(["first answer about y0, s", "all learnt first", "asked at once"], lines))
    for place, times in found.items():
        same = times["all"][1] == times["one"][1]
        print(f"{place}: {'the same suggestions' if same else 'OTHER suggestions'} both times")
    if given.json is not None:
        figures = {p: {k: seconds for k, (seconds, _) in t.items()} for p, t in found.items()}
        save(given.json, figures)


if __name__ == "__main__":
    main()
