"""What short answers do."""

import pytest

from compass.chat.draft import Act, Slot
from compass.chat.english.dialogue_acts import act_of, count_in, opening
from compass.chat.english.words import plain


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("yes", Act.YES),
        ("Yep, that's correct!", Act.YES),
        ("ok go ahead", Act.YES),
        ("looks good", Act.YES),
        ("yes please, run it", Act.YES),
        ("no", Act.NO),
        ("Nope.", Act.NO),
        ("that's not right", Act.NO),
        ("why?", Act.WHY),
        ("Why did you pick 8 nodes?", Act.WHY),
        ("can you explain that", Act.WHY),
        ("more", Act.MORE),
        ("give me more options", Act.MORE),
        ("show me 3 more", Act.MORE),
        ("any other suggestions?", Act.MORE),
        ("undo", Act.UNDO),
        ("go back please", Act.UNDO),
        ("scratch that", Act.UNDO),
        ("start over", Act.RESTART),
        ("new question", Act.RESTART),
        ("help", Act.HELP),
        ("what can you do?", Act.HELP),
        ("none", Act.NOTHING),
        ("no other constraints", Act.NOTHING),
        ("that's all", Act.NOTHING),
        ("nothing else", Act.NOTHING),
    ],
)
def test_acts(text: str, act: Act) -> None:
    assert act_of(plain(text), None) is act


@pytest.mark.parametrize(
    "text",
    [
        "no more than 8 nodes",
        "more than 8 nodes",
        "none of the gpus",
        "why not double the nodes",
        "",
    ],
)
def test_messages_that_tell_something(text: str) -> None:
    assert act_of(text, None) is (Act.WHY if text.startswith("why") else None)


def test_no_to_the_question_for_constraints_means_that_there_are_none() -> None:
    assert act_of("no", Slot.CONSTRAINTS) is Act.NOTHING
    assert act_of("no", Slot.CONFIRM) is Act.NO


def test_how_a_message_begins() -> None:
    assert opening("no, under 8 nodes") == (Act.NO, " under 8 nodes", True)
    assert opening("yes, but under 8 nodes") == (Act.INFORM, " but under 8 nodes", True)
    assert opening("no more than 8 nodes") == (Act.INFORM, "no more than 8 nodes", False)
    assert opening("the wait time")[2] is False


def test_how_many_more() -> None:
    assert count_in("give me three more") == 3
    assert count_in("more") is None
    assert count_in("0 more") is None
