"""What a Compass server sends and a client reads: the nouns of the HTTP interface."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import Field

from compass.domain.answer import Answer, Label, ModelCard, Pending, Proposal
from compass.domain.base import Config, Noun, Value
from compass.domain.constraint import RuleView as RuleView  # noqa: PLC0414 - offered here too
from compass.domain.experiment import ExperimentRun, ExperimentStatus
from compass.domain.limits import ServerLimits
from compass.domain.mined import Mined
from compass.domain.query import Query
from compass.domain.space import Role, Space
from compass.domain.study import Study
from compass.domain.tell import TellReport

ID = r"^[0-9a-f]{16}$"
Id = Annotated[str, Field(pattern=ID, description="of 16 hexadecimal digits")]
# Shown to people, never part of a path or a header.
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
RowNumber = Annotated[int, Field(ge=0, lt=2**63)]
_LONGEST = 500  # characters of a text in a list
_MOST = 10  # names in an entry of a list


def excerpt(text: str) -> str:
    """A text as a list shows it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(excerpt(text) for text in islice(texts, _MOST))


class Health(Noun):
    """That the server answers."""

    status: Literal["ok"] = "ok"
    version: str


class About(Noun):
    """What this server is and allows."""

    version: str
    limits: ServerLimits
    uploads: tuple[str, ...] = ("csv", "tsv", "parquet")
    paths: bool
    people: bool = Field(False, description="whether it knows people, who need no keys")
    language_model: bool
    caution: float = Field(
        description="scores of trust from here on mean caution, where no study says otherwise"
    )
    unsupported: float = Field(description="likewise, and mean unsupported")


class Problem(Noun):
    """What went wrong and what to do about it."""

    error: str
    hint: str = ""
    code: str = Field(description="a short name of the cause, for programs")
    place: str | None = Field(None, description="the part of the request that is meant")
    rules: tuple[str, ...] = Field((), description="rules that cannot hold together")
    text: str = Field("", description="the text that is wrong, such as the question")
    column: int = Field(0, description="where it is wrong, counted from 0")
    name: str = Field("", description="the name that is not known")

    def brief(self) -> "Problem":
        """The same in a list, where it does not quote all that it is about."""
        cut = {name: excerpt(getattr(self, name)) for name in ("error", "hint", "text")}
        return self.model_copy(update={**cut, "rules": _first(self.rules)})


