"""The words of a question that are not columns, each with the part that it plays.

A part is one letter, so that a message becomes a short string that patterns can be matched on:

    C column   L label   V number   % share   H fraction   X factor
    <  at most, under      >  at least, over      =  exactly, is set to     !  not
    {  or less (behind)    }  or more (behind)    B  between    ~  only
    m  minimise            M  maximise            F  fastest, cheapest: names its outcome itself
    r  reduce              R  increase            d  less    D  more    q  faster: names its outcome
    x  double, halve       s  set, use            v  forget, drop       +  add      -  remove
    t  to   f  from   b  by   I  instead of   p  per   T  than   &  and   |  or   ,   .
    k  keep                z  the same            Z  do not touch
    e  affect              a  which, how many     E  everything         O  optimise, improve
    n  suggestions         j  row, job            g  currently          @  it, that value
    i  is, of              o  on, with, for       A  as (many) ... as   h  possible, at all
    y  switched on         Y  switched off        N  forbidden (behind)
    K  is fine             *  times               P  product of         ^  top
    /  multiple of         2  power of two
    w  any other word      (words that say nothing are left out)
"""

import re
from dataclasses import dataclass


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PHRASES = {
    "<": "under|below|less than|fewer than|smaller than|lower than|shorter than|beneath|<|"
    "cheaper than|faster than|quicker than|inside",
    "≤": "less than or equal to|smaller than or equal to|lower than or equal to|at or below|"
    "at most|up to|no more than|max|maximum|maximum of|max of|at the most|limited to|limit to|"
    "capped at|cap at|<=|≤|as much as|within|upper limit|upper bound|no higher than|tops|"
    "maximally|no longer than|at maximum|a maximum of|ceiling|no larger than|no bigger than|"
    "stay within|a limit of|limit of|cap of|budget of|a budget of|limit|no greater than|"
    "not to exceed|limited by|no slower than|no worse than|cap",
    ">": "over|above|more than|greater than|larger than|higher than|longer than|bigger than|>|"
    "exceed|exceeds|exceeding|exceeded|beyond|better than|go past|slower than",
    "≥": "greater than or equal to|more than or equal to|larger than or equal to|at or above|"
    "at least|no less than|no fewer than|minimum of|min of|minimum|min|>=|≥|at the least|"
    "a minimum of|no lower than|lower limit|lower bound|no smaller than|at minimum|minimally|"
    "upwards of|starting at|no shorter than|from at least",
    "=": "exactly|precisely|equal to|equals|equal|==|=|set to|fixed at|fixed to|kept at|held at|"
    "stay at|stays at|pinned to|always|must be|should be|has to be|have to be|needs to be|:|"
    "need to be|restricted to|pinned at|is set to|stick to|stick with|locked at",
    "~": "only|solely|just the|nothing but|one of|any of|either|strictly|among",
    "!": "not|no|never|without|except|anything but|avoid|avoiding|avoids|prevent|prevents|"
    "exclude|excluding|other than|"
    "anything except|everything but|rule out|but not|cannot|nor|neither|stay away from|"
    "different from|skip|any but|all but|no use of|non|ruling out|leave out|≠|!=|stay off|"
    "do not use|do not want|do not allow|do not run|must not be|should not be|is not|are not|"
    "do not go|do not let|must not|should not|may not|can not|need not|does not|do not",
    "{": "or less|or fewer|or lower|or below|or under|or smaller|or shorter|or faster|and below|"
    "and under|or cheaper",
    "}": "or more|or higher|or above|or over|or greater|or larger|or longer|or better|and above|"
    "upwards|plus or more|or bigger",
    "B": "between|range|in the range|anywhere between|somewhere between|ranging|in the range of",
    "m": "minimise|minimising|minimised|minimal|lowest|smallest|least|fewest|shortest|minimization|"
    "as low as possible|as small as possible|as short as possible|as little as possible|"
    "as few as possible|down as far as possible|low as possible|as low as you can|keep down|"
    "minimisation|as low as it gets|as little|as few|slimmest|tiniest|keep low|as small|"
    "as low as it can|bring down as far as possible|lowest possible|to a minimum|minimum possible|"
    "smallest possible|least possible|lowest achievable|shortest possible|to the minimum|minimized",
    "M": "maximise|maximising|maximised|maximal|highest|largest|greatest|biggest|most|maximisation|"
    "as high as possible|as large as possible|as much as possible|as many as possible|"
    "high as possible|as high as you can|peak|as many|highest possible|largest possible|"
    "to a maximum|top notch|as high as it gets|maximum possible|greatest possible",
    "r": "reduce|reducing|reduced|cut|cutting|lower|lowering|decrease|decreasing|decreased|shrink|"
    "save|saving|saves|trim|shave|shave off|drop|dropping|bring down|cut down|slash|take down|"
    "knock|get down|scale down|go down|lowered|shrinking|trimming|scaling down|bringing down|"
    "falls|fall|drops|reduction|reduction of|decrease of|reduction in|decrease in|dial down|"
    "turn down|cut back|cut back on|bring it down|shorten|shortening|lessen|down|reduces",
    "R": "increase|increasing|increased|raise|raising|raised|boost|boosting|grow|growing|gain|"
    "go up|bring up|scale up|scaling up|bump|bump up|push up|turn up|crank up|rise|rises|"
    "an increase of|increase of|increase in|bumping|up|lift|dial up|extend|enlarge|push|grew|"
    "upping|increases|lengthen|bumped",
    "d": "less than now|less than before|less than today|lower than now|lower than before|"
    "less than currently|"
    "less|fewer|smaller|lower|shorter",
    "D": "more|higher|larger|extra|additional|greater|longer|bigger|further",
    "x": "",
    "s": "set|setting|use|using|used|switch|switching|switched|change|changing|changed|move|moving|"
    "moved|make|try|trying|go|going|went|run|running|ran|pick|choose|put|assign|"
    "allocate|replace|replacing|swap|swapping|turn|turning|request|requesting|requested|take|"
    "launch|shift|submit|submitted|give it|give|select|migrate|jump|convert|"
    "goes|submitting|employ|employing|become|becomes|became|spread over",
    "v": "forget|forget about|ignore|remove|drop|lift|cancel|do not care about|disregard|"
    "never mind|no longer need|do not need|do not mind|relax|skip|delete|take away|get rid of|"
    "do not worry about|take out|does not matter|do not matter|leave out|dropping|clear|discard|"
    "not care about|care about|mind|throw away|throw out|undo|loosen|strike|withdraw|take back",
    "+": "add|adding|added|plus",
    "-": "remove|removing|take away|minus|subtract|take off|drop|lose|dropping|give up|removed|"
    "free up",
    "t": "to|into|->|=>|until|till|through|towards|→",
    "f": "from",
    "b": "by|by about|by roughly|by around|by at least|by some",
    "I": "instead of|rather than|in place of|in lieu of|not|as opposed to|over|versus|vs|replacing",
    "p": "per|for each|for every|on each|on every|each|in each|every|to each|a piece per",
    "T": "than|compared to|compared with|relative to|in comparison to|in comparison with",
    "&": "and|&|as well as|along with|together with|plus|but|while|whilst|but also|and also|"
    "and then|yet|then",
    "|": "or",
    ",": ",|;",
    ".": ".|!|?",
    "k": "keep|keeping|kept|hold|holding|leave|leaving|fix|fixing|retain|maintain|maintaining|"
    "preserve|stay|stays|remain|remains|keeps|freeze|staying|lock|pin down|stick|preserving",
    "z": "same|unchanged|constant|fixed|as it is|as they are|alone|as is|steady|where it is|"
    "where they are|stable|the same|at its current value|untouched|at the current value|"
    "identical|unaltered|at their current values|intact|put|in place|frozen|as before|equal|flat|"
    "at its current level|at current level|at the current level|what it is|what they are|"
    "unaffected|like it is|like they are|the way it is",
    "Z": "without touching|without changing|not touch|not change|do not touch|do not change|"
    "cannot change|must not change|should not change|may not change|without altering|"
    "not be changed|cannot be changed|does not change|can not change|without modifying|"
    "do not alter|do not modify|cannot touch|must not touch|should stay|must stay|not alter|"
    "off limits|not to be touched|is off limits|are off limits|without adding|is fixed|are fixed|"
    "must remain|has to stay|have to stay|not up for discussion|without using more|with the same|"
    "without moving|must not be changed|should not be changed|cannot move|do not move|"
    "without increasing|without raising|without more|hands off",
    "e": "affect|affects|affecting|effect on|impact|impact on|happen to|happens to|influence|"
    "do to|mean for|does to|effects on|consequences for|consequence for|becomes of|become of|"
    "change in|hurt|hit|look like|do for|implications for|impacts|influences|alter",
    "a": "which one|which|what|how many|how much|what number of|which number of|recommend|"
    "suggest|tune|"
    "tuning|"
    "find|choose|pick|what value of|best value for|value for|values for|values of|value of|"
    "what kind of|which kind of|how large|how big|what sort of|tell me|decide|determine|figure out|"
    "advise|work out|for the parameters|what about|propose|settings for|setting for|select|"
    "search over|vary|play with|adjust|adjusting|optimal|ideal|right|suitable|proper|best|good|"
    "sensible|reasonable|better|search|look at|varying|are free|is free|free|may change|can change|"
    "may vary|can vary|what type of|which type of|appropriate|only change|changing only",
    "E": "everything|all parameters|all knobs|all settings|all the parameters|all the knobs|all of "
    "them|all of it|whole configuration|entire configuration|full configuration|any parameter|"
    "anything|all the settings|every parameter|every knob|every setting|complete configuration|"
    "all options|all possible parameters|whatever you can|whatever works|all tunables|you decide|"
    "any of them|up to you|all parameters you can|all that can be set|all columns|the lot|"
    "all tunable parameters|any knob|any setting|any parameters|any knobs|any settings|"
    "whatever it takes|all other things|all else|anything else|everything else|"
    "all other parameters|all others|the rest|all the rest|"
    "all other knobs|all other settings|all of the parameters|all of the knobs|all of the settings",
    "O": "optimise|optimising|optimised|improve|improving|better|best|improvement in|optimisation|"
    "optimum|improvement|optimize for|optimal",
    "n": "option|options|suggestion|suggestions|alternative|alternatives|configuration|"
    "configurations|config|configs|candidate|candidates|recommendation|recommendations|answer|"
    "answers|choice|choices|proposal|proposals|idea|ideas|setups|setup|results|possibilities|"
    "solutions|variants|ways|settings",
    "j": "row|job|line|record|entry|run|experiment|trial|run number|job number|row number|"
    "sample|run no|job no|row no|baseline|configuration number|baseline row",
    "g": "currently|at the moment|right now|at present|as of now|today|i have been using|"
    "i am using|we are using|i am asking for|we are asking for|i ask for|"
    "i am running|we are running|my current|current|my job uses|"
    "my run uses|my run used|my job used|it uses|it used|now i use|i now use|presently|"
    "i am at|we are at|"
    "my job needs|my job takes|my run takes|my run needs|my job took|my run took|it takes|"
    "it took|it needs|my run with|my job with|my run on|my job on|my training with|"
    "my setup with|my run at|"
    "my run has|my job has|my baseline is|my baseline|i have|we have|my setup is|my run is|"
    "my configuration is|my config is|so far|my last run used|my present|my job runs|my run runs|"
    "the run used|my last run|my last job|my run had|these days|my job is|my setup|my job ran|"
    "my run ran|it runs|it ran|now uses|i normally use|i usually use|we usually use|i used|we used|"
    "existing|my job had|the run has|my run was|my job was|it has|we are on|i am on|i ran|we ran|"
    "i run|we run|i use|we use|my default is|my defaults are",
    "@": "it|that|this|that value|this value|them|those|that number|that limit|these|there|"
    "the limit|this number|this limit",
    "i": "is|are|be|of|was|being|were|at|has|around|about|approximately|roughly|stays|as",
    "o": "on|with|for|in|via|onto|running on|running with|for the|on the|in the|with the|where|"
    "when|whenever|inside of|if",
    "A": "as many|as much",
    "^": "top|best of",
    "K": "is fine|is ok|is okay|are fine|are ok|is acceptable|are acceptable|would be fine|"
    "would be ok|is no problem|is not a problem",
    "*": "*|times|multiplied by",
    "2": "power of two|power of 2|powers of two|powers of 2|a power of two|a power of 2",
    "/": "multiple of|multiples of|divisible by|a multiple of|evenly divisible by",
    "P": "product of|product|the product of",
    "y": "switched on|turned on|turn on|switch on|enabled|enable|enabling|true|active|activated|"
    "turning on|switching on|activate",
    "Y": "switched off|turned off|turn off|switch off|disabled|disable|disabling|false|inactive|"
    "deactivated|turning off|switching off|deactivate|off",
    "N": "forbidden|not allowed|excluded|ruled out|out of the question|prohibited|not possible|"
    "not available|broken|unavailable|banned|no option|not an option|is not an option|taboo|"
    "off the table|not acceptable|unacceptable|are not acceptable|is not acceptable|"
    "are not allowed|is not allowed|are not wanted|is not wanted|not wanted|not welcome|"
    "must be avoided|to be avoided|not permitted|does not work",
    "": "jobs|runs|at the same time|by the way|as long as|in any case|for example|so that|"
    "such that|in order|"
    "at once|in total|all in all|more or less|as well|a bit|for now|in mind|on average|in general|"
    "to me|to us|of my|for me|for us|in fact|with respect to|in terms of|at a time|this time|"
    "next time|long time|all the time|every time|end of|the end",
    "h": "possible|at all|i can|you can|it can",
}
_FILLER = _set(
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
    "program programs case cases "
)
# Words that no typing error leads to a column or a label.
_COMMON = _set(
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
    "changes"
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
}
_COMPARATIVES = {
    "fast": "faster|quicker|as fast|as quick|as quickly|speed up|speedup|speed it up|"
    "speeding up|sooner|run faster|speed|quickly",
    "slow": "slower|as slow|slow down|slowing down|slowdown",
    "cheap": "cheaper",
    "long": "how long|how fast|how quickly|how quick|how slow",
    "green": "more efficient|greener|more energy efficient",
    "accurate": "more accurate",
    "strong": "more performant|better performing|better performance",
}
_FACTORS = {
    2.0: "double|doubling|doubled|doubles",
    3.0: "triple|tripling|tripled|treble",
    4.0: "quadruple|quadrupling|quadrupled",
    0.5: "halve|halving|halved|halves|cut in half|cutting in half|cut by half|slice in half",
    1 / 3: "cut to a third",
}
_TIMES = {
    2.0: "twofold|twice|twice as many|twice as much|two times as many|double the number of|"
    "twice the|"
    "double the amount of|twice as big|twice as large|twice as high|twice as long",
    3.0: "threefold|thrice|three times as many|three times as much|triple the number of",
    4.0: "four times as many|four times as much",
    0.5: "half as many|half as much|half the number of|half of the|half the amount of|half of|"
    "half the",
    5.0: "fivefold|five fold",
    10.0: "tenfold|ten fold",
    0.25: "a quarter of|one quarter of|a quarter of the",
    1 / 3: "a third of|one third of|a third of the",
}


