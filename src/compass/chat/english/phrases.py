"""The phrases of each tag (see `tags`)."""

from compass.chat.english.tags import Tag

# ≤ and ≥ are < and > that the number itself fulfils.
_TEXTS = {
    Tag.AT_MOST: "less of|"
    "under|below|less than|fewer than|smaller than|lower than|shorter than|beneath|<|"
    "cheaper than|faster than|quicker than|inside",
    "≤": "may go up to|can go up to|could go up to|may be up to|can be up to|"
    "as high as|no bigger|not past|"
    "less than or equal to|smaller than or equal to|lower than or equal to|at or below|"
    "at most|up to|no more than|max|maximum|maximum of|max of|at the most|limited to|limit to|"
    "capped at|cap at|<=|≤|as much as|within|upper limit|upper bound|no higher than|tops|"
    "maximally|no longer than|at maximum|a maximum of|ceiling|no larger than|no bigger than|"
    "stay within|a limit of|limit of|cap of|budget of|a budget of|limit|no greater than|"
    "not to exceed|limited by|no slower than|no worse than|cap",
    Tag.AT_LEAST: "outnumber|outnumbers|surpass|surpasses|"
    "over|above|more than|greater than|larger than|higher than|longer than|bigger than|>|"
    "exceed|exceeds|exceeding|exceeded|beyond|better than|go past|slower than",
    "≥": "greater than or equal to|more than or equal to|larger than or equal to|at or above|"
    "at least|no less than|no fewer than|minimum of|min of|minimum|min|>=|≥|at the least|"
    "a minimum of|no lower than|lower limit|lower bound|no smaller than|at minimum|minimally|"
    "upwards of|starting at|no shorter than|from at least",
    Tag.EQUALS: "match|matches|must match|must equal|has to match|has to equal|have to match|"
    "ought to be|"
    "ought to equal|ought to match|"
    "exactly|precisely|equal to|equals|equal|==|=|set to|fixed at|fixed to|kept at|held at|"
    "stay at|stays at|pinned to|always|must be|should be|has to be|have to be|needs to be|:|"
    "need to be|restricted to|pinned at|is set to|stick to|stick with|locked at",
    Tag.ONLY: "only|solely|just the|nothing but|one of|any of|either|strictly|among",
    Tag.NOT: "we do not have|i do not have|have no|got no|we lack|lacking|ran out of|run out of|"
    "we have no|i have no|"
    "apart from|aside from|with the exception of|do not go to|do not go for|do not go with|"
    "steer clear of|keep away from|"
    "not|no|never|without|except|anything but|avoid|avoiding|avoids|prevent|prevents|"
    "exclude|excluding|other than|"
    "anything except|everything but|rule out|but not|cannot|nor|neither|stay away from|"
    "different from|skip|any but|all but|no use of|non|ruling out|leave out|≠|!=|stay off|"
    "do not use|do not want|do not allow|do not run|must not be|should not be|is not|are not|"
    "do not go|do not let|must not|should not|may not|can not|need not|does not|do not",
    Tag.OR_LESS: "or less|or fewer|or lower|or below|or under|or smaller|or shorter|or faster|"
    "and below|"
    "and under|or cheaper",
    Tag.OR_MORE: "or more|or higher|or above|or over|or greater|or larger|or longer|and above|"
    "upwards|plus or more|or bigger",
    Tag.BETWEEN: "between|range|in the range|anywhere between|somewhere between|ranging|"
    "in the range of",
    Tag.MINIMIZE: "as low|hate|hates|dislikes|"
    "minimise|minimising|minimised|minimal|lowest|smallest|least|fewest|shortest|minimization|"
    "as low as possible|as small as possible|as short as possible|as little as possible|"
    "as few as possible|down as far as possible|low as possible|as low as you can|keep down|"
    "minimisation|as low as it gets|as little|as few|slimmest|tiniest|keep low|as small|"
    "as low as it can|bring down as far as possible|lowest possible|to a minimum|minimum possible|"
    "smallest possible|least possible|lowest achievable|shortest possible|to the minimum|minimized",
    Tag.MAXIMIZE: "as high|as large|as big|"
    "maximise|maximising|maximised|maximal|highest|largest|greatest|biggest|most|maximisation|"
    "as high as possible|as large as possible|as much as possible|as many as possible|"
    "high as possible|as high as you can|peak|as many|highest possible|largest possible|"
    "to a maximum|top notch|as high as it gets|maximum possible|greatest possible",
    Tag.REDUCE: "squeeze|squeezing|chop|pare|pare down|curb|slim down|knock off|lowers|shrinks|"
    "decreases|"
    "goes down|going down|dip|come down|comes down|go lower|"
    "reduce|reducing|reduced|cut|cutting|lower|lowering|decrease|decreasing|decreased|shrink|"
    "save|saving|saves|trim|shave|shave off|drop|dropping|bring down|cut down|slash|take down|"
    "knock|get down|scale down|go down|lowered|shrinking|trimming|scaling down|bringing down|"
    "falls|fall|drops|reduction|reduction of|decrease of|reduction in|decrease in|dial down|"
    "turn down|cut back|cut back on|bring it down|shorten|shortening|lessen|down|reduces",
    Tag.INCREASE: "goes up|going up|climb|climbs|go higher|come up|"
    "increase|increasing|increased|raise|raising|raised|boost|boosting|grow|growing|gain|"
    "go up|bring up|scale up|scaling up|bump|bump up|push up|turn up|crank up|rise|rises|"
    "an increase of|increase of|increase in|bumping|up|lift|dial up|extend|enlarge|push|grew|"
    "upping|increases|lengthen|bumped",
    Tag.LESS: "less than now|less than before|less than today|lower than now|lower than before|"
    "less than currently|"
    "less|fewer|smaller|lower|shorter",
    Tag.MORE: "another|more|higher|larger|extra|additional|greater|longer|bigger|further",
    Tag.MULTIPLY: "",
    Tag.SET: "bring|bringing|brought|"
    "replaced|swapped|substitute|substituted|substituting|exchange|exchanged|swap out|flip|"
    "flipping|flipped|"
    "set|setting|use|using|used|switch|switching|switched|change|changing|changed|move|moving|"
    "moved|make|try|trying|go|going|went|run|running|ran|pick|choose|put|assign|"
    "allocate|replace|replacing|swap|swapping|turn|turning|request|requesting|requested|take|"
    "launch|shift|submit|submitted|give it|give|select|migrate|jump|convert|"
    "goes|submitting|employ|employing|become|becomes|became|spread over",
    Tag.FORGET: "forget|forget about|ignore|remove|drop|lift|cancel|do not care about|disregard|"
    "never mind|no longer need|do not need|do not mind|relax|skip|delete|take away|get rid of|"
    "do not worry about|take out|does not matter|do not matter|leave out|dropping|clear|discard|"
    "not care about|mind|throw away|throw out|undo|loosen|strike|withdraw|take back",
    Tag.ADD: "+|add|adding|added|plus",
    Tag.REMOVE: "remove|removing|take away|minus|subtract|take off|drop|lose|dropping|give up|"
    "removed|"
    "free up",
    Tag.TO: "to|into|->|=>|until|till|through|towards|→",
    Tag.FROM: "from",
    Tag.BY: "by|by about|by roughly|by around|by at least|by some",
    Tag.INSTEAD: "instead of|rather than|in place of|in lieu of|not|as opposed to|over|versus|"
    "vs|replacing",
    Tag.PER: "per|for each|for every|on each|on every|each|in each|every|to each|a piece per",
    Tag.THAN: "than|compared to|compared with|relative to|in comparison to|in comparison with",
    Tag.AND: "and|&|as well as|along with|together with|plus|but|while|whilst|but also|and also|"
    "and then|yet|then",
    Tag.OR: "or",
    Tag.COMMA: ",",
    Tag.END: ".|;|!|?",
    Tag.KEEP: "keep|keeping|kept|hold|holding|leave|leaving|fix|fixing|retain|maintain|maintaining|"
    "preserve|stay|stays|remain|remains|keeps|freeze|staying|lock|pin down|stick|preserving",
    Tag.SAME: "same|unchanged|constant|fixed|as it is|as they are|alone|as is|steady|where it is|"
    "where they are|stable|the same|at its current value|untouched|at the current value|"
    "identical|unaltered|at their current values|intact|put|in place|frozen|as before|equal|flat|"
    "at its current level|at current level|at the current level|what it is|what they are|"
    "unaffected|like it is|like they are|the way it is",
    Tag.UNTOUCHED: "without touching|without changing|not touch|not change|do not touch|"
    "do not change|"
    "cannot change|must not change|should not change|may not change|without altering|"
    "not be changed|cannot be changed|does not change|can not change|without modifying|"
    "do not alter|do not modify|cannot touch|must not touch|should stay|must stay|not alter|"
    "off limits|not to be touched|is off limits|are off limits|without adding|is fixed|are fixed|"
    "must remain|has to stay|have to stay|not up for discussion|without using more|with the same|"
    "without moving|must not be changed|should not be changed|cannot move|do not move|"
    "without increasing|without raising|without more|without decreasing|without lowering|"
    "without reducing|without less|hands off",
    Tag.AFFECT: "affect|affects|affecting|effect on|impact|impact on|happen to|happens to|"
    "influence|"
    "do to|mean for|does to|effects on|consequences for|consequence for|becomes of|become of|"
    "change in|hurt|look like|do for|implications for|impacts|influences|alter",
    Tag.WHICH: "whichever|which one|which|give me|list|what|how many|how much|what number of|"
    "which number of|recommend|"
    "suggest|tune|"
    "tuning|"
    "find|choose|pick|what value of|best value for|value for|values for|values of|value of|"
    "what kind of|which kind of|how large|how big|what sort of|tell me|decide|determine|figure out|"
    "advise|work out|for the parameters|what about|propose|settings for|setting for|select|"
    "choosing|picking|selecting|"
    "search over|vary|play with|adjust|adjusting|optimal|ideal|right|suitable|proper|best|good|"
    "sensible|reasonable|better|search|look at|varying|are free|is free|free|may change|can change|"
    "may vary|can vary|what type of|which type of|appropriate|only change|changing only",
    Tag.EVERYTHING: "everything|all parameters|all knobs|all settings|all the parameters|"
    "all the knobs|all of "
    "them|all of it|whole configuration|entire configuration|full configuration|any parameter|"
    "anything|all the settings|every parameter|every knob|every setting|complete configuration|"
    "all options|all possible parameters|whatever you can|whatever works|all tunables|you decide|"
    "any of them|up to you|all parameters you can|all that can be set|all columns|the lot|"
    "all tunable parameters|any knob|any setting|any parameters|any knobs|any settings|"
    "whatever it takes|all other things|all else|anything else|everything else|"
    "all other parameters|all others|the rest|all the rest|"
    "all other knobs|all other settings|all of the parameters|all of the knobs|all of the settings",
    Tag.OPTIMIZE: "care about|only care about|mostly care about|interested in|matters most|"
    "is what matters|"
    "is what counts|is my priority|is the priority|counts most|is key|is all that matters|"
    "is the main thing|matters|focus on|prioritise|prioritize|"
    "optimise|optimising|optimised|improve|improving|better|best|improvement in|optimisation|"
    "optimum|improvement|optimize for|optimal",
    Tag.SUGGESTIONS: "combos|combo|combinations|combination|pairs|tuples|triples|setups|"
    "option|options|suggestion|suggestions|alternative|alternatives|configuration|"
    "configurations|config|configs|candidate|candidates|recommendation|recommendations|answer|"
    "answers|choice|choices|proposal|proposals|idea|ideas|setups|setup|results|possibilities|"
    "solutions|variants|ways|settings",
    Tag.ROW: "row|job|line|record|entry|run|experiment|trial|run number|job number|row number|"
    "sample|run no|job no|row no|baseline|configuration number|baseline row",
    Tag.CURRENTLY: "currently|at the moment|right now|at present|as of now|today|i have been using|"
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
    Tag.IT: "it|that|this|that value|this value|them|those|that number|that limit|these|there|"
    "the limit|this number|this limit",
    Tag.IS: "is|are|be|of|was|being|were|at|has|around|about|approximately|roughly|stays|as",
    Tag.WITH: "on|with|for|in|via|onto|running on|running with|for the|on the|in the|with the|"
    "where|"
    "when|whenever|inside of|if",
    Tag.AS_MANY: "as many|as much",
    Tag.TOP: "top|best of",
    Tag.IS_FINE: "is fine|is ok|is okay|are fine|are ok|is acceptable|are acceptable|would be fine|"
    "would be ok|is no problem|is not a problem",
    Tag.TIMES: "*|times|multiplied by",
    Tag.POWER_OF_TWO: "power of two|power of 2|powers of two|powers of 2|a power of two|"
    "a power of 2",
    Tag.MULTIPLE_OF: "an integer multiple of|a whole multiple of|evenly divide into|"
    "multiple of|multiples of|divisible by|a multiple of|evenly divisible by",
    Tag.PRODUCT: "product of|product|the product of",
    Tag.ON: "switched on|turned on|turn on|switch on|enabled|enable|enabling|true|active|activated|"
    "turning on|switching on|activate",
    Tag.OFF: "switched off|turned off|turn off|switch off|disabled|disable|disabling|false|"
    "inactive|"
    "deactivated|turning off|switching off|deactivate|off",
    Tag.FORBIDDEN: "is out|are out|makes no sense|make no sense|is no good|are no good|"
    "is a no go|no go|"
    "not on the table|is pointless|are pointless|is useless|will not do|would be silly|"
    "forbidden|not allowed|excluded|ruled out|out of the question|prohibited|not possible|"
    "not available|broken|unavailable|banned|no option|not an option|is not an option|taboo|"
    "off the table|not acceptable|unacceptable|are not acceptable|is not acceptable|"
    "are not allowed|is not allowed|are not wanted|is not wanted|not wanted|not welcome|"
    "must be avoided|to be avoided|not permitted|does not work",
    "": "jobs|runs|any idea|ought to|has to lie|have to lie|lie|lies|at the same time|by the way|"
    "as long as|in any case|for example|so that|"
    "such that|in order|"
    "at once|in total|all in all|more or less|as well|a bit|for now|in mind|on average|in general|"
    "to me|to us|of my|for me|for us|in fact|with respect to|in terms of|at a time|this time|"
    "next time|long time|all the time|every time|end of|the end",
    Tag.POSSIBLE: "possible|at all|i can|you can|it can",
    Tag.REACH: "reach|reaches|achieve|achieves|attain|hit|hits",
    Tag.MEASURED: "uses|consumes|burns|draws|eats|needs|takes|took|taking|lasts|lasted|sits|hovers|"
    "got|getting|see|sees|seeing|measured|"
    "observe|observed|clocks in|stands|comes out",
    Tag.COMPARE: "compare|comparing|comparison of|comparison between|choose between|decide between|"
    "deciding between|choosing between|torn between",
}
_FORBIDDING = "cannot|can not|must not|should not|may not|shall not|not|is not|are not|do not|never"
_TOUCH = "change|alter|touch|modify|vary|adjust|tweak"
_TOUCHED = "changed|altered|touched|modified|varied|adjusted|moved|tweaked"
_TOUCHING = "changing|altering|touching|modifying|varying|adjusting|moving|tweaking|affecting"
_HURTING = "hurting|losing|sacrificing|degrading|worsening|compromising|giving up"
_HURT = "hurt|lose|sacrifice|degrade|worsen|compromise|give up"
_SUFFER = "suffer|degrade|deteriorate|worsen|get worse|get any worse|become worse|be worse"
OR_BETTER = frozenset({"or better", "or improve", "or improves", "or improved"})
_CLOSED = "up for debate|negotiable|open for debate|open to debate|up for grabs|optional"


