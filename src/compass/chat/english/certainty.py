"""How sure a person wants to be, and whether the search may leave past runs: words and shares.

These phrases speak of the whole question, not of a column. They are taken out of a message before
its other words are read, so that `95 %` is no bound of an outcome.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from compass.chat.english.words import QuantityForm, quantity_at, tokens

_SHARE = (
    r"(?P<share>(?:\d+(?:\.\d+)?|\.\d+|[a-z]+(?:[ -][a-z]+)?)\s?(?:%|percent|per cent)|0?\.\d+)"
)
_SURE = r"(?P<word>sure|certain|confident)"
_NOUN = r"(?P<word>certainty|confidence|chance|probability|likelihood|odds|sureness)"
_LIKELY = r"(?P<word>likely|probable|certain|sure)"
_LEAST = r"(?:at least |some |about |an? |the )?"
_WANT = (
    r"(?:(?:and|but|also) )*(?:(?:i|we) (?:want|need|would like|have|wish) to be |"
    r"(?:let me|make me|to) be |be |being |(?:i|we) (?:am|are) to be )"
)
_THAT = r"(?: (?:that|to(?= (?:meet|reach|get|stay)\b)|of(?= (?:meeting|reaching|it)\b)))?"
_WITH = r"(?:with|at|by|for)"
_CHANCES = (
    re.compile(rf"(?<![\w.])(?:{_WANT})?{_LEAST}{_SHARE} {_SURE}{_THAT}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<![\w.]){_WITH} {_LEAST}{_LEAST}{_SHARE} {_NOUN}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<![\w.]){_WITH} {_LEAST}{_NOUN} of {_LEAST}{_SHARE}(?!\w)", re.IGNORECASE),
    re.compile(
        rf"(?<![\w.])(?:{_WITH} )?{_NOUN} (?:should be |must be |has to be )?(?:at least |of |: ?)"
        rf"{_LEAST}{_SHARE}(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?<![\w.])(?:(?:it |that |this |which )?(?:is|should be|must be|has to be|be) )?"
        rf"{_LEAST}{_SHARE} {_LIKELY}{_THAT}(?!\w)",
        re.IGNORECASE,
    ),
)
_RUNS = (
    r"(?:what (?:was|were|is|has been|have been|(?:i|we|you) have)(?: ever| already)? "
    r"(?:run|tried|measured|seen|done|tested|observed)|what (?:i|we) (?:ran|tried|measured)|"
    r"(?:the |my |our |all )?(?:past|measured|earlier|previous|known|old|existing) "
    r"(?:runs?|configurations?|configs?|jobs?|data|measurements?|experience))"
)
_BEYOND = re.compile(
    r"(?P<no>\b(?:do not|cannot|may not|must not|should not|not|never|without|nothing|no) "
    r"(?:\w+ ){0,2}?)?"
    r"(?:\b(?:it|you|the search|this|that|we|i|and|but) )*"
    r"(?:\b(?:may|can|could|might|should|is allowed to|are allowed to|feel free to)(?: also)? )?"
    r"(?:\balso )?(?:\b(?:go|going|search|searching|look|looking|be|explore|exploring|reach) )?"
    rf"\b(?:beyond|outside(?: of)?) {_RUNS}"
    r"(?: (?:is|would be) (?:also )?(?:fine|ok|okay|allowed|good|all right))?(?: too| as well)?",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    rf"\b(?:stay|staying|remain|keep|only search|search only) (?:within|inside|to) {_RUNS}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Certainty:
    """What a message says about the search as a whole."""

    chance: float | None = None
    beyond: bool | None = None  # None: it does not speak of that
    impossible: tuple[str, ...] = ()  # phrases with a share that no chance can be


def take_certainty(text: str, names: Iterable[str]) -> tuple[Certainty, str]:
    """What a message (as `plain` gives it) says of certainty, and the message without that.

    A word that is part of the name of a column is about that column.
    """
    columns = " ".join(names).casefold()
    chance, impossible = None, []
    for pattern in _CHANCES:
        for match in reversed([*pattern.finditer(text)]):
            share = _share(match["share"])
            if share is None or match["word"].casefold() in columns:
                continue
            text = f"{text[: match.start()]} {text[match.end() :]}"
            if 0 < share < 1:
                chance = share
            else:
                impossible.append(match[0].strip())
    beyond, text = _take_beyond(text)
    return Certainty(chance, beyond, tuple(impossible)), text


def _take_beyond(text: str) -> tuple[bool | None, str]:
    beyond = None
    for match in reversed([*_BEYOND.finditer(text)]):
        text = f"{text[: match.start()]} {text[match.end() :]}"
        beyond = match["no"] is None
    if _WITHIN.search(text):
        return False, _WITHIN.sub(" ", text)
    return beyond, text


def _share(words: str) -> float | None:
    """95 %, ninety percent or 0.95 as a share; None if these words are none."""
    found = tokens(words)
    quantity = quantity_at(found, 0)
    if quantity is None or quantity[1] != len(found):
        return None
    if quantity[0].form not in {QuantityForm.SHARE, QuantityForm.NUMBER}:
        return None
    return round(quantity[0].value, 12)  # 99.9 % is 0.999, without the noise of a division
