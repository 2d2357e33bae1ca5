"""Zip archives from strangers: a bounded number of plain members of a bounded size."""

import ast
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
# What Python and numpy raise for a text that is no description of an array.
_NO_HEADER = (
    LookupError,
    ValueError,
    TypeError,
    SyntaxError,
    struct.error,
    RecursionError,
    MemoryError,
)
_HEADER, _DIMENSIONS = 10_000, 32  # letters and dimensions of an array's header at most


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
    start, shape, turned, dtype = _header(content)
    if dtype.hasobject:
        raise ValueError("an array of objects, which are programs")
    whole = type(shape) is tuple and all(type(extent) is int and extent >= 0 for extent in shape)
    if not whole or len(shape) > _DIMENSIONS or type(turned) is not bool:
        raise ValueError("an array of an impossible shape")
    if not dtype.itemsize or math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError("an array of another size than its header says")
    # Copied: its place in the file may be one that compiled loops cannot read from.
    found = np.frombuffer(content, np.uint8, offset=start).copy().view(dtype)
    return found.reshape(shape[::-1]).T if turned else found.reshape(shape)


def _header(content: bytes) -> tuple[int, Any, Any, np.dtype[Any]]:
    """Where the numbers of an `.npy` file begin; the shape, order and type that it says."""
    lengths = {b"\x01\x00": "<H", b"\x02\x00": "<I"}  # by version
    length = lengths.get(content[6:8])
    if content[:6] != b"\x93NUMPY" or length is None:
        raise ValueError("no array at all")
    try:
        (size,) = struct.unpack_from(length, content, 8)
        start = 8 + struct.calcsize(length) + size
        text = content[start - size : start].decode("latin1")
        header = ast.literal_eval(text) if size <= _HEADER else {}
        dtype = np.lib.format.descr_to_dtype(header["descr"])
        return start, header["shape"], header["fortran_order"], dtype
    except _NO_HEADER:
        raise ValueError("an array with a header that cannot be read") from None


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
