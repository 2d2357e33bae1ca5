"""The report of an experiment as one HTML page that needs nothing else."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

from compass.domain.base import Value
from compass.domain.experiment import ExperimentReport, ExperimentRun, ExperimentStatus, RunState
from compass.domain.front import Front
from compass.domain.quantity import quantity, setting
from compass.experiment.picture import svg
from compass.exporters.front_chart import runs_drawing
from compass.trust.front_words import front_in_words, point_in_words

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em;
  color: #222 }
table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto }
th, td { padding: .2em .8em; text-align: left; border-bottom: 1px solid #ddd; white-space: nowrap }
td.n { text-align: right; font-variant-numeric: tabular-nums }
tr.best td { background: #e6f2ea } tr.failed td { color: #a33 }
svg { max-width: 100%; height: auto }
@media print { body { margin: 0 } }
"""


def page(report: ExperimentReport, units: Mapping[str, str], fixed: Iterable[str] = ()) -> str:
    """The report as a page; what is fixed is told once."""
    status = report.status
    goals = ", ".join(f"{name}: {goal}" for name, goal in status.goals.items())
    best = status.best
    body = [
        f"<h1>{escape(status.name)}</h1>",
        f"<p>{escape(goals)}. {status.used} of {status.budget} runs"
        f"{f', {status.history} past runs attached' if status.history else ''}.</p>",
    ]
    if status.stop:
        body.append(f"<p>No more runs: {escape(status.stop)}.</p>")
    if status.front is not None:
        body += ["<h2>Front</h2>", *_front(status.front, status.name, units)]
    if best is not None:
        told = ", ".join(
            f"{n} {quantity(v, units.get(n))}"
            for n, v in best.outcomes.items()
            if n in status.goals
        )
        settings = ", ".join(f"{n} = {setting(v, units.get(n))}" for n, v in best.config.items())
        body.append(
            f"<h2>{_best_title(status)}</h2><p>Run {best.number}: <strong>{escape(told)}</strong> "
            f"with {escape(settings)}.</p>"
        )
    body += ["<h2>Learning curve</h2>", svg(report.curve, report.title, units.get(report.title))]
    if report.errors:
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
        heads = ["label", "runs", "mean error", "median error", "inside the interval"]
        body += ["<h2>Predicted against measured</h2>", _table(heads, rows)]
    marked = _marked(status)
    body += ["<h2>Runs</h2>", _runs(report.runs, marked, units, set(fixed))]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(status.name)}</title>'
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>"
        + "\n".join(body)
        + "</html>\n"
    )


def _runs(
    runs: Sequence[ExperimentRun],
    marked: Collection[int],
    units: Mapping[str, str],
    fixed: set[str],
) -> str:
    if not runs:
        return "<p>None yet.</p>"
    knobs = [name for name in runs[0].config if name not in fixed]
    outcomes = list(dict.fromkeys(name for run in runs for name in run.outcomes))
    heads = ["run", *knobs, *outcomes, "predicted", "label", "state"]
    rows, marks = [], []
    for run in runs:
        told = ", ".join(quantity(one.value, one.unit) for one in run.predicted)
        state = run.state.value + (f": {run.reason}" if run.reason else "")
        rows.append(
            [
                str(run.number),
                *(_cell(run.config[name], units.get(name)) for name in knobs),
                *(_cell(run.outcomes.get(name), units.get(name)) for name in outcomes),
                told,
                run.label.value if run.label else "",
                state[:200],
            ]
        )
        failed = run.state in (RunState.FAILED, RunState.INFEASIBLE)
        mark = "best" if run.number in marked else ""
        marks.append("failed" if failed else mark)
    return _table(heads, rows, marks)


def _best_title(status: ExperimentStatus) -> str:
    return "Best run" if status.front is None else "Most balanced trade-off"


def _marked(status: ExperimentStatus) -> set[int]:
    """The numbers of the best run, or of those on the front."""
    if status.front is not None:
        return {number for point in status.front.points for number in point.runs}
    return set() if status.best is None else {status.best.number}


def _front(front: Front, name: str, units: Mapping[str, str]) -> list[str]:
    """The trade-offs as a picture, a table and sentences."""
    rows = [
        [
            str(point.place + 1),
            *(quantity(value, units.get(n)) for n, value in point.values.items()),
            ", ".join(f"{n} = {setting(v, units.get(n))}" for n, v in point.settings.items()),
            ", ".join(map(str, point.runs)),
            ", ".join(str(other + 1) for other in point.alike),
            f"{'knee: ' if point.knee else ''}{point_in_words(point)}",
        ]
        for point in front.points
    ]
    heads = ["", *front.directions, "settings", "runs", "like", "beside the ends of the front"]
    said = " ".join(front_in_words(front, units))
    drawn = runs_drawing(front, units, f"The front of {name}")
    return [drawn.svg(), f"<p>{escape(said)}</p>", _table(heads, rows)]


def _cell(value: Value, unit: str | None) -> str:
    return "" if value is None else setting(value, unit)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], marks: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = []
    for place, row in enumerate(rows):
        mark = f' class="{marks[place]}"' if marks and marks[place] else ""
        cells = "".join(
            f"<td{' class=n' if cell[:1].isdigit() else ''}>{escape(cell)}</td>" for cell in row
        )
        body.append(f"<tr{mark}>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
