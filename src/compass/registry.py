"""Named plug-ins: built-ins and third parties come in through the same door.

A joint is a place where Compass can be extended. `add(joint, name)` registers a class or function
as a decorator; built-ins are listed here by module path and imported only when somebody asks for
them; packages announce theirs as entry points in the group `compass.<joint>`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeVar

from compass.domain.errors import BadInput, unknown

Plugin = TypeVar("Plugin")


@dataclass(frozen=True)
class Listed:
    """A plug-in as `compass plugins` shows it."""

    joint: str
    name: str
    origin: str
    summary: str


JOINTS: dict[str, str] = {
    "reader": "a file format: path -> table",
    "step": "a preprocessing step: table -> table, with a report",
    "reducer": "a way to choose rows: prepared data -> rows and weights",
    "surrogate": "a model family: X, y -> predictions with spread",
    "generator": "a search: problem -> candidates",
    "rule": "a rule or function written in Python, usable by name in rule texts",
    "exporter": "a form of an answer: answer -> text",
}

# Modules that register the built-ins of a joint when they are imported.
_BUILT_IN: dict[str, tuple[str, ...]] = {
    "reader": ("compass.readers.columnar",),
    "step": ("compass.prepare.clean",),
    "reducer": ("compass.reduce.uniform",),
    "surrogate": ("compass.model.forest",),
    "generator": ("compass.generate.search",),
    "rule": (),
    "exporter": ("compass.engine.export",),
}

_found: dict[str, dict[str, Any]] = {joint: {} for joint in JOINTS}
_origin: dict[tuple[str, str], str] = {}
_loaded: set[str] = set()


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
    if name not in found:
        raise unknown(joint, name, found)
    return found[name]


def everything(joint: str) -> dict[str, Any]:
    """All plug-ins of a joint by name, built-ins and entry points included."""
    if joint not in JOINTS:
        raise unknown("joint", joint, JOINTS)
    if joint not in _loaded:
        _loaded.add(joint)
        for module in _BUILT_IN[joint]:
            import_module(module)
        for entry in entry_points(group=f"compass.{joint}"):
            add(joint, entry.name)(entry.load())
    return _found[joint]


def listing() -> list[Listed]:
    """Every plug-in of every joint."""
    return [
        Listed(joint, name, _origin[joint, name], _summary(plugin))
        for joint in JOINTS
        for name, plugin in sorted(everything(joint).items())
    ]


def _summary(plugin: Any) -> str:
    return (getattr(plugin, "__doc__", None) or "").strip().split("\n")[0]


def _identity(plugin: Any) -> tuple[str, str]:
    # A module that is imported again makes a new object for the same plug-in.
    return (getattr(plugin, "__module__", ""), getattr(plugin, "__qualname__", repr(plugin)))
