"""What people call the columns of performance data: all word lists of the linker in one place.

Words in one line can stand for each other. Plurals, -ing and British spelling need no entry.
"""

from compass.chat.english.words import stem, word_set


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


_GROUPS = """
runtime time walltime wallclock elapsed duration latency makespan execution turnaround wct
latency lat
wait waiting queue queued pending
thread thr thrd omp openmp
affinity binding bind pinning pin placement
core cpu processor
rank process proc task mpi
gpu accelerator card
node host machine server box
partition queue
memory mem ram rss
dram ram memory mem
power pwr watt wattage draw consumption
energy electricity joule consumption
frequency freq clock clk ghz speed
performance perf fom merit gflop flop mflop tflop mop mops ops throughput bandwidth bw rps score
throughput tput thruput rps
cap limit budget ceiling
input problem workload
size sz dimension
state status
app application program code workload benchmark
machine system cluster platform computer
epoch pass
learning lr
loss error
accuracy acc precision
precision prec fp
interval period spacing
variation variability variance noise jitter spread
iteration iter
flag optimisation
unroll unrolling
tile tiling block blocking
chunk chunksize
schedule sched scheduler scheduling policy
smoother relaxation smoothing relax
coarsen coarsening coarse
layout ordering nesting
package pkg socket
user owner person
quality psnr vmaf ssim
voltage volt vdd
token tok
fraction frac share ratio
static leakage
length len
library lib implementation
client connection user
error loss deviation
compression codec compressor
spill spilling spilled
register reg
optimizer optimiser optim
activation nonlinearity
dataset data corpus
priority qos
temperature temp heat
cost price money usd spend spending bill expense
utilisation util usage load
level lvl
type kind
hidden width
layer depth
gpu device
alloc allocated
req requested request
num number count cnt instance
max maximum
min minimum
avg average mean
""".strip()
# A column's own word -> the words that it is short for.
EXPANSIONS: dict[str, tuple[str, ...]] = {
    "ppn": ("rank", "per", "node"),
    "tpn": ("task", "per", "node"),
    "tpt": ("thread", "per", "rank"),
    "fom": ("figure", "of", "merit"),
    "lr": ("learning", "rate"),
    "bs": ("batch", "size"),
    "bw": ("bandwidth",),
    "nx": ("grid", "size"),
    "gset": ("group", "set"),
    "dset": ("direction", "set"),
    "qos": ("quality", "of", "service"),
    "gflops": ("floating", "point", "rate"),
    "maxrss": ("memory",),
    "ncpus": ("core",),
    "ht": ("hyperthreading",),
    "t": ("time",),
    "ttl": ("time", "to", "live"),
    "ppc": ("particle", "per", "cell"),
    "tol": ("tolerance",),
    "rtol": ("relative", "tolerance"),
    "precond": ("preconditioner",),
    "xfer": ("transfer",),
    "seg": ("segment",),
    "accel": ("accelerator",),
    "flags": ("compiler", "flag"),
    "rob": ("reorder", "buffer"),
    "bpred": ("branch", "predictor"),
    "crf": ("quality",),
    "rss": ("memory",),
    "msg": ("message",),
    "lut": ("lookup", "table"),
    "dyn": ("dynamic",),
    "mul": ("multiplier",),
    "regs": ("register",),
    "phys": ("physical",),
    "synth": ("synthesis",),
    "lat": ("latency",),
    "ttft": ("time", "to", "first", "token"),
    "tpot": ("time", "per", "output", "token"),
    "itl": ("inter", "token", "latency"),
    "rps": ("request", "per", "second"),
    "qps": ("query", "per", "second"),
    "tps": ("transaction", "per", "second"),
    "fps": ("frame", "per", "second"),
    "vdd": ("supply", "voltage"),
    "shmem": ("shared", "memory"),
    "smem": ("shared", "memory"),
    "gc": ("garbage", "collection"),
    "noc": ("network", "interconnect"),
    "mcells": ("million", "cell"),
    "mtok": ("million", "token"),
    "ncells": ("cell",),
    "dtype": ("data", "type"),
    "ipc": ("instruction", "per", "cycle"),
    "p99": ("tail",),
    "p50": ("median",),
    "p95": ("tail",),
    "len": ("length",),
    "psnr": ("quality",),
    "vmaf": ("quality",),
    "rtf": ("real", "time", "factor"),
    "ns": ("nanosecond",),
    "luts": ("lookup", "table"),
    "wal": ("write", "ahead", "log"),
    "tp": ("tensor", "parallel"),
    "pp": ("pipeline", "parallel"),
    "dp": ("data", "parallel"),
    "smt": ("hyperthreading",),
}
# Words that are written apart or together.
COMPOUNDS = {
    ("run", "time"): "runtime",
    ("wall", "time"): "walltime",
    ("wall", "clock"): "wallclock",
    ("band", "width"): "bandwidth",
    ("through", "put"): "throughput",
    ("hyper", "threading"): "hyperthreading",
    ("hyper", "thread"): "hyperthread",
    ("data", "set"): "dataset",
    ("work", "load"): "workload",
    ("check", "point"): "checkpoint",
    ("check", "pointing"): "checkpointing",
}
APART = {"timelimit": ("time", "limit")}
# Words of a name that say little: they need not be said, and saying them proves little.
FAINT = _stems(
    "job run train num n nr no number count cnt instance total wall amount req request requested "
    "alloc "
    "allocated used use avg average mean pct percent per of is the value s ms us ns w kw gb mb "
    "kb kib mib gib kwh kj "
    "j ghz mhz hz h"
)
HALF_FAINT = _stems("type kind level lvl size sz rate mode max min strong")
# Nouns that may follow the words for a column and add nothing.
TAILS = word_set(
    "algorithm policy strategy scheme method setting settings value values parameter "
    "parameters count counts consumption usage draw number option choice mode size level type "
    "kind constraint factor method technique"
)
HEADS = word_set("number count amount total average avg mean overall num")
# What a unit says about its column.
DIMENSIONS = {
    "time": _stems("time"),
    "power": _stems("power watt"),
    "energy": _stems("energy joule"),
    "memory": _stems("memory"),
    "frequency": _stems("frequency clock"),
    "money": _stems("cost price usd dollar eur euro money"),
}
MONEY = DIMENSIONS["money"]
# Kinds of outcomes that adjectives speak of, most fitting first.
TIME = _stems(
    "runtime walltime wallclock elapsed duration makespan time latency turnaround execution tts"
)
WAITING = _stems("wait waiting queue queued pending")
PERFORMANCE = _stems(
    "fom merit performance perf throughput gflop flop mflop tflop mop ops bandwidth bw speedup "
    "speed fps "
    "iops rate rps qps tps ips sypd sdpd bips mips mlups mlup"
)
# Words for what is done in a time, and how such a time ends the name of a column.
RATE = stem("throughput")
RATES = _stems("throughput rate thruput tput")
PER_TIME = word_set("s sec second min minute h hour d day")
POWER = _stems("power watt")
ENERGY = _stems("energy joule edp")
COST = MONEY
ACCURACY = _stems("accuracy acc score quality f1")
# Outcomes that are better when they are larger; all others are better when they are smaller.
LARGER_IS_BETTER = (
    PERFORMANCE
    | ACCURACY
    | _stems(
        "efficiency eff utilisation util ipc yield hit goodput uptime occupancy quality psnr "
        "vmaf ssim "
        "coverage availability fidelity speedup recall"
    )
)
SMALLER_IS_BETTER = _stems("error loss miss failure fail latency overhead drop idle time wait")


