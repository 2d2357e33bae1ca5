"""Fitted engines on disk: no code is run to load one, and a kill loses nothing.

An engine is a directory. Every save writes a new generation folder beside the old one, then
replaces the small file CURRENT, and only then removes the old generation.
"""

import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import Field

from compass.domain.answer import ModelCard
from compass.domain.arguments import path_name, takes
from compass.domain.base import Noun
from compass.domain.errors import EngineProblem, EnvironmentProblem
from compass.engine.dataset import Dataset
from compass.engine.saved import POINTER, is_engine
from compass.engine.workbench import Trained
from compass.model.base import Task
from compass.model.recipe import Recipe
from compass.prepare.study import Study
from compass.readers.table import Part, Table
from compass.settings import Settings
from compass.trust.interval import Conformal
from compass.trust.spread import Perturbed

if TYPE_CHECKING:
    from compass.engine.compass import Compass

FORMAT = 3
_GENERATION = "generation-"
# Whatever the bytes of a file hold, one of these comes of it when it is not an engine's.
_BROKEN = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
)


class StoredInterval(Noun):
    """The numbers of an interval; its arrays are with those of the model."""

    unseen: float
    usual: float
    log: bool
    units: int


class StoredModel(Noun):
    """One trained outcome; its arrays are in `file`."""

    features: tuple[str, ...]
    target: str
    classes: int | None
    recipe: Recipe
    file: str
    digest: str = Field(description="of the file, so that a damaged one is noticed")
    card: ModelCard
    scale: float
    interval: StoredInterval | None = Field(description="of a prediction; None for classes")
    change: StoredInterval | None = Field(description="of a change; None for classes")


class Manifest(Noun):
    """Everything about a saved engine that is not an array."""

    format: int
    fingerprint: str
    parts: tuple[tuple[str | None, int], ...] = Field(description="files and their rows")
    study: Study
    steps: tuple[str, ...]
    settings: Settings
    rules: tuple[str, ...]
    models: tuple[StoredModel, ...]


def save(engine: "Compass", path: Path) -> Path:
    """Write the engine; the directory shows either the old or the new one, never a mixture."""
    check_place(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with _alone(path):
            generation = path / f"{_GENERATION}{secrets.token_hex(6)}"
            generation.mkdir()
            _write(engine, generation)
            _point(path, generation.name)
            _tidy(path, generation)
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot save to {path}: {error.strerror or error}",
            hint="check the disk and its permissions",
        ) from None
    return path


def check_place(path: Path) -> None:
    """Refuse a place that holds something else; what a killed save left behind is no obstacle."""
    try:
        place = next(known for known in (path, *path.absolute().parents) if known.exists())
        if not place.is_dir():
            why = f"{place} is not a folder"
        elif not os.access(place, os.W_OK):
            why = f"not allowed to write into {place}"
        elif place != path or is_engine(path) or all(_is_ours(p.name) for p in path.iterdir()):
            return
        else:
            why = "the folder holds something else"
    except OSError as error:
        why = str(error.strerror)
    raise EngineProblem(
        f"cannot save to {str(path)[:200]}: {why}", hint="choose another name, e.g. x.compass"
    )


def _is_ours(name: str) -> bool:
    return name.startswith((_GENERATION, f".{POINTER}-"))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One save at a time; the lock goes with the process, so that a kill leaves none behind."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some parallel file systems know no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _tidy(path: Path, current: Path) -> None:
    """Remove the old engine and what killed saves left behind."""
    for item in path.iterdir():
        if item == current or not _is_ours(item.name):
            continue
        if item.is_dir():
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.unlink(missing_ok=True)


@takes(path=path_name)
def load(path: str | Path) -> "Compass":
    """An engine as it was saved; it gives the same answers."""
    from compass.engine.compass import Compass

    path = Path(path)
    if not is_engine(path):
        raise EngineProblem(f"{path} is not a saved engine", hint="make one: compass fit DATA -o X")
    generation = path / _current(path)
    try:
        written = (generation / "engine.json").read_bytes()
        _check_format(path, written)
        manifest = Manifest.model_validate_json(written)
        # Not read_table, which imports pandas: a third of a second for every new process.
        with (generation / "data.parquet").open("rb") as content, pq.ParquetFile(content) as file:
            table = file.read()
    except _BROKEN as error:
        raise _damaged(path, error) from None
    parts = [Part(file, rows) for file, rows in manifest.parts]
    data = Dataset(Table.of(table, parts), manifest.study, manifest.steps)
    whole = sum(part.rows for part in parts) == data.table.rows
    if not whole or data.table.fingerprint != manifest.fingerprint:
        raise EngineProblem(
            f"the data inside {path} is not what was saved", hint="fit it again from the data"
        )
    engine = Compass(data, rules=manifest.rules, settings=manifest.settings)
    for stored in manifest.models:
        try:
            trained = _restore(stored, generation)
        except _BROKEN as error:
            raise _damaged(path, error) from None
        engine.bench.trained[stored.features, stored.target] = trained
    return engine


