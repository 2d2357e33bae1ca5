"""Connections: how many there may be, from where, and how long each may keep the server waiting.

uvicorn itself takes every connection, and waits without end for headers and for a client that does
not read; what it cannot read as HTTP it answers in plain text, which is lost when the connection is
closed while more is on its way. asyncio, when the process can open no more files, tries each
waiting connection again at once and logs every attempt. Here connections are taken one by one:
those beyond the share of an address get an answer and are closed, a full server lets them wait in
the queue of the system, and what fails is tried again after a pause.
"""

import asyncio
import errno
import ipaddress
import json
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from compass.domain.limits import ServerLimits
from compass.server import logs
from compass.server.problems import (
    LONGEST_HEAD,
    Refused,
    busy,
    head_too_long,
    too_slow,
    unreadable,
)

_PAUSE = 1.0  # seconds until connections are taken again when the system has no room for them
_AT_ONCE = 100  # connections that are taken before other work gets its turn
_SILENCE = 60.0  # seconds between two lines of the log about the same trouble
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


@lru_cache(4096)
def _network(address: str) -> str:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address  # of a socket of this machine
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.IPv6Network((ip, 64), strict=False))
    return str(ip)


def source_of(client: Any) -> str:
    """Where a client is: its address, or of IPv6 the network of 64 bits that one host may have."""
    return _network(str(client[0])) if client else ""


class OpenConnections:
    """Counts the open connections, in all and by address."""

    def __init__(self, most: int, of_source: int) -> None:
        self.most = most
        self.of_source = of_source
        self.open = 0
        self.by_source: Counter[str] = Counter()
        self.waiting: Callable[[], None] | None = None  # called when there is room again

    @property
    def full(self) -> bool:
        """Whether no more connections may be taken."""
        return self.open >= self.most

    def enter(self, source: str, *, many: bool = False) -> bool:
        """Take a connection; whether this address may have one more, or is of `many` people."""
        if self.by_source[source] >= self.of_source and not many:
            return False
        self.open += 1
        self.by_source[source] += 1
        return True

    def leave(self, source: str) -> None:
        """Let go of a connection."""
        self.open -= 1
        self.by_source[source] -= 1
        if not self.by_source[source]:
            del self.by_source[source]
        if self.waiting is not None:
            waiting, self.waiting = self.waiting, None
            waiting()