class State(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing more happens."""
        return self not in {State.WAITING, State.RUNNING}


class Job(Noun):
    """A piece of work that takes its time."""

    id: Id
    kind: str = Field(description="read, fit, learn, ask, complete, tell, ...")
    state: State = State.WAITING
    stage: str = Field("", description="what is being done")
    done: int = Field(0, description="steps of this stage that are done")
    total: int = Field(0, description="steps of this stage; 0: not known")
    created: datetime
    ended: datetime | None = None
    dataset: Id | None = Field(None, description="the dataset that it makes, or learns from")
    engine: Id | None = Field(None, description="the engine that it makes, or learns for")
    outcome: str | None = Field(None, description="the outcome that it learns")
    answer: Id | None = Field(None, description="the answer that it makes or completes")
    synthesizer: Id | None = Field(None, description="the synthesizer that it makes")
    problem: Problem | None = None

    def brief(self) -> "Job":
        """It in a list."""
        problem = None if self.problem is None else self.problem.brief()
        return self.model_copy(update={"problem": problem})


class WorkspaceInfo(Noun):
    """A place that nobody else sees."""

    id: Id
    created: datetime
    owner: str | None = Field(
        None, description="`user:NAME` or `group:NAME` whose it is; None: of whoever has its key"
    )
    bytes: int = Field(0, description="what is kept in it")


class NewWorkspace(Noun):
    """A new workspace and the key to it, which is shown only once."""

    workspace: WorkspaceInfo
    key: str = Field(description="send it as the header Compass-Workspace")


class Kept(Noun):
    """What a workspace keeps under a name."""

    id: Id
    name: Name
    created: datetime


class DatasetBrief(Kept):
    """Past runs in a list."""

    shared: bool = Field(False, description="offered by the operator to everybody")
    ready: bool = Field(False, description="whether it has been read")
    bytes: int = 0
    rows: int = 0
    columns: int = 0
    fingerprint: str = Field("", description="of the content")
    digest: str = Field("", description="SHA-256 of the file that was uploaded")
    path: str | None = Field(None, description="where it is on the server, if it was not uploaded")
    catalogue: str | None = Field(None, description="its name, if it is a public dataset")
    reader: str = Field("", description="what reads it")


class DatasetInfo(DatasetBrief):
    """Past runs that a server knows."""

    study: Study = Field(default_factory=Study)

    def brief(self) -> DatasetBrief:
        """It in a list."""
        same = {name: getattr(self, name) for name in DatasetBrief.model_fields}
        # Where the operator has what is offered to everybody is nobody's business.
        return DatasetBrief(**same | ({"path": None} if self.shared else {}))


class RulesView(Noun):
    """Rules of a dataset."""

    rules: tuple[RuleView, ...]
    dependencies: tuple[Mined, ...] | None = Field(
        None, description="found in the data, not yet confirmed; None: not looked for"
    )


class Page(Noun):
    """Some rows of a dataset."""

    names: tuple[str, ...]
    first: int = Field(description="how many of those found come before the first one")
    total: int
    found: int = Field(description="rows that were looked for: all, unless something was asked")
    numbers: tuple[int, ...] = Field(description="of each row its number, counted from 0")
    rows: tuple[tuple[Value, ...], ...]


class Points(Noun):
    """Some columns of the past runs that an engine learnt from, to be drawn."""

    names: tuple[str, ...]
    total: int = Field(description="runs that the engine uses")
    rows: tuple[int, ...] = Field(description="the row number of each point")
    columns: tuple[tuple[Value, ...], ...] = Field(
        description="the values of each column, one for each point; null: not measured"
    )


class ModelBrief(Kept):
    """A model that a person brought, in a list."""

    bytes: int = 0
    digest: str = Field("", description="SHA-256 of the file that was uploaded")
    format: str = Field("", description="onnx, lightgbm, xgboost, ...")


class ModelInfo(ModelBrief):
    """A model that a person brought."""

    columns: tuple[str, ...] = Field((), description="what it expects, where it says so")

    def brief(self) -> ModelBrief:
        """It in a list."""
        return ModelBrief(**{name: getattr(self, name) for name in ModelBrief.model_fields})


class EngineBase(Kept):
    """What tells one engine from another."""

    shared: bool = False
    dataset: Id | None = Field(None, description="None: it was given as an engine")
    parent: Id | None = Field(None, description="the engine that was told new runs to make this")
    rows: int = 0
    bytes: int = 0
    fingerprint: str = Field("", description="of the data")
    options: dict[str, Any] = Field(default_factory=dict, description="as it was fitted")
    version: str = Field("", description="of the Compass that made it")
    sample: str | None = Field(None, description="how the rows were sampled")


class EngineBrief(EngineBase):
    """An engine in a list; its options without the rules."""

    outcomes: tuple[str, ...] = Field((), description="what it predicts; of many the first ones")
    learnt: int = Field(0, description="how many of its outcomes it has learnt so far")
    rules: int = Field(0, description="how many rules and dependencies its study has")
    dropped: tuple[str, ...] = Field((), description="columns left out; of many the first ones")
    left_out: int = Field(0, description="how many columns were left out")
    brought: int = Field(0, description="how many of its models were uploaded")


class EngineInfo(EngineBase):
    """An engine that can be asked; an outcome is learnt when a question first needs it."""

    study: Study = Field(default_factory=Study)
    given_study: Study | None = Field(
        None, description="the study that was given when it was fitted, without what was inferred"
    )
    brought: dict[str, Id] = Field(
        default_factory=dict, description="models that were uploaded, by outcome"
    )
    rules: tuple[RuleView, ...] = ()
    models: tuple[ModelCard, ...] = Field((), description="of the outcomes learnt so far")
    notes: tuple[str, ...] = ()
    space: Space = Field(description="the columns that can be used")

    @property
    def learnt(self) -> tuple[str, ...]:
        """The outcomes that it has learnt from its knobs and context."""
        features = self.space.having(Role.KNOB, Role.CONTEXT)
        known = {card.target for card in self.models if card.features == features}
        return tuple(name for name in self.space.having(Role.OUTCOME) if name in known)

    @property
    def unlearnt(self) -> tuple[str, ...]:
        """The outcomes that no question has needed yet."""
        learnt = self.learnt
        return tuple(name for name in self.space.having(Role.OUTCOME) if name not in learnt)

    def brief(self) -> EngineBrief:
        """It in a list."""
        study = self.study if self.given_study is None else self.given_study
        same = {name: getattr(self, name) for name in EngineBase.model_fields}
        return EngineBrief(
            **same | {"options": {k: v for k, v in self.options.items() if k != "rules"}},
            outcomes=_first(self.space.having(Role.OUTCOME)),
            learnt=len(self.learnt),
            rules=len(study.rules) + len(study.dependencies),
            dropped=_first(study.drop),
            left_out=len(study.drop),
            brought=len(self.brought),
        )


class AnswerOutcome(Noun):
    """What an answer expects of one outcome."""

    name: str
    value: Value
    unit: str | None = None


class AnswerInfo(Noun):
    """An answer in a list."""

    id: Id
    engine: Id
    created: datetime
    text: str = Field(description="the question as canonical text; in a list its beginning")
    answered: bool
    name: Name | None = Field(None, description="what a person calls it")
    decision: Config = Field(
        default_factory=dict, description="what the first suggestion sets, at most six of it"
    )
    outcomes: tuple[AnswerOutcome, ...] = Field((), description="what it expects of the goals")
    label: Label | None = Field(None, description="how far the first suggestion can be trusted")
    pending: tuple[Pending, ...] = Field((), description="what of it is still to come")
    digest: str = Field("", description="SHA-256 of the answer as it is kept")

    def brief(self) -> "AnswerInfo":
        """It in a list."""
        return self.model_copy(update={"text": excerpt(self.text)})


class AnswerView(Noun):
    """An answer, and where it is kept."""

    id: Id
    engine: Id
    created: datetime
    answer: Answer
    problem: Problem | None = Field(None, description="why what is pending of it will not come")


class QueryView(Noun):
    """A question as Compass understands it, before it is answered."""

    query: Query
    text: str = Field(description="canonical text")
    to_learn: tuple[str, ...] = Field((), description="outcomes that are learnt for it first")


class EvidenceRow(Noun):
    """A past run that supports a suggestion, with all its columns."""

    row: int
    distance: float
    values: Config


class RunNext(Noun):
    """Runs to make, and a table to fill in and give back."""

    run_next: tuple[Proposal, ...]
    units: dict[str, str] = Field(
        default_factory=dict, description="the unit of every column that has a known one"
    )
    csv: str = Field(description="fill in the outcomes, then tell the engine")
    script: str = Field(
        "", description="the runs as Slurm job arrays; empty: there is none to make"
    )


class TellView(Noun):
    """What new runs changed, and the engine that knows them."""

    engine: EngineInfo
    report: TellReport


class SynthesizerInfo(Kept):
    """A synthesizer that has learnt a dataset, and draws rows like it."""

    dataset: Id
    synthesizer: str = Field(description="cart, copula, ctgan, ...")
    rows: int = Field(0, description="rows that were learnt from")
    columns: tuple[str, ...] = Field((), description="what it draws; in a list the first ones")
    rules: tuple[str, ...] = Field((), description="that every row obeys; in a list the first ones")
    seed: int = 0
    settings: dict[str, Any] = Field(default_factory=dict, description="of the synthesizer")
    notes: tuple[str, ...] = ()
    bytes: int = 0
    version: str = Field("", description="of the Compass that made it")

    def brief(self) -> "SynthesizerInfo":
        """It in a list."""
        cut = {name: _first(getattr(self, name)) for name in ("columns", "rules", "notes")}
        return self.model_copy(update=cut)


class CatalogueEntry(Noun):
    """A public dataset."""

    name: str
    about: str
    rows: int | None = None
    bytes: int | None = Field(None, description="how much there is to download, where it is known")
    licence: str
    page: str | None = None
    downloads: bool = Field(description="whether the server can get it by itself")
    instructions: str | None = Field(None, description="how to get it by hand, where it cannot")


class Plugin(Noun):
    """Something that can be chosen by name."""

    joint: str
    name: str
    what: str


class ExperimentInfo(Kept):
    """An experiment that a server keeps."""

    plan: dict[str, Any] = Field(description="as a plan file has it")

    def brief(self) -> "ExperimentInfo":
        """It in a list."""
        return self


class ExperimentView(Noun):
    """An experiment, and how far it is."""

    experiment: ExperimentInfo
    status: ExperimentStatus


class NextExperimentRuns(Noun):
    """The runs to make now."""

    runs: tuple[ExperimentRun, ...]
    stop: str | None = Field(None, description="why there are none")


class ToldRuns(Noun):
    """What became of results that were told."""

    taken: int = Field(description="results that were taken in")
    known: int = Field(description="results that were known already")
    differ: int = Field(description="results of runs that ended otherwise before, and stay so")
    status: ExperimentStatus = Field(
        description="without what the models think of going on: stop, improvement, left"
    )


class AttachedRuns(Noun):
    """Past runs that an experiment learns from now."""

    own: int = Field(description="with the fixed values of the plan")
    others: int = Field(description="of another machine, input size or version")
    left_out: int = Field(description="not allowed by the values or rules of the plan")
