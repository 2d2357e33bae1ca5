"""Sentences about trust: made of label, doubts, support and effects, and of nothing else."""

import pytest

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
from compass.trust.conclude import concluded
from compass.trust.words import effect_in_words, labelled, population_in_words

_NEAR = Trust(label=Label.TRUSTED, ood=0, uq=0, support=12, tau=0.5, reason="")
_CLOSE = "12 past runs are this close, and predictions there are as certain as usual."
_CLOSED = DoubtCode.EFFECT_NEVER_OBSERVED
_LOW_CHANCE = Doubt(code=DoubtCode.GOAL_CHANCE, outcome="time", value=0.55, limit=0.8)
_UNCERTAIN = Doubt(code=DoubtCode.UNCERTAIN, value=0.97, limit=0.95)


def same(*columns: str) -> Comparable:
    return Comparable(
        code=Comparability.SAME_CONTEXT, columns=columns, identifiable=True, why="", reason=""
    )


def move(**fields: object) -> Effect:
    known = {"knob": "nodes", "outcome": "time", "old": 1, "new": 2, "needed": 3, "reason": ""}
    effect = Effect.model_validate(known | fields)
    return effect.model_copy(update={"reason": effect_in_words(effect, ("app", "input"))})


_SUPPORTED = move(
    finding=Finding.SUPPORTED, pairs=9, agreeing=8, agree=0.9, observed=-38.2, expected=-41.0
)
_CONTRADICTED = move(
    finding=Finding.CONTRADICTED, pairs=9, agreeing=2, together=True, observed=3.0, expected=-1.0
)
_NEVER = move(finding=Finding.NEVER_OBSERVED, unobserved=Unobserved.NEVER_VARIED, outcome="power")


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (
            _SUPPORTED,
            "nodes 1 -> 2: time moved as predicted in 8 of 9 comparable pairs (median -38 %, "
            "expected -41 %)",
        ),
        (
            _CONTRADICTED,
            "nodes 1 -> 2 together with the other changes: time moved as predicted in only 2 of 9 "
            "comparable pairs (median +3 %, expected -1 %)",
        ),
        (_NEVER, "nodes never varied among runs of the same app and input"),
        (
            move(finding=_NEVER.finding, unobserved=Unobserved.ONE_SIDED, knob="app", old=1, new=1),
            "past runs of different app are not compared with each other",
        ),
        (
            move(finding=Finding.NEVER_OBSERVED, unobserved=Unobserved.ONE_SIDED),
            "no past runs among runs of the same app and input go from one side of nodes 1 -> 2 "
            "to the other",
        ),
        (
            move(finding=Finding.NEVER_OBSERVED, unobserved=Unobserved.TOO_FEW_PAIRS, pairs=1),
            "nodes 1 -> 2 was seen in only 1 pair among runs of the same app and input (3 are "
            "needed)",
        ),
        (
            move(finding=Finding.NEVER_OBSERVED, unobserved=Unobserved.UNLIKE_PAIRS, pairs=4),
            "nodes 1 -> 2 was seen in only 4 pairs among runs of the same app and input (which "
            "differ in other columns too)",
        ),
        (
            move(finding=Finding.SUPPORTED, pairs=28, agreeing=9, agree=0.7),
            "nodes 1 -> 2: time moved as predicted in 9 of 28 comparable pairs with 70 % of the "
            "weight",
        ),
        (
            move(finding=Finding.SUPPORTED, adjusted=True, pairs=24, agreeing=21, agree=0.875),
            "nodes 1 -> 2: time moved as predicted in 21 of 24 adjusted comparisons of held-out "
            "runs",
        ),
        (
            move(
                finding=Finding.NEVER_OBSERVED,
                unobserved=Unobserved.TOO_FEW_PAIRS,
                adjusted=True,
                pairs=1,
            ),
            "nodes 1 -> 2 was seen in only 1 adjusted comparison among runs of the same app and "
            "input (3 are needed)",
        ),
        (
            move(finding=Finding.NOT_IDENTIFIABLE),
            "what nodes 1 -> 2 does cannot be told from this data",
        ),
    ],
)
def test_effects(effect: Effect, text: str) -> None:
    assert effect.reason == text


