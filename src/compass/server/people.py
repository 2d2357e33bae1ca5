"""People: whom a trusted proxy says a request is from, what they may do, and which work is theirs.

Decision 0066 (docs/decisions).
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from compass.domain.base import Noun
from compass.domain.limits import ServerLimits
from compass.domain.people import NAME, Quota
from compass.server.connections import source_of
from compass.server.problems import Refused, no_workspace, not_allowed, workspace_busy
from compass.server.settings import SOCKET, ServerSettings
from compass.server.store import Store, Workspace

_MOST_GROUPS = 1000  # of one person
_SOON = 5  # seconds after which some work may be done


class Person(Noun):
    """Somebody whom a proxy or an issuer of tokens vouches for."""

    name: str
    groups: tuple[str, ...] = ()
    operator: bool = False

    @property
    def owner(self) -> str:
        """How what is theirs is marked."""
        return owner_of_user(self.name)


# Whose request is being served; jobs that a request starts inherit it.
_PERSON: ContextVar[Person | None] = ContextVar("person", default=None)


def owner_of_user(name: str) -> str:
    """The mark of what belongs to a user."""
    return f"user:{name}"


def owner_of_group(name: str) -> str:
    """The mark of what belongs to a group."""
    return f"group:{name}"


def current() -> Person | None:
    """Whose request is being served, or led to the work that is being done."""
    return _PERSON.get()


@contextmanager
def being(person: Person | None) -> Iterator[None]:
    """Serve a request of this person."""
    token = _PERSON.set(person)
    try:
        yield
    finally:
        _PERSON.reset(token)


def person_of(scope: Scope) -> Person | None:
    """The person whom the request was found to be from."""
    found: Person | None = scope.get("state", {}).get("person")
    return found


def is_trusted(client: Any, proxies: tuple[str, ...]) -> bool:
    """Whether a connection comes from a proxy that may say who somebody is."""
    if not client:
        return SOCKET in proxies
    try:
        address = ipaddress.ip_address(str(client[0]))
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    networks = (ipaddress.ip_network(one, strict=False) for one in proxies if one != SOCKET)
    return any(address in network for network in networks)


def from_proxy(scope: Scope, headers: Headers, settings: ServerSettings) -> Person | None:
    """Whom the header of a proxy names; None: nobody, or no header is configured.

    Anybody but the proxy who sends such a header is refused, not merely unheard: it is either an
    attack or a mistake in the configuration, and both should be seen.
    """
    if settings.user_header is None:
        return None
    names = headers.getlist(settings.user_header)
    groups = [] if settings.groups_header is None else headers.getlist(settings.groups_header)
    if not names and not groups:
        return None
    if not is_trusted(scope.get("client"), settings.proxies):
        raise not_allowed(
            "not-the-proxy",
            "only the proxy of this server says who somebody is",
            "leave the header out; the operator names the proxy with --proxy",
        )
    if len(names) != 1 or len(groups) > 1:
        # A proxy that adds its header to one that came with the request.
        raise Refused(
            400,
            "bad-user",
            "the request does not name exactly one user",
            hint="tell the operator: the proxy has to replace such headers",
        )
    parts = re.split(r"[,;]", groups[0]) if groups else []
    return person(names[0].strip(), [one.strip() for one in parts if one.strip()], settings)


def person(name: str, groups: list[str], settings: ServerSettings) -> Person:
    """A person of this name, if it can be one, in the role that the operator gave them."""
    wrong = [one for one in (name, *groups) if not re.fullmatch(NAME, one)]
    if wrong or len(groups) > _MOST_GROUPS:
        raise Refused(
            400,
            "bad-user",
            "the name of the user or of a group cannot be used",
            hint="names have 1 to 200 letters, digits and signs of ASCII, without blanks",
        )
    return Person(
        name=name,
        groups=tuple(dict.fromkeys(groups)),
        operator=name in settings.operators,
    )


class UserShares:
    """How much work of each user waits or runs, over all their workspaces and all processes."""

    def __init__(self, most: Callable[[str], int]) -> None:
        self.most = most
        self.held: Counter[str] = Counter()

    def check(self) -> None:
        """Refuse more work of whoever is served right now, if they have too much already."""
        someone = current()
        if someone is not None and self.held[someone.name] >= self.most(someone.name):
            raise workspace_busy(
                _SOON, self.held[someone.name], "pieces of your work are already waiting or running"
            )

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one more piece of work of whoever is served right now."""
        someone = current()
        if someone is None:
            yield
            return
        self.held[someone.name] += 1
        try:
            yield
        finally:
            self.held[someone.name] -= 1
            if not self.held[someone.name]:
                del self.held[someone.name]


def holder_of(request: Request) -> str:
    """Who holds a place: a person where they are known, else an address."""
    someone = person_of(request.scope)
    return source_of(request.client) if someone is None else someone.owner


def quota_of(owner: str | None, settings: ServerSettings) -> Quota:
    """What the operator has set for a user or a group; nothing set: as the limits say."""
    return next((one for one in settings.quotas if one.owner == owner), Quota(owner=owner or ""))


MINE, GROUP = "mine", "group:"  # in the place of a key, where a person is known


def workspace_of_key(
    store: Store, key: str, someone: Person | None, how: ServerSettings
) -> Workspace:
    """The workspace that a request names: by a key, or of a person by `mine` or `group:NAME`."""
    if key != MINE and not key.startswith(GROUP):
        return store.open(key)
    if someone is None:
        raise no_workspace(f"`{key}` is of somebody whom the server knows, and it knows nobody")
    owner = someone.owner if key == MINE else key
    if key != MINE and key.removeprefix(GROUP) not in someone.groups:
        raise not_allowed(
            "not-in-group",
            "you are not in this group",
            "GET /api/v1/me tells in which groups you are; who is, is decided where you log in",
        )
    return store.of(owner, limits_of(owner, store.limits, how))


def limits_of(owner: str, limits: ServerLimits, settings: ServerSettings) -> ServerLimits:
    """The limits of a user or a group: those of the server, or as their quota says."""
    own = quota_of(owner, settings).model_dump(exclude_none=True, exclude={"owner"})
    return limits.model_copy(update=own) if own else limits