def _kept() -> str:
    """Every way to forbid a change: cannot be altered, without touching, is not up for debate."""
    phrases = [f"{no} be {done}" for no in _FORBIDDING.split("|") for done in _TOUCHED.split("|")]
    phrases += [f"{no} {do}" for no in _FORBIDDING.split("|") for do in _TOUCH.split("|")]
    phrases += [f"not to be {done}" for done in _TOUCHED.split("|")]
    phrases += [f"without {word}" for word in _TOUCHING.split("|")]
    phrases += [f"without any {end}" for end in ("change in", "change to", "changes to")]
    phrases += [f"{no} {how}" for no in ("is not", "are not") for how in _CLOSED.split("|")]
    phrases += ["with no change in", "without change in", "without a change in", "no change in"]
    phrases += ["set in stone", "is set in stone", "are set in stone", "is a given", "are given"]
    known = set(_TEXTS[Tag.UNTOUCHED].split("|"))
    return "|".join(phrase for phrase in phrases if phrase not in known)


def never(adjective: str) -> str:
    """Every way to say that something must not get slower, or more expensive."""
    ways = ("", "get ", "get any ", "be ", "be any ", "become ", "run ")
    phrases = [
        f"{no} {way}{adjective}" for no in (*_FORBIDDING.split("|"), "does not") for way in ways
    ]
    while_at_it = ("getting ", "getting any ", "being ", "being any ", "becoming ", "making it ")
    phrases += [f"without {way}{adjective}" for way in while_at_it]
    phrases += [f"no {adjective}", f"no {adjective} than now", f"no {adjective} than before"]
    phrases += [f"not {adjective} than {now}" for now in ("now", "before", "today")]
    return "|".join(dict.fromkeys(phrases))