def reason(doubts: tuple[Doubt, ...], effects: tuple[Effect, ...] = ()) -> str:
    trust = _NEAR.model_copy(update={"effects": effects})
    return concluded(trust, doubts, same("app", "input")).reason


def test_support_stands_alone_or_with_the_pairs_that_support_the_move() -> None:
    more = "Comparable past runs support the change of nodes (8 of 9 pairs moved as predicted)."
    assert reason(()) == f"Trusted: {_CLOSE}"
    assert reason((), (_SUPPORTED,)) == f"Trusted: {_CLOSE} {more}"
    chance = "time meets its goal with a chance of 55 % only"
    text = reason((_LOW_CHANCE,), (_SUPPORTED,))
    assert text == f"Caution: {chance}. Apart from that, {_CLOSE} {more}"
    text = reason((_UNCERTAIN, _LOW_CHANCE), (_SUPPORTED,))
    uncertain = "the prediction is less certain here than for 97 % of past runs"
    assert text == f"Caution: {uncertain}. {more} Besides, {chance}."


def test_what_knobs_share_is_said_once() -> None:
    never = [
        move(finding=_NEVER.finding, unobserved=Unobserved.NEVER_VARIED, knob=knob)
        for knob in ("nodes", "threads", "tile")
    ]
    few = move(finding=_NEVER.finding, unobserved=Unobserved.TOO_FEW_PAIRS, pairs=1, knob="cap")
    effects = (never[0], few, *never[1:])
    doubts = tuple(
        Doubt(code=_CLOSED, outcome=effect.outcome, columns=(effect.knob,)) for effect in effects
    )
    assert reason(doubts, effects) == (
        "Caution: nodes, threads and tile never varied among runs of the same app and input; "
        f"{few.reason}. Apart from that, {_CLOSE}"
    )


def test_what_was_never_observed_is_no_support() -> None:
    """It is no doubt either, where the configuration itself was run more than once."""
    assert reason((), (_NEVER,)) == f"Trusted: {_CLOSE}"
    assert reason((), (_NEVER, _SUPPORTED)) == reason((), (_SUPPORTED,))


def test_support_says_what_it_is_made_of() -> None:
    weak = _SUPPORTED.model_copy(update={"knob": "cores", "pairs": 28, "agreeing": 9, "agree": 0.7})
    adjusted = _SUPPORTED.model_copy(
        update={"knob": "gpus", "adjusted": True, "pairs": 24, "agreeing": 21, "agree": 0.875}
    )
    assert reason((), (_SUPPORTED, weak)).endswith(
        "Comparable past runs support the change of nodes and cores (at least 9 of 28 pairs with "
        "70 % of the weight moved as predicted)."
    )
    assert reason((), (adjusted,)).endswith(
        "Adjusted comparisons of held-out runs support the change of gpus (21 of 24 moved as "
        "predicted)."
    )
    assert reason((), (adjusted, _SUPPORTED)).endswith(
        "Comparable past runs support the change of nodes (8 of 9 pairs moved as predicted). "
        "Adjusted comparisons of held-out runs support the change of gpus (21 of 24 moved as "
        "predicted)."
    )


@pytest.mark.parametrize(
    ("doubt", "text"),
    [
        (
            Doubt(code=DoubtCode.NO_SKILL, outcome="time", value=0.01, limit=0.05),
            "the model of time does not clearly beat the simplest prediction",
        ),
        (
            Doubt(code=DoubtCode.BEYOND_CONTEXT, columns=("nodes",)),
            "no past run of this context has such a value of nodes",
        ),
        (
            Doubt(code=DoubtCode.BEYOND_CONTEXT, columns=("nodes", "cores")),
            "no past run of this context has such values of nodes and cores",
        ),
    ],
)
def test_doubts_about_the_model_and_the_context(doubt: Doubt, text: str) -> None:
    said = reason((doubt,))
    assert said == f"{said.partition(':')[0]}: {text}."


