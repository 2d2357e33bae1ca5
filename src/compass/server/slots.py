"""Shares of uploads, streams and new workspaces: one workspace or address may not take all."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from compass.server.problems import Refused, busy, workspace_busy

_SOON = 10  # seconds after which a place may be free


class Slots:
    """How many places there are, and how many of them one workspace and one address may hold."""

    def __init__(self, what: str, most: int, of_workspace: int, of_address: int) -> None:
        self.what = what
        self.most = most
        self.of_workspace = of_workspace
        self.of_address = of_address
        self.now = 0
        self._held: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def one(self, workspace: str, address: str) -> Iterator[None]:
        """Hold one more place; refused when there are too many."""
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
        if held >= self.of_workspace:
            raise workspace_busy(_SOON, held, f"{self.what} of this workspace are already open")
        if self._held["address", address] >= self.of_address:
            raise busy(_SOON, f"this address has too many {self.what} open")
        if self.now >= self.most:
            raise busy(_SOON, f"the server has too many {self.what} open")


class WorkspaceCreators:
    """Which address made which workspaces: one address may not have too many unused ones."""

    def __init__(self, of_address: int, unused: Callable[[str], bool]) -> None:
        self.of_address = of_address
        self.unused = unused
        self._made: dict[str, list[str]] = {}

    def check(self, address: str) -> None:
        """Refuse one more workspace to an address that has many which it does not use."""
        known = self._made.get(address, [])
        if len(known) < self.of_address:
            return
        kept = self._made[address] = [name for name in known if self.unused(name)]
        if len(kept) >= self.of_address:
            raise Refused(
                429,
                "too-many-workspaces",
                f"this address has made {len(kept)} workspaces that are not used",
                hint="use one that you have, or delete some",
                retry_after=3600,
            )

    def note(self, address: str, name: str) -> None:
        """Note who made a workspace."""
        self._made.setdefault(address, []).append(name)
