"""Measures a few thousand kernel configurations on this machine and writes them as a table."""

from __future__ import annotations

import csv
import io
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from compass import files
from compass.collect.machine import describe, find_compiler
from compass.collect.plan import KERNELS, Configuration, knobs_for, plan
from compass.collect.quiet import DISTURBED_ABOVE, QuietWait, watched
from compass.collect.runner import (
    Measurement,
    Refusal,
    RunResult,
    Sample,
    Variant,
    compile_all,
    run_group,
    summary,
    usable_flags,
    variant_of,
    variation_pct,
)
from compass.domain.errors import BadInput, unknown
from compass.execute.processors import affinity

# The shuffled plan is cut into this many slices; in each slice the configurations of one compiled
# program run in one process. Each program therefore comes back in every part of the sweep.
SLICES = 12
MAX_REPEATS = 101

# What disturbs a run (other work, other guests of the same host) makes it slower, never faster, and
# lasts for seconds. So the fastest of several visits counts, and a visit that no other visit comes
# near is followed by more, until two agree.
AGREE_PCT = 10.0
EXTRA_VISITS = 4
DROP_ABOVE_PCT = 60.0
PATIENCE_SECONDS = 300.0
_DIGITS = 5

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SweepOptions:
    """What was asked of a sweep."""

    rows: int
    repeats: int
    seed: int
    kernels: tuple[str, ...]
    visits: int
    patience: float

    def check(self) -> None:
        """Refuses numbers that cannot be a sweep."""
        if self.rows < 1 or self.visits < 1 or self.patience < 0:
            raise BadInput("A sweep needs at least one row and one visit, and patience from 0 up.")
        if not 2 <= self.repeats <= MAX_REPEATS:
            raise BadInput(
                f"Repeats must be between 2 and {MAX_REPEATS}, not {self.repeats}.",
                hint="a single repeat cannot show how much runs vary",
            )

    def text(self) -> str:
        """Returns the options that decide what is measured, as arguments of collect."""
        names = ("rows", "repeats", "seed", "kernels", "visits")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


@dataclass(frozen=True)
class CollectReport:
    """What one sweep produced."""

    rows: int
    seconds: float
    failed: int
    path: Path
    machine: dict[str, object]


def collect(
    output: Path,
    *,
    rows: int = 3000,
    repeats: int = 5,
    seed: int = 7,
    kernels: Sequence[str] | None = None,
    visits: int = 2,
    patience: float = PATIENCE_SECONDS,
    progress: Progress | None = None,
) -> CollectReport:
    """Measures this machine and writes the table to `output`, with its provenance beside it.

    Each configuration is visited at least `visits` times, minutes apart, and timed `repeats` times
    in each. `patience` is how many seconds, in all, to wait for other work on the machine to end;
    when they are used up the sweep goes on beside that work, and the provenance says so.
    """
    options = SweepOptions(rows, repeats, seed, _known(kernels), visits, patience)
    options.check()
    began = time.monotonic()
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="compass-") as name:
        folder = Path(name)
        knobs = knobs_for(affinity(), usable_flags(compiler, folder))
        configurations = plan(knobs, rows=rows, seed=seed, kernels=options.kernels)
        programs = compile_all(compiler, map(variant_of, configurations), folder)
        measured = measure(programs, configurations, options, progress)
    kept, refused = table_rows(measured)
    seconds = time.monotonic() - began
    about = describe(compiler) | provenance(options, measured, kept, refused, seconds)
    output.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(output, table_text(kept, binding=knobs.varies_binding), files.READABLE)
    files.write_text(provenance_path(output), json.dumps(about, indent=2) + "\n", files.READABLE)
    return CollectReport(len(kept), seconds, sum(refused.values()), output, about)


def provenance(
    options: SweepOptions,
    measured: SweepSamples,
    kept: Mapping[Configuration, Measurement],
    refused: Mapping[str, int],
    seconds: float,
) -> dict[str, object]:
    """Returns how a table came about: what was asked, and how undisturbed the machine was."""
    apart = sorted(disagreement_pct(measured.samples[c]) for c in kept) or [0.0]
    return {
        "command": f"collect({options.text()})",
        "seed": options.seed,
        "repeats": options.repeats,
        "visits": options.visits,
        "rows": len(kept),
        "failed": dict(refused),
        "seconds": round(seconds),
        "visits_made": measured.visits,
        "visits_beside_other_work": measured.disturbed,
        "two_fastest_visits_differ_pct": {
            "median": round(statistics.median(apart), 2),
            "p90": round(apart[int(0.9 * (len(apart) - 1))], 2),
        },
        "runtime": "median of the repeats of the fastest visit",
        "variation": "100 (p90 - p10) over median, of the repeats of that visit",
    }


def provenance_path(output: Path) -> Path:
    """Returns where the description of the machine is written: beside the table."""
    return output.with_name(f"{output.stem}.machine.json")


