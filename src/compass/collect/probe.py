"""Measures a small set of kernels on this machine: its benchmark table, in under two minutes.

Compiled with OpenMP over thread counts where there is a C compiler, else with numpy on one thread;
the table says which. The best rates are estimates of the machine's peaks.
"""

from __future__ import annotations

import csv
import io
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compass import files
from compass.collect.machine import find_compiler
from compass.collect.quiet import DISTURBED_ABOVE, watched
from compass.collect.runner import environment
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.execute.processors import affinity

SOURCE = Path(__file__).with_name("probe.c")
KERNELS = ("triad", "daxpy", "reduction", "stencil", "matmul", "sort", "gather")
SIZES = (16_384, 262_144, 4_194_304)  # elements of 8 bytes: caches of usual sizes, and memory
_LARGEST = {"matmul": 262_144}  # 512 x 512: a larger product tells nothing new
COLUMNS = ("machine", "kernel", "size", "threads", "runtime", "bytes", "flops", "iterations", "how")
_STREAMS = ("triad", "daxpy", "reduction", "stencil")  # bound by memory where they do not fit
_REPEATS = 3
_TARGET_MS = 15.0
_LIMIT = 110  # seconds that the program may take
_COMPILE = ("-std=c11", "-O3", "-fopenmp")


@dataclass(frozen=True)
class ProbePoint:
    """One kernel of one size on so many threads."""

    kernel: str
    size: int
    threads: int


@dataclass(frozen=True)
class ProbeRate:
    """What was measured of it: seconds of one execution, bytes moved, operations."""

    point: ProbePoint
    seconds: float
    bytes: float
    flops: float


@dataclass(frozen=True)
class ProbeReport:
    """What a probe wrote."""

    machine: str
    path: Path
    peaks_path: Path
    rows: int
    how: str  # compiled or numpy
    bandwidth: float  # bytes per second
    flops: float  # per second
    seconds: float
    others: float  # cores that other work used meanwhile
    failed: tuple[str, ...]

    @property
    def disturbed(self) -> bool:
        """Whether other work may have slowed it down."""
        return self.others > DISTURBED_ABOVE


def probe(output: Path, machine: str | None = None, *, compiled: bool | None = None) -> ProbeReport:
    """Measure this machine and write its benchmark table, with estimated peaks beside it.

    `compiled`: True needs a C compiler, False uses numpy, None takes a compiler where there is one.
    """
    name = machine or platform.node().partition(".")[0] or "this machine"
    if "," in name or "\n" in name:
        raise BadInput(f"'{name[:60]}' is no name of a machine", hint="use --machine NAME")
    began = time.monotonic()
    (how, found, failed), others = watched(lambda: _measured(compiled))
    if not found:
        raise EnvironmentProblem(
            f"no kernel could be measured: {failed[0] if failed else 'no answer'}",
            hint="try --numpy",
        )
    files.write_text(output, table_text(name, found, how), files.READABLE)
    bandwidth, flops = peaks(found)
    peaks_path = output.with_suffix(".peaks.yaml")
    text = f"{name}: {{flops: {flops:.4e}, bandwidth: {bandwidth:.4e}}}\n"
    files.write_text(peaks_path, text, files.READABLE)
    seconds = time.monotonic() - began
    return ProbeReport(
        name, output, peaks_path, len(found), how, bandwidth, flops, seconds, others, failed
    )


def points(cores: int) -> tuple[ProbePoint, ...]:
    """Every kernel in every size on 1, 2, 4, ... and all threads; sorting has one thread."""
    threads = sorted({2**k for k in range(cores.bit_length()) if 2**k <= cores} | {cores})
    return tuple(
        ProbePoint(kernel, size, count)
        for kernel in KERNELS
        for size in SIZES
        if size <= _LARGEST.get(kernel, size)
        for count in (threads if kernel != "sort" else [1])
    )


