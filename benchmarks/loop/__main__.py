"""The choice of runs replayed on tables that hold every configuration: `make loop`.

    python -m benchmarks.loop                    print the report of the kept values
    python -m benchmarks.loop run NAME ...       replay contestants and keep their values
    python -m benchmarks.loop ablation           replay ours whole and in parts, on other seeds
    python -m benchmarks.loop names              the contestants

Every contestant has the same 20 random starts and 220 evaluations of different configurations; a
failed launch is one of them. All choose from the configurations of the table. Kept are, per space
and seed, the regret after 50, 100 and 220 evaluations, the autotuning score of the papers on Kernel
Tuner, failed launches after the starts, and CPU seconds per ask. Peers (Optuna, Kernel Tuner,
SMAC3) run in an environment of their own (`--python`, made by `make loop-peers`).

Settings were chosen on seeds from 1000 on; figures come from seeds 0 to 19, or as many as are told.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.loop import report
from benchmarks.loop.replay import Figures, figures, replayed
from benchmarks.loop.spaces import BUDGET, Replay, replays
from benchmarks.loop.transfer import transferred
from benchmarks.roles import data_folder
from compass.settings import LoopSettings

KEPT = Path(__file__).with_name("results.json")
# Ours, and on seeds of their own (`ABLATION`): the same, each member alone, and one part off each.
OURS: dict[str, dict[str, Any]] = {
    "compass": {},
    "whole": {},
    "only-smooth": {"stepped": False, "forest": False},
    "only-stepped": {"smooth": False, "forest": False},
    "only-forest": {"smooth": False, "stepped": False},
    "without-smooth": {"smooth": False},
    "without-stepped": {"stepped": False},
    "without-forest": {"forest": False},
    "without-failures": {"failures": False},
    "without-credit": {"credit": False},
}
ABLATION = range(2000, 2002)
PEERS = {
    "tpe": "run_optuna",
    "gp": "run_optuna",
    "kt-genetic": "run_kernel_tuner",
    "kt-hybrid-vndx": "run_kernel_tuner",
    "kt-bayes": "run_kernel_tuner",
    "smac": "run_smac",
}
RANDOM, TRANSFER, ALONE = "random", "transfer", "no-history"
Kept = dict[str, dict[str, dict[str, list[Any]]]]


def run(name: str, space: Replay, seeds: Sequence[int], python: str) -> Iterator[Figures]:
    """A contestant on a space."""
    if name == RANDOM:
        for seed in seeds:
            yield figures(space, seed, _random(space, seed), 0.0)
    elif name in (TRANSFER, ALONE):
        yield from transferred(space, seeds, history=name == TRANSFER)
    elif name in OURS:
        settings = LoopSettings(**OURS[name])
        for seed in seeds:
            order, cpu = replayed(space, seed, settings)
            yield figures(space, seed, order, cpu)
    else:
        yield from _peer(name, space, seeds, python)


def _random(space: Replay, seed: int) -> list[int]:
    import numpy as np

    return np.random.default_rng(seed).permutation(len(space.X))[:BUDGET].tolist()


def _peer(name: str, space: Replay, seeds: Sequence[int], python: str) -> Iterator[Figures]:
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.json"
        space.case(seeds).save(case)
        command = [python, "-m", f"benchmarks.loop.{PEERS[name]}", name, str(case)]
        with subprocess.Popen(
            [*command, ",".join(map(str, seeds))], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                if line.startswith("{"):
                    found = json.loads(line)
                    yield figures(space, found["seed"], found["order"], found["cpu"])
    if child.returncode:
        raise SystemExit(f"{name} on {space.name} ended with {child.returncode}")


def add(kept: Kept, name: str, space: str, one: Figures) -> None:
    """Put the figures of one replay to those that are kept, in place of the same seed's."""
    own = kept.setdefault(name, {}).setdefault(space, {"seed": []})
    values = {
        "seed": one.seed,
        **{str(t): round(regret, 4) for t, regret in one.regret.items()},
        "score": round(one.score, 4),
        "failed": one.failed,
        "ms": round(1000 * one.cpu, 1),
        "found": one.found,
    }
    if one.seed in own["seed"]:
        at = own["seed"].index(one.seed)
        for column in own.values():
            del column[at]
    known = len(own["seed"])
    for column, value in values.items():
        # What was not kept of earlier replays is null.
        own.setdefault(column, [None] * known).append(value)


def read(path: Path) -> Kept:
    """The kept values of a file; none where there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = ("report", "run", "ablation", "names")
    parser.add_argument("command", nargs="?", choices=commands, default="report")
    parser.add_argument("contestants", nargs="*")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="spaces")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--python", default=".venv-loop/bin/python", help="of the peers")
    parser.add_argument("--keep", type=Path, default=KEPT, help="the file of the kept values")
    said = parser.parse_intermixed_args(arguments)
    if said.command == "names":
        print("\n".join(["compass", RANDOM, TRANSFER, ALONE, *PEERS]))
        return 0
    kept = read(said.keep)
    if said.command == "report":
        print(report.show(kept))
        return 0
    seeds = range(said.first, said.first + said.seeds)
    contestants = said.contestants or ["compass"]
    if said.command == "ablation":
        seeds, contestants = ABLATION, said.contestants or [n for n in OURS if n != "compass"]
    found = list(replays(data_folder(), tuple(said.only)))
    if not found:
        print(f"there is no data in {data_folder()}: nothing was replayed", file=sys.stderr)
    for name in contestants:
        for space in found:
            began = time.perf_counter()
            for one in run(name, space, seeds, said.python):
                add(kept, name, space.name, one)
            said.keep.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
            print(f"{name}: {space.name}, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
