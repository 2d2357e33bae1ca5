"""Everything that can go wrong, one class per cause.

CompassError                    anything Compass tells a person; has a message and a hint
├── BadInput                    what the person gave cannot be used (exit code 2)
│   ├── DataProblem             a file or table that cannot be read or holds nothing usable
│   ├── StudyProblem            a study file or role/domain override that does not fit the data
│   ├── UnknownName             a column, category value or plug-in that does not exist
│   ├── QuerySyntax             text that the grammar does not accept (points at the place)
│   ├── QueryProblem            a query that parses but cannot mean anything on this table
│   ├── RuleProblem             a rule that cannot be applied to these columns
│   ├── ConflictingRules        rules that no configuration can obey together
│   ├── BaselineProblem         a baseline that is incomplete, illegal or breaks a rule
│   ├── EngineProblem           a saved engine that is damaged or does not fit
│   └── ExperimentProblem       an experiment, or its store, that is damaged or does not fit
└── EnvironmentProblem          the machine lacks something (compiler, disk, optional package)
"""

import re
from collections.abc import Iterable

from rapidfuzz import process


class CompassError(Exception):
    """An error for people: what is wrong, and what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.described()}\nhint: {self.hint}" if self.hint else self.described()

    def described(self) -> str:
        """What is wrong, with the place where that is known; without the hint."""
        place = self.pointer()
        return f"{self.message}\n{place}" if place else self.message

    def pointer(self) -> str:
        """The line of the text around the place, with a caret below it; empty: no place."""
        return ""


class BadInput(CompassError):
    """What the person gave cannot be used."""


class DataProblem(BadInput):
    """A file or table cannot be read or holds nothing usable."""


class StudyProblem(BadInput):
    """A study file or an override does not fit the data."""


class UnknownName(BadInput):
    """A name that does not exist; the hint offers the nearest one."""

    def __init__(
        self, message: str, *, hint: str = "", name: str = "", kind: str = "", text: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.name = name
        self.kind = kind  # what should have that name: a column, an outcome, an executor
        self.text = text  # the question it stands in, where that is known

    def within(self, text: str) -> "UnknownName":
        """The same error, pointing at the name in the text where it stands."""
        return UnknownName(self.message, hint=self.hint, name=self.name, kind=self.kind, text=text)

    def pointer(self) -> str:
        """The line of the text around the name, with a caret below it."""
        place = _place_of(self.name, self.text) if self.name else None
        return "" if place is None else pointer(self.text, place)


class QuerySyntax(BadInput):
    """Text that the grammar does not accept; `column` is the place, counted from 0."""

    def __init__(self, message: str, *, hint: str = "", text: str = "", column: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.column = column

    def pointer(self) -> str:
        """The line of the text around the place, with a caret below it."""
        return pointer(self.text, self.column) if self.text else ""


class QueryProblem(BadInput):
    """A query that parses but cannot mean anything on this table."""


class RuleProblem(BadInput):
    """A rule that cannot be applied to these columns."""


class ConflictingRules(BadInput):
    """Rules that no configuration can obey together; `rules` names them."""

    def __init__(self, message: str, *, hint: str = "", rules: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.rules = rules


class BaselineProblem(BadInput):
    """A baseline that is incomplete, illegal or breaks a rule."""


class EngineProblem(BadInput):
    """A saved engine that is damaged or does not fit."""


class ExperimentProblem(BadInput):
    """An experiment, or the store that keeps it, that is damaged or does not fit."""


class EnvironmentProblem(CompassError):
    """The machine lacks something that this needs."""


# Short names of the causes, for programs; the first that fits an error is the one that is meant.
CODES: dict[str, type[CompassError]] = {
    "query-syntax": QuerySyntax,
    "unknown-name": UnknownName,
    "query-problem": QueryProblem,
    "rule-problem": RuleProblem,
    "conflicting-rules": ConflictingRules,
    "baseline-problem": BaselineProblem,
    "study-problem": StudyProblem,
    "data-problem": DataProblem,
    "engine-problem": EngineProblem,
    "experiment-problem": ExperimentProblem,
    "bad-input": BadInput,
    "not-available": EnvironmentProblem,
}


_WIDTH = 72  # characters of a text that are shown around a place


def pointer(text: str, column: int) -> str:
    """The piece of a text around a place, with a caret below it."""
    start = max(0, column - _WIDTH // 2)
    # One blank for each line break or tab, so that the caret stays below its character.
    piece = re.sub(r"\s", " ", text[start : start + _WIDTH])
    return f"  {piece}\n  {' ' * (column - start)}^"


def _place_of(name: str, text: str) -> int | None:
    """Where a name stands in a question: as a word of its own, and not in its opening phrase."""
    opening = max(0, text.find("{"))
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    found = re.compile(word, re.IGNORECASE).search(text, opening)
    return found.start() if found else None


def shortened(text: str, most: int = 80) -> str:
    """A text as it is repeated in an error: not all of it where it is long."""
    return text if len(text) <= most else text[: most - 3] + "..."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None when nothing is close."""
    names = list(known)
    folded = {other.casefold(): other for other in names}
    if name.casefold() in folded:
        return folded[name.casefold()]
    # The score forgives what one name has more than the other; a third of it must still be there.
    alike = [n for n in names if 3 * min(len(n), len(name)) >= max(len(n), len(name))]
    found = process.extractOne(name, alike, processor=str.casefold, score_cutoff=60)
    return found[0] if found else None


def unknown(what: str, name: str, known: Iterable[str], *, where: str = "") -> UnknownName:
    """The error for a name that does not exist: `unknown("column", "num_node", columns)`."""
    names = list(known)
    close = nearest(name, names)
    place = f" {where}" if where else ""
    if close is not None:
        hint = f"did you mean {close}?"
    else:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        hint = f"there are: {shown}" if names else "there are none"
    message = f"no {what} named '{shortened(name)}'{place}"
    return UnknownName(message, hint=hint, name=name, kind=what)
