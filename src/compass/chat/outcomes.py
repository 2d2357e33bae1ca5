"""The outcome that an inquiry is about, and whether it needs a model of it."""

from compass.chat.draft import Topic
from compass.domain.errors import QueryProblem
from compass.domain.space import Number, Role, Space
from compass.language.bind import column

NEEDS_MODEL = frozenset({Topic.IMPORTANCE, Topic.CERTAINTY})


def outcome_meant(space: Space, name: str | None) -> str:
    """The outcome that is meant: the one named, else the first."""
    outcomes = space.having(Role.OUTCOME)
    if not outcomes:
        raise QueryProblem(
            "no column is known to be an outcome",
            hint="give one the role outcome (--role COLUMN=outcome)",
        )
    if name is None:
        numbers = [n for n in outcomes if isinstance(space[n], Number)]
        return (numbers or list(outcomes))[0]
    known = column(name, space)
    if known not in outcomes:
        raise QueryProblem(
            f"{known} is not an outcome", hint=f"choose one of {', '.join(outcomes[:8])}"
        )
    return known
