"""`compass backup` and `compass restore`: the state of a server, as one checked archive."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compass.cli import flags

if TYPE_CHECKING:
    from compass.server.backup import Manifest

StateFolder = Annotated[
    Path | None, typer.Option("--state", help="The folder in which the server keeps everything.")
]


def backup(
    archive: Annotated[Path, typer.Argument(help="The file to write, such as compass.tar.gz.")],
    state: StateFolder = None,
    as_json: flags.AsJson = False,
) -> None:
    """Write the state of a server, which may be running, to one archive."""
    from compass.cli.progress import progress
    from compass.cli.serve import default_state
    from compass.server.backup import back_up

    with progress() as tell:
        made = back_up((state or default_state()).absolute(), archive.absolute(), tell)
    _tell(f"{archive} holds", made, as_json)


def restore(
    archive: Annotated[Path, typer.Argument(help="A file that `compass backup` has written.")],
    state: StateFolder = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only read it from end to end, and write nothing.")
    ] = False,
    as_json: flags.AsJson = False,
) -> None:
    """Make the state of a server of a backup, every file of which is checked."""
    from compass.cli.progress import progress
    from compass.cli.serve import default_state
    from compass.server import backup as backups

    place = (state or default_state()).absolute()
    with progress() as tell:
        found = backups.check(archive, tell) if check else backups.restore(archive, place, tell)
    _tell(f"{archive} is whole:" if check else f"{place} now has", found, as_json)


def _tell(before: str, made: "Manifest", as_json: bool) -> None:
    from compass.cli.tables import print_json, print_notes
    from compass.server.sizes import readable_size

    things = {"/".join(name.split("/")[:4]) for name in made.files if name.count("/") > 3}
    if as_json:
        about = {"files": len(made.files), "things": len(things), "bytes": made.bytes}
        print_json({**about, "version": made.version})
        return
    print_notes(
        [f"{before} {len(made.files)} files, {len(things)} things, {readable_size(made.bytes)}"]
    )
