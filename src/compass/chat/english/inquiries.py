"""Questions about what is known already: how sure, the best run, what matters, a row."""

import re
from collections.abc import Iterable

from compass.chat.draft import Inquiry, Topic

_RUN = (
    r"(?:runs?|jobs?|results?|configurations?|configs?|setups?|settings?|trials?|experiments?|"
    r"measurements?)"
)
_HAD = (
    r"(?:so far|already|until now|up to now|to date|i (?:already )?(?:have(?! to)|had|ever had|ran|"
    r"measured)|"
    r"we (?:already )?(?:have(?! to)|had|ran|measured)|(?:i|we) (?:have )?(?:ever )?(?:measured|"
    r"seen|"
    r"recorded)|"
    r"in (?:the|my|our) (?:data|table|history|log)|(?:i|we) ever|ever (?:measured|seen|recorded)|"
    r"on record|"
    r"of (?:all )?(?:my|our) (?:past )?runs)"
)
_BEST = (
    r"(?:best|fastest|quickest|cheapest|lowest|highest|shortest|smallest|largest|greatest|minimum|"
    r"maximum|record|top|least|most \w{1,20})"
)
_KNOBS = (
    r"(?:knobs?|parameters?|settings?|of these|of them|columns?|flags?|options?|factors?|thing)"
)
_PATTERNS: tuple[tuple[Topic, str], ...] = (
    (
        Topic.COMPARE,
        r"\b(?:compare|difference between|differ|how do)\b[^?.]{0,30}?"
        r"(?<![\w.])(?P<first>#?\d+|first|second|third|fourth|last|top)\b[^?]{0,30}?\b(?:and|"
        r"with|to|vs|versus|from|against)\b"
        r"[^?]{0,30}?(?<![\w.])(?P<second>#?\d+|first|second|third|fourth|last)\b",
    ),
    (
        Topic.COMPARE,
        r"\b(?:put |show )?(?:suggestions?|options?|configurations?|configs?|rows?|runs?|numbers?|"
        r"alternatives?) (?P<first>#?\d+|first|second|third)\b[^?]{0,30}?\b(?:and|with|to|vs|"
        r"versus|"
        r"against|or)\b[^?]{0,20}?(?P<second>#?\d+|second|third|fourth|last)\b[^?]{0,20}?"
        r"\b(?:side by side|next to each other|compared?|beside each other|in comparison)\b",
    ),
    (
        Topic.COMPARE,
        r"^\W*(?:suggestions?|options?|configurations?|configs?|rows?|runs?) (?P<first>#?\d+)"
        r"(?: vs\.?| versus| against) (?:the )?(?:suggestion |option |configuration |row |run )?"
        r"(?P<second>#?\d+)\b[^?]{0,40}$",
    ),
    (
        Topic.ROW,
        r"^\W*(?:(?:can you |could you |please )?(?:show|display|print|list|open|give|get|see|"
        r"view|pull up)"
        r"(?: me| us)?|what (?:exactly )?(?:was|is|were)(?: in)?|what does|what did|"
        r"details (?:of|for|on)|"
        r"let me see|i want to see|(?:can|may|could) (?:i|we) see|how did)\b[^?.]{0,40}?\b(?:row|"
        r"run|line|record|entry|job|"
        r"experiment|trial)"
        r"(?: number| no\.?| #)?\s*#?(?P<row>\d+)\b"
        r"(?:\W+(?:for me|for us|to me|look like|again|please|do|go|perform|again please|in full|"
        r"in detail|use|"
        r"used)){0,3}(?P<second>)\W*$",
    ),
    (
        Topic.ROW,
        r"^\W*(?:(?:can|could) you )?(?:show|tell)\b[^?.]{0,20}\bwhat (?:row|run|job|line)"
        r"(?: number| #)? ?#?(?P<row>\d{1,9})\b[^?.]{0,20}\W*$|"
        r"^\W*what (?:did|was|were|have)\b[^?.,]{0,40}\b(?:in|of|for|with) (?:row|run|job|line)"
        r" #?(?P<second>\d{1,9}+)\b(?!.*\b(?:if|reduce|increase|less|more|recommend)\b)",
    ),
    (
        Topic.COMPARE,
        r"\bhow (?:does|do|did)\b[^?]{0,30}?\b(?P<first>#?\d+|first|second|third|fourth|last)\b"
        r"[^?]{0,20}?\b(?:compare|differ)\b[^?]{0,20}?"
        r"\b(?P<second>#?\d+|first|second|third|fourth|last)\b",
    ),
    (
        Topic.CERTAINTY,
        r"\bhow (?:sure|certain|confident|reliable|trustworthy|accurate|safe|solid|"
        r"good)\b[^?.]{0,60}"
        r"\b(?:you|this|that|it|these|those|prediction|predictions|answer|numbers?|estimate|"
        r"model|i be|we be)\b|"
        r"\b(?:can|should|could) (?:i|we) (?:really )?(?:trust|rely on|believe)\b|"
        r"\bhow (?:much|far) (?:can|should|do) (?:i|we|you) (?:trust|rely on|believe)\b|"
        r"\b(?:are|is) (?:you|that|this|it) (?:really )?(?:sure|certain|reliable|trustworthy)\b|"
        r"\bwhat (?:is|are) the (?:confidence|uncertainty|certainty|error bars?|error)\b|"
        r"\bhow (?:uncertain|wrong)\b",
    ),
    (
        Topic.IMPORTANCE,
        rf"\b(?:which|what)\b[^?.]{{0,60}}\b(?:matters?|counts?|influences?|affects?|drives?|"
        rf"impacts?|"
        rf"determines?)\b[^?.]{{0,60}}\b(?:most|more|the most)\b|"
        rf"\bwhich {_KNOBS} (?:drive|drives|influence|affect|matter|matters|determine)\b|"
        rf"\bmost (?:important|influential|relevant|sensitive) {_KNOBS}|"
        rf"\b(?:biggest|largest|strongest|greatest|most) (?:influence|impact|effect|lever|driver|"
        rf"say)\b|"
        rf"^\W*(?:so |and |but )?what (?:matters|counts|drives|influences|affects)\b|"
        rf"\bwhich {_KNOBS}[^?.]{{0,40}}\bimportant\b|"
        rf"\brank\b[^?.]{{0,30}}\b{_KNOBS}\b|\bhow (?:important|sensitive)\b|\bimportance of\b",
    ),
    (
        Topic.BEST_RUN,
        rf"\b{_BEST}\b(?![^?.]*\bchange)[^?.]{{0,80}}\b{_HAD}\b|"
        rf"\b(?:which|what) {_RUN}\b[^?.]{{0,20}}\b{_HAD}\b[^?.]{{0,40}}\b{_BEST}\b|"
        rf"\b(?:which|what) (?:of (?:my|our|the) (?:past |previous |old )?)?{_RUN}[^?.]{{0,30}}"
        rf"\b(?:was|were|had|gave|has been|did)\b[^?.]{{0,40}}\b{_BEST}\b|"
        rf"\b(?:what|which) (?:was|were|is) (?:the |my |"
        rf"our )*{_BEST}[^?.]{{0,40}}\b{_RUN}\b[^?.]{{0,60}}"
        rf"\b(?:past|previous|measured|history|data|before|had|have|already|far)\b|"
        rf"\bwhich of (?:the|my|our|all) (?:past|previous|old|earlier|measured) \w{{1,20}} (?:had|"
        rf"has|"
        rf"gave|was|is|were|reached|needed|took)\b[^?.]{{0,40}}\b{_BEST}\b|"
        rf"^\W*(?:which|what) {_RUN} (?:has|had|have|gave|is|was|reached|got|needs|needed|used|"
        rf"uses|"
        rf"took|takes) (?:the |our |my )?{_BEST}\b|"
        rf"\b(?:my|our) {_BEST} (?:past |previous |measured )?{_RUN}\b",
    ),
)
_NEXT = re.compile(
    r"\b(?:what|which)\b[^?.]{0,40}\b(?:should|shall|could) (?:i|we)\b[^?.]{0,30}\bnext\b|"
    r"\b(?:what|which)\b[^?.]{0,40}\b(?:should|shall|could|to|must)\b[^?.]{0,30}\b(?:run|measure|"
    r"benchmark|"
    r"simulate|try|test|sample|evaluate|collect|do|launch|explore|submit)\b[^?.]{0,20}\bnext\b",
    re.IGNORECASE,
)
_COMPILED = tuple((topic, re.compile(text, re.IGNORECASE)) for topic, text in _PATTERNS)
_PLACES = {"first": 1, "top": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_ROWS = re.compile(r"\b(?:rows?|runs?|jobs?|lines?)\s*#?\d", re.IGNORECASE)
_HYPOTHETICAL = re.compile(r"\b(?:if|would|could|what about)\b", re.IGNORECASE)


def inquiry_in(text: str, outcomes: Iterable[str], rules: Iterable[str]) -> Inquiry | None:
    """What a message wants to know of what is there; None: it asks something else.

    `outcomes` are those that it names, `rules` the values that it names.
    """
    if len(text) > 200:
        return None
    for topic, pattern in _COMPILED:
        found = pattern.search(text)
        if found is None or (topic in _NOT_SUPPOSED and _HYPOTHETICAL.search(text)):
            continue
        named = next(iter(outcomes), None)
        match topic:
            case Topic.ROW:
                row = found["row"] or found["second"]
                return Inquiry(topic=topic, row=int(row))
            case Topic.COMPARE:
                places = tuple(_place(found[group]) for group in ("first", "second"))
                of_rows = bool(_ROWS.search(text))
                return Inquiry(topic=topic, places=places, rows=of_rows)
            case _:
                return Inquiry(topic=topic, outcome=named, where=tuple(rules))
    return None


_NOT_SUPPOSED = frozenset({Topic.IMPORTANCE, Topic.BEST_RUN, Topic.COMPARE})


def _place(words: str) -> int:
    return _PLACES.get(words.casefold()) or int(words.lstrip("#"))


def asks_next_runs(text: str) -> bool:
    """Whether a message asks which runs to make next."""
    return len(text) <= 200 and bool(_NEXT.search(text))