def test_every_doubt_has_a_clause() -> None:
    about_effects = {
        DoubtCode.EFFECT_CONTRADICTED,
        DoubtCode.EFFECT_NEVER_OBSERVED,
        DoubtCode.EFFECT_NOT_IDENTIFIABLE,
    }
    for code in set(DoubtCode) - about_effects:
        doubt = Doubt(code=code, columns=("nodes",), outcome="time", value=0.5, limit=0.9)
        assert len(reason((doubt,))) > len("Unsupported: .")


def test_the_first_doubt_leads_and_the_others_follow() -> None:
    never = Doubt(code=_CLOSED, columns=("nodes",), outcome="power")
    against = Doubt(code=DoubtCode.EFFECT_CONTRADICTED, columns=("nodes",), outcome="time")
    effects = (_CONTRADICTED, _NEVER)
    both = f"{_CONTRADICTED.reason}; {_NEVER.reason}"
    chance = "time meets its goal with a chance of 55 % only"
    text = reason((against, never, _LOW_CHANCE), effects)
    assert text == f"Caution: {both}. Apart from that, {_CLOSE} Besides, {chance}."
    text = reason((_UNCERTAIN, against, never, _LOW_CHANCE), effects)
    uncertain = "the prediction is less certain here than for 97 % of past runs"
    assert text == f"Caution: {uncertain}. Besides, {both}. Besides, {chance}."


def test_a_clause_that_several_outcomes_share_is_written_once() -> None:
    again = move(
        finding=Finding.NEVER_OBSERVED, unobserved=Unobserved.NEVER_VARIED, outcome="energy"
    )
    doubts = tuple(
        Doubt(code=_CLOSED, columns=("nodes",), outcome=name) for name in ("power", "energy")
    )
    text = reason(doubts, (_NEVER, again))
    assert text == f"Caution: {_NEVER.reason}. Apart from that, {_CLOSE}"


def test_nothing_comparable() -> None:
    text = reason((Doubt(code=DoubtCode.NOTHING_COMPARABLE),))
    assert text == f"Caution: no past run is comparable with it. Apart from that, {_CLOSE}"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            Comparability.PROGRAM_NOT_NAMED,
            "the data names neither program nor input, only user",
        ),
        (Comparability.COLUMN_NOT_USED, "user tells what runs, but is not in use"),
        (
            Comparability.UNEXPLAINED,
            "runs with the same values in every column differ so much that something which is not "
            "in the data decides",
        ),
    ],
)
def test_what_cannot_be_told_says_why(code: Comparability, why: str) -> None:
    unknown = Comparable(code=code, column="user", identifiable=False, why="", reason="")
    doubt = Doubt(code=DoubtCode.EFFECT_NOT_IDENTIFIABLE, columns=("nodes", "cores"))
    assert concluded(_NEAR, (doubt,), unknown).reason == (
        "Caution: what nodes and cores would do cannot be told from this data (no two runs are "
        f"known to be comparable: {why}). Apart from that, {_CLOSE}"
    )
    bare = Doubt(code=DoubtCode.EFFECT_NOT_IDENTIFIABLE)
    assert (
        "Caution: what a setting does cannot be told" in concluded(_NEAR, (bare,), unknown).reason
    )


def test_the_mean_over_many_runs() -> None:
    many = Population(
        runs=20,
        outcomes=(),
        label=Label.TRUSTED,
        changing=12,
        trusted=0.75,
        supported=0.5,
        reason="",
    )
    assert labelled(many.label, population_in_words(many, same("app"))) == (
        "Trusted: after the change 75% of the 12 runs that change are trusted; comparable past "
        "runs support it for 50% of them."
    )
    unknown = Comparable(
        code=Comparability.UNEXPLAINED, identifiable=False, why="", reason="Nothing is."
    )
    other = many.model_copy(update={"supported": None})
    text = "after the change 75% of the 12 runs that change are trusted. Nothing is."
    assert population_in_words(other, unknown) == text
    still = Population(runs=20, outcomes=(), label=Label.CAUTION, reason="")
    assert population_in_words(still, same()) == "the change leaves all of these runs as they are."