class _Timer:
    """Calls a function after some time, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.handle: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        return self.handle is not None

    def start(self, seconds: float, then: Callable[..., None], *given: Any) -> None:
        self.stop()
        self.handle = self.loop.call_later(seconds, self._due, then, given)

    def _due(self, then: Callable[..., None], given: tuple[Any, ...]) -> None:
        self.handle = None
        then(*given)

    def stop(self) -> None:
        if self.handle is not None:
            self.handle.cancel()
            self.handle = None


class _Requests(h11.Connection):
    """Reads requests; those that cannot be read are handed over, and nothing follows them."""

    def __init__(self, refuse: Callable[[Refused], None]) -> None:
        super().__init__(h11.SERVER, LONGEST_HEAD)
        self._refuse = refuse

    def next_event(self) -> Any:
        """The next part of a request, if it has come."""
        try:
            return super().next_event()
        except h11.RemoteProtocolError as error:
            too_long = error.error_status_hint == 431
            self._refuse(head_too_long() if too_long else unreadable())
            return h11.NEED_DATA


class Connection(H11Protocol):
    """One connection that is closed when the client keeps the server waiting for too long."""

    def __init__(
        self, source: str, table: OpenConnections, limits: ServerLimits, **given: Any
    ) -> None:
        super().__init__(**given)
        self.source: str | None = source  # None: it has been let go of
        self.table = table
        self.limits = limits
        self.conn = _Requests(self._refuse)
        self._begun = False  # whether a part of a request has come
        self._refused = False  # what still comes is thrown away
        self._headers = _Timer(self.loop)
        self._reading = _Timer(self.loop)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, for some time."""
        super().connection_made(transport)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers and make room for another connection."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn leaves it after an error
        self._headers.stop()
        self._reading.stop()
        self.release()

    def release(self) -> None:
        """Make room for another connection."""
        if self.source is not None:
            self.table.leave(self.source)
            self.source = None

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; the time of its headers is not begun anew by each part."""
        self._begun = True
        if not self._refused:
            super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request, which may be there already."""
        super().on_response_complete()
        self._headers.stop()
        self._begun = False

    @property
    def new(self) -> bool:
        """Whether its first request is still awaited."""
        return self.cycle is None and not self.transport.is_closing()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        """While nothing is being answered, headers (or the rest of a body) have to come in time."""
        if self._answering():
            self._headers.stop()
        elif not self._headers.runs and not self.transport.is_closing():
            self._await_headers()

    def _await_headers(self) -> None:
        self._headers.start(self.limits.header_seconds, self._late)

    def _late(self) -> None:
        if self._begun and self.conn.their_state is h11.IDLE:  # not amid a body
            seconds = self.limits.header_seconds
            problem = too_slow(f"the headers of the request did not come within {seconds:g} s")
            self.transport.write(_plain(problem))
        self.transport.close()

    def _refuse(self, problem: Refused) -> None:
        """Say why a request cannot be read, and wait for its end: closed at once, it were lost."""
        self._refused = True
        if self._answering():  # amid its body: who answers is told that the client is gone
            if not self.cycle.response_started:
                self.transport.write(_plain(problem))
            self.transport.close()
            return
        self.transport.write(_plain(problem))
        self.transport.write_eof()

    def pause_writing(self) -> None:
        """Wait for a client to read what it asked for, as long as it does."""
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        """Stop the timer: the client has read most of it."""
        super().resume_writing()
        self._reading.stop()

    def _await_reading(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._reading.start(self.limits.idle_seconds, self._check_reading, left)

    def _check_reading(self, before: int) -> None:
        least = self.limits.body_rate * self.limits.idle_seconds
        if before - self.transport.get_write_buffer_size() < max(1, least):
            self.transport.abort()  # not closed: that would wait for it to be read
        else:
            self._await_reading()


class Listener:
    """Takes connections from a socket, as long as there is room for them."""

    def __init__(
        self,
        listening: socket.socket,
        table: OpenConnections,
        make: Callable[[str], Connection],
        is_proxy: Callable[[Any], bool] = lambda _: False,
    ) -> None:
        self.is_proxy = is_proxy
        self.listening = listening
        self.table = table
        self.make = make
        self.loop = asyncio.get_running_loop()
        self._again = _Timer(self.loop)
        self._beginning: set[asyncio.Task[None]] = set()
        self._logged: dict[str, float] = {}
        self._closed = False

    def start(self, backlog: int) -> None:
        """Begin to listen."""
        self.listening.setblocking(False)
        self.listening.listen(backlog)
        self._resume()

    def close(self) -> None:
        """Take no more connections; those that there are stay."""
        if self._closed:
            return
        self._closed = True
        self._again.stop()
        self.loop.remove_reader(self.listening)
        self.listening.close()

    async def wait_closed(self) -> None:
        """Wait until connections that were just taken are served by somebody."""
        if self._beginning:
            await asyncio.wait(self._beginning)

    def _resume(self) -> None:
        if not self._closed:
            self.loop.add_reader(self.listening, self._ready)

    def _ready(self) -> None:
        """Take the connections that wait."""
        for _ in range(_AT_ONCE):
            if self.table.full:
                self.loop.remove_reader(self.listening)
                self.table.waiting = self._resume
                self._trouble("connections-full", connections=self.table.most)
                return
            try:
                taken, address = self.listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                self.loop.remove_reader(self.listening)
                self._again.start(_PAUSE, self._resume)
                self._trouble("no-connections", problem=error.strerror)
                return
            self._take(taken, source_of(address), many=self.is_proxy(address))

    def _take(self, taken: socket.socket, source: str, *, many: bool) -> None:
        taken.setblocking(False)
        if not self.table.enter(source, many=many):
            self._trouble("connections-of-one", connections=self.table.of_source)
            _refuse(taken)
            return
        task = self.loop.create_task(self._serve(taken, source))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _serve(self, taken: socket.socket, source: str) -> None:
        made = self.make(source)
        try:
            with suppress(OSError, AttributeError):  # not on every system
                # A client that is gone without a word is noticed when it acknowledges nothing.
                limit = int(1000 * _SILENCE)
                taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, limit)
            await self.loop.connect_accepted_socket(lambda: made, taken)
        except OSError:
            taken.close()  # it is gone already
            made.release()

    def _trouble(self, event: str, **facts: Any) -> None:
        """Log a trouble, but the same one at most once a minute."""
        now = time.monotonic()
        if now - self._logged.get(event, -_SILENCE) >= _SILENCE:
            self._logged[event] = now
            logs.trouble(event, **facts)


def _refuse(taken: socket.socket) -> None:
    """Answer a connection that is one too many of its address, and close it."""
    with taken, suppress(OSError):
        with suppress(BlockingIOError):
            taken.recv(1 << 16)  # or what was sent would make the system throw the answer away
        taken.send(_plain(busy(10, "this address has too many connections open")))
        taken.shutdown(socket.SHUT_WR)


def _plain(refused: Refused) -> bytes:
    """A whole HTTP response as bytes, for connections that no request was read from."""
    body = json.dumps(refused.problem.model_dump(mode="json")).encode()
    lines = [
        f"HTTP/1.1 {refused.status} {_REASONS[refused.status]}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if refused.retry_after is not None:
        lines.append(f"Retry-After: {refused.retry_after}")
    return "\r\n".join([*lines, "", ""]).encode() + body
