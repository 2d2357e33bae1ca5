"""`compass serve`: everything that Compass can answer, over HTTP."""

import ipaddress
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from compass.cli import flags
from compass.cli.garbage import look_as_usual
from compass.cli.groups import grouped
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.server.settings import ServerSettings

_SIZES: dict[str, int] = {"": 1} | {
    prefix + binary: base**power
    for power, prefix in enumerate("kmgt", 1)
    for binary, base in (("", 1000), ("i", 1024))
}


@dataclass(frozen=True)
class ServeFlags:
    """Where the server listens, what it keeps and allows, and which language model it asks."""

    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765
    token: Annotated[
        str | None,
        typer.Option(
            envvar="COMPASS_TOKEN",
            help="What every request must carry; made and printed where others can reach the host.",
        ),
    ] = None
    state: Annotated[Path | None, typer.Option(help="The folder in which everything is kept.")] = (
        None
    )
    store: Annotated[
        str | None,
        typer.Option(
            envvar="COMPASS_STORE",
            help="postgresql://...: several servers share the state; the folder is on a file "
            "system of all.",
        ),
    ] = None
    allow: Annotated[
        list[Path] | None,
        typer.Option("--allow", help="A folder whose files may be named by path; may be repeated."),
    ] = None
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", help="Another site whose pages may call; may be repeated."),
    ] = None
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="A name by which the server is called; may be repeated."),
    ] = None
    socket: Annotated[
        Path | None,
        typer.Option(help="A Unix socket to listen on instead of a port, for a proxy."),
    ] = None
    user_header: Annotated[
        str | None,
        typer.Option(help="The header in which a proxy says who a request is from."),
    ] = None
    groups_header: Annotated[
        str | None, typer.Option(help="The header in which it says their groups.")
    ] = None
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            help="Who may send these headers: an address, a network, or `socket`; may be repeated.",
        ),
    ] = None
    oidc: Annotated[
        str | None,
        typer.Option(help="The address of an OpenID Connect issuer whose tokens are taken."),
    ] = None
    oidc_audience: Annotated[
        str | None, typer.Option(help="For whom its tokens have to be issued.")
    ] = None
    oidc_user: Annotated[
        str, typer.Option(help="The claim of its tokens with the name of the user.")
    ] = "sub"
    oidc_groups: Annotated[
        str, typer.Option(help="The claim of its tokens with the list of their groups.")
    ] = "groups"
    operator: Annotated[
        list[str] | None,
        typer.Option("--operator", help="A user who sees what operators see; may be repeated."),
    ] = None
    quota: Annotated[
        list[str] | None,
        typer.Option(
            "--quota",
            help="user:NAME:workspace_bytes=20GiB, group:NAME:...: a limit of theirs; may be "
            "repeated.",
        ),
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", help="A limit, such as rows=100000 or upload_bytes=2GB; may be repeated."
        ),
    ] = None
    llm: Annotated[
        str | None, typer.Option("--llm", help="An OpenAI-compatible endpoint for the chat.")
    ] = None
    llm_model: Annotated[str | None, typer.Option("--llm-model", help="Its model.")] = None

    def settings(self) -> "ServerSettings":
        """The flags as the settings of a server; a token is made where others can reach it."""
        from compass.server.settings import ServerSettings, is_loopback, new_token

        self._check()
        known = self.user_header is not None or self.oidc is not None
        return ServerSettings(
            host=self.host,
            port=self.port,
            state=(self.state or default_state()).absolute(),
            store=self.store,
            # Where people are known, nobody else needs to get in.
            token=self.token or (None if is_loopback(self.host) or known else new_token()),
            folders=tuple(folder.resolve() for folder in self.allow or ()),
            origins=tuple(self.origin or ()),
            hosts=tuple(self.name or ()),
            socket=None if self.socket is None else self.socket.absolute(),
            user_header=self.user_header,
            groups_header=self.groups_header,
            proxies=tuple(self.proxy or ()),
            oidc_issuer=self.oidc,
            oidc_audience=self.oidc_audience,
            oidc_user=self.oidc_user,
            oidc_groups=self.oidc_groups,
            operators=tuple(self.operator or ()),
            quotas=quotas(self.quota or []),
            llm_url=self.llm,
            llm_model=self.llm_model,
            limits=limits(self.limit or []),
        )

    def _check(self) -> None:
        if (self.llm is None) != (self.llm_model is None):
            raise BadInput("--llm and --llm-model belong together", hint="give both")
        if self.token is not None and not re.fullmatch(r"[\x21-\x7e]{8,200}", self.token):
            raise BadInput(
                "the token must be 8 to 200 letters, digits and signs without blanks",
                hint="leave it out, and one is made",
            )
        for folder in self.allow or ():
            if not folder.is_dir():
                raise BadInput(f"--allow {folder}: there is no such folder", hint="check the path")
        self._check_people()
        for site in self.origin or ():
            if not re.fullmatch(r"https?://[^/\s]+", site):
                raise BadInput(
                    f"--origin {site}: a site is named without a path",
                    hint="such as https://compass.example.org",
                )

    def _check_people(self) -> None:
        if (self.user_header is None) != (not self.proxy):
            raise BadInput(
                "--user-header and --proxy belong together: anybody could send that header",
                hint="name the header, and who may send it",
            )
        for header in (self.user_header, self.groups_header):
            if header is not None and not re.fullmatch(r"[A-Za-z0-9-]{1,100}", header):
                raise BadInput(f"'{header}' is no name of a header", hint="such as X-Remote-User")
        if (self.oidc is None) != (self.oidc_audience is None):
            raise BadInput("--oidc and --oidc-audience belong together", hint="give both")
        if self.groups_header is not None and self.user_header is None:
            raise BadInput("--groups-header is of people", hint="add --user-header and --proxy")
        if self.operator and self.user_header is None and self.oidc is None:
            raise BadInput(
                "operators are people, and the server is to know none",
                hint="add --user-header and --proxy, or --oidc",
            )
        for one in self.proxy or ():
            with suppress(ValueError):
                if one == "socket" or ipaddress.ip_network(one, strict=False):
                    continue
            raise BadInput(
                f"--proxy {one}: this is neither an address nor a network",
                hint="such as 127.0.0.1, 10.0.0.0/8, or socket",
            )
        if self.socket is None and "socket" in (self.proxy or ()):
            raise BadInput("--proxy socket: there is no socket", hint="add --socket PATH")


