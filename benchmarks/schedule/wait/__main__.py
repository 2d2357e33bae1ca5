"""Predicted queue waits judged on later jobs, and predicted effects against simulated ones.

python -m benchmarks.schedule.wait                 the kept values
python -m benchmarks.schedule.wait run [NAME ...]  judge on traces, and keep the values
python -m benchmarks.schedule.wait effects         changed requests: predicted and simulated
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.show import table

KEPT = Path(__file__).with_name("results.json")
_COLUMNS = ("jobs", "held", "above", "loss", "mean error", "median error", "width")


def report(kept: dict[str, Any]) -> None:
    """The figures as tables."""
    for name, one in kept["traces"].items():
        rows = [
            (how, *(_figure(column, figures[column]) for column in _COLUMNS))
            for how, figures in one.items()
            if isinstance(figures, dict)
        ]
        print(f"{name} (by trees in {one['blocks by trees']} of 8 stretches; minutes)")
        print(table(("prediction", *_COLUMNS), rows) + "\n")
    for name, one in kept["effects"].items():
        print(f"{name}: {one['jobs']} jobs that waited, minutes")
        changes = [key for key, figures in one.items() if isinstance(figures, dict)]
        rows = [
            (what, *(f"{one[change][what]:.2f}" for change in changes)) for what in one[changes[0]]
        ]
        print(table(("", *changes), rows) + "\n")


def _figure(column: str, value: float) -> str:
    if column in ("held", "above"):
        return f"{value:.1%}"
    return (
        f"{value:.3f}" if column == "loss" else f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
    )


def run(names: list[str], kind: str) -> None:
    """Judge, and keep the values."""
    from benchmarks.roles import data_folder
    from benchmarks.schedule.wait.effects import QUEUES, effects
    from benchmarks.schedule.wait.judge import judged
    from benchmarks.schedule.wait.traces import TRACES

    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"traces": {}, "effects": {}}
    for name in names or list(TRACES if kind == "traces" else QUEUES):
        if kind == "traces":
            found = judged(TRACES[name](data_folder()))
        else:
            found = effects(data_folder(), name)
        kept[kind][name] = _rounded(found)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
        report({"traces": {}, "effects": {}, kind: {name: kept[kind][name]}})


def _rounded(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _rounded(value) for key, value in found.items() if value is not None}
    return (
        float(np.format_float_positional(found, 5, fractional=False))
        if isinstance(found, float)
        else found
    )


def main() -> None:
    match sys.argv[1:]:
        case ["run", *names]:
            run(names, "traces")
        case ["effects", *names]:
            run(names, "effects")
        case []:
            report(json.loads(KEPT.read_text()))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
