"""Replies of a server, read into nouns."""

from importlib.metadata import version
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from compass.domain.errors import EnvironmentProblem

Kind = TypeVar("Kind")


def understood(kind: type[Kind], reply: Any) -> Kind:
    """A reply as a noun; fields that another version of the server adds are left out."""
    try:
        found: Kind = TypeAdapter(kind).validate_python(reply, extra="ignore")
    except ValidationError:
        raise EnvironmentProblem(
            "this version of Compass does not understand what the server says",
            hint="install the version of the server (compass engines shows it); "
            f"this is {version('compass-hpc')}",
        ) from None
    return found
