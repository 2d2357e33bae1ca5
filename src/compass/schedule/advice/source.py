"""Past jobs from where people have them: Slurm itself, a dump of sacct, a table."""

from pathlib import Path

import pyarrow as pa

from compass.domain.errors import BadInput
from compass.readers import files, read
from compass.readers.sacct import Sacct
from compass.schedule.advice.jobs import COLUMNS, Jobs, jobs_of_table


def past_jobs(source: str) -> Jobs:
    """The jobs that a file or Slurm tells; of a dump only the columns that matter are read."""
    table = table_of(source)
    # What reading used is given back before a model is learnt: it is as large as the jobs.
    pa.default_memory_pool().release_unused()
    jobs = jobs_of_table(table)
    del table
    pa.default_memory_pool().release_unused()
    return jobs


def table_of(source: str, *, whole: bool = False) -> pa.Table:
    """The accounting that a file or Slurm tells; `whole`: all columns of a dump."""
    if source.startswith("sacct:"):
        return read(source).arrow
    path = Path(source)
    if not path.exists():
        raise BadInput(
            f"there is no file {source}",
            hint="a dump of `sacct --parsable2 --format=ALL`, a table, or sacct:-S 2026-01-01",
        )
    if path.is_file():
        reader = files.reader_for(path)
        if isinstance(reader, Sacct):
            return reader.read(path, wanted=None if whole else COLUMNS)
    return read(source).arrow
