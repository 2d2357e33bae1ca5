"""What people call the columns of performance data: all word lists of the linker in one place.

Words in one line can stand for each other. Plurals, -ing and British spelling need no entry.
"""

from compass.chat.english.words import stem, word_set


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


_GROUPS = """
runtime time walltime wallclock elapsed duration latency makespan execution exec turnaround wct
latency lat rtt delay
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
throughput tput thruput rps tps qps pps goodput
cap limit budget ceiling
input problem workload
size sz dimension
state status
app application program code workload benchmark
machine system cluster platform computer
epoch pass
learning lr
loss error
accuracy acc
precision prec fp
interval period spacing
variation variability variance noise jitter spread
iteration iter
unroll unrolling
tile tiling block blocking
chunk chunksize
schedule sched scheduler scheduling policy
smoother relaxation smoothing relax
coarsen coarsening coarse
layout ordering nesting
package pkg socket
user owner person
operation op request req query transaction
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
max maximum longest worst largest peak
monthly month
hourly hour
daily day
carbon co2 emission
instance vm
ctl control
irq interrupt
min minimum shortest smallest
avg average mean typical
pct percent percentage
""".strip()
# A word of a column's name, and the words that it is short for; one of several in a line each.
_SHORT_FORMS = """
ppn rank per node
tpn task per node
tpt thread per rank
fom figure of merit
lr learning rate
bs batch size
bw bandwidth
nx grid size
gset group set
dset direction set
qos quality of service
gflops floating point rate
maxrss memory
ncpus core
ht hyperthreading
t time
ttl time to live
ppc particle per cell
tol tolerance
rtol relative tolerance
precond preconditioner
xfer transfer
seg segment
accel accelerator
flags compiler flag
rob reorder buffer
bpred branch predictor
crf quality
rss memory
msg message
lut lookup table
dyn dynamic
mul multiplier
regs register
phys physical
synth synthesis
lat latency
opt optimisation
lto link time optimisation
bram block ram
area chip area
area silicon area
pe processing element
pes processing element
ii initiation interval
head attention head
heads attention head
d_model hidden size
quant quantisation
fmax maximum frequency
fmax max frequency
loss packet loss
ring ring buffer
vram vram
ttft time to first token
tpot time per output token
itl inter token latency
rps request per second
qps query per second
tps transaction per second
fps frame per second
vdd supply voltage
shmem shared memory
smem shared memory
gc garbage collection
noc network interconnect
mcells million cell
mtok million token
ncells cell
dtype data type
ipc instruction per cycle
p99 tail
p50 median
p95 tail
len length
psnr quality
vmaf quality
rtf real time factor
ns nanosecond
luts lookup table
wal write ahead log
tp tensor parallel
pp pipeline parallel
dp data parallel
smt hyperthreading
bs block size
dt time step
dt timestep
sys system
rss resident memory
rss resident set size
vram video memory
vram gpu memory
sst surface temperature
sss salinity
sss surface salinity
wer word error rate
cer character error rate
snr signal to noise
psnr signal to noise
mfu model flops utilisation
mfu utilisation
ttfb time to first byte
p99 99th percentile
p95 95th percentile
p90 90th percentile
p50 50th percentile
p999 999th percentile
ops operation
iops io operation
iops operation
qd queue depth
rtt round trip time
mtu packet size
bw throughput
mem memory
wa write amplification
sa space amplification
ra read amplification
amp amplification
ckpt checkpoint
acc accuracy
val validation
ctx context
seq sequence
emb embedding
attn attention
wd weight decay
ga gradient accumulation
cfl courant
npx rank
npy rank
ntasks task
nprocs process
nthreads thread
nn nearest neighbour
ib infiniband
hbm bandwidth memory
l1d data cache
l1i instruction cache
icache instruction cache
dcache data cache
llc last level cache
tlb translation buffer
simd vector
ecc error correction
dvfs frequency
tdp power limit
gop group of picture
fft fourier transform
ntomp openmp thread
ntomp omp thread
ntmpi mpi rank
npme pme rank
nkpts kpoint
ntg task group
rcoulomb coulomb cutoff
rvdw vdw cutoff
fd finite difference
snr quality
eff efficiency
teps edge per second
gteps edge per second
mlups lattice update per second
mflups lattice update per second
sypd simulated year per day
nsday nanosecond per day
nstlist neighbour list
ewald electrostatics
pme electrostatics
xc functional
ecut cutoff
kpts k points
scf iteration
nband band
dof degree of freedom
ndof degree of freedom
amg multigrid
mg multigrid
pc preconditioner
ksp solver
nz vertical level
nlev vertical level
npart particle
nparticles particle
natoms atom
nsteps step
nepochs epoch
nlayers layer
dmodel model width
nheads head
ffn feed forward
kv key value
ttl lifetime
rate speed
pwr power
temp temperature
vcpu cpu
hdd hard disk
ssd solid state
nic network card
net network traffic
err error
req request
resp response
conn connection
cfg configuration
dest destination
src source
dst destination
buf buffer
addr address
freq clock
idx index
img image
vid video
aud audio
res resolution
vol volume
dist distance
vel velocity
accel acceleration
press pressure
conv convergence
resid residual
tol accuracy
iters iteration
niter iteration
nit iteration
eps epsilon
sched scheduling
prio priority
alg algorithm
algo algorithm
impl implementation
comm communication
sync synchronisation
async asynchronous
compr compression
dedup deduplication
repl replication
part partition
parts partition
cfs compression
oom memory
""".strip()
EXPANSIONS: dict[str, list[tuple[str, ...]]] = {}
for _short, *_full in map(str.split, _SHORT_FORMS.splitlines()):
    EXPANSIONS.setdefault(_short, []).append(tuple(_full))
