"""What Compass brings along: every package that it needs, also through others, and for what."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAME = "compass-hpc"
_OWN = "dev"  # the extra of those who work on Compass
# Where the metadata of a package says nothing: the licence in its repository.
_READ = {"darshan": "BSD-3-Clause"}  # github.com/darshan-hpc/darshan, COPYRIGHT


@dataclass
class Package:
    """A package as it is installed."""

    name: str
    version: str
    licence: str  # as the package says it
    needed_by: list[str] = field(default_factory=list)  # "core", or names of extras


def extras() -> list[str]:
    """The extras that people may install."""
    found = distribution(NAME).metadata.get_all("Provides-Extra") or []
    return sorted(set(found) - {_OWN})


def packages(wanted: Iterable[str] | None = None) -> dict[str, Package]:
    """All packages of the core and of extras by name, those of the core first among reasons.

    Packages of extras that are not installed here are left out.
    """
    found: dict[str, Package] = {}
    for extra in ["", *(extras() if wanted is None else wanted)]:
        _collect(NAME, frozenset({extra}), extra or "core", found, set())
    del found[NAME]
    return dict(sorted(found.items()))


def _collect(
    name: str,
    asked: frozenset[str],
    reason: str,
    found: dict[str, Package],
    seen: set[tuple[str, frozenset[str]]],
) -> None:
    try:
        about = distribution(name)
    except PackageNotFoundError:
        return
    key = canonicalize_name(name)
    if (key, asked) in seen:
        return
    seen.add((key, asked))
    package = found.setdefault(key, Package(about.name, about.version, licence(about)))
    if reason not in package.needed_by and "core" not in package.needed_by:
        package.needed_by.append(reason)
    for text in about.requires or []:
        needed = Requirement(text)
        if needed.marker is None or any(
            needed.marker.evaluate({"extra": extra}) for extra in asked | {""}
        ):
            _collect(needed.name, frozenset(needed.extras), reason, found, seen)


def licence(about: Distribution) -> str:
    """What a package says of its licence: an expression, else classifiers, else its own words."""
    expression = about.metadata.get("License-Expression")
    if expression:
        return str(expression)
    names = [
        one.rpartition(" :: ")[2]
        for one in about.metadata.get_all("Classifier") or []
        if one.startswith("License :: OSI Approved :: ")
    ]
    words = (about.metadata.get("License") or "").strip().partition("\n")[0]
    return ", ".join(names) or words or _from_file(about) or _READ.get(about.name, "")


def _from_file(about: Distribution) -> str:
    """The first line of the file with the licence that comes with a package."""
    for path in about.files or []:
        if path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
            lines = path.read_text(encoding="utf-8").split("\n")
            return next((line.strip() for line in lines if line.strip()), "")
    return ""
