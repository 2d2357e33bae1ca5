"""What a server finds in its state and does not understand: moved aside, never deleted."""

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from compass.server import logs

FOLDER = "quarantine"


def set_aside(state: Path, path: Path, name: str, why: str) -> None:
    """Move a file or folder to where nothing is used, and nothing is ever removed; say so."""
    folder = state / FOLDER
    folder.mkdir(exist_ok=True, mode=0o700)
    moment = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    target = folder / f"{name}-{moment}-{secrets.token_hex(2)}"
    os.rename(path, target)
    logs.trouble(
        "quarantined",
        moved=str(path.relative_to(state)),
        to=str(target.relative_to(state)),
        problem=why,
        hint="repair it and move it back while the server is stopped, or delete it",
    )


def held(state: Path) -> int:
    """How many things were moved aside and are still there."""
    try:
        return len(os.listdir(state / FOLDER))
    except FileNotFoundError:
        return 0
