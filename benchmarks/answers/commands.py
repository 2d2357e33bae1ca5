"""What the commands print, on a terminal of 100 columns, for good and for bad questions."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SPMV = (
    "Recommend a configuration X = {threads: ?, schedule: ?, flags: ?} to achieve"
    " Y = {runtime_ms: minimize} where C = {kernel: spmv, precision: double, size_kib: 24 MiB}"
)
FASTER = (
    "Reconfigure X = {threads: ?, tile: ?, flags: ?} to achieve Y = {runtime_ms: reduce by 30%}"
)
DOUBLE = "What if we change X = {threads: 1 -> 2}, how would that affect Y = {runtime_ms, gflops}"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ask", "{engine}", SPMV),
    ("ask", "{engine}", SPMV, "--json"),
    ("ask", "{engine}", SPMV, "--count", "5", "--level", "80%", "--no-prove"),
    ("ask", "{engine}", FASTER, "--from", "row:53"),
    ("ask", "{engine}", FASTER, "--from", "row:53", "--weight", "flags=5", "--curve", "tile"),
    ("ask", "{engine}", FASTER),
    ("ask", "{engine}", DOUBLE + " where C = {kernel: matmul}"),
    ("ask", "{engine}", "Recommend a configuration X = {thread: ?} to achieve Y = {runtime_ms: 1}"),
    ("ask", "{engine}", "Please make it fast"),
    ("ask", "{engine}", FASTER, "--from", "row:53", "--sbatch", "{folder}/job.sh"),
    ("ask", "{folder}/none.csv", FASTER),
    ("next", "{engine}", SPMV, "-n", "3"),
    ("next", "{engine}", "-n", "3", "--json"),
    ("explain", "{engine}", "--from", "row:53"),
    ("explain", "{engine}"),
    ("columns", "{embedded}", "--rules"),
    ("columns", "{embedded}", "--json"),
    ("columns", "{embedded}", "--role", "nothing=knob"),
    ("datasets",),
    ("plugins",),
)
TIMES = re.compile(r"\d+(\.\d+)? s\b|\"(seconds|versions)\": \{[^}]*\}|\"seconds\": [0-9.e-]+")


def printed() -> Iterator[tuple[str, Any]]:
    """Each command with what it prints and how it ends."""
    from compass import embedded

    with tempfile.TemporaryDirectory() as folder:
        places = {
            "engine": str(Path(folder) / "e.compass"),
            "folder": folder,
            "embedded": str(embedded.path()),
        }
        words = ["fit", "embedded", "-o", places["engine"], "--surrogate", "forest"]
        yield "command: fit", _run(words, folder)
        for command in COMMANDS:
            words = [word.replace("{", "{{").replace("}", "}}") for word in command]
            for name in places:
                words = [word.replace("{{" + name + "}}", "{" + name + "}") for word in words]
            made = [word.format(**places) for word in words]
            yield "command: " + " ".join(command), _run(made, folder)


def _run(words: list[str], folder: str) -> Any:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COMPASS_")}
    ended = subprocess.run(
        [sys.executable, "-m", "compass.cli.main", *words],
        capture_output=True,
        text=True,
        env=plain | {"COLUMNS": "100", "NO_COLOR": "1"},
        check=False,
    )
    script = Path(folder) / "job.sh"
    said = [ended.stdout, ended.stderr, script.read_text() if script.exists() else ""]
    script.unlink(missing_ok=True)
    told = [TIMES.sub("TIME", text.replace(folder, "FOLDER")).splitlines() for text in said]
    return {"code": ended.returncode, "out": told[0], "error": told[1], "script": told[2]}
