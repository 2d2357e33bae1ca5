"""Streams of events: as text, and closed at both ends."""

import asyncio

from compass.server.slots import Slots
from compass.server.streams import Event, Events, EventStream, documented


def test_who_makes_events_knows_when_nobody_listens_any_more() -> None:
    left: list[str] = []

    async def source(name: str, more: bool) -> Events:
        try:
            yield Event("answer", b'{"id":1}')
            if more:
                yield Event("answer", b"{}")
            await asyncio.Event().wait()
        finally:
            left.append(name)

    async def scene() -> None:
        slots = Slots("streams", 9, 9, 9)
        between = EventStream(slots, ("a", "b"), source("between", True)).body_iterator
        assert await anext(between) == b'event: answer\ndata: {"id":1}\n\n'
        await between.aclose()  # type: ignore[attr-defined]
        waiting = EventStream(slots, ("a", "b"), source("waiting", False)).body_iterator
        await anext(waiting)
        listener = asyncio.ensure_future(anext(waiting))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        listener.cancel()
        await asyncio.wait([listener])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert left == ["between", "waiting"]

    asyncio.run(scene())


def test_a_stream_ends_after_its_time_and_can_be_opened_again() -> None:
    async def source() -> Events:
        yield Event("answer", b"{}")
        await asyncio.Event().wait()

    async def scene() -> None:
        slots = Slots("streams", 9, 9, 9)
        for _ in range(2):
            stream = EventStream(slots, ("a", "b"), source(), seconds=0.01)
            assert [part async for part in stream.body_iterator] == [b"event: answer\ndata: {}\n\n"]

    asyncio.run(scene())


def test_a_stream_is_described_by_its_events() -> None:
    described = documented("told", "answer", "problem")[200]
    schema = described["content"]["text/event-stream"]["schema"]
    assert schema["properties"]["event"] == {"enum": ["answer", "problem"]}
