"""`compass report`: what jobs asked for against what they used, for those who run a cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags
from compass.cli.advise import safe

if TYPE_CHECKING:
    from compass.domain.usage import UsageReport, UsageShare

_WIDE = 22


def report(
    source: Annotated[
        str | None,
        flags.argument(
            "SOURCE", "Jobs: sacct:OPTIONS, a dump of it, a table (default: those kept)."
        ),
    ] = None,
    output: Annotated[
        Path | None, flags.option("-o", "FILE", "Write an HTML page that needs nothing else.")
    ] = None,
    folder: Annotated[
        Path | None,
        flags.option("--keep", "FOLDER", "Add the jobs to those kept here; report on all."),
    ] = None,
    as_json: flags.AsJson = False,
) -> None:
    """Requested against used by user, application and partition; what would free most; the trend.

    Every night `compass report sacct:"-a -S now-2days" --keep jobs/` keeps accounting that the site
    deletes later.
    """
    from compass.cli.output import check_output, print_line
    from compass.domain.errors import BadInput
    from compass.schedule.advice.jobs import jobs_of_table
    from compass.schedule.advice.source import past_jobs, table_of
    from compass.schedule.kept_jobs import keep, kept
    from compass.schedule.usage import usage

    check_output(output)
    if source is None and folder is None:
        raise BadInput("there are no jobs to report on", hint='compass report "sacct:-a -S today"')
    if folder is None:
        jobs = past_jobs(str(source))
    else:
        if source is not None:
            added = keep(table_of(source, whole=True), folder)
            print_line(f"kept in {added}" if added else "kept already")
        jobs = jobs_of_table(kept(folder))
    found = usage(jobs)
    if output is not None:
        from compass import files
        from compass.schedule.usage_page import usage_page

        files.write_text(output, usage_page(found))
    if as_json:
        typer.echo(found.model_dump_json())
        return
    _print(found)
    if output is not None:
        print_line(f"written to {output}")


def _print(found: "UsageReport") -> None:
    from compass.schedule.usage_page import percent

    whole = found.whole
    typer.echo(
        f"{whole.jobs:,} jobs, {whole.core_hours:,.0f} core-hours"
        + (f", {found.first} to {found.last}" if found.first else "")
    )
    typer.echo(
        f"busy: {percent(whole.cores_busy)} of the cores; used: {percent(whole.memory_used)} of "
        f"the memory, {percent(whole.time_used)} of the limits"
    )
    for remark in found.remarks:
        typer.echo(f"note: {remark}")
    for title, groups in (
        ("user", found.users),
        ("application", found.applications),
        ("partition", found.partitions),
    ):
        if groups:
            _table(title, groups[:10])
    if found.changes:
        typer.echo("\nwhat would free most")
    for one in found.changes:
        name = f"{one.user} {one.application or ''}".strip()
        typer.echo(f"  {safe(name)}, {one.jobs:,} jobs, {one.label}")
        typer.echo(f"    {' '.join(line.removeprefix('#SBATCH ') for line in one.directives)}")
        typer.echo(f"    frees {one.gb_hours:,.0f} GB-hours, {one.core_hours:,.0f} core-hours")


def _table(title: str, groups: "tuple[UsageShare, ...]") -> None:
    from compass.schedule.usage_page import percent

    heads = f"{'jobs':>8}{'core-h':>11}{'cores':>9}{'memory':>9}{'limit':>9}{'failed':>9}"
    typer.echo(f"\n{title:{_WIDE}}{heads}")
    for one in groups:
        typer.echo(
            f"{safe(one.name)[: _WIDE - 1]:{_WIDE}}{one.jobs:>8,}{one.core_hours:>11,.0f}"
            f"{percent(one.cores_busy):>9}{percent(one.memory_used):>9}{percent(one.time_used):>9}"
            f"{one.timeouts + one.out_of_memory:>9,}"
        )
