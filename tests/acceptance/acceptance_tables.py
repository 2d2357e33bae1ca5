"""Tables with the columns of the paper's datasets, made by stated laws with little noise.

Each law is a function here, so that a test can ask it what the truth of an answer is.
`python tests/acceptance/acceptance_tables.py FOLDER` writes the tables and their studies.
"""

import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = dict[str, list[Any]]

# Table VIII, with the text's `num_gpus_alloc > 0` read as >= 0: jobs without a GPU are in it.
PM100_RULES = (
    "num_nodes_req >= 1",
    "num_nodes_alloc > 0",
    "num_nodes_alloc == num_nodes_req",
    "num_cores_req >= 1",
    "num_cores_req <= 32 * num_nodes_req",
    "num_cores_alloc > 0",
    "num_cores_alloc <= num_cores_req",
    "cores_per_task >= 1",
    "cores_per_task <= num_cores_alloc",
    "num_gpus_req >= 0",
    "num_gpus_req <= 4 * num_nodes_req",
    "num_gpus_alloc >= 0",
    "num_gpus_alloc == num_gpus_req",
    "mem_req > 0",
    "mem_req <= 256 * num_nodes_req",
    "mem_alloc > 0",
    "mem_alloc == mem_req",
    "run_time > 0",
    "time_limit > 0",
    "run_time <= time_limit",
    "num_tasks >= 1",
    "num_tasks <= num_cores_alloc",
)
PM100_POWERS = ("node_power_consumption", "mem_power_consumption", "cpu_power_consumption")
PM100_ROLES = {
    "knobs": [
        "num_nodes_req", "num_cores_req", "cores_per_task", "num_gpus_req", "mem_req",
        "time_limit", "num_tasks",
    ],
    "context": ["num_nodes_alloc", "num_cores_alloc", "num_gpus_alloc", "mem_alloc", "partition"],
    "outcomes": [*PM100_POWERS, "run_time", "job_state"],
}  # fmt: skip


def pm100_power(config: Mapping[str, Any], name: str) -> float:
    """The power of a job by the law."""
    nodes, cores, gpus = (config[f"num_{what}_alloc"] for what in ("nodes", "cores", "gpus"))
    return float(
        {
            "node_power_consumption": 240 * nodes + 4 * cores + 60 * gpus,
            "mem_power_consumption": 20 * nodes + 0.25 * config["mem_alloc"] + 5 * gpus,
            "cpu_power_consumption": 90 * nodes + 3.5 * cores,
        }[name]
    )


