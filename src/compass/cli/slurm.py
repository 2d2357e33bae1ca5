"""`compass slurm`: what is installed into a Slurm."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from compass.cli import flags

app = typer.Typer(no_args_is_help=True, add_completion=False, help="What is installed into Slurm.")


class HookMode(StrEnum):
    """What the hook does with a request that should be another."""

    OBSERVE = "observe"
    ADVISE = "advise"
    ENFORCE = "enforce"


@app.callback()
def options() -> None:
    """What is installed into Slurm."""


@app.command()
def hook(
    folder: Annotated[
        Path, flags.option("--build", "FOLDER", "Where the script and its table are written.")
    ],
    past: Annotated[
        str, flags.option("--from", "SOURCE", "Past jobs: sacct:OPTIONS, a dump of it, a table.")
    ] = "sacct:-a -S now-90days",
    mode: Annotated[
        HookMode, typer.Option("--mode", help="Only write down, tell the person, or change.")
    ] = HookMode.OBSERVE,
    risk: Annotated[
        float, typer.Option("--risk", help="Chance of running out that is accepted.")
    ] = 0.05,
    days: Annotated[
        float, typer.Option("--days", min=0.01, help="After so many days the table is too old.")
    ] = 14.0,
    log: Annotated[
        str | None,
        flags.option("--log", "FILE", "Where decisions go (default: ~/.compass-hook.jsonl)."),
    ] = None,
    as_json: flags.AsJson = False,
) -> None:
    """Advice at submit time: a table of past jobs, and scripts for cli_filter and job_submit.

    The first runs inside sbatch and never inside slurmctld, the second inside slurmctld: take one
    of them. A job is submitted as it was asked for whatever goes wrong. A file named `off` in the
    folder switches it off.
    """
    from compass.schedule.advice.advisor import Advisor
    from compass.schedule.advice.source import past_jobs
    from compass.schedule.hook.build import build_hook

    found = build_hook(Advisor(past_jobs(past), risk), folder, mode.value, days=days, log=log)
    if as_json:
        typer.echo(found.model_dump_json())
        return
    typer.echo(f"{found.kinds} kinds of jobs, mode {found.mode}, table {found.table}")
    typer.echo(f"to install: cp {found.folder}/cli_filter.lua beside slurm.conf, and in slurm.conf")
    typer.echo("  CliFilterPlugins=cli_filter/lua")
    typer.echo(
        "or, inside slurmctld, the same with job_submit.lua, which can write where it logs, and"
    )
    typer.echo("  JobSubmitPlugins=lua")
    typer.echo(f"to switch off: touch {found.folder}/off")
