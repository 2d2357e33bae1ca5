"""Answers in plain sentences: an idea is never called a suggestion."""

import pytest
from tests.chat.chat_case import Talk

import compass as cp
from compass.chat.dialogue import show_answer
from compass.chat.summary import reasons, summary
from compass.domain.answer import (
    Answer,
    Label,
    Measured,
    Moved,
    Prediction,
    Price,
    Proposal,
    Provenance,
    Suggestion,
    Trust,
)
from compass.domain.goal import Change
from compass.domain.query import Kind, Query, Row

_QUERY = Query(
    kind=Kind.RECONFIGURE,
    ask=("nodes",),
    goals={"runtime": Change(direction="reduce", by=0.2, relative=True)},
    baseline=Row(row=5),
)


def found(chance: float, label: Label) -> Suggestion:
    return Suggestion(
        config={"nodes": 6, "cpu_cores": 8},
        settings={"nodes": 6},
        edits=(Moved(name="nodes", old=8, new=6),),
        outcomes=(
            Prediction(name="runtime", value=39.0, unit="s", meets=chance >= 0.8, chance=chance),
        ),
        distance=0.3,
        meets_goals=chance >= 0.8,
        trust=Trust(label=label, ood=0.1, uq=0.1, support=0, tau=1.0, reason=f"{label}: so it is"),
    )


def answer(**fields: object) -> Answer:
    known = {
        "query": _QUERY,
        "text": "Reconfigure ...",
        "baseline": {"nodes": 8, "cpu_cores": 8},
        "chance": 0.8,
        "provenance": Provenance(data="x", seed=7, versions={}),
        "best_measured": Measured(
            rows=(12,),
            runs=1,
            config={"nodes": 4},
            settings={"nodes": 4},
            open={"cpu_cores": 16},
            outcomes={"runtime": 31.5},
        ),
        "prices": (
            Price(chance=0.5, reached=True, distance=0.3, settings={"nodes": 6}),
            Price(chance=0.95, reached=False),
        ),
    }
    return Answer.model_validate(known | fields)


_MEASURED = "Best measured run of this context: row 12: runtime 31.5 s with nodes = 4."
_PRICES = "What certainty costs: 50 %: nodes 8 -> 6 (distance 0.3); 95 %: nothing found."
_NOTHING = answer(
    ideas=(found(0.55, Label.CAUTION),),
    no_answer="Nothing meets the goal with a chance of 80 %.",
    run_next=(Proposal(config={"nodes": 6}, why="to know"),),
)


def test_without_a_suggestion_the_closest_is_told_as_none() -> None:
    lines = summary(_NOTHING).splitlines()
    assert lines[:2] == [
        "There is no supported answer: Nothing meets the goal with a chance of 80 %.",
        "The closest that I found, not a suggestion: nodes from 8 to 6.",
    ]
    assert lines[2].startswith(_MEASURED)
    assert lines[3] == _PRICES
    assert lines[4:] == ["What to run next:", "1. nodes = 6: to know."]


@pytest.mark.parametrize("kind", list(Kind))
def test_an_idea_is_never_suggested(kind: Kind) -> None:
    query = _NOTHING.query.model_copy(update={"kind": kind})
    told = _NOTHING.model_copy(update={"query": query})
    for text in (summary(told), reasons(told)):
        assert "I suggest" not in text
        assert "The smallest change" not in text
        assert "The first suggestion" not in text


def test_why_there_is_no_suggestion() -> None:
    lines = reasons(_NOTHING).splitlines()
    assert lines[:3] == [
        "Nothing meets the goal with a chance of 80 %.",
        "The closest that I found is not a suggestion: nodes from 8 to 6.",
        "caution: so it is.",
    ]
    assert lines[3].startswith(_MEASURED)
    assert lines[4] == _PRICES


def test_a_suggestion_is_told_with_its_chance_and_the_best_measured_run() -> None:
    told = answer(suggestions=(found(0.92, Label.TRUSTED),), ideas=(found(0.5, Label.CAUTION),))
    text = summary(told)
    assert text.startswith("The smallest change that I found: nodes from 8 to 6.")
    assert "it meets the goal with a chance of 92 %" in text
    assert _MEASURED in text
    assert "certainty costs" not in text
    assert _PRICES in reasons(told)


def test_after_an_abstention_less_certainty_can_be_asked_for() -> None:
    talk = Talk()
    talk.say("Reconfigure X = {nodes: ?} to achieve Y = {runtime: reduce by 20%} from row 5")
    talk.yes()
    assert talk.reply.run is not None
    told = _NOTHING.model_copy(update={"query": talk.reply.run})
    talk.conversation, talk.reply = show_answer(talk.conversation, told)
    assert talk.reply.text.endswith("You can ask why, what to run next, or for less certainty.")
    talk.answer = told
    assert "with 50 % certainty" in talk.reply.choices
    assert "not a suggestion" in talk.say("why?").text
    again = talk.say("with 50 % certainty")
    assert again.query is not None
    assert again.query.chance == 0.5


def test_the_ends_of_a_front_are_told(engine: cp.Compass) -> None:
    here = ["app == 'wrf'", "size == 200"]
    answer = engine.pareto(["runtime", "power"], ask=["nodes", "gpus"], where=here, prove=0)
    text = summary(answer)
    assert "It balances runtime and power; the ends are suggestion" in text
