"""Talking to a Compass server as if it were the library: `connect(url)`."""

from compass.client.server import Server, connect

__all__ = ["Server", "connect"]
