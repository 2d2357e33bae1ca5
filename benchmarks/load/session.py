"""Somebody who asks servers, over a connection to each: plain HTTP/1.1, so that it costs little.

The clients share the processors with the server that they measure; a library for HTTP took as much
of them as the server itself.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.load.questions import Question

_LONGEST = 1 << 24  # bytes of a line or chunk
_PENDING = b'"pending":[]'


@dataclass(frozen=True)
class Reply:
    """How a question was answered."""

    status: int
    seconds: float
    whole: float | None = None  # seconds until it was whole, where something was pending


Place = tuple[str, int]  # host and port of a server


@dataclass
class _Line:
    """A connection to a server; opened again where the server closed it."""

    place: Place
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @staticmethod
    async def opened(place: Place) -> "_Line":
        while True:
            try:
                return _Line(place, *await asyncio.open_connection(*place, limit=_LONGEST))
            except OSError:
                await asyncio.sleep(0.1)


class Session:
    """A workspace of its own, and the connections through which it is used, in turns."""

    def __init__(self, lines: list[_Line]) -> None:
        self.lines = lines
        self.turn = 0
        self.key = ""

    @property
    def reader(self) -> asyncio.StreamReader:
        """Where the reply to the last request comes from."""
        return self.lines[self.turn].reader

    @staticmethod
    async def begun(places: list[Place]) -> "Session":
        """A session with servers, once they listen."""
        session = Session([await _Line.opened(place) for place in places])
        _, body = await session._send("POST", "/workspaces", b"")
        session.key = json.loads(body)["key"]
        return session

    async def offered(self) -> str:
        """The engine that the server offers, once it does."""
        while True:
            _, body = await self._send("GET", "/engines")
            found = json.loads(body)
            if found:
                return str(found[0]["id"])
            await asyncio.sleep(0.2)

    async def ask(self, engine: str, one: Question, prove: float) -> Reply:
        """Ask, and follow the answer until nothing of it is pending."""
        asked = json.dumps({"question": one.text, "run": one.run, "prove": prove}).encode()
        began = time.perf_counter()
        status, body = await self._send("POST", f"/engines/{engine}/answers", asked)
        taken = time.perf_counter() - began
        if status != 200 or _PENDING in body:
            return Reply(status, taken)
        await self._completed(str(json.loads(body)["id"]))
        return Reply(status, taken, time.perf_counter() - began)

    async def _completed(self, name: str) -> None:
        """Follow the events of an answer until nothing is pending."""
        status, headers = await self._asked("GET", f"/answers/{name}/events")
        assert status == 200, status
        assert headers.get("transfer-encoding") == "chunked", headers
        seen = b""
        while chunk := await self._chunk():
            seen = chunk
        assert _PENDING in seen, seen[:200]

    async def _send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        status, headers = await self._asked(method, path, body)
        return status, await self.reader.readexactly(int(headers["content-length"]))

    async def _asked(
        self, method: str, path: str, body: bytes | None = None
    ) -> tuple[int, dict[str, str]]:
        """Send a request; once more where the server closed the connection in that moment."""
        self.turn = (self.turn + 1) % len(self.lines)
        if not self.reader.at_eof():
            try:
                self._write(method, path, body)
                return await self._head()
            except (asyncio.IncompleteReadError, ConnectionResetError) as error:
                if getattr(error, "partial", b""):
                    raise
        line = self.lines[self.turn]
        line.writer.close()
        self.lines[self.turn] = await _Line.opened(line.place)
        self._write(method, path, body)
        return await self._head()

    def _write(self, method: str, path: str, body: bytes | None = None) -> None:
        line = self.lines[self.turn]
        host, port = line.place
        head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        head += f"Compass-Workspace: {self.key}\r\n" if self.key else ""
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        line.writer.write(head.encode() + b"\r\n" + (body or b""))

    async def _head(self) -> tuple[int, dict[str, str]]:
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = text.split("\r\n")
        pairs: Any = (line.split(": ", 1) for line in lines if line)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    async def _chunk(self) -> bytes:
        size = int(await self.reader.readline(), 16)
        content = await self.reader.readexactly(size)
        await self.reader.readline()
        return content
