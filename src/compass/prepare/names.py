"""What a column's name tells: its words, its unit, and whether it is an identifier.

All word lists are here, so that they can be read, judged and extended in one place. A name is cut
into words at signs and at capitals (`pkg_power_w`, `CPUTimeRAW`, `Time[s]`); neighbours are joined
too, so that `run_time`, `runTime` and `runtime` are one word. Digits at the end do not count.
"""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

from compass.domain.units import canonical


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Measured results.
OUTCOMES = _set(
    "runtime walltime wallclock time elapsed duration latency latencies span makespan wait "
    "turnaround delay rtt jitter lag ttft tpot itl tbt "
    "energy power edp joule joules watt watts kwh emissions carbon "
    "gflop gflops gflopss mflop mflops tflop tflops pflops flops mlups glups teps gteps mteps "
    "throughput goodput bandwidth bw iops tps rps qps fps mops nsday "
    "perf performance speedup slowdown efficiency utilization utilisation util utilized usage "
    "variation variance std stddev stdev stderr imbalance overhead percentile "
    "score error err errors loss accuracy rmse mse mae mape perplexity bleu auc residual objective "
    "cost predicted fitness fom merit maxrss rss vmem hwm amplification amp completed succeeded "
    "area slack wns lut luts ff ffs bram brams dsp dsps uram urams mpki "
    "hitrate missrate hitratio missratio "
    # in other languages
    "laufzeit rechenzeit zeit dauer leistung energie durchsatz bandbreite fehler genauigkeit "
    "residuum temperatur wirkungsgrad verlust temps duree energie puissance debit erreur precisao "
    "tiempo duracion energia potencia rendimiento memoria tempo durata potenza tempos"
)
# The same, but as often something that is set or given: the values decide.
MAYBE_OUTCOMES = _set(
    "temperature temp rate count counts total totals iterations iters usage hits peak memory mem "
    "bytes load ratio number occupancy sim ops operations allocated volume clock "
    "frequency freq registers builds price usd"
)
# The whole name of a result; too common as a part of other names.
OUTCOME_NAMES = _set(
    "avg mean median y value target metric result fps qps total sum comm compute io ii"
)
# Results in the names of the Standard Workload Format, as they are written.
TRACE_OUTCOMES = _set("run_s cpu_s")
# What Slurm knows only once a job has waited or run, as it writes it: neither set nor given, and
# seldom asked for. The results that people do ask for are among OUTCOMES.
_AFTERWARDS = _set(
    "TotalCPU UserCPU SystemCPU AveCPU MinCPU AveCPUFreq MaxVMSize AveVMSize MaxPages AvePages "
    "MaxDiskRead AveDiskRead MaxDiskWrite AveDiskWrite Planned PlannedCPU PlannedCPURAW Reserved "
    "ResvCPU ResvCPURAW Suspended Restarts DerivedExitCode exit_signal derived_exit_signal"
)
_USAGE = ("usage_in_", "usage_out_")
# Statistics of something measured, at the beginning or the end of a name; p99 is one, too.
OF_MEASUREMENTS = _set("mean avg average median med std stddev stdev sd stderr percentile peak")
PERCENTILE = re.compile(r"(?i)(?<![a-z0-9])p\d{2,4}(?![a-z0-9])|\d{2,}(?:th|st|nd)?_?percentile")
# Results that are classes, whether written as text or as numbers.
CLASSES = _set(
    "state status exit exitcode returncode rc ec valid success failed outcome class label result "
    "verdict passed converged correct feasible crashed oom verified killed ok fail failure "
    "answer responsecode errorcode errno"
)
_CLASS_COMPANY = _set("job run task exit final end code slurm is was target")
# Words that turn a result into something a person sets: power_cap, time_limit, bw_level.
SETTINGS = _set(
    "cap caps limit limits timelimit timeout budget req requested threshold tolerance tol governor"
)
REQUESTS = _set("req requested")
# Words at the end of a name that leave it what it is: input_size, gpu_model.
CARRIERS = _set("name id size count number num no label model file path names code version set")
# The same, where they come last: error_bound, time_step; but step_time is a time.
LAST_SETTINGS = SETTINGS | _set(
    "factor request bound bounds level mode step steps setting estimate target interval period "
    "function fn model type kind policy scheme"
)
# Words that start the name of a switch: use_power_saving, have_statistics.
SWITCHES = _set("use using enable enabled disable disabled have has no with without")
# What a person sets.
KNOBS = _set(
    "alloc node nodes nnodes ppn rank ranks task tasks proc procs process processes nprocs ntasks "
    "thread threads nthreads core cores gpus cpus smt worker workers replica replicas "
    "executor executors instances shards parallel parallelism concurrency omp mpi ntmpi ntomp npme "
    "batch minibatch microbatch block tile chunk stripe stripes buffer unroll vector vectorize "
    "simd prefetch width assoc associativity entries depth ways lanes banks ports pipeline buffer "
    "freq frequency clock clk mhz ghz governor turbo cap limit uncore voltage "
    "compiler compile opt optimization flag flags optlevel "
    "solver precond preconditioner smoother scheme method algorithm algo strategy policy "
    "factor schedule scheduling order layout format compression codec precision dtype datatype "
    "quant quantization pinning bind binding affinity placement mapping numa hugepages backend "
    "api engine driver allocator collective protocol transport lib library "
    "tensor lr learningrate momentum decay dropout optimizer warmup alpha beta gamma theta epsilon "
    "epochs epoch layers hidden heads amp seeds budget interval tuning variant switch option "
    "timestep dt partitioner decomposition grain granularity collapse "
    "segsize segment transfer cache trigger bits window replication fanout retention "
    "kerne knoten loser takt takte zeitschritt prozesse fadenzahl noeuds coeurs nodos nucleos "
    "hilos nodi hebras processus fils frequence frequenz frecuencia frequenza compilador"
)
# Namespaces that say it of all that is in them: config.lr, metrics/loss.
KNOB_SPACES = _set(
    "config configs param params parameter parameters hparams hyperparameters args arg options "
    "opts knob knobs setting settings cfg tunable tunables"
)
CONTEXT_SPACES = _set("tag tags meta metadata info")
OUTCOME_SPACES = _set("summary metric metrics result results output outputs measured measurement")
SPACES = KNOB_SPACES | CONTEXT_SPACES | OUTCOME_SPACES