# Words that are written apart or together.
COMPOUNDS = {
    ("run", "time"): "runtime",
    ("k", "point"): "kpoint",
    ("wall", "time"): "walltime",
    ("wall", "clock"): "wallclock",
    ("band", "width"): "bandwidth",
    ("through", "put"): "throughput",
    ("hyper", "threading"): "hyperthreading",
    ("hyper", "thread"): "hyperthread",
    ("data", "set"): "dataset",
    ("start", "up"): "startup",
    ("file", "system"): "filesystem",
    ("back", "end"): "backend",
    ("read", "ahead"): "readahead",
    ("over", "head"): "overhead",
    ("work", "group"): "workgroup",
    ("check", "sum"): "checksum",
    ("up", "time"): "uptime",
    ("pre", "fetch"): "prefetch",
    ("pre", "processing"): "preprocessing",
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
    "use utilisation utilization emissions emission instances speed control algorithm period "
    "length width height angle cutoff depth radius step interval load percentage share rate pool "
    "window generation engine layout format figure traffic "
    "kind constraint factor method technique footprint demand requirement requirements needs "
    "pressure"
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
# What is counted where somebody names only the unit: how many GB, the fewest hours.
UNIT_NOUNS = {
    "h": _stems("hour"),
    "d": _stems("day"),
    "GB": _stems("gb gigabyte gig"),
    "MB": _stems("mb megabyte"),
    "TB": _stems("tb terabyte"),
    "W": _stems("watt"),
    "kW": _stems("kw kilowatt watt"),
    "J": _stems("joule"),
    "kJ": _stems("kj kilojoule joule"),
    "MJ": _stems("mj megajoule joule"),
    "Wh": _stems("wh"),
    "kWh": _stems("kwh"),
    "MWh": _stems("mwh"),
    "min": _stems("minute"),
    "s": _stems("second"),
    "$": _stems("dollar buck"),
    "EUR": _stems("euro"),
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
# Ways to count the same thing: where none is named, each may be meant.
STATISTICS = word_set(
    "mean avg average max maximum min minimum median total p50 p90 p95 p99 p999 std tail worst"
)

# Words for what is done in a time, and how such a time ends the name of a column.
RATE = stem("throughput")
RATES = _stems("throughput rate thruput tput")
DATA_RATES = _stems("bandwidth bw speed")
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
        "snr sdr sinr mfu gteps teps iou map auc bleu reward return mips mfu mos "
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
        "blewup blowup blowsup blownup exploded explodes",
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
