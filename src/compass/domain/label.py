"""How far a prediction can be relied on, in one word."""

from enum import StrEnum


class Label(StrEnum):
    """How far a prediction can be relied on."""

    TRUSTED = "trusted"
    CAUTION = "caution"
    UNSUPPORTED = "unsupported"
