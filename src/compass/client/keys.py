"""The keys of workspaces that this person has made, in a file that only they can read."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compass import files
from compass.domain.errors import BadInput, EnvironmentProblem

_KEPT = 10  # keys for one address: another server may have listened there before


def place() -> Path:
    """The file in which the keys are."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "compass" / "servers.json"


def known(url: str) -> list[str]:
    """The keys for a server, the one that was used last first."""
    return _read().get(url, [])


def remember(url: str, key: str) -> None:
    """Keep a key; it is the first to be tried from now on. The file must be locked."""
    every = _read()
    every[url] = [key, *(one for one in every.get(url, []) if one != key)][:_KEPT]
    _write(every)


@contextmanager
def locked() -> Iterator[None]:
    """Keep other programs of this person from changing the file."""
    try:
        place().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(place().with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise _cannot(error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _read() -> dict[str, list[str]]:
    try:
        written = json.loads(place().read_text(encoding="utf-8"))
        servers = written["servers"]
        return {url: [str(key) for key in keys] for url, keys in servers.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadInput(
            f"{place()} is damaged",
            hint="mend it, or remove it: then a new workspace is made on each server",
        ) from None
    except OSError as error:
        raise _cannot(error) from None


def _write(every: dict[str, list[str]]) -> None:
    """Replace the file in one step."""
    try:
        files.write_text(place(), json.dumps({"servers": every}, indent=2), files.PRIVATE)
    except OSError as error:
        raise _cannot(error) from None


def _cannot(error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot keep the key of a workspace in {place()}: {error.strerror}",
        hint="name another folder in XDG_CONFIG_HOME, or give the key of a workspace",
    )
