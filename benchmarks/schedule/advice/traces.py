"""Public traces as past jobs, in the order of submission."""

import csv
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.schedule.advice.dump import lines
from compass.schedule.advice.jobs import Jobs
from compass.schedule.advice.source import past_jobs

_NUMBERS = (
    "submit start end elapsed limit cores cores_asked nodes gpus tasks memory_asked memory_used "
    "cores_used gpus_used eligible wait"
)
_SAME = 0.06  # how far counts of cores of one kind of job may lie apart, relatively


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _jobs(columns: dict[str, list[Any]]) -> Jobs:
    """Jobs of columns; those that are not given are unknown."""
    count = len(columns["submit"])
    texts = ("id", "user", "name", "partition", "state")
    numbers = _NUMBERS.split()
    made: dict[str, Any] = {}
    for name in texts:
        made[name] = np.array(columns.get(name, [None] * count), dtype=object)
    for name in numbers:
        made[name] = np.array(columns.get(name, [np.nan] * count), dtype=float)
    made["end"] = made["start"] + made["elapsed"]
    made["eligible"], made["wait"] = made["submit"], made["start"] - made["submit"]
    made["nodes"] = np.nan_to_num(made["nodes"], nan=1.0)
    order = np.argsort(made["submit"], kind="stable")
    return Jobs(**{name: values[order] for name, values in made.items()})


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def xdmod(folder: Path) -> Jobs:
    """Two clusters of Buffalo; names of jobs are hashes, so applications are unknown."""
    parts = [
        past_jobs(str(folder / "xdmod_slurm" / "raw" / f"{n}.log"))
        for n in ("phillips", "pozidriv")
    ]
    whole = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Jobs.__dataclass_fields__
    }
    order = np.argsort(whole["submit"], kind="stable")
    return Jobs(**{name: values[order] for name, values in whole.items()})


def nrel(folder: Path) -> Jobs:
    """Three days of Eagle; the file has every second job twice."""
    rows = {row["job_id"]: row for row in _rows(folder / "nrel_eagle_sample" / "eagle_sample.csv")}
    found = list(rows.values())
    return _jobs(
        {
            "id": [r["job_id"] for r in found],
            "user": [r["user"] for r in found],
            "name": [r["name"].replace("name", "n").translate(_LETTERS) for r in found],
            "partition": [r["partition"] for r in found],
            "state": [r["state"] for r in found],
            "submit": [_seconds(r["submit_time"]) for r in found],
            "start": [_seconds(r["start_time"]) for r in found],
            "elapsed": [float(r["run_time"]) for r in found],
            "limit": [float(r["wallclock_req"]) for r in found],
            "cores": [float(r["processors_req"]) for r in found],
        }
    )


# Names there are numbers, which tell applications apart: they are written in letters.
_LETTERS = str.maketrans("0123456789", "abcdefghij")


def kabre(folder: Path) -> Jobs:
    """Kabre tells core-seconds, and neither the cores that were given nor who asked for them.

    Cores: of kinds of jobs (partition, CPUs and nodes asked for) that ran into their limit, where
    all of these agree; other kinds are left out. Elapsed is core-seconds divided by them. Partition
    and QOS stand for the user, what is asked for for the application.
    """
    rows = _rows(folder / "kabre_sacct" / "kabre_sacct.csv")
    kinds = defaultdict(list)
    for row in rows:
        row["kind"] = "/".join((row["Partition"], row["ReqCPUS"], row["ReqNodes"]))
        if row["State"] == "TIMEOUT" and row["TimelimitRaw"].isdecimal():
            kinds[row["kind"]].append(
                float(row["CPUTimeRAW"]) / (60.0 * float(row["TimelimitRaw"]))
            )
    cores = {
        kind: float(round(np.median(found)))
        for kind, found in kinds.items()
        if max(found) < np.median(found) * (1 + _SAME)
        and min(found) > np.median(found) * (1 - _SAME)
    }
    kept = []
    for row in rows:
        if row["kind"] in cores and row["TimelimitRaw"].isdecimal():
            limit = 60.0 * float(row["TimelimitRaw"])
            elapsed = float(row["CPUTimeRAW"]) / cores[row["kind"]]
            if 0 < elapsed <= limit * 1.05:
                kept.append((row, limit, elapsed))
    submit = [_seconds(row["Submit"]) for row, _, _ in kept]
    waited = [float(row["ResvCPURAW"]) / float(row["ReqCPUS"]) for row, _, _ in kept]
    return _jobs(
        {
            "user": [row["Partition"] + row["QOS"] for row, _, _ in kept],
            "name": [
                f"{row['ReqCPUS']} {row['ReqMem']} {row['Timelimit']}".translate(_LETTERS)
                for row, _, _ in kept
            ],
            "partition": [row["Partition"] for row, _, _ in kept],
            "state": [row["State"].split()[0] for row, _, _ in kept],
            "submit": submit,
            "start": [a + b for a, b in zip(submit, waited, strict=True)],
            "elapsed": [elapsed for _, _, elapsed in kept],
            "limit": [limit for _, limit, _ in kept],
            "cores": [cores[row["kind"]] for row, _, _ in kept],
        }
    )


def _asked(row: dict[str, str]) -> str:
    return f"{row['ReqCPUS']} {row['ReqMem']} {row['Timelimit']}"


def _swf(path: Path) -> Jobs:
    import gzip

    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        cells = [line.split() for line in file if line.strip() and line[0] != ";"]
    table = np.array([[float(cell) for cell in row[:18]] for row in cells])
    table = np.where(table < 0, np.nan, table)
    count = len(table)
    status = ["COMPLETED" if s in (1, 0) or np.isnan(s) else "CANCELLED" for s in table[:, 10]]
    return _jobs(
        {
            "user": [f"{n:.0f}" for n in table[:, 11]],
            "name": [f"q{n:.0f}" for n in table[:, 13]],
            "partition": [f"{n:.0f}" for n in table[:, 14]],
            "state": status,
            "submit": list(table[:, 1]),
            "start": list(table[:, 1] + np.nan_to_num(table[:, 2])),
            "elapsed": list(table[:, 3]),
            "limit": list(table[:, 8]),
            "cores": list(table[:, 4]),
            "memory_used": list(np.where(table[:, 6] > 0, table[:, 6] * 1024.0, np.nan)),
            "nodes": [1.0] * count,
        }
    )


def kth(folder: Path) -> Jobs:
    """KTH SP2, with the jobs that completed (status 1)."""
    return _swf(next((folder / "swf_kth" / "raw").iterdir()))


def theta(folder: Path) -> Jobs:
    """Theta; both values of its status are jobs that ended by themselves."""
    return _swf(folder / "swf_theta" / "raw" / "train.swf")


def hpc2n(folder: Path) -> Jobs:
    """HPC2N: memory used by each process; hardly a job says what it asked for."""
    return _swf(
        next(p for p in (folder / "swf_hpc2n_wagap" / "raw").iterdir() if "hpc2n" in p.name)
    )


def generated(folder: Path) -> Jobs:
    """A dump of the generator, another seed than the tests."""
    del folder
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        dump = Path(place) / "jobs.psv"
        dump.write_text("\n".join(lines(12_000, 31)) + "\n")
        return past_jobs(str(dump))


TRACES: dict[str, tuple[str, Callable[[Path], Jobs]]] = {
    "xdmod": ("time", xdmod),
    "kabre": ("time", kabre),
    "nrel": ("time", nrel),
    "kth": ("time", kth),
    "theta": ("time", theta),
    "hpc2n": ("memory", hpc2n),
    "generated": ("memory", generated),
}
