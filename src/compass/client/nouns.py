"""What a server tells about its things.

Fields that another version of the server adds are left alone; those that are needed must be there.
"""

from datetime import datetime
from importlib.metadata import version
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from compass.domain.answer import ModelCard
from compass.domain.errors import EnvironmentProblem
from compass.domain.space import Space
from compass.engine.columns import RuleView
from compass.prepare.study import Study

Kind = TypeVar("Kind")


class Info(BaseModel):
    """A frozen record that leaves fields alone that it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Allowed(Info):
    """The limits of a server that a client can keep to by itself."""

    upload_bytes: int


class About(Info):
    """What a server is."""

    version: str
    limits: Allowed
    uploads: tuple[str, ...]


class Told(Info):
    """What went wrong, as a server tells it."""

    error: str
    hint: str = ""
    code: str
    rules: tuple[str, ...] = ()
    text: str = ""
    column: int = 0
    name: str = ""


class JobInfo(Info):
    """A piece of work and how far it is."""

    id: str
    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    dataset: str | None = None
    engine: str | None = None
    answer: str | None = None
    problem: Told | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more happens."""
        return self.state not in {"waiting", "running"}


class DatasetBrief(Info):
    """Past runs in a list."""

    id: str
    name: str
    created: datetime
    shared: bool = False
    ready: bool = False
    bytes: int = 0
    rows: int = 0
    columns: int = 0
    digest: str = ""
    catalogue: str | None = None


class DatasetInfo(DatasetBrief):
    """Past runs that a server knows."""

    study: Study = Field(default_factory=Study)


class ModelInfo(Info):
    """A model that was brought."""

    id: str
    digest: str = ""
    name: str


class EngineBase(Info):
    """What tells one engine from another."""

    id: str
    name: str
    created: datetime
    shared: bool = False
    dataset: str | None = None
    parent: str | None = None
    rows: int = 0
    bytes: int = 0
    options: dict[str, Any] = Field(default_factory=dict)
    version: str = ""
    sample: str | None = None


class EngineBrief(EngineBase):
    """An engine in a list; its options are told without the rules."""

    outcomes: tuple[str, ...] = ()
    brought: int = 0


class EngineInfo(EngineBase):
    """An engine that a server has."""

    study: Study = Field(default_factory=Study)
    said: Study | None = None
    brought: dict[str, str] = Field(default_factory=dict)
    rules: tuple[RuleView, ...] = ()
    models: tuple[ModelCard, ...] = ()
    notes: tuple[str, ...] = ()
    space: Space


def understood(kind: type[Kind], told: Any) -> Kind:
    """What a server told, as a noun; what cannot be is most likely of another version."""
    try:
        found: Kind = TypeAdapter(kind).validate_python(told)
    except ValidationError:
        raise EnvironmentProblem(
            "this version of Compass does not understand what the server says",
            hint="install the version of the server (compass engines shows it); "
            f"this is {version('compass-hpc')}",
        ) from None
    return found
