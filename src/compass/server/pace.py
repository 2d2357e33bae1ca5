"""How fast a body has to come: one that trickles must not hold a place for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from compass.server.limits import Limits
from compass.server.problems import too_slow

Part = TypeVar("Part")


class Pace:
    """Waits for the parts of a body, as long as each span of waiting brings enough bytes.

    Only the time in which the server waits for the client counts: a slow disk is not its fault.
    """

    def __init__(self, limits: Limits) -> None:
        self.seconds = limits.idle_seconds
        self.least = max(1.0, limits.body_rate * limits.idle_seconds)
        self._waited = 0.0
        self._came = 0

    async def next(self, part: Awaitable[Part], size: Callable[[Part], int]) -> Part:
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
