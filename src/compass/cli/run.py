"""`compass run`: an experiment from its plan to its report: suggest, run, read, learn."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.cli import flags
from compass.cli.groups import grouped
from compass.cli.output import check_output, print_line
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.experiment import ExperimentPlan
    from compass.experiment.experiment import Experiment

PlanFile = Annotated[
    str | None,
    flags.argument(
        "PLAN", "A plan (YAML), or an experiment that was begun (*.experiment), to go on with it."
    ),
]
Command = Annotated[
    str | None,
    flags.option(
        "--command", "TEMPLATE", "What is run: './prog -t {threads}'; no shell unless sh:."
    ),
]
Goals = Annotated[
    list[str] | None,
    flags.option(
        "--goal", "OUTCOME=GOAL", "minimize, maximize, '<= 200', a class, or ? ; repeatable."
    ),
]
Reads = Annotated[
    list[str] | None,
    flags.option(
        "--read",
        "OUTCOME=HOW",
        "seconds, /PATTERN (with a group)/, json:PATH or file:NAME:... ; repeatable.",
    ),
]
GoalWeights = Annotated[
    list[str] | None,
    flags.option(
        "--weight",
        "OUTCOME=W",
        "With several goals: 1 % of it is worth W % of the others (1 if not named); repeatable.",
    ),
]
Fixed = Annotated[
    list[str] | None,
    flags.option("--fix", "NAME=VALUE", "A value that all runs have; repeatable."),
]
History = Annotated[
    str | None,
    flags.option("--history", "DATA", "Past runs to begin with; of another machine or input too."),
]
FrontReference = Annotated[
    list[str] | None,
    flags.option(
        "--reference", "OUTCOME=VALUE", "From where on it counts, where several are traded off."
    ),
]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="N", help="Runs in all, repeats counted.")
]
Starts = Annotated[
    int | None,
    typer.Option("--starts", min=1, metavar="N", help="Runs that cover the space first."),
]
Repeats = Annotated[
    int | None,
    typer.Option("--repeats", min=1, metavar="N", help="How often each configuration is run."),
]
StopBelow = Annotated[
    float | None,
    typer.Option(
        "--stop-below",
        metavar="SHARE",
        parser=lambda text: 0.0 if text.strip() in ("0", "0%") else flags.share(text),
        help="Stop where one more run is expected to gain less, e.g. 1%; 0: never.",
    ),
]
FrontAcquisition = Annotated[
    str | None,
    flags.option(
        "--acquisition",
        "NAME",
        "What chooses runs of several goals: expected-volume; qlognehvi, qlognparego (BoTorch).",
    ),
]
Runner = Annotated[
    str | None,
    flags.option("--runner", "NAME", "Where runs are made: local:slots=2, slurm:time=10."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", min=0.001, metavar="S", help="Seconds until a run is ended."),
]
Add = Annotated[
    list[str] | None,
    flags.option(
        "--add", "VALUES", "A configuration of your own: 'threads=4, flags=O2'; repeatable."
    ),
]
Store = Annotated[
    str | None,
    flags.option(
        "--store", "PLACE", "A file (*.experiment), or postgresql://... for many nodes at once."
    ),
]
Name = Annotated[str | None, flags.option("--name", "NAME", "Which experiment in that store.")]
Html = Annotated[Path | None, flags.option("--html", "FILE", "Write the report as a page.")]
Svg = Annotated[
    Path | None,
    flags.option("--svg", "FILE", "Draw the learning curve; of several goals the front."),
]
Png = Annotated[
    Path | None, flags.option("--png", "FILE", "Draw the front as pixels (needs the extra png).")
]
Table = Annotated[
    Path | None, flags.option("--csv", "FILE", "Write the runs, as .csv or .parquet.")
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Submit what can be submitted now, and leave.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Only go on with what was begun; never begin anew.")
]


# Parts of a plan that are one value.
_SINGLE = (
    *("command", "budget", "starts", "repeats", "stop_below", "acquisition", "seed", "runner"),
    "time_limit",
)


@dataclass(frozen=True)
class PlanFlags:
    """The parts of a plan, over those of the file."""

    command: Command = None
    domain: flags.Domains = None
    unit: flags.Units = None
    missing: flags.Missing = None
    rule: flags.Rules = None
    fix: Fixed = None
    goal: Goals = None
    weight: GoalWeights = None
    reference: FrontReference = None
    read: Reads = None
    budget: Budget = None
    starts: Starts = None
    repeats: Repeats = None
    stop_below: StopBelow = None
    acquisition: FrontAcquisition = None
    seed: flags.Seed = None
    runner: Runner = None
    time_limit: TimeLimit = None

    def over(self, raw: dict[str, Any]) -> dict[str, Any]:
        """What a plan file says, with the flags over it."""
        from compass.cli import parse
        from compass.cli.study import StudyFlags

        given = StudyFlags(domain=self.domain, unit=self.unit, missing=self.missing).parsed().flags
        columns = {name: dict(one) for name, one in (raw.get("columns") or {}).items()}
        for name, choice in given.columns.items():
            columns.setdefault(name, {}).update(choice.model_dump(exclude_none=True))
        found = dict(raw)
        parts = {
            "columns": columns,
            "rules": [*(raw.get("rules") or ()), *(self.rule or ())],
            "fixed": {**(raw.get("fixed") or {}), **pairs(self.fix, "--fix", plain=True)},
            "goals": {**(raw.get("goals") or {}), **pairs(self.goal, "--goal")},
            "read": {**(raw.get("read") or {}), **pairs(self.read, "--read")},
            "weights": {**(raw.get("weights") or {}), **parse.weights(self.weight)},
            "reference": {**(raw.get("reference") or {}), **parse.reference(self.reference)},
        }
        found.update({key: value for key, value in parts.items() if value})
        for key in _SINGLE:
            if getattr(self, key) is not None:
                found[key] = getattr(self, key)
        return found

    @property
    def given(self) -> bool:
        """Whether any part was given."""
        return self != PlanFlags()


@dataclass(frozen=True)
class ReportFlags:
    """Where the report is written."""

    html: Html = None
    svg: Svg = None
    png: Png = None
    csv: Table = None

    def write(self, experiment: "Experiment") -> None:
        """Write what was asked for."""
        from compass.cli.experiments import write_report

        write_report(experiment, html=self.html, svg=self.svg, png=self.png, table=self.csv)


@grouped
def run(
    plan: PlanFile = None,
    *,
    parts: PlanFlags,
    history: History = None,
    where: flags.Conditions = None,
    add: Add = None,
    store: Store = None,
    name: Name = None,
    detach: Detach = False,
    resume: Resume = False,
    out: ReportFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Find the best configuration by running it: suggest, run, read, learn, until it is enough.

    The runs are kept in a file beside the plan; the same command goes on where it was stopped.
    Example: compass run --command './triad -t {threads}' --domain threads=1,2,4,8
    --goal runtime=minimize --read runtime=seconds --budget 20 --store triad.experiment
    """
    from compass.cli.watch import watching
    from compass.experiment.driver import drive

    check_output(out.html, out.svg, out.png, out.csv)
    experiment, begins_with = opened(plan, parts, store, name, resume=resume)
    with experiment:
        past = history if history is not None else begins_with
        if past is not None and not experiment.runs():
            attach(experiment, past, where or ())
        for text in add or ():
            experiment.enqueue(pairs_of(text, "--add"), again=False)
        with watching(experiment, as_json=as_json) as watch:
            drive(experiment, watch, detach=detach)
        out.write(experiment)
        watch.report(experiment.report())


