"""Zip archives from strangers: a bounded number of plain members of a bounded size."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath

from compass.domain.errors import BadInput

MEMBERS = 10_000
EXPANDED = 2**30  # bytes of all members together
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)


def members(content: bytes, name: str) -> dict[str, bytes]:
    """Every file of an archive; bombs, odd names, repeated and encrypted members are refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            _check(listed, name)
            found: dict[str, bytes] = {}
            for item in listed:
                if not item.is_dir():
                    with archive.open(item) as member:
                        # What a member says about its size is not believed.
                        found[item.filename] = member.read(item.file_size + 1)
    except (*_BROKEN, ValueError, KeyError) as error:
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


def _check(listed: list[zipfile.ZipInfo], name: str) -> None:
    names = [item.filename for item in listed]
    if len(names) > MEMBERS or sum(item.file_size for item in listed) > EXPANDED:
        raise BadInput(
            f"{name} unpacks to {len(names)} files of"
            f" {sum(item.file_size for item in listed) / 2**20:.0f} MiB in total: too much",
            hint=f"a model may have {MEMBERS} files of {EXPANDED // 2**20} MiB in total",
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
