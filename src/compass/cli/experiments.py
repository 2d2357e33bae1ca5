"""`compass experiments`: look at an experiment, add to it, cancel, export; and its tables."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.cli import flags
from compass.cli.output import check_output, print_line, print_utf8
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from compass.domain.experiment import ExperimentReport, ExperimentRun, ExperimentStatus
    from compass.domain.front import Front, FrontPoint
    from compass.experiment.experiment import Experiment

app = typer.Typer(
    no_args_is_help=True, help="Experiments: how far they are, their runs, what to export."
)

Place = Annotated[
    str, flags.argument("EXPERIMENT", "A file (*.experiment), or the address of a database.")
]
Name = Annotated[str | None, flags.option("--name", "NAME", "Which experiment in that store.")]
_POINTS = 16  # of a front that a terminal shows

Numbers = Annotated[list[int] | None, flags.argument("[RUN]...", "Their numbers; none: all.")]


def _opened(place: str, name: str | None) -> "Experiment":
    from compass.experiment.experiment import Experiment

    return Experiment.open(place, name)


@app.command("show")
def show(place: Place, name: Name = None, as_json: flags.AsJson = False) -> None:
    """How far an experiment is, its best run, its learning curve, how good predictions were."""
    with _opened(place, name) as experiment:
        report = experiment.report()
        if as_json:
            print_utf8(report.model_dump_json(indent=2))
        else:
            print_report(report, experiment)


@app.command("list")
def list_names(place: Place, as_json: flags.AsJson = False) -> None:
    """The experiments of a store."""
    from compass.experiment.place import place_of
    from compass.experiment.store import ExperimentStore

    store = ExperimentStore.open(place_of(place).store)
    try:
        found = {name: store.counts(name) for name in store.names()}
    finally:
        store.close()
    if as_json:
        print_utf8(json.dumps({name: dict(counts) for name, counts in found.items()}, indent=2))
        return
    for name, counts in found.items():
        states = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        sys.stdout.write(f"{name}: {states or 'no runs yet'}\n")


@app.command("runs")
def runs(place: Place, name: Name = None, as_json: flags.AsJson = False) -> None:
    """Every run: settings, outcomes, what was predicted, how it ended."""
    from rich.console import Console

    with _opened(place, name) as experiment:
        found = [run for run in experiment.runs() if run.origin.value != "history"]
        if as_json:
            print_utf8(json.dumps([run.model_dump(mode="json") for run in found], indent=2))
            return
        console = Console()
        console.print(runs_table(found, experiment, console))


@app.command("add")
def add(
    place: Place,
    values: Annotated[
        list[str], flags.argument("VALUES...", "A configuration each: 'threads=4, flags=O2'.")
    ],
    name: Name = None,
) -> None:
    """Add configurations of your own; they are run before what models choose."""
    from compass.cli.run import pairs_of

    with _opened(place, name) as experiment:
        total = sum(experiment.enqueue(pairs_of(text, "add")) for text in values)
        print_line(f"added {total} run{'s' if total != 1 else ''}")


@app.command("cancel")
def cancel(place: Place, numbers: Numbers = None, name: Name = None) -> None:
    """Wait for runs no longer: for those named, or for all that have not ended."""
    with _opened(place, name) as experiment:
        count = experiment.cancel(*(numbers or ()))
        print_line(f"cancelled {count} run{'s' if count != 1 else ''}")


@app.command("attach")
def attach(
    place: Place,
    data: flags.Source,
    where: flags.Conditions = None,
    name: Name = None,
) -> None:
    """Past runs to learn from, of another machine, size or version too."""
    from compass.cli import run

    with _opened(place, name) as experiment:
        run.attach(experiment, data, where or ())


@app.command("export")
def export(
    place: Place,
    name: Name = None,
    csv: Annotated[
        Path | None, flags.option("--csv", "FILE", "The runs, as .csv or .parquet.")
    ] = None,
    html: Annotated[Path | None, flags.option("--html", "FILE", "The report as a page.")] = None,
    svg: Annotated[
        Path | None,
        flags.option("--svg", "FILE", "The learning curve; of several goals the front."),
    ] = None,
    png: Annotated[
        Path | None, flags.option("--png", "FILE", "The front as pixels (needs the extra png).")
    ] = None,
    optuna: Annotated[
        str | None,
        flags.option("--optuna", "FILE", "A study of Optuna, for its dashboard (file or URL)."),
    ] = None,
) -> None:
    """Write the runs for other tools: a table, a page, a picture, a study of Optuna."""
    if not any((csv, html, svg, png, optuna)):
        raise BadInput(
            "it is not said what to write", hint="--csv, --html, --svg, --png or --optuna"
        )
    check_output(csv, html, svg, png)
    with _opened(place, name) as experiment:
        write_report(experiment, html=html, svg=svg, png=png, table=csv)
        if optuna is not None:
            from compass.experiment.export import to_optuna

            runs = experiment.runs()
            added = to_optuna(experiment.plan, experiment.space, runs, optuna, experiment.name)
            print_line(f"added {added} runs to the study '{experiment.name}' in {optuna}")


def write_report(
    experiment: "Experiment",
    *,
    html: Path | None = None,
    svg: Path | None = None,
    png: Path | None = None,
    table: Path | None = None,
) -> None:
    """Write the report as a page, a picture and a table, as far as they are asked for."""
    from compass import files
    from compass.experiment.export import write_table
    from compass.experiment.page import page
    from compass.experiment.picture import svg as picture
    from compass.exporters.front_chart import runs_drawing

    if html is not None or svg is not None or png is not None:
        report = experiment.report()
        units = experiment.units
        if html is not None:
            files.write_text(html, page(report, units, experiment.plan.fixed))
        front = report.status.front
        drawn = (
            None
            if front is None
            else runs_drawing(front, units, f"The front of {report.status.name}")
        )
        if svg is not None and drawn is not None:
            files.write_text(svg, drawn.svg())
        elif svg is not None:
            files.write_text(svg, picture(report.curve, report.title, units.get(report.title)))
        if png is not None:
            if drawn is None:
                raise BadInput(
                    "there is no front to draw",
                    hint="a front is of several goals that are minimised or maximised, once a run "
                    "meets them; --svg draws the learning curve",
                )
            files.write_bytes(png, drawn.png())
    if table is not None:
        write_table(experiment.plan, experiment.space, experiment.runs(), table)
    for path in (html, svg, png, table):
        if path is not None:
            print_line(f"wrote {path}")


def print_report(report: "ExperimentReport", experiment: "Experiment") -> None:
    """The report on a terminal."""
    from rich.console import Console

    from compass.cli.render import printable, table
    from compass.experiment.picture import braille

    console, status = Console(), report.status
    units = experiment.units
    console.print(printable(_head(status)))
    if status.front is not None:
        _print_front(status.front, experiment, console)
    elif status.best is not None:
        console.print(printable(_best_line(status.best, units, experiment), "bold"))
    else:
        console.print(printable("No run meets the goals yet."))
    wide = min(50, max(console.width - 30, 20))
    lines = braille(report.curve, units.get(report.title), width=wide)
    if lines:
        single = experiment.objective.single
        of = f"best so far, {report.title}" if single is None else f"best {single} so far"
        of = f"{report.title} so far" if experiment.objective.traded else of
        console.print(printable(f"\n{of}"))
        for line in lines:
            console.print(printable(line))
    if report.errors:
        console.print(printable("\npredicted against measured"))
        rows = [
            [
                "no label yet" if one.label is None else one.label.value,
                str(one.runs),
                f"{one.mean_error:.1%}",
                f"{one.median_error:.1%}",
                "" if one.inside is None else f"{one.inside:.0%}",
            ]
            for one in report.errors
        ]
        heads = ["label", "runs", "mean error", "median", "inside interval"]
        console.print(table(heads, rows, right=heads[1:]))
    if status.stop is not None:
        console.print(printable(f"\nNo more runs: {status.stop}."))
    elif status.improvement is not None:
        gain = f"gain {status.improvement:.1%} of the best"
        if experiment.objective.traded:
            gain = f"add {status.improvement:.1%} to the hypervolume"
        console.print(printable(f"\nOne more run is expected to {gain}."))


def _head(status: "ExperimentStatus") -> str:
    from compass.domain.experiment import RunState

    goals = ", ".join(f"{name}: {goal}" for name, goal in status.goals.items())
    states = [
        f"{status.counts[state]} {state.value}"
        for state in RunState
        if status.counts.get(state) and state is not RunState.DONE
    ]
    more = f" ({', '.join(states)})" if states else ""
    history = f", {status.history:,} past runs attached" if status.history else ""
    return f"{goals}: {status.used} of {status.budget} runs{more}{history}."


def _print_front(front: "Front", experiment: "Experiment", console: "Console") -> None:
    """The trade-offs that were measured: a plot, a table, and what is known of them as a set."""
    from compass.cli.render import print_front, printable, table
    from compass.domain.quantity import quantity, setting
    from compass.trust.front_words import point_name

    units, shown = experiment.units, shown_points(front)
    print_front(console, front, units, shown)
    knobs = [name for name in shown[0].settings if len({str(p.settings[name]) for p in shown}) > 1]
    rows = []
    for point in shown:
        worth = [quantity(v, units.get(n)) for n, v in point.values.items()]
        settings = [setting(point.settings[n], units.get(n)) for n in knobs]
        rows.append([point_name(point), *worth, *settings, ", ".join(map(str, point.runs))])
    heads = ["", *front.directions, *knobs, "runs"]
    console.print(table(heads, rows, right=list(front.directions)))
    if len(shown) < len(front.points):
        console.print(printable(f"{len(shown)} of {len(front.points)} are shown; --json has all."))


def shown_points(front: "Front") -> "list[FrontPoint]":
    """The points that a terminal has room for: all, or what stands for them."""
    import numpy as np

    from compass.pareto.front import representatives

    turn = np.array([1.0 if way == "minimize" else -1.0 for way in front.directions.values()])
    values = turn * np.array([list(point.values.values()) for point in front.points])
    reference = turn * np.array(list(front.reference.values()))
    return [front.points[place] for place in representatives(values, reference, _POINTS)]


def _best_line(best: "ExperimentRun", units: Mapping[str, str], experiment: "Experiment") -> str:
    from compass.domain.quantity import quantity, setting

    told = ", ".join(
        f"{n} {quantity(v, units.get(n))}"
        for n, v in best.outcomes.items()
        if n in experiment.plan.goals
    )
    varied = {n: v for n, v in best.config.items() if n not in experiment.plan.fixed}
    settings = ", ".join(f"{n} = {setting(v, units.get(n))}" for n, v in varied.items())
    who = "a past run" if best.origin.value == "history" else f"run {best.number}"
    return f"Best: {told} with {settings} ({who})."


def runs_table(
    runs: "Sequence[ExperimentRun]",
    experiment: "Experiment",
    console: "Console",
    *,
    one_line: bool = False,
) -> "RenderableType":
    """Runs as a table; where there is too little room, what all have in common is left out.

    `one_line`: so are settings that vary, the least first, until every run is one line.
    """
    from rich.text import Text

    from compass.cli.render import fits, label, table
    from compass.domain.experiment import RunState
    from compass.domain.quantity import quantity, setting

    units = experiment.units
    knobs = [name for name in experiment.space.names if name not in experiment.plan.fixed]
    outcomes = [name for name in experiment.plan.goals if any(name in r.outcomes for r in runs)]
    quiet = (RunState.DONE, RunState.SUBMITTED)

    def rows(names: Sequence[str]) -> list[list[Any]]:
        found = []
        for run in runs:
            told = ", ".join(quantity(one.value, one.unit) for one in run.predicted)
            state = run.state.value + (f": {run.reason}" if run.reason else "")
            found.append(
                [
                    str(run.number),
                    *(setting(run.config[name], units.get(name)) for name in names),
                    *(
                        quantity(run.outcomes[name], units.get(name))
                        if name in run.outcomes
                        else ""
                        for name in outcomes
                    ),
                    told,
                    "" if run.label is None else label(run.label),
                    "" if run.state in quiet else Text(state[: 30 if one_line else 60]),
                ]
            )
        return found

    def made(names: Sequence[str], *, whole: bool) -> "Table":
        heads = ["run", *names, *outcomes, "predicted", "trust", ""]
        cells = rows(names)
        used = [place for place in range(len(heads)) if any(row[place] for row in cells)]
        kept = [heads[place] for place in used]
        shown = [[row[place] for place in used] for row in cells]
        right = ["run", *outcomes, "predicted"]
        return table(kept, shown, right=right, whole=kept if whole else ())

    first = made(knobs, whole=True)
    if fits(console, first):
        return first
    varied = {name: len({str(r.config[name]) for r in runs}) for name in knobs}
    if not one_line:
        return made([name for name in knobs if varied[name] > 1], whole=False)
    while knobs:
        knobs.remove(min(reversed(knobs), key=varied.__getitem__))
        if fits(console, found := made(knobs, whole=True)):
            return found
    return made([], whole=True)