# Words that only say what is measured.
PLAIN = (
    TIME
    | POWER
    | ENERGY
    | PERFORMANCE
    | DIMENSIONS["memory"]
    | MONEY
    | _stems(
        "exec execution elapsed run kernel wall usage used peak mem duration rate tok token min "
        "minute h hour sec second d day total"
    )
)


def larger_is_better(stems: frozenset[str]) -> bool:
    """Whether more is better of an outcome with these words in its name."""
    return bool(stems & LARGER_IS_BETTER) and not stems & SMALLER_IS_BETTER


# Words that make something else of an outcome: energy_drift is no energy.
OTHERWISE = _stems("drift error deviation variation std stddev jitter imbalance variance ratio")

# Ends of jobs: any word of a line means the label that is in the same line.
ENDINGS = tuple(
    frozenset(line.split())
    for line in (
        "completed complete completes success succeeds succeeded succeed ok passed successful "
        "successfully met meets meet works launches valid correct passes launch pass",
        "failed fail fails failure crash crashes crashed error",
        "timeout timedout timesout timingout",
        "cancelled canceled cancel killed aborted",
        "outofmemory oom",
        "missed miss misses",
        "violated violate violates",
        "diverged diverge diverges",
        "stalled stall stalls",
        "stagnated stagnate stagnates",
    )
)
# Ends that nobody asks for: my jobs keep timing out.
BAD_ENDINGS = frozenset(word for ending in ENDINGS[1:] for word in ending)


def _relatives() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _GROUPS.splitlines():
        group = _stems(line)
        for word in group:
            found.setdefault(word, set()).update(group)
    return {word: frozenset(group - {word}) for word, group in found.items()}


# Stem -> the other stems that can stand for it.
RELATIVES = _relatives()
# The words of all groups as people spell them.
SPELLINGS = tuple(dict.fromkeys(_GROUPS.split()))


# Columns of true and false with one of these tell whether a run succeeded.
SUCCESS = _stems("valid success successful correct ok pass passed met feasible works completed")
