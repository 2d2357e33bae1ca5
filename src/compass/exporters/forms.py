"""Forms of an answer: CSV, JSON, a job script, and the runs to make next as job arrays."""

import csv
import io
import math
import os
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from compass import registry
from compass.domain.answer import Answer, Prediction, Proposal, Suggestion
from compass.domain.arguments import anything_of, path_name, takes, text
from compass.domain.base import Config, Value
from compass.domain.errors import DataProblem, QueryProblem, UnknownName, unknown
from compass.exporters.spreadsheet import guarded

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
# An answer does not say in what unit its settings are, and Slurm assumes one.
_COUNTED_IN = {"mem": "GB", "time": "minutes"}


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
        first = _first(answer)
        out = io.StringIO()
        # All labels in quotes: a lone carriage return in one would otherwise end the line.
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        # What a recommendation was not asked for is averaged over: a single value of it beside the
        # prediction would say that the prediction is for that value.
        averaged = answer.baseline is None
        names = list(first.settings if averaged else first.config)
        predicted = [o.name for o in first.outcomes]
        foretold = [f"{part}_{o.name}" for o in first.outcomes for part in _foretold(o)]
        told = [_cell(name) for name in (*names, *foretold)]
        writer.writerow(["rank", *told, "trust", "support", "reason", "context"])
        for rank, s in enumerate(answer.suggestions, 1):
            values = [_cell(s.config[name]) for name in names]
            outcomes = [_cell(v) for name in predicted for v in _foretold(s.outcome(name)).values()]
            words = [_cell(s.trust.reason), _cell(answer.context)]
            trust = [s.trust.label.value, s.trust.support, *words]
            writer.writerow([rank, *values, *outcomes, *trust])
        return out.getvalue()


def _foretold(outcome: Prediction) -> dict[str, Value]:
    """What is told of an outcome: the prediction, and its interval where it has one."""
    value: dict[str, Value] = {"predicted": outcome.value}
    if outcome.low is None or outcome.high is None:
        return value
    return value | {"low": outcome.low, "high": outcome.high}


@registry.add("exporter", "sbatch")
class Sbatch:
    """A Slurm job script of the best suggestion."""

    name = "sbatch"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The first suggestion as a job script, or a site's template with its {names} filled in."""
        best = _first(answer)
        return _script(best, answer.context) if template is None else _fill(template, best.config)


@registry.add("exporter", "array")
class JobArray:
    """The runs to make next as Slurm job arrays."""

    name = "array"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """A script that submits every proposed run; runs of equal resources are one array."""
        _no_template("array", template)
        return job_array(answer.run_next)


def job_array(proposals: Sequence[Proposal]) -> str:
    """Proposed runs as a script that submits itself: one task each, one array for equal resources.

    All tasks of an array get the same resources, so runs that differ in them need several.
    """
    if not proposals:
        raise QueryProblem("there is no run to propose", hint="what was asked needs no further run")
    arrays: dict[str, list[int]] = {}
    cases: list[str] = []
    for number, proposal in enumerate(proposals, 1):
        used = _requested(proposal.config)
        # Of our own making: every value has been stripped of what a shell would take for its own.
        arrays.setdefault(" ".join(_options(proposal.config, used)), []).append(number)
        cases += [f"{number})  # {_one_line(proposal.why)}"]
        cases += [f"    {line}" for line in _variables(proposal.config, used)]
        cases += ["    ;;"]
    submits = [
        " ".join(
            part for part in ("    sbatch", f"--array={_numbers(tasks)}", options, '"$0"') if part
        )
        for options, tasks in arrays.items()
    ]
    return "\n".join(
        [
            "#!/bin/bash",
            "# Submit with: bash THIS_FILE",
            'if [ -z "$SLURM_ARRAY_TASK_ID" ]; then',
            *submits,
            "    exit",
            "fi",
            "",
            'case "$SLURM_ARRAY_TASK_ID" in',
            *cases,
            "esac",
            "",
            "# srun ./your_program",
            "",
        ]
    )


def _numbers(tasks: Sequence[int]) -> str:
    whole = tasks[-1] - tasks[0] == len(tasks) - 1 and len(tasks) > 1
    return f"{tasks[0]}-{tasks[-1]}" if whole else ",".join(map(str, tasks))


def _first(answer: Answer) -> Suggestion:
    if not answer.suggestions:
        raise QueryProblem(
            "there is no configuration to write",
            hint=answer.no_answer or "name a past run to start from (--from row:N)",
        )
    return answer.suggestions[0]