# What the run is, and where it runs: given, not chosen.
CONTEXT = _set(
    "app application apps program code workload benchmark bench kernel input dataset problem "
    "problemsize inputsize datasize gridsize meshsize matrixsize network machine cluster system "
    "systype partition queue user uid account group gid project priority qos "
    "scenario deck case matrix graph mesh geometry suite corpus prompt promptlen outputlen outputs "
    "seqlen recordcount records nnz atoms natoms particles molecule testcase scene "
    "query trace resolution basis compset payload electrons nelectrons server tablesize "
    "edgefactor vertices edges submitter rows cols columns density elements nelements ions nions "
    "kpoints vcpus mailles dimension dimensione dimensiones tamano taille "
    "video frames cells ncells zones unknowns rule domain message messagesize price processormhz "
    # in other languages
    "rechner geometrie maschine programm anwendung datensatz netz gitter maquina programa "
    "aplicacion entrada programme maillage macchina"
)
CONTEXT_NAMES = _set("size scale scalefactor sf test nx ny nz atoms natoms particles jobname")
SIZES = _set("nx ny nz")  # as a word: nxP, nx_global
LETTERS = _set("m n k M N K")  # of matrices, as the whole name
# Context only where the column holds text: `gpu: A100`, but `gpus: 4` is a knob.
CONTEXT_TEXT = _set(
    "gpu cpu device node nodetype nodelist host hostname arch architecture platform processor "
    "model name site access operation op process accelerator os kernelversion tag instance region "
    "vendor sponsor license function url"
)
RUN_NAMES = _set("cmd command cmdline file filename")
# Counts of what hardware and system did. They are measured, but seldom asked for.
COUNTERS = _set(
    "counter counters cycles cycle instructions instruction insts inst instr uops uop ipc cpi "
    "unhalted misses miss mpki icache dcache itlb dtlb tlb stlb offcore imc cas rapl retired "
    "retiring mispredict mispredicts mispredicted mispred misp branches speculation frontend "
    "stall stalls stalled faults minf majf mjf minflt majflt ctxt migrations "
    "interrupts irqs evictions writebacks fills "
    "references loads stores snoops prefetches flits walks slots rqsts clears papi likwid "
    "warps sectors replays tsc aperf mperf baclears idq lsd topdown transactions "
)
# The counters that people do ask for, where there are not many others.
HEADLINES = _set("cycles ipc cpi")
COUNTER_PHRASES = _set(
    "contextswitches cgroupswitches cpumigrations pagefaults taskclock cpuclock cachereferences "
    "cachehits badspec memorybound corebound backendbound frontendbound machineclears febound "
    "bebound lbound branchinstructions ctxswitches volctxt invctxt"
)
# Names as tools write them: tracepoints (`sched:sched_switch`), events of a unit
# (`uncore_imc_0/cas_count_read/`), PAPI, LIKWID (`INSTR_RETIRED_ANY:FIXC0`) and Nsight
# (`sm__cycles_elapsed.avg`).
EVENT = re.compile(
    r"(?!power[/:]energy)(?:[a-z][a-z0-9_]*:[a-z][a-z0-9_]*|[a-z][a-z0-9_]*/[a-z0-9_=,.-]+/"
    r"|PAPI_\w+|[A-Z0-9_]+:[A-Z]*PM?C\d+|[A-Z0-9_]+:FIXC\d|[a-z0-9]+__[a-z0-9_]+(?:\.[a-z_.]+)?)"
)

