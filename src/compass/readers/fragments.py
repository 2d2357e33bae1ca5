"""Pieces of a source that can be read on their own: row groups, byte ranges, whole files."""

import mmap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers import files, hive
from compass.readers.identity import identities
from compass.readers.inflate import COMPRESSED

PARQUET, CSV, JSONL, WHOLE = "parquet", "csv", "jsonl", "whole"
BYTES = 16 << 20  # of text in one fragment: part of the key of its rows, so never change it
_FEW = 1 << 16  # bytes that tell how long lines are
ROWS = 1 << 20  # of Parquet in one fragment, where its row groups are smaller


@dataclass(frozen=True)
class Fragment:
    """A piece of a file, and all that is needed to read it anywhere."""

    file: str
    kind: str  # how it is read: parquet, csv, jsonl, or whole
    reader: str  # name of the file format
    start: int  # first row group, or first byte
    stop: int  # after the last one
    first_row: int | None  # its number in the file; None: known when the earlier ones are read
    rows: int | None
    bytes: int  # about how much there is to read
    identity: str  # of the file's content and partition
    occurrence: int  # how often the same content came before
    quoted: bool = False  # whether text may contain line ends in quotes
    folders: tuple[tuple[str, str | None], ...] = ()  # values of Hive partitions

    @property
    def order(self) -> tuple[str, int, int]:
        """Where its rows stand in a sample, whatever the names and the order of the files."""
        return self.identity, self.occurrence, self.start

    @property
    def packed(self) -> bool:
        """Whether its file is compressed."""
        return Path(self.file).suffix.lower() in COMPRESSED

    def __str__(self) -> str:
        what = {PARQUET: "row groups", CSV: "bytes", JSONL: "bytes"}.get(self.kind)
        return self.file if what is None else f"{self.file} ({what} {self.start}-{self.stop - 1})"


