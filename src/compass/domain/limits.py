"""What a server allows: every limit in one place, with its default."""

from pydantic import Field

from compass.domain.base import Noun

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


class ServerLimits(Noun):
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
    drain_seconds: float = Field(
        0.0,
        ge=0,
        description="time for which a server that is told to stop still takes requests, while "
        "/readyz says that it leaves",
    )
    memory_bytes: int = Field(
        0,
        ge=0,
        description="memory of one working process; 0: 4 GiB, or less where the machine has less",
    )
    ask_workers: int = Field(0, ge=0, description="processes that answer and read; 0: one per core")
    fit_workers: int = Field(1, ge=1, description="processes that learn")
    chat_workers: int = Field(2, ge=1, description="processes that read messages of chats")
    waiting: int = Field(256, ge=1, description="pieces of work that may wait, over all people")
    waiting_per_workspace: int = Field(
        64, ge=1, description="pieces of work of one workspace, waiting or running"
    )
    waiting_per_user: int = Field(
        64, ge=1, description="the same of one user, over all their workspaces"
    )
    workspaces: int = Field(1_000, ge=1, description="workspaces that are kept")
    workspace_bytes: int = Field(4 * GIB, ge=1, description="what one workspace may keep")
    uploads: int = Field(32, ge=1, description="files that are on their way at once")
    uploads_per_workspace: int = Field(4, ge=1, description="the same, of one workspace")
    streams: int = Field(256, ge=1, description="event streams that are open at once")
    streams_per_workspace: int = Field(32, ge=1, description="the same, of one workspace")
    stream_seconds: float = Field(
        0.0, ge=0, description="after which an event stream ends, to be opened again; 0: never"
    )
    quit_after_seconds: float = Field(
        0.0, ge=0, description="after which a server that nobody uses ends; 0: never"
    )
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

    keep_answers_days: float = Field(
        0.0, ge=0, description="days after which unused answers and chats are removed; 0: never"
    )
    keep_workspaces_days: float = Field(
        0.0, ge=0, description="days after which workspaces that nobody used are removed; 0: never"
    )
    keep_audit_days: float = Field(
        0.0, ge=0, description="days after which lines of the audit log are removed; 0: never"
    )

    def of_address(self, most: int) -> int:
        """How many of so many one address may hold."""
        return max(1, int(most * self.address_share))
