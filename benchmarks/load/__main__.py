"""`make load`: 50 sessions ask a server on an engine of 30,000 rows for 60 s.

Every session has a workspace of its own and asks its next question when it has all of the answer to
the last: what is pending of it (with `--prove` its proof, then the runs to make next) comes as
events after the answer. Beside it, in the same run: such questions asked of the same engine on one
thread without a server, one after the other. Clients, server and working processes share this
machine, so what each of them takes of its processors is printed.

With `--servers 2 --store postgresql://...` (an empty database) several servers share a state, and
each session sends its requests to them in turns, as behind a proxy.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import compass as cp
from benchmarks.load.questions import questions
from benchmarks.load.session import Reply, Session
from benchmarks.peers.jobs import ROWS, SEED, columns_of, study, table
from compass.execute.processors import at_most
from compass.prepare.study_file import save_study, study_of

_EARLY = 8  # questions before the clock starts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", type=float, default=20.0, help="seconds without a server")
    parser.add_argument("--prove", type=float, default=0.0, help="seconds for proofs")
    parser.add_argument("--pause", type=float, default=0.0, help="mean seconds between questions")
    parser.add_argument("--servers", type=int, default=1, help="servers that share a state")
    parser.add_argument("--store", help="their database, which is empty: postgresql://...")
    parser.add_argument("--memory", type=float, default=60.0, help="seconds between two looks")
    parser.add_argument("--engine", type=Path, help="a saved engine, instead of fitting one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compass-load-") as folder:
        place = Path(folder)
        saved = given.engine or _fitted(place)
        alone, cpu = _alone(saved, given.alone, given.prove)
        print(f"engine alone, one thread: {len(alone) / given.alone:.1f} questions/s,", end=" ")
        print(f"{1000 * cpu / len(alone):.0f} CPU ms each, {_quantiles(alone)}")
        asyncio.run(_under_load(saved, place, given, len(alone) / given.alone))


def _fitted(place: Path) -> Path:
    X, y = table(ROWS, SEED)
    pq.write_table(pa.table(columns_of(X, y)), place / "jobs.parquet")
    save_study(study_of(study()), place / "study.yaml")
    data = cp.read(place / "jobs.parquet", study=place / "study.yaml")
    return cp.Compass(data, surrogate="forest", seed=0).fit().save(place / "jobs.compass")


def _alone(saved: Path, seconds: float, prove: float) -> tuple[list[float], float]:
    at_most(1)  # one thread: what one core gives
    engine = cp.load(saved)
    asked = questions(0)
    for _ in range(3):
        one = next(asked)
        engine.ask(one.text, run=one.run, prove=prove)
    taken = []
    began, cpu = time.perf_counter(), time.process_time()
    for one in asked:
        start = time.perf_counter()
        if start - began > seconds:
            break
        engine.ask(one.text, run=one.run, prove=prove)
        taken.append(time.perf_counter() - start)
    return taken, time.process_time() - cpu


async def _under_load(saved: Path, place: Path, given: argparse.Namespace, limit: float) -> None:
    processes, places = _servers(saved, place, given)
    try:
        engine = await (await Session.begun(places)).offered()
        # All working processes have loaded the engine before the clock starts.
        early = [await Session.begun(places) for _ in range(_EARLY)]
        await asyncio.gather(*(one.ask(engine, next(questions(999)), given.prove) for one in early))
        sessions = [await Session.begun(places) for _ in range(given.sessions)]
        before, own = _processor_seconds(processes), time.process_time()
        until = time.perf_counter() + given.seconds
        watching = asyncio.create_task(_memory(processes, given.memory))
        found = await asyncio.gather(
            *(
                _asking(session, engine, number + 1, until, given)
                for number, session in enumerate(sessions)
            )
        )
        watching.cancel()
        used, own = _processor_seconds(processes) - before, time.process_time() - own
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)
    _print([one for session in found for one in session], given, limit)
    print(f"fewest answers of a session: {min(len(session) for session in found)}")
    count = sum(len(session) for session in found)
    server, workers = used[0], used[1]
    print("CPU ms per answer:", end=" ")
    print(
        f"working processes {1000 * workers / count:.0f}, server {1000 * server / count:.1f},",
        end=" ",
    )
    print(f"clients {1000 * own / count:.1f} ({own / (own + server + workers):.0%} of all)")
    if any(one.status != 200 for session in found for one in session):
        sys.exit("there were answers other than 200")


def _print(replies: list[Reply], given: argparse.Namespace, limit: float) -> None:
    taken = [one.seconds for one in replies if one.status == 200]
    rate = len(taken) / given.seconds
    print(f"{given.sessions} sessions for {given.seconds:g} s on {os.cpu_count()} cores,", end=" ")
    print(f"{given.servers} server{'s' if given.servers > 1 else ''}:", end=" ")
    print(f"{rate:.1f} answers/s = {rate / limit:.2f} of one thread without a server,", end=" ")
    print(_quantiles(taken))
    whole = [one.whole for one in replies if one.whole is not None]
    print(f"{len(whole)} had a part that came later, and were whole after {_quantiles(whole)}")
    print(f"statuses: {dict(sorted(Counter(one.status for one in replies).items()))};", end=" ")


Processes = list["subprocess.Popen[str]"]


def _processor_seconds(servers: Processes) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Processor time of the servers themselves, and of their working processes together."""
    used = np.zeros(2)
    for one in servers:
        server = psutil.Process(one.pid)
        times = [sum(process.cpu_times()[:2]) for process in (server, *server.children())]
        used += (times[0], sum(times[1:]))
    return used


async def _memory(servers: Processes, seconds: float) -> None:
    """Print at intervals how much memory each server holds, and its working processes."""
    began = time.perf_counter()
    while True:
        shown = []
        for one in servers:
            server = psutil.Process(one.pid)
            own, *workers = (p.memory_info().rss >> 20 for p in (server, *server.children()))
            shown.append(f"{own} + {sum(workers)}")
        print(f"MiB after {time.perf_counter() - began:4.0f} s: {', '.join(shown)}", flush=True)
        await asyncio.sleep(seconds)


def _servers(
    saved: Path, place: Path, given: argparse.Namespace
) -> tuple[Processes, list[tuple[str, int]]]:
    if given.servers > 1 and given.store is None:
        sys.exit("several servers need a database: --store postgresql://...")
    command = [sys.executable, "-m", "compass.cli.main", "serve", str(saved), "--port", "0"]
    command += ["--state", str(place / "state")]
    environment = os.environ | ({} if given.store is None else {"COMPASS_STORE": given.store})
    processes: Processes = []
    places = []
    for number in range(given.servers):
        with (place / f"server-{number}.log").open("w") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        assert process.stdout is not None
        found = re.search(r"http://([^:/]+):(\d+)", process.stdout.readline())
        assert found is not None, (place / f"server-{number}.log").read_text()
        processes.append(process)
        places.append((found[1], int(found[2])))
    return processes, places


async def _asking(
    session: Session, engine: str, number: int, until: float, given: argparse.Namespace
) -> list[Reply]:
    found = []
    pauses = np.random.default_rng([78, number])
    for one in questions(number):
        # As people do who do not know of each other; also before the first question.
        await asyncio.sleep(pauses.exponential(given.pause))
        if time.perf_counter() > until:
            break
        found.append(await session.ask(engine, one, given.prove))
    return found


def _quantiles(taken: list[float]) -> str:
    middle, late = np.quantile(taken, [0.5, 0.95])
    return f"p50 {1000 * middle:.0f} ms, p95 {1000 * late:.0f} ms"


if __name__ == "__main__":
    main()
