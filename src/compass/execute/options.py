"""Reads the options after the name of an executor or runner: `4`, `jobs=4,cores=2`."""

from collections.abc import Mapping

from compass.domain.errors import BadInput, unknown
from compass.execute.processors import cores

MOST = 4096  # workers on one machine; more is a slip of the finger


def count_of(name: str, text: str, *, kind: str = "executor") -> int:
    """The number of workers that a text names; none: as many as there are usable processors."""
    if not text:
        return cores()
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST:
        raise BadInput(
            f"'{text}' is no number of workers for the {kind} {name}",
            hint=f"write {name} or {name}:4",
        )
    return int(text)


def options_of(
    name: str, text: str, known: Mapping[str, str], *, kind: str = "executor"
) -> dict[str, str]:
    """The options of a text such as `jobs=4,cores=2`; `known` are their names and defaults."""
    found = dict(known)
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not value:
            raise BadInput(
                f"'{part}' is no option of the {kind} {name}",
                hint=f"write options as {name}:key=value,key=value",
            )
        if key not in known:
            raise unknown(f"option of the {kind} {name}", key, known)
        found[key] = value
    return found
