"""Words that were not understood: asked about before anything is answered, or left out."""

import re

from rapidfuzz import fuzz, process

from compass.chat import replies
from compass.chat.draft import Conversation, Reply, Slot
from compass.domain.errors import CompassError
from compass.domain.space import Category, Number, Space
from compass.language import listed
from compass.language.bind import bind_value

LEAVE_OUT = "leave it out"
_OFFERED = 6  # columns or values to choose from
_ALIKE = 60.0  # how much of a name has to be alike to be offered
_LEFT_OUT = re.compile(
    r"\W*(?:(?:no|ok|okay|please|just|then)\W+)?(?:leave|take) (?:it|that|this|them|those) out\W*|"
    r"\W*(?:ignore|forget|drop|skip|omit) (?:it|that|this|them)\W*|\W*without (?:it|that|them)\W*|"
    r"\W*(?:go on|continue|proceed) without(?: it| that)?\W*",
    re.IGNORECASE,
)


def is_left_out(message: str) -> bool:
    """Whether a message says that the words do not matter."""
    return bool(_LEFT_OUT.fullmatch(message))


def ask_words(talk: Conversation, space: Space) -> Reply:
    """What the words mean: said in other words, chosen from columns that are alike, or left out."""
    text = "Please say it in other words, or leave it out."
    choices = (*_alike(talk.unclear, space), LEAVE_OUT)
    return Reply(text=text, expecting=Slot.WORDS, choices=choices)


def _alike(unclear: tuple[str, ...], space: Space) -> tuple[str, ...]:
    """Columns whose names are like the words."""
    words = " ".join(unclear).replace("_", " ")
    named = [p for p in space if isinstance(p, Category) and p.name.replace("_", " ") in words]
    if named:  # one of its values may be meant
        return tuple(f"{named[0].name} = {value}" for value in named[0].values[:_OFFERED])
    names = {name: name.replace("_", " ") for name in space.names}
    found = process.extract(words, names, scorer=fuzz.partial_token_set_ratio, limit=_OFFERED)
    return tuple(name for _, score, name in found if score >= _ALIKE)


def not_understood(
    unknown: tuple[str, ...], misfits: tuple[tuple[str, str], ...], space: Space
) -> str:
    """Which words were not understood, and which values a column has where they are none of it."""
    found = [f"I did not understand {listed([*map(replies.quoted, unknown)])}."] if unknown else []
    for name, words in misfits:
        try:
            bind_value(words, space[name])
            column = space[name]
            if isinstance(column, Number) and column.allowed is not None:
                legal = ", ".join(f"{value:g}" for value in column.allowed[:20])
                found.append(f"{name} can be: {legal}.")
        except CompassError as error:
            found.append(replies.error_text(error))
    return "\n".join(found)
