"""How a server is run: what the operator decides, and what the machine allows."""

import ipaddress
import resource
import secrets
from contextlib import suppress
from pathlib import Path

from pydantic import Field, SecretStr

from compass.domain.base import Noun
from compass.domain.errors import EnvironmentProblem
from compass.domain.limits import GIB, MIB, ServerLimits
from compass.domain.people import Quota
from compass.execute.processors import cores
from compass.server import memory

_CONNECTIONS = 4096  # each takes some 50 kB
_OWN_FILES = 64  # of the server itself: the log, the lock, files that threads read
_FILES = 1 << 20  # where there is no limit of open files
SOCKET = "socket"  # among the proxies: whoever connects by the Unix socket
CHAT_WORKER_BYTES = 512 * MIB  # memory of a process that reads messages: it holds no engine


class ServerSettings(Noun):
    """Everything an operator decides."""

    host: str = "127.0.0.1"
    port: int = Field(8765, ge=0, le=65535, description="0: any that is free")
    state: Path = Field(description="the folder in which everything is kept")
    store: SecretStr | None = Field(
        None, description="the database of a state that several servers share"
    )
    token: SecretStr | None = Field(None, description="what every request has to carry")
    folders: tuple[Path, ...] = Field((), description="folders whose files may be named by path")
    origins: tuple[str, ...] = Field((), description="other sites whose pages may call the server")
    hosts: tuple[str, ...] = Field((), description="names by which the server is called")
    socket: Path | None = Field(None, description="a Unix socket to listen on instead of a port")
    user_header: str | None = Field(None, description="where a proxy says who a request is from")
    groups_header: str | None = Field(None, description="likewise, which groups they are in")
    proxies: tuple[str, ...] = Field(
        (), description="addresses or networks of the proxies that may; `socket`: by the socket"
    )
    oidc_issuer: str | None = Field(None, description="whose tokens say who somebody is")
    oidc_audience: str | None = Field(None, description="for whom these have to be issued")
    oidc_user: str = Field("sub", description="the claim with the name of the user")
    oidc_groups: str = Field("groups", description="the claim with the list of their groups")
    operators: tuple[str, ...] = Field((), description="users who see what operators see")
    quotas: tuple[Quota, ...] = Field((), description="of users and groups, where they differ")
    llm_url: str | None = Field(None, description="an OpenAI-compatible endpoint for the chat")
    llm_model: str | None = None
    limits: ServerLimits = Field(default_factory=ServerLimits)

    @property
    def knows_people(self) -> bool:
        """Whether every request has to be somebody's."""
        return self.user_header is not None or self.oidc_issuer is not None


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach the host."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def machine_limits(limits: ServerLimits) -> ServerLimits:
    """The limits with what depends on the machine.

    All processes together fit into its memory; connections and what is needed besides them fit
    into the files that the server may open.
    """
    ask_workers = limits.ask_workers or cores()
    rest = memory.of_machine() - limits.chat_workers * CHAT_WORKER_BYTES
    share = max(512 * MIB, rest // (ask_workers + limits.fit_workers + 1))
    each = limits.memory_bytes or min(4 * GIB, share)
    # A file of each upload, three pipes of each working process, and what the server itself needs.
    files = _open_files()
    workers = ask_workers + limits.fit_workers + limits.chat_workers
    room = files - _OWN_FILES - limits.uploads - 3 * workers
    connections = limits.connections or min(_CONNECTIONS, room)
    if connections > room or room < 1:
        raise EnvironmentProblem(
            f"the server may open {files} files, which leaves {max(0, room)} for connections",
            hint="raise the limit of open files (ulimit -n, LimitNOFILE of a service), or allow "
            "fewer connections or uploads with --limit",
        )
    return limits.model_copy(
        update={"ask_workers": ask_workers, "memory_bytes": each, "connections": connections}
    )


def raise_file_limit() -> None:
    """Let the process open as many files as the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # where the system says no, it stays as it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _open_files() -> int:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _FILES if soft == resource.RLIM_INFINITY else soft
