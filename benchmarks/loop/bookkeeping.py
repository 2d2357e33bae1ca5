"""What keeping an experiment costs, beside Optuna: `python -m benchmarks.loop.bookkeeping`.

Both hold the same past runs in a SQLite file. In turn, each asks for a run, takes it and is told
its result; Optuna with its random sampler, so that no model is refreshed on either side. Compass
does it in two transactions (`suggest` with a worker, `change`), and in three, as where those who
make runs are not those who suggest them (`suggest`, `claim`, `change`). Then the time and the
memory of a store that holds many runs, in processes of their own.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.show import save, table
from compass.domain.base import Config
from compass.domain.experiment import ExperimentPlan, MeasuredRun, NewRun, RunChange, RunState
from compass.domain.goal import minimize
from compass.domain.study import Study
from compass.experiment.store import ExperimentStore

PARAMETERS, LEVELS = 8, 1000
BATCH = 10
PLAN = ExperimentPlan(study=Study(), goals={"runtime": minimize})


def configs(count: int, seed: int) -> list[Config]:
    """Different configurations of whole numbers."""
    chance = random.Random(seed)
    return [
        {f"p{j}": chance.randrange(LEVELS) for j in range(PARAMETERS)} | {"seed": seed}
        for _ in range(count)
    ]


def measured(found: Sequence[Config]) -> list[MeasuredRun]:
    return [MeasuredRun(config=config, outcomes={"runtime": 1.0}) for config in found]


def compass_cycles(
    folder: Path, past: int, *, apart: bool = False
) -> Callable[[list[Config]], None]:
    """Asks for runs, takes them, `apart` or with the same call, and tells their results."""
    store = ExperimentStore.open(folder / f"tune{apart}.experiment")
    store.create("tune", PLAN)
    store.attach("tune", measured(configs(past, 0)))

    def cycle(wanted: list[Config]) -> None:
        asked = [NewRun(config=config) for config in wanted]
        taken = store.suggest("tune", asked, worker=None if apart else "worker")
        if apart:
            taken = store.claim("tune", len(wanted), "worker")
        assert len(taken) == len(wanted)
        ends = [
            RunChange(number=run.number, state=RunState.DONE, outcomes={"runtime": 1.0})
            for run in taken
        ]
        assert all(store.change("tune", ends, "worker"))

    return cycle


def optuna_cycles(folder: Path, past: int) -> Callable[[list[Config]], None]:
    """The same with ask and tell."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space: Any = {
        f"p{j}": optuna.distributions.IntDistribution(0, LEVELS) for j in range(PARAMETERS)
    }
    study = optuna.create_study(
        storage=f"sqlite:///{folder / 'optuna.db'}", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.add_trials(
        [
            optuna.create_trial(
                params={name: config[name] for name in space}, distributions=space, value=1.0
            )
            for config in configs(past, 0)
        ]
    )

    def cycle(wanted: list[Config]) -> None:
        for trial in [study.ask(space) for _ in wanted]:
            study.tell(trial, 1.0)

    return cycle


def beside(folder: Path, past: int, rounds: int) -> list[dict[str, Any]]:
    """Seconds per run of each, by turns: one run at a time and in batches."""
    each = {
        "compass": compass_cycles(folder, past),
        "apart": compass_cycles(folder, past, apart=True),
        "optuna": optuna_cycles(folder, past),
    }
    found = []
    for size, times in ((1, rounds), (BATCH, rounds // BATCH)):
        wall: dict[str, list[float]] = {name: [] for name in each}
        work: dict[str, list[float]] = {name: [] for name in each}
        for round_ in range(-1, times):  # the first one only warms up
            for name, cycle in each.items():
                wanted = configs(size, 1 + round_ + 10_000 * size)
                wall_before, work_before = time.perf_counter(), time.process_time()
                cycle(wanted)
                if round_ >= 0:
                    wall[name].append((time.perf_counter() - wall_before) / size)
                    work[name].append((time.process_time() - work_before) / size)
        found.append(
            {
                "at_once": size,
                **{f"{name}_seconds": statistics.median(wall[name]) for name in each},
                **{f"{name}_cpu_seconds": statistics.fmean(work[name]) for name in each},
            }
        )
    return found


def peak() -> float:
    """The most memory that this process has had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(figures: dict[str, float], name: str, work: Callable[[], Any]) -> Any:
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    figures[f"{name}, s"] = time.perf_counter() - wall
    figures[f"{name}, CPU s"] = time.process_time() - cpu
    return found


def fill(place: Path, count: int) -> dict[str, float]:
    """Attach many runs to a new store, and attach them again."""
    figures: dict[str, float] = {}
    with ExperimentStore.open(place) as store:
        store.create("tune", PLAN)
        past = measured(configs(count, 0))
        figures["memory before, with the runs, MiB"] = peak()
        timed(figures, "attach them", lambda: store.attach("tune", past))
        figures["memory then, MiB"] = peak()
        timed(figures, "attach them again", lambda: store.attach("tune", past))
        figures["file, MiB"] = place.stat().st_size / 2**20
    return figures


def use(place: Path) -> dict[str, float]:
    """Work with a store that holds many runs."""
    figures: dict[str, float] = {}
    with ExperimentStore.open(place) as store:
        timed(figures, "open it and count", lambda: store.counts("tune"))
        figures["memory before, MiB"] = peak()
        runs = timed(figures, "read all runs", lambda: store.runs("tune"))
        figures["memory with them, MiB"] = peak()
        last = max(run.event for run in runs)
        wanted = [NewRun(config=config) for config in configs(100, 7)]
        for one in wanted:
            store.suggest("tune", [one])

        def make_all() -> None:
            for _ in wanted:
                (run,) = store.claim("tune", 1, "worker")
                store.change("tune", [RunChange(number=run.number, state=RunState.DONE)], "worker")

        timed(figures, "take and tell 100 runs", make_all)
        timed(figures, "read 100 new runs", lambda: store.runs("tune", after=last))
    return figures


def alone(*arguments: object) -> dict[str, float]:
    """The figures of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.loop.bookkeeping", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--past", type=int, default=1000, help="past runs of the comparison")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--stored", type=int, default=100_000, help="runs of the large store")
    parser.add_argument("--folder", type=Path, help="where the files are made; the disk counts")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--use", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fill or given.use:
        print(json.dumps(fill(given.fill, given.stored) if given.fill else use(given.use)))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        compared = beside(Path(made), given.past, given.rounds)
        large = Path(made) / "large.experiment"
        stored = alone("--fill", large, "--stored", given.stored) | alone("--use", large)
    print(f"Asking for, taking and telling a run, at {given.past:,} past runs; ms per run\n")
    print(table(HEAD, [row(one) for one in compared]))
    print(f"\nA store with {given.stored:,} runs\n")
    print(table(("", "figure"), [(name, f"{value:.4g}") for name, value in stored.items()]))
    if given.out:
        save(given.out, {"past": given.past, "compared": compared, "stored": stored})


HEAD = (
    *("runs at once", "compass", "in three", "optuna", "ratio", "in three"),
    *("CPU: compass", "in three", "optuna", "ratio", "in three"),
)


def row(one: dict[str, Any]) -> list[str]:
    cells = [str(one["at_once"])]
    for kind in ("seconds", "cpu_seconds"):
        ours, apart, theirs = (one[f"{name}_{kind}"] for name in ("compass", "apart", "optuna"))
        cells += [f"{1000 * value:.2f}" for value in (ours, apart, theirs)]
        cells += [f"{theirs / ours:.1f}", f"{theirs / apart:.1f}"]
    return cells


if __name__ == "__main__":
    main()
