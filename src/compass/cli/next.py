"""`compass next`: the runs that would help a question most, as a table and as a file to fill in."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compass.cli import flags, parse, sources
from compass.cli.groups import ServerFlags, grouped
from compass.cli.output import check_output, print_line
from compass.cli.study import StudyFlags
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.client.engine import RemoteEngine
    from compass.domain.answer import Proposal
    from compass.engine.compass import Compass


@dataclass(frozen=True)
class NextFlags:
    """How many runs, for what, and where to write them."""

    runs: flags.HowMany = 5
    start: flags.Start = None
    where: flags.Conditions = None
    csv: flags.RunsFile = None
    sbatch: flags.ArrayFile = None
    seed: flags.Seed = None
    surrogate: flags.Surrogate = None
    name: flags.Experiment = None


@grouped
def propose(
    data: flags.Source,
    query: flags.MaybeQuestion = None,
    *,
    chosen: NextFlags,
    study: StudyFlags,
    remote: ServerFlags,
    no_cache: flags.NoCache = False,
    as_json: flags.AsJson = False,
) -> None:
    """Say which runs to make next: those that would help a question most.

    Of an experiment (*.experiment): the runs that are worth making now; nobody else is given them.
    Fill in the outcomes of the --csv file and give it to compass tell.
    """
    from compass.cli.by_hand import named_engine, next_runs
    from compass.cli.progress import progress
    from compass.experiment.place import is_experiment

    if is_experiment(data):
        if query is not None or chosen.start is not None or remote.server is not None:
            raise BadInput(
                f"{data} is an experiment, which has its own goal", hint="leave out the question"
            )
        next_runs(data, chosen.name, chosen.runs, chosen.csv, chosen.sbatch, as_json=as_json)
        return
    if chosen.name is not None:
        raise named_engine(data)
    if query is None and chosen.start is not None:
        raise BadInput("--from needs a question", hint="say what is asked of that run")
    if query is None and chosen.seed is not None:
        raise BadInput("--seed needs a question", hint="without one, fit with another seed")
    check_output(chosen.sbatch, chosen.csv)
    given = study.parsed()
    with progress(quiet=as_json) as tell:
        server = remote.connect(query)
        engine = sources.engine(
            data, given, tell, server, cached=not no_cache, surrogate=chosen.surrogate
        )
        found = engine.run_next(
            chosen.runs,
            query,
            run=parse.run(chosen.start),
            where=chosen.where or (),
            seed=chosen.seed,
        )
    _write(chosen, engine, found)
    show(found, query, engine.space.units, as_json=as_json)


def _write(
    chosen: NextFlags, engine: "Compass | RemoteEngine", proposals: "Sequence[Proposal]"
) -> None:
    """The files that were named: a table to fill in, and job arrays."""
    if chosen.csv is None and chosen.sbatch is None:
        return
    from compass.exporters.forms import write_export
    from compass.exporters.run_file import to_fill_in
    from compass.slurm.script import job_array

    if chosen.csv is not None:
        write_export(chosen.csv, to_fill_in(engine.space, engine.data.study, proposals))
        print_line(f"wrote {chosen.csv}")
    if chosen.sbatch is not None:
        write_export(chosen.sbatch, job_array(proposals, engine.space.units))
        print_line(f"wrote {chosen.sbatch}")


def show(
    proposals: "Sequence[Proposal]",
    query: str | None,
    units: Mapping[str, str],
    *,
    as_json: bool,
) -> None:
    """The proposals as a table with a sentence under it for each, or as JSON."""
    if as_json:
        listed = [proposal.model_dump(mode="json") for proposal in proposals]
        sys.stdout.write(json.dumps({"query": query, "run_next": listed}, indent=2) + "\n")
        return
    from rich.console import Console

    from compass.cli.render import fits, printable, table
    from compass.domain.quantity import quantity, setting
    from compass.trust.outcome_words import settings_in_words

    console = Console()
    if not proposals:
        console.print(printable("No run that the rules allow is expected to help."))
        return
    gains = any(proposal.gain is not None for proposal in proposals)
    names = ordered(proposals, query)
    heads = ["", *names, *(["expected gain"] if gains else [])]
    rows: list[list[Any]] = []
    for rank, proposal in enumerate(proposals, 1):
        gain = "" if proposal.gain is None else quantity(float(f"{proposal.gain:.3g}"))
        cells = [setting(proposal.config[name], units.get(name)) for name in names]
        rows.append([f"{rank}.", *cells, *([gain] if gains else [])])
    console.print(printable("Run next", "bold"))
    made = table(heads, rows, right=["expected gain"], whole=heads)
    whole = fits(console, made)
    if whole:
        console.print(made)
    console.print()
    for rank, proposal in enumerate(proposals, 1):
        values = {name: proposal.config[name] for name in names}
        before = "" if whole else f"{settings_in_words(values, None, units)}: "
        console.print(printable(f"{rank}. {before}{proposal.why}"))


def ordered(proposals: "Sequence[Proposal]", query: str | None) -> list[str]:
    """Every feature: first those that the question names or that differ between proposals."""
    from compass.language import parse_query

    asked: set[str] = set()
    if query is not None:
        parsed = parse_query(query)
        asked = {*parsed.ask, *parsed.change}
    configs = [proposal.config for proposal in proposals]
    first = [
        name
        for name in configs[0]
        if name in asked or len({str(config.get(name)) for config in configs}) > 1
    ]
    return [*first, *(name for name in configs[0] if name not in first)]
