"""The words of a question that are neither columns nor values: each phrase with its class.

A class is a terminal of the grammar (`grammar`). A phrase may belong to several classes; the parse
decides which one is meant. What a class costs when it is left over says how much would be lost:
what costs at least ASKED is asked about instead of being passed over.
"""

import re
from dataclasses import dataclass

from compass.chat.english.words import word_set

LISTING = frozenset({"and", "or", ",", "&", "/"})
ARTICLES = word_set("a an the my our your some any of")
# Behind these stands a value, a column, or a thing that must or must not be.
VALUE_FOLLOWS = word_set(
    "with without using use uses on only no not avoid via set enable disable enabled disabled "
    "named "
    "called which what for never except minimise minimize maximise maximize optimise optimize "
    "reduce increase lower raise improve keep under below above over many much lowest highest "
    "least most fewest prefer requires require support supports about is are be = == < > "
    "equals"
)
ASKED = 2.0  # cost from which words that nothing was made of are asked about

_FORBID = "cannot|can not|must not|should not|may not|shall not|not|is not|are not|do not|never"
_TOUCH = "change|alter|touch|modify|vary|adjust|tweak|move"
_TOUCHED = "changed|altered|touched|modified|varied|adjusted|moved|tweaked"
_TOUCHING = "changing|altering|touching|modifying|varying|adjusting|moving|tweaking|affecting"
_HURTING = "hurting|losing|sacrificing|degrading|worsening|compromising|giving up"
_HURT = "hurt|lose|sacrifice|degrade|worsen|compromise|give up"
_SUFFER = "suffer|degrade|deteriorate|worsen|get worse|get any worse|become worse|be worse|explode"
_CLOSED = "up for debate|negotiable|open for debate|open to debate|up for grabs|optional"
_BARRED = "installed|supported|licensed|working|usable|feasible|offered|wanted|available|allowed"


def _each(*parts: str) -> str:
    """Every phrase that takes one alternative from each part: `a|b`, `c` gives `a c|b c`."""
    found = [""]
    for part in parts:
        found = [f"{left} {right}".strip() for left in found for right in part.split("|")]
    return "|".join(found)


def _never(adjective: str) -> str:
    """Every way to say that something must not get slower, or more expensive."""
    ways = "|get|get any|be|be any|become|run|make it"
    whiles = "getting|getting any|being|being any|becoming|making it"
    now = "|than now|than before|than today|than it is"
    return "|".join(
        (
            _each(f"{_FORBID}|does not", ways, adjective),
            _each("without", whiles, adjective),
            _each("no", adjective, now),
            _each("not", adjective, now),
        )
    )


