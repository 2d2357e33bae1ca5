"""Zip archives from strangers: a bounded number of plain members of a bounded size."""

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput

MEMBERS = 10_000
EXPANDED = 2**30  # bytes of all members together
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
_HEADER = 10_000  # characters that the header of an array may have, as numpy has it


def members(content: bytes, name: str, most: int | None = None) -> dict[str, bytes]:
    """Every file of an archive; bombs, odd names, repeated and encrypted members are refused.

    `most` bytes are unpacked at most: EXPANDED, unless another number is given.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            _check(listed, name, EXPANDED if most is None else most)
            found: dict[str, bytes] = {}
            for item in listed:
                if not item.is_dir():
                    with archive.open(item) as member:
                        # What a member says about its size is not believed.
                        found[item.filename] = member.read(item.file_size + 1)
    except (*_BROKEN, ValueError, KeyError, struct.error) as error:
        raise BadInput(
            f"{name} is a damaged archive: {error}", hint="save the model again"
        ) from None
    if any(len(found[i.filename]) != i.file_size for i in listed if not i.is_dir()):
        raise BadInput(f"{name} is a damaged archive", hint="save the model again")
    return found


def packed(files: Mapping[str, bytes]) -> bytes:
    """A plain archive of these files: what was checked is what a library gets to see."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def array_of(content: bytes) -> NDArray[Any]:
    """The array of an `.npy` file; ValueError unless the file holds just what its header says.

    numpy would take the memory that a header asks for before it looks for the numbers.
    """
    source = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(source)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, turned, dtype = read(source, max_header_size=_HEADER)
    except (KeyError, TypeError, SyntaxError, struct.error, RecursionError, MemoryError) as error:
        raise ValueError(f"an array with a header that cannot be read: {error}") from None
    if dtype.hasobject:
        raise ValueError("an array of objects, which are programs")
    start = source.tell()
    if any(extent < 0 for extent in shape) or len(shape) > 32:
        raise ValueError("an array of an impossible shape")
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError("an array of another size than its header says")
    # Copied: its place in the file may be one that compiled loops cannot read from.
    found = np.frombuffer(content, np.uint8, offset=start).copy().view(dtype)
    return found.reshape(shape[::-1]).T if turned else found.reshape(shape)


def _check(listed: list[zipfile.ZipInfo], name: str, most: int) -> None:
    names = [item.filename for item in listed]
    if len(names) > MEMBERS or sum(item.file_size for item in listed) > most:
        raise BadInput(
            f"{name} unpacks to {len(names)} files of"
            f" {sum(item.file_size for item in listed) / 2**20:.0f} MiB in total: too much",
            hint=f"a model may have {MEMBERS} files of {most // 2**20} MiB in total",
        )
    if len(set(names)) != len(names):
        raise BadInput(f"{name} holds two files of the same name", hint="save the model again")
    for item in listed:
        parts = PurePosixPath(item.filename).parts
        odd = "\\" in item.filename or "\0" in item.filename or ":" in item.filename
        if item.filename.startswith("/") or ".." in parts or odd:
            raise BadInput(
                f"{name} holds a file that points outside of it: {item.filename!r}",
                hint="no tool that saves models writes this: do not use the file",
            )
        if item.flag_bits & 1:
            raise BadInput(f"{name} is encrypted", hint="save the model without a password")
