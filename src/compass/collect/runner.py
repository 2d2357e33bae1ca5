"""Compiles the kernels and runs configurations, refusing any result that is not correct."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from compass.collect.plan import FLAGS, Configuration
from compass.domain.errors import EnvironmentProblem
from compass.execute.processors import affinity

SOURCE = Path(__file__).with_name("kernels.c")

# One repeat lasts at least about this long: a hundred thousand times the resolution of the clock,
# yet short enough for thousands of configurations in a few minutes.
TARGET_MS = 5.0
TOLERANCE = {"single": 1e-4, "double": 1e-10}
_BITS = {"single": 32, "double": 64}
_SECONDS_PER_CONFIGURATION = 60
_COMPILE_SECONDS = 120
_OPENMP_HINT = "Use a compiler with OpenMP support (for example gcc); name it in the CC variable."


@dataclass(frozen=True, order=True)
class Variant:
    """What is fixed when the program is compiled."""

    precision: str
    unroll: int
    flags: str


@dataclass(frozen=True)
class Measurement:
    """The times of one configuration: one kernel execution, over the repeats."""

    runtime_ms: float
    variation_pct: float
    gflops: float


@dataclass(frozen=True)
class Sample:
    """The seconds of one kernel execution in each repeat, and its floating point operations."""

    seconds: tuple[float, ...]
    flops: float


@dataclass(frozen=True)
class Refusal:
    """Why a configuration has no measurement."""

    reason: str


RunResult = Sample | Refusal


def variant_of(configuration: Configuration) -> Variant:
    """Returns the compiled program a configuration needs."""
    return Variant(configuration.precision, configuration.unroll, configuration.flags)


def compile_variant(
    compiler: Sequence[str], variant: Variant, folder: Path, extra: Sequence[str] = ()
) -> Path:
    """Compiles one variant of the kernels into a folder and returns the program."""
    program = folder / f"kernels-{variant.precision}-{variant.unroll}-{variant.flags}"
    command = [
        *compiler,
        "-std=c11",
        "-fopenmp",
        *FLAGS[variant.flags],
        f"-DPRECISION={_BITS[variant.precision]}",
        f"-DUNROLL={variant.unroll}",
        *extra,
        str(SOURCE),
        "-o",
        str(program),
    ]
    try:
        answer = subprocess.run(  # noqa: S603 - the compiler the person chose
            command, capture_output=True, text=True, check=False, timeout=_COMPILE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EnvironmentProblem(f"The C compiler could not be run: {problem}.") from problem
    if answer.returncode != 0:
        first = next((line for line in answer.stderr.splitlines() if "error" in line), "no reason")
        raise EnvironmentProblem(
            f"The C compiler refused the kernels with {' '.join(FLAGS[variant.flags])}: {first}",
            hint=_OPENMP_HINT,
        )
    return program


def usable_flags(compiler: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Returns the flag sets this compiler accepts on this machine."""
    accepted: list[str] = []
    problem: EnvironmentProblem | None = None
    for name in FLAGS:
        try:
            compile_variant(compiler, Variant("double", 1, name), folder)
            accepted.append(name)
        except EnvironmentProblem as refused:
            problem = refused  # -march=native is unknown to some compilers: not an error by itself
    if not accepted and problem is not None:
        raise problem
    return tuple(accepted)


def compile_all(
    compiler: Sequence[str], variants: Iterable[Variant], folder: Path
) -> dict[Variant, Path]:
    """Compiles each variant once, several at a time, and returns the programs."""
    wanted = sorted(set(variants))
    with ThreadPoolExecutor(max_workers=affinity()) as pool:
        programs = list(pool.map(lambda v: compile_variant(compiler, v, folder), wanted))
    return dict(zip(wanted, programs, strict=True))


def run_group(
    program: Path, configurations: Sequence[Configuration], repeats: int
) -> list[RunResult]:
    """Measures configurations of one compiled program, with one binding, in one process."""
    lines = "".join(
        f"{c.kernel} {c.n} {c.threads} {c.schedule} {c.chunk} {c.tile} {repeats} {TARGET_MS:g}\n"
        for c in configurations
    )
    limit = _SECONDS_PER_CONFIGURATION * len(configurations)
    try:
        answer = subprocess.run(  # noqa: S603 - the program compiled above
            [str(program)],
            input=lines,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            env=environment(configurations[0].binding),
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as problem:
        return [Refusal(f"the program did not finish: {problem}")] * len(configurations)
    answers = answer.splitlines()
    # A program that stops half way leaves its remaining configurations without an answer.
    answers += ["error the program stopped"] * (len(configurations) - len(answers))
    return [
        result_from(line, c.precision) for line, c in zip(answers, configurations, strict=False)
    ]


def result_from(line: str, precision: str) -> RunResult:
    """Reads one answer of the program; refuses it when the kernel computed a wrong result."""
    kind, *fields = line.split()
    if kind != "ok":
        return Refusal(" ".join(fields))
    worst, total, flops = (float(text) for text in fields[:3])
    # Both must be finite: a NaN is lost by a maximum, but not by a sum.
    if not (math.isfinite(total) and worst <= TOLERANCE[precision]):
        return Refusal(f"wrong result: relative error {worst:g}")
    return Sample(tuple(float(text) for text in fields[4:]), flops)


def summary(sample: Sample) -> Measurement:
    """Returns what the table says about a configuration: the median repeat and their spread."""
    middle = statistics.median(sample.seconds)
    return Measurement(middle * 1e3, variation_pct(sample.seconds), sample.flops / middle / 1e9)


def variation_pct(times: Sequence[float]) -> float:
    """Returns how much repeats differ: 100 (p90 - p10) / median, percentiles interpolated."""
    deciles = statistics.quantiles(times, n=10, method="inclusive")
    return 100 * (deciles[-1] - deciles[0]) / statistics.median(times)


def environment(binding: str) -> dict[str, str]:
    """Returns the environment of a measured program: threads bound as asked, nothing else set."""
    # The user's own OpenMP settings would silently change what is measured.
    ours = ("OMP_", "GOMP_", "KMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    if binding == "none":
        return kept | {"OMP_PROC_BIND": "false"}
    return kept | {"OMP_PROC_BIND": binding, "OMP_PLACES": "cores"}