_TEXTS = {
    # bounds and conditions
    "LT": _each(
        "done in|finished in|finish in|finishes in|complete in|completes in|over in|be over in|in|"
        "come in|ready in|done|finished|ready",
        "under|less than|less of|below",
    )
    + "|under|below|less than|less of|fewer than|smaller than|lower than|shorter than|beneath|<|"
    "cheaper than|faster than|quicker than|inside|south of|stay under|stay below",
    "LE": _each(
        "done in|finished in|finish in|finishes in|complete in|completes in|over in|be over in|"
        "ready in|ready within|done within|finished within|complete within|done by|finished by",
        "|at most|no more than",
    )
    + "|may go up to|can go up to|could go up to|may be up to|can be up to|as high as|not past|"
    "less than or equal to|smaller than or equal to|lower than or equal to|at or below|at most|"
    "up to|no more than|not more than|max|maximum|maximum of|max of|at the most|limited to|"
    "limit to|capped at|cap at|<=|≤|as much as|within|upper limit|upper bound|no higher than|"
    "tops|maximally|no longer than|at maximum|a maximum of|ceiling|ceiling of|no larger than|"
    "no bigger than|stay within|a limit of|limit of|cap of|budget of|a budget of|limit|budget|"
    "no greater than|not to exceed|limited by|no slower than|cap|not over|"
    "not above|not exceed|never exceed|never above|never over|never more than|"
    "not higher than|not longer than|not bigger than|not larger than|not exceeding|"
    "without exceeding|without going over|without going above|or less than|no greater|"
    "i can spare|we can spare|only have|only got|as many as|sla of|an sla of|sla is|budget is|"
    ""
    "without going past|not go past|cannot have more than|cannot get more than|can only get|"
    "only get|only have up to",
    "FIT": "fit into|fits into|fit in|fits in|fit within|fits within|fit on|fits on|fit|fits|"
    "fitting in|fitting into|squeeze into|stay inside|can wait|want to wait|have to wait",
    "TOOMUCH": _each(
        "is|are|is just|is still|is way|is far|is a bit|was|would be|is simply|seems",
        "too much|too long|too high|too slow|too low|too little|too many|too few|too big|"
        "too large|too small|too short|too expensive|too hot|too timid|too tight|too loose|"
        "too strict|not enough|unacceptable|too costly|too weak|too coarse|too optimistic|"
        "too ambitious|too generous",
    )
    + "|too much|too long|too high|too slow|too low|way too much|too expensive|too many",
    "REQUIRED": "is mandatory|is a must|is required|are required|is compulsory|is obligatory|"
    "are mandatory|is a requirement|is non negotiable|is needed|must be used|has to be used|"
    "needs to be used|is what we use|is what i use|is set|is a hard requirement|required|"
    "mandatory|is essential|is prescribed|are prescribed",
    "EVEN": "even|an even number|divisible by two",
    "UPTO": "up to|through to|all the way to",
    "NWT": "no worse than|not worse than|at least as good as|not any worse than",
    "KILLS": "kill us|kills us|kill me|kills me|killing us|killing me|bother us|bothers me|"
    "kill the ssds|is killing the ssds|worries me|worry us|kill|kills|killing|annoys me|hurts us",
    "IE": "i.e.|i.e|ie|that is|that means|meaning|so|namely|which is|i mean",
    "GT": "outnumber|outnumbers|surpass|surpasses|over|above|more than|greater than|larger than|"
    "higher than|longer than|bigger than|>|exceed|exceeds|exceeding|exceeded|beyond|better than|"
    "go past|slower than|north of|in excess of|stay over|stay above",
    "GE": "greater than or equal to|more than or equal to|larger than or equal to|at or above|"
    "at least|no less than|no fewer than|not less than|not fewer than|minimum of|min of|minimum|"
    "min|>=|≥|at the least|a minimum of|no lower than|not lower than|lower limit|lower bound|"
    "no smaller than|at minimum|minimally|upwards of|starting at|no shorter than|from at least|"
    "not below|not under|never below|never under|never less than|without going below|"
    "without dropping below|without falling below|not drop below|not fall below|not go below",
    "EQ": "match|matches|equal to|equals|equal|==|=|exactly|precisely|set to|fixed at|fixed to|"
    "stuck with|bound to|tied to|insist on|insists on|kept at|held at|stay at|stays at|pinned to|"
    "pinned at|always|:|restricted to|is set to|"
    "stick to|stick with|locked at|set at|stay on|remain at|as",
    "BE": "is|are|was|were|sits at|is at|is currently|is now|stands at|hovers around|is around|"
    "is about",
    "ONLY": "only|solely|just the|nothing but|one of|any of|either|strictly|among|just|"
    "only on|only with|only in|only use|only the|only using|exclusively",
    "NOT": "we do not have|i do not have|have no|got no|we lack|lacking|ran out of|run out of|"
    "we have no|i have no|apart from|aside from|with the exception of|do not go to|"
    "do not go for|do not go with|steer clear of|keep away from|not|no|never|without|except|"
    "except for|anything but|avoid|avoiding|avoids|prevent|prevents|exclude|excluding|"
    "other than|anything except|everything but|rule out|but not|cannot|nor|neither|"
    "stay away from|different from|skip|any but|all but|no use of|non|ruling out|leave out|≠|!=|"
    "nothing with|nothing on|nothing using|none with|have no access to|no access to|do not have "
    "access to|not have access to|not over|not via|"
    "not through|would rather not use|rather not use|rather not|prefer not to use|stop using|"
    "stay off|do not use|do not want|do not allow|do not run|must not be|should not be|is not|"
    "are not|do not go|do not let|must not|should not|may not|can not|need not|does not|do not|"
    "cannot use|can not use|must not use|should not use|not use|without using|"
    "will not|will not let me|will not let us|not let me|do not even suggest|do not suggest|"
    "do not recommend|do not propose|nothing that|nothing which|none that|"
    "refuse|ban|minus the|not on|not in|not with|instead not|cannot be|can not be|may not be",
    "ORLESS": "or less|or fewer|or lower|or below|or under|or smaller|or shorter|or faster|"
    "and below|and under|or cheaper|at most|max|maximum|tops|or better yet less",
    "ORMORE": "+|or more|or higher|or above|or over|or greater|or larger|or longer|and above|"
    "upwards|or bigger|at least|minimum|min|and up|plus or more",
    "ORBETTER": "or better|or improve|or improves|or improved",
    "BETWEEN": "between|range|in the range|anywhere between|somewhere between|ranging|"
    "in the range of|from somewhere between|ranging from|in the window",
    "FORBIDDEN": "is out|are out|makes no sense|make no sense|is no good|are no good|"
    "is a no go|no go|not on the table|is pointless|are pointless|is useless|will not do|"
    "would be silly|forbidden|excluded|ruled out|out of the question|prohibited|not possible|"
    "broken|unavailable|banned|no option|not an option|is not an option|taboo|off the table|"
    "not acceptable|unacceptable|are not acceptable|is not acceptable|not welcome|"
    "is closed|are closed|is full|is not an alternative|does not exist|do not work|do not exist|"
    "is not good enough|are not good enough|is not enough|is not accurate enough|"
    "is not sufficient|is insufficient|is too inaccurate|is not precise enough|is too risky|"
    "must go|has to go|is no longer available|is gone|are gone|is not for us|is not for me|"
    "will not work|would not work|is not what i want|is a bad idea|"
    "must be avoided|to be avoided|not permitted|does not work|is down|is forbidden|are forbidden|"
    "is banned|are banned|is excluded|are excluded|"
    + _each("is not|are not|not", _BARRED)
    + "|"
    + _each("is|are", "unavailable|broken"),
    # relations
    "PER": "per|for each|for every|on each|on every|each|in each|every|to each|a piece per|a|an",
    "ASMANY": "as many|as much",
    "TIMES": "*|times|multiplied by|x",
    "PRODUCT": "product of|product|the product of",
    "MULTIPLE": "an integer multiple of|a whole multiple of|evenly divide into|multiple of|"
    "multiples of|divisible by|a multiple of|evenly divisible by",
    "POWER2": "power of two|power of 2|powers of two|powers of 2|a power of two|a power of 2",
    "THAN": "than|compared to|compared with|relative to|in comparison to|in comparison with|as",
    "DIVIDED": "/|divided by",
    "PLUS": "+|plus",
    # goals
    "MIN": "hate|hates|dislikes|as low|minimise|minimising|minimised|minimal|lowest|smallest|"
    "least|fewest|shortest|"
    "minimization|as low as possible|as small as possible|as short as possible|"
    "as little as possible|as few as possible|down as far as possible|low as possible|"
    "as low as you can|keep down|minimisation|as low as it gets|as little|as few|slimmest|"
    "tiniest|keep low|as small|as low as it can|bring down as far as possible|lowest possible|"
    "to a minimum|minimum possible|smallest possible|least possible|lowest achievable|"
    "shortest possible|to the minimum|low|little|small|short|tiny|min|minimum|at minimum|"
    "minimizes|minimises|as low as we can|as low as i can|lowest we can get|tightest|"
    "as low as practical|leanest|as small as we can|down as much as possible|"
    "down as much as we can|as tiny as possible|as tight as possible",
    "MAX": "as high|as large|as big|maximise|maximising|maximised|maximal|highest|largest|greatest|"
    "biggest|most|maximisation|as high as possible|as large as possible|as much as possible|"
    "as many as possible|high as possible|as high as you can|peak|as many|highest possible|"
    "largest possible|to a maximum|top notch|as high as it gets|maximum possible|"
    "greatest possible|high|large|big|max|maximum|maximizes|maximises|as much|as high as we can|"
    "as high as i can|up as much as possible|squeeze out the most|the most",
    "OPT": "best tradeoff between|best trade off between|good tradeoff between|tradeoff between|"
    "trade off between|compromise between|best compromise between|good compromise between|"
    "balance between|best balance between|good balance between|good trade off between|"
    "is more important|matters more|counts more|is all i care about|is all we care about|"
    "is all that matters|is what matters to me|is the only thing that matters|"
    "is what i care about|is what we care about|is my main concern|is our main concern|"
    "is my main goal|is the main goal|is my goal|is the goal|comes first|has priority|"
    "is paramount|is everything|is crucial|"
    "goal is|objective is|aim is|priority is|what matters is|focus is|main goal is|"
    "care about|only care about|mostly care about|care mostly about|interested in|"
    "matters most|is what matters|is what counts|is my priority|is the priority|counts most|"
    "is key|is all that matters|is the main thing|matters|focus on|prioritise|prioritize|"
    "optimise|optimising|optimised|improve|improving|better|best|improvement in|optimisation|"
    "optimum|improvement|optimize for|optimise for|optimal|most important|is most important|"
    "good|great|decent|ideal|nicest|tune for|tuned for|improves|top|best possible|is important|"
    "all i care about is|all we care about is|i care most about|what matters is|fix|bad",
    "RED": "went down|sinks|sink|squeeze|squeezing|chop|pare|pare down|curb|slim down|knock off|"
    "lowers|shrinks|"
    "decreases|"
    "goes down|going down|dip|come down|comes down|go lower|reduce|reducing|reduced|cut|cutting|"
    "lower|lowering|decrease|decreasing|decreased|shrink|save|saving|saves|trim|shave|shave off|"
    "drop|dropping|bring down|cut down|slash|take down|knock|get down|scale down|go down|"
    "lowered|shrinking|trimming|scaling down|bringing down|falls|fall|drops|reduction|"
    "reduction of|decrease of|reduction in|decrease in|dial down|turn down|cut back|"
    "cut back on|bring it down|shorten|shortening|lessen|down|reduces|dropped|get lower|"
    "take off|cutting down|off|scaled down|dialed down|push down",
    "INC": "grows|climbing|went up|goes up|going up|climb|climbs|go higher|come up|increase|"
    "increasing|increased|raise|"
    "raising|raised|boost|boosting|grow|growing|gain|go up|bring up|scale up|scaling up|bump|"
    "bump up|push up|turn up|crank up|rise|rises|an increase of|increase of|increase in|"
    "bumping|up|lift|dial up|extend|enlarge|push|grew|upping|increases|lengthen|bumped|"
    "cranked up|get higher|scaled up|cranking up|raises|bumping up|go bigger on|exceed",
    "LESS": "less than now|less than before|less than today|lower than now|lower than before|"
    "less than currently|less|fewer|smaller|lower|shorter|reduction in|reduction of|off|"
    "savings in|savings on|lower than|below|under|less than|fewer than|drop in",
    "MORE": "another|more|higher|larger|extra|additional|greater|longer|bigger|further|"
    "increase in|higher than|above|over|more than|gain in",
    "REACH": "reach|reaches|achieve|achieves|attain|hit|hits|get|gets|getting|hitting|reaching",
    "KEEP": "keep|keeping|kept|hold|holding|leave|leaving|fix|fixing|retain|maintain|maintaining|"
    "preserve|stay|stays|remain|remains|keeps|freeze|staying|lock|pin down|stick|preserving|"
    "fixed|pin|leaves|holds|frozen",
    "SAME": "same as before|same as now|the same as before|the same as now|same as today|"
    "same as it is|same as they are|same|unchanged|constant|fixed|as it is|as they are|alone|as "
    "is|steady|where it is|"
    "where they are|stable|the same|at its current value|untouched|at the current value|"
    "identical|unaltered|at their current values|intact|in place|frozen|as before|flat|"
    "at its current level|at current level|at the current level|what it is|what they are|"
    "unaffected|like it is|like they are|the way it is|as now|the way they are|at what it is|"
    "where it is now|as it is now|as they are now|at what it is now|as they were|like before",
    "UNTOUCHED": "not touch|without adding|off limits|is off limits|are off limits|hands off|"
    "should stay|must stay|has to stay|have to stay|needs to stay|stays|is fixed|are fixed|"
    "must remain|not up for discussion|without using more|with the same|without increasing|"
    "without raising|without more|without decreasing|without lowering|without reducing|"
    "without less|set in stone|is set in stone|are set in stone|is a given|are given|"
    "with no change in|without change in|without a change in|no change in|given|"
    "is not my choice|is not mine to change|stuck with|i am stuck with|we are stuck with|"
    + _each(f"{_FORBID}|not to", "be", _TOUCHED)
    + "|"
    + _each(_FORBID, _TOUCH, "|the")
    + "|"
    + _each("without", _TOUCHING)
    + "|"
    + _each("without any", "change in|change to|changes to")
    + "|"
    + _each("is not|are not", _CLOSED)
    + "|"
    + _each("do not|not", "want to|want you to", _TOUCH),
    "NOWORSE": "without getting worse|no worse|"
    + _each("without", _HURTING)
    + "|"
    + _each("without", "|a|any|much|significant", "loss", "of|in")
    + "|"
    + _each("do not|not", _HURT)
    + "|"
    + _each(f"{_FORBID}|does not", _SUFFER),
    "AFFECT": "affect|affects|affecting|effect on|impact|impact on|happen to|happens to|influence|"
    "do to|mean for|does to|effects on|consequences for|consequence for|becomes of|become of|"
    "change in|hurt|look like|do for|implications for|impacts|influences|alter|does it do to|"
    "predict|predicted|expected|expect|hurts|help|helps|react|reacts|respond|responds|"
    "go along with|suffer|suffers|change|changes|do with|behave|effect|estimate|"
    "looking at|look at|good or bad for|good or bad|better or worse for|better or worse|worth it|"
    "tell me|what is|how is|pay off in|pay in|lose in|gain in|cost me in|cost in|"
    "what about|how about|what does|what will|what would|get worse|get better|"
    "go up|go down|improve|degrade|differ|affected|drop|rise|break|move|worth it for|"
    "gain anything in|anything in|save in|win in|win|"
    "would remain|will remain|would be left|will be left|get for|i get|would i get|do i get|we "
    "get|end up|see in|lose|gain",
    # changes
    "SET": "brings|gets|puts|loosening|tightening|relaxing|push|crank|bring|bringing|brought|"
    "replaced|swapped|substitute|substituted|substituting|exchange|"
    "exchanged|swap out|flip|flipping|flipped|set|setting|use|using|used|switch|switching|"
    "switched|change|changing|changed|move|moving|moved|make|try|trying|go|going|went|run|"
    "running|ran|pick|choose|put|assign|allocate|replace|replacing|swap|swapping|turn|turning|"
    "request|requesting|requested|take|launch|shift|submit|submitted|give it|give|select|"
    "migrate|jump|convert|took|taken|goes|submitting|employ|employing|become|becomes|became|"
    "spread over|"
    "go with|go for|change it|set it|change the|tune|adjust|modify|vary|touch|play with|"
    "relax|tighten|loosen|having|allow|enter|drop|raise|increase|lower|bump|go down|go up|scale|"
    "reduce",
    "FORGET": "is not a must|are not a must|is not required|is not needed|are not needed|"
    "is not necessary|do not bother with|do not bother about|never mind the|not interested in|"
    "forget|forget about|ignore|remove|drop|lift|cancel|do not care about|disregard|"
    "never mind|no longer need|do not need|do not mind|relax|skip|delete|take away|"
    "get rid of|do not worry about|take out|does not matter|do not matter|leave out|dropping|"
    "clear|discard|not care about|mind|throw away|throw out|undo|loosen|strike|withdraw|"
    "take back|scratch|scrap|without the|is not important|is irrelevant|are irrelevant|"
    "is no longer important|nevermind|does not matter anymore|no longer matters",
    "ADD": "+|add|adding|added|plus|throw in",
    "REMOVE": "remove|removing|take away|minus|subtract|take off|drop|lose|dropping|give up|"
    "removed|"
    "free up",
    "TO": "to|into|->|=>|until|till|through|towards|→|down to|at|-|..|...",
    "FROM": "from",
    "BY": "regarding|concerning|with regard to|judged by|ranked by|sorted by|by|by about|by "
    "roughly|by around|by at least|by some|at least|about|roughly|around|"
    "by up to",
    "VS": "versus|vs|against",
    "INSTEAD": "instead of|rather than|in place of|in lieu of|not|as opposed to|over|"
    "replacing|instead of the|and not",
    "ONOFF": "switched on|turned on|turn on|switch on|enabled|enable|enabling|true|active|"
    "activated|"
    "turning on|switching on|activate|on|switched off|turned off|turn off|switch off|disabled|"
    "disable|disabling|false|inactive|deactivated|turning off|switching off|deactivate|off|"
    "yes|no|without",
    # the question itself
    "WHICH": "whichever|which one|which|give me|list|what|how many|how much|what number of|"
    "which number of|recommend|suggest|tune|tuning|find|choose|pick|what value of|"
    "best value for|value for|values for|values of|value of|what kind of|which kind of|"
    "how large|how big|what sort of|tell me|decide|determine|figure out|advise|work out|"
    "for the parameters|what about|propose|settings for|setting for|select|choosing|picking|"
    "selecting|search over|vary|play with|adjust|adjusting|optimal|ideal|right|suitable|"
    "proper|best|good|sensible|reasonable|better|search|look at|varying|what type of|"
    "which type of|appropriate|changing only|optimise|get me|how wide|how deep|how long|"
    "how high|how should i set|how should we set|how do i set|how do we set|set|setting|"
    "should i set|what should|most suitable|optimum|change|sweet spot for|need|"
    "recommendation for|suggestion for|advice on|search for|looking for|try different|"
    "explore|options for|combination of|combo of|combinations of|mix of|best combo of|"
    "which values of|what values of|tell me the|also|and also|configure|modify|may i change",
    "FREE": "up for grabs|is up for grabs|are up for grabs|up for discussion|"
    "are up for discussion|is up for discussion|negotiable|is negotiable|are negotiable|"
    "things to touch|things to change|knobs to turn|to touch|to change|as you like|as you wish|"
    "as you want|may be set|can be set|are allowed to change|is allowed to change|"
    "may be modified|can be modified|are free|is free|free|may change|can change|may vary|"
    "can vary|is open|are open|"
    "is up to you|are up to you|may be changed|can be changed|is flexible|are flexible|"
    "can be tuned|may be tuned|can be adjusted|may be adjusted|can move|may move|too|"
    "should i use|should we use|should i choose|should i pick|do you recommend|do i need|"
    "do we need|would you pick|would you choose|would be best|is best|are best|should i ask for|"
    "should i request|should i take|should i go for|should i go with|should i set|to use|"
    "would you use|would you suggest|do you suggest|is fine to change|should it be|to pick|"
    "should i try|can be varied|is optimal|works best|work best|is right|should we pick|to choose|"
    "should we set|can differ|makes sense|make sense|is needed|are needed|gives|give|gets|is it",
    "ALL": "anything goes|all hyperparameters|all the hyperparameters|every hyperparameter|"
    "everything|all parameters|all knobs|all settings|all the parameters|all the knobs|"
    "all of them|all of it|whole configuration|entire configuration|full configuration|"
    "any parameter|anything|all the settings|every parameter|every knob|every setting|"
    "complete configuration|all options|all possible parameters|whatever you can|"
    "whatever works|all tunables|you decide|any of them|up to you|all parameters you can|"
    "all that can be set|the lot|all tunable parameters|any knob|any setting|"
    "any parameters|any knobs|any settings|whatever it takes|all other things|all else|"
    "anything else|everything else|all other parameters|all others|the rest|all the rest|"
    "all the other parameters|all the other settings|all other knobs|all other settings|"
    "all of the parameters|all of the knobs|"
    "all of the settings|whatever you like|whatever you want|whatever|the other knobs|"
    "the other parameters|the other settings|all the others|all the other knobs|any other knob",
    "OPTIONS": "cfg|cfgs|conf|combos|combo|combinations|combination|pairs|tuples|triples|setups|"
    "option|options|"
    "suggestion|suggestions|alternative|alternatives|configuration|configurations|config|"
    "configs|candidate|candidates|recommendation|recommendations|answer|answers|choice|choices|"
    "proposal|proposals|idea|ideas|setup|results|possibilities|solutions|variants|ways|"
    "settings|designs|of them|of those|of these|design points|design|points|picks|"
    "runs to choose from|"
    "different configurations|different setups|different options|other options",
    "TOP": "top|best|the best",
    "NOW": "i have got|we have got|currently|at the moment|right now|at present|as of now|today|"
    "i have been using|"
    "i am using|we are using|i am asking for|we are asking for|i ask for|i am running|"
    "we are running|my current|current|my job uses|my run uses|my run used|my job used|it uses|"
    "it used|now i use|i now use|presently|i am at|we are at|my job needs|my job takes|"
    "my run takes|my run needs|my job took|my run took|it takes|it took|it needs|my run with|"
    "my job with|my run on|my job on|my training with|my setup with|my run at|my run has|"
    "my job has|my baseline is|my baseline|i have|we have|my setup is|my run is|"
    "my configuration is|my config is|so far|my last run used|my present|my job runs|"
    "my run runs|the run used|my last run|my last job|my run had|these days|my job is|my setup|"
    "my job ran|my run ran|it runs|it ran|now uses|i normally use|i usually use|we usually use|"
    "i used|we used|existing|my job had|the run has|my run was|my job was|it has|we are on|"
    "i am on|i ran|we ran|i run|we run|i use|we use|my default is|my defaults are|now|"
    "my present setup is|our current|our setup is|our baseline is|our config is|"
    "my current config|my current setup|my current configuration|my current run|starting from|"
    "our current config|our current setup|our baseline|was run with|ran with|i got|we got|"
    "my config|our config|our run|our job|my run|my job|running at|sits at|is at|my training|"
    "our training|my simulation|our simulation|my experiment|i train with|we train with|i tried|"
    "we tried|i have been training with|i started with|we started with|my setup uses|we run on|"
    "we currently run on|i currently run on|we currently have|i currently have|i currently use|"
    "we currently use|is currently|are currently",
    "MEASURED": "take|last|draw|consume|burn|uses|consumes|burns|draws|eats|needs|takes|took|"
    "taking|lasts|lasted|sits|hovers|"
    "measured|observed|clocks in|stands|comes out|sitting|hovering",
    "COMPARE": "compare|comparing|comparison of|comparison between|choose between|decide between|"
    "deciding between|choosing between|torn between",
    # words that join
    "IS": "is|are|be|of|was|being|were|at|has|around|about|approximately|roughly|as|must be|"
    "should be|has to be|have to be|needs to be|need to be|ought to be|must|should|has to|"
    "have to|needs to|will be|would be|can be|may be|to be|a|lie|lies|somewhere|in|it|that|"
    "sit|sits|go|going|get|gets|allowed|to stay|come in|comes in|end up|ends up|"
    "come|comes|fall|falls|come out|must come in|to come in|is to be|still|really|to remain|"
    "permitted",
    "WITH": "on|with|for|in|via|onto|running on|running with|inside of|using|"
    "at|having|of|use|run|runs|given|as|but with|but on",
    "AND": "and|&|as well as|along with|together with|and also|n",
    "BUT": "where|but|while|whilst|but also|and then|yet|then|so|because|which|that",
    "OR": "or|/|nor",
    "COMMA": ",",
    "END": ".|;|!|?|:|-|(|)",
    "IT": "it|that|this|that value|this value|them|those|that number|that limit|these|there|"
    "the limit|this number|this limit",
    "OUT": "out",
    "SUCCEED": _each(
        "that actually|actually|that really|really|that still|still|must|has to|have to|should|"
        "that|so it|"
        "so that it|needs to|to make it|make it",
        "finish|finishes|run|runs|work|works|complete|completes|go through|goes through|"
        "run through|"
        "runs through|succeed|succeeds|launch|launches|compile|compiles|pass|passes|survive|"
        "survives",
    ),
    "GIVE": "give me|show me|show|list|get me|let me see|propose|suggest|"
    "show only|show me only|give me only",
    "WORSE": "worse|above what it is|above what it is now|below what it is|below what it is now|"
    "above now|below now|than now",
    "STAYS": "stay|stays|remain|remains|staying",
    "WANT": "want|wants|need|would like|would love|love to see|would love to see|like to see|"
    "need it in|want it in|make it|make that|aim for|aiming for|target|like it in|want it at|"
    "need it at|must be|should be|has to be|needs to be",
    "CHANGES": _each(
        "smallest|least|minimal|fewest|minimum|smallest possible|least possible|fewest possible|"
        "least invasive|least disruptive|"
        "tiniest|as few|few|little|small|as small a",
        "fix|fixes|step|steps|change|changes|modification|modifications|tweak|tweaks|adjustment|"
        "adjustments|edit|"
        "edits|amount of change|intervention",
    )
    + "|"
    + _each(
        "least|minimum",
        "i|we",
        "have to|must|need to|should|would have to|could|can|would need to",
        "change|adjust|touch|modify|alter|do",
    )
    + "|as little as possible|change as little as possible|changing as little as possible|as few "
    "changes as possible|"
    "as little change as possible|what else|else",
    "FINE": "is fine|is ok|is okay|are fine|are ok|is acceptable|are acceptable|would be fine|"
    "would be ok|is no problem|is not a problem|is good enough|are good enough|is enough|"
    "are enough|suffices|will do|is plenty",
    "IF": "once|if|when|whenever|in case|provided",
}
# Classes of which one alone says nothing: what they cost when nothing takes them.
_LEFT = {
    **dict.fromkeys(
        (
            "NOW",
            "TOOMUCH",
            "IE",
            "UPTO",
            "FIT",
            "BE",
            "BUT",
            "CHANGES",
            "IS",
            "WITH",
            "AND",
            "COMMA",
            "END",
            "IT",
            "IF",
            "OR",
            "OPTIONS",
        ),
        0.02,
    ),
    **dict.fromkeys(
        ("GIVE", "OUT", "WANT", "VS", "AFFECT", "WHICH", "SET", "FREE", "REACH", "TOP", "MEASURED"),
        0.1,
    ),
    **dict.fromkeys(("TO", "FROM", "BY", "PER", "THAN", "COMPARE", "FINE"), 0.4),
    **dict.fromkeys(
        ("SUCCEED", "STAYS", "EQ", "OPT", "KEEP", "PLUS", "ADD", "DIVIDED", "FASTER"), 0.6
    ),
    **dict.fromkeys(("ONOFF",), 0.3),
    **dict.fromkeys(("ALL", "SAME", "MORE", "LESS", "FORGET", "REMOVE"), 2.0),
}
_LEFT_WORDS = {
    **dict.fromkeys(("per", "for each", "for every"), 2.0),
    # adjectives that may stand before any noun: a big campaign
    **dict.fromkeys(("low", "little", "small", "short", "tiny", "high", "large", "big"), 0.6),
}
LEFT_OVER = 3.0  # every other class

