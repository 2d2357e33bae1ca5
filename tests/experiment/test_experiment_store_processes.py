"""Many processes write to one store, and are killed while they do."""

import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from experiment_case import begun, check_history
from writers import outcome

from compass.domain.experiment import RunState
from property_examples import examples

WRITERS = Path(__file__).parent / "writers.py"
KILLS = {"sqlite": 320, "postgresql": 40}
SECONDS = 300  # of patience; each takes a few


def run_writers(*arguments: object) -> None:
    command = [sys.executable, "-W", "error", str(WRITERS), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def check_file(place: str) -> None:
    if "://" not in place:
        connection = sqlite3.connect(place)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        connection.close()


def test_processes_ask_and_tell_at_once(store_place: str) -> None:
    with begun(store_place) as store:
        run_writers("work", store_place, 4, 100)
        runs = check_history(store)
        assert sorted(int(str(run.config["x"])) for run in runs) == list(range(100))
        assert {run.state for run in runs} == {RunState.DONE}
        assert all(run.outcomes == {"y": outcome(run.config["x"])} for run in runs)
        assert len(store.events("tune", limit=1000)) == 1 + 3 * 100
    check_file(store_place)


@pytest.mark.parametrize("seed", range(examples(1).max_examples))
def test_killed_writers_lose_nothing_and_repeat_nothing(
    store_place: str, tmp_path: Path, seed: int
) -> None:
    log = tmp_path / "log"
    kills = KILLS["postgresql" if "://" in store_place else "sqlite"]
    with begun(store_place) as store:
        run_writers("kill", store_place, 2, kills, log, seed)
        if "://" in store_place:
            # The server may have finished what it was told just before, after the release.
            store.release("tune")
        runs = {run.number: run for run in check_history(store)}
        told: dict[str, Counter[int]] = {"asked": Counter(), "taken": Counter(), "done": Counter()}
        for line in log.read_text().splitlines():
            what, *numbers = line.split()
            told[what].update(map(int, numbers))
        assert told["asked"].keys() <= runs.keys()
        assert max(told["asked"].values()) == 1
        assert max(told["done"].values()) == 1
        for number in told["done"]:
            assert runs[number].state is RunState.DONE
        for run in runs.values():
            done = run.state is RunState.DONE
            assert run.state in (RunState.DONE, RunState.SUGGESTED)  # all others were released
            assert run.outcomes == ({"y": outcome(run.config["x"])} if done else {})
        assert len(told["done"]) > kills / 4  # enough was written while they were killed
    check_file(store_place)
