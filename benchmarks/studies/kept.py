"""Print figures that were kept when they were measured: `python -m benchmarks.studies.kept NAME`.

    fronts   volumes of fronts as shares of the true front's
    papers   the models of the two papers on other machines, on rodinia

The files are those that docs/benchmarks.md speaks of; the commands that measure again stand there.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import interval
from benchmarks.platforms.papers import HEAD as PAPERS_HEAD
from benchmarks.show import table

BENCHMARKS = Path(__file__).resolve().parents[1]
FRONTS = BENCHMARKS / "pareto" / "figures.json"
PAPERS = BENCHMARKS / "platforms" / "papers.json"
SHOT = ("rows", "forest", "forest_and_rows", "told")
AT = 0.1  # share of the rows of the random choice that others are compared with


def _spread(values: Sequence[float]) -> str:
    """A mean over seeds with its 95 % interval."""
    return str(interval([[value] for value in values]))


def _records(kept: Mapping[str, Any], rows: str) -> list[dict[str, Any]]:
    """Rows that were kept without the names of their fields."""
    return [dict(zip(kept["fields"], row, strict=True)) for row in kept[rows]]


def one_shot(kept: Mapping[str, Any]) -> str:
    """The front that is told after learning 5 % of the rows, beside what else could be told."""
    shots = _records(kept, "shots")
    lines = []
    for name in dict.fromkeys(one["space"] for one in shots):
        own = [one for one in shots if one["space"] == name]
        lines.append((name, len(own), *(_spread([one[f] for one in own]) for f in SHOT)))
    lines.append(("all", len(shots), *(f"{np.mean([s[f] for s in shots]):.3f}" for f in SHOT)))
    head = ("one shot", "seeds", "front of the rows", "plain forest", "forest + rows", "Compass")
    return table(head, lines)


def loop(kept: Sequence[Mapping[str, Any]]) -> str:
    """The share of the true volume after so many runs, mean over seeds and spaces."""
    names = list(dict.fromkeys(name for one in kept for name in one["shares"]))
    lines = []
    for group in (*dict.fromkeys(one["space"].split()[0] for one in kept), ""):
        own = [one for one in kept if one["space"].split()[0] == group or not group]
        for runs in sorted({n for one in own for n in one["at"]}):
            here = [one for one in own if runs in one["at"]]
            told = [_after(here, name, runs) for name in names]
            lines.append((group or "all", len(here), runs, *told))
    return table(("loop", "spaces", "runs", *names), lines)


def _after(spaces: Sequence[Mapping[str, Any]], name: str, runs: int) -> str:
    shares = [one["shares"][name] for one in spaces if name in one["shares"]]
    places = [one["at"].index(runs) for one in spaces if name in one["shares"]]
    each = [np.mean([row[at] for row in own]) for own, at in zip(shares, places, strict=True)]
    return f"{np.mean(each):.3f}" if each else ""


def rows_for(kept: Mapping[str, Any]) -> str:
    """What the models know after learning a share of the rows, chosen in some way."""
    points = _records(kept, "points")
    keeps = sorted({point["keep"] for point in points})
    ways = dict.fromkeys(point["way"] for point in points)
    lines = [
        (
            way,
            *(_spread(_of(points, way, keep)) if _of(points, way, keep) else "" for keep in keeps),
        )
        for way in ways
    ]
    return table(("rows learnt", *(f"{keep:.0%}" for keep in keeps)), lines)


def _of(points: Sequence[Mapping[str, Any]], way: str, keep: float) -> list[float]:
    return [p["model"] for p in points if p["way"] == way and p["keep"] == keep]


def attention(kept: Sequence[Mapping[str, Any]]) -> str:
    """Forests on the raw columns, and with an attention embedding beside them."""
    lines = []
    for name in dict.fromkeys(one["space"] for one in kept):
        own = [one for one in kept if one["space"] == name]
        errors = [
            f"{np.mean([np.mean(one[f'{way}_error']) for one in own]):.1%}"
            for way in ("plain", "embedded")
        ]
        fronts = [
            f"{np.mean([one[f'{way}_front'] for one in own]):.3f}" for way in ("plain", "embedded")
        ]
        lines.append((name, len(own), *errors, *fronts))
    head = ("attention", "seeds", "error, plain", "embedded", "front, plain", "embedded")
    return table(head, lines)


def fronts() -> str:
    """All kept figures of fronts."""
    kept = json.loads(FRONTS.read_text(encoding="utf-8"))
    parts = {"oneshot": one_shot, "replay": loop, "learning": rows_for, "embedding": attention}
    return "\n\n".join(show(kept[name]) for name, show in parts.items() if name in kept)


def papers() -> str:
    """The models of the papers on other machines: the mean over the seeds."""
    kept = json.loads(PAPERS.read_text(encoding="utf-8"))
    lines = []
    for name, values in kept.items():
        if name == "machine":
            continue
        each = np.array(values, dtype=float)
        means = (f"{value:.3g}" for value in each.mean(axis=0))
        lines.append((name, *means, f"{each[:, 0].std():.2g}"))
    return table(PAPERS_HEAD, lines)


SHOWN: dict[str, Callable[[], str]] = {"fronts": fronts, "papers": papers}


def main() -> None:
    """Print one group of kept figures."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.kept",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=SHOWN)
    print(SHOWN[parser.parse_args().name]())


if __name__ == "__main__":
    main()
