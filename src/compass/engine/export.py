"""Forms of an answer: CSV, JSON and a job script."""

import csv
import io
import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import Protocol, runtime_checkable

from compass import registry
from compass.domain.answer import Answer, Suggestion
from compass.domain.base import Config, Value
from compass.domain.errors import DataProblem, QueryProblem, unknown

# What Slurm calls a setting, by the words people use for columns (longest match first).
_SBATCH: dict[str, tuple[str, ...]] = {
    "nodes": ("num_nodes_req", "num_nodes", "nodes_req", "nnodes", "nodes"),
    "ntasks": ("num_tasks", "ntasks", "tasks", "num_processes", "processes"),
    "ntasks-per-node": ("tasks_per_node", "ntasks_per_node", "ppn", "ppn_count"),
    "cpus-per-task": ("cores_per_task", "cpus_per_task", "nthreads", "num_threads", "threads"),
    "gpus": ("num_gpus_req", "num_gpus", "gpus_req", "ngpus", "gpus"),
    "mem": ("mem_req", "memory", "mem"),
    "time": ("time_limit", "timelimit", "walltime"),
    "partition": ("partition",),
    "qos": ("qos",),
}


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
    """One line per suggestion: settings, predictions, trust."""

    name = "csv"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The suggestions as CSV."""
        _no_template("csv", template)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if not answer.suggestions:
            return ""
        first = answer.suggestions[0]
        names = list(first.config)
        predicted = [o.name for o in first.outcomes]
        writer.writerow(
            ["rank", *names, *(f"predicted_{n}" for n in predicted), "trust", "support", "reason"]
        )
        for rank, s in enumerate(answer.suggestions, 1):
            values = [_cell(s.config[name]) for name in names]
            outcomes = [_cell(s.outcome(name).value) for name in predicted]
            trust = [s.trust.label.value, s.trust.support, s.trust.reason]
            writer.writerow([rank, *values, *outcomes, *trust])
        return out.getvalue()


@registry.add("exporter", "sbatch")
class Sbatch:
    """A Slurm job script of the best suggestion."""

    name = "sbatch"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The first suggestion as a job script, or a site's template with its {names} filled in."""
        if not answer.suggestions:
            raise QueryProblem(
                "there is no suggestion to write a job script for",
                hint=answer.no_answer or "ask recommend or reconfigure",
            )
        best = answer.suggestions[0]
        if template is not None:
            return _fill(template, best.config)
        return _script(best)


def _no_template(name: str, template: str | None) -> None:
    if template is not None:
        raise QueryProblem(f"{name} takes no template", hint="templates are for sbatch")


def _cell(value: Value) -> Value:
    # A spreadsheet would run a label that begins like a formula.
    if isinstance(value, str) and value[:1] in "=+-@\t\r":
        return "'" + value
    return "none" if value is None else value


def _script(best: Suggestion) -> str:
    config = best.config
    lines = ["#!/bin/bash"]
    used: set[str] = set()
    for option, words in _SBATCH.items():
        name = next((w for word in words for w in config if w.casefold() == word), None)
        if name is None or config[name] is None:
            continue
        used.add(name)
        lines.append(f"#SBATCH --{option}={_option(option, config[name])}")
    lines.append("")
    lines.append(f"# {_one_line(best.trust.reason)}")
    lines += [
        f"# predicted {_one_line(o.name)}: {_one_line(_plain(o.value))}"
        + (f" {o.unit}" if o.unit else "")
        for o in best.outcomes
    ]
    lines.append("")
    threads = next((n for n in config if n.casefold() in _SBATCH["cpus-per-task"]), None)
    if threads is not None and config[threads] is not None:
        lines.append(f"export OMP_NUM_THREADS={shlex.quote(_plain(config[threads]))}")
    for name, value in config.items():
        if name not in used and value is not None:
            lines.append(
                f"export COMPASS_{_variable(name)}={shlex.quote(_one_line(_plain(value)))}"
            )
    lines += ["", "# srun ./your_program", ""]
    return "\n".join(lines)


def _option(option: str, value: Value) -> str:
    text = _one_line(_plain(value))
    if option == "mem" and isinstance(value, int | float):
        return f"{text}G" if value < 4096 else f"{text}M"
    # sbatch ends an option at white space, so nothing but a word may stand here.
    return re.sub(r"[^\w.:@/+-]", "_", text)


def _plain(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.upper())


def _fill(template: str, config: Config) -> str:
    """`{name}` becomes the value, quoted for the shell; `{{` and `}}` are braces."""

    def value(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        name = match[1]
        if name not in config:
            raise unknown("parameter", name, config, where="in the template")
        return shlex.quote(_one_line(_plain(config[name])))

    # ${NAME} belongs to the shell and stays as it is.
    return re.sub(r"(?<!\$)\{\{|\}\}|(?<!\$)\{([^{}\s]+)\}", value, template)


def export(answer: Answer, form: str, path: Path, template: Path | None = None) -> None:
    """Write an answer in a registered form."""
    text = None
    if template is not None:
        try:
            text = template.read_text(encoding="utf-8")
        except OSError as error:
            raise DataProblem(
                f"cannot read the template {template}: {error.strerror}", hint="check the path"
            ) from None
    rendered: str = registry.get("exporter", form).render(answer, text)
    write_text(path, rendered)


def write_text(path: Path, text: str) -> None:
    """Replace a file whole or not at all."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise DataProblem(
            f"cannot write {path}: {error.strerror}", hint="check the folder and its permissions"
        ) from None
