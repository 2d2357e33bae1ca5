"""What the states of Slurm mean for a run."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from compass.slurm.commands import AccountedJob


class Meaning(StrEnum):
    """What a state says about a job."""

    WAITS = "waits"
    RUNS = "runs"
    ENDED = "ended"  # by itself: its result is in its folder, or will be soon
    FAILED = "failed"  # by what its configuration asked for: time, memory
    LOST = "lost"  # by the machine or the scheduler, which may start it again
    CANCELLED = "cancelled"


def _states(words: str, meaning: Meaning) -> dict[str, Meaning]:
    return dict.fromkeys(words.split(), meaning)


_MEANINGS: Mapping[str, Meaning] = {
    **_states("PENDING CONFIGURING REQUEUED REQUEUE_FED REQUEUE_HOLD SPECIAL_EXIT", Meaning.WAITS),
    **_states("RESV_DEL_HOLD POWER_UP_NODE", Meaning.WAITS),
    **_states("RUNNING SUSPENDED STOPPED SIGNALING RESIZING STAGE_OUT", Meaning.RUNS),
    **_states("COMPLETED COMPLETING FAILED LAUNCH_FAILED", Meaning.ENDED),
    **_states("TIMEOUT OUT_OF_MEMORY", Meaning.FAILED),
    **_states("NODE_FAIL BOOT_FAIL PREEMPTED DEADLINE REVOKED RECONFIG_FAIL", Meaning.LOST),
    **_states("CANCELLED", Meaning.CANCELLED),
}
REASONS = {
    "TIMEOUT": "ended by Slurm at its time limit (TIMEOUT)",
    "OUT_OF_MEMORY": "ended by Slurm: it needed more memory than it was given (OUT_OF_MEMORY)",
    "NODE_FAIL": "its node failed (NODE_FAIL)",
    "BOOT_FAIL": "its node did not start (BOOT_FAIL)",
    "PREEMPTED": "another job took its place (PREEMPTED)",
    "DEADLINE": "Slurm ended it at its deadline (DEADLINE)",
    "REVOKED": "another cluster took it (REVOKED)",
}


def meaning(state: str) -> Meaning:
    """What a state of squeue or sacct says; one that is not known is taken for a running one."""
    return _MEANINGS.get(state, Meaning.RUNS)


def accounted_states(rows: Sequence[AccountedJob]) -> dict[str, str]:
    """The state of each job or task, from the rows of sacct, its steps included.

    The last row of a job counts, for one that was requeued has several. A step that was out of
    memory says more than the job, which only failed then. Tasks that have not begun are one row,
    `4711_[3-9]`; it counts as that of the job.
    """
    found: dict[str, str] = {}
    for row in rows:
        job, point, _ = row.id.partition("_[")[0].partition(".")
        beaten = found.get(job) in ("FAILED", "COMPLETED") and row.state == "OUT_OF_MEMORY"
        if not point or beaten:
            found[job] = row.state
    return found


def state_of(job: str, *known: Mapping[str, str]) -> str:
    """The state of a job or task in the first of these that has one; empty: none has.

    Tasks that were ended before they began are shown as their whole array.
    """
    array = job.partition("_")[0]
    found = (states.get(name) for states in known for name in (job, array))
    return next(filter(None, found), "")