@dataclass(frozen=True)
class FragmentedSource:
    """All fragments of a person's files, in the order of their content."""

    fragments: tuple[Fragment, ...]
    folders: Mapping[str, pa.DataType]  # columns that Hive partitions give

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the files tell."""
        known = [f.rows for f in self.fragments if f.rows is not None]
        return sum(known) if len(known) == len(self.fragments) else None

    @property
    def bytes(self) -> int:
        """About how much there is to read."""
        return sum(fragment.bytes for fragment in self.fragments)


def fragments_of(
    sources: Iterable[str | PathLike[str]],
    quoted: frozenset[str] = frozenset(),
    *,
    skip: bool = False,
) -> FragmentedSource:
    """The fragments of files, globs and folders; a file that is listed twice counts twice.

    `quoted` names text files (by their absolute paths) in which quotes were found only later. With
    `skip`, a file that cannot be split is one fragment, and reading that says why.
    """
    given = [str(one) for one in sources]
    for one in given:
        if files.with_scheme(one) is not None:
            raise DataProblem(
                f"{one} is not a file", hint=f"make it one first: compass read '{one}' -o x.parquet"
            )
    located = files.located(given[0]) if len(given) == 1 else files.located_all(iter(given))
    paths, root = located.paths, located.root
    values = [{}] * len(paths) if root is None else hive.partitions(paths, root)
    for path in paths:
        if path.is_dir():
            raise _one_run(path, given)
    if not paths:
        raise DataProblem("the list of files is empty", hint="name at least one file")
    try:
        known = identities(paths)
    except OSError as problem:
        raise files.cannot_open(Path(str(problem.filename)), problem) from problem
    split: dict[Path, list[Fragment]] = {}
    seen = Counter[str]()
    every = []
    for path, folders, identity in zip(paths, values, known, strict=True):
        if path not in split:
            split[path] = _split(path, quoted, skip)
            found = split[path]  # nothing, where it cannot be read and may be skipped
            if found and hasattr(registry.get("reader", found[0].reader), "read_together"):
                raise _one_run(path, given)
        name = identity + "".join(f"|{key}={value}" for key, value in sorted(folders.items()))
        place, count = tuple(folders.items()), seen[name]
        every += [
            replace(one, identity=name, occurrence=count, folders=place) for one in split[path]
        ]
        seen[name] += 1
    if not every:
        raise DataProblem(f"{paths[0]} holds no rows", hint="was the run that writes it cut short?")
    return FragmentedSource(tuple(sorted(every, key=lambda one: one.order)), hive.types(values))


def _one_run(path: Path, given: list[str]) -> DataProblem:
    """The error for a profile: which columns a run has depends on the other runs."""
    source = given[0] if len(given) == 1 else path.parent
    return DataProblem(
        f"{path} is the profile of a run, not a table",
        hint=f"make a table of all runs first: compass read '{source}' -o runs.parquet",
    )


def _split(path: Path, quoted: frozenset[str], skip: bool) -> list[Fragment]:
    name = files.reader_for(path).name
    size = path.stat().st_size
    if not size:
        raise files.empty(path)
    whole = Fragment(str(path), WHOLE, name, 0, size, 0, None, size, "", 0)
    if name == "parquet" and not whole.packed:
        try:
            return _row_groups(path, whole)
        except DataProblem:
            if not skip:
                raise
            return [whole]
    if name in {"csv", "tsv"}:
        text = replace(whole, kind=CSV)
        if whole.packed:
            return [replace(text, quoted=True)]
        return byte_ranges(text, str(path.absolute()) in quoted or _first_quoted(path))
    if name == "jsonl" and not whole.packed:
        return byte_ranges(replace(whole, kind=JSONL), quoted=False)
    return [whole]


def _row_groups(path: Path, whole: Fragment) -> list[Fragment]:
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            facts = file.metadata
            sizes = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    except (pa.ArrowException, OSError) as problem:
        raise DataProblem(
            f"{path} cannot be read as a Parquet file: {problem}",
            hint="is it complete? copy it again, or leave it out",
        ) from problem
    found, first, row = [], 0, 0
    while first < len(sizes):
        stop, rows = first + 1, sizes[first]
        while stop < len(sizes) and rows + sizes[stop] <= ROWS:
            rows += sizes[stop]
            stop += 1
        share = whole.bytes * rows // max(sum(sizes), 1)
        piece = replace(whole, kind=PARQUET, start=first, stop=stop, bytes=share)
        found.append(replace(piece, first_row=row, rows=rows))
        first, row = stop, row + rows
    return found


def _first_quoted(path: Path) -> bool:
    with path.open("rb") as file:
        file.readline(BYTES)  # names may be quoted where nothing else is
        return b'"' in file.read(BYTES)


def byte_ranges(whole: Fragment, quoted: bool) -> list[Fragment]:
    """The fragments of a text file, cut at line ends; with quotes, at those outside of them."""
    cuts = _safe_cuts(whole) if quoted else list(range(0, whole.stop, BYTES))
    ends = [*cuts[1:], whole.stop]
    return [
        replace(
            whole,
            start=start,
            stop=stop,
            first_row=0 if start == 0 else None,
            bytes=stop - start,
            quoted=quoted,
        )
        for start, stop in zip(cuts, ends, strict=True)
    ]


def _safe_cuts(whole: Fragment) -> list[int]:
    """Where lines begin outside of quotes, one about every BYTES."""
    cuts = [0]
    with (
        Path(whole.file).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
    ):
        inside, place = False, 0
        for target in range(BYTES, whole.stop, BYTES):
            if target <= place:  # a quoted text longer than a fragment has carried us past it
                continue
            inside ^= bool(text[place:target].count(b'"') % 2)
            place = target
            while True:
                end = text.find(b"\n", place)
                if end < 0:
                    return cuts
                inside ^= bool(text[place:end].count(b'"') % 2)
                place = end + 1
                if not inside:
                    break
            if place < whole.stop and place > cuts[-1]:
                cuts.append(place)
    return cuts


def bytes_of_lines(fragment: Fragment, lines: int) -> int:
    """About how much text so many lines of a fragment take, from its first ones; a bit more."""
    with Path(fragment.file).open("rb") as file:
        file.seek(fragment.start)
        text = file.read(_FEW)
    return int(1.25 * lines * len(text) / max(text.count(b"\n"), 1)) + _FEW


def whole_lines(fragment: Fragment, most: int) -> int:
    """Where a beginning of a text fragment ends that has whole lines and about `most` bytes."""
    stop = min(fragment.start + most, fragment.stop)
    if not fragment.quoted:
        return stop  # a reader goes on to the end of the line
    with Path(fragment.file).open("rb") as file:
        file.seek(fragment.start)
        text = file.read(stop - fragment.start)
    end = len(text)
    while True:
        quote = text.rfind(b'"', 0, end)
        if text.count(b'"', 0, end) % 2 == 0:  # what follows the last quote is outside of quotes
            line = text.rfind(b"\n", quote + 1, end)
            if line >= 0:
                return fragment.start + line + 1
        if quote < 0:
            return fragment.stop  # one line is longer than that
        end = quote
