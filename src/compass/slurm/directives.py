"""What a configuration asks of sbatch: columns by name, with their units, as options of Slurm.

Times and memory are rounded up, never down: a job that asks for less than it needs is killed. What
has no known unit is told and not written, since Slurm would assume one.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compass.domain.base import Config, Value
from compass.domain.units import UNITS, canonical
from compass.slurm import units as slurm_units

Units = Mapping[str, str]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that say how many, of what, and who asked for it: num_nodes_req is nodes.
_ABOUT = _set("n num no number of count req reqd request requested slurm job total")
_REQUESTED = _set("req reqd request requested")
# What was given or used is a result, even where the name of the thing is the same.
_MEASURED = _set(
    "alloc allocated used usage avg ave average mean peak max actual elapsed free idle"
)
_UNIT_WORDS = _set(
    "s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days raw "
    "b kb mb gb tb kib mib gib tib byte bytes"
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")

_PROCESSES = r"(?:mpi)?(?:tasks?|processes|procs?|ranks?)"
_CPUS = r"(?:cpus?|cores?|processors?)"
_GPUS = r"(?:gpus?|gresgpus?)"
_MEMORY = r"(?:mem|memory)"
# The joined words of a name, without those above; the first option that fits is meant.
_COUNTS = {
    "nodes": r"n?nodes?",
    "ntasks": rf"n?{_PROCESSES}",
    "ntasks-per-node": rf"n?{_PROCESSES}pernode|ppn",
    "cpus-per-task": rf"n?(?:omp)?threads?|n?(?:{_CPUS}|threads?)per(?:{_PROCESSES})",
    "gpus": rf"n?{_GPUS}",
    "gpus-per-node": rf"n?{_GPUS}pernode",
    "gpus-per-task": rf"n?{_GPUS}per(?:{_PROCESSES})",
}
_ALL_CPUS = re.compile(rf"n?{_CPUS}")
_CPUS_OF_NODE = re.compile(rf"n?{_CPUS}pernode")
_MEMORIES = {
    "mem": rf"{_MEMORY}(?:pernode)?",
    "mem-per-cpu": rf"{_MEMORY}per{_CPUS}",
    "mem-per-gpu": rf"{_MEMORY}per{_GPUS}",
}
_TIME = re.compile(r"(?:wall|wallclock|run)?(?:time)?limit|walltime")
_TIME_REQUESTED = re.compile(r"(?:wall|wallclock|run)?(?:time)?")
_NAMES = {"partition": "partition|queue", "qos": "qos", "account": "account"}
# Slurm takes one of each.
_EITHER = (("gpus", "gpus-per-node", "gpus-per-task"), tuple(_MEMORIES))
# What Slurm itself calls the memory of a whole job (sacct, and of its TRES), as Compass reads them.
_OF_WHOLE_JOB = frozenset(("ReqMem", "req_mem"))
# The Standard Workload Format counts memory per processor, in KiB.
_PER_PROCESSOR = ("requested_memory", "KiB")
_IN_MINUTES = "timelimitraw"  # the one column of Slurm that tells its unit by its name

_OPTION_CHARACTERS = r"\w.,:@/+\-"  # sbatch ends an option at white space
OPTION = re.compile(f"[{_OPTION_CHARACTERS}]+")  # a value that may stand in a line of a script
_NOT_IN_OPTION = re.compile(f"[^{_OPTION_CHARACTERS}]", re.ASCII)


@dataclass(frozen=True)
class Directives:
    """The options of sbatch that a configuration sets, and what a person should know of them."""

    options: dict[str, str]  # option -> value, as sbatch takes it
    columns: dict[str, str]  # option -> the column that it comes from
    remarks: tuple[str, ...] = ()

    @property
    def used(self) -> frozenset[str]:
        """The columns that became options."""
        return frozenset(self.columns.values())

    def __iter__(self) -> Iterator[str]:
        return (f"--{option}={value}" for option, value in self.options.items())


def directives(config: Config, units: Units) -> Directives:
    """What a configuration asks of sbatch; `units` are those of its columns that have one."""
    found = _Collector(config, units)
    for name, value in config.items():
        unknown = value is None or (isinstance(value, str) and slurm_units.is_missing(value))
        if not unknown and not isinstance(value, bool):
            found.take(name, value)
    found.finish()
    return Directives(found.options, found.columns, tuple(found.remarks))


def with_defaults(options: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Options of sbatch, and the defaults that do not contradict them: one kind of memory."""
    merged = dict(options)
    for option, value in defaults.items():
        taken = next((some for some in _EITHER if option in some), (option,))
        if not any(one in merged for one in taken):
            merged[option] = value
    return merged


