"""The dialogue: a conversation and a message give the next conversation and a reply.

Nothing here needs an engine. Whoever holds the conversation answers the query that a reply asks to
run, and gives the answer back with `told` (or what went wrong with `failed`).
"""

import re
from collections.abc import Callable

from compass.chat import wording
from compass.chat.change import columns_of, formal
from compass.chat.columns import agree, confirming, refuse
from compass.chat.draft import Act, Conversation, Draft, Reading, Reply, Slot, Turn
from compass.chat.finish import to_query
from compass.chat.say import another, say
from compass.chat.steps import (
    Step,
    changed,
    last_said,
    led,
    onward,
    problem,
    repeat,
    says_something,
)
from compass.chat.telling import in_words, reasons
from compass.chat.understand import understand
from compass.domain.answer import Answer
from compass.domain.errors import BadInput, CompassError
from compass.domain.query import Kind, Query
from compass.domain.space import Space
from compass.settings import Settings

TURNS = 500  # messages of both sides in one conversation
CHARACTERS = 2000  # in one message
MOST = 1000  # suggestions in one answer

Read = Callable[..., Reading]

_FURTHER = re.compile(r"\b(more|further|another|additional|other)\b", re.I)

_EDITED = Turn(who="person", text="(changed the question in the form)")

__all__ = ["begin", "edited", "failed", "respond", "to_query", "told", "unread"]


def begin(space: Space) -> Step:
    """A new conversation about a table, and what Compass says first."""
    text = f"{wording.GREETING}\n(e.g., {wording.begin_example(space)})"
    return _said(Conversation(), Reply(text=text, expecting=Slot.KIND, choices=wording.KINDS))


def respond(
    conversation: Conversation,
    text: str,
    space: Space,
    *,
    answer: Answer | None = None,
    read: Read = understand,
) -> Step:
    """What Compass says to a message. `answer` is the last answer, for why and what if.

    When `reply.run` is a query, it has been confirmed: answer it and call `told`.
    """
    message, talk = _heard(conversation, text)
    try:
        written = formal(message, space)
        if written is not None:
            sure = confirming(_fresh(talk, written), list(columns_of(written)))
            return _said(*onward(sure, space))
        reading = read(message, space, expecting=talk.expecting, before=talk.draft)
        if another(talk, reading):
            reading = read(message, space)  # what was said before is not about this question
    except CompassError as error:
        return _said(*repeat(talk, space, problem(error)))
    reading = _known(reading, space)
    talk, note = _noted(talk, reading)
    after, reply = _answered(talk, reading, message, space, answer)
    return _said(after, led(reply, note))


def unread(conversation: Conversation, text: str, error: CompassError, space: Space) -> Step:
    """Why a message could not be read; what was asked before is asked again."""
    _, talk = _heard(conversation, text)
    return _said(*repeat(talk, space, problem(error)))


def edited(conversation: Conversation, draft: Draft, space: Space) -> Step:
    """The draft was changed directly, in a form: what is still missing, or the finished query.

    Nobody has to confirm columns that were picked from a list, nor to say that nothing else
    constrains a question whose rules are in sight. A rule that cannot be read is refused: the form
    still has it.
    """
    talk = changed(conversation, draft, undirected=(), expecting=conversation.expecting)
    talk = confirming(talk, list(columns_of(draft)))
    if Slot.CONSTRAINTS not in talk.asked:
        talk = talk.model_copy(update={"asked": (*talk.asked, Slot.CONSTRAINTS)})
    # One note for any number of edits in a row: each key stroke of a form is none of its own.
    before = talk.turns[:-2] if talk.turns[-2:-1] == (_EDITED,) else talk.turns
    talk = talk.model_copy(update={"turns": (*before, _EDITED)})
    return _said(*onward(talk, space))


