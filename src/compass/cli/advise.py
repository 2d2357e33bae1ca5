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
    from compass.domain.advice import Advice, WaitAdvice
    from compass.schedule.advice.advisor import Advisor

_RECENT = "sacct:-S now-90days"
_MINUTE, _DAY = 60.0, 86400.0


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
    if one.start is not None:
        _print_start(one.start)
    for remark in one.remarks:
        typer.echo(f"  note: {safe(remark)}")
    if one.evidence:
        shown = ", ".join(safe(past.id) for past in one.evidence[:5])
        more = f" and {one.similar - 5} more" if one.similar > 5 else ""
        typer.echo(f"  rests on jobs {shown}{more}")
    typer.echo("")


def _print_start(start: "WaitAdvice") -> None:
    """When it would start as asked, as advised, and with other sizes; and what that is worth."""
    if start.missing is not None:
        typer.echo(f"  when it would start is not known: {safe(start.missing)}")
        return
    asked, *others = start.waits
    many = [one for one in others if abs(one.wait - asked.wait) >= _MINUTE]
    for one in (asked, *many):
        often = f"{one.level:.0%} of such jobs: {span(one.low)} to {span(one.high)}"
        typer.echo(f"  {one.of}: would start in {span(one.wait)} ({often})")
        if one.may_run_longer:
            how = "may run {} longer" if one.may_run_longer > 0 else "has to run {} shorter"
            typer.echo(f"    it {how.format(span(abs(one.may_run_longer)))} to be done as early")
    if len(many) < len(others):
        names = " or ".join(one.of for one in others if one not in many)
        typer.echo(f"  {names}: about as soon as asked")
    typer.echo(f"    as asked: {asked.label.value}, {safe(asked.reason)}")
    if many:
        typer.echo(f"    others: {many[0].label.value}, {safe(many[0].reason.split('; ')[0])}")
    if start.at is not None:
        typer.echo(f"    by the queue of {start.at}, the last submission that is known")


def span(seconds: float) -> str:
    """About so long, for people who wait."""
    if seconds < _MINUTE:
        return "under a minute"
    if seconds < 100 * _MINUTE:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * _DAY else f"{seconds / _DAY:.1f} days"


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
