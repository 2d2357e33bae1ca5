"""Text columns that hold numbers or time stamps: which they are, and what their words mean.

A word among numbers says that nothing is known (`-`, `n/a`) or that the run failed (`timeout`).
What was read how stands in the metadata of the column (`CellNotes`); nothing is read silently.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as having

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compass.arrow import DECIMAL, UNIT, values_of
from compass.domain.errors import shortened
from compass.domain.space import Role
from compass.domain.study import ColumnChoice, Study
from compass.prepare import names
from compass.prepare.base import FailedRows, Rows
from compass.readers.cell_notes import FAILED, MISSING, OTHER, CellNotes, cells, with_notes
from compass.readers.moments import moments_of
from compass.readers.words import GAP, says_failed, says_missing
from compass.readers.written import NotNumbers, Writing, writing_of


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOSTLY = 0.6  # of the rows are numbers: then a few words do not make it a column of labels
_KNOWN = 0.1  # of the rows are numbers, where every word is a known one: many runs may fail
_WORDS = 5  # unknown words that a column of numbers may have, each more than once
_REASONS = 20  # words of a column that are told apart as reasons of failures
_SHOWN = 3  # words of a column that are named
_DIGIT = r"^\s*[-+]?[.,]?[0-9]"
_CODE = r"^\s*0[0-9]+\s*$"  # 007 is a name, whatever it is made of
_BEYOND = re.compile(r"\s*>=?\s*[0-9]")  # >3600: the run was cut off
_MEMORY = _set(
    "mem memory rss maxrss vmem ram reqmem cache buffer footprint disk swap heap storage vm "
    "vmsize size scratch"
)
_NUMBER_KEYS = ("low", "high", "step", "allowed")


@dataclass(frozen=True)
class ReadTexts:
    """A table whose text columns of numbers are numbers, and where words stood among them."""

    arrow: pa.Table
    failed: tuple[FailedRows, ...] = ()  # of an outcome, the run failed
    no_numbers: Mapping[str, Rows] = having(default_factory=dict)  # of a column: other words
    writings: Mapping[str, Writing] = having(default_factory=dict)  # of columns of numbers


def read_texts(arrow: pa.Table, study: Study) -> ReadTexts:
    """The table with numbers and time stamps where text columns hold them."""
    failed: list[FailedRows] = []
    no_numbers: dict[str, Rows] = {}
    writings: dict[str, Writing] = {}
    for place, told in enumerate(arrow.schema):
        if not pa.types.is_large_string(told.type):
            continue
        choice = study.columns.get(told.name, ColumnChoice())
        if _is_text(told.name, choice, study):
            continue
        encoded = _encoded(arrow.column(place))
        found = read_labels(told, encoded, choice)
        if found is None:
            continue
        column = arrow.column(place)
        field = with_notes(told, found.notes)
        if found.labels is not None:
            column = pa.chunked_array([found.labels.take(encoded.indices)])
            field = field.with_type(column.type)
        if found.unit:
            field = field.with_metadata({**field.metadata, UNIT: found.unit.encode()})
        arrow = arrow.set_column(place, field, column)
        if found.writing is not None:
            writings[told.name] = found.writing
        if any(meaning != MISSING for _, _, meaning in found.notes.words):
            failed.extend(_failures(told.name, encoded, found.notes))
            no_numbers[told.name] = _saying(encoded, found.notes, FAILED, OTHER)
    return ReadTexts(arrow, tuple(failed), no_numbers, writings)


def as_written(
    table: pa.Table, writings: Mapping[str, Writing]
) -> tuple[pa.Table, dict[str, NDArray[np.bool_]]]:
    """A piece of a table with numbers where it is known how texts write them.

    Also which cells of these columns say that the run failed.
    """
    failed = {}
    for name, writing in writings.items():
        place = table.column_names.index(name)
        column = table.column(place)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        encoded = _encoded(column)
        texts = encoded.dictionary.cast(pa.large_string())
        values = writing.numbers(texts)
        words = [i for i in np.flatnonzero(np.isnan(values)) if _is_failure(texts[int(i)].as_py())]
        codes = values_of(encoded.indices, -1)
        failed[name] = np.isin(codes, words)
        numbers = pa.chunked_array([pa.array(np.append(values, np.nan)[codes])])
        table = table.set_column(place, pa.field(name, pa.float64()), numbers)
    return table, failed


def _is_failure(word: str) -> bool:
    return says_failed(word) or _BEYOND.match(word) is not None


def _is_text(name: str, choice: ColumnChoice, study: Study) -> bool:
    """Whether a text column stays as it is, whatever it holds."""
    if choice.kind == "category" or choice.values is not None or choice.role is Role.IGNORED:
        return True
    told = (*study.drop, study.group, study.origin)
    return name in told or (names.is_identifier(name) and not _forced(choice))


def _forced(choice: ColumnChoice) -> bool:
    """Whether the study says that the column holds numbers."""
    return choice.kind == "number" or any(getattr(choice, key) is not None for key in _NUMBER_KEYS)


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], column.type)
    return whole if pa.types.is_dictionary(whole.type) else pc.dictionary_encode(whole)


@dataclass(frozen=True)
class ReadLabels:
    """The different cells of a column as numbers or time stamps; None: they stay text."""

    labels: pa.Array | None
    unit: str | None
    notes: CellNotes
    writing: Writing | None = None


def read_labels(
    field: pa.Field, encoded: pa.DictionaryArray, choice: ColumnChoice
) -> ReadLabels | None:
    """What the different cells of a text column mean; None: they are plain labels."""
    texts = encoded.dictionary
    codes = values_of(encoded.indices, -1)
    rows = np.bincount(codes[codes >= 0], minlength=len(texts)).astype(np.int64)
    gaps = values_of(pc.match_substring_regex(texts, GAP))
    total = int(rows[~gaps].sum())
    starts = values_of(pc.match_substring_regex(texts, _DIGIT))
    forced = _forced(choice)
    if not total or (rows[starts].sum() < _KNOWN * total and not forced):
        return None
    if not forced and pc.any(pc.match_substring_regex(texts, _CODE)).as_py():
        return None
    stated = choice.unit or names.unit_of(field.name)
    usual = (field.metadata or {}).get(DECIMAL, b".").decode()
    memory = bool(_MEMORY & set(names.words(field.name)))
    writing = writing_of(texts, rows, usual=usual, unit=stated, memory=memory)
    values = writing.numbers(texts) if isinstance(writing, Writing) else np.full(len(texts), np.nan)
    share = float(rows[~np.isnan(values)].sum()) / total
    if share < _KNOWN and not forced and (found := _moments(texts, rows, gaps)) is not None:
        return found
    if isinstance(writing, NotNumbers):
        return ReadLabels(None, None, CellNotes(f"stays text: {writing.reason}"))
    measured = choice.role is Role.OUTCOME or (
        choice.role is None and names.role_of(field.name, text=False) is Role.OUTCOME
    )
    words = _words(texts, rows, np.isnan(values), measured)
    if writing is None or (share < _KNOWN and not forced):
        return None
    if not forced and (why := _why_text(words, share, measured)) is not None:
        return None if share < MOSTLY else ReadLabels(None, None, CellNotes(f"stays text: {why}"))
    labels = pa.array(values, pa.float64(), mask=np.isnan(values))
    notes = CellNotes(_how(writing), words)
    return ReadLabels(labels, writing.unit, notes, writing)


def _words(
    texts: pa.Array, rows: NDArray[np.int64], others: NDArray[np.bool_], measured: bool
) -> tuple[tuple[str, int, str], ...]:
    """The cells that are no numbers: word, rows and meaning, the commonest first."""
    found = []
    for place in np.flatnonzero(others):
        word = texts[int(place)].as_py()
        if says_failed(word) or (measured and _BEYOND.match(word)):
            meaning = FAILED
        # `none` can be a setting of something that is set.
        elif says_missing(word) and (measured or word.strip().lower() != "none"):
            meaning = MISSING
        else:
            meaning = OTHER
        found.append((word, int(rows[place]), meaning))
    return tuple(sorted(found, key=lambda one: -one[1]))


def _why_text(words: Sequence[tuple[str, int, str]], share: float, measured: bool) -> str | None:
    """Why a column of numbers with these words stays text; None: it does not."""
    unknown = [(word, count) for word, count, meaning in words if meaning == OTHER]
    if not unknown:
        return None
    few = len(unknown) <= _WORDS and all(count > 1 for _, count in unknown)
    if measured and few and share >= MOSTLY:
        return None
    some = ", ".join(f"'{shortened(word, 20)}'" for word, _ in unknown[:_SHOWN])
    more = ", ..." if len(unknown) > _SHOWN else ""
    return f"numbers and other words ({some}{more}); kind: number in the study reads the numbers"


def _moments(
    texts: pa.Array, rows: NDArray[np.int64], gaps: NDArray[np.bool_]
) -> ReadLabels | None:
    """The cells as time stamps, if they are."""
    known = pc.if_else(pa.array(gaps), pa.scalar(None, texts.type), texts)
    found = moments_of(known)
    if found is None:
        return None
    if isinstance(found, NotNumbers):
        return ReadLabels(None, None, CellNotes(f"stays text: {found.reason}"))
    shown = next(text for text in known.to_pylist() if text is not None)
    words = _words(texts, rows, gaps, measured=True)
    return ReadLabels(found, None, CellNotes(f"time stamps such as '{shown}'", words))


def _how(writing: Writing) -> str:
    """How the numbers are written, where that is worth saying."""
    told = []
    marks = writing.marks
    if marks.doubtful:
        told.append("commas are taken for thousands marks: 1,234 is 1234")
    elif marks.grouped:
        told.append(f"{'points' if marks.decimal == ',' else 'commas'} between thousands")
    elif marks.decimal == "," and marks.used:
        told.append("decimal commas")
    others = {one: n for one, n in writing.units.items() if writing.factors.get(one, 1.0) != 1.0}
    if writing.unit is None:
        told += ["K, M, G are thousands, millions, ..."] if others else []
        return "; ".join(told)
    same = next((one for one in writing.units if writing.factors.get(one) == 1.0), writing.unit)
    if same != writing.unit:
        told.append(f"{same} is read as {writing.unit}")
    if writing.durations:
        told.append(f"durations, read in {writing.unit}")
    told += [f"{cells(n)} converted from {one} to {writing.unit}" for one, n in others.items()]
    return "; ".join(told) or "the cells name their unit"


def _saying(encoded: pa.DictionaryArray, notes: CellNotes, *meanings: str) -> Rows:
    """The rows whose cells hold words of these meanings."""
    words = {word for word, _, meaning in notes.words if meaning in meanings}
    return _rows_of(encoded, words)


def _rows_of(encoded: pa.DictionaryArray, words: Collection[str]) -> Rows:
    wanted = pc.is_in(encoded.dictionary, pa.array(sorted(words), encoded.dictionary.type))
    found: Rows = np.flatnonzero(
        np.append(values_of(wanted), False)[values_of(encoded.indices, -1)]
    )
    return found


def _failures(name: str, encoded: pa.DictionaryArray, notes: CellNotes) -> Iterator[FailedRows]:
    """The rows whose cells say that the run failed, word by word."""
    words = [word for word, _, meaning in notes.words if meaning == FAILED]
    for word in words[:_REASONS]:
        reason = f"{name}: {shortened(word.strip(), 40)}"
        yield FailedRows(_rows_of(encoded, [word]), reason, name)
    if rest := words[_REASONS:]:
        yield FailedRows(_rows_of(encoded, rest), f"{name}: another failure", name)
