"""A generator of tables that look like the accounting of a cluster, of any length.

Each file has its own seed, so that a file of a table is the same whoever writes it and however
many there are. The runtime follows a law that is known (Amdahl's with a cost of communication),
times noise whose width depends on the application, so that some rows are far harder to predict
than others. One job in forty failed, and one in a hundred has no recorded input size.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

APPS = (
    "wrf",
    "gromacs",
    "namd",
    "vasp",
    "openfoam",
    "lammps",
    "cp2k",
    "espresso",
    "amg",
    "nek5000",
)
STATES = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED")
GROUP = 1 << 20  # rows of a row group: what Arrow writes by default
_SERIAL = np.linspace(0.002, 0.08, len(APPS))  # share of the work that does not scale
_TALK = np.geomspace(0.02, 2.0, len(APPS))  # seconds of communication per doubling of the ranks
_RATE = np.geomspace(20.0, 600.0, len(APPS))  # seconds per gigabyte on one core
_NOISE = np.geomspace(0.01, 0.4, len(APPS))


def law(
    app: NDArray[np.int64],
    ranks: NDArray[np.float64],
    gpus: NDArray[np.float64],
    input_gb: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The runtime without noise, in seconds."""
    work = _RATE[app] * input_gb / (1.0 + 4.0 * gpus)
    serial = _SERIAL[app]
    return 2.0 + work * (serial + (1.0 - serial) / ranks) + _TALK[app] * np.log2(ranks + 1.0)


def jobs(rows: int, seed: int) -> pa.Table:
    """A table of jobs: app, state, nodes, tasks, gpus, input_gb, power_w, runtime_s."""
    rng = np.random.default_rng([seed, 20])
    popular = 1.0 / np.arange(1, len(APPS) + 1)
    app = rng.choice(len(APPS), rows, p=popular / popular.sum())
    nodes = 2 ** rng.binomial(9, 0.35, rows)
    tasks = np.array([8, 16, 32, 48, 64])[rng.integers(0, 5, rows)]
    gpus = np.where(app % 3 == 1, rng.integers(0, 5, rows), 0)
    input_gb = rng.lognormal(2.0, 1.0, rows)
    sizes = law(app, (nodes * tasks).astype(float), gpus.astype(float), input_gb)
    runtime = sizes * np.exp(_NOISE[app] * rng.standard_normal(rows))
    power = nodes * (180.0 + 2.5 * tasks + 250.0 * gpus) * rng.normal(1.0, 0.03, rows)
    state = np.where(rng.random(rows) < 0.025, rng.integers(1, 4, rows), 0)
    runtime[state != 0] *= rng.random(int((state != 0).sum()))
    return pa.table(
        {
            "app": _labels(app, APPS),
            "state": _labels(state, STATES),
            "nodes": pa.array(nodes.astype(np.int32)),
            "tasks": pa.array(tasks.astype(np.int32)),
            "gpus": pa.array(gpus.astype(np.int32)),
            "input_gb": pa.array(input_gb, mask=rng.random(rows) < 0.01),
            "power_w": pa.array(power),
            "runtime_s": pa.array(runtime),
        }
    )


def _labels(codes: NDArray[np.int64], labels: tuple[str, ...]) -> pa.Array:
    array = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), list(labels))
    return pc.cast(array, pa.string())


def write(folder: Path, rows: int, form: str, rows_per_file: int = 2_500_000) -> list[Path]:
    """Writes a table of so many jobs as files of this form (parquet, csv), unless it is there."""
    from pyarrow import csv, parquet

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, start in enumerate(range(0, rows, rows_per_file)):
        path = folder / f"jobs-{number:04d}.{form}"
        paths.append(path)
        if path.exists():
            continue
        table = jobs(min(rows_per_file, rows - start), seed=number)
        half = path.with_suffix(".half")
        if form == "parquet":
            parquet.write_table(table, half, row_group_size=GROUP)
        else:
            csv.write_csv(table, half, csv.WriteOptions(quoting_style="none"))
        half.rename(path)
    return paths