@dataclass(frozen=True, slots=True)
class Part:
    """The part that a phrase plays, with what it names: a concept or a factor."""

    tag: str
    concept: str = ""
    factor: float = 0.0
    strict: bool = False


def _american(text: str) -> str:
    return re.sub(r"(optim|minim|maxim|util|parallel)is", r"\1iz", text)


def _phrases() -> dict[tuple[str, ...], list[Part]]:
    found: dict[tuple[str, ...], list[Part]] = {}

    def add(text: str, part: Part) -> None:
        for phrase in text.split("|"):
            for spelling in dict.fromkeys((phrase, _american(phrase))):
                if spelling:
                    found.setdefault(tuple(spelling.split()), []).append(part)

    add("|", Part("|"))
    for tag, text in _PHRASES.items():
        plain = {"≤": "<", "≥": ">"}.get(tag, tag)
        add(text, Part(plain, strict=tag in "<>"))
    for concept, text in _EXTREMES.items():
        add(text, Part("F", concept=concept))
    for concept, text in _COMPARATIVES.items():
        add(text, Part("q", concept=concept))
    for factor, text in _FACTORS.items():
        add(text, Part("x", factor=factor))
    for factor, text in _TIMES.items():
        add(text, Part("X", factor=factor))
    return found


PHRASES = _phrases()
FILLER = _FILLER
LONGEST = max(len(phrase) for phrase in PHRASES)
KNOWN_WORDS = frozenset(word for phrase in PHRASES for word in phrase) | _FILLER | _COMMON
# Words of the lexicon that a typing error may be meant for.
CORRECTABLE = sorted(
    {
        word
        for phrase in PHRASES
        for word in phrase
        if len(word) >= 6 and word.isalpha() and word not in _COMMON
    }
    | _set(
        "recommend reconfigure suggest minimise minimize maximise maximize configuration reduce "
        "increase double triple halve under below above least most change switch affect instead "
        "percent number should seconds minutes hours simulation parameters constraints between"
    )
)
