"""What a column's name tells: its default role, its unit, and whether it is an identifier.

All word lists are here, so that they can be read, judged and extended in one place. A name is cut
into words at signs and at capitals (`pkg_power_w`, `CPUTimeRAW`, `Time[s]`); neighbours are joined
too, so that `run_time`, `runTime` and `runtime` are one word. Digits at the end do not count.
"""

import re
from itertools import pairwise

from compass.domain.space import Role
from compass.domain.units import canonical


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Measured results.
OUTCOMES = _set(
    "runtime walltime wallclock time elapsed duration latency span makespan wait turnaround "
    "energy power edp gflop gflops gflopss mflop mflops tflops flops throughput bandwidth bw iops "
    "perf performance speedup slowdown efficiency utilization utilisation util temperature "
    "variation variance std stddev stdev score error err loss accuracy objective cost predicted "
    "maxrss rss merit"
)
# The whole name of a result; too common as a part of other names.
OUTCOME_NAMES = _set("avg mean median y target metric result fps qps")
# Results in the names of the Standard Workload Format, as they are written.
_TRACE_OUTCOMES = _set("run_s cpu_s")
# What Slurm knows only once a job has waited or run, as it writes it: neither set nor given, and
# seldom asked for. The results that people do ask for are among OUTCOMES.
_AFTERWARDS = _set(
    "TotalCPU UserCPU SystemCPU AveCPU MinCPU AveCPUFreq MaxVMSize AveVMSize MaxPages AvePages "
    "MaxDiskRead AveDiskRead MaxDiskWrite AveDiskWrite Planned PlannedCPU PlannedCPURAW Reserved "
    "ResvCPU ResvCPURAW Suspended Restarts DerivedExitCode exit_signal derived_exit_signal"
)
_USAGE = ("usage_in_", "usage_out_")
# Results that are classes, whether written as text or as numbers.
CLASSES = _set("state status exit exitcode returncode valid success failed outcome class label")
_CLASS_COMPANY = _set("job run task exit final end code slurm is was target")
# Words that turn a result into something a person sets: power_cap, time_limit, bw_level.
SETTINGS = _set(
    "cap caps limit limits timelimit timeout budget req request requested bound bounds level mode "
    "step steps threshold tolerance tol governor setting estimate"
)
_SETTING_ENDS = _set("function fn model type kind policy scheme")  # cost_model, loss_function
# Words that start the name of a switch: use_power_saving, have_statistics.
_SWITCHES = _set("use using enable enabled disable disabled have has no with without")

# What the run is, and where it runs: given, not chosen.
CONTEXT = _set(
    "app application apps program code workload benchmark bench kernel input dataset problem "
    "problemsize inputsize datasize gridsize meshsize matrixsize network machine cluster system "
    "systype partition queue user uid account group gid project priority qos "
    "counter counters cycles instructions uops ipc cpi clk misses miss icache dcache llc tlb "
    "offcore imc rapl retired mispredict speculation retiring frontend backend stall stalls"
)
CONTEXT_NAMES = _set("size nx ny nz atoms natoms particles jobname")
# Context only where the column holds text: `gpu: A100`, but `gpus: 4` is a knob.
CONTEXT_TEXT = _set(
    "gpu cpu device node nodetype nodelist host hostname arch architecture platform processor "
    "model name site"
)

# Who runs it, and what a scheduler knows of it: only a trace of people's jobs has such columns, and
# they do not tell what runs.
PERSONS = _set("user uid username owner account acct gid project allocation")
PERSON_NAMES = _set("group groupname unixgroup")
SCHEDULING = _set(
    "partition queue qos priority timelimit timelimitraw submit eligible jobid jobidraw nodelist "
    "reservation"
)
# What runs: the program, and what it is given.
PROGRAMS = _set(
    "app application apps appname program executable exe binary code workload benchmark bench "
    "kernel script command jobname"
)
INPUTS = _set(
    "input inputs inputsize dataset datasize problem problemsize size gridsize meshsize matrixsize "
    "matrix mesh deck case nx ny nz atoms natoms particles"
)
# Words that make something else of these: kernel_version, cpu_code, block_size.
_NOT_WORK = _set(
    "version os linux cpu gpu node device processor hardware machine host driver "
    "block tile chunk batch buffer cache page stripe message msg window"
)

