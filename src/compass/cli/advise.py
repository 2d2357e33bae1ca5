"""`compass advise`: what the next job should ask Slurm for."""

import getpass
import json
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.advice import Advice
    from compass.schedule.advice.advisor import Advisor

_RECENT = "sacct:-S now-90days"


class Form(StrEnum):
    """Forms of advice that workflow systems read."""

    SNAKEMAKE = "snakemake"
    NEXTFLOW = "nextflow"


def advise(
    job: Annotated[
        str | None, flags.argument("JOBID", "A past job; what the next one like it should ask for.")
    ] = None,
    last: Annotated[
        int | None,
        typer.Option("--last", min=1, max=10_000, help="The kinds of jobs among the last so many."),
    ] = None,
    user: Annotated[
        str | None, flags.option("--user", "NAME", "Whose jobs (default: your own).")
    ] = None,
    script: Annotated[
        Path | None, flags.option("--script", "FILE", "A job script that is to be submitted.")
    ] = None,
    past: Annotated[
        str, flags.option("--from", "SOURCE", "Past jobs: sacct:OPTIONS, a dump of it, a table.")
    ] = _RECENT,
    risk: Annotated[
        float, typer.Option("--risk", help="Chance of running out that is accepted.")
    ] = 0.05,
    form: Annotated[
        Form | None, typer.Option("--form", help="Print it for a workflow system instead.")
    ] = None,
    as_json: flags.AsJson = False,
) -> None:
    """What the next job should ask Slurm for: lines to paste, with the chance that they fail.

    Memory and time first, then cores; learnt from accounting, and judged by the similar jobs of the
    same user and application. After a failure: what the next attempt should ask for.
    """
    from compass.schedule.advice.advisor import Advisor
    from compass.schedule.advice.source import past_jobs

    if sum(one is not None for one in (job, last, script)) > 1:
        raise BadInput("JOBID, --last and --script exclude each other", hint="give one of them")
    if not 0.0 < risk < 0.5:
        raise BadInput(f"--risk {risk} is not between 0 and 0.5", hint="for example 0.05")
    found = _advices(Advisor(past_jobs(past), risk), job, last, user, script, dump=past != _RECENT)
    if form is not None:
        from compass.schedule.advice import workflow

        write = workflow.snakemake if form is Form.SNAKEMAKE else workflow.nextflow
        typer.echo(write(found), nl=False)
        return
    if as_json:
        told = [one.model_dump(mode="json") | {"directives": one.directives} for one in found]
        typer.echo(json.dumps(told))
        return
    for one in found:
        _print(one)


def _advices(
    advisor: "Advisor",
    job: str | None,
    last: int | None,
    user: str | None,
    script: Path | None,
    *,
    dump: bool,
) -> "list[Advice]":
    if job is not None:
        return [advisor.of_job(job)]
    if script is not None:
        from compass.slurm.request import request_of_script

        request = request_of_script(script, user or getpass.getuser())
        return [advisor.of_request(request, str(script))]
    # Slurm itself tells a person's own jobs; a dump may be of everybody.
    return advisor.of_last(last or 20, user if user or not dump else None)


def _print(one: "Advice") -> None:
    """The lines to paste first, each with its reason; then what they rest on."""
    application = f" ({one.request.name})" if one.request.name else ""
    typer.echo(f"{safe(one.about + application)}: {one.label.value}, {safe(one.reason)}")
    if one.after_failure:
        typer.echo("  it ran out: this is for the next attempt")
    for edit in one.edits:
        if edit.old is not None:
            typer.echo(f"- #SBATCH --{edit.option}={edit.old}{_chance(edit.risk_before)}")
        typer.echo(f"+ #SBATCH --{edit.option}={edit.new}{_chance(edit.risk)}")
        typer.echo(f"    {safe(edit.why)}")
    for kept in one.kept:
        typer.echo(f"  --{kept.option} stays: {safe(kept.why)}")
    if one.saved_core_hours or one.saved_gb_hours:
        typer.echo(
            f"  a job reserves {_amount(one.saved_core_hours)} core-hours and "
            f"{_amount(one.saved_gb_hours)} GB-hours that it does not use"
        )
    for remark in one.remarks:
        typer.echo(f"  note: {safe(remark)}")
    if one.evidence:
        shown = ", ".join(safe(past.id) for past in one.evidence[:5])
        more = f" and {one.similar - 5} more" if one.similar > 5 else ""
        typer.echo(f"  rests on jobs {shown}{more}")
    typer.echo("")


def _amount(value: float) -> str:
    return f"{abs(value):.3g} {'fewer' if value >= 0 else 'more'}"


def _chance(risk: float | None) -> str:
    if risk is None:
        return ""
    text = "half or more" if risk >= 0.5 else "1 % or less" if risk <= 0.0101 else f"{risk:.0%}"
    return f"   # too little for {text}"


def safe(text: str) -> str:
    """Text of strangers on one line, without what a terminal would obey."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", text)
