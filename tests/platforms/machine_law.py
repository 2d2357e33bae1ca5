"""Runs of generated applications on four machines, by a roofline: the truth is at hand."""

import numpy as np
import pyarrow as pa

from compass.platforms.pairs import MatchedRuns, PairColumns, match
from compass.readers.table import Table

# machine -> bytes per second, flops per second
MACHINES = {
    "quartz": (5e9, 2e10),
    "ruby": (8e9, 2.8e10),
    "lassen": (4e10, 1.4e11),
    "corona": (2.5e10, 1.8e11),
}
COLUMNS = PairColumns(
    "machine", "app", "runtime", ("size",), ("PAPI_TOT_INS", "PAPI_LD_INS", "flops", "bytes")
)


def seconds(machine: str, bytes_: float, flops: float) -> float:
    """The roofline's runtime."""
    bandwidth, peak = MACHINES[machine]
    return max(bytes_ / bandwidth, flops / peak)


def roofline_table(applications: int = 12, noise: float = 0.02, seed: int = 1) -> Table:
    """Applications of different intensity at four sizes on four machines, twice each."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {
        name: [] for name in ("machine", "app", "size", "runtime", *COLUMNS.counters)
    }
    for number in range(applications):
        intensity = 10 ** rng.uniform(-1.0, 1.5)
        for size in (1, 2, 4, 8):
            bytes_, flops = 1e9 * size, 1e9 * size * intensity
            for machine in MACHINES:
                for _ in range(2):
                    rows["machine"].append(machine)
                    rows["app"].append(f"app{number:02d}")
                    rows["size"].append(size)
                    rows["runtime"].append(
                        seconds(machine, bytes_, flops) * rng.lognormal(0, noise)
                    )
                    rows["PAPI_TOT_INS"].append(flops + bytes_ / 4)
                    rows["PAPI_LD_INS"].append(bytes_ / 8)
                    rows["flops"].append(flops)
                    rows["bytes"].append(bytes_)
    return Table.of(pa.table(rows))


def roofline_runs(applications: int = 12, noise: float = 0.02, seed: int = 1) -> MatchedRuns:
    """The same, matched."""
    return match(roofline_table(applications, noise, seed), COLUMNS)
