"""Trust, effects and comparable runs in words: the only place where their sentences are made."""

import math
from collections.abc import Sequence

from compass.domain.answer import (
    Comparability,
    Comparable,
    Effect,
    Finding,
    Label,
    Population,
    Trust,
    Unobserved,
)
from compass.domain.doubt import Doubt, DoubtCode
from compass.language import format_value, listed
from compass.trust.outcome_words import share

_ABOUT_EFFECTS = frozenset(
    {
        DoubtCode.EFFECT_CONTRADICTED,
        DoubtCode.EFFECT_NEVER_OBSERVED,
        DoubtCode.EFFECT_NOT_IDENTIFIABLE,
        DoubtCode.NOTHING_COMPARABLE,
    }
)
_ABOUT_GOALS = frozenset({DoubtCode.GOAL_CHANCE, DoubtCode.GOAL_MISSED})
_NOTABLE = 0.1  # a share of the weight that differs so much from the share of the pairs is told
_ADVICE = "Add a column that names the program and its input, or say which runs are comparable."


def in_words(trust: Trust, comparable: Comparable) -> str:
    """The reason of a label: the doubts, else the support; `comparable` says of which runs."""
    on_effects = [doubt for doubt in trust.doubts if doubt.code in _ABOUT_EFFECTS]
    on_goals = [doubt for doubt in trust.doubts if doubt.code in _ABOUT_GOALS]
    others = [d for d in trust.doubts if d.code not in _ABOUT_EFFECTS | _ABOUT_GOALS]
    besides = []
    if on_effects:
        besides.append("; ".join(_effect_clauses(on_effects, trust.effects, comparable)))
    if on_goals:
        besides.append(listed([_clause(doubt, trust) for doubt in on_goals]))
    label = trust.label.value.capitalize()
    if others:
        parts = [f"{label}: {listed([_clause(doubt, trust) for doubt in others])}."]
    elif besides:
        parts = [f"{label}: {besides.pop(0)}. Apart from that, {_support(trust)}"]
    else:
        parts = [f"{label}: {_support(trust)}"]
    # Of what was run more than once, moves that were never observed are no doubt, and no support.
    supported = [effect for effect in trust.effects if effect.finding is Finding.SUPPORTED]
    if supported and not on_effects:
        parts.append(_supported(supported))
    return " ".join([*parts, *(f"Besides, {clause}." for clause in besides)])


def _clause(doubt: Doubt, trust: Trust) -> str:
    """A doubt that is not about effects."""
    one = len(doubt.columns) == 1
    match doubt.code:
        case DoubtCode.UNSEEN_VALUE:
            what = "has a value" if one else "have values"
            return f"{listed(doubt.columns)} {what} that no past run learnt from has"
        case DoubtCode.OUTSIDE_PAST_RUNS:
            near = _only(trust.support)
            far = f"this configuration is further from the past runs than {_most(doubt)}"
            return f"{far} held out for comparison, and {near} near it"
        case DoubtCode.FAR_FROM_PAST_RUNS:
            return f"it is further from the past runs than {_most(doubt)} held out for comparison"
        case DoubtCode.NO_RUN_NEAR if trust.tau > 0:
            return f"no past run is within {trust.tau:.2g} of this configuration"
        case DoubtCode.NO_RUN_NEAR:
            return "no past run has exactly this configuration"
        case DoubtCode.BEYOND_RANGE:
            return f"{listed(doubt.columns)} {'is' if one else 'are'} beyond what was run"
        case DoubtCode.UNCERTAIN:
            return f"the prediction is less certain here than for {_most(doubt)}"
        case DoubtCode.LARGE_ERROR:
            how = "going by errors at similar runs"
            return f"{how}, a larger error is expected than for {_most(doubt)}"
        case DoubtCode.BEYOND_CONTEXT:
            such = "such a value" if one else "such values"
            return f"no past run of this context has {such} of {listed(doubt.columns)}"
        case DoubtCode.BREAKS_DEPENDENCY:
            return f"it breaks what all past runs obey about {listed(doubt.columns)}"
        case DoubtCode.NEVER_TOGETHER | DoubtCode.SIMILAR_FAILED:
            return about_running(doubt)
    return _about_outcome(doubt)


def about_running(doubt: Doubt) -> str:
    """A doubt whether a configuration can be run at all."""
    chance = f"a chance of {share(doubt.value or 0.0)}"
    if doubt.code is DoubtCode.SIMILAR_FAILED:
        runs = f" ({'; '.join(doubt.runs)})" if doubt.runs else ""
        return f"similar runs failed{runs}, so that it fails with {chance}"
    cannot = f"{chance} that it cannot be run"
    if len(doubt.columns) == 1:
        return f"no past run had this value of {doubt.columns[0]} ({cannot})"
    return f"no past run had these values of {listed(doubt.columns)} together ({cannot})"