DOTTED = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9_]+")

# Who runs it, and what a scheduler knows of it: only a trace of people's jobs has such columns, and
# they do not tell what runs.
PERSONS = _set("user uid username owner account acct gid project allocation operator bearbeiter")
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
NOT_WORK = _set(
    "version os linux cpu gpu node device processor hardware machine host driver "
    "block tile chunk batch buffer cache page stripe message msg window"
)

# Identifiers; a column so named is ignored once its values are many.
IDENTIFIERS = _set("id idx index uuid guid hash sha job jobid jobidraw jobname rowid")
KEYS = _set("id idx index uuid guid")
REPETITIONS = _set(
    "rep repetition repetitions replicate trial repeat repeats iter iteration attempt attempts "
    "seed retry retries"
)
FILES = _set("file filename filepath path stem workdir dir logfile command cmdline submitline cmd")
MOMENTS = _set("submit start end begin finish eligible timestamp date datetime")
# Seconds since 1970 in the metadata of profiles, however few runs there are.
_DATES = _set("launchdate launchday")

# Words that start the name of a number of things, and words beside the cycles of a whole run.
SHARES = _set("percent pct percentage")
TOTALS = _set("total aggregate overall world global sum all")
COUNTED = _set("n num nr number no")
OF_THE_WHOLE = _set("sim exec clock cpu kernel latency elapsed execution overall")
TIMES = _set("time energy power seconds runtime second watts joules")
RATE = re.compile(
    r"(?i)(?:/|(?<![a-z])per[_ ]?)(?:s|secs?|seconds?|day|hour|w|watt|joule)(?![a-z])"
    r"|(?<![a-z])(?:[mun]?s|secs?|seconds?|hours?|days?)/"
)
CACHE = re.compile(r"(?i)(?<![a-z])(?:l[1-4][di]?|llc|rob|iq|lsq|tlb)(?![a-z]*\d)")
_SPACE = re.compile(r"([A-Za-z]+)([./:_])(.+)", re.DOTALL)
PLACES = _set("node nodes socket sockets core cores rank gpu cpu task device run")
STATISTICS = _set("std mean avg average median min max sd total sum")
# One letter can mean many things (filter_w is a width): these need a word about the dimension.
_ONE_LETTER = {
    "w": _set("power cap budget tdp limit draw consumption pkg dram"),
    "h": OUTCOMES | SETTINGS,
    "d": _set("time runtime walltime elapsed duration limit timelimit age"),
    "b": _set("mem memory footprint traffic cache buffer message msg"),
}
# Ends of words that mean results: usertime, systemtime.
RESULT_ENDS = re.compile(r".+(?:time|energy|power|latency|bandwidth|throughput|flops|seconds|util)")
KNOB_ENDS = re.compile(
    r".+(?:depth|engine|threads?|nodes|cores|ranks|procs|workers|jobs|gpus|policy|width|solver|parallel)"
)
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


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case, in order, units in brackets left out."""
    bare, _ = _bracketed(name)
    return tuple(
        word.lower() for piece in re.split(r"[^A-Za-z]+", bare) for word in _WORD.findall(piece)
    )


@lru_cache(maxsize=4096)
def vocabulary_of(name: str) -> frozenset[str]:
    """The words, the pieces they were cut from, and neighbours joined."""
    found = words(name)
    bare, _ = _bracketed(name)
    pieces = [piece.lower() for piece in re.split(r"[^A-Za-z]+", bare) if piece]
    joined = [a + b for a, b in pairwise(found)]
    return frozenset([*found, *pieces, *joined])


def folded(name: str) -> str:
    """The name without accents."""
    if name.isascii():
        return name
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def spaced(name: str, shared: Collection[str] = ()) -> tuple[str | None, str]:
    """The namespace that a name is in, and the rest: config.lr, metrics/loss.

    Where several columns share it, an underscore may stand behind it: params_lr.
    """
    found = _SPACE.match(name)
    if found is None or found[1].lower() not in SPACES:
        return None, name
    space = found[1].lower()
    return (space, found[3]) if found[2] != "_" or space in shared else (None, name)


def is_class(name: str) -> bool:
    """Whether the name is that of a class result: state, exit_code, valid."""
    found = frozenset(words(name))
    if "".join(words(name)) in CLASSES:
        return True
    return bool(found & CLASSES) and found <= CLASSES | _CLASS_COMPANY


def names_person(name: str) -> bool:
    """Whether the column says who ran something."""
    return bool(vocabulary_of(name) & PERSONS) or "".join(words(name)) in PERSON_NAMES


def names_jobs(name: str) -> bool:
    """Whether only a trace of people's jobs has such a column: who ran it, where it waited."""
    return names_person(name) or bool(vocabulary_of(name) & SCHEDULING)