def pm100(n: int = 2000, seed: int = 11) -> Columns:
    """Jobs of a cluster: more of anything draws more power; what runs too long is killed.

    Most jobs take all four GPUs of their nodes, as on the real machine.
    """
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1, 2, 4, 8, 16, 32], n, p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
    cores = nodes * rng.choice([4, 8, 16, 32], n)
    allocated = np.where(rng.random(n) < 0.8, cores, np.maximum(cores // 2, 1))
    per_task = np.minimum(rng.choice([1, 2, 4], n), allocated)
    gpus = nodes * rng.choice([0, 1, 2, 4], n, p=[0.05, 0.05, 0.1, 0.8])
    mem = nodes * rng.choice([32, 64, 128, 256], n)
    limit = rng.choice([30, 60, 120, 240, 480, 1440], n)
    need = 60.0 * mem / (allocated + 8 * gpus) * rng.normal(1, 0.02, n)
    columns: dict[str, Any] = {
        "num_nodes_req": nodes,
        "num_nodes_alloc": nodes,
        "num_cores_req": cores,
        "num_cores_alloc": allocated,
        "cores_per_task": per_task,
        "num_tasks": allocated // per_task,
        "num_gpus_req": gpus,
        "num_gpus_alloc": gpus,
        "mem_req": mem,
        "mem_alloc": mem,
        "time_limit": limit,
        "partition": rng.choice([1, 2], n, p=[0.8, 0.2]),
        "run_time": np.minimum(need, limit),
        "job_state": np.where(need <= limit, "COMPLETED", "TIMEOUT"),
    }
    for name in PM100_POWERS:
        law = [pm100_power({c: columns[c][i] for c in columns}, name) for i in range(n)]
        columns[name] = np.array(law) * rng.normal(1, 0.01, n)
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


BUTTER_DEPTHS = (2, 3, 4, 5, 7, 8, 9, 10, 12, 14, 16, 18, 20)
BUTTER_ROLES = {
    "knobs": ["depth", "shape", "batch_size", "optimizer", "learning_rate"],
    "context": ["dataset", "is_gpu", "size"],
    "outcomes": ["runtime", "power", "energy"],
}


def butter_runtime(config: Mapping[str, Any]) -> float:
    """Seconds: a part that does not depend on the depth, and a small one of each layer."""
    layers = 100 + 1.5 * config["depth"]
    batch = 1 + 64 / config["batch_size"]
    shape = {"rectangle": 1.1, "rectangle_residual": 1.0, "trapezoid": 1.05}[config["shape"]]
    optimizer = {"Adam": 1.0, "SGD": 1.15}[config["optimizer"]]
    data = {"mnist": 3.0, "adult": 1.0}[config["dataset"]]
    return float(layers * batch * shape * optimizer * data * (0.4 if config["is_gpu"] else 1.0))


def butter_power(config: Mapping[str, Any]) -> float:
    """Watts: of the machine and the size of a batch; the depth does not matter."""
    return 90.0 + (160 if config["is_gpu"] else 0) - 0.2 * config["batch_size"]


def butter_e(n: int = 2000, seed: int = 5) -> Columns:
    """Training runs of networks; depth 6 was never run."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "dataset": rng.choice(["mnist", "adult"], n),
        "is_gpu": rng.choice([True, False], n),
        "size": rng.choice([1024, 4096, 16384], n),
        "depth": rng.choice(BUTTER_DEPTHS, n),
        "shape": rng.choice(["rectangle", "rectangle_residual", "trapezoid"], n),
        "batch_size": rng.choice([32, 64, 128, 256], n),
        "optimizer": rng.choice(["Adam", "SGD"], n),
        "learning_rate": rng.choice([0.001, 0.01], n),
    }
    rows = [{name: values[i] for name, values in columns.items()} for i in range(n)]
    runtime = np.array([butter_runtime(row) for row in rows]) * rng.normal(1, 0.005, n)
    power = np.array([butter_power(row) for row in rows]) * rng.normal(1, 0.005, n)
    columns |= {"runtime": runtime, "power": power, "energy": runtime * power}
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


_LINK = "SAMPLE_GEMINI_LINK"
MONET_STALLS = tuple(
    f"{direction}_{_LINK}_{kind}_STALL"
    for direction in ("X+", "Y+", "Z+", "Z-")
    for kind in ("CREDIT", "INQ")
)
MONET_BANDWIDTH = f"X+_{_LINK}_USED_BW"
MONET_COORDINATES = tuple(f"nettopo_mesh_coord_{axis}" for axis in "XYZ")
MONET_ROLES = {
    "knobs": list(MONET_COORDINATES),
    "context": [],
    "outcomes": [*MONET_STALLS, MONET_BANDWIDTH],
}


def monet_hot(x: Any, y: Any, z: Any) -> Any:
    """How busy a place of the mesh is: it falls with the distance from the corner (0, 0, 0)."""
    return np.exp(-(x / 12 + y / 6 + z / 12))


def monet(n: int = 2000, seed: int = 2) -> Columns:
    """Link counters of a mesh of 24 x 14 x 24: stalls come from a busy place and from each other.

    Z+ stalls fall with the distance from the corner and grow with X+ stalls.
    """
    rng = np.random.default_rng(seed)
    x, y, z = (rng.integers(0, size, n) for size in (24, 14, 24))
    hot = monet_hot(x, y, z)
    load = rng.lognormal(0.0, 1.0, n)
    columns: dict[str, Any] = dict(zip(MONET_COORDINATES, (x, y, z), strict=True))
    base = 1000 * hot * load
    for direction, factor in (("X+", 1.0), ("Y+", 0.8)):
        for kind, share in (("CREDIT", 1.0), ("INQ", 0.5)):
            own = base * factor * share * rng.normal(1, 0.02, n)
            columns[f"{direction}_{_LINK}_{kind}_STALL"] = own
    credit = columns[f"X+_{_LINK}_CREDIT_STALL"]
    for direction, factor in (("Z+", 1.0), ("Z-", 0.6)):
        for kind, share in (("CREDIT", 1.0), ("INQ", 0.5)):
            own = factor * share * (800 * hot + 0.05 * credit) * rng.normal(1, 0.02, n)
            columns[f"{direction}_{_LINK}_{kind}_STALL"] = own
    columns[MONET_BANDWIDTH] = 50 + 400 * hot * load * rng.normal(1, 0.02, n)
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


APP_ROLES = {
    "knobs": ["algorithm", "bw_level", "power_cap", "thread_count"],
    "context": ["app", "node_count"],
    "outcomes": ["runtime", "perf_variation"],
}
_VARIATION = {
    "FT": {"rand": 1.0, "spr": 0.88, "pak": 0.85},
    "CoMD": {"rand": 1.0, "spr": 0.5, "pak": 0.6},
}
_RUNTIME = {
    "FT": {"rand": 1.0, "spr": 0.97, "pak": 0.88},
    "CoMD": {"rand": 1.0, "spr": 0.9, "pak": 0.95},
}


def app_runtime(config: Mapping[str, Any], app: str) -> float:
    """Seconds: less with threads, with power and with bandwidth, by the algorithm of binding."""
    work = 20 + 500 / config["thread_count"]
    slow = (1 + 16 / config["power_cap"]) * (1 - 0.02 * config["bw_level"])
    return float(work * slow * _RUNTIME[app][config["algorithm"]])


def app_variation(config: Mapping[str, Any], app: str) -> float:
    """Percent between repetitions: by the algorithm, less at high power."""
    calm = 1 + 30 / config["power_cap"] + 0.15 * (4 - config["bw_level"])
    return float(12 * calm * _VARIATION[app][config["algorithm"]])


def applications(apps: tuple[str, ...] = ("FT", "CoMD"), n: int = 600, seed: int = 8) -> Columns:
    """Runs of applications under power caps, with the columns of Figure 6."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {
        "algorithm": rng.choice(["rand", "spr", "pak"], n),
        "app": rng.choice(apps, n),
        "bw_level": rng.choice([1, 2, 3, 4], n),
        "ipath_0": rng.integers(0, 3, n),
        "ipath_1": rng.integers(0, 2, n),
        "node_count": np.full(n, 512),
        "power_cap": rng.choice([50, 64, 80, 100], n),
        "thread_count": rng.choice([4, 8, 12, 16], n),
    }
    rows = [{name: values[i] for name, values in columns.items()} for i in range(n)]
    runtime = np.array([app_runtime(row, row["app"]) for row in rows])
    variation = np.array([app_variation(row, row["app"]) for row in rows])
    columns["runtime"] = runtime * rng.normal(1, 0.01, n)
    columns["avg_runtime"] = runtime
    columns["perf_variation"] = variation * rng.normal(1, 0.01, n)
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


NPB_ROLES = {
    "knobs": ["num_nodes", "num_processes", "thr_aff"],
    "context": ["application_name", "prob_cls"],
    "outcomes": ["cpu_time_i"],
}


def npb_mz(n: int = 675, seed: int = 4) -> Columns:
    """Runs of the multi-zone NAS benchmarks, classes A to C."""
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1, 2, 4], n)
    processes = nodes * rng.choice([4, 8, 16], n)
    affinity = rng.choice(["close", "spread"], n)
    size = rng.choice(["A", "B", "C"], n)
    work = np.select([size == "A", size == "B"], [100.0, 400.0], 1600.0)
    time = work / processes * np.where(affinity == "close", 1.2, 1.0) * rng.normal(1, 0.01, n)
    columns = {
        "application_name": rng.choice(["bt-mz", "sp-mz"], n),
        "prob_cls": size,
        "num_nodes": nodes,
        "num_processes": processes,
        "thr_aff": affinity,
        "papi_tot_i": work * 1e6,
        "cpu_time_i": time,
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


SIMULATION_ROLES = {
    "knobs": ["nodes", "gpus_per_node", "cpu_cores", "num_threads", "thread_affinity"],
    "context": ["queue"],
    "outcomes": ["runtime", "power"],
}


def simulations(n: int = 800, seed: int = 6) -> Columns:
    """Runs with the columns of the conversation in Figure 5; more threads are faster up to 32."""
    rng = np.random.default_rng(seed)
    nodes = rng.choice([1, 2, 4, 8, 16, 32], n)
    threads = rng.choice([4, 8, 16, 32, 64], n)
    affinity = rng.choice(["close", "spread"], n)
    wait = np.where(threads > 32, 1.3, 1.0) * np.where(affinity == "spread", 1.0, 1.25)
    runtime = (10 + 4000 / nodes / np.minimum(threads, 32)) * wait
    columns = {
        "nodes": nodes,
        "gpus_per_node": rng.choice([0, 1, 2, 4], n),
        "cpu_cores": rng.choice([16, 32, 64], n),
        "num_threads": threads,
        "thread_affinity": affinity,
        "queue": rng.choice(["debug", "long"], n),
        "runtime": runtime * rng.normal(1, 0.01, n),
        "power": (200 * nodes + 2 * threads) * rng.normal(1, 0.01, n),
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def _study(roles: Mapping[str, list[str]], rules: tuple[str, ...] = ()) -> str:
    """A study file with these roles and rules."""
    words = {"knobs": "knob", "context": "context", "outcomes": "outcome", "ignored": "ignored"}
    lines = ["columns:"]
    for kind, names in roles.items():
        lines += [f"  {json.dumps(name)}: {{role: {words[kind]}}}" for name in names]
    return "\n".join([*lines, f"rules: {json.dumps(rules)}"]) + "\n"


def write(folder: Path) -> None:
    """Write every table as CSV, and beside it a study file with its roles and rules."""
    one = APP_ROLES | {"context": [], "ignored": ["avg_runtime", "ipath_0", "ipath_1"]}
    made = {
        "monet": (monet(), _study(MONET_ROLES)),
        "pm100": (pm100(), _study(PM100_ROLES, PM100_RULES)),
        "butter_e": (butter_e(), _study(BUTTER_ROLES)),
        "comd": (applications(("CoMD",), 400), _study(one)),
        "ft": (applications(("FT",), 400), _study(one)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, study) in made.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        (folder / f"{name}.yaml").write_text(study, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
