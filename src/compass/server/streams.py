"""Server-sent events: as text, with signs of life, each stream in one of the places for them."""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, NamedTuple

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from compass.server.slots import Slots

_HEARTBEAT = 15.0  # seconds; proxies close streams that are silent for long


class Event(NamedTuple):
    """Something new: what it is called, and its data as JSON in one line."""

    name: str
    data: bytes


Events = AsyncGenerator[Event, None]


class EventStream(StreamingResponse):
    """A stream of events that holds one of the places for streams until it ends."""

    def __init__(
        self, slots: Slots, holder: tuple[str, str], source: Events, seconds: float = 0
    ) -> None:
        super().__init__(_written(source, seconds), media_type="text/event-stream")
        self.slots = slots
        self.holder = holder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self.slots.one(*self.holder):
            await super().__call__(scope, receive, send)


def documented(description: str, *names: str) -> dict[int | str, dict[str, Any]]:
    """What the document of the API says of a stream of such events."""
    kinds: dict[str, Any] = {"const": names[0]} if len(names) == 1 else {"enum": list(names)}
    event = {
        "type": "object",
        "properties": {
            "event": kinds,
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
    }
    content = {"text/event-stream": {"schema": event}}
    return {200: {"description": description, "content": content}}


async def _written(source: Events, seconds: float) -> AsyncIterator[bytes]:
    """The events as text, for so many seconds; 0: to their end."""
    clock = asyncio.get_running_loop().time
    ends = clock() + (seconds or math.inf)
    pending: asyncio.Future[Event] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(source))
            left = max(0.0, ends - clock())
            done, _ = await asyncio.wait([pending], timeout=min(_HEARTBEAT, left))
            if not done and clock() >= ends:
                return
            if not done:
                yield b": still there\n\n"
                continue
            try:
                event = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield b"event: %s\ndata: %s\n\n" % (event.name.encode(), event.data)
    finally:
        # So that it knows at once that nobody listens any more.
        if pending is None:
            await source.aclose()
        else:
            pending.cancel()
