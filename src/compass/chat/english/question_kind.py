"""Which of the three questions a message asks, by its wording."""

import re

from compass.chat.english.link import nearest_word
from compass.domain.query import Kind


def _whole(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{text})", re.IGNORECASE)


_STRONG: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.RECOMMEND, _whole(r"\bhow (?:should|shall|do) (?:i|we) (?:set|choose|pick|select)\b")),
    (
        Kind.RECONFIGURE,
        _whole(
            r"\bre-?configur|\bre-?tune|\b(?:smallest|least|minimal|fewest|minimum|tiniest|few|"
            r"small)\b[^.?]{0,20}"
            r"\b(?:changes?|modifications?|tweaks?|fix|adjustments?|edits?)\b|\bwhat (?:should|"
            r"must|do|can|"
            r"could|would|shall) "
            r"(?:i|we|you)(?: have to| need to)? (?:change|adjust|modify|alter|tweak)\b|"
            r"\bwhat (?:needs?|has|have) to (?:change|be changed)\b|"
            r"\b(?:change|modify|adjust|tweak|improve|fix|rework) (?:my|this|that|our) (?:run|job|"
            r"config|setup|configuration|current)"
        ),
    ),
    (
        Kind.WHAT_IF,
        _whole(
            r"\bwhat[\s-]+if\b|\bwhat \w{3,6} happen\b|\bwhat (?:happens|would happen|"
            r"will happen|happen)\b|"
            r"\bsuppos(?:e|ing)\b|^\W*say (?:i|we) \w+\b[^?]{0,120}\?|"
            r"^\W*(?:and |so |but |ok )?if (?:i|we) (?!want|need|can|could|may|"
            r"have)\w+\b[^.?]{0,100}"
            r"\b(?:how|what|does|will|would|do)\b(?! else)|"
            r"\bimagine\b|\bhow (?:would|will|do|does|did|might|could|is|are)\b(?! (?:i|we|you)\b)"
            r"[^.?]{0,120}\b(?:affect|chang\w|chnage|impact|influence|react|respond|behave|"
            r"alter|look|"
            r"develop|evolve|fare|affected|differ|turn out|move|vary)\w*\b|"
            r"\b(?:impact|effects?|influence|consequences?|implications?)\b (?:on|of|for|to)\b|"
            r"\bwhat (?:does|would|will|do|did) (?:that|this|it|they) (?:do|mean|cost|change)\b|"
            r"\bwhat (?:does|would|will|do|did)\b[^.?]{0,60}\bdo to\b|"
            r"\bhow\b[^.?]{0,40}\b(?:reacts?|responds?|depends?)\b|"
            r"\bwhat becomes? of\b|\bwhat else\b|\bin case (?:i|we)\b|"
            r"\bhow (?:much|many|far|strongly)\b[^.?]{0,80}\b(?:would|will|does|do)\b"
            r"(?! (?:i|we)\b)[^.?]{0,80}\bif\b"
        ),
    ),
    (
        Kind.RECOMMEND,
        _whole(r"\brecomm?end|\bsuggest|\bpropos(?:e|al)|\badvi[sc]e|\bsuggestion"),
    ),
)
_TRIED = _whole(
    r"\bdo (?:we|i|they)\b|\bsee (?:how|what|if|whether)\b|\bif\b|\bwould\b(?! (?:also )?(?:like|"
    r"love|prefer|need|want))|\bwill\b|\bdoes\b|"
    r"\bhow about\b|\bcould\b|"
    r"\bhow (?:much|many) (?:faster|slower|more|less)|\bwhat (?:does|is|will|would)\b|\bwhats\b|"
    r"\bwhen\b"
)
_FORESEEN = _whole(
    r"\bwhat\b[^.?]{0,100}\b(?:becomes?|expect)\b|\bwhat (?:will|would)\b[^.?]{0,100}\bbe\b|"
    r"\bwhat\b[^.?]{0,60}\b(?:(?:do|would|will) i get|like (?:for|with|if|on))\b|"
    r"\bassuming\b|\bwhether\b|\bhow\b[^.?]{0,60}\bchanges?\b|\bpredict|\bestimate|\bforecast|"
    r"\bhow long (?:will|would|does)\b|"
    r"\bhow (?:much|many|fast)\b[^.?]{0,60}\b(?:would|will)\b|\bhow does\b|\bhow do the\b"
)
_SUGGESTED = _whole(
    r"^\W*(?:(?:and|ok|okay|so|then|hm+)\W+)*(?:what|how) about\b[^.?]{1,60}\?\s*$|"
    r"^\W*(?:and|or|but|ok|okay)\W+(?:what )?if\b[^.?]{1,80}\?\s*$|"
    r"\b(?:is|are|would)\b[^.?]{1,60}\bworth (?:it|trying|a try)\b"
)
_DOUBTED = _whole(r"(?:^|[,.;:]|\band\b|-)\s*(?:will|would|does|do)\b[^.?;:]{1,100}\?")
_WANTED = _whole(
    r"\bwhich\b|\bwhat\b|\bwhats\b|\bhow many\b|\bbest\b|\bfind\b|\bpick\b|\bchoos|\btell me\b|"
    r"\bshould i\b|\bshould we\b|\bis there\b|\bare there\b|\bgive me\b|\boptimal\b|\bideal\b|"
    r"\blook(?:ing)? for\b|\bi need a\b|\bi want a\b|\bsearch\b|\bhelp me\b|\bfigure out\b|"
    r"\bset ?up for\b|\bdetermine\b|\bselect\b|\bshow me\b|\bcan you\b|\bhow (?:big|large|much)\b|"
    r"\bdecide\b|\bgood (?:config|setting|value|choice|setup)|\bany setup\b|\bconfiguration (?:for|"
    r"that|with)\b|\bwork out\b|\bwhere should\b|\balternatives\b|\boptions\b|\bget me\b|\btune\b|"
    r"\boptimi[sz]e\b|\bis it possible\b|\bcan i\b|\bany way\b|\bany (?:ideas?|suggestions?|"
    r"advice|hints?|tips?)\b"
)


