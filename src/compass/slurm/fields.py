"""The columns that `sacct` can print: what each holds, in which unit, and how steps join a job."""

from collections.abc import Callable
from dataclasses import dataclass

from compass.slurm import units


@dataclass(frozen=True)
class Field:
    """A column of `sacct`. `kind` says how its cells are written; `join` what steps add to a job.

    Kinds: text, number, moment, state, exit, memory (a request), resources (a TRES text), left
    (left out). Joins: own (the job's own row tells), max, min, sum (over the steps).
    """

    name: str
    kind: str = "text"
    unit: str | None = None
    join: str = "own"
    parse: Callable[[str], float | None] = units.size


FIELDS: dict[str, Field] = {}


def _add(
    names: str,
    kind: str,
    unit: str | None = None,
    join: str = "own",
    parse: Callable[[str], float | None] = units.size,
) -> None:
    for name in names.split():
        FIELDS[name.lower()] = Field(name, kind, unit, join, parse)


_add(
    "JobID JobIDRaw JobName Account AdminComment AssocID BlockID Cluster Comment Constraints "
    "Container DBIndex Extra FailedNode Flags GID Group Layout Licenses McsLabel NodeList "
    "Partition QOS QOSRAW QOSREQ Reason ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin "
    "Reservation ReservationId ReqGRES AllocGRES SLUID StdErr StdIn StdOut SubmitLine "
    "SystemComment UID User WCKey WCKeyID WorkDir",
    "text",
)
_add(
    "MaxDiskReadNode MaxDiskReadTask MaxDiskWriteNode MaxDiskWriteTask MaxPagesNode MaxPagesTask "
    "MaxRSSNode MaxRSSTask MaxVMSizeNode MaxVMSizeTask MinCPUNode MinCPUTask "
    "TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMinNode TRESUsageInMinTask "
    "TRESUsageOutMaxNode TRESUsageOutMaxTask TRESUsageOutMinNode TRESUsageOutMinTask",
    "left",
)
_add(
    "Elapsed CPUTime TotalCPU UserCPU SystemCPU Reserved Planned ResvCPU PlannedCPU Suspended "
    "Timelimit ElapsedRaw CPUTimeRAW ResvCPURAW PlannedCPURAW",
    "number",
    "s",
    parse=units.seconds,
)
_add("TimelimitRaw", "number", "min", parse=units.amount)
_add("AveCPU", "number", "s", "max", units.seconds)
_add("MinCPU", "number", "s", "min", units.seconds)
_add(
    "MaxRSS AveRSS MaxVMSize AveVMSize MaxDiskRead AveDiskRead MaxDiskWrite AveDiskWrite",
    "number",
    "B",
    "max",
)
_add("MaxPages AvePages NTasks", "number", None, "max")
_add("AllocCPUS NCPUS ReqCPUS AllocNodes NNodes ReqNodes Priority Restarts", "number")
_add("ConsumedEnergy ConsumedEnergyRaw", "number", "J", "sum", units.amount)
_add("AveCPUFreq", "number", "kHz", "max", units.amount)
_add("Submit Eligible Start End", "moment")
_add("State", "state")
_add("ExitCode DerivedExitCode", "exit")
_add("ReqMem", "memory", "B")
_add("AllocTRES ReqTRES", "resources")
_add(
    "TRESUsageInAve TRESUsageInMax TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutTot",
    "resources",
    join="max",
)
_add("TRESUsageInMin TRESUsageOutMin", "resources", join="min")

# Text that a person or program chose: only these may hold the separator or a line break.
FREE_TEXT = (
    *("JobName", "SubmitLine", "Comment", "AdminComment", "SystemComment", "Extra", "WorkDir"),
    *("StdErr", "StdIn", "StdOut", "Constraints", "Reason", "WCKey", "Container"),
)

# Names that other tables use too: they are no sign of Slurm.
_COMMON = (
    "account cluster comment constraints container elapsed eligible end extra flags gid group "
    "jobid jobname licenses partition priority qos reason reservation start state submit "
    "suspended uid user workdir exitcode timelimit layout stderr stdin stdout planned "
    "reserved restarts"
)
COMMON = frozenset(_COMMON.split())

# What a TRES usage text tells that a column of its own tells as well.
USAGE_NAMES = {
    ("TRESUsageInMax", "mem"): "MaxRSS",
    ("TRESUsageInMax", "vmem"): "MaxVMSize",
    ("TRESUsageInMax", "pages"): "MaxPages",
    ("TRESUsageInMax", "fs/disk"): "MaxDiskRead",
    ("TRESUsageOutMax", "fs/disk"): "MaxDiskWrite",
    ("TRESUsageInAve", "cpu"): "AveCPU",
    ("TRESUsageInAve", "mem"): "AveRSS",
    ("TRESUsageInAve", "vmem"): "AveVMSize",
    ("TRESUsageInAve", "pages"): "AvePages",
    ("TRESUsageInAve", "fs/disk"): "AveDiskRead",
    ("TRESUsageOutAve", "fs/disk"): "AveDiskWrite",
    ("TRESUsageInMin", "cpu"): "MinCPU",
    ("TRESUsageInTot", "mem"): "memory_used",
}

# What a dump without a header line may hold: the order of known commands.
_PLAIN = "JobID JobName Partition Account AllocCPUS State ExitCode"  # sacct without --format
_XDMOD = (  # Open XDMoD's slurm-helper
    "JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start End "
    "Elapsed ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit NodeList "
    "JobName"
)
LAYOUTS: tuple[tuple[str, ...], ...] = (tuple(_PLAIN.split()), tuple(_XDMOD.split()))
