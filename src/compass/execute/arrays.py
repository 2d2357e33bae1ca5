"""Checks arrays from a file before anything, above all a compiled loop, reads them.

Compiled loops do not look where they read. So whoever restores a model describes its arrays once,
by name: the type, the shape in terms of named sizes, and which values there may be. `checked`
compares the arrays with that description; whatever does not fit is refused.

    ARRAYS = {"points": floats("rows", "width"), "weight": floats("rows", above=0)}
    found, sizes = checked(arrays, ARRAYS, "the saved model", {"width": 4})
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import EngineProblem

Extent = int | str  # a number, the name of a size, or a name and how much more: "units+1"
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Stored:
    """What one array must be."""

    dtype: Any  # compared exactly; None: text of any length
    shape: tuple[Extent, ...]
    least: float | None = None
    above: float | None = None
    below: Extent | None = None
    among: tuple[str, ...] = ()  # the only texts; empty: any
    missing: bool = False  # NaN may occur
    infinite: bool = False  # infinity may occur
    ascending: bool = False
    some: bool = False  # there must be at least one element


def floats(*shape: Extent, **more: Any) -> Stored:
    """Numbers; finite unless `missing` or `infinite` is set."""
    return Stored(np.dtype(np.float64), shape, **more)


def whole(*shape: Extent, dtype: Any = np.int64, **more: Any) -> Stored:
    """Whole numbers, such as positions: `least` and `below` say in what."""
    return Stored(np.dtype(dtype), shape, **more)


def flags(*shape: Extent) -> Stored:
    """Yes or no."""
    return Stored(np.dtype(np.bool_), shape)


def texts(*shape: Extent, among: tuple[str, ...]) -> Stored:
    """One of a few texts."""
    return Stored(None, shape, among=among)


def checked(
    arrays: Mapping[str, NDArray[Any]],
    expected: Mapping[str, Stored],
    what: str,
    sizes: Sizes | None = None,
) -> tuple[dict[str, Any], dict[str, int]]:
    """The expected arrays, as compiled loops take them, and all sizes; EngineProblem otherwise.

    A size that is not given is that of the first array that has it, in the order of `expected`;
    all later arrays must agree.
    """
    lacking = [name for name in expected if name not in arrays]
    if lacking:
        raise damaged(what, f"it lacks {', '.join(lacking)}")
    known = dict(sizes or {})
    found: dict[str, Any] = {}
    for name, stored in expected.items():
        wrong = _wrong(arrays[name], stored, known)
        if wrong is not None:
            raise damaged(what, f"its array {name} {wrong}")
        found[name] = np.require(arrays[name], requirements=["C", "A"])
    return found, known


def under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)}


def damaged(what: str, why: str = "") -> EngineProblem:
    """The error for a part of a saved engine that is not as it was saved."""
    text = f"{what} is damaged: {why}" if why else f"{what} is damaged"
    return EngineProblem(text, hint="fit and save the engine again")


def _wrong(array: NDArray[Any], stored: Stored, known: dict[str, int]) -> str | None:
    kind = array.dtype
    if kind.kind != "U" if stored.dtype is None else kind != stored.dtype:
        return f"holds values of another type: {kind}"
    if not _fits(array.shape, stored.shape, known):
        return f"has the shape {array.shape}, which does not fit to the others"
    if stored.some and not array.size:
        return "is empty"
    return _wrong_values(array, stored, known)


def _fits(shape: tuple[int, ...], wanted: tuple[Extent, ...], known: dict[str, int]) -> bool:
    if len(shape) != len(wanted):
        return False
    for size, extent in zip(shape, wanted, strict=True):
        if isinstance(extent, str) and "+" not in extent:
            known.setdefault(extent, size)
        if size != _number(extent, known):
            return False
    return True


def _number(extent: Extent, known: Sizes) -> int:
    if isinstance(extent, int):
        return extent
    name, _, more = extent.partition("+")
    return known[name] + int(more or 0)


def _wrong_values(array: NDArray[Any], stored: Stored, known: Sizes) -> str | None:
    if stored.dtype is None:
        # Compared as arrays: what is no text at all in a damaged file cannot be made a str.
        return None if np.isin(array, stored.among).all() else "holds an unknown text"
    if array.dtype.kind == "f":
        if not stored.missing and np.isnan(array).any():
            return "holds a value that is no number"
        if not stored.infinite and np.isinf(array).any():
            return "holds an infinite number"
    if (
        (stored.least is not None and (array < stored.least).any())
        or (stored.above is not None and (array <= stored.above).any())
        or (stored.below is not None and (array >= _number(stored.below, known)).any())
    ):
        return "holds a number outside of its range"
    if stored.ascending and (array[1:] < array[:-1]).any():
        return "is not in order"
    return None
