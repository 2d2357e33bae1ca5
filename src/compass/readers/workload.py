"""Reads job traces in the Standard Workload Format of the Parallel Workloads Archive (`.swf`)."""

import io
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from compass import registry
from compass.arrow import UNIT
from compass.domain.errors import DataProblem
from compass.readers import files

# The 18 fields in order. -1 is a missing value in all of them; traces also hold other numbers below
# 0 (the end of a job that never ended, minus its start), which nothing can be.
_ORDER = (
    "job submit_s wait_s run_s processors cpu_s memory_used requested_processors requested_s "
    "requested_memory status user group application queue partition preceding_job think_s"
)
FIELDS = tuple(_ORDER.split())
STATUS = {0: "failed", 1: "completed", 2: "partial", 3: "last partial", 4: "failed partial"}
STATUS |= {5: "cancelled"}
# Numbers that name something: as text nobody takes them for amounts.
_NAMES = frozenset(("job", "user", "group", "application", "queue", "partition", "preceding_job"))
HEADER = b"compass.swf"  # key of the schema's metadata: what the comments at the top say
_LINE = re.compile(rb"\s*\d+(\s+-?\d+(\.\d+)?){17}(\s.*)?")
_MOST_FACTS = 200
_BLOCK = 50_000  # lines at a time

Floats = np.ndarray


@registry.add("reader", "swf")
class Swf:
    """Job traces in the Standard Workload Format: 18 numbers per job, -1 is missing."""

    name = "swf"
    suffixes: tuple[str, ...] = (".swf",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Comments that start with a semicolon, then lines of 18 numbers."""
        del path
        lines = [line for line in head[:20000].split(b"\n") if line.strip()]
        data = [line for line in lines if not line.lstrip().startswith(b";")]
        whole = data[:-1] if len(data) > 1 else data
        marked = len(data) < len(lines)
        return marked and bool(whole) and all(_LINE.fullmatch(line.strip()) for line in whole[:20])

    def read(self, path: Path) -> pa.Table:
        """One row per job; the facts of the header are in the schema's metadata."""
        if not files.head(path).strip():
            raise files.empty(path)
        facts: dict[str, str] = {}
        blocks: list[Floats] = []
        with files.opened(path) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace")
            try:
                numbered = enumerate(text, start=1)
                while lines := list(itertools.islice(numbered, _BLOCK)):
                    blocks.append(_block(lines, path, facts))
            except OSError as problem:
                raise files.cannot_inflate(path, problem) from problem
            finally:
                text.detach()
        jobs = np.concatenate(blocks)
        if not len(jobs):
            raise DataProblem(f"{path} holds no jobs", hint="was the file cut short?")
        return _table(jobs, facts)


def header(path: Path) -> dict[str, str]:
    """What the comments at the top of a trace say; nothing where there are none."""
    facts: dict[str, str] = {}
    for line in files.head(path).decode("utf-8", "replace").splitlines():
        if not line.lstrip().startswith(";"):
            break
        _note(line, facts)
    return facts


def _block(lines: list[tuple[int, str]], path: Path, facts: dict[str, str]) -> Floats:
    """The jobs of some numbered lines, one per row; what comments say goes to the facts."""
    data = []
    for number, line in lines:
        if line.lstrip().startswith(";"):
            _note(line, facts)
        elif line.strip():
            data.append((number, line))
    if not data:
        return np.empty((0, len(FIELDS)))
    used = range(len(FIELDS))  # some traces add fields of their own
    try:
        jobs = np.loadtxt([line for _, line in data], usecols=used, ndmin=2, comments=None)
        if np.isfinite(jobs).all():
            return jobs
    except (ValueError, IndexError):
        pass
    raise DataProblem(
        f"line {_first_bad(data)} of {path} is not a job: it needs {len(FIELDS)} numbers",
        hint="comments start with a semicolon; was the file cut short?",
    )


def _note(line: str, facts: dict[str, str]) -> None:
    name, colon, value = line.strip().lstrip("; ").partition(":")
    if colon and len(facts) < _MOST_FACTS and re.fullmatch(r"[A-Za-z]{1,40}", name):
        name = name if name not in facts else f"{name} {len(facts)}"
        facts[name] = value.strip()[:500]


def _first_bad(data: list[tuple[int, str]]) -> int:
    for number, line in data:
        cells = line.split(None, len(FIELDS))[: len(FIELDS)]
        try:
            values = [float(cell) for cell in cells]
        except ValueError:
            return number
        if len(values) < len(FIELDS) or not np.isfinite(values).all():
            return number
    return data[0][0]


def _table(jobs: Floats, facts: dict[str, str]) -> pa.Table:
    fields, arrays = [], []
    for name, values in zip(FIELDS, jobs.T, strict=True):
        missing = values < 0
        if name == "status" or name in _NAMES:
            label = STATUS.get if name == "status" else "{:.0f}".format
            different, rows = np.unique(values, return_inverse=True)
            texts = [label(one) or f"{one:.0f}" for one in different.tolist()]
            array = pa.array(np.array(texts, dtype=object)[rows], pa.string(), mask=missing)
        else:
            whole = bool((values == np.floor(values)).all()) and bool((abs(values) < 2**53).all())
            kind = np.int64 if whole else np.float64
            array = pa.array(values.astype(kind), mask=missing)
        unit = b"s" if name.endswith("_s") else b"KiB" if "memory" in name else None
        metadata = {UNIT: unit} if unit else None
        fields.append(pa.field(name, array.type, metadata=metadata))
        arrays.append(array)
    schema = pa.schema(fields, metadata={HEADER: json.dumps(facts).encode()})
    return pa.table(arrays, schema=schema)