@dataclass
class SweepSamples:
    """What a sweep has measured so far: a sample for each visit to a configuration."""

    samples: dict[Configuration, list[Sample]] = field(default_factory=dict)
    refused: dict[Configuration, Refusal] = field(default_factory=dict)
    visits: int = 0
    disturbed: int = 0

    def add(self, configuration: Configuration, result: RunResult) -> None:
        """Adds one visit."""
        self.visits += 1
        if isinstance(result, Refusal):
            self.refused[configuration] = result  # wrong once is wrong
        else:
            self.samples.setdefault(configuration, []).append(result)

    def unconfirmed(self) -> list[Configuration]:
        """Returns the configurations whose fastest visit no other visit comes near."""
        return [
            configuration
            for configuration, samples in self.samples.items()
            if configuration not in self.refused and disagreement_pct(samples) > AGREE_PCT
        ]


def measure(
    programs: dict[Variant, Path],
    configurations: Sequence[Configuration],
    options: SweepOptions,
    progress: Progress | None = None,
) -> SweepSamples:
    """Visits every configuration several times, and more often where the visits disagree.

    Every second visit goes through the plan backwards: a steady drift of the machine then falls on
    all configurations alike.
    """
    measured, patience = SweepSamples(), QuietWait(options.patience)
    total = options.visits * len(configurations)

    def visit(order: Sequence[Configuration]) -> None:
        for group in groups(order):
            program = programs[variant_of(group[0])]
            results, quiet = _undisturbed(program, group, options.repeats, patience)
            measured.disturbed += 0 if quiet else len(group)
            for configuration, result in zip(group, results, strict=True):
                measured.add(configuration, result)
            if progress is not None:
                progress(min(measured.visits, total), total)

    for number in range(options.visits):
        visit(configurations[:: -1 if number % 2 else 1])
    for _ in range(EXTRA_VISITS):
        visit(measured.unconfirmed())
    return measured


def fastest(samples: Sequence[Sample]) -> Sample:
    """Returns the visit with the shortest median time: the one disturbed least."""
    return min(samples, key=lambda sample: statistics.median(sample.seconds))


def disagreement_pct(samples: Sequence[Sample]) -> float:
    """Returns by how much the second fastest visit is slower than the fastest, in percent."""
    medians = sorted(statistics.median(sample.seconds) for sample in samples)
    return 100 * (medians[1] / medians[0] - 1) if len(medians) > 1 else 0.0


def _undisturbed(
    program: Path, group: Sequence[Configuration], repeats: int, patience: QuietWait
) -> tuple[list[RunResult], bool]:
    results, others = watched(lambda: run_group(program, group, repeats))
    while others > DISTURBED_ABOVE and patience.left > 0:
        patience.wait_until_quiet()
        results, others = watched(lambda: run_group(program, group, repeats))
    return results, others <= DISTURBED_ABOVE


def table_rows(measured: SweepSamples) -> tuple[dict[Configuration, Measurement], Counter[str]]:
    """Returns the rows of the table, and how many configurations were left out for each reason."""
    reasons = Counter(refusal.reason for refusal in measured.refused.values())
    rows: dict[Configuration, Measurement] = {}
    for configuration, samples in measured.samples.items():
        if configuration in measured.refused:
            continue
        steady = [s for s in samples if variation_pct(s.seconds) <= DROP_ABOVE_PCT]
        if steady:
            rows[configuration] = summary(fastest(steady))
        else:
            reasons["repeats disagree"] += 1
    return rows, reasons


def groups(configurations: Sequence[Configuration]) -> list[list[Configuration]]:
    """Cuts the plan into slices and, in each, puts together what one process can measure."""
    length = max(1, -(-len(configurations) // SLICES))
    found: list[list[Configuration]] = []
    for start in range(0, len(configurations), length):
        by_program: dict[tuple[Variant, str], list[Configuration]] = {}
        for c in configurations[start : start + length]:
            by_program.setdefault((variant_of(c), c.binding), []).append(c)
        found.extend(by_program.values())
    return found


def columns(*, binding: bool) -> tuple[str, ...]:
    """Returns the column names of the table, in order."""
    knobs = ("precision", "threads", "schedule", "chunk", "tile", "unroll", "flags")
    measured = ("runtime_ms", "variation_pct", "gflops")
    return ("kernel", "size_kib", *knobs, *(("binding",) if binding else ()), *measured)


def table_text(rows: Mapping[Configuration, Measurement], *, binding: bool) -> str:
    """Returns the measurements as CSV text."""
    names = columns(binding=binding)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for configuration, result in rows.items():
        cells = {**asdict(configuration), **asdict(result)}
        writer.writerow([_cell(cells[name]) for name in names])
    return text.getvalue()


def _known(kernels: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(KERNELS if kernels is None else kernels))
    wrong = [name for name in chosen if name not in KERNELS]
    if wrong:
        raise unknown("kernel", wrong[0], KERNELS)
    if not chosen:
        raise BadInput("No kernel was named.", hint=f"there are: {', '.join(KERNELS)}")
    return chosen


def _cell(value: object) -> str:
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
