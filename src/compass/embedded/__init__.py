"""The table of measured runs that comes with Compass, so that every command works at once.

It holds about three thousand configurations of four small parallel kernels, really measured on one
machine; :func:`machine` tells which. Its columns are those of :mod:`compass.collect.sweep`.
"""

from __future__ import annotations

import json
from pathlib import Path

NAME = "embedded"  # what people call it where a file could be named
_FOLDER = Path(__file__).parent


def path() -> Path:
    """Returns the embedded table, a CSV file."""
    return _FOLDER / "kernels.csv"


def study() -> Path:
    """Returns what the columns of the embedded table mean, a study file."""
    return _FOLDER / "kernels.study.yaml"


def machine() -> dict[str, object]:
    """Returns a description of the machine the embedded table was measured on."""
    about: dict[str, object] = json.loads((_FOLDER / "machine.json").read_text(encoding="utf-8"))
    return about
