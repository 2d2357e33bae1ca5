"""A piece of KTH replayed on a real one-node Slurm: `python -m benchmarks.schedule.replay`.

Time runs faster, nodes become the four cores of the node, jobs sleep. The simulator gets the times
of submission, the runtimes and the limits that Slurm's accounting tells, and nothing else; printed
is how far its starts are from Slurm's. Takes about three minutes, nearly all of it asleep. Needs
Slurm, and root (`make slurm`).
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tests.slurm_lab import CPUS, NotHere, SlurmLab, borrowed

from benchmarks.roles import data_folder
from benchmarks.schedule.traces import RECORDED
from benchmarks.show import save, table
from compass.schedule.read import read_trace
from compass.schedule.simulate import simulate
from compass.schedule.trace import JobTrace, job_trace

POLICIES = ("fcfs", "fcfs+easy", "fcfs+conservative")
_FIRST = 20000  # of KTH's jobs
_SPAN = 90.0  # s in which all are submitted
_RUN = (2.0, 25.0)  # s, the shortest and the longest job
_MINUTES = (1, 5)  # Slurm knows limits of whole minutes
# Slurm plans every second, to the second, for all jobs; by default every 30 s and to the minute.
_PLANS = "sched_interval=1,bf_interval=1,bf_resolution=1,bf_continue,bf_window=60"


@dataclass(frozen=True)
class Deviation:
    """Starts of a simulated policy against those of Slurm, in s."""

    policy: str
    start: float  # mean absolute deviation
    most: float
    within: float  # share of the jobs within 3 s
    turnaround: float  # mean, simulated
    real: float  # mean, by Slurm


def piece(trace: JobTrace, jobs: int) -> JobTrace:
    """Some jobs in a row: cores, seconds and minutes in their proportions, made small."""
    some = trace.only(np.arange(_FIRST, _FIRST + jobs))
    submit = some.submit - some.submit[0]
    share = np.log1p(some.run) / np.log1p(some.run).max()
    slack = np.log2(np.maximum(some.limit / np.maximum(some.run, 1), 1))
    return job_trace(
        np.round(submit / max(submit[-1], 1) * _SPAN, 1),
        np.round(_RUN[0] + share**3 * (_RUN[1] - _RUN[0])),
        60.0 * np.clip(np.round(slack), *_MINUTES),
        {"cores": np.clip(np.ceil(some.need[:, 0] / 8).astype(np.int64), 1, CPUS)},
        capacity={"cores": CPUS},
    )


def replay(lab: SlurmLab, trace: JobTrace) -> JobTrace:
    """Hand the jobs in when their time comes; what accounting says of them afterwards."""
    conf = lab.conf.read_text(encoding="utf-8")
    plans = re.sub(r"(?m)^SchedulerParameters=.*$", f"SchedulerParameters={_PLANS}", conf)
    lab.conf.write_text(plans, encoding="utf-8")
    lab.run("scontrol", "reconfigure")
    begun, numbers = time.monotonic(), []
    for place in range(len(trace)):
        time.sleep(max(0.0, begun + trace.submit[place] - time.monotonic()))
        limit = f"--time={round(trace.limit[place] / 60)}"
        cores = f"--ntasks={trace.need[place, 0]}"
        numbers.append(lab.submit(f"sleep {trace.run[place]:g}", limit, cores, "--mem-per-cpu=10"))
    lab.finished(*numbers, seconds=600)
    columns = "JobIDRaw,Submit,Start,End,Timelimit,NCPUS"
    names = ",".join(map(str, numbers))
    lines = lab.run("sacct", "-XP", "-j", names, "-o", columns)
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "replay.sacct"
        dump.write_text(lines, encoding="utf-8")
        return read_trace(dump)


def deviations(real: JobTrace) -> list[Deviation]:
    """Every policy against what Slurm did."""
    found = []
    for policy in POLICIES:
        schedule = simulate(real, {"cores": CPUS}, policy)
        off = np.abs(schedule.wait - real.wait)
        found.append(
            Deviation(
                policy,
                float(off.mean()),
                float(off.max()),
                float((off <= 3).mean()),
                float(schedule.turnaround.mean()),
                float((real.wait + real.run).mean()),
            )
        )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay, and print deviations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    asked = piece(read_trace(data_folder() / RECORDED["KTH"]), given.jobs)
    try:
        with tempfile.TemporaryDirectory() as folder, borrowed(Path(folder)) as lab:
            real = replay(lab, asked)
    except NotHere as reason:
        print(f"no Slurm: {reason}", file=sys.stderr)
        return 1
    rows = deviations(real)
    waited = int((real.wait > 2).sum())
    wait = real.wait.mean()
    print(f"{len(real)} jobs on {CPUS} cores, {waited} of them waited; mean wait {wait:.1f} s\n")
    head = ("policy", "start off by, mean", "most", "within 3 s", "turnaround", "by Slurm")
    print(
        table(
            head,
            [
                (
                    *(one.policy, f"{one.start:.1f} s", f"{one.most:.0f} s", f"{one.within:.0%}"),
                    *(f"{one.turnaround:.1f} s", f"{one.real:.1f} s"),
                )
                for one in rows
            ],
        )
    )
    if given.json:
        save(given.json, {"deviations": [asdict(one) for one in rows]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
