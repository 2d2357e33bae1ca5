"""What a server allows: every limit in one place, with its default."""

import os

from pydantic import Field

from compass.domain.base import Noun
from compass.execute.processors import cores

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
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
    idle_seconds: float = Field(60.0, gt=0, description="time without a byte of an upload")
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
    streams: int = Field(256, ge=1, description="event streams that are open at once")


def settled(limits: Limits) -> Limits:
    """The limits with what depends on the machine: all processes together fit into its memory."""
    askers = limits.askers or cores()
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    rest = machine - limits.talkers * TALKER_BYTES
    share = max(512 * MIB, rest // (askers + limits.fitters + 1))
    memory = limits.memory_bytes or min(4 * GIB, share)
    return limits.model_copy(update={"askers": askers, "memory_bytes": memory})
