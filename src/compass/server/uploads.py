"""Files that people send: written as they come, never longer than allowed."""

import asyncio
import csv
import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fastapi import Request
from starlette.requests import ClientDisconnect

from compass import files
from compass.domain.base import Value
from compass.domain.errors import BadInput
from compass.domain.limits import ServerLimits
from compass.server.bodies import Pace
from compass.server.people import holder_of
from compass.server.problems import Refused, too_large
from compass.server.sizes import readable_size
from compass.server.slots import Slots
from compass.server.store import Workspace

ENDINGS = ("csv", "tsv", "parquet")


def ending_of(name: str) -> str:
    """The format of a file, by the ending of its name."""
    found = re.search(r"\.([A-Za-z]+)$", name)
    ending = found[1].lower() if found else ""
    if ending not in ENDINGS:
        raise BadInput(
            f"a file to upload ends in .{', .'.join(ENDINGS)}",
            hint="give it as ?name=runs.csv; other formats: compass read FILE -o runs.parquet",
        )
    return ending


class Received(NamedTuple):
    """Size and digest of a file that was received."""

    bytes: int
    digest: str  # SHA-256, by which a client knows what it need not send again


async def receive(request: Request, path: Path, workspace: Workspace) -> Received:
    """Write the body of a request to a file, as long as there is room for it."""
    coming: Slots = request.app.state.service.uploads
    with coming.one(workspace.id, holder_of(request)):
        return await _written(request, path, workspace)


async def _written(request: Request, path: Path, workspace: Workspace) -> Received:
    limits = workspace.limits
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limits.upload_bytes:
        raise _too_long(limits)
    workspace.check_room(int(length) if length.isdigit() else 0)
    size, digest = 0, hashlib.sha256()
    try:
        with path.open("wb") as file:
            async for chunk in _chunks(request, limits):
                size += len(chunk)
                # Counted as it comes: many at once may not take more than one after the other.
                workspace.coming += len(chunk)
                if size > limits.upload_bytes:
                    raise _too_long(limits)
                workspace.check_room(0)
                digest.update(chunk)
                await asyncio.to_thread(file.write, chunk)
        # In a thread: a large file takes its time to get to the disk.
        await asyncio.to_thread(files.sync, path)
    finally:
        workspace.coming -= size
    if not size:
        raise BadInput("the upload is empty", hint="send the file as the body of the request")
    return Received(size, digest.hexdigest())


async def _chunks(request: Request, limits: ServerLimits) -> AsyncIterator[bytes]:
    stream, pace = request.stream(), Pace(limits)
    while True:
        try:
            chunk = await pace.next(anext(stream), len)
        except StopAsyncIteration:
            return
        except ClientDisconnect:
            raise Refused(400, "cut", "the upload was cut off", hint="try again") from None
        if chunk:
            yield chunk


def _too_long(limits: ServerLimits) -> Refused:
    return too_large(
        f"the upload is longer than the {readable_size(limits.upload_bytes)} that the server takes",
        "make a sample that stands for all rows with compass reduce, or leave columns out",
    )


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
    """Write rows that came as JSON to a CSV file, as somebody would have uploaded it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        try:
            writer.writerow(names)
            writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
        except UnicodeEncodeError:
            raise BadInput(
                "a name or a value is no valid text",
                hint="send it as Unicode, without halves of pairs",
            ) from None