def told(conversation: Conversation, answer: Answer, said: Reply | None = None) -> Step:
    """The answer to the confirmed query in a few plain sentences.

    It may come late, when something else is open. `said` is what Compass said last: the question
    that is open is asked again, as only what stands before the person's eyes can be confirmed.
    """
    talk = conversation.model_copy(update={"last": answer.query})
    if said is not None and talk.expecting is not None:
        text = f"{in_words(answer)}\n{said.text}"
        return _said(talk, said.model_copy(update={"text": text}))
    options = answer.query.kind is not Kind.WHAT_IF or bool(answer.query.ask)
    choices = ("why?", "what if", *(["give me more options"] if options else []), "start over")
    text = f"{in_words(answer)}\n{wording.AFTER if options else wording.AFTER_WHAT_IF}"
    return _said(talk, Reply(text=text, expecting=talk.expecting, choices=choices))


def failed(conversation: Conversation, error: CompassError, space: Space) -> Step:
    """Why the confirmed query could not be answered; nothing that was said is lost."""
    trouble = problem(error)
    talk, reply = onward(conversation, space, trouble)
    # Why the question as it stands cannot even be asked is more to the point.
    return _said(talk, reply.model_copy(update={"trouble": reply.trouble or trouble}))


def _heard(conversation: Conversation, text: str) -> tuple[str, Conversation]:
    """A message as it can be kept, and the conversation with it."""
    # Half of a pair of code units cannot be kept as JSON.
    message = text.encode(errors="replace").decode().strip()
    _check_limits(conversation, message)
    return message, _with_turn(conversation, "person", message)


def _check_limits(conversation: Conversation, message: str) -> None:
    if len(message) > CHARACTERS:
        raise BadInput(
            f"the message has {len(message):,} characters; the limit is {CHARACTERS:,}",
            hint="say it in several messages",
        )
    if len(conversation.turns) >= TURNS:
        raise BadInput(
            f"the conversation has {TURNS} messages, which is the limit",
            hint="begin a new conversation",
        )


def _with_turn(talk: Conversation, who: str, text: str) -> Conversation:
    return talk.model_copy(update={"turns": (*talk.turns, Turn(who=who, text=text))})


def _said(talk: Conversation, reply: Reply) -> Step:
    """The conversation with the reply in it."""
    asked = talk.asked
    if reply.expecting is not None and reply.expecting not in asked:
        asked = (*asked, reply.expecting)
    noted = _with_turn(talk, "compass", reply.text)
    return noted.model_copy(update={"expecting": reply.expecting, "asked": asked}), reply


def _known(reading: Reading, space: Space) -> Reading:
    """A reading that speaks of columns of the table only."""
    links = [(link, tuple(n for n in link.columns if n in space)) for link in reading.links]
    outcomes = tuple(n for n in reading.outcome_without_goal if n in space)
    return reading.model_copy(
        update={
            "links": tuple(link.model_copy(update={"columns": c}) for link, c in links if c),
            "outcome_without_goal": outcomes,
        }
    )


def _noted(talk: Conversation, reading: Reading) -> tuple[Conversation, str]:
    """The note of a reading, unless it was told before; the reason for it may differ."""
    if not reading.note or reading.note in talk.noted:
        return talk, ""
    noted = talk.model_copy(update={"noted": (*talk.noted, reading.note)})
    return (
        noted,
        f"{reading.note} ({reading.note_reason})." if reading.note_reason else reading.note,
    )


def _answered(
    talk: Conversation, reading: Reading, message: str, space: Space, answer: Answer | None
) -> Step:
    says = says_something(reading)
    match reading.act:
        case Act.HELP:
            return repeat(talk, space, wording.HELP)
        case Act.UNDO:
            return _undo(talk, space)
        case Act.RESTART:
            fresh = _fresh(talk, Draft()).model_copy(update={"last": None})
            return onward(fresh, space, "All right, from the beginning.")
        case Act.WHY if not says:
            return _why(talk, space, answer)
        case Act.MORE if reading.said.model_copy(update={"count": None}) == Draft():
            return _more(talk, reading, message, space, answer)
        case Act.YES if not says:
            return _yes(talk, space)
        case Act.NO | Act.NOTHING if not (says or reading.unknown):
            return _no(talk, space)
        case Act.YES if talk.expecting is Slot.COLUMNS:
            return say(agree(talk), reading, message, space, answer)
        case Act.NO:
            against = reading.model_copy(update={"correction": True})
            return say(talk, against, message, space, answer)
        case _:
            return say(talk, reading, message, space, answer)


