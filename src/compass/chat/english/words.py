"""A message as words, and the quantities that people write in words, signs and digits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from compass.chat.number_words import NUMBER_WORDS, TENS
from compass.domain.units import canonical


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


def _with_plurals(words: dict[str, Any]) -> dict[str, Any]:
    return words | {f"{word}s": meaning for word, meaning in words.items()}


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or sign, and whether it stands directly at the one before."""

    text: str
    low: str
    start: int
    end: int
    joined: bool
    key: str  # letters and digits only


class QuantityForm(StrEnum):
    """What a quantity is a quantity of."""

    NUMBER = "number"
    SHARE = "share"  # 10 %
    FRACTION = "fraction"  # half, a fifth
    FACTOR = "factor"  # 2x, three times


@dataclass(frozen=True, slots=True)
class TextQuantity:
    """A number as a person gave it."""

    value: float
    form: QuantityForm = QuantityForm.NUMBER
    unit: str | None = None


_SIGNS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": " - ", "−": "-", "×": "x"}
)
_SHORT = (
    (re.compile(r"\b(ca)n't\b", re.I), r"\1nnot"),
    (re.compile(r"\b(wo)n't\b", re.I), "will not"),
    (re.compile(r"\b(\w+)n't\b", re.I), r"\1 not"),
    (re.compile(r"\b(do|does|did|is|are|should|must|would|could)nt\b", re.I), r"\1 not"),
    (re.compile(r"\b(what|that|it|here|there|let|how|where|which)'s\b", re.I), r"\1 is"),
    (re.compile(r"\b(what|that|how|where)s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\b(\w+)'re\b", re.I), r"\1 are"),
    (re.compile(r"\b(\w+)'d\b", re.I), r"\1 would"),
    (re.compile(r"\b(\w+)'ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(\w+)'ll\b", re.I), r"\1 will"),
    (re.compile(r"\bi'm\b", re.I), "i am"),
    (re.compile(r"(\w)'s?\b", re.I), r"\1"),
)
_WRITTEN_OUT = (
    (re.compile(r"\bw/o\b", re.I), "without"),
    (re.compile(r"\bw/(?=\s)", re.I), "with"),
    (re.compile(r"\bi/o\b", re.I), "io"),
    (re.compile(r"(?<![\w.])(\d+)\s?[x×](?=\s?\d)"), r"\1 x "),
    (re.compile(r"\bwont\b", re.I), "will not"),
    (re.compile(r"\b(\d{2,3})(?:st|nd|rd|th)[ -]percentile\b", re.I), r"p\1"),
    (
        re.compile(r"\b(more|less|fewer|rather|higher|lower|better|worse|faster) then\b", re.I),
        r"\1 than",
    ),
    (re.compile(r"(?<![\d.,\w])(\d{1,3}) (\d{3})(?![\d.\w])"), r"\1\2"),
    (re.compile(r"\b(do|does|did|is|are|should|must|would|could|ca)nt\b", re.I), r"\1 not"),
    (re.compile(r"\b(max|min|approx|ca|incl|excl)\.(?=\s*[\d~$])", re.I), r"\1"),
    (re.compile(r"\b(r[ou][wn]|job|trial|experiment) (\d+)['’]s\b", re.I), r"\1 \2 of"),
)
_TOKEN = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+(?![A-Za-z]))?|\.{2,}|\.\d+"
    r"|[^\W\d_]\w*|_\w+|<=|>=|==|!=|->|=>|≤|≥|≠|[^\w\s]"
)


def plain(text: str) -> str:
    """The message with one kind of quotes and dashes, and short forms written out."""
    for pattern, full in _WRITTEN_OUT:
        text = pattern.sub(full, text)
    text = text.translate(_SIGNS)
    if "'" in text or "nt" in text.lower():
        for pattern, full in _SHORT:
            text = pattern.sub(full, text)
    return text


