"""Access: the token, host and origin of a request, and the headers of every response."""

import asyncio
import hmac
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compass.server import logs, people
from compass.server.oidc import Issuer, is_token
from compass.server.page import is_open
from compass.server.problems import LONGEST_HEAD, Refused, closing, fault, head_too_long
from compass.server.responses import problem_response
from compass.server.settings import ServerSettings, is_loopback

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
_OPEN = ("/healthz", "/readyz")  # for anybody: monitors have no token
_METHODS = "GET, POST, PUT, DELETE"
_REQUEST_HEADERS = "Authorization, Compass-Workspace, Content-Type, Last-Event-ID"
_EXPOSED_HEADERS = "Retry-After, Content-Disposition, Compass-Next"


class Access:
    """Refuses requests without access, and puts the same headers on every response."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self.settings = settings
        self.issuer = None if settings.oidc_issuer is None else Issuer(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")

        begun = False

        async def with_headers(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                self._add_headers(MutableHeaders(scope=message), scope["path"], origin)
            await send(message)

        try:
            someone = await self._check(scope, headers)
        except Refused as refused:
            await problem_response(refused)(scope, receive, with_headers)
            return
        if scope["method"] == "OPTIONS" and origin is not None:
            await _preflight()(scope, receive, with_headers)
            return
        scope.setdefault("state", {})["person"] = someone
        try:
            with people.being(someone):
                await self.app(scope, receive, with_headers)
        except asyncio.CancelledError:
            # The server was told to stop, and this took longer than it could wait.
            if begun:
                raise
            await problem_response(closing())(scope, receive, with_headers)
        except Exception as error:
            # Here, and not in a handler, which would stand outside and send bare headers.
            name = logs.note_fault(error)
            if begun:
                raise
            await problem_response(fault(name))(scope, receive, with_headers)

    async def _check(self, scope: Scope, headers: Headers) -> people.Person | None:
        """Refuse a request without access; whom it is from, where that is known."""
        if _head_size(scope) > LONGEST_HEAD:
            raise head_too_long()
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
        public = path in _OPEN or is_open(path) or scope["method"] == "OPTIONS"
        someone = people.from_proxy(scope, headers, self.settings)
        if public or someone is not None:
            return someone
        given = headers.get("authorization", "")
        if self.issuer is not None and is_token(given):
            return await self.issuer.person(given.removeprefix("Bearer "))
        if token is not None:
            wanted = f"Bearer {token.get_secret_value()}"
            if not hmac.compare_digest(given.encode(), wanted.encode()):
                raise Refused(
                    401,
                    "no-token",
                    "this server needs a token",
                    hint="send it as `Authorization: Bearer TOKEN`; the operator knows it",
                )
        elif self.settings.knows_people:
            raise Refused(
                401,
                "no-user",
                "this server has to know who you are",
                hint="come by its usual address, and log in there",
            )
        return None

    def _hosts(self) -> set[str]:
        return {self.settings.host.lower(), *(host.lower() for host in self.settings.hosts)}

    def _may(self, origin: str, host: str) -> bool:
        own = {f"http://{host}", f"https://{host}"}
        return origin in own or origin in self.settings.origins

    def _add_headers(self, headers: MutableHeaders, path: str, origin: str | None) -> None:
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        if path.startswith("/api/"):
            headers.setdefault("Cache-Control", "no-store")
        if origin is not None and origin in self.settings.origins:
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Allow-Methods"] = _METHODS
            headers["Access-Control-Allow-Headers"] = _REQUEST_HEADERS
            headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
            headers["Vary"] = "Origin"


def _head_size(scope: Scope) -> int:
    """The bytes of the address and the headers of a request."""
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return len(scope.get("raw_path") or b"") + len(scope["query_string"]) + headers


def _host_of(header: str) -> str:
    name = header.strip().lower()
    if name.startswith("["):
        return name[: name.find("]") + 1]
    return name.rpartition(":")[0] if ":" in name else name


def _preflight() -> Any:
    from starlette.responses import Response

    return Response(status_code=204)
