"""Job scripts for Slurm: of one configuration, of several as job arrays, and from a template."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from compass.domain.answer import Proposal, Suggestion
from compass.domain.base import Config, Value
from compass.domain.errors import QueryProblem, UnknownName, unknown
from compass.domain.quantity import quantity
from compass.slurm.directives import Directives, directives


def job_script(best: Suggestion, context: str, units: Mapping[str, str]) -> str:
    """The job script of a suggestion.

    `context` is what its answer says about the context, `units` are those of the columns.
    """
    asked = directives(best.config, units)
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {option}" for option in asked),
        "",
        *(f"# {_one_line(text)}" for text in (*_remarks(best, asked), context) if text),
        "",
        *_variables(best.config, asked, units),
        "",
        "# srun ./your_program",
        "",
    ]
    return "\n".join(lines)


def _variables(config: Config, asked: Directives, units: Mapping[str, str]) -> list[str]:
    """Everything that is no option of sbatch, for the program to read."""
    lines = []
    if "cpus-per-task" in asked.options:
        lines.append(f"export OMP_NUM_THREADS={asked.options['cpus-per-task']}")
    for name, value in config.items():
        if value is None or name in asked.used:
            continue
        written = shlex.quote(_one_line(_plain(value)))
        unit = f"  # {_one_line(units[name])}" if name in units else ""
        lines.append(f"export COMPASS_{variable_name(name)}={written}{unit}")
    return lines


def _remarks(best: Suggestion, asked: Directives) -> list[str]:
    """What a person should know before submitting."""
    remarks = [best.trust.reason]
    if not best.meets_goals:
        remarks.append("It does not meet the goal; it is the closest that was found.")
    remarks += [f"predicted {o.name}: {quantity(o.value, o.unit)}" for o in best.outcomes]
    return [*remarks, *asked.remarks]


def _plain(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)


def _one_line(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


def variable_name(name: str) -> str:
    """A name as that of an environment variable, without the prefix."""
    return re.sub(r"\W", "_", name.upper(), flags=re.ASCII)


# In this order: ${NAME} and ${A:-${B}} belong to the shell and stay as they are.
_IN_TEMPLATE = re.compile(r"\$\{[^{}]*(?:\$\{[^{}]*\}[^{}]*)*\}|\{\{|\}\}|\{([^{}\s]+)\}")


def fill_template(template: str, config: Config, units: Mapping[str, str]) -> str:
    """`{name}` becomes the value, quoted for the shell; `{{` and `}}` are braces.

    `{--time}` is what a job script has behind that option of sbatch, in the form of Slurm.
    """
    options = {f"--{option}": text for option, text in directives(config, units).options.items()}

    def value(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        name = match[1]
        if name is None:
            return match[0]
        if name in options:
            return options[name]
        if name not in config:
            raise _unknown_name(name, options if name.startswith("--") else config)
        return shlex.quote(_one_line(_plain(config[name])))

    return _IN_TEMPLATE.sub(value, template)


def _unknown_name(name: str, known: Iterable[str]) -> UnknownName:
    error = unknown("parameter", name, known, where="in the template")
    return UnknownName(error.message, hint=f"{error.hint} (braces of the shell: {{{{{name}}}}})")


def job_array(proposals: Sequence[Proposal], units: Mapping[str, str]) -> str:
    """Proposed runs as a script that submits itself: one task each, one array for equal resources.

    All tasks of an array get the same resources, so runs that differ in them need several. `units`
    are those of the columns.
    """
    if not proposals:
        raise QueryProblem("there is no run to propose", hint="what was asked needs no further run")
    arrays: dict[str, list[int]] = {}
    cases: list[str] = []
    for number, proposal in enumerate(proposals, 1):
        asked = directives(proposal.config, units)
        # Of our own making: every value has been stripped of what a shell would take for its own.
        arrays.setdefault(" ".join(asked), []).append(number)
        cases += [f"{number})  # {_one_line(proposal.why)}"]
        cases += [f"    # {_one_line(remark)}" for remark in asked.remarks]
        cases += [f"    {line}" for line in _variables(proposal.config, asked, units)]
        cases += ["    ;;"]
    submits = [
        " ".join(filter(None, ("    sbatch", f"--array={_numbers(tasks)}", options, '"$0"')))
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
