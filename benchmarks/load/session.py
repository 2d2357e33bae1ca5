"""Somebody who asks a server, over one connection: plain HTTP/1.1, so that it costs little.

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


class Session:
    """A workspace of its own, and the connection through which it is used."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.host = host
        self.key = ""

    @staticmethod
    async def begun(host: str, port: int) -> "Session":
        """A session with a server, once that listens."""
        while True:
            try:
                reader, writer = await asyncio.open_connection(host, port, limit=_LONGEST)
                break
            except OSError:
                await asyncio.sleep(0.1)
        session = Session(reader, writer, f"{host}:{port}")
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
        self._write("GET", f"/answers/{name}/events")
        status, headers = await self._head()
        assert status == 200, status
        assert headers.get("transfer-encoding") == "chunked", headers
        seen = b""
        while chunk := await self._chunk():
            seen = chunk
        assert _PENDING in seen, seen[:200]

    async def _send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        self._write(method, path, body)
        status, headers = await self._head()
        return status, await self.reader.readexactly(int(headers["content-length"]))

    def _write(self, method: str, path: str, body: bytes | None = None) -> None:
        head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: {self.host}\r\n"
        head += f"Compass-Workspace: {self.key}\r\n" if self.key else ""
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + (body or b""))

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
