"""The dialogue act of a message: yes, no, why, undo, or parts of a question."""

import re

from compass.chat.draft import Act, Slot
from compass.chat.english.words import QuantityForm, quantity_at, tokens

_POLITE = r"(?:please|pls|thanks|thank you|now|then|compass|for me)"
_YES_WORD = (
    r"yes|yep|yeah|yup|ya|y|ok|okay|okey|k|sure|correct|right|exactly|absolutely|of course|indeed|"
    r"perfect|great|fine|good|true|confirm(?:ed)?|agreed|definitely|certainly|affirmative|"
    r"go ahead|go|go for it|do it|do that|run it|run that|run|ask it|proceed|carry on|please do|"
    r"(?:that |it |this |they |those )?(?:looks?|sounds?|seems?|is|are) (?:all )?"
    r"(?:good|right|fine|correct|great|ok|okay|perfect)(?: to me)?|"
    r"that is (?:it|what i (?:mean|meant|want))|i do|it is|they are|"
    r"that is right|makes sense|works for me|all good|you got it|spot on|precisely|continue"
)
_NO_WORD = (
    r"no|nope|nah|n|wrong|not (?:quite|really|exactly|correct|right|that|this|so|yet)|incorrect|"
    r"negative|never|(?:that|this|it) is (?:wrong|not (?:right|correct|it|what i (?:mean|meant|"
    r"want|said)))|do not|not at all|no way|no thanks|no thank you"
)
_NOTHING = (
    r"(?:no|none|nope|without|there are no|i have no|there is no)\b(?: (?:other|more|further|"
    r"additional|extra|special|particular|such|real))* ?(?:constraints?|limits?|restrictions?|"
    r"conditions?|rules?|requirements?|preferences?|bounds?|wishes)(?: (?:at all|really|for now|"
    r"from me|else))?|none(?: at all| really| of (?:them|those)| for now)?|nothing(?: else| more|"
    r" special| really| to add)?(?: for now)?|(?:no |nope )?(?:that|this) (?:is|was|will be) "
    r"(?:all|everything|it for now|enough)|that would be all|(?:no )?nothing else|no others?|"
    r"no more|not that i know(?: of)?|nothing comes to mind|unconstrained|unrestricted|"
    r"(?:no )?i am done|(?:no )?that is all(?: i need| for now)?|all done|no constraints? needed|"
    r"does not matter|do not care|i do not (?:care|mind)|skip(?: (?:it|this|that))?|"
    r"not (?:really )?any|no preference|whatever"
)
_WHY = (
    r"(?:but |and |so |ok |okay )?why\b.*+|how come\b.*+|"
    r"(?:please |can you |could you )?explain\b.*+|what is the reason\b.*+|"
    r"(?:for )?what reasons?\b.*+|what makes (?:you|this|that|it)\b.*+|"
    r"how do you know\b.*+|on what (?:basis|grounds)\b.*+|what is (?:this|that|it) based on\b.*+|"
    r"(?:show me )?(?:the )?(?:evidence|reasons?|reasoning)"
)
_MORE = (
    r"(?:please |can you |could you )?(?:give me |show me |show |list |i want |i would like |"
    r"can i (?:have|see|get) |get me |let me see |any |are there (?:any )?|got any |do you have "
    r"(?:any )?|what )?(?:some |a few |the )?(?:(?P<count>\w+) )?(?:more|other|further|additional|"
    r"another|different|alternative|next)(?: (?P<after>\w++))?(?: (?:options?|suggestions?|"
    r"alternatives?|configurations?|configs?|ideas?|ones?|results?|answers?|candidates?|"
    r"recommendations?|choices?|possibilities|settings|proposals?))?(?: (?:are there|do you have|"
    r"have you got|exist))?|(?:what|anything) else(?: is there| do you have| have you got)?|"
    r"(?:show )?alternatives|show me alternatives|keep going|next"
)
_FEW = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|few|some|other|more|new|next)"
_RUNS = r"(?:runs?|experiments?|configurations?|configs?|jobs?|measurements?|tests?|points?)"
_MADE = r"(?:runs?|experiments?|jobs?|measurements?|tests?)"  # next configurations: of a list
_MAKE = r"(?:run|measure|make|test|try|do|perform|execute|submit|start|launch|benchmark|sample)"
_RUN_NEXT = (
    r"(?:(?:so|and|ok|okay|then|but|now) )?(?:(?:can you |could you )?(?:tell me|show me|say) )?"
    rf"(?:(?:what|which)(?: (?:{_FEW}|{_RUNS})){{0,3}} (?:(?:should|shall|could|must|can|would|do) "
    rf"(?:i|we|you) (?:{_MAKE}|like me to {_MAKE}|suggest to {_MAKE})|to {_MAKE}|i should {_MAKE}) "
    rf"next(?: (?:to|for|in order to)\b.*+)?|"
    rf"(?:what|which) (?:are|is|would be) the (?:{_FEW} )?(?:next {_MADE}|{_RUNS} to {_MAKE} next)|"
    rf"(?:what|which)(?: {_FEW})? {_RUNS} (?:would|will|could) help(?: (?:me|us|you))?(?: (?:most|"
    r"the most|best|further))?|"
    rf"(?:propose|suggest|give me|list|show)(?: (?:me|the|some|{_FEW})){{0,3}} (?:next {_MADE}|"
    rf"{_RUNS} (?:to (?:{_MAKE})|for me to {_MAKE})(?: next)?)|"
    rf"(?:what )?(?:to )?(?:run|measure) next|next {_MADE})"
)
_UNDO = (
    r"undo(?: (?:that|it|this|the last (?:one|step|change)))?|(?:please )?go back"
    r"(?: (?:one|a) step| one)?|back|take (?:that|it) back|revert(?: (?:that|it))?|(?:scratch|"
    r"strike) that|"
    r"never ?mind(?: that)?|step back|oops|forget (?:that|it|what i just said|the last (?:one|bit|"
    r"thing))|ignore (?:that|my last message)|cancel that|i take that back|that was a mistake"
)
_RESTART = (
    r"(?:let us |let me |lets |can we |i want to )?(?:start|begin) (?:over|again|anew|afresh|from "
    r"scratch|from the beginning|new|a new (?:question|one))(?: again)?|restart|reset(?: everything"
    r"| all)?|(?:a )?new (?:question|query|conversation|chat)|from scratch|clear(?: (?:all|"
    r"everything))?|forget (?:everything|it all|all(?: of (?:it|that))?)|start fresh|"
    r"another question|different question|quit|scrap (?:everything|it all|all of it)"
)
_HELP = (
    r"help(?: me)?(?: out)?|\?++|what can (?:you do|i (?:ask|say|do|type))\b.*+|"
    r"how does (?:this|it) work|(?:i am |i feel )?(?:lost|confused|stuck)|"
    r"what (?:are my options|do you (?:do|need|want|understand))|"
    r"(?:show |give )?(?:me )?(?:some )?examples?|"
    r"i do not (?:know|understand)\b.*+|"
    r"what should i (?:say|type|ask|do)|commands|usage|how do i use (?:this|you|it)|who are you|"
    r"what is this|hello|hi|hey|good (?:morning|afternoon|evening)|hi there|hello there"
)
_WHOLE = tuple(
    (act, re.compile(rf"(?:{text})[\s,.!]*+(?:{_POLITE}[\s,.!?]*+)*[\s.!?]*", re.IGNORECASE))
    for act, text in (
        (Act.RESTART, _RESTART),
        (Act.UNDO, _UNDO),
        (Act.NOTHING, _NOTHING),
        (Act.HELP, _HELP),
        # Some times, not any number of times: `run that is right` can be parted in two ways.
        (Act.YES, rf"(?:{_YES_WORD})(?:[\s,.!]++(?:{_YES_WORD}|{_POLITE}|we can|you can)){{0,6}}"),
        (Act.NO, rf"(?:{_NO_WORD})(?:[\s,.!]++(?:{_NO_WORD}|sorry)){{0,6}}"),
        (Act.WHY, _WHY),
        (Act.RUN_NEXT, _RUN_NEXT),
        (Act.MORE, _MORE),
    )
)
_FIRST = re.compile(
    r"\s*(?:(?:hm+|uh|oh|ah|well|ok|okay|wait|sorry|actually)[\s,.]++)?(?:(?P<yes>yes|yep|yeah|yup|ok|okay|sure|correct|right|perfect|great|fine|good)|"
    r"(?P<no>nope|nah|wrong|incorrect|no(?!\s+(?:more|less|fewer|other|one|longer|need)\b)))"
    r"\s*+(?P<comma>[,.;:!\-]|\b(?=(?:but|and|i|make|use|keep|under|at|only|please|let|we|it|"
    r"set|sorry|that|the|not|rather|actually|wait)\b))",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\b(?:actually|i meant?|i mean|sorry|correction|rather make|change (?:it|that)"
    r" to|on second thoughts?|instead make|i said|not what i)\b|"
    r"^\W*(?:\w+\W+){0,2}make (?:it|that)\b(?![^.]*\b(?:faster|slower|cheaper|run)\b)|"
    r"^\s*(?:instead|rather|wait\s*[,.!-])"
    r"|\binstead[.!\s]*$",
    re.IGNORECASE,
)


def act_of(text: str, expecting: Slot | None) -> Act | None:
    """What a message does if it does nothing but that; None: it tells something."""
    bare = _squeezed(text).strip()
    if len(bare) > 120:
        return None
    if expecting is Slot.CONSTRAINTS and re.fullmatch(rf"(?:{_NO_WORD})[\s.!]*", bare, re.I):
        return Act.NOTHING
    for act, pattern in _WHOLE:
        if pattern.fullmatch(bare):
            return act
    return None


def opening(text: str) -> tuple[Act, str, bool]:
    """How a message begins: yes or no before it tells something; the rest; whether it corrects."""
    act, corrects = Act.INFORM, bool(_CORRECTS.search(text))
    found = _FIRST.match(text)
    if found is None:
        return act, text, corrects
    rest = text[found.end() :]
    if found["no"]:
        return Act.NO, rest, True
    return Act.INFORM, rest, corrects or bool(re.match(r"\s*but\b", rest, re.IGNORECASE))


def _squeezed(text: str) -> str:
    """The text with one space between words, however many there were."""
    return re.sub(r"\s+", " ", text)


def count_in(text: str) -> int | None:
    """How many suggestions a message names: give me 3 more."""
    found = tokens(text)
    for place in range(len(found)):
        quantity = quantity_at(found, place)
        if quantity is not None and quantity[0].form is QuantityForm.NUMBER:
            value = quantity[0].value
            return int(value) if value.is_integer() and 1 <= value <= 1000 else None
    return None
