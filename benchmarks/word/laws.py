"""Two laws of jobs that answers are judged by: the truth of any configuration can be drawn anew.

The first is the law of `benchmarks/peers`: one application, 5 % noise, jobs as people submit them.
The second is here: six applications with four classes of input, 10 % noise, settings that work on
each other, and next to people's jobs small experiments that vary one setting at a time.

Only numpy is needed here, so that every tool's environment can import it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import jobs
from benchmarks.peers.jobs import Column, Rule

Floats = NDArray[np.float64]

COMPLETED, TIMEOUT = "COMPLETED", "TIMEOUT"
ROUNDING = 1e-9  # relative; sums of floats in another order


@dataclass(frozen=True, eq=False)
class JobLaw:
    """Columns, rules, how runs are drawn, and how long a run takes."""

    name: str
    columns: tuple[Column, ...]
    context: tuple[str, ...]  # what is run; it is never asked for
    rules: tuple[Rule, ...]
    outcome: str
    noise: float  # standard deviation of the logarithm of a measured value
    formula: Callable[[Floats], Floats]  # encoded runs [n, d] -> seconds [n], without noise
    draw: Callable[[int, np.random.Generator], Floats]
    rows: int  # that are learnt from
    seed: int  # of these rows
    limit: str | None = None  # the column that a run must not exceed (in minutes), else TIMEOUT
    fixed: tuple[str, ...] = ()  # what every second question leaves as it is

    @property
    def names(self) -> tuple[str, ...]:
        """All columns but the outcomes."""
        return tuple(column.name for column in self.columns)

    @property
    def knobs(self) -> tuple[str, ...]:
        """What a question may ask for."""
        return tuple(name for name in self.names if name not in self.context)

    def table(self, n: int, seed: int) -> tuple[Floats, Floats]:
        """Encoded runs [n, d] with what was measured [n]."""
        rng = np.random.default_rng(seed)
        X = self.draw(n, rng)
        return X, self.formula(X) * np.exp(rng.normal(0, self.noise, n))

    def value(self, row: Floats) -> float:
        """The law at one encoded run [d], without noise."""
        return float(self.formula(row[None, :])[0])

    def state(self, row: Floats, seconds: float) -> str:
        """Whether a run [d] of these seconds keeps its limit."""
        if self.limit is None:
            raise ValueError(f"{self.name} has no limit")
        return COMPLETED if seconds <= 60 * row[self.names.index(self.limit)] else TIMEOUT

    def decode(self, row: Floats) -> dict[str, Any]:
        """An encoded run [d] as a person writes it."""
        found: dict[str, Any] = {}
        for column, value in zip(self.columns, row, strict=True):
            if column.labels:
                found[column.name] = column.labels[int(value)]
            else:
                found[column.name] = int(value) if column.whole else float(value)
        return found

    def encode(self, config: Mapping[str, Any]) -> Floats:
        """A decoded run as numbers [d]; a label that does not exist becomes nan."""
        row = []
        for column in self.columns:
            value = config[column.name]
            if not column.labels:
                row.append(float(value))
            else:
                row.append(float(column.labels.index(value)) if value in column.labels else np.nan)
        return np.array(row)

    def faults(self, row: Floats, start: Floats, free: Sequence[str]) -> tuple[str, ...]:
        """What is wrong with a suggestion [d], goals apart: values, rules, what had to stay."""
        if not np.isfinite(row).all():
            return ("not a value",)
        found = []
        for j, column in enumerate(self.columns):
            if column.name not in free and row[j] != start[j]:
                found.append("moved what was fixed")
            elif not column.allows(float(row[j])):
                found.append("illegal value")
        slack = ROUNDING * (1 + np.abs(row).max())
        found += ["rule" for rule in self.rules if rule.excess(row[None, :], self.names)[0] > slack]
        return tuple(dict.fromkeys(found))

    def columns_of(self, X: Floats, y: Floats) -> dict[str, list[Any]]:
        """The table as columns of plain values, with the outcomes."""
        found: dict[str, list[Any]] = {}
        for j, column in enumerate(self.columns):
            if column.labels:
                found[column.name] = [column.labels[int(value)] for value in X[:, j]]
            else:
                found[column.name] = (X[:, j].astype(int) if column.whole else X[:, j]).tolist()
        found[self.outcome] = y.tolist()
        if self.limit is not None:
            found["state"] = [self.state(x, float(s)) for x, s in zip(X, y, strict=True)]
        return found

    def study(self) -> dict[str, Any]:
        """What Compass is told: roles, legal values, rules, and which runs are comparable."""
        said: dict[str, Any] = {self.outcome: {"role": "outcome", "kind": "number", "unit": "s"}}
        if self.limit is not None:
            said["state"] = {"role": "outcome", "kind": "category"}
        for column in self.columns:
            role = "context" if column.name in self.context else "knob"
            choice: dict[str, Any] = {"role": role}
            if column.labels:
                choice |= {"kind": "category", "values": list(column.labels)}
            else:
                choice |= {"kind": "number", "low": column.low, "high": column.high}
                choice |= {"step": 1} if column.whole else {}
            said[column.name] = choice
        return {
            "columns": said,
            "rules": [rule.text for rule in self.rules],
            "comparable": list(self.context),
        }


# The first law. Solver and mesh say what is run; everything else can be chosen.
JOBS = JobLaw(
    name="jobs",
    columns=jobs.COLUMNS,
    context=("solver", "mesh"),
    rules=jobs.RULES,
    outcome=jobs.OUTCOME,
    noise=jobs.NOISE,
    formula=jobs.runtime,
    draw=jobs.draw,
    rows=12_000,
    seed=jobs.SEED,
    fixed=jobs.FIXED,
)


# The second law.
CORES, RANKS, MEMORY = 64, 32, 192  # of a node; the most ranks; GB
LONGEST = 1440  # minutes of limit, less 30 for every node
APPS = ("amr", "cfd", "fft", "md", "qcd", "weather")
CLASSES = ("A", "B", "C", "D")
BINDINGS = ("compact", "none", "scatter")

CLUSTER_COLUMNS = (
    Column("app", labels=APPS),
    Column("class", labels=CLASSES),
    Column("nodes", 1, 32),
    Column("tasks", 1, 1024),
    Column("threads", 1, 16),
    Column("memory", 8, 6144),
    Column("frequency", 1.2, 3.0, whole=False),
    Column("binding", labels=BINDINGS),
    Column("limit", 10, 1410),
)
CLUSTER_NAMES = tuple(column.name for column in CLUSTER_COLUMNS)
CLUSTER_RULES = (
    Rule("tasks >= nodes", {"nodes": 1.0, "tasks": -1.0}),
    Rule("tasks <= 32 * nodes", {"tasks": 1.0, "nodes": -RANKS}),
    Rule("memory <= 192 * nodes", {"memory": 1.0, "nodes": -MEMORY}),
    Rule("limit + 30 * nodes <= 1440", {"limit": 1.0, "nodes": 30.0}, LONGEST),
)

# Per application: serial share, share bound by memory, loss per thread, weight of communication,
# GB that class A needs.
_NATURE = np.array(
    [
        (0.012, 0.30, 0.05, 1.6, 20.0),
        (0.003, 0.75, 0.01, 0.5, 28.0),
        (0.002, 0.45, 0.03, 3.0, 40.0),
        (0.006, 0.05, 0.02, 0.3, 6.0),
        (0.001, 0.60, 0.00, 1.0, 16.0),
        (0.020, 0.55, 0.04, 0.8, 24.0),
    ]
)
_WORK = np.array([2.0e4, 8.0e4, 3.2e5, 1.28e6])  # of the classes
_SIZE = np.array([1.0, 2.5, 6.0, 15.0])  # memory of the classes, in that of class A


def cluster_seconds(X: Floats) -> Floats:
    """The second law: seconds [n] of encoded runs [n, d], without noise."""
    at = {name: X[:, j] for j, name in enumerate(CLUSTER_NAMES)}
    serial, bound, loss, talk, need = _NATURE[at["app"].astype(int)].T
    size = at["class"].astype(int)
    binding = at["binding"].astype(int)
    ranks = at["tasks"] / at["nodes"]
    share = np.minimum(ranks * at["threads"] / CORES, 1.0)  # of the cores that are busy
    crowd = np.maximum(ranks * at["threads"] / CORES, 1.0)
    # Memory bandwidth is full with a third of the cores where ranks are scattered, and later
    # where they share caches: binding, threads and application work on each other.
    full = np.array([0.7, 0.5, 0.35])[binding]
    flow = np.minimum(share / full, 1.0) * np.array([0.75, 0.85, 1.0])[binding]
    cache = 1 + np.array([0.25, 0.0, -0.15])[binding] * (at["threads"] - 1) / 15
    clock = (at["frequency"] / 2.4) * (1 - loss * (at["threads"] - 1)) * cache
    cores = np.maximum(share, 1 / CORES) * CORES * clock / crowd**0.35
    stream = CORES * np.maximum(flow, 1 / CORES) * (at["frequency"] / 2.4) ** 0.15
    speed = 1 / ((1 - bound) / cores + bound / stream)
    whole = at["nodes"] ** 0.95 * speed
    compute = _WORK[size] * (serial / 6 + (1 - serial) / whole)
    wanted = need * _SIZE[size]
    swap = 1 + 2.0 * np.maximum(wanted / at["memory"] - 1, 0.0) ** 0.7
    send = talk * _WORK[size] ** 0.45 * at["nodes"] ** 0.6 * np.log2(1 + ranks) * (1 + bound)
    return np.asarray(15 + compute * np.minimum(swap, 4.0) + 0.06 * send)


def draw_cluster(n: int, rng: np.random.Generator) -> Floats:
    """Runs [n, d] in random order: one half people's jobs, one half experiments."""
    people = n // 2
    X = np.concatenate([_people(people, rng), _experiments(n - people, rng)])
    return X[rng.permutation(n)]


