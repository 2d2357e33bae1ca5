"""Running a server: the socket, signals, and a graceful end."""

import asyncio
import errno
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from compass.domain.errors import EnvironmentProblem
from compass.server import logs
from compass.server.app import create_app
from compass.server.connections import Connection, Listener, OpenConnections
from compass.server.people import is_trusted
from compass.server.publish import publish_or_log, source_and_study
from compass.server.service import Service
from compass.server.settings import ServerSettings, raise_file_limit

_LOOK = 30.0  # seconds between two looks whether anybody uses the server
_MOMENT = 1.0  # seconds for the request of a connection that was taken just before the end
_FIRST_GIVEN = 3  # the first file that systemd gives, after the three standard ones
_PATIENCE = 20  # seconds in which requests may end when the server is told to stop


class _Server(uvicorn.Server):
    """A server with limits on connections, that lets go of event streams when it is to stop."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; the signal is not raised again, as that is no failure."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for one in signals:
            loop.add_signal_handler(one, self.handle_exit, one, None)
        try:
            yield
        finally:
            for one in signals:
                loop.remove_signal_handler(one)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen: uvicorn does the rest, connections are taken here."""
        await super().startup(sockets=[])
        limits = self.service.limits
        table = OpenConnections(limits.connections, limits.of_address(limits.connections))
        make = partial(
            Connection,
            table=table,
            limits=limits,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        is_proxy = partial(is_trusted, proxies=self.service.settings.proxies)
        listeners = [Listener(one, table, make, is_proxy) for one in sockets or ()]
        for one in listeners:
            one.start(self.config.backlog)
        self.servers: list[Any] = [*listeners]  # closed by uvicorn when it stops

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, then no more work; streams end, what is answered may."""
        self.service.leaving = True
        for one in self.servers:
            one.close()
            await one.wait_closed()
        await self._hear_all()
        self.service.drain()
        await super().shutdown(sockets)

    async def _hear_all(self) -> None:
        """Wait a moment for the requests of connections that were taken just before."""
        ends = time.monotonic() + _MOMENT
        while time.monotonic() < ends and any(
            isinstance(one, Connection) and one.new for one in self.server_state.connections
        ):
            await asyncio.sleep(0.01)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Leave: at once, or after the time in which others learn that this server does."""
        seconds = self.service.limits.drain_seconds
        if self.service.leaving or not seconds:
            self.service.leaving = True
            super().handle_exit(sig, frame)
            return
        self.service.leaving = True
        logs.event("leaving", seconds=seconds)
        end = partial(super().handle_exit, sig, frame)
        asyncio.get_running_loop().call_later(seconds, end)


def serve(
    settings: ServerSettings,
    source: str,
    study: Path | None,
    announce: Callable[[str, ServerSettings], None],
    surrogate: str | None = None,
) -> None:
    """Run a server until it is told to stop; `announce` gets its address once it listens."""
    logs.configure()
    raise_file_limit()
    # A wrong name is an error now, not in the log of a server without data.
    source_and_study(source, study, surrogate)
    given = given_socket()
    listening = given or _listening(settings)
    app = create_app(settings)
    service: Service = app.state.service
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=service.limits.keep_alive_seconds,
        lifespan="on",
        ws="none",
    )
    server = _Server(config, service)
    address = _address(listening)

    async def quit_when_idle() -> None:
        seconds = service.limits.quit_after_seconds
        while seconds and not (service.metrics.silence > seconds and service.idle):
            await asyncio.sleep(min(seconds, _LOOK))
        if seconds:
            logs.event("unused", seconds=seconds)
            server.handle_exit(signal.SIGTERM, None)

    async def once_up() -> None:
        while not server.started:
            await asyncio.sleep(0.02)
        announce(address, settings)
        await publish_or_log(service, source, study, surrogate)
        await quit_when_idle()

    try:
        asyncio.run(_run(server, listening, once_up()))
    finally:
        if given is None and settings.socket is not None:  # that of systemd stays
            settings.socket.unlink(missing_ok=True)


async def _run(server: _Server, listening: socket.socket, once_up: Any) -> None:
    beginning = asyncio.create_task(once_up)
    try:
        await server.serve(sockets=[listening])
    finally:
        beginning.cancel()


def given_socket() -> socket.socket | None:
    """The socket that systemd listens on for us (LISTEN_FDS); None: there is none.

    It stays open while one server ends and the next one starts: who connects meanwhile waits.
    """
    if os.environ.pop("LISTEN_PID", "") != str(os.getpid()):
        return None
    count = os.environ.pop("LISTEN_FDS", "")
    if count != "1":
        raise EnvironmentProblem(
            f"systemd gives {count or 'no'} sockets",
            hint="name exactly one ListenStream= in compass.socket",
        )
    return socket.socket(fileno=_FIRST_GIVEN)


def _address(listening: socket.socket) -> str:
    """Where a socket listens, as people write it."""
    name = listening.getsockname()
    if listening.family == socket.AF_UNIX:
        return f"unix:{name}"
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"http://{host}:{name[1]}"


def _listening(settings: ServerSettings) -> socket.socket:
    if settings.socket is None:
        return _socket(settings.host, settings.port)
    made = socket.socket(socket.AF_UNIX)
    path = settings.socket
    try:
        if path.is_socket():
            with socket.socket(socket.AF_UNIX) as other, suppress(ConnectionRefusedError):
                other.connect(str(path))
                raise EnvironmentProblem(
                    f"another server listens on {path}", hint="stop it, or name another --socket"
                )
            path.unlink()  # of a server that was killed
        made.bind(str(path))
        path.chmod(0o660)  # for a proxy of the same group
    except OSError as error:
        made.close()
        raise EnvironmentProblem(
            f"cannot listen on {path}: {error.strerror or error}",
            hint="name a place in an existing folder of yours with --socket",
        ) from None
    return made


def _socket(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Named as TCP: only then asyncio sends at once, and an answer does not wait 40 ms for the
        # other side to acknowledge its headers.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, port))
        except OSError:
            made.close()
            raise
    except OSError as error:
        taken = error.errno in {errno.EADDRINUSE, errno.EACCES}
        raise EnvironmentProblem(
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            hint="choose another with --port (0: any that is free), or stop what listens there"
            if taken
            else "name an address of this machine with --host, or leave it out",
        ) from None
    return made
