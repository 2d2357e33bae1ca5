"""What a clause of a message states: facts about columns, before anything is made of them."""

from dataclasses import dataclass

from compass.chat.draft import Link
from compass.chat.english.words import TextQuantity
from compass.domain.base import Value
from compass.domain.expression import Expression
from compass.domain.goal import Goal
from compass.domain.query import Edit


@dataclass(frozen=True, slots=True)
class Limit:
    """A column is bounded on one side, in its own unit."""

    name: str
    op: str
    value: float


@dataclass(frozen=True, slots=True)
class Equal:
    """A column has one of these values, or none of them; `cue`: how that was said."""

    name: str
    values: tuple[Value, ...]
    cue: str = ""  # set, with, only, now, fine
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """A parameter changes; the old value where it was named."""

    name: str
    edit: Edit
    old: Value = None
    spread: bool = False  # it may be a range as well: nodes 4 to 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an outcome should become."""

    name: str
    goal: Goal
    weak: bool = False  # in a question it may only be asked about: does it get better?


@dataclass(frozen=True, slots=True)
class Ask:
    """Parameters to find values for."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Parameters that stay as they are."""

    names: tuple[str, ...]
    spared: bool = False  # not the queue: in a correction, what was not meant


@dataclass(frozen=True, slots=True)
class Watch:
    """Outcomes that are asked about."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """Columns that are only named: what about them is for the rest of the message to tell."""

    names: tuple[str, ...]
    praised: bool = False


@dataclass(frozen=True, slots=True)
class About:
    """An outcome that is spoken of, so that what is said without a noun may be about it."""

    name: str


@dataclass(frozen=True, slots=True)
class Drop:
    """What was said about these columns is taken back."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """All parameters may be set, but for some."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many suggestions are wanted."""

    number: int


@dataclass(frozen=True, slots=True)
class Start:
    """The past run to start from."""

    row: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A rule over several columns."""

    rule: Expression


@dataclass(frozen=True, slots=True)
class Loose:
    """A bound without a column: on what was spoken of before, else on one of its unit."""

    op: str
    quantity: TextQuantity
    names: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class LooseMove:
    """Less or more by an amount, of what was spoken of before, else of what has its unit."""

    amount: TextQuantity
    down: bool
    names: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Bare:
    """A number and nothing else: of a row that was asked for, or another value of the last one."""

    quantity: TextQuantity
    words: str
    old: bool = False  # what it was: not 600


@dataclass(frozen=True, slots=True)
class Than:
    """A value of a parameter that another one is compared with."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Told:
    """A number that something has now: it is 16 today."""

    quantity: TextQuantity
    words: str


@dataclass(frozen=True, slots=True)
class Misfit:
    """Words that were said to be a value of a column and are none."""

    name: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The value that an outcome has now, as it was told."""

    name: str
    value: float
    told: TextQuantity | None = None


Fact = (
    Limit | Equal | Moved | Wanted | Ask | Keep | Watch | Named | Drop | Everything | Count | Start
    | About | Relation | Loose | LooseMove | Bare | Than | Told | Misfit | Measured
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one clause, and the words that were taken for columns."""

    all: tuple[Fact, ...]
    links: tuple[Link, ...] = ()
