"""Zip archives from strangers: a bounded number of plain members of a bounded size."""

import ast
import io
import math
import mmap
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
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
_LOCAL = 30  # bytes of a member's header in front of its name
_FIELD = 4  # bytes in front of an extra field
_FILLING = 0xD935  # the extra field that other tools write for the same purpose
_ALIGNED = 64  # bytes, as numpy does inside of its own files
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


def mapped(path: Path, most: int | None = None) -> dict[str, memoryview]:
    """The same of a file that is mapped into memory; what is stored as it is takes no memory.

    It stays readable when the file is replaced or removed.
    """
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        try:
            with zipfile.ZipFile(file) as archive:
                listed = [item for item in archive.infolist() if not item.is_dir()]
            if any(item.compress_type != zipfile.ZIP_STORED for item in listed):
                found = members(bytes(content), path.name, most)
                return {name: memoryview(member) for name, member in found.items()}
            _check(listed, path.name, EXPANDED if most is None else most)
            return {item.filename: _stored(content, item) for item in listed}
        except (*_BROKEN, ValueError, KeyError, struct.error) as error:
            raise BadInput(
                f"{path.name} is a damaged archive: {error}", hint="save the model again"
            ) from None


def _stored(content: memoryview, item: zipfile.ZipInfo) -> memoryview:
    """The bytes of a member that is not compressed."""
    mark, *_, name, extra = struct.unpack_from("<4s5H3L2H", content, item.header_offset)
    start = item.header_offset + _LOCAL + name + extra
    if mark != b"PK\3\4" or start + item.file_size > len(content):
        raise ValueError("a file in it is not where it should be")
    return content[start : start + item.file_size]


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Arrays as one `.npz` file that can be mapped: each begins where compiled loops can read."""
    with path.open("wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            written = io.BytesIO()
            np.lib.format.write_array(written, array, allow_pickle=False)
            start = file.tell() + _LOCAL + len(member.filename.encode()) + _FIELD
            filling = -start % _ALIGNED
            member.extra = struct.pack("<HH", _FILLING, filling) + bytes(filling)
            archive.writestr(member, written.getbuffer())


def packed(files: Mapping[str, bytes]) -> bytes:
    """A plain archive of these files: what was checked is what a library gets to see."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def array_of(content: bytes | memoryview) -> NDArray[Any]:
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
    held = np.frombuffer(content, np.uint8, offset=start)
    if held.ctypes.data % dtype.alignment:
        held = held.copy()  # its place in the file is one that compiled loops cannot read from
    found = held.view(dtype)
    return found.reshape(shape[::-1]).T if turned else found.reshape(shape)


def _header(content: bytes | memoryview) -> tuple[int, Any, Any, np.dtype[Any]]:
    """Where the numbers of an `.npy` file begin; the shape, order and type that it says."""
    lengths = {b"\x01\x00": "<H", b"\x02\x00": "<I"}  # by version
    length = lengths.get(bytes(content[6:8]))
    if content[:6] != b"\x93NUMPY" or length is None:
        raise ValueError("no array at all")
    try:
        (size,) = struct.unpack_from(length, content, 8)
        start = 8 + struct.calcsize(length) + size
        text = str(content[start - size : start], "latin1") if size <= _HEADER else "{}"
        header = ast.literal_eval(text)
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
