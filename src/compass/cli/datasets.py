"""`compass datasets`: public datasets by name, what they are, and how to get them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compass.cli import flags

if TYPE_CHECKING:
    from compass.readers.catalogue import Obtained, PublicDataset

app = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    help="List public datasets, say what is known about one, or get one.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As listed.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="Where to put it instead of the cache."),
]


@app.callback()
def overview(context: typer.Context, as_json: flags.AsJson = False) -> None:
    """List public datasets, say what is known about one, or get one."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    from compass.cli.render import printable
    from compass.cli.tables import print_json
    from compass.readers.catalogue import catalogue

    known = catalogue().values()
    if as_json:
        print_json([_plain(entry) for entry in known])
        return
    console = Console(soft_wrap=True)
    for one in known:
        console.print(printable(one.name, "bold"))
        console.print(printable(f"    {one.about}"))
        runs = "" if one.rows is None else f"{one.rows:,} runs"
        by_hand = "" if one.downloads else "got by hand"
        facts = (runs, size(one), f"licence: {one.licence}", by_hand)
        console.print(printable(f"    {'; '.join(fact for fact in facts if fact)}"))
    console.print(printable(f"{len(known)} datasets. compass datasets show NAME says more,"))
    console.print(printable("compass columns dataset:NAME reads one."))


@app.command()
def show(name: Name, as_json: flags.AsJson = False) -> None:
    """Say where a dataset comes from, what its columns are, and what to look out for."""
    from rich.console import Console

    from compass.cli.render import printable
    from compass.cli.tables import print_json
    from compass.readers.catalogue import entry

    known = entry(name)
    if as_json:
        print_json(_plain(known))
        return
    console = Console(soft_wrap=True)
    console.print(printable(f"{known.name}: {known.about}", "bold"))
    for word, said in _facts(known):
        if said:
            console.print(printable(f"{word + ':':<10} {said}"))
    for rule in known.rules:
        console.print(printable(f"{'rule:':<10} {rule}"))
    for note in known.notes:
        console.print(printable(f"{'note:':<10} {note}"))
    for piece in known.files:
        console.print(printable(f"{'file:':<10} {known.address(piece)}"))
        console.print(printable(f"{'':<10} SHA-256 {piece.sha256 or _UNKNOWN}"))
    if known.instructions:
        console.print(printable(f"{'get it:':<10} {known.instructions}"))
    else:
        console.print(printable(f"{'get it:':<10} compass datasets get {known.name}"))


_UNKNOWN = "unknown until the first download, then recorded and held to"


@app.command()
def get(name: Name, output: Folder = None, as_json: flags.AsJson = False) -> None:
    """Download a dataset, check it, and say where it is."""
    from compass.cli.progress import progress
    from compass.readers.catalogue import entry, obtain

    known = entry(name)
    with progress(quiet=as_json) as tell:
        found = obtain(known, output, tell)
    _told(known, found, output, as_json=as_json)


def _told(known: "PublicDataset", found: "Obtained", output: Path | None, *, as_json: bool) -> None:
    from compass.cli.tables import print_json

    if as_json:
        print_json(
            {
                "name": known.name,
                "files": [str(path) for path in found.paths],
                "prepared": found.prepared,
                "recorded": list(found.recorded),
                "next": _next(known, output),
            }
        )
        return
    for path in found.paths:
        sys.stdout.write(f"{path}\n")
    if found.recorded:
        names = ", ".join(found.recorded)
        sys.stderr.write(f"note: nobody vouches for {names}: the checksum of today is recorded\n")
    sys.stderr.write(f"next: {_next(known, output)}\n")


def _next(known: "PublicDataset", output: Path | None) -> str:
    """The command to go on with."""
    import shlex

    mirror = "" if output is None else f"COMPASS_DATA={shlex.quote(str(output))} "
    if not known.table:
        return "compass read FILE -o table.parquet"
    return f"{mirror}compass columns dataset:{known.name}"


def _facts(known: "PublicDataset") -> list[tuple[str, str | None]]:
    return [
        ("suits", known.suits),
        ("source", known.source),
        ("page", known.page),
        ("doi", known.doi),
        ("licence", known.licence),
        ("runs", None if known.rows is None else f"{known.rows:,}"),
        ("size", size(known)),
        ("knobs", ", ".join(known.columns("knob"))),
        ("context", ", ".join(known.columns("context"))),
        ("outcomes", ", ".join(known.columns("outcome"))),
        ("left out", ", ".join(known.study.get("drop", ()))),
    ]


def size(known: "PublicDataset") -> str:
    """How much there is to download, as far as it is known."""
    count = known.bytes
    if count is None:
        return known.size or ""
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"


def _plain(known: "PublicDataset") -> dict[str, Any]:
    said: dict[str, Any] = known.model_dump(mode="json")
    said["files"] = [
        {**piece.model_dump(mode="json"), "address": known.address(piece)} for piece in known.files
    ]
    return said | {"downloads": known.downloads, "source": known.source}
