"""Whether a folder is a saved engine; apart, as telling that needs nothing that learns."""

from pathlib import Path

POINTER = "CURRENT"  # the file that names the generation that is in use


def is_engine(path: Path) -> bool:
    """Whether a path is a saved engine."""
    return (path / POINTER).is_file()
