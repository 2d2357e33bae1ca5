"""`--server URL`: what DATA names on a server, and an engine on it."""

import glob
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass import embedded
from compass.cli.sources import check_fitted, dataset, is_saved
from compass.domain.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from compass.cli.study import GivenStudy
    from compass.client import Server
    from compass.client.dataset import RemoteDataset
    from compass.client.engine import RemoteEngine
    from compass.engine.columns import ColumnsView
    from compass.learn.store import Progress


def engine(
    server: "Server",
    source: str,
    study: "GivenStudy",
    progress: "Progress | None",
    *,
    models: dict[str, Any] | None = None,
    name: str | None = None,
    outcomes: list[str] | None = None,
    **options: Any,
) -> "RemoteEngine":
    """An engine of the server, or one that learns there from the data, with these options.

    It learns these outcomes at once, or all: without any, those that questions need.
    """
    from compass.client.engine import RemoteEngine

    named = found(server, source, study, progress)
    if isinstance(named, RemoteEngine):
        check_fitted(study, models, *options.values())
        named.progress = progress
        return named
    given = models or {}
    return named.fit(
        name=name,
        models={outcome: file for outcome, (file, _) in given.items()},
        model_columns={outcome: columns for outcome, (_, columns) in given.items() if columns},
        progress=progress,
        outcomes=outcomes,
        **options,
    )


def columns(server: "Server", source: str, study: "GivenStudy", *, mined: bool) -> "ColumnsView":
    """What the columns of data or of an engine are taken for."""
    from compass.client.engine import RemoteEngine
    from compass.domain.study import Study
    from compass.prepare.study import merge

    named = found(server, source, study, None)
    if not isinstance(named, RemoteEngine):
        return named.columns(mined=mined)
    rules = tuple(rule.text for rule in named.about.rules if rule.source == "study")
    known = merge(named.data.study, Study(rules=rules))
    return named.columns(study=study.over(known), mined=mined)


def found(
    server: "Server", source: str, study: "GivenStudy", progress: "Progress | None"
) -> "RemoteDataset | RemoteEngine":
    """What a person names: a local file, which is sent once, or something on the server."""
    if not source:
        raise BadInput("DATA is empty", hint="name a file, or a dataset or engine of the server")
    if source.startswith("engine:"):
        return server.engine(source.removeprefix("engine:"))
    if _is_local(source):
        if Path(source).is_dir() and is_saved(source):
            return _engine_of_that_name(server, source)
        return _sent(server, source, study, progress)
    with suppress(UnknownName):
        data = server.dataset(source.removeprefix("dataset:"))
        return data.with_study(study.merged(data.study))
    if source == embedded.NAME:
        return _sent(server, source, study, progress)
    if source.startswith("dataset:"):
        public = server.public(source.removeprefix("dataset:"), progress=progress)
        return public.with_study(study.merged())
    try:
        return server.engine(source)
    except UnknownName:
        raise BadInput(
            f"there is no file {source} here, and no dataset or engine of that name on the server",
            hint=f"see what there is: compass engines --server {shlex.quote(server.url)}",
        ) from None


def _engine_of_that_name(server: "Server", source: str) -> "RemoteEngine":
    try:
        return server.engine(source)
    except UnknownName:
        raise BadInput(
            f"{source} is an engine on this machine, which a server does not take",
            hint="name the data that it was fitted on, or start a server with it: "
            f"compass serve {shlex.quote(source)}",
        ) from None


def _is_local(source: str) -> bool:
    """Whether something on this machine is meant."""
    try:
        return Path(source).exists() or bool(glob.glob(source, recursive=True))
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _sent(
    server: "Server", source: str, study: "GivenStudy", progress: "Progress | None"
) -> "RemoteDataset":
    if Path(source).is_file() and Path(source).suffix.lower()[1:] in server.about.uploads:
        merged = study.merged()
        return server.upload(source, progress=progress).with_study(merged)
    # What only local readers understand is read locally, and goes as a table.
    data = dataset(source, study)
    return server.upload(data.table.arrow, name=source, progress=progress).with_study(data.study)
