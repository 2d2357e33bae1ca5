"""Named plug-ins: built-ins and third parties come in through the same door.

A joint is a place where Compass can be extended. `add(joint, name)` registers a class or function
as a decorator; built-ins are listed here by module path and imported only when somebody asks for
them; packages announce theirs as entry points in the group `compass.<joint>`.

Joints are open too: `declare(name, joint)` adds one, and a package announces a `Joint` of its own
as an entry point in the group `compass.joint`.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Any, TypeVar

from compass.domain.errors import BadInput, CompassError, EnvironmentProblem, unknown

Plugin = TypeVar("Plugin")
_JOINT, _GROUP = "joint", "compass.joint"  # its entry points are joints, not plug-ins of one


@dataclass(frozen=True)
class Joint:
    """A place where Compass can be extended, and the plug-ins that come with it."""

    description: str  # what a plug-in is, and what it makes of what
    modules: tuple[str, ...] = ()  # they register its built-ins when they are imported
    suite: str | None = None  # its conformance suite, as "module:function"


@dataclass(frozen=True)
class ListedPlugin:
    """A plug-in as `compass plugins` shows it."""

    joint: str
    name: str
    origin: str
    summary: str


# What a plug-in of our own joints is, and the modules of Compass that register built-ins.
_BUILT_IN = {
    "executor": (
        "a place to run work: function, items -> results",
        "execute.threads execute.processes execute.dask execute.mpi execute.slurm",
    ),
    "reader": (
        "a file format: path -> table",
        "readers.columnar readers.catalogue readers.json_runs readers.darshan "
        "readers.profiles.timemory readers.profiles.caliper readers.profiles.tau "
        "readers.profiles.hpctoolkit readers.sacct readers.sacct_json readers.sacct_live "
        "readers.workload",
    ),
    "step": ("a preprocessing step: table -> table, with a report", "prepare.clean"),
    "reducer": (
        "a way to choose rows: prepared data -> rows and weights",
        "reducers.uniform reducers.guided pareto.reduce",
    ),
    "embedding": (
        "a learned representation: X, y -> columns that say more",
        "embed.attention embed.autoencoder",
    ),
    "surrogate": (
        "a model family: X, y -> predictions with spread",
        "model.forest model.boosting model.linear model.neighbours model.svm model.gaussian "
        "model.neural model.tabnet model.files.model",
    ),
    "generator": ("a search: task -> candidates", "generate.search generate.c3g synth.search"),
    "acquisition": (
        "what to measure next: task, suggestions -> runs worth making",
        "acquire.propose",
    ),
    "front_acquisition": (
        "what an experiment with several goals runs next: candidates -> those worth a run",
        "pareto.expected_volume pareto.by_botorch",
    ),
    "synthesizer": (
        "a source of synthetic rows: table -> rows like them, on conditions",
        "synth.cart synth.copula synth.ctgan synth.tvae synth.great",
    ),
    "rule": ("a rule or function written in Python, usable by name in rule texts", ""),
    "runner": (
        "a place where runs of an experiment are made: launches -> jobs",
        "experiment.runners.local experiment.runners.slurm",
    ),
    "exporter": ("a form of an answer: answer -> text", "exporters.forms exporters.front_chart"),
}
_joints = {
    name: Joint(
        description,
        tuple(f"compass.{module}" for module in modules.split()),
        suite=f"compass.testing.{name}:check_{name}",
    )
    for name, (description, modules) in _BUILT_IN.items()
}
_OURS = frozenset(_joints)  # their modules are part of Compass: a broken one is an error

_found: dict[str, dict[str, Any]] = defaultdict(dict)
_origin: dict[tuple[str, str], str] = {}
_loaded: set[str] = set()  # joints whose plug-ins are, or are being, imported
_ready: set[str] = set()  # joints whose plug-ins are all there
_loading = RLock()
# Entry points that could not be loaded: one broken package must not stop the others.
_broken: dict[str, dict[str, EnvironmentProblem]] = defaultdict(dict)


def joints() -> dict[str, Joint]:
    """Every joint by name, those that packages announce included."""
    if _GROUP not in _ready:
        with _loading:
            if _GROUP not in _loaded:
                _loaded.add(_GROUP)
                for entry in entry_points(group=_GROUP):
                    _load(_JOINT, entry, declare)
                _ready.add(_GROUP)
    return dict(_joints)


def declare(name: str, joint: Joint) -> None:
    """Add a joint: plug-ins can then be registered, asked for and listed under its name."""
    if not isinstance(joint, Joint):
        raise BadInput(
            f"the joint '{name}' is not described by a Joint",
            hint='declare("policy", registry.Joint("a scheduler\'s policy: queue -> next job"))',
        )
    if name == _JOINT or _joints.get(name, joint) != joint:
        raise BadInput(f"there is already a joint named '{name}'", hint="choose another name")
    _joints[name] = joint


def find_joint(name: str) -> Joint:
    """The joint of that name; an unknown name offers the nearest one."""
    found = _joints.get(name) or joints().get(name)
    if found is not None:
        return found
    if name in _broken[_JOINT]:
        raise _broken[_JOINT][name]
    raise unknown(_JOINT, name, _joints)


def add(joint: str, name: str) -> Callable[[Plugin], Plugin]:
    """Register the decorated class or function under a name at a joint."""
    find_joint(joint)

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
    raise unknown(joint.replace("_", " "), name, found)


def everything(joint: str) -> dict[str, Any]:
    """All plug-ins of a joint by name, built-ins and entry points included."""
    if joint not in _ready:
        find_joint(joint)
        with _loading:  # another thread waits until all are there
            _load_all(joint)
            _ready.add(joint)
    return _found[joint]


def _load_all(joint: str) -> None:
    if joint in _loaded:  # a plug-in asks for others of its joint while it is loaded
        return
    _loaded.add(joint)
    modules = _joints[joint].modules
    try:
        for module in modules:
            _import(joint, module)
    except BaseException:
        _loaded.discard(joint)  # or the next caller would find the joint empty
        raise
    for entry in entry_points(group=f"compass.{joint}"):
        _load(joint, entry, lambda name, plugin: add(joint, name)(plugin))
    # Order may decide (the last reader to recognise a file gets it), so it must not depend on
    # which module somebody imported first.
    place = {module: n for n, module in enumerate(modules)}
    listed = sorted(_found[joint], key=lambda name: place.get(_origin[joint, name], len(place)))
    _found[joint] = {name: _found[joint][name] for name in listed}


def _import(joint: str, module: str) -> None:
    """Import a module that registers built-ins of a joint."""
    try:
        import_module(module)
    except Exception as error:
        if joint in _OURS:
            raise
        _broken[joint][module] = _problem(joint, module, module.partition(".")[0], error)


def _load(joint: str, entry: EntryPoint, register: Callable[[str, Any], object]) -> None:
    """Register what a package announces, or remember why that cannot be done."""
    package = entry.dist.name if entry.dist is not None else entry.value
    try:
        register(entry.name, entry.load())
    except Exception as error:
        _broken[joint][entry.name] = _problem(joint, entry.name, package, error)


def _problem(joint: str, name: str, package: str, error: Exception) -> EnvironmentProblem:
    reason = f"{type(error).__name__}: {error}"
    why = error.message if isinstance(error, CompassError) else reason
    problem = EnvironmentProblem(
        f"the {joint} '{name}' of the package {package} cannot be loaded: {why}",
        hint=f"repair it (pip install --upgrade {package}) or remove it",
    )
    problem.__cause__ = error
    return problem


def listing() -> list[ListedPlugin]:
    """Every plug-in of every joint, those that cannot be loaded included."""
    listed = []
    for joint in [*joints(), _JOINT]:
        plugins = {} if joint == _JOINT else everything(joint)
        for name, plugin in sorted(plugins.items()):
            summary = (getattr(plugin, "__doc__", None) or "").strip().split("\n")[0]
            listed.append(ListedPlugin(joint, name, _origin[joint, name], summary))
        for name, problem in sorted(_broken[joint].items()):
            listed.append(ListedPlugin(joint, name, "broken", problem.message))
    return listed


def _identity(plugin: Any) -> tuple[str, str]:
    # A module that is imported again makes a new object for the same plug-in.
    return (getattr(plugin, "__module__", ""), getattr(plugin, "__qualname__", repr(plugin)))
