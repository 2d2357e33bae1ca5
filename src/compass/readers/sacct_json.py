"""Reads what `sacct --json` printed: the columns of the `sacct` reader."""

import codecs
from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.readers import files
from compass.slurm.json_jobs import is_job_list, jobs_of_json


@registry.add("reader", "sacct-json")
class SacctJson:
    """Slurm accounting as `sacct --json` prints it."""

    name = "sacct-json"
    suffixes: tuple[str, ...] = (".json",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """A JSON object with a list of jobs that have steps."""
        del path
        text = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode(head).lstrip()
        return is_job_list(text)

    def read(self, path: Path) -> pa.Table:
        """One row per job, times in seconds and memory in bytes."""
        if not files.head(path).strip():
            raise files.empty(path)
        with files.opened(path) as stream:
            try:
                return jobs_of_json(stream, str(path))
            except OSError as problem:
                raise files.cannot_inflate(path, problem) from problem
