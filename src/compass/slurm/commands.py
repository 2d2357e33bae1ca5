"""Runs the commands of Slurm: sbatch, squeue, sacct and scancel."""

import getopt
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from compass.domain.errors import BadInput, DataProblem, EnvironmentProblem
from compass.slurm import units
from compass.slurm.cells import TextAfterAll, jobs_of
from compass.slurm.text import DumpLayout, NotAlike, cells_carefully, cells_quickly

_SECONDS = 120.0  # for a command that answers at once unless Slurm is in trouble

# What is asked for, as far as the version at hand has it. A break in the one free text must
# leave a short line, so it is not last.
_ACCOUNTING_FIELDS = (
    "JobID JobIDRaw JobName Cluster Account User Group Partition QOS State ExitCode "
    "DerivedExitCode Reason Submit Eligible Start End Elapsed CPUTimeRAW TotalCPU UserCPU "
    "SystemCPU Suspended Timelimit Priority ReqCPUS AllocCPUS ReqNodes AllocNodes NTasks ReqMem "
    "MaxRSS AveRSS MaxVMSize AveVMSize MaxPages AvePages AveCPU MinCPU AveCPUFreq MaxDiskRead "
    "AveDiskRead MaxDiskWrite AveDiskWrite ConsumedEnergyRaw ReqTRES AllocTRES TRESUsageInMax "
    "TRESUsageInAve TRESUsageInTot NodeList Constraints"
)
ACCOUNTING_FIELDS = tuple(_ACCOUNTING_FIELDS.split())
_NO_ACCOUNTING = "accounting storage is disabled"
_SEPARATOR = "\x1f"  # a job's name may hold any character that people type

# Options that choose jobs. Those that change the form of the output, or read files, are not here.
_SHORT = "S:E:u:A:r:s:j:aM:LN:q:k:K:i:I:g:DTW:x:C:F:R:X"
_LONG = (
    "starttime= endtime= user= uid= accounts= account= partition= state= jobs= allusers clusters= "
    "allclusters nodelist= qos= timelimit-min= timelimit-max= nnodes= ncpus= name= gid= group= "
    "duplicates truncate wckeys= associations= constraints= flags= reason= allocations federation "
    "local array"
)


