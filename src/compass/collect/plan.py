"""Chooses which configurations to measure: a seeded, balanced part of all that are possible."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

KERNELS = ("triad", "matmul", "stencil", "spmv")

# Working sets in KiB for double precision, a factor of four apart, so that usual first, second and
# third level caches and the memory are each met. A product of 512 x 512 (6144) already takes as
# long as the largest of the others.
SIZES_KIB = (24, 96, 384, 1536, 6144, 24576, 98304)
LARGEST_KIB = {"matmul": 6144}

FLAGS: dict[str, tuple[str, ...]] = {
    "O1": ("-O1",),
    "O2": ("-O2",),
    "O3": ("-O3",),
    "O3-native": ("-O3", "-march=native"),
    "Ofast-native": ("-Ofast", "-march=native"),
}

MIN_CORES_FOR_BINDING = 4
# Without binding, two threads are now and then left on one core and wait for each other for whole
# time slices; so binding is the fixed choice where it is not a knob.
_BOUND = "close"
_SPMV_BYTES_PER_ROW = 15.25 * 12 + 24  # 15.25 entries on average; row start, input and output
_ATTEMPTS_PER_ROW = 200
_STAR_SHARE = 0.5


@dataclass(frozen=True)
class Knobs:
    """The values each knob takes in one sweep on one machine."""

    threads: tuple[int, ...]
    bindings: tuple[str, ...] = (_BOUND,)
    precisions: tuple[str, ...] = ("single", "double")
    schedules: tuple[str, ...] = ("static", "dynamic", "guided")
    chunks: tuple[int, ...] = (0, 1, 2, 4, 8, 16)
    tiles: tuple[int, ...] = (16, 32, 64, 128, 256)
    unrolls: tuple[int, ...] = (1, 2, 4, 8)
    flags: tuple[str, ...] = field(default=tuple(FLAGS))

    @property
    def varies_binding(self) -> bool:
        """Tells whether thread binding is one of the knobs on this machine."""
        return len(self.bindings) > 1


@dataclass(frozen=True)
class Configuration:
    """One point of the sweep: a kernel, its problem size and a value for every knob."""

    kernel: str
    size_kib: int
    precision: str
    threads: int
    schedule: str
    chunk: int
    tile: int
    unroll: int
    flags: str
    binding: str = _BOUND

    @property
    def n(self) -> int:
        """The kernel's own size parameter for this problem size."""
        return problem_n(self.kernel, self.size_kib)

    @property
    def blocks(self) -> int:
        """How many blocks of work the threads share."""
        return block_count(self.kernel, self.n, self.tile)


def knobs_for(cores: int, flags: Sequence[str] = tuple(FLAGS)) -> Knobs:
    """Returns the knob values a machine with this many cores really varies."""
    powers = {2**k for k in range(cores.bit_length()) if 2**k <= cores}
    choice = cores >= MIN_CORES_FOR_BINDING
    bindings = (_BOUND, "spread", "none") if choice else (_BOUND,)
    return Knobs(threads=tuple(sorted(powers | {cores})), bindings=bindings, flags=tuple(flags))


def problem_n(kernel: str, size_kib: int) -> int:
    """Returns the size parameter whose double precision working set is nearest to size_kib.

    Elements for triad, matrix side for matmul, grid side for stencil, rows for spmv; always a
    multiple of 8, so that each unroll factor divides it.
    """
    size = size_kib * 1024
    exact = {
        "triad": size / (3 * 8),
        "matmul": math.sqrt(size / (3 * 8)),
        "stencil": math.sqrt(size / (2 * 8)),
        "spmv": size / _SPMV_BYTES_PER_ROW,
    }[kernel]
    return max(8, round(exact / 8) * 8)


def block_count(kernel: str, n: int, tile: int) -> int:
    """Returns how many blocks of work a kernel of size n has with this tile."""
    if kernel == "matmul":
        return math.ceil(n / tile) ** 2
    if kernel == "stencil":
        return math.ceil((n - 2) / tile) ** 2
    return math.ceil(n / tile)


