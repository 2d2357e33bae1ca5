"""Advice in the form of a workflow system: a profile of Snakemake, a config of Nextflow.

Rules and processes are known by the names of their jobs: `-J {rule}` of a cluster command, and
`nf-ALIGN_(sample)`, as Nextflow calls them. Names that no rule or process can have are left out:
Snakemake reads `rule:resource=amount` out of a profile, and would stop at them.
"""

import json
import math
import re
from collections.abc import Iterable

from compass.domain.advice import Advice
from compass.slurm import units

_MEMORY = {"mem": "mem_mb", "mem-per-cpu": "mem_mb_per_cpu"}
_RESOURCES = ("mem_mb", "mem_mb_per_cpu", "runtime")
_RULE = re.compile(r"[^\W\d]\w*")
_PROCESS = re.compile(r"[\w.:-]+")
_NEXTFLOW = re.compile(r"^nf-|_\(.*$")


def snakemake(advices: Iterable[Advice]) -> str:
    """The part of a profile (`config.yaml`) that sets resources: MB of memory, minutes."""
    resources, threads = [], []
    for name, one in _amounts(advices).items():
        if not _RULE.fullmatch(name):
            continue
        told = [f"    {key}: {one[key]}" for key in _RESOURCES if key in one]
        if told:
            resources += [f"  {json.dumps(name)}:", *told]
        if "cores" in one:
            threads.append(f"  {json.dumps(name)}: {one['cores']}")
    lines = ["set-resources:", *resources] if resources else []
    lines += ["set-threads:", *threads] if threads else []
    return "\n".join(lines) + "\n" if lines else "{}\n"


def nextflow(advices: Iterable[Advice]) -> str:
    """A config of Nextflow; what runs out is tried again with as much more as it had."""
    lines = ["process {"]
    for name, one in _amounts(advices).items():
        process = _NEXTFLOW.sub("", name)
        if not _PROCESS.fullmatch(process):
            continue
        selector = re.escape(process).replace("\\", "\\\\")  # a pattern, inside quotes of Groovy
        lines.append(f"    withName: '{selector}' {{")
        if "mem_mb" in one:
            lines.append(f"        memory = {{ {one['mem_mb']}.MB * task.attempt }}")
        if "runtime" in one:
            lines.append(f"        time = {{ {one['runtime']}.min * task.attempt }}")
        if "cores" in one:
            lines.append(f"        cpus = {one['cores']}")
        lines += ["        errorStrategy = 'retry'", "        maxRetries = 2", "    }"]
    return "\n".join([*lines, "}"]) + "\n"


def _amounts(advices: Iterable[Advice]) -> dict[str, dict[str, int]]:
    """What is advised by the name of the job; of several kinds with one name the largest."""
    found: dict[str, dict[str, int]] = {}
    for one in advices:
        if one.request.name is None:
            continue
        for edit in one.edits:
            told = _amount(edit.option, edit.new)
            if told is None:
                continue
            key, value = told
            own = found.setdefault(one.request.name, {})
            own[key] = max(own.get(key, 0), value)
    return found


def _amount(option: str, new: str) -> tuple[str, int] | None:
    """What workflow systems call an option, and its amount; None: they have no word for it."""
    if option in _MEMORY:
        return _MEMORY[option], math.ceil((units.size(new) or 0.0) / 2**20)
    if option == "time":
        return "runtime", math.ceil((units.seconds(new) or 0.0) / 60)
    return ("cores", int(new)) if option in ("ntasks", "cpus-per-task") else None