def _fresh(talk: Conversation, draft: Draft) -> Conversation:
    """A new question in the same conversation."""
    return changed(talk, draft, asked=(), undirected=(), expecting=Slot.KIND)


def _undo(talk: Conversation, space: Space) -> Step:
    if not talk.before:
        return repeat(talk, space, "There is nothing to undo.")
    back = talk.model_copy(
        update={"draft": talk.before[-1], "before": talk.before[:-1], "undirected": ()}
    )
    return onward(back, space, "I took the last change back.")


def _why(talk: Conversation, space: Space, answer: Answer | None) -> Step:
    if talk.expecting is not None:
        return repeat(talk, space, wording.WHY_ASKED[talk.expecting])
    if answer is None:
        return repeat(talk, space, "There is no answer yet that I could explain.")
    return talk, Reply(text=f"{reasons(answer)}\n{wording.AFTER}")


def _standing(talk: Conversation, space: Space) -> Query | None:
    """The answered query, when nothing was changed since."""
    if talk.expecting is not None or talk.last is None:
        return None
    try:
        return talk.last if to_query(talk.draft, space) == talk.last else None
    except CompassError:
        return None


def _more(
    talk: Conversation, reading: Reading, message: str, space: Space, answer: Answer | None
) -> Step:
    query = _standing(talk, space)
    wanted = reading.said.count
    if query is None:
        if talk.expecting is Slot.CONFIRM:
            count = wanted or min(MOST, 2 * (talk.draft.count or Settings().count))
            return onward(changed(talk, talk.draft.model_copy(update={"count": count})), space)
        return repeat(talk, space, "There is no answer yet that could have more options.")
    if query.kind is Kind.WHAT_IF and not query.ask:
        return talk, Reply(text="A what-if tells what happens: there are no other options.")
    shown = len(answer) if answer is not None and len(answer) else 0
    now = max(query.count or Settings().count, shown)
    if now >= MOST:
        return talk, Reply(text=f"There were {now} options already, which is the most I give.")
    further = wanted is None or _FURTHER.search(message) is not None
    count = min(MOST, now + (wanted or now) if further else max(wanted or now, now + 1))
    draft = talk.draft.model_copy(update={"count": count})
    again = to_query(draft, space)
    text = f"Looking for {count} options:\n{wording.shown(again)}"
    return changed(talk, draft), Reply(text=text, query=again, run=again)


def _yes(talk: Conversation, space: Space) -> Step:
    match talk.expecting:
        case Slot.CONFIRM:
            after, reply = onward(talk, space)
            # Only what stands before the person's eyes can be confirmed.
            if reply.query is None or wording.shown(reply.query) not in last_said(talk):
                return after, reply
            text = "Looking for the answer."
            return after, Reply(text=text, query=reply.query, run=reply.query)
        case Slot.COLUMNS:
            sure = agree(talk)
            lead = wording.AGREED if sure != talk else "Please name one of them."
            return onward(sure, space, lead)
        case Slot.CONSTRAINTS:
            return _onward_asking(talk, space, "Which constraints?")
        case None:
            return repeat(talk, space, "There is nothing to confirm now.")
        case _:
            return onward(talk, space, "Please say what you mean:")


def _onward_asking(talk: Conversation, space: Space, text: str) -> Step:
    examples = wording.constraint_examples(space)
    bracket = f" (e.g., {', '.join(examples)})" if examples else ""
    return talk, Reply(text=f"{text}{bracket}", expecting=talk.expecting, choices=("none",))


def _no(talk: Conversation, space: Space) -> Step:
    match talk.expecting:
        case Slot.CONFIRM:
            text = "What should be different? You can name a goal, parameters or limits."
            reply = Reply(text=text, expecting=Slot.CONFIRM, choices=("undo", "start over"))
            return talk, reply
        case Slot.COLUMNS:
            return refuse(talk, space)
        case Slot.CONSTRAINTS:
            return onward(talk, space)
        case None:
            return repeat(talk, space, f"All right. {wording.AFTER}")
        case _:
            return onward(talk, space, "I cannot go on without this:")
