"""Single arguments and flags of the commands, and their help."""

from pathlib import Path
from typing import Annotated, Any

import typer

from compass.domain import option
from compass.domain.option import Option


def sentence(about: Option, more: str = "") -> str:
    """What an option means, as the help of a flag."""
    return f"{about.text[:1].upper()}{about.text[1:]}{more}."


def flag(about: Option, *names: str, metavar: str, most: int | None = None) -> Any:
    """The flag of an option, with its help and limits; `most`: where it has no upper one."""
    high = about.last if most is None else most
    return typer.Option(*names, min=about.least, max=high, metavar=metavar, help=sentence(about))


def share(text: str) -> float:
    """A share as a person writes it: 80% or 0.8."""
    percent = text.strip().endswith("%")
    try:
        found = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        found = float("nan")
    if not 0 < found < 1:
        raise typer.BadParameter(f"{text[:40]} is not a share: write e.g. 80% or 0.8")
    return found


Source = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file, glob, folder, saved engine (*.compass), dataset:NAME, or 'embedded'.",
        show_default=False,
    ),
]
StudyFile = Annotated[
    Path | None,
    typer.Option(
        "--study", metavar="FILE", help="A study file (YAML or TOML): roles, domains, rules."
    ),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role", metavar="COLUMN=ROLE", help="knob, context, outcome or ignored; repeatable."
    ),
]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit",
        metavar="COLUMN=UNIT",
        help="For example runtime=s; without a unit (runtime=), it has none; repeatable.",
    ),
]
Domains = Annotated[
    list[str] | None,
    typer.Option(
        "--domain",
        metavar="COLUMN=VALUES",
        help="Legal values: 4,8,16 or 1..64 or 1..64:1 (with a step); repeatable.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="COLUMN=none",
        help="Keep rows without a value, as the level none; repeatable.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="A column to leave out; repeatable."),
]
Rules = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="RULE", help="A rule that every answer must obey; repeatable."),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="COMPASS_SERVER",
        help="Let a server do it (see compass serve); DATA may be a name that it knows.",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token", metavar="TOKEN", envvar="COMPASS_TOKEN", help="What that server asks for."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Question = Annotated[
    str, typer.Argument(metavar="QUERY", help="The question, in one of the three templates.")
]
Start = Annotated[
    str | None,
    typer.Option("--from", metavar="START", help="Baseline: row:N or a JSON/YAML file."),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="RULE", help="A condition of this question; repeatable."),
]
Count = Annotated[int | None, flag(option.COUNT, metavar="N")]
Seed = Annotated[int | None, flag(option.SEED, metavar="N")]
Prove = Annotated[float | None, flag(option.PROVE, metavar="S")]
Level = Annotated[
    float | None,
    typer.Option(
        "--level", parser=share, metavar="SHARE", help=sentence(option.LEVEL, ", e.g. 80%")
    ),
]
Generator = Annotated[str | None, flag(option.GENERATOR, metavar="NAME")]
NoProof = Annotated[bool, typer.Option("--no-prove", help="Do not prove anything.")]
Diversity = Annotated[float | None, flag(option.DIVERSITY, metavar="W")]
Weights = Annotated[list[str] | None, flag(option.WEIGHTS, "--weight", metavar="COLUMN=W")]
Curves = Annotated[
    list[str] | None,
    typer.Option("--curve", metavar="COLUMN", help="Outcomes against this one; repeatable."),
]
Script = Annotated[
    Path | None,
    typer.Option("--sbatch", metavar="FILE", help="Write the best one as a job script."),
]
ArrayFile = Annotated[
    Path | None,
    typer.Option("--sbatch", metavar="FILE", help="Write them as job arrays; submit it with bash."),
]
Template = Annotated[
    Path | None,
    typer.Option("--template", metavar="FILE", help="Job script with {names} to fill in."),
]
CsvFile = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write the suggestions.")
]
Place = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="DIR",
        help="Where to save, e.g. x.compass; with --server what to call it there.",
    ),
]
Keep = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help=sentence(option.KEEP)),
]
Reducer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the runs of --keep are chosen: uniform (default), guided, stratified.",
    ),
]
Mine = Annotated[bool, typer.Option("--rules", help="Look for dependencies that hold on all rows.")]
Confirm = Annotated[
    str | None,
    typer.Option(metavar="1,3|all", help="Write these dependencies into the study file as rules."),
]
WriteStudy = Annotated[
    Path | None,
    typer.Option("--write-study", metavar="FILE", help="Write what is shown as a study file."),
]
Surrogate = Annotated[str | None, flag(option.SURROGATE, metavar="NAME")]
Tune = Annotated[float | None, flag(option.TUNE, metavar="S", most=86400)]  # a day
Represent = Annotated[str | None, flag(option.REPRESENT, metavar="NAME")]
Executor = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="Where work runs: threads:4, processes:4, dask://HOST:PORT, mpi, slurm:jobs=4.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", metavar="OUTCOME=FILE", help="A model of your own for an outcome; repeatable."
    ),
]
ModelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--model-columns",
        metavar="OUTCOME=FILE",
        help="What the inputs of that model are (YAML or JSON); repeatable.",
    ),
]
AllowPickle = Annotated[
    bool,
    typer.Option(
        "--allow-pickle", help="Run code that a --model file brings: only if you trust it."
    ),
]
Engine = Annotated[
    str,
    typer.Argument(
        metavar="ENGINE",
        help="A saved engine (*.compass), or with --server the name of one there.",
        show_default=False,
    ),
]
MaybeQuestion = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUERY]",
        help="The question that the runs should help; without it, they teach the models most.",
        show_default=False,
    ),
]
HowMany = Annotated[
    int, typer.Option("-n", "--runs", min=1, max=1000, metavar="N", help="At most so many runs.")
]
RunsFile = Annotated[
    Path | None,
    typer.Option(
        "--csv", metavar="FILE", help="Write them with empty outcomes, to fill in and tell."
    ),
]
Questions = Annotated[
    list[str] | None,
    typer.Option(
        "--ask", metavar="QUERY", help="Say what the runs change in the answer to this; repeatable."
    ),
]
NewRuns = Annotated[
    str,
    typer.Argument(metavar="RUNS", help="New runs: a file, glob or directory.", show_default=False),
]
NewPlace = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="Save here; otherwise the engine is replaced."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN",
        help="Runs of one application or user stay together when models are checked.",
    ),
]
ComparableBy = Annotated[
    str | None,
    typer.Option(
        "--comparable",
        metavar="COLUMNS|all",
        help="What is the same in comparable runs, e.g. app,input; all: every run is.",
    ),
]
