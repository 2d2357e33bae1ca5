"""Which Compass this is: its version, and the commit that it was made from."""

import subprocess
from importlib.metadata import version as installed_version
from pathlib import Path

NOTED = Path(__file__).with_name("COMMIT")  # written into wheels and source archives
_SHORT = 12  # characters of a commit


def version() -> str:
    """The version of the installed package."""
    return installed_version("compass-hpc")


def commit() -> str:
    """The commit that this Compass was made from; with a `+` if files were changed since.

    Empty where nobody can tell: neither built from a checkout nor run in one.
    """
    try:
        return NOTED.read_text(encoding="ascii").strip()
    except OSError:
        return commit_of(Path(__file__).parents[2])


def commit_of(checkout: Path) -> str:
    """The commit of a checkout of Compass, empty if the folder is none."""
    if not (checkout / ".git").exists():  # another project's checkout may be around this folder
        return ""
    found = _git(checkout, "rev-parse", "HEAD")[:_SHORT]
    return found + "+" if found and _git(checkout, "status", "--porcelain") else found


def _git(checkout: Path, *words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  (our own words)
            ["git", "-C", str(checkout), "--no-optional-locks", *words],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