def sizes_for(kernel: str) -> tuple[int, ...]:
    """Returns the problem sizes, in KiB, at which this kernel is measured."""
    limit = LARGEST_KIB.get(kernel, SIZES_KIB[-1])
    return tuple(size for size in SIZES_KIB if size <= limit)


def is_sensible(configuration: Configuration) -> bool:
    """Tells whether a configuration means something: the rules every measured row obeys.

    A tile fits the problem; each thread has at least one full chunk of blocks; chunk 0 (the equal
    shares of the static schedule) belongs to that schedule only.
    """
    c = configuration
    fits = c.tile <= c.n and max(c.chunk, 1) * c.threads <= c.blocks
    return fits and (c.chunk > 0 or c.schedule == "static")


def plan(knobs: Knobs, *, rows: int, seed: int, kernels: Sequence[str]) -> list[Configuration]:
    """Returns at most `rows` different configurations in a seeded, shuffled order.

    Rows are shared equally between kernels and sizes. In each share a part changes one knob at a
    time from a usual configuration (what a single change does), the rest is drawn at random (how
    knobs act together).
    """
    rng = random.Random(seed)  # noqa: S311 - a design of experiments, not a secret
    cells = [(kernel, size) for kernel in kernels for size in sizes_for(kernel)]
    rng.shuffle(cells)  # decides which cells get the rows that do not divide equally
    chosen: list[Configuration] = []
    for index, (kernel, size) in enumerate(cells):
        share = rows // len(cells) + (index < rows % len(cells))
        chosen.extend(_cell(kernel, size, knobs, share, rng))
    rng.shuffle(chosen)  # a drift of the machine must not look like the effect of a knob
    return chosen


def _cell(
    kernel: str, size: int, knobs: Knobs, share: int, rng: random.Random
) -> list[Configuration]:
    star = list(_one_change_each(default_configuration(kernel, size, knobs), knobs))
    keep = min(len(star), math.ceil(share * _STAR_SHARE))
    picked = dict.fromkeys(star if keep == len(star) else rng.sample(star, keep))
    for _ in range(share * _ATTEMPTS_PER_ROW):
        if len(picked) >= share:
            break
        candidate = _draw(kernel, size, knobs, rng)
        if is_sensible(candidate):
            picked.setdefault(candidate)
    return list(picked)[:share]


def default_configuration(kernel: str, size_kib: int, knobs: Knobs) -> Configuration:
    """Returns the configuration someone would begin with: all cores, -O2, no tuning."""
    start = Configuration(
        kernel=kernel,
        size_kib=size_kib,
        precision=knobs.precisions[-1],
        threads=knobs.threads[-1],
        schedule="static",
        chunk=0,
        tile=knobs.tiles[0],
        unroll=knobs.unrolls[0],
        flags="O2" if "O2" in knobs.flags else knobs.flags[0],
    )
    preferred = sorted(knobs.tiles, key=lambda tile: abs(tile - 64))
    variants = [
        replace(start, tile=tile, threads=threads)
        for threads in reversed(knobs.threads)
        for tile in preferred
    ]
    return next((v for v in variants if is_sensible(v)), start)


def _one_change_each(start: Configuration, knobs: Knobs) -> Iterator[Configuration]:
    if is_sensible(start):
        yield start
    for name, values in _values(knobs).items():
        for value in values:
            change: dict[str, object] = {name: value}
            if name == "schedule" and value != "static":
                change["chunk"] = 1  # what these schedules do when no chunk is given
            candidate = Configuration(**{**asdict(start), **change})
            if candidate != start and is_sensible(candidate):
                yield candidate


def _draw(kernel: str, size: int, knobs: Knobs, rng: random.Random) -> Configuration:
    drawn = {name: rng.choice(values) for name, values in _values(knobs).items()}
    return Configuration(**{"kernel": kernel, "size_kib": size, **drawn})  # type: ignore[arg-type]


def _values(knobs: Knobs) -> dict[str, tuple[object, ...]]:
    return {
        "precision": knobs.precisions,
        "threads": knobs.threads,
        "schedule": knobs.schedules,
        "chunk": knobs.chunks,
        "tile": knobs.tiles,
        "unroll": knobs.unrolls,
        "flags": knobs.flags,
        "binding": knobs.bindings,
    }
