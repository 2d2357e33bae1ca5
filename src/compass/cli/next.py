"""`compass next`: the runs that would help a question most, as a table and as a file to fill in."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from compass.cli import flags
from compass.cli import options as opt
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.answer import Proposal


def propose(
    data: flags.Source,
    query: flags.MaybeQuestion = None,
    runs: flags.HowMany = 5,
    start: flags.Start = None,
    where: flags.Conditions = None,
    csv: flags.RunsFile = None,
    sbatch: flags.ArrayFile = None,
    seed: flags.Seed = None,
    surrogate: flags.Surrogate = None,
    study: flags.StudyFile = None,
    role: flags.Roles = None,
    unit: flags.Units = None,
    domain: flags.Domains = None,
    missing: flags.Missing = None,
    drop: flags.Drop = None,
    rule: flags.Rules = None,
    group: flags.Group = None,
    comparable: flags.ComparableBy = None,
    server: flags.Server = None,
    token: flags.Token = None,
    as_json: flags.AsJson = False,
) -> None:
    """Say which runs to make next: those that would help a question most.

    Fill in the outcomes of the --csv file and give it to compass tell.
    """
    from compass.cli.progress import progress

    if query is None and start is not None:
        raise BadInput("--from needs a question", hint="say what is asked of that run")
    if query is None and seed is not None:
        raise BadInput("--seed needs a question", hint="without one, fit with another seed")
    opt.check_output(sbatch, csv)
    said = opt.study_from_flags(role, unit, domain, missing, drop, rule, group, comparable)
    options: dict[str, Any] = {} if seed is None else {"seed": seed}
    with progress(quiet=as_json) as tell:
        at = opt.server(server, token, query)
        engine = opt.engine(data, study, said, tell, at, surrogate=surrogate)
        found = engine.run_next(runs, query, run=opt.baseline(start), where=where or (), **options)
    if csv is not None:
        from compass.exporters.forms import write_export
        from compass.exporters.run_file import to_fill_in

        write_export(csv, to_fill_in(engine.space, engine.data.study, found))
        sys.stderr.write(f"wrote {csv}\n")
    if sbatch is not None:
        from compass.exporters.forms import write_export
        from compass.slurm.script import job_array

        write_export(sbatch, job_array(found))
        sys.stderr.write(f"wrote {sbatch}\n")
    show(found, query, as_json=as_json)


def show(proposals: "Sequence[Proposal]", query: str | None, *, as_json: bool) -> None:
    """The proposals as a table with a sentence under it for each, or as JSON."""
    if as_json:
        told = [proposal.model_dump(mode="json") for proposal in proposals]
        sys.stdout.write(json.dumps({"query": query, "run_next": told}, indent=2) + "\n")
        return
    from rich.console import Console

    from compass.cli.render import fits, printable, table
    from compass.cli.render import show as say

    console = Console()
    if not proposals:
        console.print(printable("No run that the rules allow is expected to help."))
        return
    gains = any(proposal.gain is not None for proposal in proposals)
    names = shown(proposals, query)
    heads = ["", *names, *(["expected gain"] if gains else [])]
    rows: list[list[Any]] = []
    for rank, proposal in enumerate(proposals, 1):
        gain = "" if proposal.gain is None else say(float(f"{proposal.gain:.3g}"))
        cells = [say(proposal.config[name]) for name in names]
        rows.append([f"{rank}.", *cells, *([gain] if gains else [])])
    console.print(printable("Run next", "bold"))
    made = table(heads, rows, right=["expected gain"], whole=heads)
    listed = not fits(console, made)
    if not listed:
        console.print(made)
    fixed = {n: v for n, v in proposals[0].config.items() if n not in names}
    if fixed:
        same = ", ".join(f"{name} = {say(value)}" for name, value in fixed.items())
        console.print(printable(f"In all of them: {same}", "dim"))
    console.print()
    for rank, proposal in enumerate(proposals, 1):
        values = ", ".join(f"{name} = {say(proposal.config[name])}" for name in names)
        before = f"{values}: " if listed else ""
        console.print(printable(f"{rank}. {before}{proposal.why}"))


def shown(proposals: "Sequence[Proposal]", query: str | None) -> list[str]:
    """The columns that differ between proposals, and those that the question names."""
    from compass.language import parse_query

    asked: set[str] = set()
    if query is not None:
        parsed = parse_query(query)
        asked = {*parsed.ask, *parsed.change}
    configs = [proposal.config for proposal in proposals]
    names = [
        name
        for name in configs[0]
        if name in asked or len({str(config.get(name)) for config in configs}) > 1
    ]
    return names or list(configs[0])