# Identifiers; a column so named is ignored once its values are many.
IDENTIFIERS = _set("id idx index uuid guid hash sha job jobid jobidraw jobname rowid")
REPETITIONS = _set("rep repetition replicate trial repeat")
FILES = _set("file filename filepath path stem workdir dir logfile command cmdline")
MOMENTS = _set("submit start end begin finish eligible timestamp date datetime")
# Seconds since 1970 in the metadata of profiles, however few runs there are.
_DATES = _set("launchdate launchday")

_PLACES = _set("node nodes socket sockets core cores rank gpu cpu task device run")
_STATISTICS = _set("std mean avg average median min max sd total sum")
# One letter can mean many things (filter_w is a width): these need a word about the dimension.
_ONE_LETTER = {
    "w": _set("power cap budget tdp limit draw consumption pkg dram"),
    "h": OUTCOMES | SETTINGS,
    "d": _set("time runtime walltime elapsed duration limit timelimit age"),
    "b": _set("mem memory footprint traffic cache buffer message msg"),
}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_CAMEL_UNIT = re.compile(r"[a-z]([A-Z][A-Za-z]{1,2})$")


def _bracketed(name: str) -> tuple[str, str | None]:
    """A name without what stands in brackets at its end, and what stands there."""
    whole = name.rstrip()
    if not whole.endswith(("]", ")")):
        return name, None
    # By places and not by a pattern: one that looks for the end from every bracket takes the
    # square of the length, and names come from files.
    closed = max(whole.rfind("]", 0, -1), whole.rfind(")", 0, -1))
    opened = [place for sign in "[(" if (place := whole.find(sign, closed + 1)) >= 0]
    if not opened or min(opened) + 2 == len(whole):
        return name, None
    return name[: min(opened)], whole[min(opened) + 1 : -1].strip()


