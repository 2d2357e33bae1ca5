"""Named plug-ins: built-ins and third parties come in through the same door.

A joint is a place where Compass can be extended. `add(joint, name)` registers a class or function
as a decorator; built-ins are listed here by module path and imported only when somebody asks for
them; packages announce theirs as entry points in the group `compass.<joint>`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Any, TypeVar

from compass.domain.errors import BadInput, CompassError, EnvironmentProblem, unknown

Plugin = TypeVar("Plugin")


@dataclass(frozen=True)
class Listed:
    """A plug-in as `compass plugins` shows it."""

    joint: str
    name: str
    origin: str
    summary: str


JOINTS: dict[str, str] = {
    "executor": "a place to run work: function, items -> results",
    "reader": "a file format: path -> table",
    "step": "a preprocessing step: table -> table, with a report",
    "reducer": "a way to choose rows: prepared data -> rows and weights",
    "embedding": "a learned representation: X, y -> columns that say more",
    "surrogate": "a model family: X, y -> predictions with spread",
    "generator": "a search: task -> candidates",
    "acquisition": "what to measure next: task, suggestions -> runs worth making",
    "rule": "a rule or function written in Python, usable by name in rule texts",
    "exporter": "a form of an answer: answer -> text",
}

# Modules that register the built-ins of a joint when they are imported.
_BUILT_IN: dict[str, tuple[str, ...]] = {
    "executor": (
        "compass.execute.threads",
        "compass.execute.processes",
        "compass.execute.dask",
        "compass.execute.mpi",
        "compass.execute.slurm",
    ),
    "reader": (
        "compass.readers.columnar",
        "compass.readers.catalogue",
        "compass.readers.json_runs",
        "compass.readers.darshan",
        "compass.readers.profiles.timemory",
        "compass.readers.profiles.caliper",
        "compass.readers.profiles.tau",
        "compass.readers.profiles.hpctoolkit",
        "compass.readers.sacct",
        "compass.readers.sacct_json",
        "compass.readers.sacct_live",
        "compass.readers.workload",
    ),
    "step": ("compass.prepare.clean",),
    "reducer": ("compass.reducers.uniform", "compass.reducers.guided"),
    "embedding": ("compass.embed.attention", "compass.embed.autoencoder"),
    "surrogate": (
        "compass.model.forest",
        "compass.model.boosting",
        "compass.model.linear",
        "compass.model.neighbours",
        "compass.model.svm",
        "compass.model.gaussian",
        "compass.model.neural",
        "compass.model.files.model",
    ),
    "generator": ("compass.generate.search",),
    "acquisition": ("compass.acquire.propose",),
    "rule": (),
    "exporter": ("compass.exporters.forms",),
}

_found: dict[str, dict[str, Any]] = {joint: {} for joint in JOINTS}
_origin: dict[tuple[str, str], str] = {}
_loaded: set[str] = set()  # joints whose plug-ins are, or are being, imported
_ready: set[str] = set()  # joints whose plug-ins are all there
_loading = RLock()
# Entry points that could not be loaded: one broken package must not stop the others.
_broken: dict[str, dict[str, EnvironmentProblem]] = {joint: {} for joint in JOINTS}


def add(joint: str, name: str) -> Callable[[Plugin], Plugin]:
    """Register the decorated class or function under a name at a joint."""
    if joint not in JOINTS:
        raise unknown("joint", joint, JOINTS)

    def register(plugin: Plugin) -> Plugin:
        known = _found[joint].get(name)
        if known is not None and _identity(known) != _identity(plugin):
            raise BadInput(
                f"there is already a {joint} named '{name}' (from {_origin[joint, name]})",
                hint="choose another name, or remove() the old one first",
            )
        _found[joint][name] = plugin
        _origin[joint, name] = str(getattr(plugin, "__module__", "unknown"))
        return plugin

    return register


def remove(joint: str, name: str) -> None:
    """Forget a plug-in."""
    _found[joint].pop(name, None)
    _origin.pop((joint, name), None)


def get(joint: str, name: str) -> Any:
    """The plug-in of that name; an unknown name offers the nearest one."""
    found = everything(joint)
    if name in found:
        return found[name]
    if name in _broken[joint]:
        raise _broken[joint][name]
    raise unknown(joint, name, found)


def everything(joint: str) -> dict[str, Any]:
    """All plug-ins of a joint by name, built-ins and entry points included."""
    if joint not in JOINTS:
        raise unknown("joint", joint, JOINTS)
    if joint not in _ready:
        with _loading:  # another thread waits until all are there
            _load_all(joint)
            _ready.add(joint)
    return _found[joint]


def _load_all(joint: str) -> None:
    if joint in _loaded:  # a plug-in asks for others of its joint while it is loaded
        return
    _loaded.add(joint)
    try:
        for module in _BUILT_IN[joint]:
            import_module(module)
    except BaseException:
        _loaded.discard(joint)  # or the next caller would find the joint empty
        raise
    for entry in entry_points(group=f"compass.{joint}"):
        _load(joint, entry)
    # Order may decide (the last reader to recognise a file gets it), so it must not depend on
    # which module somebody imported first.
    place = {module: n for n, module in enumerate(_BUILT_IN[joint])}
    listed = sorted(_found[joint], key=lambda name: place.get(_origin[joint, name], len(place)))
    _found[joint] = {name: _found[joint][name] for name in listed}


def _load(joint: str, entry: EntryPoint) -> None:
    """Register what a package announces, or remember why that cannot be done."""
    package = entry.dist.name if entry.dist is not None else entry.value
    try:
        add(joint, entry.name)(entry.load())
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        why = error.message if isinstance(error, CompassError) else said
        problem = EnvironmentProblem(
            f"the {joint} '{entry.name}' of the package {package} cannot be loaded: {why}",
            hint=f"repair it (pip install --upgrade {package}) or remove it",
        )
        problem.__cause__ = error
        _broken[joint][entry.name] = problem


def listing() -> list[Listed]:
    """Every plug-in of every joint, those that cannot be loaded included."""
    listed = []
    for joint in JOINTS:
        for name, plugin in sorted(everything(joint).items()):
            listed.append(Listed(joint, name, _origin[joint, name], _summary(plugin)))
        for name, problem in sorted(_broken[joint].items()):
            listed.append(Listed(joint, name, "broken", problem.message))
    return listed


def _summary(plugin: Any) -> str:
    return (getattr(plugin, "__doc__", None) or "").strip().split("\n")[0]


def _identity(plugin: Any) -> tuple[str, str]:
    # A module that is imported again makes a new object for the same plug-in.
    return (getattr(plugin, "__module__", ""), getattr(plugin, "__qualname__", repr(plugin)))
