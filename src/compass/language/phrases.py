"""Columns as people write them in running text: `perf variation`, `link stalls`."""

import re

from compass.domain.space import Role, Space

_WORD = re.compile(r"[a-z]+|\d+")
_PLURAL = 4  # letters from which on an `s` at the end is taken for a plural


def letters(name: str) -> str:
    """A name apart from upper and lower case, `_`, `-` and spaces."""
    return re.sub(r"[\s_-]", "", name.casefold())


def words(name: str) -> frozenset[str]:
    """The words of a name, a plural `s` apart."""
    found = _WORD.findall(name.lower())
    return frozenset(w[:-1] if len(w) >= _PLURAL and w.endswith("s") else w for w in found)


def outcomes_described(name: str, space: Space) -> tuple[str, ...]:
    """The outcomes whose names have all words of a phrase; none for what names a column."""
    phrase = name.strip()
    if " " not in phrase or "*" in phrase:
        return ()
    if any(letters(other) == letters(phrase) for other in space.names):
        return ()
    wanted = words(phrase)
    return tuple(other for other in space.having(Role.OUTCOME) if wanted <= words(other))
