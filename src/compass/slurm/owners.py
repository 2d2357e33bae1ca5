"""Which rows of accounting are jobs, and to which job a step belongs."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import array_of, values_of
from compass.slurm.shapes import codes_and_texts, offsets_and_data

JOB_IDS = ("JobID", "JobIDRaw")

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Owners:
    """The rows that are jobs, and for each row the place (among the jobs) of the job of a step."""

    jobs: Rows
    owner: Rows  # -1 for jobs, and for steps without one


def id_column(names: Iterable[str]) -> str | None:
    """The column that tells jobs from steps."""
    there = set(names)
    return next((name for name in JOB_IDS if name in there), None)


class Ids:
    """The numbers of jobs and steps, and their clusters, gathered some rows at a time."""

    def __init__(self) -> None:
        self._ids: list[pa.Array] = []
        self._points: list[NDArray[np.int32]] = []
        self._clusters: list[NDArray[np.int64]] = []
        self._names: dict[str, int] = {}

    def add(self, ids: pa.Array, clusters: pa.Array | None) -> Mask:
        """Take in more rows; which of them are jobs, bool[n]."""
        texts = pc.utf8_trim_whitespace(ids)
        texts = pc.fill_null(texts, "") if texts.null_count else texts
        points = values_of(pc.find_substring(texts, "."))
        self._ids.append(texts)
        self._points.append(points)
        if clusters is not None:
            codes, named = codes_and_texts(clusters)
            own = [(name or "").strip() for name in named.to_pylist()]
            known = [self._names.setdefault(name, len(self._names)) for name in own]
            self._clusters.append(np.array([*known, -1])[np.where(codes < 0, -1, codes)])
        return points < 0

    def whole(self) -> tuple[pa.Array, NDArray[np.int32], NDArray[np.int64]]:
        """All numbers, the place of the point in each (-1: a job), and a code of its cluster."""
        if not self._ids:
            return pa.nulls(0, pa.string()), np.zeros(0, np.int32), np.zeros(0, np.int64)
        points = np.concatenate(self._points)
        clusters = np.concatenate(self._clusters) if self._clusters else np.zeros(len(points), int)
        return pa.concat_arrays(self._ids), points, clusters


def owners_of(ids: Ids) -> Owners:
    """A step belongs to the job row of its number above it; if none is above, to the last one."""
    texts, points, clusters = ids.whole()
    jobs = np.flatnonzero(points < 0)
    owner = _above(texts, points, clusters, jobs)
    lost = np.flatnonzero((points >= 0) & (owner < 0))
    if len(lost) and len(jobs):
        _search(texts, clusters, jobs, lost, owner)
    return Owners(jobs, owner)


def _above(texts: pa.Array, points: NDArray[np.int32], clusters: Rows, jobs: Rows) -> Rows:
    """The job of each step whose job is the next job row above it; -1 elsewhere."""
    owner = np.full(len(points), -1)
    above = np.cumsum(points < 0) - 1
    steps = np.flatnonzero((points >= 0) & (above >= 0))
    if not len(steps):
        return owner
    offsets, data = offsets_and_data(texts)
    rows, length = jobs[above[steps]], points[steps].astype(np.int64)
    same = (offsets[rows + 1] - offsets[rows] == length) & (clusters[rows] == clusters[steps])
    steps, rows, length = steps[same], rows[same], length[same]
    equal = _same_bytes(data, offsets[steps], offsets[rows], length)
    owner[steps[equal]] = above[steps[equal]]
    return owner


def _same_bytes(data: NDArray[np.uint8], here: Rows, there: Rows, length: Rows) -> Mask:
    """Whether `length` bytes from these places on are those from the other places on."""
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    # A word of eight bytes for every place of the text.
    words = np.ndarray((len(data) + 1,), "<u8", padded.data, strides=(1,))
    equal = np.ones(len(here), dtype=bool)
    for start in range(0, int(length.max(initial=0)), 8):
        rows = np.flatnonzero(equal & (length > start))
        size = np.minimum(length[rows] - start, 8).astype(np.uint64)
        mask = ~np.uint64(0) >> (np.uint64(64) - size * np.uint64(8))
        other = words[here[rows] + start] ^ words[there[rows] + start]
        equal[rows] = other & mask == 0
    return equal


def _search(texts: pa.Array, clusters: Rows, jobs: Rows, lost: Rows, owner: Rows) -> None:
    """Put down the jobs of steps that do not stand below them: somebody sorted the lines."""

    def keys(rows: Rows) -> list[tuple[Any, str]]:
        own = texts.take(array_of(rows)).to_pylist()
        return [(c, t.partition(".")[0]) for c, t in zip(clusters[rows].tolist(), own, strict=True)]

    wanted = keys(lost)
    places: dict[tuple[Any, str], list[int]] = {key: [] for key in wanted}
    for place, key in enumerate(keys(jobs)):
        if key in places:
            places[key].append(place)
    for row, key in zip(lost.tolist(), wanted, strict=True):
        if found := places[key]:
            before = bisect_left(jobs[found].tolist(), row)
            owner[row] = found[before - 1 if before else -1]