def _people(n: int, rng: np.random.Generator) -> Floats:
    """Jobs as people submit them: larger inputs get more nodes."""
    size = rng.integers(0, len(CLASSES), n)
    nodes = np.clip(np.rint(2 ** (rng.uniform(0, 2.2, n) + 0.9 * size)), 1, 32)
    ranks = 2.0 ** rng.integers(2, 6, n)
    threads = np.clip(np.rint(CORES / ranks * rng.choice([0.5, 1.0, 1.5], n)), 1, 16)
    columns = {
        "app": rng.integers(0, len(APPS), n),
        "class": size,
        "nodes": nodes,
        "tasks": nodes * ranks,
        "threads": threads,
        "memory": np.rint(nodes * rng.uniform(MEMORY / 8, MEMORY, n)),
        "frequency": np.round(rng.uniform(1.2, 3.0, n), 1),
        "binding": rng.integers(0, len(BINDINGS), n),
        "limit": np.rint(10 + rng.uniform(0, 1, n) ** 3 * (LONGEST - 30 * nodes - 10)),
    }
    return np.column_stack([columns[name].astype(float) for name in CLUSTER_NAMES])


def _experiments(n: int, rng: np.random.Generator) -> Floats:
    """Jobs of which one setting at a time is set to other values, [n, d]."""
    place = {name: j for j, name in enumerate(CLUSTER_NAMES)}
    found: list[Floats] = []
    while len(found) < n:
        base = _people(1, rng)[0]
        ranks, per_node = base[place["tasks"]] / base[place["nodes"]], base[place["memory"]]
        per_node = np.floor(per_node / base[place["nodes"]])
        found.append(base)
        for nodes in (1, 2, 4, 8, 16, 32):  # with as much of everything on each
            row = base.copy()
            row[place["nodes"]], row[place["tasks"]] = nodes, nodes * ranks
            row[place["memory"]] = max(nodes * per_node, 8)
            row[place["limit"]] = min(row[place["limit"]], LONGEST - 30 * nodes)
            found.append(row)
        for name, values in (
            ("threads", (1, 2, 4, 8, 16)),
            ("frequency", (1.2, 1.8, 2.4, 3.0)),
            ("binding", (0, 1, 2)),
        ):
            found += [_with(base, place[name], value) for value in values]
        for ranks in (4, 8, 16, 32):
            found.append(_with(base, place["tasks"], base[place["nodes"]] * ranks))
        for share in (0.25, 0.5, 1.0):
            memory = max(np.floor(share * MEMORY * base[place["nodes"]]), 8)
            found.append(_with(base, place["memory"], memory))
    return np.array(found[:n])


def _with(row: Floats, place: int, value: float) -> Floats:
    changed = row.copy()
    changed[place] = value
    return changed


CLUSTER = JobLaw(
    name="cluster",
    columns=CLUSTER_COLUMNS,
    context=("app", "class"),
    rules=CLUSTER_RULES,
    outcome="seconds",
    noise=0.10,
    formula=cluster_seconds,
    draw=draw_cluster,
    rows=9_000,
    seed=2025,
    limit="limit",
    fixed=("nodes", "memory"),
)

LAWS = (JOBS, CLUSTER)
