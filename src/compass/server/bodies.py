"""Bodies of requests: how long one may be, and how fast it has to come."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compass.domain.limits import ServerLimits
from compass.server.problems import Refused, too_large, too_slow
from compass.server.responses import problem_response
from compass.server.sizes import readable_size

Piece = TypeVar("Piece")


class Pace:
    """Waits for the parts of a body, as long as each span of waiting brings enough bytes.

    Only the time in which the server waits for the client counts: a slow disk is not its fault.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self.seconds = limits.idle_seconds
        self.least = max(1.0, limits.body_rate * limits.idle_seconds)
        self._waited = 0.0
        self._came = 0

    async def next(self, part: Awaitable[Piece], size: Callable[[Piece], int]) -> Piece:
        """The next part; one that is waited for too long, or brings too little, is refused."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self.seconds - self._waited):
                found = await part
        except TimeoutError:
            raise too_slow(
                f"only {self._came} bytes of the body came within {self.seconds:g} s"
                if self._came
                else f"no byte of the body came for {self.seconds:g} s"
            ) from None
        self._waited += clock() - began
        self._came += size(found)
        if self._came >= self.least:
            self._waited, self._came = 0.0, 0
        return found


class BodyLimit:
    """Refuses requests that are longer or slower than they need to be.

    Uploads have a limit of their own.
    """

    def __init__(self, app: ASGIApp, limits: ServerLimits, uploads: tuple[str, ...]) -> None:
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
            await problem_response(self._too_long())(scope, receive, send)
            return
        body = _Body(receive, self.limits)
        begun = False

        async def forward(message: Message) -> None:
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

        # Whatever the routes make of a body that is cut short, the reply says why it was.
        with suppress(Refused):
            await self.app(scope, read, forward)
        if body.refused is not None and not begun:
            await problem_response(body.refused)(scope, receive, send)

    def _too_long(self) -> Refused:
        return too_large(
            f"the request is longer than {readable_size(self.limits.body_bytes)}",
            "send less, or upload a file",
        )


class _Body:
    """Reads the body of a request part by part, and notes why it was refused."""

    def __init__(self, receive: Receive, limits: ServerLimits) -> None:
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
