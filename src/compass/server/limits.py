"""What a server allows: every limit in one place, with its default."""

import os
import resource
from contextlib import suppress

from pydantic import Field

from compass.domain.base import Noun
from compass.domain.errors import EnvironmentProblem
from compass.execute.processors import cores

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
_CONNECTIONS = 4096  # each takes some 50 kB
_OWN_FILES = 64  # of the server itself: the log, the lock, files that threads read
_FILES = 1 << 20  # where there is no limit of open files
TALKER_BYTES = 512 * MIB  # memory of a process that reads messages: it holds no engine


class Limits(Noun):
    """How much people may ask of a server. What goes beyond gets a clear answer, never a crash."""

    upload_bytes: int = Field(512 * MIB, ge=1, description="size of an uploaded file")
    body_bytes: int = Field(MIB, ge=1, description="size of any other request")
    rows: int = Field(5_000_000, ge=1, description="rows of a dataset")
    columns: int = Field(2_000, ge=1, description="columns of a dataset")
    cells: int = Field(200_000_000, ge=1, description="rows times columns of a dataset")
    query_seconds: float = Field(
        120.0, gt=0, description="time of one question, or of reading a file"
    )
    message_seconds: float = Field(10.0, gt=0, description="time of reading one message of a chat")
    fit_seconds: float = Field(3600.0, gt=0, description="time of learning or telling")
    idle_seconds: float = Field(
        60.0, gt=0, description="time in which a body must bring `body_rate` bytes a second, or end"
    )
    body_rate: float = Field(
        1024.0, ge=0, description="bytes a second of a body, while it is waited for; 0: any"
    )
    header_seconds: float = Field(20.0, gt=0, description="time of the headers of a request")
    keep_alive_seconds: int = Field(
        5, ge=1, description="time that a connection stays open between two requests"
    )
    memory_bytes: int = Field(
        0,
        ge=0,
        description="memory of one working process; 0: 4 GiB, or less where the machine has less",
    )
    askers: int = Field(0, ge=0, description="processes that answer and read; 0: one per core")
    fitters: int = Field(1, ge=1, description="processes that learn")
    talkers: int = Field(2, ge=1, description="processes that read messages of chats")
    waiting: int = Field(256, ge=1, description="pieces of work that may wait, over all people")
    waiting_here: int = Field(
        64, ge=1, description="pieces of work of one workspace, waiting or running"
    )
    workspaces: int = Field(1_000, ge=1, description="workspaces that are kept")
    workspace_bytes: int = Field(4 * GIB, ge=1, description="what one workspace may keep")
    uploads: int = Field(32, ge=1, description="files that are on their way at once")
    uploads_here: int = Field(4, ge=1, description="the same, of one workspace")
    streams: int = Field(256, ge=1, description="event streams that are open at once")
    streams_here: int = Field(32, ge=1, description="the same, of one workspace")
    connections: int = Field(
        0,
        ge=0,
        description="connections that are open at once; 0: 4096, or fewer where the process may "
        "open fewer files",
    )
    address_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="share of connections, uploads, streams and unused workspaces of one address; "
        "1 where all come from the address of a proxy",
    )

    def of_address(self, most: int) -> int:
        """How many of so many one address may hold."""
        return max(1, int(most * self.address_share))


def settled(limits: Limits) -> Limits:
    """The limits with what depends on the machine.

    All processes together fit into its memory; connections and what is needed besides them fit
    into the files that the server may open.
    """
    askers = limits.askers or cores()
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    rest = machine - limits.talkers * TALKER_BYTES
    share = max(512 * MIB, rest // (askers + limits.fitters + 1))
    memory = limits.memory_bytes or min(4 * GIB, share)
    # A file of each upload, three pipes of each working process, and what the server itself needs.
    files = _open_files()
    workers = askers + limits.fitters + limits.talkers
    room = files - _OWN_FILES - limits.uploads - 3 * workers
    connections = limits.connections or min(_CONNECTIONS, room)
    if connections > room or room < 1:
        raise EnvironmentProblem(
            f"the server may open {files} files, which leaves {max(0, room)} for connections",
            hint="raise the limit of open files (ulimit -n, LimitNOFILE of a service), or allow "
            "fewer connections or uploads with --limit",
        )
    return limits.model_copy(
        update={"askers": askers, "memory_bytes": memory, "connections": connections}
    )


def raise_files() -> None:
    """Let the process open as many files as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # where the system says no, it stays as it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _open_files() -> int:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _FILES if soft == resource.RLIM_INFINITY else soft