def words(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case, in order, units in brackets left out."""
    bare, _ = _bracketed(name)
    return tuple(
        word.lower() for piece in re.split(r"[^A-Za-z]+", bare) for word in _WORD.findall(piece)
    )


def _vocabulary(name: str) -> frozenset[str]:
    """The words, the pieces they were cut from, and neighbours joined."""
    found = words(name)
    bare, _ = _bracketed(name)
    pieces = [piece.lower() for piece in re.split(r"[^A-Za-z]+", bare) if piece]
    joined = [a + b for a, b in pairwise(found)]
    return frozenset([*found, *pieces, *joined])


def is_class(name: str) -> bool:
    """Whether the name is that of a class result: state, exit_code, valid."""
    found = frozenset(words(name))
    return bool(found & CLASSES) and found <= CLASSES | _CLASS_COMPANY


def role_of(name: str, *, text: bool) -> Role:
    """The default role of a column; `text` tells whether it holds labels instead of numbers."""
    found = words(name)
    vocabulary = _vocabulary(name)
    whole = "".join(found)
    if is_class(name):
        return Role.OUTCOME
    if found and found[0] in _SWITCHES:
        return Role.KNOB
    rate = "per" in found and found[-1] in {"s", "sec", "second"}
    measured = vocabulary & OUTCOMES or whole in OUTCOME_NAMES or found[-1:] == ("used",)
    setting = vocabulary & SETTINGS or (found and found[-1] in _SETTING_ENDS)
    if rate or (measured and not setting) or name in _TRACE_OUTCOMES:
        return Role.OUTCOME
    if vocabulary & CONTEXT or whole in CONTEXT_NAMES or (text and vocabulary & CONTEXT_TEXT):
        return Role.CONTEXT
    if "size" in found and unit_of(name) is not None and not vocabulary & _NOT_WORK:
        return Role.CONTEXT  # size_kib: how much a program is given
    return Role.KNOB


def names_person(name: str) -> bool:
    """Whether the column says who ran something."""
    return bool(_vocabulary(name) & PERSONS) or "".join(words(name)) in PERSON_NAMES


def names_jobs(name: str) -> bool:
    """Whether only a trace of people's jobs has such a column: who ran it, where it waited."""
    return names_person(name) or bool(_vocabulary(name) & SCHEDULING)


def names_work(name: str) -> bool:
    """Whether the column says what runs: the program, its input or the size of its problem."""
    vocabulary = _vocabulary(name)
    return bool(vocabulary & (PROGRAMS | INPUTS)) and not vocabulary & _NOT_WORK


def is_identifier(name: str) -> bool:
    """Whether the name is that of an identifier (of a run, not of a user or an application)."""
    vocabulary = _vocabulary(name)
    context = vocabulary & CONTEXT or "".join(words(name)) in CONTEXT_NAMES
    return bool(vocabulary & IDENTIFIERS) and not context


def is_unnamed(name: str) -> bool:
    """Whether the column has no name of its own, as row labels written by data frames."""
    return bool(re.fullmatch(r"column_\d+|Unnamed: \d+|__index_level_\d+__", name))


def is_repetition(name: str) -> bool:
    """Whether the name counts repetitions of the same run."""
    found = frozenset(words(name))
    return bool(found & REPETITIONS) and found <= REPETITIONS | {"id", "no", "number", "num"}


def is_run(name: str) -> bool:
    """Whether the name is just `run`: a run time if the values are many, else a repetition."""
    return words(name) == ("run",)


def is_file(name: str) -> bool:
    """Whether the name is that of a file, folder or command line."""
    return bool(_vocabulary(name) & FILES)


def is_moment(name: str) -> bool:
    """Whether the name is that of a point in time: submit, start_time."""
    found = frozenset(words(name))
    return bool(found & MOMENTS) and found <= MOMENTS | {"time", "ts", "job", "s"}


def is_date(name: str) -> bool:
    """Whether the name is that of the day or time of a run, whatever its values are."""
    return "".join(words(name)) in _DATES


def is_afterwards(name: str) -> bool:
    """Whether Slurm knows such a column only after the job."""
    return name in _AFTERWARDS or name.startswith(_USAGE)


def unit_of(name: str) -> str | None:
    """The unit that a name states: `runtime_ms`, `Time[s]`, `budget_w_node`, `memGB`."""
    _, bracket = _bracketed(name)
    if bracket is not None:
        return canonical(bracket)
    pieces = [piece for piece in re.split(r"[^A-Za-zµ0-9]+", name) if piece]
    if len(pieces) > 1:
        return _unit_of_pieces(pieces)
    if name.lower().endswith("s") and len(name) > 4 and (unit := canonical(name)) is not None:
        return unit
    camel = _CAMEL_UNIT.search(name)
    return canonical(camel.group(1)) if camel is not None else None


def _unit_of_pieces(pieces: list[str]) -> str | None:
    others = frozenset(piece.lower() for piece in pieces)
    while len(pieces) > 1:
        last, before = pieces[-1], pieces[-2].lower()
        if before == "per":
            return None
        low = last.lower()
        if low == "min":
            # `runtime_min` is the shortest run, `limit_min` is in minutes.
            unit = "min" if others & SETTINGS else None
        elif low in _ONE_LETTER and not others & _ONE_LETTER[low]:
            unit = None
        else:
            unit = canonical(last)
        if unit is not None:
            return unit
        if low not in _PLACES | _STATISTICS:
            camel = _CAMEL_UNIT.search(last)
            return canonical(camel.group(1)) if camel is not None else None
        pieces = pieces[:-1]
    return None
