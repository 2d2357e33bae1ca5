"""Messages as people write them: how many are understood is held, and no conversation loops."""

from collections import Counter

import pytest
from tests.chat.plain_case import ASKED, FULL, WRONG, Plain, messages, present, tables, verdicts

from compass.chat import dialogue
from compass.chat.draft import Slot

SETS = present()
# What was reached on sets that the reader was developed on; README.md has their first scorings.
LEAST = {
    "develop": (124, 4),
    "develop2": (158, 7),
    "score": (117, 4),
    "score2": (127, 3),
    "score3": (101, 6),
    "score4": (104, 6),
    "score5": (69, 23),
}
TURNS = 12


@pytest.mark.parametrize("half", SETS)
def test_what_is_understood_and_what_is_wrong(
    half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = Counter(verdict.result for verdict in verdicts(half))
    with capsys.disabled():
        told = ", ".join(f"{counts[result]} {result}" for result in (FULL, ASKED, WRONG))
        print(f"\nplain messages, {half}: {told}")
    understood, wrong = LEAST.get(half, (0, counts.total()))  # a new set is not held to anything
    assert counts[FULL] >= understood
    assert counts[WRONG] <= wrong


@pytest.mark.parametrize("half", SETS)
def test_sets_are_of_different_tables_and_every_message_has_a_verdict(half: str) -> None:
    here = messages(half)
    assert len({message.id for message in here}) == len(here)
    assert len(tables(half)) >= 6
    assert {message.table for message in here} == set(tables(half))
    assert {verdict.id for verdict in verdicts(half)} == {message.id for message in here}


def _ends(message: Plain, half: str) -> bool:
    """Whether somebody who only clicks what is offered comes to a query or an open question."""
    space = tables(half)[message.table]
    talk, reply = dialogue.begin(space)
    for text in (*message.before, message.text):
        talk, reply = dialogue.respond(talk, text, space)
    for _ in range(TURNS):
        if reply.run is not None or reply.propose is not None or reply.inquiry is not None:
            return True
        if reply.expecting is None or not reply.choices:
            return True
        if reply.trouble:
            return True  # it says what cannot be, and what to do
        last = reply.expecting is Slot.WORDS
        talk, reply = dialogue.respond(talk, reply.choices[-1 if last else 0], space)
    return False


@pytest.mark.parametrize("half", SETS)
def test_no_conversation_loops(half: str) -> None:
    assert [message.id for message in messages(half) if not _ends(message, half)] == []
