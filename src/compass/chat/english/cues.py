"""Single words of a message that tell how it is meant, whatever else it states."""

import re
from typing import Literal

_LESS = re.compile(r"\b(minimi[sz]\w*|min|less|low\w*|small\w*|reduc\w*|decreas\w*)\b", re.I)
_GREATER = re.compile(r"\b(maximi[sz]\w*|max|more|high\w*|larg\w*|increas\w*)\b", re.I)
_ADDS = re.compile(r"\s*(and|also|plus|additionally|in addition)\b", re.I)
_FURTHER = re.compile(r"\b(more|further|another|additional|other)\b", re.I)
_ORDINALS = {
    **dict.fromkeys(("1", "first", "former"), 0),
    **dict.fromkeys(("2", "second", "latter"), 1),
    **dict.fromkeys(("3", "third"), 2),
    **dict.fromkeys(("4", "fourth"), 3),
    "last": -1,
}
_ORDINAL = re.compile(r"(?:the\s+)?(\w+)(?:\s+(?:one|column))?")
_PUNCTUATION = " .,;:!?'\"`"


def direction(text: str) -> Literal["minimize", "maximize"] | None:
    """Whether a message speaks of less or of more; None: of neither, or of both."""
    less, greater = bool(_LESS.search(text)), bool(_GREATER.search(text))
    if less == greater:
        return None
    return "minimize" if less else "maximize"


def adds(text: str) -> bool:
    """Whether a message begins like `and ...`, `also ...`."""
    return _ADDS.match(text) is not None


def asks_further(text: str) -> bool:
    """Whether a message asks for others than those that are there: 3 more options."""
    return _FURTHER.search(text) is not None


def ordinal(text: str) -> int | None:
    """The place in a list that a message names and nothing else: `the second one` is 1."""
    found = _ORDINAL.fullmatch(text.strip(_PUNCTUATION).casefold())
    return _ORDINALS.get(found[1]) if found else None
