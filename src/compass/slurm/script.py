"""Job scripts for Slurm: of one configuration, of several as job arrays, and from a template."""

import math
import re
import shlex
from collections.abc import Mapping, Sequence

from compass.domain.answer import Proposal, Suggestion
from compass.domain.base import Config, Value
from compass.domain.errors import QueryProblem, UnknownName, unknown

# The option of sbatch for a setting, by the words people use for columns (longest match first).
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
_OPTION_CHARACTERS = r"\w.,:@/+\-"  # sbatch ends an option at white space
OPTION = re.compile(f"[{_OPTION_CHARACTERS}]+")  # a value that may stand in a line of a script
_NOT_IN_OPTION = re.compile(f"[^{_OPTION_CHARACTERS}]", re.ASCII)


def job_script(best: Suggestion, context: str) -> str:
    """The job script of a suggestion; `context` is what its answer says about the context."""
    used = _requested(best.config)
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {option}" for option in _options(best.config, used)),
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
    remarks = [best.trust.reason]
    if not best.meets_goals:
        remarks.append("It does not meet the goal; it is the closest that was found.")
    remarks += [
        f"predicted {o.name}: {_plain(o.value)}" + (f" {o.unit}" if o.unit else "")
        for o in best.outcomes
    ]
    for option, meaning in _COUNTED_IN.items():
        if option in used and isinstance(best.config[used[option]], int | float):
            remarks.append(f"check: --{option} is taken from {used[option]}, as {meaning}")
    return remarks


def _option(option: str, value: Value) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{math.ceil(value)}{'G' if option == 'mem' else ''}"  # Slurm takes whole numbers
    return _NOT_IN_OPTION.sub("_", _one_line(_plain(value)))


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


def fill_template(template: str, config: Config) -> str:
    """`{name}` becomes the value, quoted for the shell; `{{` and `}}` are braces."""

    def value(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        name = match[1]
        if name is None:
            return match[0]
        if name not in config:
            raise _unknown_name(name, config)
        return shlex.quote(_one_line(_plain(config[name])))

    return _IN_TEMPLATE.sub(value, template)


def _unknown_name(name: str, config: Config) -> UnknownName:
    error = unknown("parameter", name, config, where="in the template")
    return UnknownName(error.message, hint=f"{error.hint} (braces of the shell: {{{{{name}}}}})")


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