@grouped
def serve(
    data: Annotated[
        str, typer.Argument(help="Past runs or a saved engine to offer to everybody.")
    ] = "embedded",
    *,
    how: ServeFlags,
    study: flags.StudyFile = None,
    surrogate: flags.Surrogate = None,
) -> None:
    """Answer over HTTP what the command line answers; see docs/guides/server.md."""
    from compass.server.run import serve as run

    look_as_usual()
    settings = how.settings()
    # One that was given is known to whoever gave it, and has no business in logs and on screens.
    run(settings, data, study, partial(_announce, show=how.token is None), surrogate)


def default_state() -> Path:
    """Where a server keeps things unless a folder is named."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "compass"


def limits(texts: list[str]) -> Any:
    """ServerLimits from NAME=VALUE; sizes may be written as 512MB or 4GiB."""
    from compass.domain.base import valid
    from compass.domain.limits import ServerLimits

    found: dict[str, Any] = {}
    for text in texts:
        key, _, value = text.partition("=")
        if key not in ServerLimits.model_fields:
            raise BadInput(
                f"--limit {text}: there is no limit '{key}'",
                hint=f"there are: {', '.join(ServerLimits.model_fields)}",
            )
        number = _number("--limit", text, value)
        whole = ServerLimits.model_fields[key].annotation is int
        found[key] = int(number) if whole else number
    limits: ServerLimits = valid(ServerLimits, found)
    return limits


def quotas(texts: list[str]) -> Any:
    """Quotas from OWNER:NAME=VALUE, where OWNER is user:NAME or group:NAME."""
    from compass.domain.base import valid
    from compass.domain.people import OWNER, Quota

    found: dict[str, dict[str, Any]] = {}
    names = [name for name in Quota.model_fields if name != "owner"]
    for text in texts:
        before, _, value = text.rpartition("=")
        owner, _, key = before.rpartition(":")
        if not re.fullmatch(OWNER, owner) or key not in names:
            raise BadInput(
                f"--quota {text}: this names no user or group, or no quota",
                hint=f"such as user:ada:{names[0]}=20GiB; there are: {', '.join(names)}",
            )
        found.setdefault(owner, {})[key] = int(_number("--quota", text, value))
    made = [valid(Quota, {"owner": owner, **given}) for owner, given in found.items()]
    return tuple(made)


def _number(flag: str, text: str, value: str) -> float:
    size = re.fullmatch(r"([0-9.]+)\s*([kmgt]i?|)b?", value.strip().lower())
    if size is None or size[1].count(".") > 1 or size[1] == ".":
        raise BadInput(f"{flag} {text}: '{value}' is no number", hint="such as rows=100000")
    return float(size[1]) * _SIZES[size[2]]


def _announce(address: str, settings: "ServerSettings", *, show: bool) -> None:
    from compass.server.quarantine import FOLDER, held

    lines = [f"Compass listens on {address}", f"everything is kept in {settings.state}"]
    if aside := held(settings.state):
        lines.append(f"not understood and set aside: {aside} in {settings.state / FOLDER}")
    token = settings.token.get_secret_value() if show and settings.token is not None else ""
    if token:
        lines.append(f"token: {token}")
    elif settings.token is not None:
        lines.append("every request needs the token that was given")
    lines += [*_ways_to_reach(address, token), "stop with Ctrl-C"]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _ways_to_reach(address: str, token: str) -> list[str]:
    """How a person gets at the server."""
    from compass.server.page import built

    socket = address.removeprefix("unix:")
    if socket != address:  # for a proxy: browsers and clients know addresses only
        return [f"try: curl --unix-socket {socket} http://localhost/healthz"]
    if built():
        # Behind #, the token stays in the browser that the line is pasted into.
        page = f"open in a browser: {address}/{f'#token={quote(token)}' if token else ''}"
    else:
        page = "no page in this installation: `make page` builds it, with Node.js 20.19"
    return [page, f"try: curl {address}/healthz, or compass ask --server {address} ..."]
