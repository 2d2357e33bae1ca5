"""What is worth knowing about the cells of a column: how they were read, and what words mean.

It travels with the column, in the metadata of its field.
"""

import json
from dataclasses import dataclass

import pyarrow as pa

from compass.arrow import CELLS
from compass.domain.errors import shortened
from compass.domain.space import Role

FAILED, MISSING, OTHER = "failed", "missing", "other"
_SHOWN = 3  # words that are named


@dataclass(frozen=True)
class CellNotes:
    """How the cells of one column are written, and the words that are no values."""

    how: str = ""
    words: tuple[tuple[str, int, str], ...] = ()  # word, its cells, what it means

    def sentence(self, role: Role) -> str:
        """All of it in words; in an outcome a word of failure means a failed run."""
        told = [self.how] if self.how else []
        for word, count, meaning in self.words[:_SHOWN]:
            verb = "says" if count == 1 else "say"
            failed = meaning == FAILED and role is Role.OUTCOME
            means = "the run failed" if failed else "no value"
            told.append(f"{cells(count)} {verb} '{shortened(word.strip(), 30)}': {means}")
        if rest := self.words[_SHOWN:]:
            told.append(f"{cells(sum(n for _, n, _ in rest))} with {len(rest)} other words")
        return "; ".join(told)


def cells(count: int) -> str:
    """So many cells, in words."""
    return "1 cell" if count == 1 else f"{count} cells"


def with_notes(field: pa.Field, notes: CellNotes) -> pa.Field:
    """The field with these notes in its metadata."""
    stored = json.dumps({"how": notes.how, "words": notes.words}).encode()
    return field.with_metadata({**(field.metadata or {}), CELLS: stored})


def notes_of(field: pa.Field) -> CellNotes | None:
    """What the metadata of a field say of its cells."""
    stored = (field.metadata or {}).get(CELLS)
    if stored is None:
        return None
    raw = json.loads(stored)
    return CellNotes(raw["how"], tuple((word, n, meaning) for word, n, meaning in raw["words"]))
