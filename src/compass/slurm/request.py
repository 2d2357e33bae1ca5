"""What a job script asks of sbatch: its `#SBATCH` lines, read; and the lines with other values."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from compass.domain.advice import JobRequest
from compass.domain.base import valid
from compass.domain.errors import BadInput
from compass.slurm import units

_LARGEST = 1 << 20  # bytes of a job script
_SHORT = {
    "J": "job-name",
    "t": "time",
    "n": "ntasks",
    "c": "cpus-per-task",
    "N": "nodes",
    "p": "partition",
    "A": "account",
    "G": "gpus",
    "q": "qos",
}


def options_of_script(text: str) -> dict[str, str]:
    """The options of a job script by their long names; of one given twice, the last."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break  # sbatch stops at the first command
        if not line.startswith("#SBATCH"):
            continue
        try:
            words = shlex.split(line[len("#SBATCH") :], comments=True)
        except ValueError as problem:
            said = f"'{line[:80]}' cannot be read: {problem}"
            raise BadInput(said, hint="see man sbatch") from None
        while words:
            word = words.pop(0)
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
            elif word.startswith("-") and len(word) > 1:
                name, value = _SHORT.get(word[1], word[1]), word[2:]
                equals = value
            else:
                continue
            if not equals and words and not words[0].startswith("-"):
                value = words.pop(0)
            found[name] = value
    return found


def request_of_script(path: Path, user: str | None) -> JobRequest:
    """What a job script asks for. Memory is that of a node."""
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"{path} is too large for a job script", hint="at most 1 MiB")
        text = path.read_text(errors="replace")
    except OSError as problem:
        raise BadInput(f"cannot read {path}: {problem.strerror}", hint="is it there?") from None
    return request_of_text(text, path.name, user)


def request_of_text(text: str, name: str | None, user: str | None) -> JobRequest:
    """What the text of a job script asks for; `name`: of its file."""
    options = options_of_script(text)
    nodes = _number(options, "nodes") or 1.0
    tasks = _number(options, "ntasks") or (_number(options, "ntasks-per-node") or 1.0) * nodes
    cores = tasks * (_number(options, "cpus-per-task") or 1.0)
    memory = _memory(options, "mem")
    per_cpu = _memory(options, "mem-per-cpu")
    if memory is None and per_cpu is not None:
        memory = per_cpu * cores / nodes
    return valid(
        JobRequest,
        {
            "user": user,
            "name": options.get("job-name", name),  # as sbatch names it
            "partition": options.get("partition"),
            "limit": _limit(options.get("time", "")),
            "memory": memory,
            "cores": cores,
            "nodes": nodes,
            "gpus": _gpus(options, nodes, tasks),
            "memory_per_cpu": per_cpu is not None and _memory(options, "mem") is None,
            "exclusive": "exclusive" in options or options.get("mem") == "0",
        },
    )


def _gpus(options: Mapping[str, str], nodes: float, tasks: float) -> float | None:
    """GPUs of the whole job: `--gpus=2`, `--gpus-per-node=a100:2`, `--gres=gpu:a100:2,tmp:5`."""
    if (found := _number(options, "gpus")) is not None:
        return found
    for name, times in (("gpus-per-node", nodes), ("gpus-per-task", tasks)):
        if (found := _number(options, name)) is not None:
            return found * times
    for part in options.get("gres", "").split(","):
        kind, *rest = part.split(":")
        if kind == "gpu":
            return nodes * (float(rest[-1]) if rest and rest[-1].isdecimal() else 1.0)
    return None


def _number(options: Mapping[str, str], name: str) -> float | None:
    found = re.search(r"\d+$", options.get(name, "").partition("-")[0])
    return float(found[0]) if found and float(found[0]) > 0 else None


def _memory(options: Mapping[str, str], name: str) -> float | None:
    text = options.get(name, "")
    try:
        size = units.size(f"{text}M" if text.isdecimal() else text)
    except ValueError:
        raise BadInput(f"--{name}={text} is no size", hint="for example --mem=4G") from None
    return size or None


def _limit(text: str) -> float | None:
    """The seconds of --time, whose plain numbers are minutes."""
    if not text or units.is_missing(text):
        return None
    try:
        if text.isdecimal():
            return 60.0 * float(text) or None
        return units.seconds(text) or None
    except ValueError:
        raise BadInput(f"--time={text} is no time", hint="for example --time=1-12:00:00") from None
