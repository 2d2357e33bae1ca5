"""What somebody pastes to ask about: the number of a job, lines of `sacct`, or a job script."""

import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from compass.domain.advice import Advice
from compass.domain.errors import BadInput, CompassError
from compass.readers.sacct import Sacct
from compass.schedule.advice.advisor import Advisor
from compass.schedule.advice.jobs import COLUMNS, Jobs, application_of, jobs_of_table
from compass.slurm.request import request_of_text

_NUMBER = re.compile(r"(\d+(?:[_+]\d+)?)(?:\.\w+)?")  # of a job, or of a step of it
_SCRIPT = re.compile(r"^#(SBATCH\b|!)", re.MULTILINE)
_RULED = re.compile(r"-{2,}(\s+-{2,})*\s*")  # below the header of what sacct prints by itself
_MOST = 20  # kinds of jobs that are told


def advice_on(advisor: Advisor, text: str, user: str | None = None) -> list[Advice]:
    """What the job, the lines of accounting or the script in a text should ask for.

    `user`: who submits it, where the text does not say. Jobs that are among the past ones are
    taken as they are known there.
    """
    text = text.strip()
    number = _NUMBER.fullmatch(text)
    if number is not None:
        return [advisor.of_job(number[1])]
    if _SCRIPT.search(text):
        return [advisor.of_request(request_of_text(text, None, user), "the job script")]
    jobs = _jobs(text)
    users = np.array([user if name is None else name for name in jobs.user], dtype=object)
    jobs = _latest_of_each_kind(replace(jobs, user=users))
    found = []
    for row, job in enumerate(jobs.id.tolist()):
        known = bool((advisor.past.id == job).any())
        one = jobs.take(np.array([row]))
        found.append(advisor.of_job(job) if known else advisor.of_jobs(one)[0])
    return found


def _jobs(text: str) -> Jobs:
    """The jobs of pasted lines, read as a dump is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pasted"
        path.write_text(_with_bars(text) + "\n", encoding="utf-8", errors="replace")
        try:
            table = Sacct().read(path, wanted=COLUMNS)
            if (
                "Elapsed" not in table.column_names
            ):  # of a job that is asked about, it is not needed
                nothing = pa.nulls(table.num_rows, pa.float64())
                table = table.append_column("Elapsed", nothing)
            jobs = jobs_of_table(table)
        except CompassError:
            jobs = None
    if not jobs:
        raise BadInput(
            "this is neither the number of a job nor lines of sacct nor a job script",
            hint="paste 4711, a script with its #SBATCH lines, or what this prints, with its "
            "first line: sacct -j 4711 --parsable2 --format=ALL",
        )
    return jobs


def _with_bars(text: str) -> str:
    """Lines as `sacct --parsable2` prints them; those in columns of a fixed width are cut."""
    lines = text.splitlines()
    if len(lines) < 2 or not _RULED.fullmatch(lines[1].strip()):
        return text
    spans = [found.span() for found in re.finditer(r"-+", lines[1])]
    names = lines[0].split()  # which have no spaces: the line may have lost those before it
    rows = [[line[a:b].strip() for a, b in spans] for line in lines[2:]]
    return "\n".join("|".join(cells) for cells in (names, *rows))


def _latest_of_each_kind(jobs: Jobs) -> Jobs:
    kinds = {
        (user, application_of(name)): row
        for row, (user, name) in enumerate(zip(jobs.user, jobs.name, strict=True))
    }
    return jobs.take(np.array(sorted(kinds.values())[-_MOST:], dtype=np.int64))
