"""Ways to change the jobs of a trace that need no code: a factor, or a table of advice."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from compass.domain.errors import BadInput, DataProblem
from compass.readers import Table, read
from compass.schedule.job import Job, Reconfigure
from compass.schedule.law import FittedLaw, fitted_laws

_APPLICATION = ("application", "app", "JobName", "benchmark", "program")
_NODES = ("nodes", "nnodes", "num_nodes", "NNodes")
_RUNTIME = ("runtime", "runtime_s", "run_time", "elapsed_s", "time", "app_time_s", "Elapsed")
_INPUT = ("input", "case", "size", "problem")


def scaled(factor: float) -> Reconfigure:
    """Every job on so many times its nodes, at least one."""
    if not 0 < factor < 1000:
        raise BadInput(f"nodes times {factor:g}", hint="a factor above 0, such as 0.5")
    return lambda job: job.on(max(1, round(job.nodes * factor)))


def advised(source: Any) -> Reconfigure:
    """What a table says of some jobs: the columns `job`, `nodes` and, if it likes, `limit` in s."""
    table = read(source)
    for name in ("job", "nodes"):
        if name not in table.names:
            raise DataProblem(
                f"the table of changed jobs has no column {name}",
                hint="its columns are job, nodes and perhaps limit (in s)",
            )
    jobs = [str(one) for one in table.column("job").to_pylist()]
    nodes = _numbers(table, "nodes")
    limits = _numbers(table, "limit") if "limit" in table.names else np.full(len(jobs), np.nan)
    if not (np.isfinite(nodes).all() and (nodes >= 1).all() and (nodes == nodes.round()).all()):
        raise DataProblem("a changed job asks for whole numbers of nodes", hint="1 or more")
    told: Mapping[str, tuple[float, float]] = {
        job: (n, limit) for job, n, limit in zip(jobs, nodes.tolist(), limits.tolist(), strict=True)
    }

    def change(job: Job) -> Job:
        if job.job not in told:
            return job
        asked, limit = told[job.job]
        return job.on(int(asked), job.limit if np.isnan(limit) else limit)

    return change


def read_laws(source: Any) -> dict[str, FittedLaw]:
    """The law of each application in a table of scaling runs: application, nodes, runtime, input.

    Runs of one application are compared where they have the same input.
    """
    table = read(source)
    case = _found(table, _INPUT)
    return fitted_laws(
        [str(one) for one in table.column(_needed(table, _APPLICATION)).to_pylist()],
        _numbers(table, _needed(table, _NODES)),
        _numbers(table, _needed(table, _RUNTIME)),
        None if case is None else [str(one) for one in table.column(case).to_pylist()],
    )


def _needed(table: Table, names: tuple[str, ...]) -> str:
    found = _found(table, names)
    if found is None:
        raise DataProblem(
            f"the table of scaling runs has no column {names[0]}",
            hint="its columns are application, nodes, runtime and perhaps input",
        )
    return found


def _found(table: Table, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in table.names), None)


def _numbers(table: Table, name: str) -> Any:
    try:
        return pc.cast(table.column(name), "float64").to_numpy()
    except ValueError:
        raise DataProblem(f"the column {name} holds more than numbers", hint="") from None
