"""Tokens of an OpenID Connect issuer: signatures, claims, and the keys of the issuer.

Only signatures with a pair of keys are taken (never `none`, never a shared secret), and only keys
that the issuer itself publishes over HTTPS. Decision 0066 (docs/decisions).
"""

import asyncio
import ipaddress
import json
import time
from typing import Any
from urllib.parse import urlsplit

import httpx

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.server import logs
from compass.server.people import Person, person
from compass.server.problems import Refused
from compass.server.settings import ServerSettings

_ALGORITHMS = [f"{kind}{size}" for kind in ("RS", "PS", "ES") for size in (256, 384, 512)]
_ALGORITHMS += ["EdDSA"]
_LEEWAY = 60  # seconds by which clocks may differ
_KEEP = 3600.0  # seconds for which the keys of an issuer are believed
_AGAIN = 10.0  # seconds before keys are asked for again, whatever people send
_WAIT = 10.0  # seconds for an issuer to answer
_MOST = 1 << 20  # bytes of what it answers
_LONGEST = 16_384  # characters of a token


def is_token(bearer: str) -> bool:
    """Whether this has the form of a token of an issuer: three parts between dots."""
    return bearer.count(".") == 2


class Issuer:
    """Whoever issues the tokens of people, and the keys that it signs with."""

    def __init__(self, settings: ServerSettings) -> None:
        try:
            import joserfc  # noqa: F401 - told now, and not to the first person who logs in
        except ImportError:
            raise EnvironmentProblem(
                "tokens of an issuer need the package joserfc",
                hint="pip install 'compass-hpc[oidc]'",
            ) from None
        assert settings.oidc_issuer is not None
        assert settings.oidc_audience is not None
        self.settings = settings
        self.audience = settings.oidc_audience
        self.url = settings.oidc_issuer
        check_address(self.url)
        self._keys: Any = None
        self._read = self._asked = float("-inf")
        self._asking = asyncio.Lock()

    async def person(self, token: str) -> Person:
        """Whom a token names, if it is the issuer's, for this server, and still good."""
        if len(token) > _LONGEST:
            raise _refused("it is too long")
        claims = await self._claims(token)
        name = claims.get(self.settings.oidc_user)
        if not isinstance(name, str):
            raise _refused(f"it has no claim {self.settings.oidc_user}")
        groups = claims.get(self.settings.oidc_groups, [])
        if not isinstance(groups, list) or not all(isinstance(one, str) for one in groups):
            raise _refused(f"its claim {self.settings.oidc_groups} is no list of names")
        return person(name, groups, self.settings)

    async def _claims(self, token: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError

        try:
            try:
                read = jwt.decode(token, await self._current(), algorithms=_ALGORITHMS)
            except (JoseError, ValueError):
                # Signed with a key that is newer than those that are known, maybe.
                read = jwt.decode(token, await self._current(anew=True), algorithms=_ALGORITHMS)
            rules = jwt.JWTClaimsRegistry(
                leeway=_LEEWAY,
                iss={"essential": True, "value": self.url},
                aud={"essential": True, "value": self.audience},
                exp={"essential": True},
            )
            rules.validate(read.claims)
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise _refused(getattr(error, "error", "") or "it cannot be read") from None
        return dict(read.claims)

    async def _current(self, *, anew: bool = False) -> Any:
        """The keys of the issuer; asked for again where that may help, but not all the time."""
        async with self._asking:
            now = time.monotonic()
            old = now - self._read > _KEEP
            if (self._keys is None or old or anew) and now - self._asked > _AGAIN:
                self._asked = now
                try:
                    self._keys = await self._published()
                    self._read = now
                except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
                    logs.trouble("issuer", error, issuer=self.url)
            # Keys that are too old are believed no longer: one of them may have been withdrawn.
            if self._keys is None or now - self._read > 2 * _KEEP:
                raise Refused(
                    503,
                    "no-issuer",
                    "whoever issues the tokens of this server does not answer",
                    hint="try again soon, or tell the operator",
                    retry_after=int(_AGAIN),
                )
            return self._keys

    async def _published(self) -> Any:
        from joserfc.jwk import KeySet

        async with httpx.AsyncClient(timeout=_WAIT, follow_redirects=False) as client:
            about = await _json(client, f"{self.url.rstrip('/')}/.well-known/openid-configuration")
            if about["issuer"] != self.url:
                raise ValueError("it calls itself something else")
            check_address(about["jwks_uri"])
            return KeySet.import_key_set(await _json(client, about["jwks_uri"]))


async def _json(client: httpx.AsyncClient, url: str) -> Any:
    content = b""
    async with client.stream("GET", url) as reply:
        reply.raise_for_status()
        async for part in reply.aiter_bytes():
            content += part
            if len(content) > _MOST:
                raise ValueError("it answers too much")
    return json.loads(content)


def check_address(url: str) -> None:
    """Refuse what is not HTTPS: who can change it on its way could be anybody here."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and here)):
        raise BadInput(
            f"'{url[:100]}' is no address of an issuer", hint="such as https://login.example.org"
        )


def _refused(why: str) -> Refused:
    return Refused(
        401,
        "bad-login",
        f"the token is not taken: {why}",
        hint="log in again for a new one; it has to be issued for this server",
    )
