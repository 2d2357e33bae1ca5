"""Work in Slurm jobs that are submitted for it and end with it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.execute.base import Item, Result
from compass.execute.cluster import (
    EXTRA,
    NO_DASHBOARD,
    check_versions,
    connected,
    on_cluster,
    secret,
)
from compass.execute.options import options_of

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
_PLAIN = re.compile(r"[\w.,:/@+\-]+")  # options become lines of a job script


@registry.add("executor", "slurm")
class Slurm:
    """Slurm jobs: `slurm:jobs=4,cores=2,memory=4GB,time=00:10:00,partition=lab`."""

    name = "slurm"

    def __init__(self, text: str = "") -> None:
        said = _checked(options_of(self.name, text, _DEFAULTS))
        self.workers = int(said["jobs"]) * int(said["cores"])
        self._wait = float(said["wait"])
        self._cluster: Any = None
        self._client: Any = None
        self._folder = ""
        try:
            self._open(said)
        except BaseException:
            self.close()
            raise

    def _open(self, said: dict[str, str]) -> None:
        if shutil.which("sbatch") is None:
            raise EnvironmentProblem(
                "there is no Slurm here: sbatch is not found",
                hint="run this on a login node of the cluster",
            )
        self._folder = _fresh(said["folder"])
        self._cluster = _cluster(said, self._folder)
        _accepted(self._cluster.job_script())
        self._client = connected(self._cluster)
        self._cluster.scale(jobs=int(said["jobs"]))
        self._arrive()
        check_versions(self._client)

    def _arrive(self) -> None:
        """Waits for the first worker."""
        until = time.monotonic() + self._wait
        while not self._client.nthreads():
            if time.monotonic() > until:
                raise EnvironmentProblem(
                    f"no Slurm job began to work within {self._wait:.0f} s ({self._queue()})",
                    hint="ask for less, name another partition, or wait longer: wait=3600",
                )
            time.sleep(0.2)

    def _queue(self) -> str:
        """What Slurm says about the jobs."""
        jobs = [str(job.job_id) for job in self._cluster.workers.values() if job.job_id]
        if not jobs:
            return "none could be submitted"
        said = _call("squeue", "--noheader", "--jobs", ",".join(jobs), "--format", "%T, %r")
        lines = sorted(set(filter(None, (line.strip() for line in said.stdout.splitlines()))))
        return "; ".join(lines) or f"they ended: {self._last_words()}"

    def _last_words(self) -> str:
        """The end of the log of a job that ended too early."""
        logs = [path.read_text(errors="replace") for path in Path(self._folder).glob("*.err")]
        lines = [line for log in logs for line in log.strip().splitlines()[-1:]]
        return lines[0] if lines else "and left no log"

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yields (position in `items`, result) as each is done, in any order."""
        return on_cluster(self._client, work, items, patience=self._wait)

    def close(self) -> None:
        """Ends the jobs: none stays in the queue."""
        for thing in (self._client, self._cluster):
            if thing is not None:
                with suppress(OSError, TimeoutError):
                    thing.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _checked(said: dict[str, str]) -> dict[str, str]:
    for key in _COUNTS:
        if not said[key].isascii() or not said[key].isdigit() or int(said[key]) < 1:
            raise BadInput(
                f"'{said[key]}' is no number for the option {key} of the executor slurm",
                hint=f"write slurm:{key}=4",
            )
    for key, value in said.items():
        if value and _PLAIN.fullmatch(value) is None:
            raise BadInput(
                f"the option {key} of the executor slurm cannot be '{value}'",
                hint="letters, digits and . , : / @ + - _ may stand in it",
            )
    if re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B?", said["memory"], re.IGNORECASE) is None:
        raise BadInput(
            f"'{said['memory']}' is no amount of memory",
            hint="write slurm:memory=4GB",
        )
    return said


def _fresh(place: str) -> str:
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


def _cluster(said: dict[str, str], folder: str) -> Any:
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError as error:
        raise EnvironmentProblem(
            f"the executor slurm needs dask-jobqueue: {error}", hint=EXTRA
        ) from error
    return SLURMCluster(
        cores=int(said["cores"]),
        processes=int(said["cores"]),
        memory=said["memory"],
        walltime=said["time"],
        queue=said["partition"] or None,
        account=said["account"] or None,
        interface=said["interface"] or None,
        python=sys.executable,
        job_name="compass",
        log_directory=folder,
        local_directory=None,
        protocol="tls://",
        security=secret(folder),
        scheduler_options=NO_DASHBOARD,
        silence_logs="critical",
    )


def _accepted(script: str) -> None:
    """Asks Slurm whether it would take the job: a wrong partition is told at once."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.sh"
        file.write_text(script)
        said = _call("sbatch", "--test-only", str(file))
    if said.returncode:
        why = said.stderr.strip().splitlines() or [f"exit code {said.returncode}"]
        raise EnvironmentProblem(
            f"Slurm does not take the job: {why[-1].removeprefix('sbatch: error: ')}",
            hint="see sinfo for the partitions and their limits",
        )


def _call(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
