"""The error of a conformance suite: which promise is broken, what was seen, how to see it."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PLAIN = "biufSU"  # kinds of numpy types that can be saved without running code to load them


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
    """Holds a plug-in to its promises; `look` is code that shows what is seen."""

    joint: str
    name: str
    look: str = ""

    def at(self, look: str) -> "Witness":
        """The same plug-in, seen by other code."""
        return replace(self, look=look)

    def broken(self, promise: str, seen: object) -> ConformanceError:
        """The error that says that a promise is broken; an exception is told with its class."""
        words = f"{type(seen).__name__}: {seen}" if isinstance(seen, Exception) else str(seen)
        return ConformanceError(self.joint, self.name, promise, words, self.look)

    def expect(self, holds: object, promise: str, seen: object) -> None:
        """Raise unless the promise holds."""
        if not holds:
            raise self.broken(promise, seen)

    def same(self, one: Any, other: Any, promise: str, *, rounding: float = 0.0) -> None:
        """Raise unless two arrays are the same bit for bit, or but for rounding."""
        close = np.shape(one) == np.shape(other) and np.allclose(one, other, rounding, rounding)
        if not (close if rounding else np.array_equal(one, other)):
            raise self.broken(promise, first_difference(one, other))

    @contextmanager
    def calling(self, promise: str) -> Iterator[None]:
        """Whatever the plug-in raises inside is a broken promise."""
        try:
            yield
        except ConformanceError:
            raise
        except Exception as error:
            raise self.broken(promise, error) from error


def witness(joint: str, plugin: Any, name: str | None) -> Witness:
    """The witness of a plug-in, once it has a name and a summary.

    `name` is the name it is registered under, where that is known.
    """
    own = getattr(plugin, "name", None)
    kind = getattr(plugin, "__qualname__", repr(plugin))
    found = Witness(joint, str(name or own or kind))
    found.at(f"{kind}.name").expect(
        isinstance(own, str) and own, "it has a `name`", f"{kind}.name is {own!r}"
    )
    found.at(f"{kind}.name").expect(
        name is None or own == name,
        "its `name` is the one that it is registered under",
        f"{own!r}, registered as {name!r}",
    )
    summarised(found, plugin)
    return found


def summarised(found: Witness, plugin: Any) -> None:
    """`compass plugins` shows the first line of the docstring, so there must be one."""
    kind = getattr(plugin, "__qualname__", repr(plugin))
    found.at(f"{kind}.__doc__").expect(
        (getattr(plugin, "__doc__", None) or "").strip(),
        "its docstring says in one line what it is",
        "there is no docstring",
    )


def first_difference(one: Any, other: Any) -> str:
    """Where two arrays of one shape differ first, in words."""
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    places = np.argwhere((a != b) & ~(np.isnan(a) & np.isnan(b)))
    if not len(places):
        return "no difference"
    place = tuple(int(i) for i in places[0])
    return f"{a[place]!r} and {b[place]!r} at {place}, {len(places)} of {a.size} differ"


def saved_arrays(at: Witness, learnt: Any) -> dict[str, NDArray[np.generic]]:
    """The `arrays()` of what was learnt, after a way through a file that may not hold code."""
    with at.calling("it gives its arrays"):
        arrays = learnt.arrays()
    at.expect(isinstance(arrays, dict), "`arrays()` is a dict", type(arrays).__name__)
    for key, array in arrays.items():
        plain = isinstance(array, np.ndarray) and array.dtype.kind in _PLAIN
        at.expect(
            isinstance(key, str) and key and "|" not in key and plain,
            "`arrays()` maps names without '|' to arrays of plain numbers, yes/no or text",
            f"{key!r}: {getattr(array, 'dtype', type(array).__name__)}",
        )
    file = io.BytesIO()
    named: dict[str, Any] = {f"{place}": array for place, array in enumerate(arrays.values())}
    np.savez(file, **named)
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        return {key: stored[f"{place}"] for place, key in enumerate(arrays)}