_EXTREMES = {
    "fast": (
        "shortest run|shortest runs|least amount of time|at least as fast as possible|fastest|"
        "quickest|as fast as possible|as quick as possible|"
        "as quickly as possible|"
        "speediest|as soon as possible|as fast as it can|fast as possible|max speed|"
        "maximum speed|top speed|best speed|asap|soonest|quickly as possible|as fast as you can|"
        "as fast as it gets|best possible speed|highest speed|maximise speed|least time|"
        "best time|earliest|go as fast|run as fast|in no time|best runtime|best run time|"
        "best time to solution|as fast as we can"
    ),
    "cheap": "cheapest|as cheap as possible|as cheaply as possible|most economical|"
    "least expensive|it cheap|be cheap",
    "green": (
        "most energy efficient|greenest|most efficient|as efficient as possible|most frugal|"
        "energy efficient|best energy efficiency|as efficiently as possible|"
        "most power efficient|least energy hungry|least hungry"
    ),
    "strong": (
        "best performance|highest performance|best performing|most performant|"
        "maximum performance|max performance|peak performance|as performant as possible|"
        "best possible performance|maximise performance|optimise performance|"
        "improve performance|improve the performance"
    ),
    "accurate": "most accurate|as accurate as possible|best quality|as accurately as possible|"
    "accurate",
    "slow": "slowest|as slow as possible",
    "wait": "start as soon as possible|start soonest|start asap|starts as soon as possible|"
    "start earliest|starts soonest",
}
_COMPARATIVES = {
    "fast": "faster|quicker|speed up|speedup|speed it up|speeding up|sooner|run faster|"
    "as fast|as quick|as quickly|how much shorter|how much longer|how much sooner|"
    "how much faster|how much slower|how much quicker|how long|how fast|how quickly|how quick|"
    "how slow|speeds up|sped up",
    "wait": "start sooner|start earlier|starts sooner|starts earlier|begin sooner|begin earlier|"
    "get started sooner|start faster|start quicker|started sooner|start quickly",
    "slow": "slow|slows|slower|as slow|slow down|slowing down|slowdown|slows down",
    "cheap": "cheaper|less expensive",
    "green": "less energy hungry|less power hungry|more frugal|more economical|more efficient|"
    "greener|more energy efficient|less hungry",
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
    "fast": f"{_never('slower')}|at least as fast|at least as quick|without slowing down|"
    "without slowing it down|without any slowdown|without a slowdown|without slowdown|"
    "without losing speed|without losing performance|without hurting performance|"
    "without losing time|"
    + _each("performance", "must not|should not|does not|cannot", "suffer|drop"),
    "cheap": f"{_never('more expensive')}|at least as cheap",
    "accurate": f"{_never('less accurate')}|at least as accurate",
}
_VERBS = {
    2.0: "double|doubling|doubled|doubles",
    3.0: "triple|tripling|tripled|treble",
    4.0: "quadruple|quadrupling|quadrupled",
    0.5: "halve|halving|halved|halves|cut in half|cutting in half|cut by half|slice in half|"
    "half|cut in two",
    1 / 3: "cut to a third",
}
_FACTORS = {
    2.0: "two times as high|twofold|twice|twice as many|twice as much|two times as many|"
    "double the number of|twice the|double the amount of|twice as big|twice as large|"
    "twice as high|twice as long|twice the number of|twice as fast",
    3.0: "threefold|thrice|three times as many|three times as much|triple the number of|"
    "three times the",
    4.0: "four times as many|four times as much|four times the",
    0.5: "twice as low|two times as low|half as high|half as long|half as large|half as big|"
    "half as many|half as much|half the number of|half of the|half the amount of|half of|"
    "half the|half",
    5.0: "fivefold|five fold",
    10.0: "tenfold|ten fold",
    0.25: "a quarter of|one quarter of|a quarter of the",
    1 / 3: "a third of|one third of|a third of the",
}
# Words that carry nothing wherever they stand.
FILLER = word_set(
    "how a an the my our your his its i we you me us he she they please just also so kind "
    "will would could should can may might must shall do does did have had having get getting "
    "gets got want wants wanted need needs needed like likes really very quite still actually "
    "well okay ok hello hi hey thanks thank there here some any total number amount count "
    "am been let lets kindly mean meant say said think know see that which who whose simply "
    "basically maybe perhaps probably even too again overall possible possibly able way "
    "things thing stuff values value parameter parameters knob "
    "knobs setting constraint constraints condition conditions requirement goal goals "
    "objective target targets exact actual certain given something "
    "someone happen happens because since wondering curious ask asking available much "
    "many looking look fit ensure sure provided assuming "
    "assume provide show ones own respectively whole entire usual "
    "both else each these those such ever work works working case cases somewhere circa roughly "
    "sorry pls plz thx cheers kinda gonna wanna gotta lemme guys folks hm hmm um uh oh ah yeah "
    "different distinct various thinking together combined either ~ jobs job runs run tasks "
    "course lot anyway though although however therefore thus hence "
    "instead first second finally next later already yet soon always usually normally typically "
    "im ive id youre whats thats dont btw fyi tbh imo iirc afaik atm says said asks thinks claims "
    "insists wonders parallel concurrent simultaneous dedicated oops ouch ugh argh dang nvm"
)
_FILLER_PHRASES = (
    "is it worse|is that worse|is it better|is that better|better or worse|so it is|"
    "in this case|in that case|same on|the same on|same with|as soon as i can|get rid of it|"
    "wait ,|no wait|oh wait|hold on|ended up|ended up with|ends up with|went down|squeeze out|get "
    "out|get out of it|forgot to "
    "say|forgot to mention|i forgot|one more thing|"
    "another thing|same thing|the same thing|same question|the same question|same again|"
    "the same again|the same for|same for|handful of|a handful of|out of it|as i said|"
    "i tried everything|we tried everything|apart from that|other than that|besides that|"
    "do not care|i do not care|we do not care|"
    "which one|the one|quick one|no hurry|in no hurry|i am after|we are after|so far|any idea|"
    "at the same time|by the way|as long as|in any case|for example|so that|such that|"
    "in order|in order to|at once|in total|all in all|more or less|as well|a bit|for now|in mind|"
    "on average|in general|to me|to us|of my|for me|for us|in fact|with respect to|in terms of|"
    "at a time|this time|next time|all the time|every time|end of|the end|i can|you can|it can|"
    ""
    "is slow|is bad|at all|of course|right away|if possible|if you can|when possible|"
    "no matter what|"
    "whatever happens|that is|i mean|you know|let us say|say|let me know|thank you|thanks a lot|"
    "thanks in advance|in advance|good morning|can you|could you|would you|i would like|"
    "we would like|i want to|we want to|i need to|we need to|i have to|we have to|trying to|"
    "i am trying to|we are trying to|i was wondering|i wonder|do you think|do you know|"
    "is there|are there|is it possible to|help me|i plan to|we plan to|planning to|"
    "i am thinking of|we are thinking of|thinking about|i am about to|happy to|willing to|"
    "and so on|etc|per se|as far as possible|a little|a little bit|slightly"
)
# What people say around a question: it tells why they ask, not what they ask for.
BACKGROUND = word_set(
    "finish finishes finished done coming cost costs kernel kernels bonjour hallo moin dear server "
    "all campaign baseline posible anyway otherwise somehow still anymore forever maintenance "
    "scheduled quick quickly student "
    "core box stream design profile slot binaries hardware old plain laptop desktop workstation "
    "pc computer notebook "
    "boss team colleague colleagues supervisor advisor professor phd thesis paper deadline "
    "project report meeting presentation conference reviewer reviewers customer customers client "
    "clients student students group lab department university company grant morning evening "
    "night afternoon week weekend month monday tuesday wednesday thursday friday saturday sunday "
    "yesterday tomorrow tonight today hurry quickly nothing fancy honestly frankly "
    "simulation simulations code codes program programs application experiment experiments "
    "workload cluster machine machines system data dataset table training model inference "
    "default regular normal standard normally good nice fine great bad tired busy sad "
    "happy afford spend spare budget money pay paying bill people person everybody anyone "
    "somebody somehow idea ideas question questions problem problems issue issues wish wishes "
    "hope hoping guess believe suppose feel feels worry worried care matter matters "
    "production test tests testing benchmark benchmarks study studies analysis measurement "
    "measurements figure figures plot plots result results story situation trouble reason "
    "reasons purpose purposes world life day days hours time times new old our other others "
    "another different several few bunch couple lots plenty enough rather quite pretty fairly "
    "extremely super totally completely absolutely definitely certainly clearly obviously "
    "apparently supposedly ideally preferably hopefully unfortunately luckily "
    "tell telling told give giving asked wants keeps kept makes made making comes came goes done "
    "doing being has became saw seen found finds finding used useful useless worth worthwhile "
    "configuration config setup configurations settings"
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


@dataclass(frozen=True, slots=True)
class Phrase:
    """The class of a phrase, with what it names: a concept or a factor."""

    tag: str
    words: str
    concept: str = ""
    factor: float = 0.0


def _spellings(text: str) -> tuple[str, str]:
    return text, re.sub(r"(optim|minim|maxim|util|parallel|priorit)is", r"\1iz", text)


def _phrases() -> dict[tuple[str, ...], list[Phrase]]:
    found: dict[tuple[str, ...], list[Phrase]] = {}

    def add(tag: str, text: str, concept: str = "", factor: float = 0.0) -> None:
        for phrase in text.split("|"):
            for spelling in dict.fromkeys(_spellings(phrase)):
                if spelling:
                    known = found.setdefault(tuple(spelling.split()), [])
                    known.append(Phrase(tag, spelling, concept, factor))

    for tag, text in _TEXTS.items():
        add(tag, text)
    for concept, text in _EXTREMES.items():
        add("BEST", text, concept)
    for concept, text in _COMPARATIVES.items():
        add("FASTER", text, concept)
    for concept, text in _EQUALLY.items():
        add("EQUALLY", text, concept)
    for concept, text in _NO_WORSE.items():
        add("NOSLOWER", text, concept)
    for factor, text in _VERBS.items():
        add("DOUBLE", text, factor=factor)
    for factor, text in _FACTORS.items():
        add("FACTOR", text, factor=factor)
    return found


PHRASES = _phrases()
FILLERS = frozenset(tuple(text.split()) for text in _FILLER_PHRASES.split("|"))
LONGEST = max(len(phrase) for phrase in (*PHRASES, *FILLERS))
SAID_OFTEN = FILLER | {phrase[0] for phrase in PHRASES if len(phrase) == 1}
EVERYDAY = FILLER | BACKGROUND | {phrase[0] for phrase in PHRASES if len(phrase) == 1}
KNOWN_WORDS = (
    frozenset(word for phrase in PHRASES for word in phrase) | FILLER | BACKGROUND | _COMMON
)
# Words of the lexicon that a typing error may be meant for.
CORRECTABLE = sorted(
    {word for phrase in PHRASES for word in phrase if len(word) >= 6 and word.isalpha()}
    | word_set(
        "which what nodes cores should could would configuration simulation parameters constraints"
    )
)


def left_over(phrase: Phrase) -> float:
    """What it costs to make nothing of a phrase."""
    return _LEFT_WORDS.get(phrase.words, _LEFT.get(phrase.tag, LEFT_OVER))
