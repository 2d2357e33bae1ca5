"""Reads what `sacct --parsable2` (or `--parsable`) printed: one row per job."""

import codecs
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files
from compass.slurm.cells import TextAfterAll, jobs_of
from compass.slurm.fields import COMMON, FIELDS
from compass.slurm.owners import JOB_IDS
from compass.slurm.text import (
    DumpLayout,
    NotAlike,
    cells_carefully,
    cells_quickly,
    cut,
    is_slurm_form,
    layout_of,
)

_SAMPLE_LINES = 60


def _start(head: bytes) -> tuple[str, DumpLayout | None]:
    """The first bytes of a file as text, and the layout that they tell; None: no dump."""
    text = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode(head)
    return text, layout_of(text) if b"\x00" not in head else None


@registry.add("reader", "sacct")
class Sacct:
    """Slurm accounting as `sacct --parsable2` prints it; steps are joined to their jobs."""

    name = "sacct"
    suffixes: tuple[str, ...] = (".sacct", ".csv", ".psv")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Columns named as sacct names them, and cells in Slurm's own forms."""
        del path
        text, layout = _start(head)
        if layout is None:
            return False
        lines = text.lstrip("\ufeff").splitlines()
        if not any(name in JOB_IDS for name in layout.names):
            own = [n for n in layout.names if n.lower() in FIELDS and n.lower() not in COMMON]
            if layout.separator != "|" or len(own) < 3:
                return False
        elif layout.separator != "|" and all(
            name.lower() in COMMON or name.lower() not in FIELDS for name in layout.names
        ):
            return False
        sample = [cut(line, layout.separator)[0] for line in lines[layout.skip : _SAMPLE_LINES]]
        return any(
            is_slurm_form(name, cell)
            for cells in sample
            for name, cell in zip(layout.names, cells, strict=False)
        )

    def read(self, path: Path, wanted: Collection[str] | None = None) -> pa.Table:
        """One row per job, times in seconds and memory in bytes; of the `wanted` columns."""
        start = files.head(path)
        if not start.strip():
            raise files.empty(path)
        _, layout = _start(start)
        if layout is None:
            raise DataProblem(
                f"{path} is not a dump of sacct",
                hint="keep the header line: sacct --parsable2 without --noheader",
            )
        if wanted is not None:
            layout = replace(layout, wanted=frozenset(wanted))
        return _jobs(path, layout)


def _jobs(path: Path, layout: DumpLayout) -> pa.Table:
    """The jobs of a dump: read again line by line, or with text for moments, where it must be."""
    where, as_text, alike = str(path), frozenset[str](), True
    while True:
        with files.opened(path) as stream:
            cells = cells_quickly if alike else partial(cells_carefully, where=where)
            try:
                with closing(cells(stream, layout)) as rows:
                    return jobs_of(rows, where, as_text)
            except NotAlike:
                alike = False
            except TextAfterAll as column:
                as_text |= {column.name}
