"""Decimal and thousands marks: `3,14`, `1.234,5`, `1,234.5` and `1 234` told apart by a column."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
_BLANKS = r"[ '\x{a0}\x{202f}]"  # between thousands, whatever the decimal mark is
# What the shape of one cell tells: digits are 1, but for a zero at the start.
_EITHER = re.compile(r"1{1,3}[,.]111")
_BY_COMMA = re.compile(r".*\..*,.*|1{1,3}(\.111){2,}|[^,.]*,[^,.]*")
_BY_POINT = re.compile(r".*,.*\..*|1{1,3}(,111){2,}|[^,.]*\.[^,.]*")


@dataclass(frozen=True)
class Marks:
    """The decimal mark of a column; the other one stands between thousands."""

    decimal: str = "."
    grouped: bool = False  # whether the other one is there
    used: bool = False  # whether the decimal mark is there
    doubtful: bool = False  # the cells could also be meant the other way round

    def plain(self, texts: pa.Array) -> pa.Array:
        """The numbers as programs write them, `1234.5`; null where a text is none."""
        mark, other = (r"\.", ",") if self.decimal == "." else (",", r"\.")
        grouped = (
            rf"^[-+]?[0-9]{{1,3}}(?:(?:{_BLANKS}[0-9]{{3}})+|(?:{other}[0-9]{{3}})+)"
            rf"(?:{mark}[0-9]*)?$"
        )
        texts = pc.utf8_trim_whitespace(texts)
        bare = pc.replace_substring_regex(texts, rf"{_BLANKS}|{other}", "")
        texts = pc.if_else(pc.match_substring_regex(texts, grouped), bare, texts)
        if self.decimal != ".":
            # A point that is left is no thousands mark: such a text is no number here.
            texts = pc.if_else(pc.match_substring(texts, "."), "", texts)
            texts = pc.replace_substring(texts, self.decimal, ".")
        good = pc.match_substring_regex(texts, _NUMBER)
        return pc.if_else(good, texts, pa.scalar(None, texts.type))


_SHAPE = ((r"^\s*[-+]?", ""), (r"\s+$", ""), (r"^0", "z"), (r"[0-9]", "1"))


def shapes(texts: pa.Array) -> list[str]:
    """The shapes of numbers, `1.234,5` -> `1.111,1`: few, however many numbers there are."""
    for pattern, sign in _SHAPE:
        texts = pc.replace_substring_regex(texts, pattern, sign)
    found: list[str] = pc.unique(pc.drop_null(texts)).to_pylist()
    return found


def shape(text: str) -> str:
    """The shape of one number."""
    for pattern, sign in _SHAPE:
        text = re.sub(pattern, sign, text)
    return text


def marks_of(found: Iterable[str], usual: str = ".") -> Marks | None:
    """The decimal mark of numbers of all these shapes; None: some contradict others.

    `usual` is the mark of the file that they stand in, which decides where the cells do not.
    """
    marked = [one for one in found if "," in one or "." in one]
    clear = [one for one in marked if not _EITHER.fullmatch(one)]
    commas, points = (any(mark in one for one in marked) for mark in ",.")
    by_comma = any(_BY_COMMA.fullmatch(one) for one in clear)
    by_point = any(_BY_POINT.fullmatch(one) for one in clear)
    if by_comma != by_point:
        return Marks(",", points, commas) if by_comma else Marks(".", commas, points)
    if by_comma or (commas and points):
        return None
    if usual == ",":
        return Marks(",", points, commas)
    return Marks(".", commas, points, doubtful=commas)
