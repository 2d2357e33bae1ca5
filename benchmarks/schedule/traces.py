"""The traces of the study: two recorded ones, and one made of measured scaling runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow.csv

from compass.schedule.job import Job
from compass.schedule.law import Law, fitted_laws, law, laws_of
from compass.schedule.power import PowerModel
from compass.schedule.read import read_trace
from compass.schedule.trace import JobTrace, job_trace
from compass.schedule.truth import LawTruth, MeasuredTruth, Truth

RUNS = "powerbound/clip_runs.csv"
RECORDED = {
    "KTH": "swf_kth/raw/KTH-SP2-1996-2.swf.gz",
    "Theta": "swf_theta/raw/train.swf",
}
MEASURED = "measured"
POWER = PowerModel(busy=300, idle=100)  # W of a node; neither trace measured any

_JOBS = 3000
_NODES = 24  # of the machine of the measured trace
_LOAD = 0.9  # of it, by what users ask for
_LENGTHS = (1, 3, 10, 30, 100)  # how often a job repeats its measured run: its problem
_OTHER = 0.3  # share of the jobs whose users do not go by the length
_NOISE = 0.01
_MIDDLE = 4.0  # nodes of a measured run
SEEDS = (21, 22, 23, 24)  # the gates were chosen on seed 11


@dataclass(frozen=True)
class Case:
    """A trace, with what its model may look at and what decides how long changed jobs run."""

    name: str
    trace: JobTrace
    context: tuple[str, ...]  # beside nodes and limit
    truths: Mapping[str, Truth]
    power: PowerModel
    seed: int = 0  # of a trace that was drawn


@dataclass(frozen=True)
class BorrowedLaw:
    """Laws fitted to measured runs, one per user, where users say nothing about their programs.

    What a user asked for stands where four nodes stand in the measured runs, the middle of what was
    measured.
    """

    laws: tuple[Law, ...]
    circular: bool = False

    @property
    def name(self) -> str:
        """What decides."""
        return f"{len(self.laws)} laws fitted to measured runs, one per user"

    def ratio(self, job: Job, changed: Job) -> float:
        """By the law that the job's user was given."""
        given = self.laws[crc32(job.user.encode()) % len(self.laws)]
        share = changed.nodes / job.nodes
        return given.time(_MIDDLE * share) / given.time(_MIDDLE)


def cases(folder: Path) -> list[Case]:
    """The recorded traces, and the measured one as often as it is drawn."""
    runtimes, _ = fastest(folder)
    rows = [(name, n, t) for name, by in runtimes.items() for n, t in by.items()]
    names, nodes, times = zip(*rows, strict=True)
    fitted = fitted_laws(names, nodes, times)
    laws = tuple(one for _, one in sorted(laws_of(fitted).items()))
    truths: dict[str, Truth] = {
        "measured laws": BorrowedLaw(laws),
        "perfect scaling": LawTruth({}, law("amdahl:serial=0")),
    }
    found = []
    for name, path in RECORDED.items():
        trace = read_trace(folder / path)
        found.append(Case(name, trace, ("user",), truths, POWER))
    return [*found, *(measured_case(folder, seed) for seed in SEEDS)]


def fastest(folder: Path) -> tuple[dict[str, dict[int, float]], dict[str, dict[int, float]]]:
    """Per application and number of nodes the shortest measured runtime, and the watts per node."""
    runs = pyarrow.csv.read_csv(folder / RUNS).to_pylist()
    times: dict[str, dict[int, float]] = {}
    watts: dict[str, dict[int, float]] = {}
    for run in sorted(runs, key=lambda one: -float(one["app_time_s"])):
        name, nodes = str(run["app"]), int(run["nodes"])
        if nodes in (2, 4, 6, 8):
            times.setdefault(name, {})[nodes] = float(run["app_time_s"])
            power = float(run["pkg_power_w_node"]) + float(run["dram_power_w_node"])
            watts.setdefault(name, {})[nodes] = power
    several = {name for name, by in times.items() if len(by) == 4}
    return ({n: times[n] for n in several}, {n: watts[n] for n in several})


def measured_case(folder: Path, seed: int) -> Case:
    """Jobs that repeat a measured run as often as their problem is long.

    As in recorded traces, people ask for more nodes when a problem is long: most go by the length.
    """
    times, watts = fastest(folder)
    rng = np.random.default_rng(seed)
    apps = sorted(times)
    app = rng.integers(0, len(apps), _JOBS)
    length = rng.integers(0, len(_LENGTHS), _JOBS)
    usual = np.array([2, 2, 4, 6, 8])[length]
    nodes = np.where(rng.random(_JOBS) < _OTHER, rng.choice([2, 4, 6, 8], _JOBS), usual)
    one = np.array([times[apps[a]][n] for a, n in zip(app, nodes.tolist(), strict=True)])
    run = one * np.array(_LENGTHS)[length] * np.exp(_NOISE * rng.standard_normal(_JOBS))
    limit = np.ceil(run * rng.choice([1.2, 2, 4], _JOBS) / 300) * 300
    span = float((nodes * run).sum()) / (_LOAD * _NODES)
    trace = job_trace(
        np.sort(rng.uniform(0, span, _JOBS)).round(),
        run,
        limit,
        {"nodes": nodes},
        user=[f"u{a}" for a in app],
        application=[apps[a] for a in app],
        partition=[f"length{_LENGTHS[one]}" for one in length],
        power=np.array([watts[apps[a]][n] * n for a, n in zip(app, nodes.tolist(), strict=True)]),
        capacity={"nodes": _NODES},
    )
    table = MeasuredTruth(times)
    return Case(
        MEASURED, trace, ("application", "partition"), {"measured runs": table}, POWER, seed
    )


def fold(trace: JobTrace, part: int, parts: int) -> tuple[JobTrace, JobTrace]:
    """The jobs to learn from, and one of the stretches of time, whose queue is simulated."""
    place = np.arange(len(trace)) * parts // len(trace)
    return trace.only(place != part), trace.only(place == part)
