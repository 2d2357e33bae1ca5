"""What a file format promises: it knows its own files, reads them whole, and refuses others."""

import gzip
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass import registry
from compass.domain.errors import DataProblem
from compass.readers.base import Reader
from compass.readers.plain import plain
from compass.testing.base import Witness, witness
from compass.testing.formats import JUNK, SAMPLES, file_in

_COMPRESSED = (".gz", ".zst", ".bz2")
Columns = Mapping[str, Sequence[object]]


def check_reader(
    plugin: Any,
    *,
    sample: bytes | Path,
    expected: Columns,
    name: str | None = None,
) -> None:
    """Raise ConformanceError unless the reader keeps its promises.

    `sample` is a file of the format (or its content), `expected` the columns that it holds.
    """
    content = sample.read_bytes() if isinstance(sample, Path) else sample
    found = witness("reader", plugin, name)
    with found.at("plugin()").calling("it is a class that needs no arguments"):
        reader: Reader = plugin()
    _suffixes(found, reader)
    # A blank and an umlaut: paths are not always words of a-z.
    with tempfile.TemporaryDirectory(prefix="compass läuft ") as made:
        folder = Path(made)
        path = file_in(folder, f"runs{reader.suffixes[0]}", content)
        _own(found, reader, path, content, expected)
        _compressed(found, reader, path, content, expected)
        _refuses(found, reader, folder)
        _cut_short(found, reader, folder, content)
        _claims(found, reader, folder, path, content)


def _look(path: Path) -> str:
    return f"plugin().read(Path({path.name!r}))"


def _suffixes(found: Witness, reader: Reader) -> None:
    suffixes = reader.suffixes
    good = isinstance(suffixes, tuple) and bool(suffixes)
    found.at("plugin().suffixes").expect(
        good
        and all(
            s.startswith(".") and s.count(".") == 1 and s == s.lower() and s not in _COMPRESSED
            for s in suffixes
        ),
        "`suffixes` is a tuple of endings such as '.csv': one dot, lower case, not a compression",
        repr(suffixes),
    )


def _own(found: Witness, reader: Reader, path: Path, content: bytes, expected: Columns) -> None:
    at = found.at(_look(path))
    with at.calling("it reads a file of its format"):
        table = reader.read(path)
    at.expect(isinstance(table, pa.Table), "it returns a pyarrow.Table", type(table).__name__)
    _same(at, table, expected)
    at.expect(path.read_bytes() == content, "it leaves the file as it is", "it changed")
    twice = at.at(f"{at.look}, twice")
    with twice.calling("it reads a file a second time"):
        again = reader.read(path)
    _same(twice, again, expected)
    held = _held(path)
    at.expect(not held, "it does not keep the file open once it is read", ", ".join(held))


def _same(at: Witness, table: pa.Table, expected: Columns) -> None:
    """Compared after the types were made plain, as the rest of Compass sees them."""
    with at.calling("its columns are of types that Compass knows"):
        read = plain(table)
    at.expect(
        read.column_names == list(expected),
        "it reads every column under its name, in order",
        f"{read.column_names} instead of {list(expected)}",
    )
    for name, values in expected.items():
        got = read.column(name).to_pylist()
        rows = f"{len(got)} rows instead of {len(values)}"
        at.expect(len(got) == len(values), "it reads every row", rows)
        for place, (one, other) in enumerate(zip(got, values, strict=True)):
            at.expect(
                one == other and isinstance(one, bool) == isinstance(other, bool),
                "it reads every value as it was written",
                f"{one!r} instead of {other!r} in row {place} of {name}",
            )


def _held(path: Path) -> list[str]:
    """How this process still holds a file; empty too where the system does not tell."""
    wanted, held = os.path.realpath(path), []
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        return []
    for entry in descriptors.iterdir():
        try:
            if os.readlink(entry) == wanted:
                held.append(f"open as descriptor {entry.name}")
        except OSError:  # the listing's own descriptor is gone by now
            continue
    if wanted in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"):
        held.append("mapped into memory")
    return held


def _compressed(
    found: Witness, reader: Reader, path: Path, content: bytes, expected: Columns
) -> None:
    """Files such as runs.csv.gz go to the reader of .csv."""
    packed = file_in(path.parent, path.name + ".gz", gzip.compress(content))
    at = found.at(f"{_look(packed)} of the same file, compressed")
    with at.calling("it reads a compressed file (see compass.readers.files.opened)"):
        table = reader.read(packed)
    _same(at, table, expected)


def _refuses(found: Witness, reader: Reader, folder: Path) -> None:
    ending = reader.suffixes[0]
    for number, (what, content) in enumerate(JUNK.items()):
        path = file_in(folder, f"junk{number}{ending}", content)
        table = _read_or_refuse(found, reader, path, what)
        found.at(f"Path({path.name!r}).write_bytes({content[:12]!r}...); {_look(path)}").expect(
            table is None or not table.num_rows,
            f"it refuses {what} with a DataProblem",
            f"a table of {table.num_rows if table is not None else 0} rows",
        )
        held = _held(path)
        found.at(_look(path)).expect(not held, "it closes a file that it refuses", ", ".join(held))
    path = folder / f"missing{ending}"
    try:
        reader.read(path)
    except (DataProblem, FileNotFoundError):
        return
    except Exception as error:
        seen: object = error
    else:
        seen = "a table"
    raise found.at(_look(path)).broken("a file that does not exist is a DataProblem", seen)


def _read_or_refuse(found: Witness, reader: Reader, path: Path, what: str) -> pa.Table | None:
    """The table, or None for a refusal in the person's language."""
    promise, at = f"the only error for {what} is a DataProblem with a hint", found.at(_look(path))
    try:
        return reader.read(path)
    except DataProblem as error:
        at.expect(error.hint, promise, f"no hint: {error.message}")
        return None
    except Exception as error:
        raise at.broken(promise, error) from error


def _cut_short(found: Witness, reader: Reader, folder: Path, content: bytes) -> None:
    """What is left of a table may be a table; it must not be a crash."""
    cuts = sorted({len(content) * part // 16 for part in range(1, 16)} | {len(content) - 1})
    for cut in cuts:
        path = file_in(folder, f"cut{cut}{reader.suffixes[0]}", content[:cut])
        _read_or_refuse(found, reader, path, f"a file cut short after {cut} bytes")


def _claims(found: Witness, reader: Reader, folder: Path, path: Path, content: bytes) -> None:
    """Where endings do not tell, the reader registered last is asked first."""
    _sniff(found, reader, path, content, wanted=True, what="its own file")
    for what, junk in JUNK.items():
        _sniff(found, reader, folder / "junk", junk, wanted=False, what=what)
    names = list(registry.everything("reader"))
    place = names.index(found.name) if found.name in names else len(names)
    for other in (name for name in names[:place] if name in SAMPLES):
        path, sample = folder / f"runs-{other}", SAMPLES[other]()
        _sniff(found, reader, path, sample, wanted=False, what=f"a {other} file")


def _sniff(
    found: Witness, reader: Reader, path: Path, head: bytes, *, wanted: bool, what: str
) -> None:
    at = found.at(f"plugin().sniff(Path({path.name!r}), {head[:24]!r}...)")
    with at.calling(f"it can tell whether {what} is its own"):
        claimed = reader.sniff(path, head)
    at.expect(isinstance(claimed, bool), "`sniff` answers True or False", repr(claimed))
    verb = "recognises" if wanted else "does not claim"
    at.expect(claimed is wanted, f"it {verb} {what}", f"{claimed}")
