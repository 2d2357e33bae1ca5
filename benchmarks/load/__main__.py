"""`make load`: 50 sessions ask a server on an engine of 30,000 rows for 60 s.

Every session has a workspace of its own and asks its next question when it has the answer to the
last. Beside it, in the same run: such questions asked of the same engine on one thread without a
server, one after the other. Clients, server and working processes share this machine.
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

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import compass as cp
from benchmarks.load.questions import Question, questions
from benchmarks.peers.jobs import ROWS, SEED, columns_of, study, table
from compass.execute.processors import at_most
from compass.prepare.study_file import save_study, study_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", type=float, default=20.0, help="seconds without a server")
    parser.add_argument("--prove", type=float, default=0.0, help="seconds for proofs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compass-load-") as folder:
        place = Path(folder)
        saved = _fitted(place)
        alone = _alone(saved, given.alone, given.prove)
        print(f"engine alone, one thread: {len(alone) / given.alone:.1f} questions/s,", end=" ")
        print(_quantiles(alone))
        asyncio.run(_under_load(saved, place, given, len(alone) / given.alone))


def _fitted(place: Path) -> Path:
    X, y = table(ROWS, SEED)
    pq.write_table(pa.table(columns_of(X, y)), place / "jobs.parquet")
    save_study(study_of(study()), place / "study.yaml")
    data = cp.read(place / "jobs.parquet", study=place / "study.yaml")
    return cp.Compass(data, surrogate="forest", seed=0).fit().save(place / "jobs.compass")


def _alone(saved: Path, seconds: float, prove: float) -> list[float]:
    at_most(1)  # one thread: what one core gives
    engine = cp.load(saved)
    asked = questions(10_000, 0)
    for one in asked[:3]:
        engine.ask(one.text, run=one.run, prove=prove)
    taken = []
    began = time.perf_counter()
    for one in asked[3:]:
        start = time.perf_counter()
        if start - began > seconds:
            break
        engine.ask(one.text, run=one.run, prove=prove)
        taken.append(time.perf_counter() - start)
    return taken


async def _under_load(saved: Path, place: Path, given: argparse.Namespace, limit: float) -> None:
    process, address = _server(saved, place)
    try:
        async with httpx.AsyncClient(base_url=address, timeout=120, limits=_many()) as client:
            engine = await _engine(client)
            keys = [await _key(client) for _ in range(given.sessions)]
            for key in keys[:4]:  # the working processes have loaded the engine
                await _ask(client, key, engine, questions(1, 999)[0], given.prove)
            until = time.perf_counter() + given.seconds
            sessions = [
                _session(client, key, engine, number + 1, until, given.prove)
                for number, key in enumerate(keys)
            ]
            found = await asyncio.gather(*sessions)
    finally:
        process.terminate()
        process.wait(30)
    taken = [seconds for session in found for status, seconds in session if status == 200]
    statuses = Counter(status for session in found for status, _ in session)
    rate = len(taken) / given.seconds
    print(f"{given.sessions} sessions for {given.seconds:g} s on {os.cpu_count()} cores:", end=" ")
    print(f"{rate:.1f} answers/s = {rate / limit:.2f} of one thread without a server,", end=" ")
    print(_quantiles(taken))
    print(f"statuses: {dict(sorted(statuses.items()))}; fewest answers of a session:", end=" ")
    print(min(len(session) for session in found))
    if set(statuses) != {200}:
        sys.exit("there were answers other than 200")


def _many() -> httpx.Limits:
    return httpx.Limits(max_connections=None, max_keepalive_connections=None)


def _server(saved: Path, place: Path) -> tuple["subprocess.Popen[str]", str]:
    command = [sys.executable, "-m", "compass.cli.main", "serve", str(saved), "--port", "0"]
    command += ["--state", str(place / "state")]
    with (place / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found is not None
    return process, found[0]


async def _key(client: httpx.AsyncClient) -> str:
    made = await client.post("/api/v1/workspaces")
    return str(made.raise_for_status().json()["key"])


async def _engine(client: httpx.AsyncClient) -> str:
    key = ""
    while True:
        try:
            key = key or await _key(client)
            offered = await client.get("/api/v1/engines", headers={"Compass-Workspace": key})
            if offered.json():
                return str(offered.json()[0]["id"])
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.2)


async def _session(
    client: httpx.AsyncClient, key: str, engine: str, number: int, until: float, prove: float
) -> list[tuple[int, float]]:
    found = []
    for one in questions(5_000, number):
        if time.perf_counter() > until:
            break
        start = time.perf_counter()
        status = await _ask(client, key, engine, one, prove)
        found.append((status, time.perf_counter() - start))
    return found


async def _ask(
    client: httpx.AsyncClient, key: str, engine: str, one: Question, prove: float
) -> int:
    answer = await client.post(
        f"/api/v1/engines/{engine}/answers",
        json={"question": one.text, "run": one.run, "prove": prove},
        headers={"Compass-Workspace": key},
    )
    return answer.status_code


def _quantiles(taken: list[float]) -> str:
    middle, late = np.quantile(taken, [0.5, 0.95])
    return f"p50 {1000 * middle:.0f} ms, p95 {1000 * late:.0f} ms"


if __name__ == "__main__":
    main()
