"""Running a server: the socket, signals, and a graceful end."""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from compass.domain.errors import EnvironmentProblem
from compass.server import logs
from compass.server.app import create_app
from compass.server.connections import Connection, Listener, OpenConnections
from compass.server.publish import publish_or_log, source_and_study
from compass.server.service import Service
from compass.server.settings import ServerSettings, raise_file_limit

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
        listeners = [Listener(one, table, make) for one in sockets or ()]
        for one in listeners:
            one.start(self.config.backlog)
        self.servers: list[Any] = [*listeners]  # closed by uvicorn when it stops

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more work, let streams end, wait for what is being answered."""
        self.service.drain()
        await super().shutdown(sockets)


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
    listening = _socket(settings.host, settings.port)
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
    port = listening.getsockname()[1]
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host

    async def once_up() -> None:
        while not server.started:
            await asyncio.sleep(0.02)
        announce(f"http://{shown}:{port}", settings)
        await publish_or_log(service, source, study, surrogate)

    asyncio.run(_run(server, listening, once_up()))


async def _run(server: _Server, listening: socket.socket, once_up: Any) -> None:
    beginning = asyncio.create_task(once_up)
    try:
        await server.serve(sockets=[listening])
    finally:
        beginning.cancel()


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
