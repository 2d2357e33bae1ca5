"""Reads the accounting of the Slurm at hand: `sacct:` or `sacct:-S 2026-01-01 -u me`."""

import getopt
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO

import pyarrow as pa

from compass import registry
from compass.domain.errors import BadInput, DataProblem, EnvironmentProblem
from compass.readers.sacct import Layout, carefully, quickly
from compass.readers.sacct_cells import jobs_of

# What is asked for, as far as the version at hand has it. A break in the one free text must
# leave a short line, so it is not last.
_WISHED = (
    "JobID JobIDRaw JobName Cluster Account User Group Partition QOS State ExitCode "
    "DerivedExitCode Reason Submit Eligible Start End Elapsed CPUTimeRAW TotalCPU UserCPU "
    "SystemCPU Suspended Timelimit Priority ReqCPUS AllocCPUS ReqNodes AllocNodes NTasks ReqMem "
    "MaxRSS AveRSS MaxVMSize AveVMSize MaxPages AvePages AveCPU MinCPU AveCPUFreq MaxDiskRead "
    "AveDiskRead MaxDiskWrite AveDiskWrite ConsumedEnergyRaw ReqTRES AllocTRES TRESUsageInMax "
    "TRESUsageInAve TRESUsageInTot NodeList Constraints"
)
WISHED = tuple(_WISHED.split())
_SEPARATOR = "\x1f"  # a job's name may hold any character that people type

# Options that choose jobs. Those that change the form of the output, or read files, are not here.
_SHORT = "S:E:u:A:r:s:j:aM:LN:q:k:K:i:I:g:DTW:x:C:F:R:X"
_LONG = (
    "starttime= endtime= user= uid= accounts= account= partition= state= jobs= allusers clusters= "
    "allclusters nodelist= qos= timelimit-min= timelimit-max= nnodes= ncpus= name= gid= group= "
    "duplicates truncate wckeys= associations= constraints= flags= reason= allocations federation "
    "local array"
)


def options_of(text: str) -> list[str]:
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
    options = []
    for name, value in found:
        if name.startswith("--"):
            options.append(f"{name}={value}" if value else name)
        else:
            options.append(f"{name}{value}")
    return options


@registry.add("reader", "sacct-live")
class SacctLive:
    """The jobs that `sacct` lists now: `sacct:-S 2026-01-01 -u me`."""

    name = "sacct-live"
    suffixes: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ("sacct",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Never: this is no file."""
        del path, head
        return False

    def read(self, path: Path) -> pa.Table:
        """A file is not what this reader reads."""
        raise BadInput(
            f"{path} is a file, and sacct-live asks Slurm itself",
            hint="for a file choose the reader sacct; for Slurm say sacct:-S 2026-01-01",
        )

    def fetch(self, text: str) -> pa.Table:
        """One row per job that sacct lists with these options; time stamps are UTC."""
        options = options_of(text)
        program = shutil.which("sacct")
        if program is None:
            raise EnvironmentProblem(
                "sacct is not installed here",
                hint="read on a machine of the cluster, or copy the output of "
                "`sacct --parsable2 --format=ALL` here and read the file",
            )
        fields = _fields(program)
        form = ("--parsable2", "--noheader", f"--delimiter={_SEPARATOR}")
        command = [program, *form, f"--format={','.join(fields)}", *options]
        layout = Layout(_SEPARATOR, fields, 0, False)
        cells = _printed(command, layout, f"sacct:{text}")
        if not cells.num_rows:
            raise DataProblem(
                f"sacct lists no jobs for '{text}'" if text else "sacct lists no jobs",
                hint="it starts at midnight unless told since when: sacct:-S 2026-01-01",
            )
        return jobs_of(dict(zip(fields, cells.columns, strict=True)), "sacct")


def _fields(program: str) -> tuple[str, ...]:
    """The wished columns that this version of Slurm has."""
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(  # noqa: S603  (no shell, fixed options)
            [program, "--helpformat"], stdout=subprocess.PIPE, stderr=said, check=False
        )
        if done.returncode:
            raise _refused(said)
    known = {name.lower() for name in done.stdout.decode(errors="replace").split()}
    return tuple(name for name in WISHED if name.lower() in known)


def _printed(command: list[str], layout: Layout, where: str) -> pa.Table:
    """The cells that the command prints, read while it prints."""
    # Seconds since 1970 do not depend on the time zone.
    env = {**os.environ, "SLURM_TIME_FORMAT": "%s"}
    for careful in (False, True):
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(  # noqa: S603  (no shell, checked options)
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, env=env
            )
            assert process.stdout is not None
            try:
                stream = pa.PythonFile(process.stdout, "r")
                first = process.stdout.peek(1)  # type: ignore[attr-defined]
                if not first:
                    cells: pa.Table | None = _nothing(layout)
                elif careful:
                    cells = carefully(stream, layout, where)
                else:
                    cells = quickly(stream, layout)
                    process.stdout.read()  # it must not wait for us
                code = process.wait()
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
            if code:
                raise _refused(said)
            if cells is not None:
                return cells
    raise AssertionError("reading carefully returns or raises")


def _nothing(layout: Layout) -> pa.Table:
    empty = pa.array([], pa.large_string())
    return pa.table([empty for _ in layout.names], names=list(layout.names))


def _refused(said: IO[bytes]) -> EnvironmentProblem | DataProblem:
    said.seek(0)
    text = said.read(4000).decode(errors="replace").strip()
    line = next((line for line in text.splitlines() if line.strip()), "it gives no reason")
    if "accounting storage is disabled" in text.lower():
        return EnvironmentProblem(
            "this Slurm keeps no accounting",
            hint="ask the administrators for AccountingStorageType=accounting_storage/slurmdbd",
        )
    low = text.lower()
    if any(word in low for word in ("configuration source", "connection refused", "unable to")):
        return EnvironmentProblem(f"sacct does not reach Slurm: {line}", hint="does sinfo answer?")
    return DataProblem(f"sacct refuses: {line}", hint="try the same options with sacct itself")
