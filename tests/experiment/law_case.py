"""A small experiment whose law is known, for tests of everything around the loop."""

import math
from collections.abc import Mapping
from typing import Any

from compass.domain.base import Value
from compass.domain.experiment import ExperimentPlan
from compass.experiment.plan_file import plan_of

PLAN: dict[str, Any] = {
    "columns": {
        "threads": {"allowed": [1, 2, 4, 8, 16]},
        "tile": {"low": 16, "high": 256, "step": 16},
        "flags": {"values": ["O1", "O2", "O3", "Ofast"]},
    },
    "rules": ["threads * tile <= 1024"],
    "goals": {"runtime": "minimize"},
    "budget": 40,
    "seed": 3,
}
_FLAGS = {"O1": 3.0, "O2": 1.5, "O3": 1.0, "Ofast": 0.9}
BEST = {"threads": 8.0, "tile": 64.0, "flags": "Ofast"}


def law(config: Mapping[str, Value]) -> float:
    """The runtime of a configuration; its minimum is at BEST."""
    threads, tile = float(config["threads"] or 0), float(config["tile"] or 0)
    steps = abs(math.log2(tile) - 6)
    return 10 / threads + 0.2 * threads + 0.7 * steps + _FLAGS[str(config["flags"])]


def plan(**changes: Any) -> ExperimentPlan:
    """The plan with some of its parts changed."""
    return plan_of({**PLAN, **changes})
