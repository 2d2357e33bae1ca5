"""Compass within Open OnDemand, whose Passenger speaks WSGI and starts and ends processes at will.

So the server is a process of its own, one for each user, on a Unix socket in their own folder: it
holds their state and goes on with their work while Passenger comes and goes. What Passenger runs
is a small application that starts the server where there is none and hands requests on.
Streams of events would hold one of Passenger's few places for as long as they last: the server is
told to end each after a moment, and the page and the client open it again (polling).

Decision 0067 (docs/decisions).
"""

import asyncio
import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from compass.domain.errors import EnvironmentProblem
from compass.server.problems import Refused
from compass.server.responses import problem_response

_SOCKET, _LOCK, _LOG = "compass.sock", "start.lock", "server.log"
_START_SECONDS = 120.0  # of patience with a server that starts, on a busy machine
_STREAM_SECONDS = 2  # of a stream of events, before it is opened again
_IDLE_SECONDS = 3600  # after which a server that nobody uses ends; what it keeps stays
# Of one connection, not of what is sent over it.
_HOP = frozenset({"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})


def application(folder: Path, source: str = "embedded", words: tuple[str, ...] = ()) -> Any:
    """The WSGI application; `words` are further flags of `compass serve`."""
    try:
        from a2wsgi import ASGIMiddleware
    except ImportError:
        raise EnvironmentProblem(
            "Open OnDemand needs the package a2wsgi",
            hint="pip install 'compass-hpc[ondemand]'",
        ) from None
    app: Any = Forward(folder, source, words)
    return ASGIMiddleware(app)


class Forward:
    """Hands requests on to the server of this user, which is started if there is none."""

    def __init__(self, folder: Path, source: str, words: tuple[str, ...]) -> None:
        self.folder = folder.absolute()
        self.source = source
        self.words = words
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)  # whoever reaches the socket is this user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await asyncio.to_thread(self.start)
            await self._hand_on(scope, receive, send)
        except (EnvironmentProblem, httpx.TransportError) as error:
            refused = Refused(
                503,
                "starting",
                str(error) or "the server has just ended",
                hint=f"try again; what it said is in {_LOG}",
                retry_after=5,
            )
            await problem_response(refused)(scope, receive, send)

    def start(self) -> None:
        """Start the server, unless it runs: of many processes that want to, one does."""
        if self._listens():
            return
        with (self.folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._listens():
                return
            with (self.folder / _LOG).open("ab") as log:
                process = subprocess.Popen(  # noqa: S603 - our own command
                    self._command(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # it outlives Passenger
                )
            # So that nothing of it is left over when it has ended, whoever ends first.
            threading.Thread(target=process.wait, daemon=True).start()
            ends = time.monotonic() + _START_SECONDS
            while not self._listens():
                if process.poll() is not None or time.monotonic() > ends:
                    raise EnvironmentProblem("the server did not start", hint=f"see {_LOG}")
                time.sleep(0.05)

    def _command(self) -> list[str]:
        limits = (f"stream_seconds={_STREAM_SECONDS}", f"quit_after_seconds={_IDLE_SECONDS}")
        return [
            *(sys.executable, "-m", "compass.cli.main", "serve", self.source),
            *("--socket", str(self.folder / _SOCKET), "--state", str(self.folder / "state")),
            *(word for limit in limits for word in ("--limit", limit)),
            *("--limit", "address_share=1"),
            *self.words,
        ]

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as one:
            try:
                one.connect(os.path.relpath(self.folder / _SOCKET))
            except OSError:
                return False
        return True

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        over = httpx.AsyncHTTPTransport(uds=os.path.relpath(self.folder / _SOCKET))
        query = scope["query_string"].decode("latin-1")
        url = "http://localhost" + quote(_path(scope)) + (f"?{query}" if query else "")
        async with httpx.AsyncClient(transport=over, timeout=None) as client:  # noqa: S113 - the server has limits
            headers = _sent_on(Headers(scope=scope), scope.get("scheme", "http"))
            content = _body(receive) if "content-length" in headers else None
            request = client.build_request(scope["method"], url, headers=headers, content=content)
            reply = await client.send(request, stream=True)
            try:
                kept = [(n, v) for n, v in reply.headers.raw if n.lower().decode() not in _HOP]
                status = reply.status_code
                await send({"type": "http.response.start", "status": status, "headers": kept})
                async for part in reply.aiter_raw():
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
            finally:
                await reply.aclose()


def _path(scope: Scope) -> str:
    """The path within the application: Open OnDemand puts its own in front of it."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path.removeprefix(root) or "/" if root and path.startswith(f"{root}/") else path


def _sent_on(headers: Headers, scheme: str) -> dict[str, str]:
    """The headers for the server, to which this is a visitor from its own machine.

    It refuses pages of other sites, so a page of this one is named as its own.
    """
    found = {name: value for name, value in headers.items() if name not in {*_HOP, "host"}}
    host = headers.get("host", "")
    if found.get("origin") in {f"https://{host}", f"{scheme}://{host}"}:
        del found["origin"]
    if not found.get("content-length"):
        found.pop("content-length", None)
    return found | {"host": "localhost", "connection": "close"}


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return