def _about_outcome(doubt: Doubt) -> str:
    """A doubt about one outcome: its model, what was measured, its goal."""
    match doubt.code:
        case DoubtCode.NO_SKILL:
            return f"the model of {doubt.outcome} does not clearly beat the simplest prediction"
        case DoubtCode.MEASURED_OTHERWISE:
            return f"past runs of it had {doubt.outcome} {doubt.value:.4g}, not as predicted"
        case DoubtCode.GOAL_MISSED:
            return f"{doubt.outcome} is not likely enough to meet its goal"
        case DoubtCode.GOAL_CHANCE:
            return (
                f"{doubt.outcome} meets its goal with a chance of {share(doubt.value or 0.0)} only"
            )
    raise AssertionError(doubt.code)


def _effect_clauses(
    doubts: Sequence[Doubt], effects: Sequence[Effect], comparable: Comparable
) -> list[str]:
    """Doubts about effects, each clause once: several outcomes may share it."""
    reasons = {(effect.knob, effect.outcome): effect.reason for effect in effects}
    clauses = []
    for doubt in doubts:
        if doubt.code is DoubtCode.NOTHING_COMPARABLE:
            clauses.append("no past run is comparable with it")
        elif doubt.code is DoubtCode.EFFECT_NOT_IDENTIFIABLE:
            knobs = f"{listed(doubt.columns)} would do" if doubt.columns else "a setting does"
            why = f"no two runs are known to be comparable: {_why_not(comparable)}"
            clauses.append(f"what {knobs} cannot be told from this data ({why})")
        else:
            clauses += [reasons[knob, doubt.outcome or ""] for knob in doubt.columns]
    return _never_varied_once(list(dict.fromkeys(clauses)), effects)


def _never_varied_once(clauses: list[str], effects: Sequence[Effect]) -> list[str]:
    """Knobs that never varied among the same runs in one clause, in place of the first."""
    fixed = {e.reason: e.knob for e in effects if e.unobserved is Unobserved.NEVER_VARIED}
    among: dict[str, list[str]] = {}
    for clause in clauses:
        if clause in fixed:
            among.setdefault(clause.removeprefix(fixed[clause]), []).append(fixed[clause])
    merged = {knobs[0] + rest: listed(knobs) + rest for rest, knobs in among.items()}
    return [merged.get(one, one) for one in clauses if one in merged or one not in fixed]


def _support(trust: Trust) -> str:
    if trust.measured:
        runs = "1 past run" if trust.measured == 1 else f"{trust.measured:,} past runs"
        if trust.measured > 1:
            return f"{runs} had this configuration."
        return f"{runs} had this configuration, and predictions there are as certain as usual."
    runs = f"{trust.support:,} past runs are" if trust.support > 1 else "1 past run is"
    return f"{runs} this close, and predictions there are as certain as usual."


def _supported(effects: Sequence[Effect]) -> str:
    """What supports the moves: runs that agree in everything else, and adjusted comparisons."""
    kinds = [[e for e in effects if e.adjusted is adjusted] for adjusted in (False, True)]
    return " ".join(_support_of(kind) for kind in kinds if kind)


def _support_of(effects: Sequence[Effect]) -> str:
    """Effects of one kind of evidence, told by the weakest of them."""
    weakest = min(effects, key=_share_agreeing)
    several = any((e.agreeing, e.pairs) != (weakest.agreeing, weakest.pairs) for e in effects)
    least = "at least " if several else ""
    adjusted = weakest.adjusted
    who = "Adjusted comparisons of held-out runs" if adjusted else "Comparable past runs"
    what = "" if adjusted else " pairs"
    knobs = listed(list(dict.fromkeys(effect.knob for effect in effects)))
    shares = f"{least}{weakest.agreeing} of {weakest.pairs}{what}{_weight(weakest)}"
    return f"{who} support the change of {knobs} ({shares} moved as predicted)."


def _share_agreeing(effect: Effect) -> float:
    return effect.agreeing / effect.pairs if effect.pairs else 0.0


def _weight(effect: Effect) -> str:
    """The share of the weight, which the verdict is made of, where counting tells another one."""
    if effect.agree is None or abs(effect.agree - _share_agreeing(effect)) < _NOTABLE:
        return ""
    return f" with {share(effect.agree)} of the weight"


