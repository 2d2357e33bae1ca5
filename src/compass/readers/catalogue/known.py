"""What the catalogue knows about a public dataset."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from pydantic import Field

from compass.domain.base import Noun, Value
from compass.domain.errors import UnknownName, nearest

SCHEME = "dataset"
_OFFERED = 6  # names, where one is unknown


class Piece(Noun):
    """One file of a dataset, as its authors publish it."""

    path: str = Field(description="in the repository, or the file's name")
    url: str | None = Field(None, description="its address where that is not the repository's")
    sha256: str | None = Field(
        None, description="None: unknown until the first download, then recorded and held to"
    )
    size: int | None = Field(None, ge=0, description="bytes")
    mirror: str | None = Field(None, description="where a mirror directory may also keep it")
    names: tuple[str, ...] | None = Field(None, description="of its columns; its header is wrong")
    constants: dict[str, Value] = Field(
        default_factory=dict, description="columns that only the file's name tells"
    )

    @property
    def name(self) -> str:
        """The file's name without folders."""
        return self.path.rpartition("/")[2]


class PreparedFile(Noun):
    """A table made from the authors' files; it cannot be downloaded, but a mirror may hold it."""

    path: str = Field(description="in the mirror directory")
    sha256: str


class PublicDataset(Noun):
    """A public dataset."""

    name: str
    about: str
    suits: str = ""
    repository: str | None = Field(None, description="owner/name on GitHub")
    commit: str | None = None
    doi: str | None = None
    page: str | None = Field(None, description="where a person reads about it")
    licence: str
    rows: int | None = Field(None, ge=1)
    table: bool = Field(True, description="False: several tables, or files of other kinds")
    size: str | None = Field(None, description="of the whole, where the files do not tell it")
    files: tuple[Piece, ...] = ()
    prepared: PreparedFile | None = None
    reader: str | None = Field(None, description="of the files, where their ending does not tell")
    instructions: str = Field("", description="how to get it where that takes more than a download")
    notes: tuple[str, ...] = Field((), description="traps, and what is not certain")
    study: dict[str, Any] = Field(default_factory=dict, description="as in a study file")

    @property
    def downloads(self) -> bool:
        """Whether `compass datasets get` can fetch it."""
        return bool(self.files) and not self.instructions

    @property
    def bytes(self) -> int | None:
        """The size of its files; None where one is unknown."""
        sizes = [piece.size for piece in self.files]
        known = [size for size in sizes if size is not None]
        return sum(known) if sizes and len(known) == len(sizes) else None

    @property
    def checked(self) -> bool:
        """Whether every file has a checksum that is known before the first download."""
        return bool(self.files) and all(piece.sha256 for piece in self.files)

    @property
    def source(self) -> str:
        """Where it comes from, in one line."""
        if self.repository is not None:
            return f"github.com/{self.repository} at {(self.commit or '')[:12]}"
        return f"doi:{self.doi}" if self.doi else (self.page or "")

    def address(self, piece: Piece) -> str:
        """Where a file is downloaded from."""
        if piece.url is not None:
            return piece.url
        place = f"{self.repository}/{self.commit}/{quote(piece.path)}"
        return f"https://raw.githubusercontent.com/{place}"

    def columns(self, role: str) -> list[str]:
        """The columns that have this role in the study."""
        choices = self.study.get("columns", {})
        return [name for name, choice in choices.items() if choice.get("role") == role]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that its configurations are known to obey."""
        return tuple(self.study.get("rules", ()))


@cache
def catalogue() -> dict[str, PublicDataset]:
    """Every public dataset by name."""
    import yaml  # only where the catalogue is asked for

    text = files(__package__).joinpath("entries.yaml").read_text(encoding="utf-8")
    raw = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return {name: PublicDataset(name=name, **fields) for name, fields in raw.items()}


def entry(name: str) -> PublicDataset:
    """The dataset of that name; an unknown name offers those that are like it."""
    found = catalogue().get(name)
    if found is None:
        raise UnknownName(
            f"no dataset named '{name}' in the catalogue", hint=_offer(alike(name)), name=name
        )
    return found


def alike(name: str) -> list[str]:
    """The nearest name, then those with a word of this one; rare words count for more."""
    known = list(catalogue())
    close = nearest(name, known)
    words = [word for word in re.findall("[a-z0-9]+", name.casefold()) if len(word) > 2]
    shared = dict.fromkeys(known, 0.0)
    for word in words:
        having = [one for one in known if word in one]
        for one in having:
            shared[one] += 1 / len(having)
    found = sorted((one for one in known if shared[one]), key=lambda one: -shared[one])
    return list(dict.fromkeys([*([close] if close else []), *found]))


def _offer(names: list[str]) -> str:
    if not names:
        return "list the names: compass datasets"
    *others, last = names[:_OFFERED]
    offered = f"{', '.join(others)} or {last}" if others else last
    more = " (more: compass datasets)" if len(names) > _OFFERED else ""
    return f"did you mean {offered}?{more}"


def study_for(source: object, names: Iterable[str]) -> dict[str, Any] | None:
    """What the catalogue says about the columns of `dataset:NAME`; None for any other source.

    Columns to leave out that a copy does not have are not mentioned: they are out already.
    """
    if not isinstance(source, str) or not source.startswith(f"{SCHEME}:"):
        return None
    found = catalogue().get(source.removeprefix(f"{SCHEME}:"))
    if found is None:
        return None
    there = set(names)
    study = dict(found.study)
    if "drop" in study:
        study["drop"] = [name for name in study["drop"] if name in there]
    return study
