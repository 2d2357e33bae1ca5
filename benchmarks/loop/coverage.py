"""Whether intervals of small experiments hold: `python -m benchmarks.loop.coverage`.

    python -m benchmarks.loop.coverage run [--first 6000] [--seeds 2]   replay and keep every error
    python -m benchmarks.loop.coverage                                  the table of what is kept

An experiment of 60 runs, 8 of them starts, on every exhaustive space: of each run that a model
chose, by how many half-widths its prediction was off, before and after these were widened
(`compass.acquire.loop.calibration`). What is widened by is learnt of the same experiment alone. How
was chosen on seeds 4000 and 4001 of five spaces; figures come from seeds from 6000 on.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.loop.spaces import Replay, replays
from benchmarks.roles import data_folder
from benchmarks.show import table
from compass.acquire.loop import Seen, next_runs
from compass.acquire.loop.calibration import error_of
from compass.settings import LoopSettings

KEPT = Path(__file__).with_name("coverage.json")
STARTS, RUNS = 8, 60
EARLY = 20  # runs that an experiment is small at
Kept = dict[str, dict[str, list[list[float]]]]
HEAD = ("space", "runs", "models alone", "served", f"of the first {EARLY}", "wider by", "far off")


def replayed(space: Replay, seed: int) -> list[list[float]]:
    """Of each run that a model chose: how many were made, its error in half-widths, the widening.

    The error is that of the interval before it was widened.
    """
    problem = space.problem(seed, LoopSettings(starts=STARTS))
    order = space.starts(seed)[:STARTS].tolist()
    member, told, found = [""] * STARTS, list[float](), list[list[float]]()
    none = np.empty((0, len(space.space)))
    while len(order) < RUNS:
        y = space.y[np.array(order)]
        seen = Seen(space.X[order], y, np.isnan(y), tuple(member), (), np.array(told))
        one = next_runs(problem, seen, pending=none, count=1, positive=True).proposals[0]
        place = int(problem.pool.find(one.x[None, :])[0])
        truth = float(space.y[place])
        ends = one.mean, one.low, one.high
        if one.member and np.isfinite(truth):
            told.append(error_of(truth, ends, widened=one.widening, positive=True))
            found.append([len(order), round(told[-1], 4), round(one.widening, 4)])
        order.append(place)
        member.append(one.member)
    return found


def show(kept: Kept) -> str:
    """Coverage by space, and of all."""
    lines, every = [], list[np.ndarray]()
    for space, seeds in kept.items():
        own = np.array([row for rows in seeds.values() for row in rows])
        every.append(own)
        lines.append((space, *_line(own)))
    return table(HEAD, [*lines, ("all", *_line(np.concatenate(every)))])


def _line(own: np.ndarray) -> tuple[str, ...]:
    made, off, wider = own.T
    served, early = off <= wider, made < EARLY
    return (
        str(len(own)),
        f"{np.mean(off <= 1):.0%}",
        f"{np.mean(served):.0%}",
        f"{np.mean(served[early]):.0%}",
        f"{np.median(wider):.2f}",
        f"{np.mean(~served & (off > 2 * wider)):.0%}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop.coverage", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", nargs="?", choices=("report", "run"), default="report")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="spaces")
    parser.add_argument("--first", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=KEPT, help="the file of the kept values")
    said = parser.parse_args(arguments)
    kept: Kept = json.loads(said.keep.read_text(encoding="utf-8")) if said.keep.exists() else {}
    if said.command == "run":
        for space in replays(data_folder(), tuple(said.only)):
            for seed in range(said.first, said.first + said.seeds):
                kept.setdefault(space.name, {})[str(seed)] = replayed(space, seed)
            text = json.dumps(kept, separators=(",", ":"))
            said.keep.write_text(text + "\n", encoding="utf-8")
            print(space.name, file=sys.stderr)
    print(show(kept) if kept else "nothing is kept; see --help")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
