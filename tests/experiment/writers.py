"""Processes that ask and tell, as a program of its own: it forks before there are any threads.

`python writers.py work PLACE WORKERS RUNS`: workers suggest, claim and tell all at once.
`python writers.py kill PLACE WORKERS KILLS LOG SEED`: they are killed at random moments, and others
take their place. What a worker was told to be stored it writes into the log, a line at a time.
"""

import os
import random
import signal
import sys
from collections.abc import Callable

from compass.domain.experiment import NewRun, RunChange, RunState
from compass.experiment.store import ExperimentStore

LONGEST_LIFE = 0.010  # seconds of work; a transaction takes about one thousandth


def outcome(x: object) -> float:
    """What a run of this configuration gives."""
    return float(str(x)) / 4


def work(place: str, workers: int, runs: int) -> None:
    """All configurations are suggested by each, and each run is made by one of them."""
    children = [_forked(lambda me=me: _work(place, me, runs)) for me in range(workers)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(max(codes))


def _work(place: str, me: int, runs: int) -> None:
    mine = list(range(runs))
    random.Random(me).shuffle(mine)
    with ExperimentStore.open(place) as store:
        for start in range(0, runs, 10):
            wanted = [NewRun(config={"x": x}) for x in mine[start : start + 10]]
            store.suggest("tune", wanted)
            _make(store, f"w{me}", 5)
        while _make(store, f"w{me}", 5):
            pass


def _make(store: ExperimentStore, worker: str, most: int) -> bool:
    claimed = store.claim("tune", most, worker)
    ends = [
        RunChange(number=r.number, state=RunState.DONE, outcomes={"y": outcome(r.config["x"])})
        for r in claimed
    ]
    assert all(store.change("tune", ends, worker))
    return bool(claimed)


def kill(place: str, workers: int, kills: int, log: str, seed: int) -> None:
    """Workers are killed again and again; the runs they had are made by others."""
    chance, alive = random.Random(seed), {}
    store = ExperimentStore.open(place)
    for number in range(kills + workers):
        if number >= workers:
            child, status = os.wait()
            worker = alive.pop(child)
            if os.waitstatus_to_exitcode(status) != -signal.SIGPROF:
                sys.exit(f"{worker} ended by itself")
            store.release("tune", worker=worker)
        if number < kills:
            worker, life = f"w{number}", chance.uniform(0.0, LONGEST_LIFE)
            child = _forked(lambda worker=worker, life=life: _killed(place, worker, life, log))
            alive[child] = worker
    store.close()


def _killed(place: str, worker: str, life: float, log: str) -> None:
    chance = random.Random(worker)
    told = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    store = ExperimentStore.open(place)
    store.heartbeat("tune", worker)  # it is connected
    # The kernel ends it as kill -9 does, with nothing cleaned up; after so many seconds of work,
    # whatever else the machine does.
    signal.setitimer(signal.ITIMER_PROF, max(1e-6, life))
    while True:
        wanted = [NewRun(config={"x": chance.randrange(10_000)}) for _ in range(2)]
        _tell(told, "asked", [run.number for run in store.suggest("tune", wanted)])
        claimed = store.claim("tune", 2, worker)
        _tell(told, "taken", [run.number for run in claimed])
        for run in claimed:
            end = {"y": outcome(run.config["x"])}
            done = RunChange(number=run.number, state=RunState.DONE, outcomes=end)
            if store.change("tune", [done], worker) == (True,):
                _tell(told, "done", [run.number])


def _tell(log: int, what: str, numbers: list[int]) -> None:
    if numbers:
        os.write(log, f"{what} {' '.join(map(str, numbers))}\n".encode())


def _forked(body: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        body()
        code = 0
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    mode, place, *rest = sys.argv[1:]
    if mode == "work":
        work(place, *map(int, rest))
    else:
        kill(place, int(rest[0]), int(rest[1]), rest[2], int(rest[3]))
