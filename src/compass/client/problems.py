"""Problems of a server, and of the way to it, as errors of Compass."""

from typing import Any

import httpx

from compass.domain.api import Problem
from compass.domain.errors import (
    CODES,
    BadInput,
    CompassError,
    ConflictingRules,
    EnvironmentProblem,
    QuerySyntax,
    UnknownName,
)

# Causes that lie with the server or the way to it; what is not named here lies with what was given.
_OF_THE_SERVER = (
    "busy",
    "closing",
    "too-many-requests",
    "too-many-workspaces",
    "worker-ended",
    "disk",
    "fault",
)
_START = "is it running? start one with: compass serve"


def error_of(problem: Problem) -> CompassError:
    """The error that the library would have raised, by its code."""
    kind = CODES.get(problem.code)
    about: dict[str, Any] = {"hint": problem.hint}
    if kind is QuerySyntax:
        about |= {"text": problem.text, "column": problem.column}
    elif kind is UnknownName:
        about |= {"text": problem.text, "name": problem.name}
    elif kind is ConflictingRules:
        about |= {"rules": problem.rules}
    if kind is None:
        kind = EnvironmentProblem if problem.code in _OF_THE_SERVER else BadInput
    return kind(problem.error, **about)


def token_problem(given: bool) -> BadInput:
    """A token is missing or wrong."""
    if given:
        return BadInput("the server does not accept this token", hint="ask its operator for it")
    return BadInput(
        "the server needs a token",
        hint="give it with --token or in COMPASS_TOKEN; its operator knows it",
    )


def no_server(url: str, why: str = "") -> EnvironmentProblem:
    """Something answers, but not Compass."""
    return EnvironmentProblem(
        f"{url} is not a Compass server{f': {why}' if why else ''}",
        hint="check the address; compass serve prints it when it starts",
    )


def unreachable(url: str, error: httpx.TransportError) -> EnvironmentProblem:
    """Nothing answers, or not in time."""
    if isinstance(error, httpx.ConnectTimeout):
        return EnvironmentProblem(f"{url} does not answer", hint=_START)
    if isinstance(error, httpx.TimeoutException):
        return EnvironmentProblem(
            f"{url} took too long to answer", hint="it may be busy: try again, or ask for less"
        )
    if isinstance(error, httpx.ConnectError):
        words = str(error)
        if "CERTIFICATE" in words.upper() or "SSL" in words.upper():
            return EnvironmentProblem(
                f"cannot trust the certificate of {url}",
                hint="ask its operator; SSL_CERT_FILE may name a certificate of your site",
            )
        return EnvironmentProblem(f"cannot reach {url}: {_why(words)}", hint=_START)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.RemoteProtocolError):
        return no_server(url, "it does not speak HTTP")
    return EnvironmentProblem(f"the connection to {url} was lost", hint="try again")


def _why(words: str) -> str:
    plain = words.partition("] ")[2] or words
    return plain[:1].lower() + plain[1:]
