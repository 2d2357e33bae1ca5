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
│   └── EngineProblem           a saved engine that is damaged or does not fit
└── EnvironmentProblem          the machine lacks something (compiler, disk, optional package)
"""

from collections.abc import Iterable

from rapidfuzz import process


class CompassError(Exception):
    """A problem told in the person's language: what is wrong and what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class BadInput(CompassError):
    """What the person gave cannot be used."""


class DataProblem(BadInput):
    """A file or table cannot be read or holds nothing usable."""


class StudyProblem(BadInput):
    """A study file or an override does not fit the data."""


class UnknownName(BadInput):
    """A name that does not exist; the hint offers the nearest one."""


class QuerySyntax(BadInput):
    """Text that the grammar does not accept; `column` is the place, counted from 0."""

    def __init__(self, message: str, *, hint: str = "", text: str = "", column: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.column = column

    def __str__(self) -> str:
        return "\n".join(part for part in (self.message, self.pointer(), self.hint_line()) if part)

    def hint_line(self) -> str:
        """The hint as printed."""
        return f"hint: {self.hint}" if self.hint else ""

    def pointer(self, width: int = 72) -> str:
        """The line of the text around the place, with a caret below it."""
        if not self.text:
            return ""
        start = max(0, self.column - width // 2)
        piece = self.text[start : start + width].replace("\n", " ")
        return f"  {piece}\n  {' ' * (self.column - start)}^"


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


class EnvironmentProblem(CompassError):
    """The machine lacks something that this needs."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None when nothing is close."""
    names = list(known)
    folded = {other.casefold(): other for other in names}
    if name.casefold() in folded:
        return folded[name.casefold()]
    found = process.extractOne(name, names, score_cutoff=60)
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
    return UnknownName(f"no {what} named '{name}'{place}", hint=hint)
