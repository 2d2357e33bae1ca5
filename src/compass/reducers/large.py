"""Reduces tables of any size: one look, one pass, one sample with weights and origins."""

import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from compass.domain.arguments import (
    anything_of,
    flag,
    function,
    path_name,
    paths,
    takes,
    text,
    texts,
    whole,
)
from compass.domain.errors import BadInput
from compass.domain.study import Study
from compass.execute import executor_name, opened
from compass.execute.base import Executor, WorkerLost
from compass.readers.batches import QuotesFound
from compass.readers.fragments import Fragment, FragmentedSource, fragments_of
from compass.reducers import parts
from compass.reducers.draws import share
from compass.reducers.pilot import Pilot, PilotPool, draw
from compass.reducers.plan import Choice, scan_plan
from compass.reducers.report import (
    Guide,
    Report,
    Stage,
    columns_of,
    effective,
    labels_of,
    notes_of,
)
from compass.reducers.scan import ScanPlan, scan
from compass.reducers.statistics import Tally
from compass.settings import ReduceSettings

_ENDINGS = (".parquet", ".pq", ".parq")

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
Tell = Callable[[str, int, int, int], None]  # stage, done, total, rows so far


@takes(
    source=paths,
    output=path_name,
    keep=share,
    method=text,
    by=texts("for example by=['app']"),
    where=texts("for example where=['nodes > 1']"),
    seed=whole(0, 2**32 - 1),
    study=anything_of(Study),
    executor=executor_name,
    skip_unreadable=flag,
    settings=anything_of(ReduceSettings),
    tell=function,
)
def reduce(
    source: Paths,
    output: str | PathLike[str],
    *,
    keep: float,
    method: str = "guided",
    by: str | Iterable[str] = (),
    where: str | Iterable[str] = (),
    seed: int = 7,
    study: Study | None = None,
    executor: str | Executor | None = None,
    skip_unreadable: bool = False,
    settings: ReduceSettings | None = None,
    tell: Tell | None = None,
) -> Report:
    """Keep a share of the rows of files of any size, with weights, in a Parquet file.

    `guided` keeps rows that a pilot model gets wrong or is unsure of with a larger chance;
    `uniform` gives every row the same chance; `stratified` gives rare combinations of the labels
    of `by` a larger one; `front` gives rows near the front of their context a larger one, where all
    outcomes are better when small. The weight of a row is 1 / its chance. The same data, seed and
    share give the same rows on every executor, and whatever the files are called. A run that was
    stopped goes on where it was when it is started again.
    """
    choice = Choice(
        keep,
        method,
        tuple(by),
        tuple(where),
        seed,
        study or Study(),
        skip_unreadable,
        settings or ReduceSettings(),
    )
    choice.check()
    place = Path(output)
    _check_place(place)
    sources = [source] if isinstance(source, str | PathLike) else list(source)
    quoted: frozenset[str] = frozenset()
    with opened(executor) as runner:
        while True:
            try:
                found = fragments_of(sources, quoted=quoted, skip=skip_unreadable)
                _check_apart(found, place)
                return _reduced(found, place, choice, runner, tell or (lambda *_: None))
            except QuotesFound as late:
                file = str(Path(late.file).absolute())
                if file in quoted:
                    raise
                quoted |= {file}


def _check_place(output: Path) -> None:
    """Says before the work, not after it, that the sample cannot be written there."""
    if not output.parent.is_dir():
        raise BadInput(f"there is no folder {output.parent}", hint="make it first")
    if output.is_dir():
        raise BadInput(f"cannot write {output}: it is a folder", hint="name a file in it")
    if output.suffix.lower() not in _ENDINGS:
        raise BadInput(
            f"a sample is a Parquet file, which {output.name} does not end as",
            hint=f"name it {output.stem or 'sample'}.parquet",
        )


def _check_apart(source: FragmentedSource, output: Path) -> None:
    place = output.resolve()
    if any(Path(file).resolve() == place for file in {one.file for one in source.fragments}):
        raise BadInput(
            f"{output} is one of the files to read", hint="write the sample to another folder"
        )


def _reduced(
    source: FragmentedSource, output: Path, choice: Choice, runner: Executor, tell: Tell
) -> Report:
    clock = _Clock()
    tell("looking", 0, 0, 0)
    pool = draw(source, choice.study, choice.seed, choice.settings, skip=choice.skip_unreadable)
    plan, pilot = scan_plan(pool, choice)
    clock.lap("pilot")
    folder = parts.folder_of(output)
    done = parts.begin(folder, _identity(source, choice, pool), len(source.fragments))
    tallies = _scan_all(source.fragments, plan, folder, done, choice, runner, tell)
    clock.lap("pass")
    total = sum(tallies, Tally())
    how = {name: getattr(choice, name) for name in ("method", "keep", "seed")}
    how |= {name: getattr(total, name) for name in ("rows", "usable", "kept")}
    count = len(source.fragments)

    def writing(number: int) -> None:
        tell("writing", number, count, total.rows)

    parts.assemble(folder, output, source.fragments, tallies, how, writing)
    clock.lap("writing")
    return _report(source, tallies, total, len(done), output, choice, runner, pilot, clock.stages)


