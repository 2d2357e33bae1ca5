"""The kept values of the study as tables: means over splits, with the best and the worst one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.show import table

HEAD = ("adviser", "jobs", "turnaround (splits)", "wait", "run", "nodes", "node-h", "energy")
PUBLISHED = (
    "Published for the paper's own suggestions, which a model scores: turnaround -65.93 %,\n"
    "-28.03 %, -25.53 % against users, heuristic oracle and predictive baseline; nodes\n"
    "-80.93 %, -35.6 %, -67.77 %."
)
Row = Mapping[str, Any]


def show(kept: Sequence[Row]) -> str:
    """Everything that is printed."""
    parts = []
    for case in dict.fromkeys(row["case"] for row in kept):
        for truth in dict.fromkeys(row["truth"] for row in kept if row["case"] == case):
            some = [row for row in kept if row["case"] == case and row["truth"] == truth]
            splits = len({(row["seed"], row["split"]) for row in some})
            title = f"{case}, {splits} splits, truth: {truth}"
            rows = [
                _line(name, [row for row in some if row["adviser"] == name])
                for name in dict.fromkeys(row["adviser"] for row in some)
            ]
            parts.append(f"{title} (change against what users asked for, %)\n{table(HEAD, rows)}")
    return "\n\n".join([*parts, PUBLISHED, gate(kept)])


def _line(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    def mean(what: str) -> str:
        return _percent(float(np.mean([row[what] for row in rows])))

    turned = [row["turnaround"] for row in rows]
    spread = f"{mean('turnaround')} ({_percent(min(turned))} .. {_percent(max(turned))})"
    rest = (mean(what) for what in ("wait", "run", "nodes", "node_hours", "energy"))
    return (_short(name), mean("changed").lstrip("+"), spread, *rest)


def _percent(share: float) -> str:
    return f"{100 * share:+.0f}" if abs(share) >= 1 else f"{100 * share:+.1f}"


def _short(name: str) -> str:
    return name.removeprefix("compass ").replace("trusted and ", "")


def gated(kept: Sequence[Row]) -> list[Row]:
    """What was decided with trust gating, under truths that are none of the adviser's."""
    return [row for row in kept if "trusted" in row["adviser"] and row["truth"] != "circular"]


def gate(kept: Sequence[Row]) -> str:
    """Whether gated advice made a queue worse."""
    lines = []
    for name in dict.fromkeys(row["adviser"] for row in gated(kept)):
        rows = [row for row in gated(kept) if row["adviser"] == name]
        worst = max(rows, key=lambda row: row["turnaround"])
        better, worse = (sum(sign * row["turnaround"] > 0 for row in rows) for sign in (-1, 1))
        clearly = sum(row["low"] > 0 for row in rows)
        lines.append(
            f"{_short(name)}: of {len(rows)} queues {better} better, {worse} worse ({clearly} "
            f"clearly: the whole interval); "
            f"worst {100 * worst['turnaround']:+.1f} % ({worst['case']}, {worst['truth']})"
        )
    return "\n".join(lines)