def tokens(text: str) -> list[Token]:
    """The words, numbers and signs of a message (as `plain` gives it)."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        joined = bool(found) and found[-1].end == match.start()
        low = match[0].casefold()
        found.append(Token(match[0], low, match.start(), match.end(), joined, compact(low)))
    return _without_hyphens(found)


def _without_hyphens(found: list[Token]) -> list[Token]:
    """Signs inside one word (`what-if`, `ft.C`) only part its pieces."""
    kept: list[Token] = []
    for place, token in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        inside = kept and token.joined and after is not None and after.joined
        if inside and after is not None and token.text in "-.'":
            digits = kept[-1].text[-1].isdigit() and after.text[0].isdigit()
            if kept[-1].text[-1].isalnum() and after.text[0].isalnum() and not digits:
                continue
        kept.append(token)
    return kept


_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_PARTS: dict[str, int] = _with_plurals({
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "eighth": 8, "tenth": 10, "twentieth": 20,
})  # fmt: skip
_UNIT_WORDS: dict[str, str] = _with_plurals({
    "gig": "GB", "gigs": "GB", "gigabyte": "GB", "megabyte": "MB", "kilobyte": "KB", "g": "GB",
    "terabyte": "TB", "tera": "TB", "gibibyte": "GiB", "mebibyte": "MiB", "kibibyte": "KiB",
    "megs": "MB", "kilojoule": "kJ", "megajoule": "MJ", "gigajoule": "GJ", "megawatt": "MW",
    "milliwatt": "mW", "kilowatthour": "kWh", "watthour": "Wh", "gigahertz": "GHz",
    "megahertz": "MHz", "kilohertz": "kHz", "hertz": "Hz", "mw": "MW", "mj": "MJ",
    "sec": "s", "hour": "h", "dollar": "$", "buck": "$", "usd": "$", "$": "$", "euro": "$",
    "eur": "$", "€": "$", "kbps": "kbit/s", "mbps": "Mbit/s", "gbps": "Gbit/s",
    "megabit": "Mbit", "gigabit": "Gbit", "kilobit": "kbit", "megawatthour": "MWh",
})  # fmt: skip
_DEGREES = word_set("degree degrees celsius kelvin kelvins °")  # columns count them without
_DIGITS = re.compile(r"\.?\d")
_CLOCK = re.compile(r"h(\d{1,2})(?:m(?:in)?)?")  # what follows the 1 of 1h30
_MONEY = frozenset({"$", "€"})
_ARTICLES = frozenset({"a", "an", "one"})


@lru_cache(maxsize=4096)
def unit_named(word: str) -> str | None:
    """The unit that a word means, in its one spelling."""
    return canonical(word) or _UNIT_WORDS.get(word.casefold())


def is_number(token: Token) -> bool:
    """Whether a token is written in digits."""
    return bool(_DIGITS.match(token.text))


def quantity_at(found: Sequence[Token], place: int) -> tuple[TextQuantity, int] | None:
    """The quantity that starts at a token, and the place behind it."""
    start = place
    if found[place].text in _MONEY and place + 1 < len(found) and is_number(found[place + 1]):
        amount = _amount(found, place + 1)
        return (
            None
            if amount is None
            else (TextQuantity(amount[0], QuantityForm.NUMBER, "$"), amount[1])
        )
    sign = 1.0
    if found[place].text == "-" and _starts_number(found, place):
        sign, place = -1.0, place + 1
    read = _fraction(found, place) or _amount(found, place)
    if read is None:
        return None
    value, place, fraction = read
    if fraction:
        unit_place = place + (place < len(found) and found[place].low == "of")
        unit_place += unit_place < len(found) and found[unit_place].low in {"a", "an"}
        unit = _unit_at(found, unit_place)
        if unit is not None and unit[0] is not None:
            return TextQuantity(value, QuantityForm.NUMBER, unit[0]), unit[1]
        return TextQuantity(value, QuantityForm.FRACTION), place
    value *= sign
    if place < len(found) and (clock := _CLOCK.fullmatch(found[place].low)) is not None:
        return TextQuantity(value + int(clock[1]) / 60, QuantityForm.NUMBER, "h"), place + 1
    marked = _marked(found, place, value)
    if marked is not None:
        return marked
    unit = _unit_at(found, place)
    if unit is None:
        while place < len(found) and found[place].low in _DEGREES:
            place += 1
        return (TextQuantity(value), place) if place > start else None
    return _with_more(found, TextQuantity(value, QuantityForm.NUMBER, unit[0]), unit[1])


def _starts_number(found: Sequence[Token], place: int) -> bool:
    if place + 1 >= len(found):
        return False
    before = place > 0 and found[place].joined and found[place - 1].text[-1].isalnum()
    return found[place + 1].joined and is_number(found[place + 1]) and not before


def _marked(found: Sequence[Token], place: int, value: float) -> tuple[TextQuantity, int] | None:
    """A percentage or a factor, if the sign or word behind the number says so."""
    if place >= len(found):
        return None
    token = found[place]
    if token.text == "%" or token.low in {"percent", "pct", "percents", "prozent"}:
        return TextQuantity(value / 100, QuantityForm.SHARE), place + 1
    if token.low == "per" and place + 1 < len(found) and found[place + 1].low == "cent":
        return TextQuantity(value / 100, QuantityForm.SHARE), place + 2
    pair = place + 1 < len(found) and is_number(found[place + 1])
    if token.low in {"x", "fold", "times", "*"} and not pair:
        return TextQuantity(value, QuantityForm.FACTOR), place + 1
    return None


def _amount(found: Sequence[Token], place: int) -> tuple[float, int, bool] | None:
    """A number in digits or words."""
    token = found[place]
    if is_number(token):
        value = float(token.text.replace(",", ""))
        place += 1
        if place < len(found) and found[place].joined and found[place].low == "k":
            value, place = value * 1000, place + 1
        elif place < len(found) and found[place].low in {"thousand", "million", "billion"}:
            value, place = value * _SCALES[found[place].low], place + 1
        if value in (float("inf"), float("-inf")):
            return None
        return value, place, False
    return _in_words(found, place)


def _in_words(found: Sequence[Token], place: int) -> tuple[float, int, bool] | None:
    first = found[place].low
    after = found[place + 1].low if place + 1 < len(found) else ""
    if first in {"a", "an"}:
        if after in _SCALES:
            value, place = 1.0, place + 1
        elif after in {"couple"}:
            skip = place + 2 < len(found) and found[place + 2].low == "of"
            return 2.0, place + 2 + skip, False
        elif (unit := unit_named(after)) is not None and len(after) > 2:
            return (1.0, place + 1, False) if unit in {"h", "min", "s", "d"} else None
        else:
            return None
    elif first in NUMBER_WORDS:
        value, place = float(NUMBER_WORDS[first]), place + 1
        if first in TENS and place < len(found) and 0 < NUMBER_WORDS.get(found[place].low, 0) < 10:
            value, place = value + NUMBER_WORDS[found[place].low], place + 1
    else:
        return None
    while place < len(found) and found[place].low in _SCALES:
        value, place = value * _SCALES[found[place].low], place + 1
        rest = place + (place < len(found) and found[place].low == "and")
        more = NUMBER_WORDS.get(found[rest].low) if rest < len(found) else None
        if more is not None and value >= 100 and more < 100:
            value, place = value + more, rest + 1
    half = [token.low for token in found[place : place + 3]]
    if half == ["and", "a", "half"]:
        value, place = value + 0.5, place + 3
    return value, place, False


def _fraction(found: Sequence[Token], place: int) -> tuple[float, int, bool] | None:
    """Half, a fifth, two thirds, 3/4."""
    low = [token.low for token in found[place : place + 3]]
    if low[0] == "half" and low[1:2] in (["a"], ["an"]) and low[2:3] not in ([], ["dozen"]):
        known = unit_named(low[2]) is not None
        return 0.5, place + 1 + (not known), known
    if low[0] in {"half", "halve"} and low[1:2] != ["dozen"]:
        return (0.5, place + 1, True) if low[0] == "half" else None
    if len(low) > 1 and low[1] in _PARTS:
        top = 1 if low[0] in _ARTICLES else NUMBER_WORDS.get(low[0], 0)
        if 0 < top < _PARTS[low[1]]:
            return top / _PARTS[low[1]], place + 2, True
    digits = len(low) > 2 and low[1] == "/" and low[0].isdecimal() and low[2].isdecimal()
    if digits and len(low[0]) < 4 and len(low[2]) < 4 and 0 < int(low[0]) < int(low[2]):
        return int(low[0]) / int(low[2]), place + 3, True
    return None


def _unit_at(found: Sequence[Token], place: int) -> tuple[str | None, int] | None:
    if place >= len(found):
        return None
    token = found[place]
    if not (token.text[0].isalpha() or token.text in _MONEY):
        return None
    if token.low in {"kilowatt", "kw", "watt", "w"} and place + 1 < len(found):
        after = found[place + 1].low
        if after in {"hour", "hours", "h"}:
            return ("kWh" if token.low.startswith("k") else "Wh"), place + 2
    if len(token.text) == 1 and not token.joined and token.text not in "sWhJBd":
        return None
    if token.low == "m":
        return ("min", place + 1) if token.joined else None
    unit = unit_named(token.text) or unit_named(token.low)
    return None if unit is None else _rate(found, unit, place + 1)


def _rate(found: Sequence[Token], unit: str, place: int) -> tuple[str, int]:
    """GB/s and GB per second are one unit; `3 s per epoch` is not."""
    if place + 1 < len(found) and found[place].low in {"/", "per"}:
        below = unit_named(found[place + 1].text) or unit_named(found[place + 1].low)
        if below in {"s", "min", "h", "d"}:
            return f"{unit}/{below}", place + 2
    return unit, place


def _with_more(
    found: Sequence[Token], quantity: TextQuantity, place: int
) -> tuple[TextQuantity, int]:
    """One hour and 30 minutes is one quantity."""
    if quantity.unit not in {"h", "min"}:
        return quantity, place
    rest = place + (place < len(found) and found[place].low == "and")
    low = [token.low for token in found[rest : rest + 2]]
    if low == ["a", "half"] and rest > place:
        return TextQuantity(quantity.value + 0.5, QuantityForm.NUMBER, quantity.unit), rest + 2
    if rest + 1 >= len(found) or not is_number(found[rest]):
        return quantity, place
    unit = _unit_at(found, rest + 1)
    smaller = {"h": ("min", 60.0), "min": ("s", 60.0)}[quantity.unit]
    if unit is None or unit[0] != smaller[0]:
        return quantity, place
    value = quantity.value + float(found[rest].text.replace(",", "")) / smaller[1]
    return TextQuantity(value, QuantityForm.NUMBER, quantity.unit), unit[1]


def joined_text(found: Sequence[Token], start: int, end: int) -> str:
    """The words from one token up to another, with one space where there was any."""
    rest = [token.text if token.joined else f" {token.text}" for token in found[start + 1 : end]]
    return "".join([found[start].text, *rest])


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without what plural, -ing and spelling add: nodes, node; tiling, tile."""
    if len(word) > 5 and word.endswith("ing"):
        word = word[:-3]
        if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
            word = word[:-1]
    elif len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith(("y", "i")):
        word = word[:-1] + "i"
    return word.replace("iz", "is")


@lru_cache(maxsize=16384)
def compact(text: str) -> str:
    """Letters and digits only, in lower case: `Num-Threads` and `num threads` are one."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