def _damaged(path: Path, error: Exception) -> EngineProblem:
    system = error.strerror if isinstance(error, OSError) else None
    why = system or "its files are not as they were saved"
    return EngineProblem(f"{path} is damaged: {why}", hint="fit it again from the data")


def _check_format(path: Path, written: bytes) -> None:
    """Engines of other versions are told apart before anything else in them is looked at."""
    found = json.loads(written)["format"]
    if found != FORMAT:
        raise EngineProblem(
            f"{path} was saved in format {str(found)[:20]}; this version reads {FORMAT}",
            hint="fit it again from the data",
        )


def _current(path: Path) -> str:
    try:
        name = (path / POINTER).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    if not re.fullmatch(rf"{_GENERATION}\w+", name):
        raise EngineProblem(
            f"{path} is damaged: it points to {name[:80]!r}", hint="fit it again from the data"
        )
    return name


def _write(engine: "Compass", folder: Path) -> None:
    models = []
    for number, ((features, target), trained) in enumerate(engine.bench.trained.items()):
        file = f"model-{number}.npz"
        _write_arrays(folder / file, _arrays(trained))
        models.append(
            StoredModel(
                features=features,
                target=target,
                classes=trained.model.task.classes,
                recipe=trained.recipe,
                file=file,
                digest=_digest((folder / file).read_bytes()),
                card=trained.card,
                scale=trained.scale,
                interval=_numbers(trained.interval),
                change=_numbers(trained.change),
            )
        )
    table = engine.data.table
    manifest = Manifest(
        format=FORMAT,
        fingerprint=table.fingerprint,
        parts=tuple((part.file, part.rows) for part in table.parts),
        study=engine.data.study,
        steps=engine.data.steps,
        settings=engine.settings,
        rules=tuple(rule.text for rule in engine.rules),
        models=tuple(models),
    )
    with (folder / "data.parquet").open("wb") as data:  # Arrow takes the path `a:b` for an address
        pq.write_table(table.arrow, data, compression="zstd")
    (folder / "engine.json").write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    for item in [*folder.iterdir(), folder]:
        _sync(item)


def _arrays(trained: Trained) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    found |= {
        f"model/{name}": array for name, array in trained.recipe.arrays(trained.model).items()
    }
    found |= {f"perturbed/{name}": array for name, array in trained.perturbed.arrays().items()}
    for kind, interval in (("interval", trained.interval), ("change", trained.change)):
        if interval is not None:
            found[f"{kind}/residuals"] = interval.residuals
            found[f"{kind}/weights"] = interval.weights
    return found


def _numbers(interval: Conformal | None) -> StoredInterval | None:
    if interval is None:
        return None
    return StoredInterval(
        unseen=interval.unseen, usual=interval.usual, log=interval.log, units=interval.units
    )


def _interval(
    stored: StoredInterval | None, arrays: Mapping[str, NDArray[Any]], kind: str
) -> Conformal | None:
    if stored is None:
        return None
    residuals, weights = arrays[f"{kind}/residuals"], arrays[f"{kind}/weights"]
    if residuals.ndim != 1 or residuals.shape != weights.shape:
        raise ValueError(kind)
    return Conformal(residuals, weights, **dict(stored))


def _restore(stored: StoredModel, folder: Path) -> Trained:
    if not re.fullmatch(r"model-\d+\.npz", stored.file):
        raise ValueError(stored.file)
    arrays = _read_arrays(folder / stored.file, stored.digest)
    task = Task(stored.classes)
    return Trained(
        model=stored.recipe.restore(_under(arrays, "model/"), task),
        recipe=stored.recipe,
        perturbed=Perturbed.restore(_under(arrays, "perturbed/")),
        interval=_interval(stored.interval, arrays, "interval"),
        change=_interval(stored.change, arrays, "change"),
        card=stored.card,
        scale=stored.scale,
    )


def _under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    named: dict[str, Any] = {name.replace("/", "|"): array for name, array in arrays.items()}
    np.savez_compressed(path, **named)


def _read_arrays(path: Path, digest: str) -> dict[str, NDArray[Any]]:
    content = path.read_bytes()
    if _digest(content) != digest:
        raise ValueError(path.name)
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name.replace("|", "/"): file[name] for name in file.files}


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _point(path: Path, name: str) -> None:
    fresh = path / f".{POINTER}-{secrets.token_hex(6)}"
    fresh.write_text(name + "\n", encoding="utf-8")
    _sync(fresh)
    os.replace(fresh, path / POINTER)
    _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
