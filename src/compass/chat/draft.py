"""The nouns of a conversation: drafts of questions, readings of messages, and replies.

A conversation is data: it can be kept as JSON, continued after a restart and replayed in a test.
`english.read` turns one message into a Reading, `respond` turns a conversation and a message into
the next conversation and a Reply. Neither needs an engine: whoever holds the conversation answers
the query that a reply asks to run, and gives the answer back with `show_answer`.
"""

from enum import StrEnum
from typing import Literal, Protocol

from pydantic import Field

from compass.domain.base import Noun, Value
from compass.domain.findings import Findings
from compass.domain.goal import Goal
from compass.domain.options import Dependencies
from compass.domain.query import Baseline, Edit, Kind, Query
from compass.domain.space import Space

CHARACTERS = 2000  # in one message


class Slot(StrEnum):
    """The part of a question that is asked for next."""

    KIND = "kind"
    GOAL = "goal"
    PARAMETERS = "parameters"  # to find values for
    CHANGE = "change"  # of a what-if
    BASELINE = "baseline"
    COLUMNS = "columns"  # whether these columns are meant
    CONSTRAINTS = "constraints"
    WORDS = "words"  # what these words mean
    CONFIRM = "confirm"  # whether this is the query


class Act(StrEnum):
    """The dialogue act of a message."""

    INFORM = "inform"  # states parts of a question
    YES = "yes"
    NO = "no"  # may state parts too: "no, under 8 nodes"
    WHY = "why"
    MORE = "more"  # further suggestions
    RUN_NEXT = "run next"  # which runs to make next
    UNDO = "undo"
    RESTART = "restart"
    HELP = "help"
    NOTHING = "nothing"  # "no other constraints", "that is all", "leave it out"
    INQUIRE = "inquire"  # about what is known already


class Topic(StrEnum):
    """What somebody wants to know of what is there already."""

    CERTAINTY = "certainty"  # of the last answer, or of the models
    BEST_RUN = "best-run"  # the best run that was measured
    IMPORTANCE = "importance"  # which parameters matter most
    ROW = "row"  # one past run
    COMPARE = "compare"  # two suggestions of the last answer, or two past runs


class How(StrEnum):
    """How words were taken for a column."""

    EXACT = "exact"
    SYNONYM = "synonym"
    FUZZY = "fuzzy"


class Link(Noun):
    """Words of a person and the columns that they were taken for."""

    words: str
    columns: tuple[str, ...] = Field(description="best first; several: the words can mean each")
    how: How


class Inquiry(Noun):
    """A question about what is known already; it needs no search."""

    topic: Topic
    outcome: str | None = Field(None, description="the outcome that it names")
    row: int | None = None
    places: tuple[int, ...] = Field((), description="suggestions (1 is the first, -1 the last)")
    rows: bool = Field(False, description="`places` are past runs, not suggestions")
    where: tuple[str, ...] = Field((), description="the runs that it is about, as rules")
    direction: Literal["minimize", "maximize"] | None = Field(
        None, description="which way of the outcome is best; None: the way that is usual"
    )


class Options(Noun):
    """What a query may say about the search as a whole, as in Query.

    Plain words say the chance and whether past runs may be left; the rest only a formal query.
    """

    seed: int | None = None
    weights: dict[str, float] = Field(default_factory=dict)
    reference: dict[str, float] = Field(default_factory=dict)
    diversity: float | None = None
    loss: dict[str, float] = Field(default_factory=dict)
    prove: float | None = None
    level: float | None = None
    chance: float | None = None
    beyond: bool = False
    dependencies: Dependencies | None = None
    generator: str | None = None


class Draft(Noun):
    """The parts of a question that are known. Names are columns of the table."""

    kind: Kind | None = None
    ask: tuple[str, ...] = Field((), description="parameters to find values for")
    everything: bool = Field(False, description="find values for all knobs that are not kept")
    keep: tuple[str, ...] = Field((), description="parameters that are not to be changed")
    change: dict[str, Edit] = Field(
        default_factory=dict, description="parameters that are given or changed"
    )
    stated: dict[str, Value] = Field(
        default_factory=dict, description="old values that the person named: from 4 to 8"
    )
    goals: dict[str, Goal] = Field(default_factory=dict)
    where: tuple[str, ...] = Field((), description="rules in the query language")
    baseline: Baseline | None = None
    count: int | None = Field(None, ge=1, le=1000, description="how many suggestions")
    options: Options = Field(Options(), description="what is said about the search as a whole")


