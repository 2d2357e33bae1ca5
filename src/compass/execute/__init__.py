"""Where work runs: in this process, in a pool, on a Dask cluster, under MPI or in Slurm jobs."""

from compass.execute.base import Executor, WorkerLost
from compass.execute.open import executor_name, opened
from compass.execute.processors import cores

__all__ = ["Executor", "WorkerLost", "cores", "executor_name", "opened"]
