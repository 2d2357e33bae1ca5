"""How a server is run."""

import ipaddress
import secrets
from pathlib import Path

from pydantic import Field, SecretStr

from compass.domain.base import Noun
from compass.server.limits import Limits


class ServerSettings(Noun):
    """Everything an operator decides."""

    host: str = "127.0.0.1"
    port: int = Field(8765, ge=0, le=65535, description="0: any that is free")
    state: Path = Field(description="the folder in which everything is kept")
    token: SecretStr | None = Field(None, description="what every request has to carry")
    folders: tuple[Path, ...] = Field((), description="folders whose files may be named by path")
    origins: tuple[str, ...] = Field((), description="other sites whose pages may call the server")
    hosts: tuple[str, ...] = Field((), description="names by which the server is called")
    llm_url: str | None = Field(None, description="an OpenAI-compatible endpoint for the chat")
    llm_model: str | None = None
    limits: Limits = Field(default_factory=Limits)


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach the host."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(24)
