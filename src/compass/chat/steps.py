"""One step of the dialogue: the next question, or the finished query."""

from typing import Any

from compass.chat import replies
from compass.chat.columns import ask_columns
from compass.chat.draft import Conversation, Draft, Reading, Reply, Slot
from compass.chat.slots import missing, to_query, undirected
from compass.domain.errors import CompassError, QuerySyntax
from compass.domain.space import Space

STEPS_BACK = 50  # changes that can be undone

Step = tuple[Conversation, Reply]


def led(reply: Reply, lead: str) -> Reply:
    """The same reply with something said before it."""
    if not lead:
        return reply
    between = " " if lead == replies.AGREED else "\n"
    return reply.model_copy(update={"text": f"{lead}{between}{reply.text}"})


def problem(error: CompassError) -> str:
    """What is wrong and what to do about it, as sentences."""
    said, do = _sentence(error.message), _sentence(error.hint)
    if isinstance(error, QuerySyntax) and error.text:
        return f"{said}\n{error.pointer()}\n{do}"
    return f"{said} {do}".strip()


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def repeat(talk: Conversation, space: Space, lead: str) -> Step:
    """Something is told, and the open question stays open."""
    if talk.expecting is None:
        return talk, Reply(text=lead, choices=("why?", "help", "start over"))
    # What is asked once only is asked again when it was not answered.
    asked = tuple(slot for slot in talk.asked if slot is not talk.expecting)
    left = asked if talk.expecting is Slot.CONSTRAINTS else talk.asked
    return onward(talk.model_copy(update={"asked": left}), space, lead)


def onward(talk: Conversation, space: Space, lead: str = "") -> Step:
    """The next question, or the finished query."""
    slot = missing(talk)
    if slot is Slot.COLUMNS:
        return talk, led(ask_columns(talk), lead)
    if slot is not Slot.CONFIRM:
        open_goals = undirected(talk)
        reply = Reply(
            text=replies.question(slot, talk.draft, space, open_goals).strip(),
            expecting=slot,
            choices=replies.choices(slot, space, open_goals),
        )
        return talk, led(reply, lead)
    try:
        query = to_query(talk.draft, space)
    except CompassError as error:
        trouble = problem(error)
        text = f"{trouble}\nWhat should be different?"
        choices = ("undo", "start over")
        reply = Reply(text=text, expecting=slot, trouble=trouble, choices=choices)
        return talk, led(reply, lead)
    reply = Reply(text=replies.complete(query), expecting=slot, choices=("yes", "no"), query=query)
    return talk, led(reply, "" if lead == replies.AGREED else lead)


def changed(talk: Conversation, draft: Draft, **more: Any) -> Conversation:
    """The conversation with another draft; the one before can be had back."""
    before = talk.before
    if draft != talk.draft:
        before = (*before, talk.draft)[-STEPS_BACK:]
    return talk.model_copy(update={"draft": draft, "before": before, **more})


def says_something(reading: Reading) -> bool:
    """Whether a message tells any part of a question."""
    told_parts = reading.said != Draft() or reading.dropped or reading.outcome_without_goal
    return bool(told_parts or reading.links)


def last_said(talk: Conversation) -> str:
    """What Compass said last."""
    return next((turn.text for turn in reversed(talk.turns) if turn.who == "compass"), "")
