"""One step of the dialogue: the next question, or the finished query."""

from typing import Any

from compass.chat import replies
from compass.chat.columns import ask_columns
from compass.chat.draft import Conversation, Draft, Reading, Reply, Slot
from compass.chat.replies import error_text
from compass.chat.slots import missing_slot, outcomes_without_direction, to_query
from compass.chat.unclear import ask_words
from compass.domain.errors import CompassError
from compass.domain.space import Space

STEPS_BACK = 50  # changes that can be undone
# What a conversation forgets when another question begins.
NEW_QUESTION: dict[str, Any] = {
    "asked": (),
    "undirected": (),
    "unclear": (),
    "expecting": Slot.KIND,
}

Step = tuple[Conversation, Reply]


def with_lead(reply: Reply, lead: str, between: str = "\n") -> Reply:
    """The same reply with a text before it."""
    return reply.model_copy(update={"text": f"{lead}{between}{reply.text}"}) if lead else reply


def ask_again(talk: Conversation, space: Space, lead: str) -> Step:
    """The same question again, behind something that is said first."""
    if talk.expecting is None:
        return talk, Reply(text=lead, choices=("why?", "help", "start over"))
    # What is asked once only is asked again when it was not answered.
    asked = tuple(slot for slot in talk.asked if slot is not talk.expecting)
    left = asked if talk.expecting is Slot.CONSTRAINTS else talk.asked
    return next_step(talk.model_copy(update={"asked": left}), space, lead)


def next_step(talk: Conversation, space: Space, lead: str = "") -> Step:
    """The next question, or the finished query."""
    slot = missing_slot(talk)
    if slot is Slot.COLUMNS:
        return talk, with_lead(ask_columns(talk), lead)
    if slot is Slot.WORDS:
        return talk, with_lead(ask_words(talk, space), lead)
    if slot is not Slot.CONFIRM:
        open_goals = outcomes_without_direction(talk)
        reply = Reply(
            text=replies.question(slot, talk.draft, space, open_goals).strip(),
            expecting=slot,
            choices=replies.choices(slot, space, open_goals),
        )
        return talk, with_lead(reply, lead)
    try:
        query = to_query(talk.draft, space)
    except CompassError as error:
        trouble = error_text(error)
        text = f"{trouble}\nWhat should be different?"
        choices = ("undo", "start over")
        reply = Reply(text=text, expecting=slot, trouble=trouble, choices=choices)
        return talk, with_lead(reply, lead)
    reply = Reply(
        text=replies.confirmation(query), expecting=slot, choices=("yes", "no"), query=query
    )
    return talk, with_lead(reply, lead)


def with_draft(talk: Conversation, draft: Draft, **more: Any) -> Conversation:
    """The conversation with another draft; the one before can be had back."""
    before = talk.before
    if draft != talk.draft:
        before = (*before, talk.draft)[-STEPS_BACK:]
    return talk.model_copy(update={"draft": draft, "before": before, **more})


def has_content(reading: Reading) -> bool:
    """Whether a message states any part of a question."""
    stated = reading.parts != Draft() or reading.dropped or reading.outcome_without_goal
    return bool(stated or reading.links or reading.within)


def last_reply(talk: Conversation) -> str:
    """The text of the last reply."""
    return next((turn.text for turn in reversed(talk.turns) if turn.who == "compass"), "")