def _no_template(name: str, template: str | None) -> None:
    if template is not None:
        raise QueryProblem(f"{name} takes no template", hint="templates are for sbatch")


def _cell(value: Value) -> Value:
    return "none" if value is None else guarded(value)


def _script(best: Suggestion, context: str) -> str:
    used = _requested(best.config)
    lines = ["#!/bin/bash"]
    lines += [f"#SBATCH {option}" for option in _options(best.config, used)]
    lines += [
        "",
        *(f"# {_one_line(text)}" for text in (*_remarks(best, used), context) if text),
        "",
        *_variables(best.config, used),
        "",
        "# srun ./your_program",
        "",
    ]
    return "\n".join(lines)


def _requested(config: Config) -> dict[str, str]:
    """The options of sbatch that a configuration sets, and the column of each."""
    known = [name for name, value in config.items() if value is not None]
    found = {
        option: next((n for word in words for n in known if n.casefold() == word), None)
        for option, words in _SBATCH.items()
    }
    # Clusters without GPUs refuse even a request for none of them.
    return {
        option: name
        for option, name in found.items()
        if name is not None and not (option == "gpus" and config[name] == 0)
    }


def _options(config: Config, used: Mapping[str, str]) -> list[str]:
    return [f"--{option}={_option(option, config[name])}" for option, name in used.items()]


def _variables(config: Config, used: Mapping[str, str]) -> list[str]:
    """Everything that is no option of sbatch, for the program to read."""
    lines = []
    if "cpus-per-task" in used:
        threads = _option("cpus-per-task", config[used["cpus-per-task"]])
        lines.append(f"export OMP_NUM_THREADS={shlex.quote(threads)}")
    return lines + [
        f"export COMPASS_{_variable(name)}={shlex.quote(_one_line(_plain(value)))}"
        for name, value in config.items()
        if value is not None and name not in used.values()
    ]


def _remarks(best: Suggestion, used: Mapping[str, str]) -> list[str]:
    """What a person should know before submitting."""
    told = [best.trust.reason]
    if not best.meets_goals:
        told.append("It does not meet the goal; it is the closest that was found.")
    told += [
        f"predicted {o.name}: {_plain(o.value)}" + (f" {o.unit}" if o.unit else "")
        for o in best.outcomes
    ]
    for option, meaning in _COUNTED_IN.items():
        if option in used and isinstance(best.config[used[option]], int | float):
            told.append(f"check: --{option} is taken from {used[option]}, as {meaning}")
    return told


def _option(option: str, value: Value) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{math.ceil(value)}{'G' if option == 'mem' else ''}"  # Slurm takes whole numbers
    # sbatch ends an option at white space, so nothing but a word may stand here.
    return re.sub(r"[^\w.,:@/+-]", "_", _one_line(_plain(value)), flags=re.ASCII)


def _plain(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)


def _one_line(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.upper(), flags=re.ASCII)


# In this order: ${NAME} and ${A:-${B}} belong to the shell and stay as they are.
_IN_TEMPLATE = re.compile(r"\$\{[^{}]*(?:\$\{[^{}]*\}[^{}]*)*\}|\{\{|\}\}|\{([^{}\s]+)\}")


def _fill(template: str, config: Config) -> str:
    """`{name}` becomes the value, quoted for the shell; `{{` and `}}` are braces."""

    def value(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        name = match[1]
        if name is None:
            return match[0]
        if name not in config:
            raise _unknown_in_template(name, config)
        return shlex.quote(_one_line(_plain(config[name])))

    return _IN_TEMPLATE.sub(value, template)


def _unknown_in_template(name: str, config: Config) -> UnknownName:
    error = unknown("parameter", name, config, where="in the template")
    return UnknownName(error.message, hint=f"{error.hint} (braces of the shell: {{{{{name}}}}})")


@takes(answer=anything_of(Answer), form=text, path=path_name, template=path_name)
def export(answer: Answer, form: str, path: str | Path, template: str | Path | None = None) -> None:
    """Write an answer in a registered form: json, csv, sbatch, or one of a plug-in."""
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
    write_text(Path(path), rendered)


def write_text(path: Path, text: str) -> None:
    """Replace a file whole or not at all."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=path.parent, prefix=".compass-", delete=False
        ) as file:
            fresh = Path(file.name)
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                fresh.chmod(0o644)
                fresh.replace(path)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise DataProblem(
            f"cannot write {path}: {error.strerror}", hint="check the folder and its permissions"
        ) from None