def peaks(found: Sequence[ProbeRate]) -> tuple[float, float]:
    """The best bytes per second out of memory, and operations per second."""
    moved = [r for r in found if r.point.kernel in _STREAMS and r.point.size == max(SIZES)]
    rates = [r.bytes / r.seconds for r in moved] or [r.bytes / r.seconds for r in found]
    return max(rates), max(r.flops / r.seconds for r in found)


def table_text(machine: str, found: Sequence[ProbeRate], how: str) -> str:
    """The table as CSV."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for rate in found:
        point = rate.point
        rows.writerow(
            (
                *(machine, point.kernel, point.size, point.threads, f"{rate.seconds:.6g}"),
                *(f"{rate.bytes:.0f}", f"{rate.flops:.0f}", point.size, how),
            )
        )
    return text.getvalue()


def _measured(compiled: bool | None) -> tuple[str, list[ProbeRate], tuple[str, ...]]:
    if compiled is not False:
        try:
            return "compiled", *_with_compiler(points(affinity()))
        except EnvironmentProblem:
            if compiled:
                raise
    return "numpy", [with_numpy(point) for point in points(1)], ()


def _with_compiler(wanted: Sequence[ProbePoint]) -> tuple[list[ProbeRate], tuple[str, ...]]:
    with tempfile.TemporaryDirectory(prefix="compass-") as folder:
        program = Path(folder) / "probe"
        _run([*find_compiler(), *_COMPILE, str(SOURCE), "-lm", "-o", str(program)], "")
        lines = "".join(
            f"{p.kernel} {p.size} {p.threads} {_REPEATS} {_TARGET_MS:g}\n" for p in wanted
        )
        answers = _run([str(program)], lines).splitlines()
    found, failed = [], []
    for point, answer in zip(wanted, answers, strict=False):
        kind, *fields = answer.split()
        if kind == "ok":
            found.append(ProbeRate(point, *(float(value) for value in fields)))
        else:
            failed.append(f"{point.kernel}: {' '.join(fields)}")
    return found, tuple(failed)


def _run(command: list[str], text: str) -> str:
    try:
        answer = subprocess.run(  # noqa: S603 - the compiler the person chose, and what it made
            command,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT,
            env=environment("close"),
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EnvironmentProblem(
            f"the probe could not be run: {problem}", hint="try --numpy"
        ) from None
    if answer.returncode != 0:
        first = next((line for line in answer.stderr.splitlines() if "error" in line), "no reason")
        raise EnvironmentProblem(f"the probe could not be built: {first}", hint="try --numpy")
    return answer.stdout


def with_numpy(point: ProbePoint) -> ProbeRate:
    """One kernel by numpy, on one thread as far as numpy lets."""
    n = point.size
    a, b, c = np.ones(n), np.arange(n, dtype=np.float64) % 7, np.full(n, 2.0)
    side = int(np.sqrt(n))
    rng = np.random.default_rng(1)
    at, key = rng.integers(0, n, n), rng.integers(0, 2**32, n, dtype=np.uint32)
    left, right = b[: side * side].reshape(side, side), c[: side * side].reshape(side, side)
    work: dict[str, tuple[Callable[[], object], float, float]] = {
        "triad": (lambda: np.add(b, 3.0 * c, out=a), 24 * n, 2 * n),
        "daxpy": (lambda: np.add(a, 0.5 * b, out=a), 24 * n, 2 * n),
        "reduction": (lambda: np.sum(b), 8 * n, n),
        "stencil": (lambda: (b[:-2] + b[1:-1] + b[2:]) / 3.0, 16 * n, 3 * n),
        "matmul": (lambda: left @ right, 24 * side**2, 2 * side**3),
        "sort": (lambda: np.sort(key), 48 * n, 0),
        "gather": (lambda: np.sum(b[at]), 12 * n, n),
    }
    run, moved, flops = work[point.kernel]
    run()
    best = float("inf")
    for _ in range(_REPEATS):
        began = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - began)
    return ProbeRate(point, max(best, 1e-9), moved, flops)
