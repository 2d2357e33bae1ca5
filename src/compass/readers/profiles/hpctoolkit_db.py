"""HPCToolkit databases of version 4: meta.db (names, call tree) and profile.db (values)."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from compass.readers.profiles.base import (
    Profile,
    ProfileOptions,
    Scalar,
    chosen,
    damaged,
    reading,
    time_first,
)
from compass.readers.profiles.hpctoolkit_xml import split_title
from compass.readers.profiles.tree import Groups, OverRanks, Tree, sums

_EXECUTION = 2  # the type of scope that sums everything below a context
_FUNCTION = 0  # the lexical type of a context that is a function
_VALUE = np.dtype([("metric", "<u2"), ("value", "<f8")])
_INDEX = np.dtype([("context", "<u4"), ("start", "<u8")])


class _File:
    """A *.db file in memory; every place is checked, so a damaged file cannot lead astray."""

    def __init__(self, path: Path, kind: bytes) -> None:
        self.path = path
        self.bytes = path.read_bytes()
        if self.bytes[:14] != b"HPCTOOLKIT" + kind:
            raise damaged(path, "hpctoolkit", "it does not start as that file should")
        if self.bytes[14] != 4:
            raise damaged(path, "hpctoolkit", f"version {self.bytes[14]} of it is not known")
        if not self.bytes.endswith(b"_" + kind + b".db"):
            raise damaged(path, "hpctoolkit", "its end is missing")

    def get(self, form: str, place: int) -> tuple[int, ...]:
        """Whole numbers at a place."""
        if place + struct.calcsize("<" + form) > len(self.bytes):
            raise damaged(self.path, "hpctoolkit", f"it refers to byte {place}, beyond its end")
        return struct.unpack_from("<" + form, self.bytes, place)

    def text(self, place: int) -> str:
        """A text that ends with a zero byte."""
        end = self.bytes.find(b"\0", place)
        if not 0 < place < len(self.bytes) or end < 0:
            raise damaged(self.path, "hpctoolkit", f"there is no text at byte {place}")
        return self.bytes[place:end].decode("utf-8", "replace")

    def array(self, kind: np.dtype[np.void], count: int, place: int) -> np.ndarray:
        """Records at a place."""
        if count * kind.itemsize > len(self.bytes) - place:
            raise damaged(self.path, "hpctoolkit", f"{count} values do not fit into it")
        return np.frombuffer(self.bytes, kind, count, place)


class _Meta:
    """The metrics and the call tree of a database."""

    def __init__(self, path: Path) -> None:
        self.file = _File(path, b"meta")
        self.metrics = dict(self._metrics())
        self.tree = Tree()
        self.places: dict[int, int] = {}  # context -> node; -1 where it is no function
        self._names: dict[int, str] = {}
        self._grow()

    def about(self) -> dict[str, Scalar]:
        """The title that the database was given."""
        (section,) = self.file.get("Q", 0x18)
        title = self.file.text(self.file.get("Q", section)[0])
        return {"program": title} if title else {}

    def kinds(self) -> list[str]:
        """The names of the parts of a thread's identity: NODE, RANK, THREAD, ..."""
        (section,) = self.file.get("Q", 0x28)
        names, count = self.file.get("QB", section)
        return [self.file.text(self.file.get("Q", names + 8 * n)[0]) for n in range(count)]

    def _metrics(self) -> Iterator[tuple[str, int]]:
        get = self.file.get
        (section,) = get("Q", 0x38)
        first, count, size, scope_size = get("QIBB", section)
        if size < 32 or scope_size < 16:
            raise damaged(self.file.path, "hpctoolkit", "its metrics have no size")
        for n in range(count):
            title, scopes, _, scope_count = get("QQQH", first + n * size)
            for m in range(scope_count):
                scope, number = get("QH", scopes + m * scope_size)
                if get("QB", scope)[1] == _EXECUTION:
                    yield self.file.text(title), number

    def _grow(self) -> None:
        (section,) = self.file.get("Q", 0x48)
        first, count, size = self.file.get("QHB", section)
        waiting = []
        for n in range(count):
            length, children, context = self.file.get("QQI", first + n * size)
            (name,) = self.file.get("Q", first + n * size + 0x18)
            node = self.tree.child(-1, f"<{self.file.text(name)}>")
            self._place(context, node)
            waiting.append((children, length, node))
        while waiting:
            place, length, parent = waiting.pop()
            end = place + length
            while place < end:
                length, children, context, flags, _, kind, words = self.file.get("QQIBBBB", place)
                node = parent
                if kind == _FUNCTION:
                    node = self.tree.child(parent, self._function(flags, words, place + 0x20))
                self._place(context, node if kind == _FUNCTION else -1)
                if length:
                    waiting.append((children, length, node))
                place += 0x20 + 8 * words

    def _place(self, context: int, node: int) -> None:
        if context in self.places:  # also ends a tree that runs in a circle
            raise damaged(self.file.path, "hpctoolkit", f"context {context} stands in it twice")
        self.places[context] = node

    def _function(self, flags: int, words: int, place: int) -> str:
        if not flags & 1 or not words:
            return "<unknown function>"
        (at,) = self.file.get("Q", place)
        if at not in self._names:
            name, module, offset = self.file.get("QQQ", at)
            if name:
                self._names[at] = self.file.text(name)
            else:
                where = self.file.text(self.file.get("Q", module + 8)[0]) if module else ""
                self._names[at] = f"<unknown {Path(where).name}@{offset:#x}>"
        return self._names[at]