def refusal_of_job(script: str, options: Sequence[str] = ()) -> str:
    """Why Slurm would not take this job script; empty if it would."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.sh"
        file.write_text(script)
        done = _run("sbatch", "--test-only", *options, str(file))
    return _last_complaint(done) if done.returncode else ""


def submit_job(script: Path, options: Sequence[str], held: Sequence[int] = ()) -> str:
    """Hand in a job script; the number of the job. `held` are handles that sbatch keeps open."""
    done = _run("sbatch", "--parsable", *options, str(script), held=held)
    number = done.stdout.strip().partition(";")[0]
    if done.returncode or not number.isdecimal():
        raise EnvironmentProblem(
            f"Slurm does not take the job: {_last_complaint(done)}",
            hint="see sinfo for the partitions and their limits",
        )
    return number


def cancel_jobs(jobs: Sequence[str]) -> None:
    """End these jobs; those that have ended already stay as they are."""
    done = _run("scancel", "--quiet", *jobs)
    if done.returncode and "nvalid job id" not in done.stderr:
        raise EnvironmentProblem(
            f"scancel refuses: {_last_complaint(done)}", hint="does sinfo answer?"
        )


@dataclass(frozen=True)
class QueuedJob:
    """A job or a task of an array as squeue shows it; ended ones stay there for some minutes."""

    id: str  # 4711, or 4711_3
    state: str
    reason: str
    name: str


def queue_of_person() -> list[QueuedJob]:
    """The jobs of this person that squeue knows, tasks of arrays one by one."""
    form = ("--noheader", "--array", "--states=all", "--format=%i|%T|%r|%j")
    done = _run("squeue", *form, f"--user={os.getuid()}")
    if done.returncode:
        raise EnvironmentProblem(
            f"squeue does not answer: {_last_complaint(done)}", hint="does sinfo answer?"
        )
    rows = (line.strip().split("|", 3) for line in done.stdout.splitlines())
    return [QueuedJob(*row) for row in rows if len(row) == 4]


@dataclass(frozen=True)
class AccountedJob:
    """A job, a task of an array or a step (`4711.batch`) as sacct shows it."""

    id: str
    state: str  # one word; who cancelled it is left out
    exit_code: str


def accounted_jobs(options: Sequence[str]) -> list[AccountedJob]:
    """What sacct knows of jobs and their steps; of one that was requeued, its last time.

    A Slurm without accounting knows of none.
    """
    done = _run("sacct", "--parsable2", "--noheader", "--format=JobID,State,ExitCode", *options)
    if _NO_ACCOUNTING in done.stderr.lower():
        return []
    if done.returncode:
        raise _refused(done.stderr)
    rows = (line.split("|") for line in done.stdout.splitlines())
    return [
        AccountedJob(row[0], units.state(row[1]) or "", row[2]) for row in rows if len(row) == 3
    ]


def _last_complaint(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return re.sub(r"^s\w+: (?:error: )?", "", lines[-1])


def states_of_jobs(jobs: Sequence[str]) -> list[str]:
    """The states and reasons that squeue shows for these jobs, each once; ended ones have none."""
    done = _run("squeue", "--noheader", "--jobs", ",".join(jobs), "--format", "%T, %r")
    return sorted(set(filter(None, (line.strip() for line in done.stdout.splitlines()))))


def accounting_options(text: str) -> list[str]:
    """The options for sacct that a person wrote after `sacct:`."""
    try:
        found, rest = getopt.gnu_getopt(shlex.split(text), _SHORT, _LONG.split())
    except (getopt.GetoptError, ValueError) as problem:
        raise BadInput(
            f"sacct:{text} cannot be used: {problem}",
            hint="options that choose jobs are allowed: -S -E -u -A -r -s -j -a -M -N -q ...",
        ) from problem
    if rest:
        raise BadInput(
            f"sacct:{text} cannot be used: '{rest[0]}' is not an option",
            hint="for example sacct:-S 2026-01-01 -u me",
        )
    return [f"{n}={value}" if value and n.startswith("--") else n + value for n, value in found]


def accounting(options: Sequence[str], where: str) -> pa.Table | None:
    """The jobs that sacct prints for these options, None if there are none; time stamps are UTC.

    `where` is what messages call them.
    """
    program = shutil.which("sacct")
    if program is None:
        raise EnvironmentProblem(
            "sacct is not installed here",
            hint="read on a machine of the cluster, or copy the output of "
            "`sacct --parsable2 --format=ALL` here and read the file",
        )
    fields = _known_fields()
    form = ("--parsable2", "--noheader", f"--delimiter={_SEPARATOR}")
    command = [program, *form, f"--format={','.join(fields)}", *options]
    return _printed(command, DumpLayout(_SEPARATOR, fields, 0, False), where)


def _known_fields() -> tuple[str, ...]:
    """The fields for `sacct --format` that this version of Slurm has."""
    done = _run("sacct", "--helpformat")
    if done.returncode:
        raise _refused(done.stderr)
    known = {name.lower() for name in done.stdout.split()}
    return tuple(name for name in ACCOUNTING_FIELDS if name.lower() in known)


def _printed(command: list[str], layout: DumpLayout, where: str) -> pa.Table | None:
    """The jobs that the command prints, read while it prints: years of jobs take minutes."""
    # Seconds since 1970 do not depend on the time zone.
    env = {**os.environ, "SLURM_TIME_FORMAT": "%s"}
    cells, as_text = cells_quickly, frozenset[str]()
    while True:
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(  # noqa: S603  (no shell, checked options)
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=env
            )
            assert process.stdout is not None
            try:
                jobs = None
                stream = pa.PythonFile(process.stdout, "r")
                if process.stdout.peek(1):  # type: ignore[attr-defined]
                    with closing(cells(stream, layout)) as rows:
                        jobs = jobs_of(rows, where, as_text)
                process.stdout.read()  # it must not wait for us
                code = process.wait()
            except NotAlike:
                cells = partial(cells_carefully, where=where)
                continue
            except TextAfterAll as column:
                as_text |= {column.name}
                continue
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
            if code:
                errors.seek(0)
                raise _refused(errors.read(4000).decode(errors="replace"))
            return jobs


def _refused(text: str) -> EnvironmentProblem | DataProblem:
    lines = text.strip().splitlines()
    line, low = lines[0] if lines else "it gives no reason", text.lower()
    if _NO_ACCOUNTING in low:
        return EnvironmentProblem(
            "this Slurm keeps no accounting",
            hint="ask the administrators for AccountingStorageType=accounting_storage/slurmdbd",
        )
    if any(word in low for word in ("configuration source", "connection refused", "unable to")):
        return EnvironmentProblem(f"sacct does not reach Slurm: {line}", hint="does sinfo answer?")
    return DataProblem(f"sacct refuses: {line}", hint="try the same options with sacct itself")


def _run(*command: str, held: Sequence[int] = ()) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  (no shell)
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
            pass_fds=held,
        )
    except FileNotFoundError:
        raise EnvironmentProblem(
            f"there is no Slurm here: {command[0]} is not found",
            hint="run this on a login node of the cluster",
        ) from None
    except subprocess.TimeoutExpired:
        raise EnvironmentProblem(
            f"{command[0]} gave no answer within {_SECONDS:.0f} s", hint="does sinfo answer?"
        ) from None
