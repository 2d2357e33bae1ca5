"""How fast queues are simulated: `python -m benchmarks.schedule.speed [--python PEERS]`.

CPU seconds of this process; reading the trace is not counted. `--python` names the environment of
AccaSim (`make schedule-peers`), which simulates the same trace in the same run.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.roles import data_folder
from benchmarks.schedule.traces import RECORDED
from benchmarks.show import save, table
from compass.schedule.read import read_trace
from compass.schedule.simulate import Schedule, simulate
from compass.schedule.trace import JobTrace

OVERLOAD = 0.65  # times between submissions
POLICIES = ("fcfs", "fcfs+easy", "sjf+easy", "multifactor+easy", "fcfs+conservative")
MILLION = 1_000_000
AIM = 100_000  # jobs per CPU second on KTH
WORST = 5  # times slower under overload
_TIMES = 5
_SLOW = (OVERLOAD, "fcfs+conservative")  # one round of it is enough


def timed(trace: JobTrace, policy: str, times: int) -> tuple[float, Schedule]:
    """Jobs per CPU second, the best of some rounds."""
    best = float("inf")
    for _ in range(times):
        before = time.process_time()
        found = simulate(trace, how=policy)
        best = min(best, time.process_time() - before)
    return len(trace) / best, found


def longer(trace: JobTrace, jobs: int) -> JobTrace:
    """The trace again and again, one after the other, until there are so many jobs."""
    rounds = -(-jobs // len(trace))
    span = trace.submit[-1] - trace.submit[0] + 3600
    rows = np.tile(np.arange(len(trace)), rounds)[:jobs]
    shift = np.repeat(np.arange(rounds) * span, len(trace))[:jobs]
    many = trace.only(rows)
    return replace(many, submit=many.submit + shift)


def million(path: Path) -> dict[str, float]:
    """A million jobs in a process of its own: seconds, and memory at its peak."""
    code = f"from benchmarks.schedule.speed import run_million; run_million({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run_million(path: str) -> None:
    """What the process does."""
    trace = longer(read_trace(path), MILLION)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = time.process_time()
    simulate(trace, how="fcfs+easy")
    seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "before_mb": held / 1024, "peak_mb": peak / 1024}))


def accasim(python: str, path: Path, nodes: int, jobs: int) -> dict[str, float]:
    """The first jobs of the trace by AccaSim: seconds, and waits by job."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = raw.decode().splitlines(keepends=True)
    data = [_within_limit(line) for line in lines if not line.startswith(";")][:jobs]
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "part.swf"
        part.write_text("".join([line for line in lines if line.startswith(";")] + data))
        script = str(Path(__file__).with_name("run_accasim.py"))
        done = subprocess.run(
            [python, script, str(part), str(nodes)], check=True, capture_output=True, text=True
        )
        theirs = json.loads(done.stdout.splitlines()[-1])
        trace = read_trace(part)
        speed, ours = timed(trace, "fcfs+easy", _TIMES)
    starts = {str(row[0]): float(row[1]) for row in theirs["starts"]}
    begun = np.array([starts.get(job, np.nan) for job in ours.trace.job.tolist()])
    late = promised_late(ours, begun)
    return {
        "jobs": len(trace),
        "theirs": len(trace) / theirs["seconds"],
        "ours": speed,
        "their_wait": float(np.nanmean(begun - ours.trace.submit)),
        "our_wait": float(ours.wait.mean()),
        "their_late": late,
        "our_late": int((ours.start > ours.promised).sum()),
    }


def _within_limit(line: str) -> str:
    """A job that ends at its limit at the latest: AccaSim lets jobs run on."""
    cells = line.split()
    if float(cells[8]) > 0:
        cells[3] = str(int(min(float(cells[3]), float(cells[8]))))
    return " ".join(cells) + "\n"


def promised_late(schedule: Schedule, start: np.ndarray) -> int:
    """Of starts alone: how many heads of the queue start after what EASY has to promise them."""
    trace, late = schedule.trace, 0
    need, limit = trace.need[:, 0], trace.limit
    end = start + np.minimum(trace.run, limit)
    first = np.maximum(trace.submit, np.maximum.accumulate(np.r_[-np.inf, start])[:-1])
    for j in np.flatnonzero(start > first):
        now = first[j]
        runs = (start <= now) & (end > now)
        runs[j:] &= start[j:] < now
        frees = np.maximum(start[runs] + limit[runs], now)
        order = np.argsort(frees, kind="stable")
        left = schedule.machine["nodes"] - need[runs].sum() + np.cumsum(need[runs][order])
        enough = np.flatnonzero(left >= need[j])
        late += bool(len(enough)) and bool(start[j] > frees[order][enough[0]])
    return late


def main(arguments: Sequence[str] | None = None) -> int:
    """Print jobs per second; 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--python", help="the environment of AccaSim")
    parser.add_argument("--jobs", type=int, default=28489, help="of KTH, for AccaSim")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    path = data_folder() / RECORDED["KTH"]
    trace = read_trace(path)
    speeds: dict[str, dict[str, float]] = {}
    for policy in POLICIES:
        speeds[policy] = {
            str(load): timed(
                trace if load == 1 else trace.compressed(load),
                policy,
                1 if (load, policy) == _SLOW else _TIMES,
            )[0]
            for load in (1, OVERLOAD)
        }
    rows = [
        (name, *(f"{value:,.0f}" for value in by.values()), f"{by['1'] / by[str(OVERLOAD)]:.1f}")
        for name, by in speeds.items()
    ]
    print(table(("KTH, 28,489 jobs", "jobs/s", f"jobs/s, x {OVERLOAD}", "slower"), rows))
    many = million(path)
    print(
        f"\na million jobs (KTH, 36 times): {many['seconds']:.2f} s, "
        f"{MILLION / many['seconds']:,.0f} jobs/s; {many['peak_mb']:.0f} MB at its peak, "
        f"{many['before_mb']:.0f} MB with the trace read"
    )
    peer = accasim(given.python, path, 100, given.jobs) if given.python else None
    if peer is not None:
        print(
            f"\nAccaSim, EASY, {peer['jobs']} jobs: {peer['theirs']:,.0f} jobs/s, ours "
            f"{peer['ours']:,.0f}: {peer['ours'] / peer['theirs']:,.0f} times as fast; mean wait "
            f"{peer['their_wait']:,.0f} s and {peer['our_wait']:,.0f} s; heads after their "
            f"guarantee: {peer['their_late']} and {peer['our_late']}"
        )
    if given.json:
        save(given.json, {"speeds": speeds, "million": many, "accasim": peer})
    easy = speeds["fcfs+easy"]
    return int(easy["1"] < AIM or easy["1"] > WORST * easy[str(OVERLOAD)])


if __name__ == "__main__":
    sys.exit(main())
