"""Places that everybody shares, such as those of uploads: nobody may hold all of them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from compass.server.problems import busy, busy_here

_SOON = 10  # seconds after which a place may be free


class Slots:
    """How many places there are, and how many of them one workspace and one address may hold."""

    def __init__(self, what: str, most: int, here: int, of_address: int) -> None:
        self.what = what
        self.most = most
        self.here = here
        self.of_address = of_address
        self.now = 0
        self._held: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def one(self, workspace: str, address: str) -> Iterator[None]:
        """Hold one more, unless there are too many."""
        self._check(workspace, address)
        holders = (("workspace", workspace), ("address", address))
        self.now += 1
        self._held.update(holders)
        try:
            yield
        finally:
            self.now -= 1
            self._held.subtract(holders)
            for one in holders:
                if not self._held[one]:
                    del self._held[one]

    def _check(self, workspace: str, address: str) -> None:
        held = self._held["workspace", workspace]
        if held >= self.here:
            raise busy_here(_SOON, held, f"{self.what} of this workspace are already open")
        if self._held["address", address] >= self.of_address:
            raise busy(_SOON, f"this address has too many {self.what} open")
        if self.now >= self.most:
            raise busy(_SOON, f"the server has too many {self.what} open")
