"""Who uses a server: names, roles and quotas of users and groups."""

from datetime import datetime

from pydantic import Field

from compass.domain.base import Noun

NAME = r"[\x21-\x2b\x2d-\x3a\x3c-\x7e]{1,200}"  # no blanks, and no signs that lists are split at
OWNER = rf"^(user|group):{NAME}$"


class Quota(Noun):
    """What one user or group may use, where it differs from the limits of the server."""

    owner: str = Field(description="`user:NAME` or `group:NAME`")
    workspace_bytes: int | None = Field(None, ge=1, description="what their workspace may keep")
    waiting_per_user: int | None = Field(
        None, ge=1, description="pieces of work of this user, waiting or running"
    )


class Place(Noun):
    """A workspace that a person may use, by the name to send as Compass-Workspace."""

    name: str = Field(description="`mine`, or `group:NAME`")
    bytes: int = Field(0, description="what is kept in it")
    most: int = Field(description="what may be kept in it")


class Me(Noun):
    """Who the server takes the sender of a request for."""

    user: str | None = Field(None, description="None: the holder of a token or of a key, unnamed")
    groups: tuple[str, ...] = ()
    operator: bool = False
    workspaces: tuple[Place, ...] = ()
    waiting: int = Field(0, description="pieces of work, waiting or running")
    waiting_most: int = Field(0, description="how many there may be; 0: this is not counted")


class WorkspaceUse(Noun):
    """A workspace as its operator sees it: whose it is and how large, never what is in it."""

    id: str
    owner: str | None = Field(None, description="`user:NAME`, `group:NAME`; None: of a key")
    created: datetime
    used: datetime = Field(description="when somebody last used it, to the hour")
    bytes: int