def _most(doubt: Doubt) -> str:
    share = doubt.value or 0.0
    # Rounded down: 99.97 % must not read as all of them.
    return "all past runs" if share >= 1 else f"{math.floor(share * 1000) / 10:g} % of past runs"


def _only(near: int) -> str:
    if near == 0:
        return "no past run is"
    return "only 1 past run is" if near == 1 else f"only {near:,} past runs are"


def effect_in_words(effect: Effect, same: Sequence[str]) -> str:
    """What comparable runs, those of the same columns, say about a move, as a clause."""
    change = f"{effect.knob} {format_value(effect.old)} -> {format_value(effect.new)}"
    among = f" among runs of the same {listed(same)}" if same else " among comparable runs"
    some = _comparisons(effect)
    match effect.unobserved:
        case Unobserved.NEVER_VARIED:
            return f"{effect.knob} never varied{among}"
        case Unobserved.ONE_SIDED if effect.old == effect.new:  # it tells which are comparable
            return f"past runs of different {effect.knob} are not compared with each other"
        case Unobserved.ONE_SIDED:
            return f"no past runs{among} go from one side of {change} to the other"
        case Unobserved.TOO_FEW_PAIRS:
            return f"{change} was seen in only {some}{among} ({effect.needed} are needed)"
        case Unobserved.UNLIKE_PAIRS:
            return f"{change} was seen in only {some}{among} (which differ in other columns too)"
    if effect.finding is Finding.NOT_IDENTIFIABLE:
        return f"what {change} does cannot be told from this data"
    together = " together with the other changes" if effect.together else ""
    only = "" if effect.finding is Finding.SUPPORTED else "only "
    kind = "adjusted comparisons of held-out runs" if effect.adjusted else "comparable pairs"
    shares = f"{only}{effect.agreeing} of {effect.pairs} {kind}{_weight(effect)}"
    return f"{change}{together}: {effect.outcome} moved as predicted in {shares}{_beside(effect)}"


def _comparisons(effect: Effect) -> str:
    """How many comparisons there are, and of what kind."""
    kind = "adjusted comparison" if effect.adjusted else "pair"
    return f"{effect.pairs} {kind}" if effect.pairs == 1 else f"{effect.pairs} {kind}s"


def _beside(effect: Effect) -> str:
    if effect.observed is None or effect.expected is None:
        return ""
    unit, digits = (" %", ".0f") if effect.percent else ("", ".3g")
    observed, expected = f"{effect.observed:+{digits}}{unit}", f"{effect.expected:+{digits}}{unit}"
    return f" (median {observed}, expected {expected})"


def comparable_in_words(comparable: Comparable) -> str:
    """Which runs are comparable, or why none are known to be, as a sentence."""
    columns = comparable.columns
    match comparable.code:
        case Comparability.STATED if columns:
            return f"Comparable runs have the same {listed(columns)}, as stated."
        case Comparability.STATED:
            return "All runs are comparable, as stated."
        case Comparability.SAME_CONTEXT:
            return f"Comparable runs have the same {listed(columns)}."
        case Comparability.ONE_PROGRAM:
            return "All runs are taken for runs of one program: no column names another."
    return f"No two runs are known to be comparable: {_why_not(comparable)}."


def _why_not(comparable: Comparable) -> str:
    if comparable.code is Comparability.PROGRAM_NOT_NAMED:
        return f"the data names neither program nor input, only {comparable.column}"
    if comparable.code is Comparability.COLUMN_NOT_USED:
        return f"{comparable.column} tells what runs, but is not in use"
    return (
        "runs with the same values in every column differ so much that something which is not in "
        "the data decides"
    )


def with_advice(comparable: Comparable) -> str:
    """The same, with what to do about it where no runs are known to be comparable."""
    return comparable.why if comparable.identifiable else f"{comparable.why} {_ADVICE}"


def population_in_words(population: Population, comparable: Comparable | None) -> str:
    """How far a mean change can be relied on, without the label."""
    if not population.changing:
        return "the change leaves all of these runs as they are."
    runs = f"{population.trusted:.0%} of the {population.changing:,} runs that change"
    after = f"after the change {runs} are trusted"
    if population.supported is not None:
        return f"{after}; comparable past runs support it for {population.supported:.0%} of them."
    return f"{after}. {comparable.reason}" if comparable is not None else f"{after}."


def labelled(label: Label, text: str) -> str:
    """A text behind the label that it explains."""
    return f"{label.value.capitalize()}: {text}"
