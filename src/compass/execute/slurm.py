"""The executor `slurm`: Slurm jobs that are submitted for the work and end with it."""

import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.execute.cluster import (
    EXTRA,
    NO_DASHBOARD,
    OnCluster,
    check_versions,
    connected,
    tls_keys,
)
from compass.execute.options import options_of
from compass.slurm.commands import refusal_of_job, states_of_jobs
from compass.slurm.directives import OPTION

_DEFAULTS = {
    "jobs": "1",
    "cores": "1",  # of each job
    "memory": "2GB",  # of each job
    "time": "00:30:00",  # of each job
    "partition": "",
    "account": "",
    "interface": "",  # network between the nodes and here, such as ib0
    "wait": "600",  # seconds until the first job has to run
    "folder": "",  # for logs and keys: all nodes must see it; otherwise one in your home
}
_COUNTS = ("jobs", "cores", "wait")


@registry.add("executor", "slurm")
class Slurm(OnCluster):
    """Slurm jobs: `slurm:jobs=4,cores=2,memory=4GB,time=00:10:00,partition=lab`."""

    name = "slurm"

    def __init__(self, text: str = "") -> None:
        options = _checked(options_of(self.name, text, _DEFAULTS))
        self.workers = int(options["jobs"]) * int(options["cores"])
        self._patience = float(options["wait"])
        self._folder = ""
        try:
            self._open(options)
        except BaseException:
            self.close()
            raise

    def _open(self, options: dict[str, str]) -> None:
        if shutil.which("sbatch") is None:
            raise EnvironmentProblem(
                "there is no Slurm here: sbatch is not found",
                hint="run this on a login node of the cluster",
            )
        self._folder = _new_folder(options["folder"])
        self._cluster = _cluster(options, self._folder)
        if refusal := refusal_of_job(self._cluster.job_script()):
            raise EnvironmentProblem(
                f"Slurm does not take the job: {refusal}",
                hint="see sinfo for the partitions and their limits",
            )
        self._client = connected(self._cluster)
        self._cluster.scale(jobs=int(options["jobs"]))
        self._wait_for_worker()
        check_versions(self._client)

    def _wait_for_worker(self) -> None:
        """Waits for the first worker."""
        until = time.monotonic() + self._patience
        while not self._client.nthreads():
            if time.monotonic() > until:
                raise EnvironmentProblem(
                    f"no Slurm job began to work within {self._patience:.0f} s "
                    f"({self._job_states()})",
                    hint="ask for less, name another partition, or wait longer: wait=3600",
                )
            time.sleep(0.2)

    def _job_states(self) -> str:
        """The states of the jobs, for a message."""
        jobs = [str(job.job_id) for job in self._cluster.workers.values() if job.job_id]
        if not jobs:
            return "none could be submitted"
        return "; ".join(states_of_jobs(jobs)) or f"they ended: {self._end_of_log()}"

    def _end_of_log(self) -> str:
        """The end of the log of a job that ended too early."""
        logs = [path.read_text(errors="replace") for path in Path(self._folder).glob("*.err")]
        lines = [line for log in logs for line in log.strip().splitlines()[-1:]]
        return lines[0] if lines else "and left no log"

    def close(self) -> None:
        """Ends the jobs: none stays in the queue."""
        super().close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _checked(options: dict[str, str]) -> dict[str, str]:
    for key in _COUNTS:
        if not options[key].isascii() or not options[key].isdigit() or int(options[key]) < 1:
            raise BadInput(
                f"'{options[key]}' is no number for the option {key} of the executor slurm",
                hint=f"write slurm:{key}=4",
            )
    for key, value in options.items():
        if value and OPTION.fullmatch(value) is None:
            raise BadInput(
                f"the option {key} of the executor slurm cannot be '{value}'",
                hint="letters, digits and . , : / @ + - _ may stand in it",
            )
    if re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B?", options["memory"], re.IGNORECASE) is None:
        raise BadInput(
            f"'{options['memory']}' is no amount of memory",
            hint="write slurm:memory=4GB",
        )
    return options


def _new_folder(place: str) -> str:
    """A folder for this program alone, where the nodes of the cluster see it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parent = Path(place) if place else cache / "compass"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        return tempfile.mkdtemp(prefix="slurm-", dir=parent.resolve())
    except OSError as error:
        raise EnvironmentProblem(
            f"no folder can be made in {parent}: {error.strerror or error}",
            hint="name one that all nodes see: slurm:folder=/scratch/me",
        ) from error


def _cluster(options: dict[str, str], folder: str) -> Any:
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError as error:
        raise EnvironmentProblem(
            f"the executor slurm needs dask-jobqueue: {error}", hint=EXTRA
        ) from error
    return SLURMCluster(
        cores=int(options["cores"]),
        processes=int(options["cores"]),
        memory=options["memory"],
        walltime=options["time"],
        queue=options["partition"] or None,
        account=options["account"] or None,
        interface=options["interface"] or None,
        python=sys.executable,
        job_name="compass",
        log_directory=folder,
        local_directory=None,
        protocol="tls://",
        security=tls_keys(folder),
        scheduler_options=NO_DASHBOARD,
        silence_logs="critical",
    )