def names_work(name: str) -> bool:
    """Whether the column says what runs: the program, its input or the size of its problem."""
    vocabulary = vocabulary_of(name)
    return bool(vocabulary & (PROGRAMS | INPUTS)) and not vocabulary & NOT_WORK


def is_identifier(name: str) -> bool:
    """Whether the name is that of an identifier (of a run, not of a user or an application)."""
    vocabulary = vocabulary_of(name)
    context = vocabulary & CONTEXT or "".join(words(name)) in CONTEXT_NAMES
    return bool(vocabulary & IDENTIFIERS) and not context


def is_key(name: str) -> bool:
    """Whether the whole name says that it tells rows or devices apart: index, id."""
    return "".join(words(name)) in KEYS


def tells_errors(name: str) -> bool:
    """Whether the column says what went wrong."""
    return bool({*words(name)} & {"error", "errors", "err", "failure", "reason"})


def mentions_identifier(name: str) -> bool:
    """Whether a word of the name is that of an identifier: machine_id, job_name."""
    return bool(vocabulary_of(name) & IDENTIFIERS)


def is_unnamed(name: str) -> bool:
    """Whether the column has no name of its own, as row labels written by data frames."""
    return bool(re.fullmatch(r"column_\d+|Unnamed: \d+|__index_level_\d+__", name))


def is_repetition(name: str) -> bool:
    """Whether the name counts repetitions of the same run."""
    found = frozenset(words(spaced(name)[1]))
    company = {"id", "no", "number", "num", "random", "rng"}
    if words(name)[-1:] == ("seed",):
        return True
    return bool(found & REPETITIONS) and found <= REPETITIONS | company


def is_run(name: str) -> bool:
    """Whether the name is just `run`: a run time if the values are many, else a repetition."""
    return words(name) == ("run",)


def names_run(name: str) -> bool:
    """Whether the whole name is that of a command or file: what was run, where they are few."""
    return "".join(words(name)) in RUN_NAMES


def is_file(name: str) -> bool:
    """Whether the name is that of a file, folder or command line."""
    return bool(vocabulary_of(name) & FILES)


def is_moment(name: str) -> bool:
    """Whether the name is that of a point in time: submit, start_time."""
    found = frozenset(words(name))
    return bool(found & MOMENTS) and found <= MOMENTS | {"time", "ts", "job", "s"}


def mentions_moment(name: str) -> bool:
    """Whether a word of the name is that of a point in time: summary._timestamp."""
    return bool({*words(name)} & MOMENTS)


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
        if low not in PLACES | STATISTICS:
            camel = _CAMEL_UNIT.search(last)
            return canonical(camel.group(1)) if camel is not None else None
        pieces = pieces[:-1]
    return None
