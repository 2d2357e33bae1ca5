"""Forms of an answer: CSV, JSON, a job script, and the runs to make next as job arrays."""

import csv
import io
from pathlib import Path
from typing import Protocol, runtime_checkable

from compass import files, registry
from compass.domain.answer import Answer, Pending, Prediction, Suggestion
from compass.domain.arguments import anything_of, path_name, takes, text
from compass.domain.base import Value
from compass.domain.errors import DataProblem, QueryProblem
from compass.domain.front import FrontPoint
from compass.exporters.spreadsheet import guarded
from compass.slurm.script import fill_template, job_array, job_script


@runtime_checkable
class Exporter(Protocol):
    """A form of an answer."""

    name: str

    def render(self, answer: Answer, template: str | None = None) -> str:
        """The answer as text."""


@registry.add("exporter", "json")
class Json:
    """The whole answer as JSON."""

    name = "json"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The answer as JSON."""
        _no_template("json", template)
        return answer.model_dump_json(indent=2) + "\n"


@registry.add("exporter", "csv")
class Csv:
    """One line per suggestion: settings, predictions, trust; ideas are not written."""

    name = "csv"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The suggestions as CSV."""
        _no_template("csv", template)
        first = _first(answer)
        out = io.StringIO()
        # All labels in quotes: a lone carriage return in one would otherwise end the line.
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        # What a recommendation was not asked for is averaged over: a single value of it beside the
        # prediction would say that the prediction is for that value.
        averaged = answer.baseline is None
        names = list(first.settings if averaged else first.config)
        foretold = [(part, o.name) for o in first.outcomes for part in _foretold(o)]
        heads = [_cell(name) for name in (*names, *(f"{part}_{o}" for part, o in foretold))]
        trusts = ["trust", "algorithm_1", "ood", "uq", "support", "reason", "context"]
        points = [] if answer.front is None else [p for p in answer.front.points if not p.idea]
        writer.writerow(["rank", *heads, *trusts, *(_POINT if points else ())])
        for rank, s in enumerate(answer.suggestions, 1):
            values = [_cell(s.config[name]) for name in names]
            outcomes = [_cell(_foretold(s.outcome(o)).get(part, "")) for part, o in foretold]
            words = [_cell(s.trust.reason), _cell(answer.context)]
            shown = "" if s.trust.published is None else s.trust.published.value
            scores = [s.trust.ood, s.trust.uq, s.trust.support]
            trust = [s.trust.label.value, shown, *scores, *words]
            about = _about_point(points[rank - 1]) if points else []
            writer.writerow([rank, *values, *outcomes, *trust, *about])
        return out.getvalue()


_POINT = ("measured_runs", "knee", "dominated", "promising", "proved")


def _about_point(point: FrontPoint) -> list[Value]:
    """What is known of a point of a front."""
    proved = "" if point.proved is None else point.proved
    return [point.measured, point.knee, point.dominated, point.promising, proved]


def _foretold(outcome: Prediction) -> dict[str, Value]:
    """What is told of an outcome: the prediction, its interval, and the chance of its goal."""
    told: dict[str, Value] = {"predicted": outcome.value}
    if outcome.low is not None and outcome.high is not None:
        told |= {"low": outcome.low, "high": outcome.high}
    return told if outcome.chance is None else told | {"chance": outcome.chance}


@registry.add("exporter", "sbatch")
class Sbatch:
    """A Slurm job script of the best suggestion."""

    name = "sbatch"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The first suggestion as a job script, or a site's template with its {names} filled in."""
        # A script is submitted as it is: it has no place for doubts about what it runs.
        if answer.no_answer is not None:
            raise nothing_to_write(answer)
        best = _first(answer)
        if template is None:
            return job_script(best, answer.context, answer.units)
        return fill_template(template, best.config, answer.units)


@registry.add("exporter", "array")
class JobArray:
    """The runs to make next as Slurm job arrays."""

    name = "array"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """A script that submits every proposed run; runs of equal resources are one array."""
        _no_template("array", template)
        return job_array(answer.run_next, answer.units)


def _first(answer: Answer) -> Suggestion:
    if not answer.suggestions:
        raise nothing_to_write(answer)
    return answer.suggestions[0]


def nothing_to_write(answer: Answer) -> QueryProblem:
    """Why no suggestion of an answer can be written, and what to do instead.

    Ideas are not written: a file has no place to say that nothing speaks for them.
    """
    if answer.no_answer is None:
        return QueryProblem(
            "there is no configuration to write",
            hint="name a past run to start from",
        )
    proposes = bool(answer.run_next) or Pending.RUN_NEXT in answer.pending
    steps = ["measure first what the answer proposes to run next"] if proposes else []
    cheaper = [price.chance for price in answer.prices if price.reached]
    if answer.chance is not None and any(chance < answer.chance for chance in cheaper):
        steps.append(f"ask for less certainty (a chance of {min(cheaper):.0%})")
    return QueryProblem(
        f"there is no supported answer to write: {answer.no_answer}",
        hint=", or ".join(steps) or "ask for less, or tell Compass more runs",
    )


def _no_template(name: str, template: str | None) -> None:
    if template is not None:
        raise QueryProblem(f"{name} takes no template", hint="templates are for sbatch")


def _cell(value: Value) -> Value:
    return "none" if value is None else guarded(value)


@takes(answer=anything_of(Answer), form=text, path=path_name, template=path_name)
def export(answer: Answer, form: str, path: str | Path, template: str | Path | None = None) -> None:
    """Write an answer in a registered form: json, csv, sbatch, svg, or one of a plug-in; or png.

    `png` is the picture of `svg`; all other forms are text.
    """
    if form == "png":
        from compass.exporters.front_chart import answer_drawing

        _no_template("png", None if template is None else str(template))
        write_export(Path(path), answer_drawing(answer).png())
        return
    text = None
    if template is not None:
        try:
            text = Path(template).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text (UTF-8)"
            raise DataProblem(
                f"cannot read the template {template}: {why}", hint="check the path"
            ) from None
    rendered: str = registry.get("exporter", form).render(answer, text)
    write_export(Path(path), rendered)


def write_export(path: Path, content: str | bytes) -> None:
    """Write what was rendered to a file, which is replaced whole or not at all."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        files.write_bytes(path, data, files.READABLE)
    except OSError as error:
        raise DataProblem(
            f"cannot write {path}: {error.strerror}", hint="check the folder and its permissions"
        ) from None
