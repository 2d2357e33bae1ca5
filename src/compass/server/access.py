"""Who may ask: token, host and origin of a request, its size, and the headers of every answer."""

import hmac
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compass.server import logs
from compass.server.limits import Limits
from compass.server.pace import Pace
from compass.server.page import is_open
from compass.server.problems import Refused, fault, too_large
from compass.server.replies import response
from compass.server.settings import ServerSettings, is_loopback
from compass.server.sizes import told_size

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
_OPEN = ("/healthz",)  # told to anybody: monitors have no token
_METHODS = "GET, POST, PUT, DELETE"
_ASKED = "Authorization, Compass-Workspace, Content-Type, Last-Event-ID"
_TOLD = "Retry-After, Content-Disposition, Compass-Next"
_LONGEST_HEADERS = 32 * 1024


class Access:
    """Refuses requests that may not come in, and puts the same headers on every answer."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")

        begun = False

        async def dressed(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                self._dress(MutableHeaders(scope=message), scope["path"], origin)
            await send(message)

        try:
            self._check(scope, headers)
        except Refused as refused:
            await response(refused)(scope, receive, dressed)
            return
        if scope["method"] == "OPTIONS" and origin is not None:
            await _preflight()(scope, receive, dressed)
            return
        try:
            await self.app(scope, receive, dressed)
        except Exception as error:
            # Here, and not in a handler, which would stand outside and send bare headers.
            logs.trouble("fault", error)
            if begun:
                raise
            await response(fault())(scope, receive, dressed)

    def _check(self, scope: Scope, headers: Headers) -> None:
        if sum(len(name) + len(value) for name, value in headers.raw) > _LONGEST_HEADERS:
            raise Refused(431, "headers-too-large", "the headers of the request are too long")
        token = self.settings.token
        host = _host_of(headers.get("host", ""))
        # Without a token, a page of another site must not reach us under a name of its own.
        if token is None and not (is_loopback(host) or host in self._hosts()):
            raise Refused(
                403, "wrong-host", "the server is not called that", hint="use its own address"
            )
        origin = headers.get("origin")
        if origin is not None and not self._may(origin, headers.get("host", "")):
            raise Refused(
                403,
                "wrong-origin",
                "pages of another site may not use this server",
                hint="the operator can allow it with --origin",
            )
        path = scope["path"]
        told_to_all = path in _OPEN or is_open(path) or scope["method"] == "OPTIONS"
        if token is not None and not told_to_all:
            given = headers.get("authorization", "")
            wanted = f"Bearer {token.get_secret_value()}"
            if not hmac.compare_digest(given.encode(), wanted.encode()):
                raise Refused(
                    401,
                    "no-token",
                    "this server needs a token",
                    hint="send it as `Authorization: Bearer TOKEN`; the operator knows it",
                )

    def _hosts(self) -> set[str]:
        return {self.settings.host.lower(), *(host.lower() for host in self.settings.hosts)}

    def _may(self, origin: str, host: str) -> bool:
        own = {f"http://{host}", f"https://{host}"}
        return origin in own or origin in self.settings.origins

    def _dress(self, headers: MutableHeaders, path: str, origin: str | None) -> None:
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        if path.startswith("/api/"):
            headers.setdefault("Cache-Control", "no-store")
        if origin is not None and origin in self.settings.origins:
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Allow-Methods"] = _METHODS
            headers["Access-Control-Allow-Headers"] = _ASKED
            headers["Access-Control-Expose-Headers"] = _TOLD
            headers["Vary"] = "Origin"


class BodyLimit:
    """Refuses requests that are longer or slower than they need to be.

    Uploads have a limit of their own.
    """

    def __init__(self, app: ASGIApp, limits: Limits, uploads: tuple[str, ...]) -> None:
        self.app = app
        self.limits = limits
        self.uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        upload = scope["type"] == "http" and scope["method"] == "POST"
        if scope["type"] != "http" or (upload and scope["path"].endswith(self.uploads)):
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > self.limits.body_bytes:
            await response(self._too_long())(scope, receive, send)
            return
        body = _Body(receive, self.limits)
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            if begun or body.refused is None:
                begun = True
                await send(message)

        async def read() -> Message:
            message = await body.read()
            if body.seen > self.limits.body_bytes:
                body.refused = self._too_long()
                raise body.refused
            return message

        # Whatever the routes make of a body that is cut short, why it was is what is told.
        with suppress(Refused):
            await self.app(scope, read, noted)
        if body.refused is not None and not begun:
            await response(body.refused)(scope, receive, send)

    def _too_long(self) -> Refused:
        return too_large(
            f"the request is longer than {told_size(self.limits.body_bytes)}",
            "send less, or upload a file",
        )


class _Body:
    """The body of a request as it comes, and why it is not read to its end."""

    def __init__(self, receive: Receive, limits: Limits) -> None:
        self.receive = receive
        self.pace = Pace(limits)
        self.seen = 0
        self.whole = False
        self.refused: Refused | None = None

    async def read(self) -> Message:
        """The next part; after the last one, the end of the connection."""
        if self.whole:
            return await self.receive()  # that the client leaves may take its time
        try:
            message = await self.pace.next(self.receive(), _size)
        except Refused as slow:
            self.refused = slow
            raise
        self.seen += _size(message)
        self.whole = not message.get("more_body", False)
        return message


def _size(message: Message) -> int:
    return len(message.get("body", b""))


def _host_of(header: str) -> str:
    name = header.strip().lower()
    if name.startswith("["):
        return name[: name.find("]") + 1]
    return name.rpartition(":")[0] if ":" in name else name


def _preflight() -> Any:
    from starlette.responses import Response

    return Response(status_code=204)
