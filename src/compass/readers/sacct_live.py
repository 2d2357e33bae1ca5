"""Reads the accounting of the Slurm at hand: `sacct:` or `sacct:-S 2026-01-01 -u me`."""

from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.domain.errors import BadInput, DataProblem
from compass.slurm.commands import accounting, accounting_options


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
        jobs = accounting(accounting_options(text), f"sacct:{text}")
        if jobs is None:
            raise DataProblem(
                f"sacct lists no jobs for '{text}'" if text else "sacct lists no jobs",
                hint="it starts at midnight unless told since when: sacct:-S 2026-01-01",
            )
        return jobs