def read_database(folder: Path, options: ProfileOptions) -> Profile:
    """The run that meta.db and profile.db describe."""
    with reading(folder / "meta.db", "hpctoolkit"):
        meta = _Meta(folder / "meta.db")
        about, kinds = meta.about(), meta.kinds()
        if not len(meta.tree):
            raise damaged(meta.file.path, "hpctoolkit", "it holds no call path")
        groups = Groups.of(meta.tree, options.regions)
    titles = {split_title(title)[0]: title for title in meta.metrics}
    names = time_first(list(titles))
    wanted = {c: titles[n] for c, n in chosen(options, names, folder).items()}
    with reading(folder / "profile.db", "hpctoolkit"):
        file = _File(folder / "profile.db", b"prof")
        numbers = {column: meta.metrics[title] for column, title in wanted.items()}
        measured, ranks, threads = _threads(file, meta, groups, numbers, kinds)
    about |= {"ranks": ranks, "threads": threads}
    metrics = {c: measured[c].measured(split_title(title)[1]) for c, title in wanted.items()}
    return Profile("", about, groups.labels, metrics, tuple(names))


def _threads(
    file: _File, meta: _Meta, groups: Groups, numbers: Mapping[str, int], kinds: list[str]
) -> tuple[dict[str, OverRanks], int, int]:
    """The values over all threads, and the number of ranks and of threads."""
    (section,) = file.get("Q", 0x18)
    first, count, size = file.get("QIB", section)
    if count and not size:
        raise damaged(file.path, "hpctoolkit", "its profiles have no size")
    added = {column: OverRanks(groups) for column in numbers}
    ranks, threads = set(), 0
    for n in range(count):
        *lists, identity, flags = file.get("QQIIQQI", first + n * size)
        if flags & 1:  # a summary of the others
            continue
        threads += 1
        ranks.add(_rank(file, identity, kinds))
        values, at = _values(file, meta, *lists)
        for column, number in numbers.items():
            mine = (values["metric"] == number) & (at >= 0)
            weights = values["value"][mine].astype(np.float64)
            if not np.isfinite(weights).all():
                raise damaged(file.path, "hpctoolkit", "it holds values that are not numbers")
            added[column].add(sums(at[mine], weights, len(meta.tree)), None)
    return added, len(ranks), threads


def _rank(file: _File, identity: int, kinds: list[str]) -> tuple[int, ...]:
    """What tells one process from another: its rank, or its node where there are no ranks."""
    (count,) = file.get("H", identity)
    parts = []
    for n in range(count):
        kind, _, _, number, _ = file.get("BBHIQ", identity + 8 + 16 * n)
        name = kinds[kind] if kind < len(kinds) else ""
        if name == "RANK":
            return (number,)
        if name == "NODE":
            parts.append(number)
    return tuple(parts)


def _values(
    file: _File, meta: _Meta, count: int, first: int, contexts: int, _: int, first_context: int
) -> tuple[np.ndarray, np.ndarray]:
    """The values of one thread, and the node that each of them belongs to (-1: none)."""
    values = file.array(_VALUE, count, first)
    index = file.array(_INDEX, contexts, first_context)
    starts = index["start"].astype(np.int64)
    bounds = np.append(starts, len(values))
    if (np.diff(bounds) < 0).any() or (len(starts) and starts[0] < 0):
        raise damaged(file.path, "hpctoolkit", "the order of its values is broken")
    nodes = np.array([meta.places.get(int(context), -1) for context in index["context"]], np.int64)
    at = np.repeat(nodes, np.diff(bounds))
    return values[int(starts[0]) if len(starts) else len(values) :], at
