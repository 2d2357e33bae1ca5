"""Where experiments are kept: a file of SQLite, or a database of PostgreSQL."""

import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

SUFFIX = ".experiment"
_URL = re.compile(r"^(postgres|postgresql)(\+\w+)?://", re.IGNORECASE)
_PASSWORD = re.compile(r"(://[^:/@]*):[^@/]*@")


@dataclass(frozen=True)
class Place:
    """A store, and the name of an experiment in it."""

    store: str
    name: str

    @property
    def shown(self) -> str:
        """The store as it may be shown: without a password."""
        return without_password(self.store)


def place_of(place: str | PathLike[str], name: str | None = None) -> Place:
    """The store that a person names, and the experiment in it: of a file, its own name."""
    text = fspath(place)
    if is_database(text):
        return Place(text, name or "experiment")
    return Place(text, name or Path(text).name.removesuffix(SUFFIX) or "experiment")


def is_database(place: str) -> bool:
    """Whether this is the address of a database, not a file."""
    return bool(_URL.match(place))


def is_experiment(place: str) -> bool:
    """Whether a name means an experiment: a database, or a file that ends so."""
    return is_database(place) or place.endswith(SUFFIX)


def without_password(text: str) -> str:
    """A text in which addresses of databases have no passwords."""
    return _PASSWORD.sub(r"\1:***@", text)