def opened(
    plan: str | None,
    parts: PlanFlags,
    store: str | None,
    name: str | None,
    *,
    resume: bool = False,
) -> "tuple[Experiment, str | None]":
    """The experiment of a plan, begun or gone on with, and the past runs that its plan names."""
    from compass.experiment.experiment import Experiment
    from compass.experiment.place import SUFFIX, is_experiment
    from compass.experiment.plan_file import history_of, load_plan, name_of, plain, plan_of

    if plan is not None and is_experiment(plan):
        if store is not None:
            raise BadInput(f"{plan} is a store already", hint="leave out --store")
        experiment = Experiment.open(plan, name)
        if not parts.given:
            return experiment, None
        with experiment:  # the budget, the command, ... may change; the store says what may not
            now = plan_of(parts.over(plain(experiment.plan)))
        return Experiment.start(now, plan, experiment.name), None
    if plan is None and not parts.given:
        if store is None:
            raise BadInput(
                "there is no plan", hint="compass run PLAN.yml, or say it with flags: see --help"
            )
        return Experiment.open(store, name), None
    raw = {} if plan is None else load_plan(plan)
    history = None if plan is None else history_of(raw, Path(plan).parent)
    name = name or name_of(raw)
    whole: ExperimentPlan = plan_of(parts.over(raw), where="the plan")
    if store is None:
        if plan is None:
            raise BadInput("it is not said where the runs are kept", hint="--store NAME.experiment")
        store = str(Path(plan).with_suffix(SUFFIX))
    if resume:
        return Experiment.open(store, name), history
    return Experiment.start(whole, store, name), history


def attach(experiment: "Experiment", history: str, where: "tuple[str, ...] | list[str]") -> None:
    """Attach past runs, and say how many."""
    from compass.cli import sources
    from compass.cli.study import StudyFlags

    found = experiment.attach(sources.dataset(history, StudyFlags().parsed()), where=where)
    more = f", {found.others:,} of another kind" if found.others else ""
    if found.left_out:
        one = found.left_out == 1
        more += f"; {found.left_out:,} {'is' if one else 'are'} left out: the plan does not allow "
        more += "it" if one else "them"
    print_line(f"note: {found.own:,} past runs are learnt from{more}")


def pairs(texts: list[str] | None, flag: str, *, plain: bool = False) -> dict[str, Any]:
    """NAME=VALUE as a mapping; `plain`: numbers are numbers."""
    found: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadInput(f"{flag} {text!r} is not NAME=VALUE", hint=f"for example {flag} a=b")
        found[name.strip()] = _plain(value.strip()) if plain else value.strip()
    return found


def pairs_of(text: str, flag: str) -> dict[str, Any]:
    """`threads=4, flags=O2` as a mapping."""
    return pairs(text.split(","), flag, plain=True)


def _plain(text: str) -> Any:
    from compass.prepare.yaml_text import from_yaml

    try:
        found = from_yaml(text)
    except ValueError:
        return text
    return found if isinstance(found, bool | int | float | str) or found is None else text
