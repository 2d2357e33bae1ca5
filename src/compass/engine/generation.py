"""One generation of a saved engine, written: its models, views and data, and what lists them.

What an earlier generation of the same engine has learnt can be kept in it: outcomes are learnt one
by one, by several processes at once.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from compass import files
from compass.domain.base import Noun
from compass.domain.errors import EngineProblem, StudyProblem
from compass.domain.study import Study
from compass.engine.cache_key import RULES
from compass.engine.saved import FORMAT, check_format, generation_of
from compass.evidence.assessor import Assessor
from compass.learn.features import FeatureView
from compass.learn.saved_model import StoredModel, arrays_of, stored
from compass.learn.saved_view import StoredView, stored_view, view_arrays
from compass.learn.store import ModelStore
from compass.model.files.archive import write_arrays
from compass.settings import Settings

if TYPE_CHECKING:
    from compass.engine.compass import Compass

MANIFEST, DATA = "engine.json", "data.parquet"


class Manifest(Noun):
    """Everything about a saved engine that is not an array."""

    format: int
    fingerprint: str
    parts: tuple[tuple[str | None, NonNegativeInt], ...] = Field(description="files and their rows")
    study: Study
    steps: tuple[str, ...]
    settings: Settings
    rules: tuple[str, ...]
    models: tuple[StoredModel, ...]
    views: tuple[StoredView, ...]


@dataclass(frozen=True)
class Generation:
    """A generation on disk."""

    folder: Path
    manifest: Manifest


def current(path: Path) -> Generation:
    """The generation of a saved engine that is in use."""
    folder = generation_of(path)
    written = (folder / MANIFEST).read_bytes()
    check_format(path, written)
    return Generation(folder, Manifest.model_validate_json(written))


def same_models(engine: "Compass", path: Path) -> Generation | None:
    """What is saved there, where its models are those that this engine would learn; else None.

    Rules and the names of files decide about answers, not about models.
    """
    try:
        known = current(path)
    except (OSError, ValueError, LookupError, TypeError, EngineProblem):
        return None
    was, now = known.manifest, engine.data
    same = (
        was.fingerprint == now.table.fingerprint
        and [rows for _, rows in was.parts] == [part.rows for part in now.table.parts]
        and was.steps == now.steps
        and was.settings == engine.settings
        and _about_models(was.study) == _about_models(now.study)
        and all((known.folder / file).is_file() for file in _files(was))
    )
    return known if same else None


def _about_models(study: Study) -> dict[str, Any]:
    return study.model_dump(exclude=RULES)


def _files(manifest: Manifest) -> list[str]:
    listed = [kept.file for kept in manifest.models] + [view.file for view in manifest.views]
    return [DATA, *listed]


def write(engine: "Compass", folder: Path, known: Generation | None) -> None:
    """Fill the folder of a generation; what is `known` from an earlier one stays as it is there."""
    table = engine.data.table
    manifest = Manifest(
        format=FORMAT,
        fingerprint=table.fingerprint,
        parts=tuple((part.file, part.rows) for part in table.parts),
        study=engine.data.study,
        steps=engine.data.steps,
        settings=engine.settings,
        rules=tuple(rule.text for rule in engine.rules),
        models=_models(engine.store, folder, known),
        views=_views(engine.store, folder, known),
    )
    if known is None:
        with (folder / DATA).open("wb") as data:  # Arrow takes the path `a:b` for an address
            pq.write_table(table.arrow, data, compression="zstd")
    else:
        _link(known.folder / DATA, folder / DATA)
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    files.sync_tree(folder)


def _models(store: ModelStore, folder: Path, known: Generation | None) -> tuple[StoredModel, ...]:
    before = () if known is None else known.manifest.models
    models: list[StoredModel] = []
    for kept in before:
        assert known is not None
        file = f"model-{len(models)}.npz"
        _link(known.folder / kept.file, folder / file)
        models.append(kept.model_copy(update={"file": file}))
    there = {(kept.features, kept.target) for kept in before}
    for features, target in store.trained:
        if (features, target) in there:
            continue
        file = f"model-{len(models)}.npz"
        trained, checks = store.trained[features, target], store.learnt(features, target).checks()
        digest = _write_arrays(folder / file, arrays_of(trained, checks))
        models.append(stored(trained, checks, features, target, file, digest))
    return tuple(models)


def _views(store: ModelStore, folder: Path, known: Generation | None) -> tuple[StoredView, ...]:
    """The views of this engine, and those that others had."""
    own = dict.fromkeys((*(features for features, _ in store.trained), *store.views))
    views: list[StoredView] = []
    for features in own:
        file, view = f"view-{len(views)}.npz", store.view_of(features)
        comparable = _comparable(store, view)
        digest = _write_arrays(folder / file, view_arrays(view, comparable))
        views.append(stored_view(view, comparable, file, digest))
    for kept in () if known is None else known.manifest.views:
        if kept.features not in own:
            assert known is not None
            file = f"view-{len(views)}.npz"
            _link(known.folder / kept.file, folder / file)
            views.append(kept.model_copy(update={"file": file}))
    return tuple(views)


def _link(old: Path, new: Path) -> None:
    """The same file under another name: it takes no room, and who has mapped it goes on."""
    try:
        os.link(old, new)
    except OSError:  # a file system without links
        shutil.copyfile(old, new)


def _comparable(store: ModelStore, view: FeatureView) -> tuple[str, ...] | None:
    """What is the same in comparable runs; None: what a person states is not among the features."""
    trained = {name: model for (names, name), model in store.trained.items() if names == view.names}
    try:
        return Assessor(store, view, trained).matched.known.columns
    except StudyProblem:
        return None


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write arrays to a file; its digest."""
    write_arrays(path, {name.replace("/", "|"): array for name, array in arrays.items()})
    return files.digest(path)
