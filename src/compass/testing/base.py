"""The error of a conformance suite: which promise is broken, what was seen, how to see it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class ConformanceError(AssertionError):
    """A plug-in breaks a promise of its joint; `promise` says which."""

    def __init__(self, joint: str, name: str, promise: str, seen: str, look: str) -> None:
        super().__init__(
            f"the {joint} '{name}' breaks a promise: {promise}\nseen: {seen}\nto see it: {look}"
        )
        self.joint = joint
        self.name = name
        self.promise = promise
        self.seen = seen
        self.look = look


@dataclass(frozen=True)
class Witness:
    """Holds a plug-in to its promises."""

    joint: str
    name: str

    def expect(self, holds: object, promise: str, seen: str, look: str) -> None:
        """Raise unless the promise holds; `look` is code that shows what was seen."""
        if not holds:
            raise ConformanceError(self.joint, self.name, promise, seen, look)

    @contextmanager
    def calling(self, promise: str, look: str) -> Iterator[None]:
        """Whatever the plug-in raises inside is a broken promise."""
        try:
            yield
        except ConformanceError:
            raise
        except Exception as error:
            seen = f"{type(error).__name__}: {error}"
            raise ConformanceError(self.joint, self.name, promise, seen, look) from error


def witness(joint: str, plugin: Any, name: str | None) -> Witness:
    """The witness of a plug-in, once it has a name and a summary.

    `name` is the name it is registered under, where that is known.
    """
    own = getattr(plugin, "name", None)
    kind = getattr(plugin, "__qualname__", repr(plugin))
    found = Witness(joint, str(name or own or kind))
    found.expect(
        isinstance(own, str) and own,
        "it has a `name`",
        f"{kind}.name is {own!r}",
        f"{kind}.name",
    )
    found.expect(
        name is None or own == name,
        "its `name` is the one that it is registered under",
        f"{own!r}, registered as {name!r}",
        f"{kind}.name",
    )
    summarised(found, plugin)
    return found


def summarised(found: Witness, plugin: Any) -> None:
    """`compass plugins` shows the first line of the docstring, so there must be one."""
    kind = getattr(plugin, "__qualname__", repr(plugin))
    found.expect(
        (getattr(plugin, "__doc__", None) or "").strip(),
        "its docstring says in one line what it is",
        "there is no docstring",
        f"{kind}.__doc__",
    )


def first_difference(one: Any, other: Any) -> str:
    """Where two arrays of one shape differ first, in words."""
    import numpy as np

    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    places = np.argwhere((a != b) & ~(np.isnan(a) & np.isnan(b)))
    if not len(places):
        return "no difference"
    place = tuple(int(i) for i in places[0])
    return f"{a[place]!r} and {b[place]!r} at {place}, {len(places)} of {a.size} differ"
