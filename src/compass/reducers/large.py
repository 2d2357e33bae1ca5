"""Reduces tables of any size: one look, one pass, one sample with weights and origins."""

import resource
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

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
from compass.domain.errors import BadInput, DataProblem, unknown
from compass.domain.space import Role
from compass.domain.study import Study
from compass.execute import executor_name, opened
from compass.execute.base import Executor, WorkerLost
from compass.prepare.mapping import mapped
from compass.readers.batches import QuotesFound
from compass.readers.fragments import Fragment, Source, fragments_of
from compass.readers.sample import COLUMNS
from compass.reducers import parts
from compass.reducers.chance import check_share, share
from compass.reducers.chances import Alike, ByScore, label_features, strata
from compass.reducers.columns import Cells, is_label
from compass.reducers.filters import filters_of
from compass.reducers.pilot import Pilot, Pool, draw, learn_pilot, required_of
from compass.reducers.report import (
    Guide,
    Report,
    Stage,
    columns_of,
    effective,
    labels_of,
    notes_of,
)
from compass.reducers.scan import Recipe, scan, usable_rows
from compass.reducers.statistics import Tally
from compass.settings import ReduceSettings

METHODS = ("guided", "uniform", "stratified")
_ENDINGS = (".parquet", ".pq", ".parq")
_COUNTED = 60  # labels of a column up to which they are counted one by one

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
Tell = Callable[[str, int, int, int], None]  # stage, done, total, rows so far


@dataclass(frozen=True)
class Choice:
    """What a person wants of a sample."""

    keep: float
    method: str = "guided"
    by: tuple[str, ...] = ()  # columns of the strata
    where: tuple[str, ...] = ()  # conditions that rows must meet
    seed: int = 7
    study: Study = field(default_factory=Study)
    skip_unreadable: bool = False
    settings: ReduceSettings = field(default_factory=ReduceSettings)

    def check(self) -> None:
        """Raises the error that says what cannot be meant."""
        check_share(self.keep)
        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        if self.by and self.method != "stratified":
            raise BadInput(
                f"the method {self.method} makes no strata", hint="add --method stratified"
            )


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
    of `by` a larger one. The weight of a row is 1 / its chance. The same data, seed and share give
    the same rows on every executor, and whatever the files are called. A run that was stopped goes
    on where it was when it is started again.
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


def _check_apart(source: Source, output: Path) -> None:
    place = output.resolve()
    if any(Path(file).resolve() == place for file in {one.file for one in source.fragments}):
        raise BadInput(
            f"{output} is one of the files to read", hint="write the sample to another folder"
        )


def _reduced(source: Source, output: Path, choice: Choice, runner: Executor, tell: Tell) -> Report:
    clock = _Clock()
    tell("looking", 0, 0, 0)
    pool = draw(source, choice.study, choice.seed, choice.settings, skip=choice.skip_unreadable)
    recipe, pilot = recipe_of(pool, choice)
    clock.lap("pilot")
    folder = parts.folder_of(output)
    done = parts.begin(folder, _plan(source, choice, pool), len(source.fragments))
    tallies = _scan_all(source.fragments, recipe, folder, done, choice, runner, tell)
    clock.lap("pass")
    unreadable = {
        str(fragment): tally.problem
        for fragment, tally in zip(source.fragments, tallies, strict=True)
        if tally.problem
    }
    total = sum(tallies, Tally())
    how = {
        "method": choice.method,
        "keep": choice.keep,
        "seed": choice.seed,
        "rows": total.rows,
        "usable": total.usable,
        "kept": total.kept,
    }
    count = len(source.fragments)
    parts.assemble(
        folder,
        output,
        source.fragments,
        tallies,
        how,
        lambda n: tell("writing", n, count, total.rows),
    )
    clock.lap("writing")
    return _report(source, output, choice, runner, total, pilot, unreadable, len(done), clock)


def recipe_of(pool: Pool, choice: Choice) -> tuple[Recipe, Pilot | None]:
    """How rows are chosen, from what the pool teaches."""
    arrow = pool.table.arrow
    seen = mapped(arrow, choice.study.map) if choice.study.map else arrow
    types = {one.name: one.type for one in seen.schema}
    used = [p.name for p in pool.space if p.role is not Role.IGNORED]
    measured = [n for n in used if not is_label(types[n])]
    columns = {name: Cells(seen.column(name)) for name in seen.column_names}
    counted = [n for n in used if is_label(types[n]) and len(columns[n].codes()[1]) <= _COUNTED]
    recipe = Recipe(
        seed=choice.seed,
        shape=pool.shape,
        chances=Alike(choice.keep),
        filters=filters_of(choice.where, pool.space),
        required=required_of(pool.space, types),
        outcomes=tuple((n, not is_label(types[n])) for n in pool.space.having(Role.OUTCOME)),
        numbers={name: _about(columns[name]) for name in measured},
        labels=tuple(counted),
        rewrite=choice.study.map or None,
        names=tuple(
            name
            for name in arrow.column_names
            if name not in COLUMNS and name not in choice.study.drop
        ),
        known=frozenset(arrow.column_names),
    )
    usable = usable_rows(columns, seen, recipe, arrow.num_rows, {}).view(np.bool_)
    if not usable.any():
        raise DataProblem(
            f"none of the {arrow.num_rows} rows looked at first meets the conditions and has all "
            "values",
            hint="look at the columns first: compass columns; keep gaps with --missing COL=none",
        )
    if choice.method == "uniform":
        return recipe, None
    if choice.method == "stratified":
        by = choice.by or label_features(pool.space, types)
        chances = strata(columns, by, usable, choice.keep, choice.settings.floor)
        return replace(recipe, chances=chances), None
    pilot = learn_pilot(pool, choice.study, usable, choice.keep, choice.seed, choice.settings)
    return replace(recipe, chances=ByScore(pilot.scorer, pilot.a, pilot.b)), pilot


def _about(cells: Cells) -> float:
    values = np.asarray(cells.numbers(), dtype=np.float64)
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else 0.0


def _plan(source: Source, choice: Choice, pool: Pool) -> dict[str, Any]:
    """What must be the same for parts of an earlier run to be of use."""
    return {
        "compass": version("compass-hpc"),
        "keep": choice.keep,
        "method": choice.method,
        "by": choice.by,
        "where": choice.where,
        "seed": choice.seed,
        "study": choice.study.model_dump(mode="json"),
        "settings": choice.settings.model_dump(mode="json"),
        "pool": pool.table.fingerprint,
        "fragments": [[one.file, *one.order, one.stop] for one in source.fragments],
        "skip": choice.skip_unreadable,
    }


def _work(item: tuple[int, Fragment], recipe: Recipe, folder: str, skip: bool) -> Tally:
    number, fragment = item
    return scan(fragment, recipe, parts.part_of(Path(folder), number), skip=skip)


def _scan_all(
    fragments: Sequence[Fragment],
    recipe: Recipe,
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
    work = partial(_work, recipe=recipe, folder=str(folder.absolute()), skip=choice.skip_unreadable)
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
    source: Source,
    output: Path,
    choice: Choice,
    runner: Executor,
    total: Tally,
    pilot: Pilot | None,
    unreadable: Mapping[str, str],
    resumed: int,
    clock: _Clock,
) -> Report:
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
        unreadable=dict(unreadable),
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
        stages=tuple(clock.stages),
        notes=notes_of(total, choice.keep, unreadable),
    )