def _identity(source: FragmentedSource, choice: Choice, pool: PilotPool) -> dict[str, Any]:
    """What must be the same for parts of an earlier run to be of use."""
    return {
        "compass": version("compass-hpc"),
        **{name: getattr(choice, name) for name in ("keep", "method", "by", "where", "seed")},
        "study": choice.study.model_dump(mode="json"),
        "settings": choice.settings.model_dump(mode="json"),
        "pool": pool.table.fingerprint,
        "fragments": [[one.file, *one.order, one.stop] for one in source.fragments],
        "skip": choice.skip_unreadable,
    }


def _work(item: tuple[int, Fragment], plan: ScanPlan, folder: str, skip: bool) -> Tally:
    number, fragment = item
    return scan(fragment, plan, parts.part_of(Path(folder), number), skip=skip)


def _scan_all(
    fragments: Sequence[Fragment],
    plan: ScanPlan,
    folder: Path,
    done: Mapping[int, Tally],
    choice: Choice,
    runner: Executor,
    tell: Tell,
) -> list[Tally]:
    found = dict(done)
    # Workers may be in another folder.
    waiting = [
        (n, replace(one, file=str(Path(one.file).absolute())))
        for n, one in enumerate(fragments)
        if n not in found
    ]
    total = sum(one.bytes for one in fragments)
    read = sum(fragments[n].bytes for n in found)
    rows = sum(tally.rows for tally in found.values())
    tell("reading", read, total, rows)
    work = partial(_work, plan=plan, folder=str(folder.absolute()), skip=choice.skip_unreadable)
    try:
        for position, tally in runner.map(work, waiting):
            number, fragment = waiting[position]
            found[number] = tally
            read += fragment.bytes
            rows += tally.rows
            tell("reading", read, total, rows)
    except WorkerLost as lost:
        where = waiting[lost.position][1] if lost.position >= 0 else "a fragment"
        raise WorkerLost(
            f"{lost.message}, while reading {where}",
            hint=f"{lost.hint + '; ' if lost.hint else ''}the same command goes on with the "
            f"{len(fragments) - len(found)} fragments that are left",
            position=lost.position,
        ) from lost
    return [found[number] for number in range(len(fragments))]


class _Clock:
    """Seconds and memory of the stages."""

    def __init__(self) -> None:
        self.last = time.perf_counter()
        self.stages: list[Stage] = []

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        seconds, self.last = now - self.last, now
        self.stages.append(Stage(name=name, seconds=seconds, peak_mb=peak_memory() / 1e6))


def peak_memory() -> int:
    """The most memory that this process has had so far, in bytes."""
    try:
        # What getrusage tells counts the program that started this one as well.
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _report(
    source: FragmentedSource,
    tallies: Sequence[Tally],  # of each fragment
    total: Tally,
    resumed: int,
    output: Path,
    choice: Choice,
    runner: Executor,
    pilot: Pilot | None,
    stages: Sequence[Stage],
) -> Report:
    each = zip(source.fragments, tallies, strict=True)
    unreadable = {str(fragment): tally.problem for fragment, tally in each if tally.problem}
    guides = [] if pilot is None else list(pilot.scorer.targets)
    return Report(
        output=str(output),
        method=choice.method,
        keep=choice.keep,
        seed=choice.seed,
        executor=runner.name,
        workers=runner.workers,
        files=len({one.file for one in source.fragments}),
        fragments=len(source.fragments),
        resumed=resumed,
        rows=total.rows,
        usable=total.usable,
        kept=total.kept,
        share=total.kept / total.usable if total.usable else 0.0,
        expected=total.expected,
        weight=total.weight,
        heaviest=total.heaviest,
        effective=effective(total),
        dropped=dict(total.dropped),
        unreadable=unreadable,
        pilot_rows=0 if pilot is None else pilot.rows,
        guides=tuple(
            Guide(
                outcome=one.target.name,
                label=None if one.target.label is None else str(one.target.label),
                log=one.target.log,
                explained=one.explained,
            )
            for one in guides
        ),
        columns=columns_of(total),
        labels=labels_of(total),
        stages=tuple(stages),
        notes=notes_of(total, choice.keep, unreadable),
    )
