"""`compass engines`: the datasets and engines of a server."""

from typing import TYPE_CHECKING

from compass.cli import flags
from compass.cli.groups import ServerFlags, grouped
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from datetime import datetime


@grouped
def engines(*, remote: ServerFlags, as_json: flags.AsJson = False) -> None:
    """List the datasets and engines of a server, yours and those that it offers to everybody."""
    from compass.cli.tables import print_json, print_notes, print_table

    server = remote.connect()
    if server is None:
        raise BadInput("no server is named", hint="add --server http://HOST:PORT")
    infos = list(server.dataset_briefs())
    fitted = list(server.engine_briefs())
    if as_json:
        brief = {"id", "name", "created", "shared", "rows", "columns", "dataset", "parent"}
        print_json(
            {
                "url": server.url,
                "version": server.version,
                "datasets": [one.model_dump(mode="json", include=brief) for one in infos],
                "engines": [one.model_dump(mode="json", include=brief) for one in fitted],
            }
        )
        return
    print_notes([f"{server.url} runs Compass {server.version}"])
    rows: list[tuple[object, ...]] = [
        ("dataset", one.name, one.id, one.rows, "", _when(one.created), _whose(one.shared))
        for one in infos
    ]
    rows += [
        (
            "engine",
            one.name,
            one.id,
            one.rows,
            ", ".join(one.outcomes),
            _when(one.created),
            _whose(one.shared),
        )
        for one in fitted
    ]
    headers = ("kind", "name", "id", "runs", "outcomes", "made", "whose")
    print_table("" if rows else "The server has nothing for you yet", headers, rows)


def _when(moment: "datetime") -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _whose(shared: bool) -> str:
    return "everybody's" if shared else "yours"
