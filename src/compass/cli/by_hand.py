"""`compass next` and `compass tell` of an experiment: runs that somebody makes and tells."""

import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from compass.cli.output import print_line, print_utf8
from compass.domain.answer import Proposal
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.experiment.experiment import Experiment


def named_engine(place: str) -> BadInput:
    """`--name` was given, but not with an experiment."""
    return BadInput(
        f"--name says which experiment of a store is meant, and {place} is none",
        hint="leave it out, or name a file X.experiment or the address of a database",
    )


def next_runs(
    place: str,
    name: str | None,
    count: int,
    csv: Path | None,
    sbatch: Path | None,
    *,
    as_json: bool,
) -> None:
    """The runs that are worth making now, for somebody who makes them."""
    from rich.console import Console

    from compass import files
    from compass.cli.experiments import runs_table
    from compass.cli.render import printable
    from compass.experiment.experiment import Experiment
    from compass.experiment.export import awaited

    with Experiment.open(place, name) as experiment:
        found = experiment.next(count)
        stop = None if found else _why_none(experiment)
        if csv is not None:
            files.write_text(csv, awaited(experiment.plan, experiment.space, found))
            print_line(f"wrote {csv}")
        if sbatch is not None and found:
            from compass.slurm.script import job_array

            proposals = [Proposal(config=run.config, why=run.why) for run in found]
            files.write_text(sbatch, job_array(proposals, experiment.units))
            print_line(f"wrote {sbatch}")
        if as_json:
            told = [run.model_dump(mode="json") for run in found]
            print_utf8(json.dumps({"runs": told, "stop": stop}, indent=2))
            return
        console = Console()
        if not found:
            console.print(printable(f"No more runs: {stop}."))
            return
        console.print(printable("Run next", "bold"))
        console.print(runs_table(found, experiment, console))
        console.print()
        for run in found:
            console.print(printable(f"run {run.number}: {run.why}"))
        console.print(
            printable(
                f"\nTell what came out: compass tell {place}"
                f"{'' if name is None else f' --name {quote(name)}'} --run "
                f"'run={found[0].number}, {next(iter(experiment.plan.goals))}=...'"
            )
        )


def _why_none(experiment: "Experiment") -> str:
    status = experiment.status()
    if status.stop is not None:
        return status.stop
    waiting = sum(n for state, n in status.counts.items() if state.pending)
    return f"{waiting} runs are awaited; tell or cancel some"


def tell_runs(
    place: str, name: str | None, given: str | Mapping[str, list[Any]], *, as_json: bool
) -> None:
    """What came of runs, from a file or typed."""
    import pyarrow as pa

    from compass.cli.experiments import print_report
    from compass.experiment.experiment import Experiment

    source = given if isinstance(given, str) else pa.table(dict(given))
    with Experiment.open(place, name) as experiment:
        new, known, differ = experiment.tell_table(source)
        report = experiment.report()
        if as_json:
            told = {
                "new": new,
                "known": known,
                "differ": differ,
                "report": report.model_dump(mode="json"),
            }
            print_utf8(json.dumps(told, indent=2))
            return
        before = f", {known} known already" if known else ""
        if differ:
            before += f"; {differ} ended otherwise before and stay{'s' if differ == 1 else ''} so"
        print_line(f"took in {new} run{'s' if new != 1 else ''}{before}")
        print_report(report, experiment)