def _spared() -> str:
    """Every way to say that what is named beside it must not get worse."""
    phrases = [f"without {word}" for word in (*_HURTING.split("|"), "getting worse")]
    phrases += [f"without {some}loss {of}" for some in ("", "a ", "any ") for of in ("of", "in")]
    phrases += [f"{no} {word}" for no in ("do not", "not") for word in _HURT.split("|")]
    phrases += [f"{no} {word}" for no in _FORBIDDING.split("|") for word in _SUFFER.split("|")]
    phrases += [f"does not {word}" for word in _SUFFER.split("|")]
    return "|".join(dict.fromkeys([*phrases, "no worse"]))


def _barred() -> str:
    """Every way to say that something cannot be had: is not installed, are unavailable."""
    states = [
        "installed",
        "supported",
        "licensed",
        "working",
        "usable",
        "feasible",
        "offered",
        "wanted",
        "available",
    ]
    phrases = [f"{verb} not {state}" for verb in ("is", "are") for state in states]
    phrases += [f"{verb} {state}" for verb in ("is", "are") for state in ("unavailable", "broken")]
    known = set(_TEXTS[Tag.FORBIDDEN].split("|"))
    return "|".join(phrase for phrase in phrases if phrase not in known)


# Tag -> the phrases that have it, parted by |.
PHRASE_TEXTS = _TEXTS | {
    Tag.FORBIDDEN: f"{_TEXTS[Tag.FORBIDDEN]}|{_barred()}",
    Tag.UNTOUCHED: f"{_TEXTS[Tag.UNTOUCHED]}|{_kept()}",
    Tag.OR_MORE: f"{_TEXTS[Tag.OR_MORE]}|{'|'.join(sorted(OR_BETTER))}",
}
SPARED = _spared()
