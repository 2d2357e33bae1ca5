"""A Compass server used from Python like the library itself: `connect(url)`."""

from compass.client.server import Server, connect

__all__ = ["Server", "connect"]
