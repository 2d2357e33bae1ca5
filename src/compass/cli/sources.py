"""What DATA names: a dataset, a saved engine, or something on a server."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.errors import BadInput, shortened

if TYPE_CHECKING:
    from compass.cli.study import GivenStudy
    from compass.client import Server
    from compass.client.engine import RemoteEngine
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset
    from compass.learn.store import Progress


def dataset(source: str, study: "GivenStudy") -> "Dataset":
    """Past runs of a file, a glob, a folder, a saved engine, or the embedded ones."""
    from compass import embedded
    from compass.domain.constraint import Source
    from compass.domain.study import Study
    from compass.engine.dataset import read
    from compass.engine.store import load
    from compass.prepare.study import merge

    if not source:
        raise BadInput("DATA is empty", hint="name a file, a glob or a folder")
    if is_saved(source):
        engine = load(source)
        rules = tuple(rule.text for rule in engine.rules if rule.source is Source.STUDY)
        return engine.data.with_study(study.over(merge(engine.data.study, Study(rules=rules))))
    if source == "embedded":
        data = read(embedded.path(), study=study.file or embedded.study())
    else:
        data = read(source, study=study.file)
    return data.with_study(merge(data.study, study.flags))


def is_saved(source: str) -> bool:
    """Whether a person means a saved engine; one that is broken is still meant as one."""
    from compass.engine.saved import is_engine

    path = Path(source)
    try:
        return is_engine(path) or (path.suffix == ".compass" and path.is_dir())
    except OSError as error:  # a name that no file system takes
        raise BadInput(
            f"cannot open {shortened(source)}: {error.strerror}", hint="name a file or a folder"
        ) from None


def engine(
    source: str,
    study: "GivenStudy",
    progress: "Progress | None",
    server: "Server | None" = None,
    **models: Any,
) -> "Compass | RemoteEngine":
    """A saved engine, or a new one on the data with this `surrogate` and these `models`.

    With a server the engine is there, and has the same methods.
    """
    if server is not None:
        from compass.cli import remote

        return remote.engine(server, source, study, progress, **models)
    from compass.engine.compass import Compass
    from compass.engine.store import load

    if is_saved(source):
        check_fitted(study, *models.values())
        loaded = load(source)
        loaded.store.progress = progress
        return loaded
    return Compass(dataset(source, study), progress=progress, **models)


def check_fitted(study: "GivenStudy", *models: Any) -> None:
    """Refuse to change what an engine was fitted with."""
    if not study.empty:
        raise BadInput(
            "a saved engine already has its roles, rules and labels",
            hint="use --where for this question, or fit again from the data",
        )
    if any(models):
        raise BadInput("a saved engine already has its models", hint="fit again from the data")


def show_progress(engine: "Compass | RemoteEngine", progress: "Progress") -> None:
    """Let an engine report how far its next work is."""
    from compass.engine.compass import Compass

    if isinstance(engine, Compass):
        engine.store.progress = progress
    else:
        engine.progress = progress
