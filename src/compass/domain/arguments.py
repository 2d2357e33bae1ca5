"""What public functions accept: every argument is checked once, where a call comes in.

    @takes(run=start, parameters=texts("parameters=['gpus']"))
    def curves(self, run, parameters): ...

A kind takes what was given and returns it in the form that the function uses, or raises `Mismatch`
with what is needed. An argument that is left out, or given as its default, is not looked at.
"""

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from compass.domain.base import Noun, scalar, shown
from compass.domain.errors import BadInput, unknown

Given = ParamSpec("Given")
Result = TypeVar("Result")
Kind = Callable[[Any], Any]
_ROW = re.compile("row:([0-9]{1,18})")


class Mismatch(Exception):
    """What was given is not what an argument takes: what it is instead, and what to do."""

    def __init__(self, needed: str, hint: str = "") -> None:
        super().__init__(needed)
        self.needed = needed
        self.hint = hint


def takes(**kinds: Kind) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Checks the named arguments of a function before it is called."""

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        signature = inspect.signature(function)
        for name in kinds:
            if name not in signature.parameters:
                raise TypeError(f"{function.__name__} has no argument {name}")

        @wraps(function)
        def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            bound = signature.bind(*args, **kwargs)
            for name, kind in kinds.items():
                given = bound.arguments.get(name, _ABSENT)
                if given is not _ABSENT and given is not signature.parameters[name].default:
                    bound.arguments[name] = argument(name, kind, given)
            return function(*bound.args, **bound.kwargs)

        return checked

    return decorate


_ABSENT = object()


def argument(name: str, kind: Kind, given: Any) -> Any:
    """One argument as a kind takes it; a value that does not fit is an error with the name."""
    try:
        return kind(given)
    except Mismatch as problem:
        hint = problem.hint or f"it was {shown(given)}"
        raise BadInput(f"{name} {problem.needed}", hint=hint) from None


def texts(example: str = "") -> Kind:
    """Several texts. One text alone is a list of one, not of its letters; None is none of them."""

    def kind(given: Any) -> tuple[str, ...]:
        if given is None:
            return ()
        if isinstance(given, str):
            return (str(given),)
        if isinstance(given, Mapping):
            raise Mismatch("is a list of texts, not names with values", example)
        found = _listed(given, "is a list of texts", example)
        for one in found:
            if not isinstance(one, str):
                raise Mismatch(f"is a list of texts, and {shown(one)} is not a text", example)
        return tuple(str(one) for one in found)

    return kind


def items(needed: str, example: str = "") -> Kind:
    """Several things of any kind, each of which is checked by itself."""

    def kind(given: Any) -> tuple[Any, ...]:
        if isinstance(given, Mapping | str | bytes | Noun):
            raise Mismatch(f"{needed}, not {shown(given)}", example)
        return tuple(_listed(given, needed, example))

    return kind


def _listed(given: Any, needed: str, example: str) -> list[Any]:
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise Mismatch(f"{needed}, not {shown(given)}", example)
    # The order of a set changes from one run of Python to the next, that of an answer must not.
    ordered = sorted(given, key=str) if isinstance(given, set | frozenset) else given
    try:
        return list(ordered)
    except TypeError:  # an array without a dimension says that it can be iterated, but cannot
        raise Mismatch(f"{needed}, not {shown(given)}", example) from None


def paths(given: Any) -> Any:
    """A path, or several."""
    if isinstance(given, str | PathLike):
        return given
    found = items("is a path or a list of paths")(given)
    for one in found:
        if not isinstance(one, str | PathLike):
            raise Mismatch(f"is a path or a list of paths, and {shown(one)} is none")
    return found


def text(given: Any) -> str:
    """One text."""
    if not isinstance(given, str):
        raise Mismatch(f"is a text, not {shown(given)}", f"it was a {type(given).__name__}")
    return str(given)


def named(example: str = "") -> Kind:
    """Names with values; None is none of them."""

    def kind(given: Any) -> dict[str, Any]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise Mismatch(f"is names with values, not {shown(given)}", example)
        for name in given:
            if not isinstance(name, str):
                raise Mismatch(f"has the name {shown(name)}, which is not a text", example)
        return {str(name): scalar(value) for name, value in given.items()}

    return kind


def whole(low: int, high: int) -> Kind:
    """A whole number within bounds."""

    def kind(given: Any) -> int:
        plain = scalar(given)
        if isinstance(plain, bool) or not isinstance(plain, int) or not low <= plain <= high:
            raise Mismatch(f"must be a whole number from {low:,} to {high:,}")
        return plain

    return kind


def number(low: float, high: float, *, above: bool = False) -> Kind:
    """A number within bounds; with `above` it has to be more than the lower one."""

    def kind(given: Any) -> float:
        plain = scalar(given)
        flagged = isinstance(plain, bool) or not isinstance(plain, int | float)
        if flagged or not (low < plain if above else low <= plain) or not plain <= high:
            first = f"above {low:,}" if above else f"of at least {low:,}"
            raise Mismatch(f"must be a number {first} and at most {high:,}")
        return float(plain)

    return kind


def flag(given: Any) -> bool:
    """True or False."""
    plain = scalar(given)
    if not isinstance(plain, bool):
        raise Mismatch("must be True or False")
    return plain


_LONGEST = 4095  # bytes of a path on Linux


def path_name(given: Any) -> Path:
    """The name of a file or folder."""
    if not isinstance(given, str | PathLike) or not str(given):
        raise Mismatch("is a path")
    return Path(_openable(given))


def _openable(given: "str | PathLike[str]") -> "str | PathLike[str]":
    """The same, if the system can open anything of that name."""
    try:
        name = os.fsencode(given)
    except (UnicodeEncodeError, TypeError):
        raise Mismatch("is not a name that a file can have") from None
    if b"\0" in name or len(name) > _LONGEST:
        raise Mismatch("is not a name that a file can have")
    return given


def start(given: Any) -> Any:
    """A run: the number of a past one (also as `row:3`), or a configuration."""
    return named(_RUNS)(given) if isinstance(given, Mapping) else row_number(given)


def row_number(given: Any) -> int:
    """The number of a past run, also as `row:3`."""
    plain = scalar(given)
    row = _ROW.fullmatch(plain) if isinstance(plain, str) else None
    if row is not None:
        return int(row[1])
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise Mismatch(f"is not a run: {shown(plain)}", _RUNS)
    return plain


_RUNS = "give the number of a past run (7 or 'row:7'), or a configuration {'nodes': 4, ...}"


def anything_of(*classes: type) -> Kind:
    """An object of one of these classes."""

    def kind(given: Any) -> Any:
        if not isinstance(given, classes):
            names = " or ".join(one.__name__ for one in classes)
            raise Mismatch(f"is of the class {names}, not {shown(given)}")
        return given

    return kind


def function(given: Any) -> Any:
    """A function."""
    if not callable(given):
        raise Mismatch(f"is a function, not {shown(given)}")
    return given


def either(*kinds: Kind) -> Kind:
    """What the first of these kinds takes that takes it; the last one says what is needed."""

    def kind(given: Any) -> Any:
        for one in kinds[:-1]:
            try:
                return one(given)
            except Mismatch:
                continue
        return kinds[-1](given)

    return kind


def maybe(kind: Kind) -> Kind:
    """None, or what a kind takes, where None is not the default of the argument."""
    return lambda given: None if given is None else kind(given)


def options_of(*names: str, **kinds: Kind) -> Kind:
    """Keywords of a question, for `**options`: of these names only; None is as if not given."""
    known = (*names, *kinds)

    def kind(given: Mapping[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in known:
                raise unknown("option of a question", name, known)
        return {
            name: argument(name, kinds[name], value) if name in kinds else value
            for name, value in given.items()
            if value is not None
        }

    return kind
