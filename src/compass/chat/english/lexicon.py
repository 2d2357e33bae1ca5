"""The words of a question that are not columns, each phrase with its tag (see `tags`)."""

import re
from dataclasses import dataclass

from compass.chat.english.phrases import PHRASE_TEXTS, SPARED, never
from compass.chat.english.tags import Tag
from compass.chat.english.words import word_set

FILLER = word_set(
    "how a an the my our your his its i we you me us he she they please just also so kind sort "
    "will would could should can may might must shall do does did have had having get getting "
    "gets got want wants wanted need needs needed like likes really very quite still actually "
    "well okay ok hello hi hey thanks thank there here some any all total number amount count "
    "am been let lets kindly mean meant say said think know see that which who whose simply "
    "basically maybe perhaps probably even too again overall possible possibly able way "
    "things thing stuff simulation simulations values parameter parameters knob "
    "knobs setting constraint constraints condition conditions requirement goal goals "
    "objective target targets currently both exact actual certain given something "
    "someone happen happens when because since wondering curious ask asking available much "
    "many allowed looking look fit ensure sure provided assuming "
    "assume long provide show ones own respectively whole entire usual default "
    "normal regular these those such ever work works working code codes "
    "program programs case cases somewhere circa roughly "
)
# Words that no typing error leads to a column or a label.
_COMMON = word_set(
    "nope yep yeah nah hmm thanks hello sorry okay "
    "about above after again all also always and another answer any anything are around away "
    "back because been before being below best better between both but call came cannot care "
    "case come coming could cost day different does done down during each easy else end "
    "enough even ever every exact fact fast far feel few find fine first fit follow for free "
    "full gave give goal goes good great group had half hand hard has have hear help here "
    "high him his hold home hope house how however huge idea important into issue its job "
    "just keep kind knew know large last late later least leave left less let life like line "
    "list little live long longer look lot love low made main make many may maybe mean means "
    "might mind moment money more most move much must name near need never new next nice "
    "night none not nothing now number off often old once one only open order other our out "
    "over own paper part past people perhaps place plan please point possible post problem "
    "put question quick quite rate rather read real really reason right room round run said "
    "same save say science see seem seen send set several shall she should show side simple "
    "since small some soon sort sound stand start state stay still stop such sure take talk "
    "task tell test than thank that their them then there these they thing think third this "
    "those though three through till time times today together told too took true try turn "
    "two type under until upon use used user using usual very wait walk want was way week "
    "well went were what when where which while who whole why will with within without won "
    "word work world would write wrong year yes yet you your done mode note gone nodded care "
    "bare core score store more load lots host most cost post fixed heavy model default "
    "system cases large extremely supercomputer science project deadline report budget "
    "scientist colleague boss team spare happy worth afford matter matters depends depending "
    "wonder allow allows limited fewer result results total instead value values same change "
    "changes consume draw burn eat"
)
_EXTREMES = {
    "fast": (
        "fastest|quickest|as fast as possible|as quick as possible|as quickly as possible|"
        "speediest|"
        "as soon as possible|as fast as it can|fast as possible|max speed|maximum speed|top speed|"
        "best speed|asap|soonest|quickly as possible|as fast as you can|as fast as it gets|"
        "best possible speed|highest speed|maximise speed|least time|best time|earliest|"
        "go as fast|run as fast|in no time|best runtime|best run time|best time to solution"
    ),
    "cheap": "cheapest|as cheap as possible|as cheaply as possible|most economical|least expensive",
    "green": (
        "most energy efficient|greenest|most efficient|as efficient as possible|most frugal|"
        "energy efficient|best energy efficiency|as efficiently as possible|most power efficient|"
        "least energy hungry|least hungry"
    ),
    "strong": (
        "best performance|highest performance|best performing|most performant|maximum performance|"
        "max performance|peak performance|as performant as possible|best possible performance|"
        "maximise performance|optimise performance|improve performance|improve the performance"
    ),
    "accurate": "most accurate|as accurate as possible|best quality|as accurately as possible",
    "slow": "slowest|as slow as possible",
    "short": "as short as can be",
    "wait": "start as soon as possible|start soonest|start asap|starts as soon as possible|"
    "start earliest|starts soonest",
}
_COMPARATIVES = {
    "fast": "faster|quicker|as fast|as quick|as quickly|speed up|speedup|speed it up|"
    "speeding up|sooner|run faster|speed|quickly",
    "wait": "start sooner|start earlier|starts sooner|starts earlier|begin sooner|begin earlier|"
    "get started sooner|start faster|start quicker|started sooner|start quickly",
    "slow": "slow|slows|slower|as slow|slow down|slowing down|slowdown",
    "cheap": "cheaper|less expensive",
    "long": "how much shorter|how much longer|how much sooner|how much faster|how much slower|"
    "how much quicker|how long|how fast|how quickly|how quick|how slow",
    "green": "more efficient|greener|more energy efficient",
    "accurate": "more accurate",
    "strong": "more performant|better performing|better performance",
}
_EQUALLY = {
    "fast": "equally fast|just as fast|equally quick|just as quick|as fast as before|"
    "as fast as now|as quick as now|as fast as it is",
    "cheap": "equally cheap|just as cheap|as cheap as now",
    "accurate": "equally accurate|just as accurate|as accurate as now",
}
_NO_WORSE = {
    "fast": f"{never('slower')}|at least as fast|at least as quick|"
    "without slowing down|without slowing it down|without any slowdown|without a slowdown|"
    "without slowdown|without losing speed|without losing performance|"
    "without hurting performance|without losing time|performance must not suffer|"
    "performance should not suffer|performance must not drop|performance should not drop",
    "cheap": f"{never('more expensive')}|at least as cheap",
    "accurate": f"{never('less accurate')}|at least as accurate",
    "": SPARED,  # the column that is named beside it says what is meant
}
_FACTORS = {
    2.0: "double|doubling|doubled|doubles",
    3.0: "triple|tripling|tripled|treble",
    4.0: "quadruple|quadrupling|quadrupled",
    0.5: "halve|halving|halved|halves|cut in half|cutting in half|cut by half|slice in half",
    1 / 3: "cut to a third",
}
_TIMES = {
    2.0: "two times as high|twofold|twice|twice as many|twice as much|two times as many|"
    "double the number of|"
    "twice the|"
    "double the amount of|twice as big|twice as large|twice as high|twice as long",
    3.0: "threefold|thrice|three times as many|three times as much|triple the number of",
    4.0: "four times as many|four times as much",
    0.5: "twice as low|two times as low|half as high|half as long|half as large|half as big|"
    "half as many|half as much|half the number of|half of the|half the amount of|half of|"
    "half the",
    5.0: "fivefold|five fold",
    10.0: "tenfold|ten fold",
    0.25: "a quarter of|one quarter of|a quarter of the",
    1 / 3: "a third of|one third of|a third of the",
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """The part that a phrase plays, with what it names: a concept or a factor."""

    tag: str
    concept: str = ""
    factor: float = 0.0
    strict: bool = False
    or_better: bool = False


def _american(text: str) -> str:
    return re.sub(r"(optim|minim|maxim|util|parallel)is", r"\1iz", text)


def _phrases() -> dict[tuple[str, ...], list[Phrase]]:
    found: dict[tuple[str, ...], list[Phrase]] = {}

    def add(text: str, part: Phrase) -> None:
        for phrase in text.split("|"):
            for spelling in dict.fromkeys((phrase, _american(phrase))):
                if spelling:
                    found.setdefault(tuple(spelling.split()), []).append(part)

    add("|", Phrase(Tag.OR))
    for tag, text in PHRASE_TEXTS.items():
        plain = {"≤": "<", "≥": ">"}.get(tag, tag)
        add(text, Phrase(plain, strict=tag in Tag.BOUNDS))
    for concept, text in _EXTREMES.items():
        add(text, Phrase(Tag.SUPERLATIVE, concept=concept))
    for concept, text in _COMPARATIVES.items():
        add(text, Phrase(Tag.COMPARATIVE, concept=concept))
    for concept, text in _EQUALLY.items():
        add(text, Phrase(Tag.EQUALLY, concept=concept))
    for concept, text in _NO_WORSE.items():
        add(text, Phrase(Tag.EQUALLY, concept=concept, or_better=True))
    for factor, text in _FACTORS.items():
        add(text, Phrase(Tag.MULTIPLY, factor=factor))
    for factor, text in _TIMES.items():
        add(text, Phrase(Tag.FACTOR, factor=factor))
    return found


PHRASES = _phrases()
LONGEST = max(len(phrase) for phrase in PHRASES)
KNOWN_WORDS = frozenset(word for phrase in PHRASES for word in phrase) | FILLER | _COMMON
# Words of the lexicon that a typing error may be meant for.
CORRECTABLE = sorted(
    {
        word
        for phrase in PHRASES
        for word in phrase
        if len(word) >= 6 and word.isalpha() and word not in _COMMON
    }
    | word_set(
        "recommend reconfigure suggest minimise minimize maximise maximize configuration reduce "
        "increase double triple halve under below above least most change switch affect instead "
        "percent number should seconds minutes hours simulation parameters constraints between"
    )
)
