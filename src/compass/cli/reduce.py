"""`compass reduce`: a weighted sample of files of any size."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags
from compass.cli.garbage import look_as_usual
from compass.cli.groups import grouped
from compass.cli.output import check_output
from compass.cli.study import SampleStudyFlags

if TYPE_CHECKING:
    from compass.reducers.report import Report

_EVERY = 30.0  # seconds between lines of progress where there is no terminal

Sources = Annotated[list[str], flags.argument("SOURCE...", "Files, globs or folders, of any size.")]
Sample = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="FILE", help="The sample to write (Parquet).", show_default=False
    ),
]
Share = Annotated[
    float,
    flags.option(
        "--keep",
        "SHARE",
        "Share of the rows to keep, e.g. 0.05 or 5%.",
        parser=flags.share,
        show_default=False,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="guided: more of what a pilot model does not know well; uniform: all alike; "
        "stratified: more of rare combinations of labels; front: more of what is near trade-offs "
        "between outcomes that are good when small.",
    ),
]
By = Annotated[
    flags.Texts, flags.option("--by", "COLUMN", "Strata are made of this column; repeatable.")
]
Where = Annotated[
    flags.Texts, flags.option("--where", "RULE", "Only rows that obey this rule; repeatable.")
]
Runs = Annotated[
    flags.MaybeText,
    flags.option(
        "--executor",
        "WHERE",
        "threads:4 (default: threads), processes:4, dask, dask://HOST:PORT, mpi, "
        "slurm:jobs=4,cores=2,memory=4GB.",
    ),
]
Skip = Annotated[
    bool,
    typer.Option("--skip-unreadable", help="Go on without fragments that cannot be read."),
]


@dataclass(frozen=True)
class ReduceFlags:
    """How rows are chosen, and where the work runs."""

    method: Method = "guided"
    by: By = None
    where: Where = None
    seed: flags.Seed = None
    executor: Runs = None
    skip_unreadable: Skip = False


@grouped
def reduce(
    source: Sources,
    output: Sample,
    keep: Share,
    *,
    how: ReduceFlags,
    study: SampleStudyFlags,
    as_json: flags.AsJson = False,
) -> None:
    """Keep a share of the rows of files of any size, with weights, to learn from.

    The same data, seed and share give the same rows on every executor. A run that was stopped goes
    on where it was when the same command is given again.
    """
    from compass.reducers.large import reduce as reduced
    from compass.settings import Settings

    look_as_usual()
    check_output(output)
    given = study.parsed()
    with _progress(quiet=as_json) as tell:
        report = reduced(
            source,
            output,
            keep=keep,
            method=how.method,
            by=how.by or (),
            where=how.where or (),
            seed=Settings().seed if how.seed is None else how.seed,
            study=given.merged(),
            executor=how.executor,
            skip_unreadable=how.skip_unreadable,
            tell=tell,
        )
    if as_json:
        sys.stdout.write(report.model_dump_json(indent=2) + "\n")
    else:
        _show(report)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int, int], None]]:
    """A callback that shows rows, rows per second, time left and memory."""
    if quiet:
        yield lambda *_: None
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield _lines()


def _bar() -> Iterator[Callable[[str, int, int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("looking", total=None, rate="")
        rate = _Rate()

        def tell(stage: str, done: int, total: int, rows: int) -> None:
            bar.update(
                task,
                description=stage,
                completed=done,
                total=total or None,
                rate=rate.words(rows),
            )

        yield tell


def _lines() -> Callable[[str, int, int, int], None]:
    rate = _Rate()
    last = time.monotonic()

    def tell(stage: str, done: int, total: int, rows: int) -> None:
        nonlocal last
        now = time.monotonic()
        if total and now - last >= _EVERY:
            last = now
            left = rate.seconds_left(done, total)
            sys.stderr.write(f"{stage} {done / total:.0%}  {rate.words(rows)}  {left:.0f} s left\n")

    return tell


class _Rate:
    """How fast rows come, counted from the first ones."""

    def __init__(self) -> None:
        self.start: float | None = None
        self.first = 0  # rows that an earlier run had already read
        self.done = 0

    def words(self, rows: int) -> str:
        """Rows so far, rows per second and memory."""
        from compass.reducers.large import peak_memory

        now = time.monotonic()
        if self.start is None:
            self.start, self.first = now, rows
        passed = now - self.start
        speed = (rows - self.first) / passed if passed > 0.1 else 0.0
        return f"{rows:,} rows  {speed / 1e6:.1f} M rows/s  {peak_memory() / 1e6:,.0f} MB"

    def seconds_left(self, done: int, total: int) -> float:
        """If the rest is like what was done so far."""
        passed = time.monotonic() - (self.start or time.monotonic())
        return passed * (total - done) / max(done, 1)


def _show(report: "Report") -> None:
    from compass.cli.tables import print_notes, print_table

    print_table(
        "",
        ("what", "rows"),
        [
            ("read", f"{report.rows:,}"),
            *((f"left out: {why}", f"{count:,}") for why, count in report.dropped.items()),
            ("usable", f"{report.usable:,}"),
            (f"kept ({report.method}, {report.share:.2%})", f"{report.kept:,}"),
            ("as good for a mean as, alike", f"{report.effective:,.0f}"),
        ],
    )
    if report.guides:
        print_table(
            "The pilot model",
            ("outcome", "learnt as", "explains"),
            [
                (
                    guide.outcome if guide.label is None else f"{guide.outcome} is {guide.label}",
                    "logarithm" if guide.log else "itself",
                    f"{max(guide.explained, 0.0):.0%} of the variance of "
                    f"{report.pilot_rows:,} rows",
                )
                for guide in report.guides
            ],
        )
    print_table(
        "Numbers: all usable rows, and what the weighted sample says",
        ("column", "lowest", "highest", "mean", "mean by sample"),
        [
            (one.name, _short(one.low), _short(one.high), _short(one.mean), _short(one.estimate))
            for one in report.columns
        ],
    )
    if report.labels:
        print_table(
            "Labels: where more was kept",
            ("column", "label", "rows", "kept", "share"),
            [
                (one.column, one.label, f"{one.rows:,}", f"{one.kept:,}", f"{one.chance:.2%}")
                for one in report.labels[:24]
            ],
        )
    print_table(
        "",
        ("stage", "seconds", "peak MB"),
        [(one.name, f"{one.seconds:.2f}", f"{one.peak_mb:,.0f}") for one in report.stages],
    )
    print_notes([*report.notes, *(f"{what}: {why}" for what, why in report.unreadable.items())])
    print_notes(
        [f"wrote {report.output}; learn from it: compass fit {report.output} -o jobs.compass"]
    )


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:,.6g}"
