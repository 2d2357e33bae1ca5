"""`--server URL`: what DATA means on a server, and an engine there in the place of one here."""

import glob
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.cli import options as opt
from compass.domain.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from compass.client import Server
    from compass.client.dataset import RemoteDataset
    from compass.client.engine import RemoteEngine
    from compass.domain.study import Study
    from compass.engine.columns import ColumnsView
    from compass.learn.store import Progress


def engine(
    at: "Server",
    source: str,
    study_file: Path | None,
    flags: "Study",
    progress: "Progress | None",
    *,
    models: dict[str, Any] | None = None,
    name: str | None = None,
    **options: Any,
) -> "RemoteEngine":
    """An engine of the server, or one that learns there from the data, with these options."""
    from compass.client.engine import RemoteEngine

    thing = found(at, source, study_file, flags, progress)
    if isinstance(thing, RemoteEngine):
        opt.check_fitted(study_file, flags, models, *options.values())
        thing.progress = progress
        return thing
    given = models or {}
    return thing.fit(
        name=name,
        models={outcome: file for outcome, (file, _) in given.items()},
        model_columns={outcome: sheet for outcome, (_, sheet) in given.items() if sheet},
        progress=progress,
        **options,
    )


def columns(
    at: "Server", source: str, study_file: Path | None, flags: "Study", *, mined: bool
) -> "ColumnsView":
    """What the columns of data or of an engine are taken for."""
    from compass.client.engine import RemoteEngine
    from compass.domain.study import Study
    from compass.prepare.study import merge
    from compass.prepare.study_file import load_study

    thing = found(at, source, study_file, flags, None)
    if not isinstance(thing, RemoteEngine):
        return thing.columns(mined=mined)
    rules = tuple(rule.text for rule in thing.about.rules if rule.source == "study")
    study = merge(thing.data.study, Study(rules=rules))
    if study_file is not None:
        study = merge(study, load_study(study_file))
    return thing.columns(study=merge(study, flags), mined=mined)


def found(
    at: "Server", source: str, study_file: Path | None, flags: "Study", progress: "Progress | None"
) -> "RemoteDataset | RemoteEngine":
    """What a person names: something here, which is sent once, or something on the server."""
    if not source:
        raise BadInput("DATA is empty", hint="name a file, or a dataset or engine of the server")
    if source.startswith("engine:"):
        return at.engine(source.removeprefix("engine:"))
    if _is_here(source):
        if Path(source).is_dir() and opt.is_saved(source):
            return _engine_of_that_name(at, source)
        return _sent(at, source, study_file, flags, progress)
    with suppress(UnknownName):
        data = at.dataset(source.removeprefix("dataset:"))
        return data.with_study(opt.with_flags(study_file, flags, data.study))
    if source == "embedded":
        return _sent(at, source, study_file, flags, progress)
    if source.startswith("dataset:"):
        public = at.public(source.removeprefix("dataset:"), progress=progress)
        return public.with_study(opt.with_flags(study_file, flags))
    try:
        return at.engine(source)
    except UnknownName:
        raise BadInput(
            f"there is no file {source} here, and no dataset or engine of that name on the server",
            hint=f"see what there is: compass engines --server {shlex.quote(at.url)}",
        ) from None


def _engine_of_that_name(at: "Server", source: str) -> "RemoteEngine":
    try:
        return at.engine(source)
    except UnknownName:
        raise BadInput(
            f"{source} is an engine on this machine, which a server does not take",
            hint="name the data that it was fitted on, or start a server with it: "
            f"compass serve {shlex.quote(source)}",
        ) from None


def _is_here(source: str) -> bool:
    """Whether something on this machine is meant."""
    try:
        return Path(source).exists() or bool(glob.glob(source, recursive=True))
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _sent(
    at: "Server", source: str, study_file: Path | None, flags: "Study", progress: "Progress | None"
) -> "RemoteDataset":
    if Path(source).is_file() and Path(source).suffix.lower()[1:] in at.about.uploads:
        study = opt.with_flags(study_file, flags)
        return at.upload(source, progress=progress).with_study(study)
    # What only readers here understand is read here, and goes as a table.
    data = opt.dataset(source, study_file, flags)
    return at.upload(data.table.arrow, name=source, progress=progress).with_study(data.study)
