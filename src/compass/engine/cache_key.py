"""The name of an entry of the cache: a hash of everything that decides what is learnt.

The bytes of the files, the study without its rules (answers obey rules, models do not), the
options, and the software: Compass, its plug-ins, and the libraries that learn.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compass import files
from compass.domain.study import Study
from compass.engine.saved import FORMAT

# Of a study: they decide about answers, not about models.
RULES = {"rules", "dependencies", "machines"}
_LIBRARIES = (
    *("numpy", "scipy", "pyarrow", "scikit-learn", "lightgbm", "optuna"),
    *("xgboost", "xgboost-cpu", "torch"),  # some of them may be missing
)


def key_of(content: Sequence[str], study: Study, options: Mapping[str, Any]) -> str:
    """The name of what is learnt from data of this content, with this study and these options."""
    said = study.model_dump(mode="json", exclude=RULES)
    given = {name: value for name, value in options.items() if value is not None}
    # Mappings keep their order: the first pattern of a study that matches a label rewrites it.
    everything = json.dumps([FORMAT, _software_here(), list(content), said, given])
    return hashlib.blake2b(everything.encode(), digest_size=16).hexdigest()


def content_of(paths: Sequence[Path], root: Path | None) -> list[str]:
    """What tells files from others: all their bytes, and their names as far as they matter.

    Names tell formats, and below `root` folders may hold values (`year=2024`).
    """
    found = []
    for path in paths:
        name = path.name if root is None else str(path.relative_to(root))
        inner = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        found += [f"{name} {one.relative_to(path)} {files.digest(one)}" for one in inner]
    return found


def software() -> list[str]:
    """Everything installed that decides what is learnt: Compass, its plug-ins, and libraries."""
    known = entry_points()
    plugins = [
        line
        for group in sorted(known.groups)
        if group.startswith("compass.")
        for entry in known.select(group=group)
        for line in _plugin(group, entry)
    ]
    libraries = [f"{name} {_version(name)}" for name in _LIBRARIES]
    package = Path(files.__file__).parent
    return [version("compass-hpc"), *sorted(plugins), *libraries, *_sources(package)]


@cache
def _software_here() -> str:
    return hashlib.blake2b("\n".join(software()).encode(), digest_size=16).hexdigest()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _plugin(group: str, entry: EntryPoint) -> Iterator[str]:
    """What a plug-in is, and the files of its package, which is not imported for this."""
    yield f"{group} {entry.name} {entry.value} {entry.dist.version if entry.dist else ''}"
    try:
        spec = find_spec(entry.module.partition(".")[0])
    except (ImportError, ValueError):
        return  # who asks for the plug-in is told why it cannot be loaded
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _sources(Path(folder))
    if not spec.submodule_search_locations and spec.origin is not None:
        yield from _sources(Path(spec.origin))


def _sources(place: Path) -> list[str]:
    """The program files at a place, by size and time: a checkout changes, its version does not."""
    found = (
        [p for p in place.rglob("*") if p.suffix in (".py", ".so")] if place.is_dir() else [place]
    )
    return sorted(
        f"{path.relative_to(place)} {(stat := path.stat()).st_size} {stat.st_mtime_ns}"
        for path in found
        if path.exists()
    )