_HOW = _whole(
    r"\bhow (?:do|can|could|should|might|would) (?:i|we|one|you|my)\b"
    r"(?![^.?]{0,120}\b(?:affect|impact|influence)\b)"
)


def asks_how(text: str) -> bool:
    """Whether a message asks how something is reached: of a run that somebody has, or at all."""
    return bool(_HOW.search(text))


_NAMING = ("recommend", "suggest", "reconfigure", "happens", "happen")
_LONG_WORD = re.compile(r"[^\W\d_]{5,}")


def _spelled(text: str) -> str:
    """The text with the words that name a question spelled right."""
    return _LONG_WORD.sub(lambda word: nearest_word(word[0].lower(), _NAMING) or word[0], text)


def kind_of(text: str) -> Kind | None:
    """The question that the wording names outright."""
    text = _spelled(text)
    for kind, pattern in _STRONG:
        if pattern.search(text):
            return kind
    return None


def tries(text: str) -> bool:
    """Whether the wording fits a what-if once something is changed."""
    return bool(_TRIED.search(text))


def asks_whether(text: str) -> bool:
    """Whether a message begins like `would ...` and `does ...`."""
    return bool(re.match(r"\W*(?:would|will|does|did|is it true)\b", text, re.IGNORECASE))


def suggests(text: str) -> bool:
    """Whether a message puts a value up: what about 1 thread?, is mixed precision worth it?"""
    return bool(_SUGGESTED.search(text))


def doubts(text: str) -> bool:
    """Whether a clause begins like `will ...` and `does ...` and ends with a question mark."""
    return bool(_DOUBTED.search(text))


def foresees(text: str) -> bool:
    """Whether the wording fits a what-if once something has a value."""
    return bool(_FORESEEN.search(text))


def wants(text: str) -> bool:
    """Whether the wording asks for something to be found."""
    return bool(_WANTED.search(text))


_SUPPOSED = _whole(r"\bif (?:i|we|you|one)\b[^?]{0,120}\?")


def supposes(text: str) -> bool:
    """Whether a question is about what somebody might do: ... if I cap the clock?"""
    return bool(_SUPPOSED.search(text))