class Reading(Noun):
    """What one message means on one table."""

    act: Act
    parts: Draft = Field(Draft(), description="the parts of a question that it states")
    dropped: tuple[str, ...] = Field((), description="columns whose goal or rule is taken back")
    within: bool = Field(False, description="it takes back that the search may leave past runs")
    correction: bool = Field(False, description="it replaces what was said before")
    links: tuple[Link, ...] = ()
    unknown: tuple[str, ...] = Field((), description="words that seem to matter and were not used")
    inquiry: Inquiry | None = Field(None, description="what it asks of what is there already")
    misfits: tuple[tuple[str, str], ...] = Field(
        (), description="columns, and words that were said to be their value but are none"
    )
    outcome_without_goal: tuple[str, ...] = Field(
        (), description="outcomes named without saying whether less or more is wanted"
    )
    direction: Literal["minimize", "maximize"] | None = Field(
        None, description="it speaks of less or of more, of whatever outcome"
    )
    adds: bool = Field(False, description="it begins like an addition: and ..., also ...")
    further: bool = Field(False, description="it asks for others than those that are there")
    ordinal: int | None = Field(
        None, description="the place in a list that it names: 0 is the first, -1 the last"
    )
    note: str = Field("", description="something about the reading itself; shown once")
    note_reason: str = Field("", description="why, in a few words; may differ from time to time")


class MessageReader(Protocol):
    """Turns a message about a table into a reading: by rules, or with a language model."""

    def __call__(
        self,
        text: str,
        space: Space,
        *,
        expecting: Slot | None = None,
        before: Draft | None = None,
    ) -> Reading:
        """What a message states; `expecting` is what was asked for, `before` what is known."""


class Turn(Noun):
    """One message."""

    who: str = Field(description="person or compass", pattern="^(person|compass)$")
    text: str
    answer: bool = Field(False, description="it tells an answer, which may be shown beside it")


class NextRuns(Noun):
    """Runs to propose: how many, and for which question."""

    query: Query | None = Field(None, description="None: no question; those that teach most")
    count: int = Field(5, ge=1, le=1000)


class Reply(Noun):
    """What Compass says next."""

    text: str
    expecting: Slot | None = Field(None, description="the part that it asks for")
    trouble: str = Field("", description="why the question cannot be asked, or why it failed")
    choices: tuple[str, ...] = Field((), description="short answers that would be understood")
    links: tuple[Link, ...] = Field((), description="words that were mapped to columns")
    query: Query | None = Field(None, description="the finished query, shown to be confirmed")
    run: Query | None = Field(None, description="the confirmed query: answer it now")
    propose: NextRuns | None = Field(None, description="the runs to propose now")
    inquiry: Inquiry | None = Field(None, description="what to tell now, from the engine")
    findings: Findings | None = Field(None, description="what this tells, as fields")


class Conversation(Noun):
    """Everything that was said and understood."""

    draft: Draft = Draft()
    expecting: Slot | None = None
    before: tuple[Draft, ...] = Field((), description="earlier drafts, for undo; the last is last")
    confirmed: tuple[str, ...] = Field((), description="columns that the person has confirmed")
    asked: tuple[Slot, ...] = Field((), description="what has been asked, so as not to ask twice")
    links: tuple[Link, ...] = Field(
        (), description="words mapped to columns; those not confirmed are asked about when used"
    )
    undirected: tuple[str, ...] = Field(
        (), description="outcomes named without saying whether less or more is wanted"
    )
    unclear: tuple[str, ...] = Field(
        (), description="words of the last message that were not understood and are asked about"
    )
    noted: tuple[str, ...] = Field((), description="notes of readings that were told")
    last: Query | None = Field(None, description="the query that was answered last")
    turns: tuple[Turn, ...] = ()