class _Collector:
    """Options that have been recognised so far."""

    def __init__(self, config: Config, units: Units) -> None:
        self.config, self.units = config, units
        self.options: dict[str, str] = {}
        self.columns: dict[str, str] = {}
        self.remarks: list[str] = []
        self.cpus: tuple[str, int] | None = None  # of the whole job
        self.cpus_of_node: tuple[str, int] | None = None
        self.whole_memory: tuple[str, float] | None = None  # of the whole job, in bytes

    def take(self, name: str, value: Value) -> None:
        """One column: an option, something to work out at the end, or nothing that Slurm has."""
        words = [word.lower() for word in _WORD.findall(name)]
        if not words or _MEASURED & set(words) or words[0] == "min":
            return
        bare = [word for word in words if word not in _ABOUT]
        key = "".join(bare)
        while bare and bare[-1] in _UNIT_WORDS:
            bare.pop()
        without_unit = "".join(bare)
        if (option := _matching(_COUNTS, key)) is not None:
            self._count(option, name, value)
        elif _ALL_CPUS.fullmatch(key):
            self.cpus = self.cpus or _named_count(name, value)
        elif _CPUS_OF_NODE.fullmatch(key):
            self.cpus_of_node = self.cpus_of_node or _named_count(name, value)
        elif _is_time(without_unit, words):
            self._time(name, value)
        elif (option := _matching(_MEMORIES, without_unit)) is not None:
            self._memory(option, name, value)
        elif (option := _matching(_NAMES, key)) is not None:
            self._set(option, name, _NOT_IN_OPTION.sub("_", _one_line(str(value))))

    def finish(self) -> None:
        """What depends on other columns: memory of the whole job, and counts of CPUs."""
        if self.whole_memory is not None:
            name, size = self.whole_memory
            nodes = int(self.options.get("nodes", "1"))
            self._set("mem", name, slurm_units.written_size(size / nodes))
            if nodes > 1 and self.columns.get("mem") == name:
                self.remarks.append(f"--mem is {name}, which is of the whole job, for each node")
        elif "mem" in self.options and self.options.get("nodes") != "1":
            self.remarks.append(f"check: Slurm takes --mem ({self.columns['mem']}) for each node")
        for counted, option, scope in (
            (self.cpus, "ntasks", "in all"),
            (self.cpus_of_node, "ntasks-per-node", "on each node"),
        ):
            if counted is not None:
                self._cpus(*counted, option, scope)

    def _cpus(self, name: str, count: int, option: str, scope: str) -> None:
        """So many CPUs: Slurm counts tasks and the CPUs of each."""
        if option in self.options or "ntasks" in self.options:
            tasks = int(self.options.get(option, "0"))
            if tasks and "cpus-per-task" not in self.options and count % tasks == 0:
                self._set("cpus-per-task", name, str(count // tasks))
            return
        each = int(self.options.get("cpus-per-task", "1"))
        if count % each == 0:
            self._set(option, name, str(count // each))
            self.remarks.append(
                f"check: {name} = {count} is taken for CPUs {scope}, as {count // each} tasks "
                f"(--{option}) of {each}; a program of threads needs --cpus-per-task instead"
            )

    def _count(self, option: str, name: str, value: Value) -> None:
        counted = _named_count(name, value)
        if counted is not None:
            self._set(option, name, str(counted[1]))

    def _time(self, name: str, value: Value) -> None:
        unit = self.units.get(name)
        if name.lower() == _IN_MINUTES:
            unit = unit or "min"
            value = float(value) if isinstance(value, str) and value.isdecimal() else value
        if isinstance(value, str):
            seconds = _time_of_text(value)
        else:
            seconds = _in_base_unit(value, unit, "time")
        if seconds is None:
            self._unclear("time", name, value)
        elif seconds > 0:  # Slurm takes none for no limit
            written = slurm_units.written_time(seconds)
            if written is None:
                self.remarks.append(f"--time is left out: {name} = {_plain(value)} is too long")
            else:
                self._set("time", name, written)

    def _memory(self, option: str, name: str, value: Value) -> None:
        unit = self.units.get(name)
        per = ""
        if isinstance(value, str):
            size, per = _memory_of_text(value)
        else:
            size = _in_base_unit(value, unit, "memory")
        if size is None:
            self._unclear(option, name, value)
            return
        if size <= 0:  # Slurm takes none for all that a node has
            return
        if per == "CPU" or (name, unit) == _PER_PROCESSOR:
            option = "mem-per-cpu"
        elif name in _OF_WHOLE_JOB and per == "":
            self.whole_memory = self.whole_memory or (name, size)
            return
        self._set(option, name, slurm_units.written_size(size))

    def _unclear(self, option: str, name: str, value: Value) -> None:
        self.remarks.append(
            f"--{option} is left out: {name} = {_plain(value)}, and it is not known in which unit"
        )

    def _set(self, option: str, name: str, written: str) -> None:
        taken = next((some for some in _EITHER if option in some), (option,))
        if written and not any(one in self.options for one in taken):
            self.options[option], self.columns[option] = written, name


def _matching(patterns: Mapping[str, str], key: str) -> str | None:
    return next((option for option, one in patterns.items() if re.fullmatch(one, key)), None)


def _is_time(key: str, words: list[str]) -> bool:
    """Whether the words tell a limit of time: `time_limit`, `walltime_h`, `requested_s`."""
    if _TIME.fullmatch(key):
        return True
    timed = bool(key) or words[-1] in _UNIT_WORDS
    return bool(_REQUESTED & set(words)) and timed and bool(_TIME_REQUESTED.fullmatch(key))


def _named_count(name: str, value: Value) -> tuple[str, int] | None:
    """A column and how many it asks for; None: it is no number, or none are asked for."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
    if value is None or not math.isfinite(value) or value <= 0:
        return None  # clusters without GPUs refuse even a request for none of them
    return name, math.ceil(value)


def _in_base_unit(value: Value, unit: str | None, dimension: str) -> float | None:
    """Seconds or bytes; None: the unit is not known, or of something else."""
    known = None if unit is None else canonical(unit)
    if known is None or UNITS[known][0] != dimension or not isinstance(value, int | float):
        return None
    size = value * UNITS[known][1]
    return size if math.isfinite(size) else None


def _time_of_text(text: str) -> float | None:
    """Seconds of a time as Slurm writes it; a plain number has no unit."""
    try:
        return slurm_units.seconds(text) if ":" in text or "-" in text else None
    except ValueError:
        return None


def _memory_of_text(text: str) -> tuple[float | None, str]:
    try:
        return (None, "") if text.strip().isdecimal() else slurm_units.memory_request(text)
    except ValueError:
        return None, ""


def _plain(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())
