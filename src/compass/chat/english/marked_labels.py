"""Labels with signs in them (`<b>x</b>`, `it's "q"`), found as they are written."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compass.chat.english.words import Token

_SIGNS = re.compile(r"[^\w\s.\-]")
_FIRST_MARK, _MOST = 0xE000, 100  # characters that no text uses stand for the labels
_QUOTES = ("'", '"', "`")
_MARK = re.compile("[\ue000-\ue063]")


def has_signs(label: str) -> bool:
    """Whether a label has signs that would part it or be read as something else."""
    return bool(_SIGNS.search(label)) and bool(label.strip())


def masked(text: str, labels: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The text with one mark for each label that it holds, and what the marks stand for."""
    marks: dict[str, str] = {}
    if _MARK.search(text):
        return text, marks
    folded = text.casefold()
    held = {label for label in labels if label.casefold() in folded}
    for label in sorted(held, key=lambda each: (-len(each), each))[:_MOST]:
        mark = chr(_FIRST_MARK + len(marks))
        text, found = _whole(label).subn(mark, text)
        if found:
            marks[mark] = label
    return text, marks


def _whole(label: str) -> re.Pattern[str]:
    """The label where it is not part of a longer word."""
    before = r"(?<!\w)" if label[0].isalnum() else ""
    behind = r"(?!\w)" if label[-1].isalnum() else ""
    return re.compile(f"{before}{re.escape(label)}{behind}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A message: its text with marks for labels, what these stand for, and its words."""

    text: str
    marks: Mapping[str, str]
    found: list[Token]

    def verbatim(self, start: int, end: int) -> str:
        """The words from one place up to another as they were written."""
        first, last = self.found[start].start, self.found[end - 1].end
        text = self.text[first:last]
        closing = self.text[last : last + 1]
        if closing in _QUOTES and text.count(closing) % 2:
            text += closing
        return text.translate({ord(mark): label for mark, label in self.marks.items()})


def as_labels(found: Iterable[Token], marks: Mapping[str, str]) -> list[Token]:
    """The words of a masked text with each label as one word."""
    return [_label(token, marks[token.text]) if token.text in marks else token for token in found]


def _label(token: Token, label: str) -> Token:
    return replace(token, text=label, low=label.casefold(), key=label.casefold())
