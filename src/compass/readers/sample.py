"""What a reduced table carries beside its rows: weights, where each row came from, and how."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field

from compass.domain.base import Noun
from compass.domain.errors import DataProblem

WEIGHT = "sample_weight"  # how many rows of the source a row stands for: 1 / its chance
FILE = "sample_file"  # the file that the row came from
ROW = "sample_row"  # the row's number in that file, counted from 0, header not counted
COLUMNS = (WEIGHT, FILE, ROW)
MARK = b"compass.sample"  # key of the schema's metadata


def marked(schema: pa.Schema, how: dict[str, Any]) -> pa.Schema:
    """The schema of a sample, with how it was drawn in its metadata."""
    return schema.with_metadata({**(schema.metadata or {}), MARK: json.dumps(how).encode()})


class Sampled(Noun):
    """How the rows of a table were drawn from a larger one; unknown keys of a mark stay in `how`.

    The mark of a file is a mapping with these keys, all of which may be missing. Several samples
    that are read together are listed under `samples`.
    """

    method: str = Field("", description="guided, stratified, uniform or front")
    keep: float | None = Field(None, description="share of the rows that was wanted")
    seed: int | None = None
    rows: int | None = Field(None, description="rows of the source")
    usable: int | None = Field(None, description="of them those that rows were drawn from")
    kept: int | None = Field(None, description="rows of the sample when it was made")
    samples: tuple["Sampled", ...] = Field((), description="of samples that were read together")
    how: dict[str, Any] = Field(default_factory=dict, description="everything that the mark says")

    @property
    def near_front(self) -> bool:
        """Whether all rows were chosen for being near a front."""
        parts = self.samples or (self,)
        return all(part.method == "front" for part in parts)

    @property
    def words(self) -> str:
        """In one phrase: a sample of 5 % (guided, seed 7): 100 of 2,000 rows."""
        parts = self.samples or (self,)
        rows, usable = _sum(part.rows for part in parts), _sum(part.usable for part in parts)
        kept, source = _sum(part.kept for part in parts), rows if usable is None else usable
        if self.samples:
            head = f"{len(parts)} samples"
        else:
            head = "a sample" if self.keep is None else f"a sample of {_percent(self.keep)}"
        ways = dict.fromkeys(way for part in parts if (way := part._way))
        drawn = f" ({'; '.join(ways)})" if ways else ""
        if kept is None or source is None:
            return f"{head}{drawn}"
        which = "rows" if source == rows else "usable rows"
        return f"{head}{drawn}: {kept:,} of {source:,} {which}"

    @property
    def _way(self) -> str:
        seed = "" if self.seed is None else f"seed {self.seed}"
        return ", ".join(part for part in (self.method, seed) if part)


def _sum(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    return None if None in found else sum(count for count in found if count is not None)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def sampled(schema: pa.Schema) -> Sampled | None:
    """How the rows were drawn; None where there is no mark, or the weights are gone.

    A mark that is damaged is an error: without it the rows would silently count alike.
    """
    text = (schema.metadata or {}).get(MARK)
    if text is None or WEIGHT not in schema.names:
        return None
    try:
        mark = json.loads(text)
        found = _of(mark)
    except (ValueError, TypeError, RecursionError) as problem:
        raise DataProblem(
            "the table is marked as a sample, but the mark is damaged",
            hint="make the sample again: compass reduce SOURCE -o sample.parquet",
        ) from problem
    for name, fits in _TYPES.items():
        if name in schema.names and not any(is_a(schema.field(name).type) for is_a in fits):
            raise DataProblem(
                f"the column '{name}' of a sample cannot hold {schema.field(name).type}",
                hint="make the sample again: compass reduce SOURCE -o sample.parquet",
            )
    return found


_TYPES = {
    WEIGHT: (pa.types.is_null, pa.types.is_integer, pa.types.is_floating),
    FILE: (pa.types.is_null, pa.types.is_string, pa.types.is_large_string),
    ROW: (pa.types.is_null, pa.types.is_integer),
}
_KEYS = ("method", "keep", "seed", "rows", "usable", "kept")


def _of(mark: Any) -> Sampled:
    if not isinstance(mark, dict):
        raise TypeError("a mark is a mapping")
    known = {key: mark[key] for key in _KEYS if mark.get(key) is not None}
    parts = tuple(_of(part) for part in mark.get("samples", ()))
    return Sampled(**known, samples=parts, how=mark)


def together(schemas: Sequence[pa.Schema]) -> dict[bytes, bytes] | None:
    """The mark of tables under one another: that of the only sample, or all of them."""
    found = [one for schema in schemas if (one := sampled(schema)) is not None]
    if not found:
        return None
    parts = [part.how for one in found for part in (one.samples or (one,))]
    mark = parts[0] if len(parts) == 1 else {"samples": parts}
    return {MARK: json.dumps(mark).encode()}
