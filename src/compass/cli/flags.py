"""Single arguments and flags of the commands, and their help."""

from pathlib import Path
from typing import Annotated, Any

import typer

from compass.domain import option as options
from compass.domain.option import Option

MaybeText = str | None
Texts = list[str] | None
MaybePath = Path | None


def sentence(about: Option, more: str = "") -> str:
    """What an option means, as the help of a flag."""
    return f"{about.text[:1].upper()}{about.text[1:]}{more}."


def flag(about: Option, *names: str, metavar: str, most: int | None = None) -> Any:
    """The flag of an option, with its help and limits; `most`: where it has no upper one."""
    high = about.last if most is None else most
    return typer.Option(*names, min=about.least, max=high, metavar=metavar, help=sentence(about))


def option(name: str, metavar: str, text: str, **more: Any) -> Any:
    """A flag with a value, and its help."""
    return typer.Option(name, metavar=metavar, help=text, **more)


def argument(metavar: str, text: str) -> Any:
    """An argument, and its help; a default is not shown."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


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
    argument(
        "DATA", "A file, glob, folder, saved engine (*.compass), dataset:NAME, or 'embedded'."
    ),
]
StudyFile = Annotated[
    MaybePath, option("--study", "FILE", "A study file (YAML or TOML): roles, domains, rules.")
]
Roles = Annotated[
    Texts,
    option(
        "--role",
        "COLUMN=ROLE",
        "knob, context, outcome or ignored; 'sched:*=ignored' for all that match; repeatable.",
    ),
]
Units = Annotated[
    Texts,
    option(
        "--unit",
        "COLUMN=UNIT",
        "For example runtime=s; without a unit (runtime=), it has none; repeatable.",
    ),
]
Domains = Annotated[
    Texts,
    option(
        "--domain",
        "COLUMN=VALUES",
        "Legal values: 4,8,16 or 1..64 or 1..64:1 (with a step); repeatable.",
    ),
]
Missing = Annotated[
    Texts,
    option("--missing", "COLUMN=none", "Keep rows without a value, as the level none; repeatable."),
]
Drop = Annotated[Texts, option("--drop", "COLUMN", "A column to leave out; repeatable.")]
Rules = Annotated[
    Texts, option("--rule", "RULE", "A rule that every answer must obey; repeatable.")
]
Server = Annotated[
    MaybeText,
    option(
        "--server",
        "URL",
        "Let a server do it (see compass serve); DATA may be a name that it knows.",
        envvar="COMPASS_SERVER",
    ),
]
Token = Annotated[
    MaybeText, option("--token", "TOKEN", "What that server asks for.", envvar="COMPASS_TOKEN")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Learn anew: use no models learnt before, and keep none."),
]
Question = Annotated[
    str, typer.Argument(metavar="QUERY", help="The question, in one of the three templates.")
]
Start = Annotated[MaybeText, option("--from", "START", "Baseline: row:N or a JSON/YAML file.")]
Conditions = Annotated[
    Texts, option("--where", "RULE", "A condition of this question; repeatable.")
]
Count = Annotated[int | None, flag(options.COUNT, metavar="N")]
Seed = Annotated[int | None, flag(options.SEED, metavar="N")]
Prove = Annotated[float | None, flag(options.PROVE, metavar="S")]
Level = Annotated[
    float | None, option("--level", "SHARE", sentence(options.LEVEL, ", e.g. 80%"), parser=share)
]
Chance = Annotated[
    float | None, option("--chance", "SHARE", sentence(options.CHANCE, ", e.g. 95%"), parser=share)
]
Beyond = Annotated[bool, typer.Option("--beyond", help=sentence(options.BEYOND))]
Dependencies = Annotated[
    bool | None,
    typer.Option(
        "--keep-dependencies/--ignore-dependencies",
        help="Obey rules that hold on all rows though nobody stated them, or not "
        "(a recommendation does, where they can hardly be an accident).",
        show_default=False,
    ),
]
Generator = Annotated[str | None, flag(options.GENERATOR, metavar="NAME")]
NoProof = Annotated[bool, typer.Option("--no-prove", help="Do not prove anything.")]
Diversity = Annotated[float | None, flag(options.DIVERSITY, metavar="W")]
Loss = Annotated[Texts, option("--loss", "TERM=W", sentence(options.LOSS, "; repeatable"))]
Weights = Annotated[list[str] | None, flag(options.WEIGHTS, "--weight", metavar="COLUMN=W")]
Minimize = Annotated[Texts, option("--minimize", "OUTCOME", "Make this small; repeatable.")]
Maximize = Annotated[Texts, option("--maximize", "OUTCOME", "Make this large; repeatable.")]
Asked = Annotated[
    Texts,
    option("--ask", "COLUMNS", "What to set, e.g. nodes,threads; every knob if not given."),
]
Reference = Annotated[Texts, flag(options.REFERENCE, "--reference", metavar="OUTCOME=VALUE")]
SvgFile = Annotated[MaybePath, option("--svg", "FILE", "Draw the trade-offs.")]
PngFile = Annotated[
    MaybePath, option("--png", "FILE", "Draw them as pixels (needs the extra png).")
]
Curves = Annotated[Texts, option("--curve", "COLUMN", "Outcomes against this one; repeatable.")]
Script = Annotated[MaybePath, option("--sbatch", "FILE", "Write the best one as a job script.")]
ArrayFile = Annotated[
    MaybePath, option("--sbatch", "FILE", "Write them as job arrays; submit it with bash.")
]
Template = Annotated[MaybePath, option("--template", "FILE", "Job script with {names} to fill in.")]
CsvFile = Annotated[MaybePath, option("--csv", "FILE", "Write the suggestions.")]
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
    typer.Option(metavar="SHARE", help=sentence(options.KEEP)),
]
Reducer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the runs of --keep are chosen: uniform (default), guided, stratified, front.",
    ),
]
Mine = Annotated[bool, typer.Option("--rules", help="Look for dependencies that hold on all rows.")]
Confirm = Annotated[
    str | None,
    typer.Option(metavar="1,3|all", help="Write these dependencies into the study file as rules."),
]
WriteStudy = Annotated[
    MaybePath, option("--write-study", "FILE", "Write what is shown as a study file.")
]
Outcomes = Annotated[
    Texts,
    option(
        "--outcome",
        "NAME",
        "Learn this outcome now; the others when they are asked for; repeatable.",
    ),
]
Surrogate = Annotated[str | None, flag(options.SURROGATE, metavar="NAME")]
Tune = Annotated[float | None, flag(options.TUNE, metavar="S", most=86400)]  # a day
Represent = Annotated[str | None, flag(options.REPRESENT, metavar="NAME")]
Executor = Annotated[
    MaybeText,
    option(
        "--executor",
        "NAME",
        "Where work runs: threads:4, processes:4, dask://HOST:PORT, mpi, slurm:jobs=4.",
    ),
]
Models = Annotated[
    Texts, option("--model", "OUTCOME=FILE", "A model of your own for an outcome; repeatable.")
]
ModelColumns = Annotated[
    Texts,
    option(
        "--model-columns",
        "OUTCOME=FILE",
        "What the inputs of that model are (YAML or JSON); repeatable.",
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
    argument(
        "ENGINE",
        "A saved engine (*.compass), an experiment, or with --server the name of an engine there.",
    ),
]
MaybeQuestion = Annotated[
    MaybeText,
    argument(
        "[QUERY]", "The question that the runs should help; without it, they teach the models most."
    ),
]
HowMany = Annotated[
    int, typer.Option("-n", "--runs", min=1, max=1000, metavar="N", help="At most so many runs.")
]
RunsFile = Annotated[
    MaybePath, option("--csv", "FILE", "Write them with empty outcomes, to fill in and tell.")
]
Questions = Annotated[
    Texts, option("--ask", "QUERY", "Say what the runs change in the answer to this; repeatable.")
]
Experiment = Annotated[
    MaybeText, option("--name", "NAME", "Which experiment, where a store has several.")
]
NewRuns = Annotated[MaybeText, argument("RUNS", "New runs: a file, glob or directory.")]
TypedRuns = Annotated[
    Texts,
    option(
        "--run",
        "VALUES",
        "A run by hand: 'nodes=4, runtime=12.5', or 'runtime=failed: out of memory'; repeatable.",
    ),
]
NewPlace = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="DIR", help="Save here; otherwise the engine is replaced."
    ),
]
Group = Annotated[
    MaybeText,
    option(
        "--group",
        "COLUMN",
        "Runs of one application or user stay together when models are checked.",
    ),
]
TrustValues = Annotated[
    Texts,
    option(
        "--trust",
        "NAME=NUMBER",
        f"How labels are made (Algorithm 1): {', '.join(options.TRUST)}; repeatable.",
    ),
]
ComparableBy = Annotated[
    MaybeText,
    option(
        "--comparable",
        "COLUMNS|all",
        "What is the same in comparable runs, e.g. app,input; all: every run is.",
    ),
]
