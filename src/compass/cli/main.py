"""`compass`: ask, next, fit, tell, columns, explain, read, reduce, datasets, collect, ..."""

import io
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from compass.cli import datasets, flags
from compass.cli import explain as why
from compass.cli import options as opt
from compass.cli.chat import chat
from compass.cli.columns import columns
from compass.cli.engines import engines
from compass.cli.fit import fit
from compass.cli.next import propose
from compass.cli.read import read
from compass.cli.reduce import reduce
from compass.cli.serve import serve
from compass.cli.tell import tell
from compass.domain.errors import BadInput, CompassError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="What configuration should I use, what is the smallest change, what happens if.",
)

app.command("chat")(chat)
app.command("next")(propose)
app.command("read")(read)
app.command("reduce")(reduce)
app.command("serve")(serve)
app.command("fit")(fit)
app.command("columns")(columns)
app.command("tell")(tell)
app.command("engines")(engines)
app.add_typer(datasets.app, name="datasets")

NOT_ANSWERED = 1
BAD_INPUT = 2
INTERRUPTED = 130
# What typer raises for flags that it cannot use; older versions take it from click, newer ones
# carry their own, so it is found as the parent of the one that both name.
_Usage: type[Exception] = typer.BadParameter.__mro__[1]


@app.command()
def ask(
    data: flags.Source,
    query: flags.Question,
    start: flags.Start = None,
    where: flags.Conditions = None,
    count: flags.Count = None,
    seed: flags.Seed = None,
    weight: flags.Weights = None,
    diversity: flags.Diversity = None,
    prove: flags.Prove = None,
    no_prove: flags.NoProof = False,
    level: flags.Level = None,
    curve: flags.Curves = None,
    sbatch: flags.Script = None,
    template: flags.Template = None,
    csv: flags.CsvFile = None,
    surrogate: flags.Surrogate = None,
    model: flags.Models = None,
    model_columns: flags.ModelColumns = None,
    allow_pickle: flags.AllowPickle = False,
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
    """Answer a question from past runs.

    \b
    Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize}
      where C = {app: wrf, nodes < 16}
    Reconfigure X = {cores: ?} to achieve Y = {power: reduce by 10%}
    What if we change X = {gpus: old -> 2*old},
      how would that affect Y = {runtime}
    """
    from compass.cli.progress import progress

    if template is not None and sbatch is None:
        raise BadInput("--template needs a file to write", hint="add --sbatch job.sh")
    if no_prove and prove is not None:
        raise BadInput("--prove and --no-prove contradict each other", hint="give one of them")
    opt.check_output(sbatch, csv)
    costs = opt.weights(weight)
    said = opt.study_from_flags(role, unit, domain, missing, drop, rule, group, comparable)
    at = opt.server(server, token, query)
    brought = opt.models(model, model_columns, allow_pickle, at)
    with progress(quiet=as_json) as tell:
        engine = opt.engine(data, study, said, tell, at, surrogate=surrogate, models=brought)
        result = engine.ask(
            query,
            run=opt.baseline(start),
            where=where or (),
            count=count,
            seed=seed,
            weights=costs,
            diversity=diversity,
            prove=0.0 if no_prove else prove,
            level=level,
            curve=curve or (),
        )
    _write("sbatch", result, sbatch, template)
    _write("csv", result, csv)
    _print_answer(result, as_json)
    if not result.answered:
        raise typer.Exit(NOT_ANSWERED)


@app.command()
def explain(
    data: flags.Source,
    row: why.RowNumber = None,
    config: why.ConfigFile = None,
    query: why.QueryText = None,
    suggestion: why.Rank = None,
    start: flags.Start = None,
    outcome: why.Outcomes = None,
    against: why.Against = None,
    importance: why.WithImportance = False,
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
    """Say why the model predicts this for a past run, a configuration or a suggestion."""
    from compass.cli.progress import progress

    why.check(row, config, query, suggestion, start, importance)
    said = opt.study_from_flags(role, unit, domain, missing, drop, rule, group, comparable)
    with progress(quiet=as_json) as tell:
        at = opt.server(server, token)
        engine = opt.engine(data, study, said, tell, at, surrogate=surrogate)
        found = why.explanations(engine, row, config, query, suggestion, start, outcome, against)
        relied = why.importances(engine, outcome) if importance else ()
    why.show(found, relied, as_json=as_json)


@app.command()
def collect(
    output: Annotated[Path, typer.Option("-o", "--output", help="The table to write.")] = Path(
        "kernels.csv"
    ),
    rows: Annotated[int, typer.Option(min=1, help="Configurations to measure.")] = 3000,
    repeats: Annotated[int, typer.Option(min=2, help="Timings in each visit.")] = 5,
    visits: Annotated[
        int, typer.Option(min=1, help="Visits to each, minutes apart; the fastest counts.")
    ] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Which configurations, and their order.")] = 7,
    kernel: Annotated[
        list[str] | None, typer.Option("--kernel", help="Only this kernel; may be repeated.")
    ] = None,
    as_json: flags.AsJson = False,
) -> None:
    """Measure small OpenMP kernels on this machine: your own table to try Compass on."""
    from compass.cli.progress import progress
    from compass.cli.tables import print_collected
    from compass.collect.sweep import collect as sweep

    with progress(quiet=as_json) as tell:
        report = sweep(
            output,
            rows=rows,
            repeats=repeats,
            visits=visits,
            seed=seed,
            kernels=kernel,
            progress=lambda done, total: tell(
                "measuring (waits while the machine is busy)", done, total
            ),
        )
    print_collected(report, as_json=as_json)


@app.command()
def plugins(as_json: flags.AsJson = False) -> None:
    """List every reader, step, reducer, embedding, surrogate, generator, rule and exporter."""
    from compass.cli.tables import print_plugins

    print_plugins(as_json=as_json)


@app.command()
def demo() -> None:
    """Answer one question of each kind on the data that ships with Compass."""
    from compass.cli.demo import run_demo

    run_demo()


def _print_answer(result: Any, as_json: bool) -> None:
    from rich.console import Console

    from compass.cli import render

    if as_json:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # JSON is, whatever the terminal is
        sys.stdout.write(render.to_json(result) + "\n")
    else:
        render.answer(Console(), result)


def _write(form: str, result: Any, path: Path | None, template: Path | None = None) -> None:
    from compass.exporters.forms import export

    if path is None:
        return
    if not result.suggestions and not result.answered:
        _say(f"nothing to write to {path}: there is no suggestion")
        return
    export(result, form, path, template)
    _say(f"wrote {path}")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def run() -> None:
    """Run the command line; problems become `error:` and `hint:` and exit code 2."""
    if re.search(r"(^|\0)--executor[=\0]mpi(\0|$)", "\0".join(sys.argv)):
        from compass.execute.mpi import among_ranks  # every rank of mpiexec comes here

        sys.exit(among_ranks(_code))
    sys.exit(_code())


def _code() -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A mark that the terminal cannot show is no reason to stop.
        sys.stdout.reconfigure(errors="replace")
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except CompassError as error:
        return _complain(error.described(), error.hint)
    except _Usage as error:
        return _complain(*opt.told_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough; without this Python complains when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return int(code or 0)


def _complain(message: str, hint: str) -> int:
    _say(f"error: {message}")
    if hint:
        _say(f"hint: {hint}")
    return BAD_INPUT


if __name__ == "__main__":
    run()
