"""The six tables, with what is an application, a configuration and a counter in each.

Where a table holds one kernel only, what is left out together is every configuration with one value
of a named tile (or pair of tiles): neighbouring configurations would give the answer away.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.roles import data_folder
from compass.platforms.pairs import MatchedRuns, PairColumns, match
from compass.readers import read
from compass.readers.table import Table

SEED = 7
HELD_OUT = "convolution"  # settings were frozen on the other five; this one was scored once


@dataclass(frozen=True)
class Case:
    """A table, and which machines it is seen from."""

    name: str
    load: Callable[[Path], tuple[Table, PairColumns]]
    sources: tuple[str, ...]  # the first is the one of the summary
    lines: int  # of an application that are used, at most

    def runs(self, folder: Path) -> MatchedRuns:
        """Its matched runs."""
        table, columns = self.load(folder)
        runs = match(table, columns)
        rng = np.random.default_rng(SEED)
        kept = []
        for application in np.unique(runs.applications):
            own = np.flatnonzero(runs.applications == application)
            kept.append(own if len(own) <= self.lines else rng.choice(own, self.lines, False))
        return runs.some(np.sort(np.concatenate(kept)))


def _rodinia(folder: Path) -> tuple[Table, PairColumns]:
    table = read(str(folder / "rodinia_9gpus" / "*.csv.gz"))
    configuration = ("input.size.1", "input.size.2", "grid.x", "grid.y", "block.x", "block.y")
    known = {"device", "name", "kernel", "gpu_name", "duration", *configuration}
    counters = tuple(name for name in table.names if name not in known)
    return table, PairColumns("gpu_name", "name", "duration", configuration, counters)


def _raja(folder: Path) -> tuple[Table, PairColumns]:
    arrow = read(str(folder / "rajaperf_two_machines" / "rajaperf_quartz_lassen.csv")).arrow
    kernel = pc.match_substring(arrow["name"], "_")  # the others are groups of kernels
    tuned = pc.or_(pc.equal(arrow["machine"], "quartz"), pc.equal(arrow["tuning"], "block_256"))
    arrow = arrow.filter(pc.and_(kernel, tuned))
    arrow = arrow.append_column("seconds", pc.divide(arrow["time_s"], arrow["Reps"]))
    counters = (
        *("Bytes/Rep", "Flops/Rep", "Iterations/Rep", "Kernels/Rep", "ProblemSize"),
        *("Retiring", "Frontend bound", "Backend bound", "Bad speculation", "Branch mispredict"),
        *("Machine clears", "Frontend latency", "Frontend bandwidth", "Memory bound"),
        *("Core bound", "External Memory", "L1 bound", "L2 bound", "L3 bound"),
    )
    columns = PairColumns("machine", "name", "seconds", ("ProblemSizeRunParam",), counters)
    return Table.of(arrow), columns


def _multicore(folder: Path) -> tuple[Table, PairColumns]:
    table = read(str(folder / "multicore_time_energy" / "time_energy.csv"))
    return table, PairColumns("machine", "app", "Time[s]", ("Cores",), ("AvgPower[W]",))


def _gavel(folder: Path) -> tuple[Table, PairColumns]:
    arrow = read(str(folder / "gavel_throughputs" / "gavel.csv")).arrow
    arrow = arrow.filter(pc.invert(pc.match_substring(arrow["gpu"], "unconsolidated")))
    configuration = ("batch_size", "scale_factor")
    columns = PairColumns("gpu", "model", "steps_per_s", configuration, throughput=True)
    return Table.of(arrow), columns


def _gemm(folder: Path) -> tuple[Table, PairColumns]:
    arrow = read(str(folder / "kernel_tuner_hub" / "gemm.csv")).arrow
    # The smaller part of a space; the others are exhaustive.
    arrow = arrow.filter(pc.not_equal(arrow["gpu"], "RTX_3060_laptop"))
    tiles = ("MWG", "NWG")
    configuration = (*tiles, "MDIMC", "NDIMC", "MDIMA", "NDIMB", "VWM", "VWN", "SA", "SB")
    return _tiled(arrow, tiles, configuration)


def _convolution(folder: Path) -> tuple[Table, PairColumns]:
    arrow = read(str(folder / "kernel_tuner_hub" / "convolution_milo.csv")).arrow
    arrow = arrow.filter(pc.equal(arrow["valid"], 1))
    tiles = ("block_size_x",)
    flags = ("read_only", "use_padding", "use_shmem")
    configuration = (*tiles, "block_size_y", "tile_size_x", "tile_size_y", *flags)
    return _tiled(arrow, tiles, configuration)


def _tiled(
    arrow: pa.Table, tiles: Sequence[str], configuration: tuple[str, ...]
) -> tuple[Table, PairColumns]:
    texts = [pc.cast(arrow[name], pa.large_string()) for name in tiles]
    arrow = arrow.append_column(
        "tiles", pc.binary_join_element_wise(*texts, pa.scalar("x", pa.large_string()))
    )
    return Table.of(arrow), PairColumns("gpu", "tiles", "time_ms", configuration)


CASES = (
    Case("rodinia", _rodinia, ("GTX-680", "Tesla-K40", "Tesla-P100"), 100),
    Case("raja", _raja, ("quartz", "lassen"), 10),
    Case("multicore", _multicore, ("amd", "arm", "xeon", "i7", "pi3"), 100),
    Case("gavel", _gavel, ("k80", "p100", "v100"), 100),
    Case("gemm", _gemm, ("RTX_2080_Ti", "RTX_3090"), 60),
    Case("convolution", _convolution, ("A100", "MI250X"), 60),
)


def folder() -> Path:
    """Where the public tables are."""
    return data_folder()
