"""`compass cache`: the models that were kept of raw tables."""

import sys
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import typer

from compass.cli import flags
from compass.cli.output import print_line

if TYPE_CHECKING:
    from compass.engine.cache import CacheEntry

app = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    help="List the models that were kept of raw tables, or remove them.",
)

_MIB = 1 << 20


@app.callback()
def overview(context: typer.Context, as_json: flags.AsJson = False) -> None:
    """List the models that were kept of raw tables, or remove them."""
    if context.invoked_subcommand is not None:
        return
    from compass.cli.tables import print_json, print_notes, print_table
    from compass.engine.cache import ModelCache

    cache = ModelCache.of_person()
    listed = cache.entries()
    taken = sum(entry.bytes for entry in listed)
    if as_json:
        print_json(
            {
                "path": str(cache.folder),
                "bytes": taken,
                "limit": cache.limit,
                "entries": [_plain(entry) for entry in listed],
            }
        )
        return
    rows = [
        (
            _files(entry.files),
            entry.rows,
            ", ".join(entry.outcomes),
            f"{entry.bytes / _MIB:.1f} MiB",
            f"{_when(entry.used).astimezone():%Y-%m-%d %H:%M}",
        )
        for entry in listed
    ]
    headers = ("data", "runs", "models of", "size", "last used")
    print_table("" if rows else "No models are kept", headers, rows)
    room = f"{taken / _MIB:.1f} of {cache.limit / _MIB:.0f} MiB"
    print_notes([f"{room} in {cache.folder}; compass cache clear removes them"])


@app.command()
def clear(as_json: flags.AsJson = False) -> None:
    """Remove all kept models; they are learnt again when they are needed."""
    from compass.cli.tables import print_json
    from compass.engine.cache import ModelCache

    done = ModelCache.of_person().clear()
    taken = sum(entry.bytes for entry in done.removed)
    if as_json:
        print_json({"removed": len(done.removed), "bytes": taken, "stayed": dict(done.stayed)})
        return
    print_line(f"removed the models of {len(done.removed)} tables, {taken / _MIB:.1f} MiB")
    for why, count in Counter(done.stayed.values()).items():
        print_line(f"note: those of {count} tables stayed: {why}")


@app.command()
def path() -> None:
    """Print the folder in which models are kept."""
    from compass.engine.cache import ModelCache

    sys.stdout.write(f"{ModelCache.of_person().folder}\n")


def _plain(entry: "CacheEntry") -> dict[str, Any]:
    return asdict(entry) | {"used": _when(entry.used).isoformat()}


def _when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _files(names: tuple[str, ...]) -> str:
    if not names:
        return "(unreadable)"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{PurePath(names[0]).name}{more}"
