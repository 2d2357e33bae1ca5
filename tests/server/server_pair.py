"""Two servers of one state behind one address: each new connection goes to the other one."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
from server_case import API, Server, start

from postgres_lab import PostgresLab


class Proxy:
    """A proxy of TCP: connections go to servers in turns, past those that take none."""

    def __init__(self, servers: list[Server]) -> None:
        self.servers = servers
        self._turns = itertools.count()
        self._ended: asyncio.Event | None = None
        self._loop = asyncio.new_event_loop()
        ready: Future[int] = Future()
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._run(ready),)
        )
        self._thread.start()
        self.url = f"http://127.0.0.1:{ready.result()}"

    async def _run(self, ready: "Future[int]") -> None:
        self._ended = asyncio.Event()
        async with await asyncio.start_server(self._join, "127.0.0.1", 0) as listening:
            ready.set_result(listening.sockets[0].getsockname()[1])
            await self._ended.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn, count = next(self._turns), len(self.servers)
        writers = [writer]
        try:
            for server in (self.servers[(turn + one) % count] for one in range(count)):
                with suppress(OSError):
                    port = int(server.url.rpartition(":")[2])
                    back, forth = await asyncio.open_connection("127.0.0.1", port)
                    writers.append(forth)
                    await asyncio.gather(_copied(reader, forth), _copied(back, writer))
                    return
        finally:
            for one in writers:
                one.close()

    def close(self) -> None:
        if self._ended is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop.close()


async def _copied(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await source.read(1 << 16):
            target.write(part)
            await target.drain()
    target.close()


@dataclass
class Pair:
    """Two servers, and the address of both."""

    source: Path
    state: Path
    store: str
    words: tuple[str, ...]
    servers: list[Server]
    proxy: Proxy

    def newcomer(self) -> httpx.Client:
        """Somebody with a workspace, each of whose requests goes to another server."""
        with self.client("") as client:
            made = client.post(f"{API}/workspaces")
            assert made.status_code == 201, made.text
        return self.client(made.json()["key"])

    def client(self, key: str) -> httpx.Client:
        sent = {"Compass-Workspace": key} if key else {}
        # No connection is used twice: or all requests would go to one server.
        none = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(
            base_url=self.proxy.url, headers=sent, timeout=120, limits=none, trust_env=False
        )

    def at(self, which: int, client: httpx.Client) -> httpx.Client:
        """The same person, at one of the servers."""
        return self.servers[which].client(client.headers["Compass-Workspace"])

    def again(self, which: int) -> None:
        """Start a server in the place of one that ended."""
        old = self.servers[which]
        assert old.process.wait(timeout=120) is not None
        assert old.process.stdout is not None
        old.process.stdout.close()
        self.servers[which] = begun(self.source, self.state, self.store, self.words)


def begun(source: Path, state: Path, store: str, words: tuple[str, ...]) -> Server:
    return start(source, state, *words, COMPASS_STORE=store)


@contextmanager
def pair(lab: PostgresLab, source: Path, state: Path, *words: str) -> Iterator[Pair]:
    """Two servers on a database of their own, for the length of a block."""
    words = ("--limit", "ask_workers=1", "--limit", "chat_workers=1", *words)
    store = lab.database()
    both = [begun(source, state, store, words) for _ in range(2)]
    found = Pair(source, state, store, words, both, Proxy(both))
    try:
        yield found
        assert [one.stop() for one in both] == [0, 0]
    finally:
        found.proxy.close()
        for one in both:
            one.process.kill()
            one.process.wait()
            assert one.process.stdout is not None
            one.process.stdout.close()
