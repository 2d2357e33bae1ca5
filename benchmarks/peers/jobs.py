"""Runs of one application made by a law: mixed columns, five linear rules that every row obeys.

Only numpy is needed here, so that every tool's environment can import it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROWS = 30_000
SEED = 2024
OUTCOME = "runtime"
NOISE = 0.05  # standard deviation of the logarithm of a measured runtime
CORES = 128  # of a node
RANKS, GPUS, MEMORY = 64, 4, 256  # the most that a node takes (memory in GB)
TOGETHER = 96  # large jobs have short limits: nodes + hours


@dataclass(frozen=True)
class Column:
    """One column: whole numbers, real numbers, or labels (then `low` and `high` are positions)."""

    name: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = True
    labels: tuple[str, ...] = ()

    @property
    def is_label(self) -> bool:
        """Whether the values are labels."""
        return bool(self.labels)

    @property
    def top(self) -> float:
        """The largest legal number."""
        return len(self.labels) - 1 if self.labels else self.high

    def allows(self, value: float) -> bool:
        """Whether an encoded value is legal."""
        if not self.low <= value <= self.top:
            return False
        return value == int(value) if self.whole or self.labels else True


@dataclass(frozen=True)
class Rule:
    """A linear rule: sum of coefficient * column <= bound."""

    text: str
    terms: Mapping[str, float]
    bound: float = 0.0

    def excess(self, X: Floats, names: tuple[str, ...]) -> Floats:
        """How far rows [n, d] are beyond the bound, [n]; at most 0 where the rule holds."""
        total = sum(c * X[:, names.index(name)] for name, c in self.terms.items())
        return np.asarray(total - self.bound)


COLUMNS = (
    Column("solver", labels=("bicgstab", "cg", "gmres", "jacobi", "multigrid")),
    Column("mesh", 10, 400),
    Column("nodes", 1, 64),
    Column("tasks", 1, 4096),
    Column("threads", 1, 16),
    Column("gpus", 0, 256),
    Column("memory", 4, 16_384),
    Column("walltime", 1, 72),
    Column("frequency", 1.2, 3.6, whole=False),
    Column("partition", labels=("fast", "gpu", "large", "standard")),
    Column("filesystem", labels=("burst", "home", "scratch")),
    Column("qos", labels=("high", "low", "normal")),
)
NAMES = tuple(column.name for column in COLUMNS)
FIXED = ("nodes", "gpus", "memory")  # of the second variant of every question

RULES = (
    Rule("gpus <= 4 * nodes", {"gpus": 1.0, "nodes": -GPUS}),
    Rule("tasks >= nodes", {"nodes": 1.0, "tasks": -1.0}),
    Rule("tasks <= 64 * nodes", {"tasks": 1.0, "nodes": -RANKS}),
    Rule("memory <= 256 * nodes", {"memory": 1.0, "nodes": -MEMORY}),
    Rule("nodes + walltime <= 96", {"nodes": 1.0, "walltime": 1.0}, TOGETHER),
)

# Per solver: serial share, gain per GPU of a node, share bound by memory, weight of files.
_NATURE = np.array(
    [
        (0.010, 1.0, 0.60, 0.6),
        (0.004, 3.0, 0.75, 0.2),
        (0.020, 2.5, 0.20, 0.3),
        (0.030, 6.0, 0.30, 1.5),
        (0.015, 0.3, 0.65, 2.0),
    ]
)
_PARTITION = np.array([1.30, 1.05, 0.95, 1.0])  # speed of a core
_ACCELERATED = np.array([0.4, 1.0, 0.4, 0.4])  # how much of a GPU's gain is there
_BANDWIDTH = np.array([6.0, 1.0, 2.5])  # of the file systems


def runtime(X: Floats) -> Floats:
    """The law: seconds [n] of encoded jobs [n, d], without noise."""
    at = {name: X[:, j] for j, name in enumerate(NAMES)}
    serial, gain, bound, files = _NATURE[at["solver"].astype(int)].T
    partition = at["partition"].astype(int)
    work = 400.0 * at["mesh"] ** 1.4
    workers = at["tasks"] * at["threads"]
    cores = CORES * at["nodes"]
    # Threads share caches; ranks beyond the cores wait for each other.
    used = np.minimum(workers, cores) ** 0.9 * (1 - 0.02 * (at["threads"] - 1))
    crowd = np.maximum(workers / cores, 1.0) ** 0.3
    clock = (at["frequency"] / 2.4) ** (1 - 0.8 * bound)
    boost = 1 + gain * _ACCELERATED[partition] * (at["gpus"] / at["nodes"]) ** 0.8
    speed = clock * _PARTITION[partition] * boost
    compute = work * (serial / 8 + (1 - serial) / used) * crowd / speed
    short = np.maximum(1.6 * at["mesh"] / at["memory"] - 1, 0.0)  # what does not fit is swapped
    talk = 0.6 * at["mesh"] ** 0.5 * np.log2(at["tasks"] + 1) ** 1.5
    write = 0.5 * files * at["mesh"] / _BANDWIDTH[at["filesystem"].astype(int)]
    return np.asarray(20 + compute * (1 + np.minimum(0.5 * short, 2.0)) + talk + write)


def draw(n: int, rng: np.random.Generator) -> Floats:
    """Jobs as people submit them, encoded [n, d]; all of them obey the rules."""
    nodes = np.minimum(np.rint(2 ** rng.uniform(0, 6.2, n)), 64)
    per_node = 2 ** rng.integers(3, 7, n)
    tasks = np.clip(np.rint(nodes * per_node * rng.uniform(0.7, 1.0, n)), nodes, RANKS * nodes)
    spare = np.maximum(CORES / per_node, 1)
    threads = np.clip(np.rint(spare * rng.choice([0.5, 1.0, 1.5], n)), 1, 16)
    partition = rng.choice(4, n, p=[0.15, 0.35, 0.1, 0.4])
    wish = np.where(partition == 1, rng.integers(1, GPUS + 1, n), rng.integers(0, 2, n))
    columns = {
        "solver": rng.integers(0, 5, n),
        # People give larger problems more nodes.
        "mesh": np.clip(np.rint(50 * np.sqrt(nodes) * rng.uniform(0.5, 1.6, n)), 10, 400),
        "nodes": nodes,
        "tasks": tasks,
        "threads": threads,
        "gpus": np.minimum(np.rint(wish * nodes * rng.uniform(0.6, 1.0, n)), GPUS * nodes),
        "memory": np.rint(nodes * rng.uniform(MEMORY / 64, MEMORY, n)),
        "walltime": np.rint(rng.uniform(1, np.minimum(TOGETHER - nodes, 72))),
        "frequency": np.round(rng.uniform(1.2, 3.6, n), 3),
        "partition": partition,
        "filesystem": rng.choice(3, n, p=[0.2, 0.3, 0.5]),
        "qos": rng.choice(3, n, p=[0.1, 0.2, 0.7]),
    }
    return np.column_stack([columns[name].astype(float) for name in NAMES])


def table(n: int, seed: int) -> tuple[Floats, Floats]:
    """Encoded jobs [n, d] with the runtimes [n] that were measured."""
    rng = np.random.default_rng(seed)
    X = draw(n, rng)
    return X, runtime(X) * np.exp(rng.normal(0, NOISE, n))


def decode(row: Floats) -> dict[str, Any]:
    """An encoded job [d] with its labels and whole numbers as a person writes them."""
    found: dict[str, Any] = {}
    for column, value in zip(COLUMNS, row, strict=True):
        if column.labels:
            found[column.name] = column.labels[int(value)]
        else:
            found[column.name] = int(value) if column.whole else float(value)
    return found


def encode(config: Mapping[str, Any]) -> Floats:
    """A decoded job as numbers [d]; a label that does not exist becomes nan."""
    row = []
    for column in COLUMNS:
        value = config[column.name]
        if not column.labels:
            row.append(float(value))
        else:
            row.append(float(column.labels.index(value)) if value in column.labels else np.nan)
    return np.array(row)


def columns_of(X: Floats, y: Floats) -> dict[str, list[Any]]:
    """The table as columns of plain values, with the outcome."""
    found: dict[str, list[Any]] = {}
    for j, column in enumerate(COLUMNS):
        if column.labels:
            found[column.name] = [column.labels[int(value)] for value in X[:, j]]
        else:
            found[column.name] = (X[:, j].astype(int) if column.whole else X[:, j]).tolist()
    found[OUTCOME] = y.tolist()
    return found


def study() -> dict[str, Any]:
    """What Compass is told about the columns."""
    said: dict[str, Any] = {OUTCOME: {"role": "outcome", "kind": "number", "unit": "s"}}
    for column in COLUMNS:
        choice: dict[str, Any] = {"role": "knob"}
        if column.labels:
            choice |= {"kind": "category", "values": list(column.labels)}
        else:
            choice |= {"kind": "number", "low": column.low, "high": column.high}
            choice |= {"step": 1} if column.whole else {}
        said[column.name] = choice
    return {"columns": said, "rules": [rule.text for rule in RULES]}
