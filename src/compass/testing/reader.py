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
from compass.testing.base import ConformanceError, Witness, witness
from compass.testing.formats import JUNK, SAMPLES, file_in

_COMPRESSED = (".gz", ".zst", ".bz2")


def check_reader(
    plugin: Any,
    *,
    sample: bytes | Path,
    expected: Mapping[str, Sequence[object]],
    name: str | None = None,
) -> None:
    """Raise ConformanceError unless the reader keeps its promises.

    `sample` is a file of the format (or its content), `expected` the columns that it holds.
    """
    content = sample.read_bytes() if isinstance(sample, Path) else sample
    found = witness("reader", plugin, name)
    with found.calling("it is a class that needs no arguments", "plugin()"):
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
    found.expect(
        good
        and all(
            s.startswith(".") and s.count(".") == 1 and s == s.lower() and s not in _COMPRESSED
            for s in suffixes
        ),
        "`suffixes` is a tuple of endings such as '.csv': one dot, lower case, not a compression",
        repr(suffixes),
        "plugin().suffixes",
    )


def _own(
    found: Witness,
    reader: Reader,
    path: Path,
    content: bytes,
    expected: Mapping[str, Sequence[object]],
) -> None:
    with found.calling("it reads a file of its format", _look(path)):
        table = reader.read(path)
    found.expect(
        isinstance(table, pa.Table), "it returns a pyarrow.Table", type(table).__name__, _look(path)
    )
    _same(found, table, expected, _look(path))
    found.expect(
        path.read_bytes() == content, "it leaves the file as it is", "it changed", _look(path)
    )
    with found.calling("it reads a file a second time", _look(path) + ", twice"):
        again = reader.read(path)
    _same(found, again, expected, _look(path) + ", twice")
    held = _held(path)
    found.expect(
        not held, "it does not keep the file open once it is read", ", ".join(held), _look(path)
    )


def _same(
    found: Witness, table: pa.Table, expected: Mapping[str, Sequence[object]], look: str
) -> None:
    """Compared after the types were made plain, as the rest of Compass sees them."""
    with found.calling("its columns are of types that Compass knows", look):
        read = plain(table)
    found.expect(
        read.column_names == list(expected),
        "it reads every column under its name, in order",
        f"{read.column_names} instead of {list(expected)}",
        look,
    )
    for name, values in expected.items():
        got = read.column(name).to_pylist()
        found.expect(
            len(got) == len(values),
            "it reads every row",
            f"{len(got)} rows instead of {len(values)}",
            look,
        )
        for place, (one, other) in enumerate(zip(got, values, strict=True)):
            found.expect(
                one == other and isinstance(one, bool) == isinstance(other, bool),
                "it reads every value as it was written",
                f"{one!r} instead of {other!r} in row {place} of {name}",
                look,
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
    found: Witness,
    reader: Reader,
    path: Path,
    content: bytes,
    expected: Mapping[str, Sequence[object]],
) -> None:
    """Files such as runs.csv.gz go to the reader of .csv."""
    packed = file_in(path.parent, path.name + ".gz", gzip.compress(content))
    look = f"{_look(packed)} of the same file, compressed"
    with found.calling("it reads a compressed file (see compass.readers.files.opened)", look):
        table = reader.read(packed)
    _same(found, table, expected, look)


def _refuses(found: Witness, reader: Reader, folder: Path) -> None:
    ending = reader.suffixes[0]
    for number, (what, content) in enumerate(JUNK.items()):
        path = file_in(folder, f"junk{number}{ending}", content)
        table = _read_or_refuse(found, reader, path, what)
        found.expect(
            table is None or not table.num_rows,
            f"it refuses {what} with a DataProblem",
            f"a table of {table.num_rows if table is not None else 0} rows",
            f"Path({path.name!r}).write_bytes({content[:12]!r}...); {_look(path)}",
        )
        held = _held(path)
        found.expect(not held, "it closes a file that it refuses", ", ".join(held), _look(path))
    path = folder / f"missing{ending}"
    try:
        reader.read(path)
    except (DataProblem, FileNotFoundError):
        return
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    else:
        seen = "a table"
    found.expect(False, "a file that does not exist is a DataProblem", seen, _look(path))


def _read_or_refuse(found: Witness, reader: Reader, path: Path, what: str) -> pa.Table | None:
    """The table, or None for a refusal in the person's language."""
    promise = f"the only error for {what} is a DataProblem with a hint"
    try:
        return reader.read(path)
    except DataProblem as error:
        found.expect(error.hint, promise, f"no hint: {error.message}", _look(path))
        return None
    except Exception as error:
        raise ConformanceError(
            found.joint, found.name, promise, f"{type(error).__name__}: {error}", _look(path)
        ) from error


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
    for other in names[:place]:
        if other in SAMPLES:
            sample = SAMPLES[other]()
            _sniff(
                found,
                reader,
                folder / f"runs-{other}",
                sample,
                wanted=False,
                what=f"a {other} file",
            )


def _sniff(
    found: Witness, reader: Reader, path: Path, head: bytes, *, wanted: bool, what: str
) -> None:
    look = f"plugin().sniff(Path({path.name!r}), {head[:24]!r}...)"
    with found.calling(f"it can tell whether {what} is its own", look):
        claimed = reader.sniff(path, head)
    found.expect(isinstance(claimed, bool), "`sniff` answers True or False", repr(claimed), look)
    verb = "recognises" if wanted else "does not claim"
    found.expect(claimed is wanted, f"it {verb} {what}", f"{claimed}", look)
