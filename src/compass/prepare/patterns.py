"""Columns that a study names by a pattern: `sched:*` stands for all whose name starts so.

`*` stands for any signs and `?` for one, as in a shell. Brackets are themselves: `Time[s]` is a
name. A column's own name wins over a pattern, and a later pattern over an earlier one.
"""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from compass.domain.errors import UnknownName, nearest, unknown
from compass.domain.study import ColumnChoice, Study
from compass.prepare.study import merge_column


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a pattern stands for; a name stands for itself."""
    known = list(names)
    if pattern in known:
        return [pattern]
    if not is_pattern(pattern):
        return []
    # `[[]` is a bracket to fnmatch, which takes `[s]` for one letter out of a list.
    shell = pattern.replace("[", "[[]")
    return [name for name in known if fnmatchcase(name, shell)]


def is_pattern(text: str) -> bool:
    """Whether a name of a column can stand for several."""
    return "*" in text or "?" in text


def spelled_out(study: Study, names: Sequence[str], *, partly: bool = False) -> Study:
    """The same study with the names of these columns in the place of patterns.

    A name or a pattern that stands for none of them is an error; `partly` leaves it out instead.
    """
    columns = _choices(study.columns, names, partly=partly)
    drop = [name for given in study.drop for name in _named(given, names, partly=partly)]
    if columns == study.columns and tuple(drop) == study.drop:
        return study
    return study.model_copy(update={"columns": columns, "drop": tuple(dict.fromkeys(drop))})


def _choices(
    given: Mapping[str, ColumnChoice], names: Sequence[str], *, partly: bool
) -> dict[str, ColumnChoice]:
    known = set(names)
    found: dict[str, ColumnChoice] = {}
    for key in sorted(given, key=lambda key: key in known):  # patterns first, in their order
        for name in _named(key, names, partly=partly):
            before = found.get(name)
            found[name] = given[key] if before is None else merge_column(before, given[key])
    return found


def _named(given: str, names: Sequence[str], *, partly: bool) -> list[str]:
    found = matching(given, names)
    if found or partly:
        return found
    if not is_pattern(given):
        raise unknown("column", given, names, where="in the study")
    bare = given.replace("*", "").replace("?", "")
    # Names are longer than what is left of a pattern: they are compared as far as that goes.
    starts = {name[: len(bare) + 1]: name for name in reversed(names)}
    start = nearest(bare, starts)
    close = None if start is None else starts[start]
    raise UnknownName(
        f"no column matches the pattern '{given}' in the study",
        hint=(f"did you mean {close}? " if close else "") + "* stands for any signs, ? for one",
        name=given,
        kind="column",
    )
