"""Public traces that tell how long jobs waited."""

import csv
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks.schedule.advice import traces
from compass.schedule.advice.jobs import Floats
from compass.schedule.advice.source import past_jobs
from compass.schedule.read import read_trace
from compass.schedule.wait.queued import QueuedJobs, queued_jobs, queued_of_trace


def _trace(path: str) -> Callable[[Path], QueuedJobs]:
    return lambda folder: queued_of_trace(read_trace(folder / path))


def _accounting(path: str) -> Callable[[Path], QueuedJobs]:
    return lambda folder: queued_jobs(past_jobs(str(folder / path)))


def kabre(folder: Path) -> QueuedJobs:
    """Kabre: waits are `ResvCPURAW` by CPU. Nobody is named; when jobs ended is not told.

    Core-seconds by the CPUs asked for, but at most the limit, stand for how long they ran.
    """
    with (folder / "kabre_sacct" / "kabre_sacct.csv").open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if all(row[n].isdecimal() for n in ("TimelimitRaw", "ResvCPURAW", "CPUTimeRAW"))
            and int(row["ReqCPUS"]) > 0
        ]

    def numbers(name: str) -> Floats:
        return np.array([float(row[name]) for row in rows])

    queued = np.array([datetime.fromisoformat(row["Submit"]).timestamp() for row in rows])
    cores, limit = numbers("ReqCPUS"), 60.0 * numbers("TimelimitRaw")
    ran = numbers("CPUTimeRAW") > 0
    wait = np.where(ran, numbers("ResvCPURAW") / cores, np.nan)
    left = queued + np.where(ran, wait, 0.0)
    nothing = np.full(len(rows), np.nan)
    found = QueuedJobs(
        queued=queued,
        wait=wait,
        left=left,
        end=left + np.minimum(numbers("CPUTimeRAW") / cores, limit),
        limit=limit,
        cores=cores,
        nodes=numbers("ReqNodes"),
        gpus=nothing,
        memory=nothing,
        user=np.full(len(rows), None, dtype=object),
        partition=np.array([row["Partition"] for row in rows], dtype=object),
    )
    return found.take(np.argsort(queued, kind="stable"))


TRACES: dict[str, Callable[[Path], QueuedJobs]] = {
    "KTH": _trace("swf_kth/raw/KTH-SP2-1996-2.swf.gz"),
    "Theta": _trace("swf_theta/raw/train.swf"),
    "HPC2N": _trace("swf_hpc2n_wagap/raw/hpc2n.swf"),
    "wagap": _trace("swf_hpc2n_wagap/raw/wagap-2013.swf"),
    "Kabre": kabre,
    "xdmod phillips": _accounting("xdmod_slurm/raw/phillips.log"),
    "xdmod pozidriv": _accounting("xdmod_slurm/raw/pozidriv.log"),
    "NREL Eagle": lambda folder: queued_jobs(traces.nrel(folder)),
}
