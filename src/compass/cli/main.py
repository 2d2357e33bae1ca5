"""`compass`: the commands, and what ends a command: exit codes, `error:` and `hint:`."""

import io
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from compass.cli import cache, datasets, experiments, flags, platforms, slurm, synth
from compass.cli.advise import advise
from compass.cli.ask import ask
from compass.cli.backup import backup, restore
from compass.cli.chat import chat
from compass.cli.columns import columns
from compass.cli.engines import engines
from compass.cli.explain import explain
from compass.cli.fit import fit
from compass.cli.garbage import look_seldom
from compass.cli.next import propose
from compass.cli.output import print_line
from compass.cli.overview import overview
from compass.cli.pareto import pareto
from compass.cli.read import read
from compass.cli.reduce import reduce
from compass.cli.report import report
from compass.cli.run import run as run_experiment
from compass.cli.serve import serve
from compass.cli.simulate import simulate
from compass.cli.tell import tell
from compass.domain.errors import CompassError, shortened

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="What configuration should I use, what is the smallest change, what happens if.",
)

# Commands as `compass --help` shows them: what people come for first.
_PANELS: dict[str, dict[str, Any]] = {
    "Questions": {
        "ask": ask,
        "chat": chat,
        "pareto": pareto,
        "explain": explain,
        "overview": overview,
        "platforms": platforms.app,
    },
    "Runs to make": {
        "next": propose,
        "tell": tell,
        "run": run_experiment,
        "experiments": experiments.app,
    },
    "Data": {
        "columns": columns,
        "read": read,
        "reduce": reduce,
        "fit": fit,
        "synth": synth.app,
        "datasets": datasets.app,
        "cache": cache.app,
    },
    "Slurm and queues": {
        "advise": advise,
        "report": report,
        "simulate": simulate,
        "slurm": slurm.app,
    },
    "Server": {"serve": serve, "engines": engines, "backup": backup, "restore": restore},
}
_REST = "This machine"

for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, rich_help_panel=_panel)(_command)

BAD_INPUT = 2
INTERRUPTED = 130
_SOURCES = ("SOURCE", "DATA", "RUNS", "TRACE")  # arguments that may be a glob
# What typer raises for flags that it cannot use; older versions take it from click, newer ones
# carry their own, so it is found as the parent of the one that both name.
_Usage: type[Exception] = typer.BadParameter.__mro__[1]


def _tell_version(asked: bool) -> None:
    if asked:
        from compass import release

        found = release.commit()
        typer.echo(f"compass {release.version()}" + (f" (commit {found})" if found else ""))
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Version and commit, and exit."
        ),
    ] = False,
) -> None:
    """What holds for all commands; the text of the help is that of the app."""


@app.command(rich_help_panel=_REST)
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


@app.command(rich_help_panel=_REST)
def plugins(as_json: flags.AsJson = False) -> None:
    """List every plug-in: readers, surrogates, generators and those of all other joints."""
    from compass.cli.tables import print_plugins

    print_plugins(as_json=as_json)


@app.command(rich_help_panel=_REST)
def demo() -> None:
    """Answer one question of each kind on the data that ships with Compass."""
    from compass.cli.demo import run_demo

    run_demo()


def run() -> None:
    """Run the command line; problems become `error:` and `hint:` and exit code 2."""
    look_seldom()
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
        return _complain(*_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough; without this Python complains when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            return 0  # Rich met it first, and has dealt with the stream
        raise
    return int(code or 0)


def _usage(error: Any) -> tuple[str, str]:
    """A problem with the flags in our words, and what to do about it."""
    text = shortened(error.format_message().rstrip("."), 200)
    command = error.ctx.command_path if error.ctx is not None else "compass"
    hint = f"see {command} --help"
    if "unexpected extra argument" in text:
        takes = {one.metavar for one in error.ctx.command.params if one.metavar in _SOURCES}
        if takes:
            # The shell puts the files in the place of an unquoted glob.
            word = takes.pop()
            hint = f"{word} is one word: quote a glob ('runs/*.csv'), or name the folder; {hint}"
    return text[:1].lower() + text[1:], hint


def _complain(message: str, hint: str) -> int:
    print_line(f"error: {message}")
    if hint:
        print_line(f"hint: {hint}")
    return BAD_INPUT


if __name__ == "__main__":
    run()
