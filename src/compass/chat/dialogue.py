"""The dialogue: a conversation and a message give the next conversation and a reply.

Nothing here needs an engine. Whoever holds the conversation answers the query that a reply asks to
run, and gives the answer back with `show_answer` (or what went wrong with `failed`); the runs that
a reply asks to propose come back with `show_proposals`, what it asks to look up with
`show_findings`.
"""

import re
from collections.abc import Sequence

from compass.chat import english, replies
from compass.chat.columns import agree, refuse, with_confirmed
from compass.chat.draft import (
    CHARACTERS,
    Act,
    Conversation,
    Draft,
    MessageReader,
    NextRuns,
    Reading,
    Reply,
    Slot,
    Turn,
)
from compass.chat.draft_columns import columns_of
from compass.chat.formal import formal_draft
from compass.chat.inquire import inquire
from compass.chat.replies import error_text
from compass.chat.slots import to_query
from compass.chat.steps import (
    NEW_QUESTION,
    Step,
    ask_again,
    has_content,
    last_reply,
    next_step,
    with_draft,
    with_lead,
)
from compass.chat.summary import reasons, runs_to_make, summary
from compass.chat.unclear import is_left_out, not_understood
from compass.chat.update import apply_message, is_another_question
from compass.domain.answer import Answer, Proposal
from compass.domain.errors import BadInput, CompassError
from compass.domain.findings import Findings
from compass.domain.query import Kind, Query
from compass.domain.space import Space
from compass.settings import Settings

TURNS = 500  # messages of both sides in one conversation
MOST = 1000  # suggestions in one answer

# Forget all that, another question: ...
_AFRESH = re.compile(
    r"\W*(?:(?:forget|scrap|ignore) (?:all(?: of)? (?:that|this|it)|everything)|new question|"
    r"(?:a )?(?:different|another) question)[\s,.:;!-]+(?:(?:a )?(?:new|different|another) question"
    r"[\s,.:;!-]+)?(?=\w+\W+\w)",
    re.IGNORECASE,
)
_EDITED = Turn(who="person", text="(changed the question in the form)")

__all__ = [
    "begin",
    "edited",
    "failed",
    "respond",
    "show_answer",
    "show_findings",
    "show_proposals",
    "to_query",
    "unreadable",
]


def begin(space: Space, doubts: Sequence[str] = ()) -> Step:
    """A new conversation about a table, and the first reply.

    `doubts` tell which roles of columns are guesses: a question about the wrong ones is no use.
    """
    text = f"{replies.GREETING}\n(e.g., {replies.begin_example(space)})"
    if doubts:
        text = f"{replies.roles_to_check(doubts)}\n{text}"
    return _with_reply(Conversation(), Reply(text=text, expecting=Slot.KIND, choices=replies.KINDS))


def respond(
    conversation: Conversation,
    text: str,
    space: Space,
    *,
    answer: Answer | None = None,
    read: MessageReader = english.read,
) -> Step:
    """The reply to a message. `answer` is the last answer, for why and what if.

    When `reply.run` is a query, it has been confirmed: answer it and call `show_answer`.
    """
    message, talk = _with_message(conversation, text)
    afresh = _AFRESH.match(message)
    if afresh is not None:
        message, talk = message[afresh.end() :], _fresh(talk, Draft())
    try:
        written = formal_draft(message, space)
        if written is not None:
            sure = with_confirmed(_fresh(talk, written), list(columns_of(written)))
            return _with_reply(*next_step(sure, space))
        reading = read(message, space, expecting=talk.expecting, before=talk.draft)
        if is_another_question(talk, reading):
            reading = read(message, space)  # the draft is not about this question
    except CompassError as error:
        return _with_reply(*ask_again(talk, space, error_text(error)))
    reading = _known_columns(reading, space)
    talk, note = _with_note(talk, reading)
    after, reply = _react(talk, reading, message, space, answer)
    return _with_reply(after, with_lead(reply, note))


def unreadable(conversation: Conversation, text: str, error: CompassError, space: Space) -> Step:
    """The reply to a message that could not be read; the open question is asked again."""
    _, talk = _with_message(conversation, text)
    return _with_reply(*ask_again(talk, space, error_text(error)))


def edited(conversation: Conversation, draft: Draft, space: Space) -> Step:
    """The draft was changed directly, in a form: what is still missing, or the finished query.

    Nobody has to confirm columns that were picked from a list, nor to say that nothing else
    constrains a question whose rules are in sight. A rule that cannot be read is refused: the form
    still has it.
    """
    talk = with_draft(conversation, draft, undirected=(), expecting=conversation.expecting)
    talk = with_confirmed(talk, list(columns_of(draft)))
    if Slot.CONSTRAINTS not in talk.asked:
        talk = talk.model_copy(update={"asked": (*talk.asked, Slot.CONSTRAINTS)})
    # One note for any number of edits in a row: each key stroke of a form is none of its own.
    before = talk.turns[:-2] if talk.turns[-2:-1] == (_EDITED,) else talk.turns
    talk = talk.model_copy(update={"turns": (*before, _EDITED)})
    return _with_reply(*next_step(talk, space))


def show_answer(conversation: Conversation, answer: Answer, reply: Reply | None = None) -> Step:
    """The answer to the confirmed query in a few plain sentences.

    It may come late, when something else is open. `reply` is the last reply: the question
    that is open is asked again, as only what stands before the person's eyes can be confirmed.
    """
    talk = conversation.model_copy(update={"last": answer.query})
    if reply is not None and talk.expecting is not None:
        text = f"{summary(answer)}\n{reply.text}"
        return _with_reply(talk, reply.model_copy(update={"text": text}))
    options = answer.query.kind is not Kind.WHAT_IF or bool(answer.query.ask)
    choices = ("why?", "what if", *(["give me more options"] if options else []), "start over")
    after = replies.AFTER if options else replies.AFTER_WHAT_IF
    if options and not answer.suggestions:
        after = replies.AFTER_NOTHING
        choices = ("why?", "what should I run next?", "with 50 % certainty", "start over")
    text = f"{summary(answer)}\n{after}"
    reply = Reply(text=text, expecting=talk.expecting, choices=choices)
    return _with_reply(talk, reply, answer=True)


def show_proposals(conversation: Conversation, proposals: Sequence[Proposal], space: Space) -> Step:
    """The runs to make next, each as a complete configuration; what is open is asked again."""
    text = runs_to_make(proposals)
    if conversation.expecting is not None:
        return _with_reply(*ask_again(conversation, space, text))
    choices = ("why?", "what if", "start over") if conversation.last is not None else ()
    return _with_reply(conversation, Reply(text=text, choices=choices))


def show_findings(conversation: Conversation, found: Findings | CompassError, space: Space) -> Step:
    """What was looked up, or why it could not be; what is open is asked again as it was."""
    if isinstance(found, CompassError):
        trouble = error_text(found)
        talk, reply = ask_again(conversation, space, trouble)
        return _with_reply(talk, reply.model_copy(update={"trouble": reply.trouble or trouble}))
    talk, reply = ask_again(conversation, space, found.text)
    return _with_reply(talk, reply.model_copy(update={"findings": found}))


def failed(conversation: Conversation, error: CompassError, space: Space) -> Step:
    """The reply when the confirmed query could not be answered; the draft stays as it is."""
    trouble = error_text(error)
    talk, reply = next_step(conversation, space, trouble)
    # Why the question as it stands cannot even be asked is more to the point.
    return _with_reply(talk, reply.model_copy(update={"trouble": reply.trouble or trouble}))


def _with_message(conversation: Conversation, text: str) -> tuple[str, Conversation]:
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


def _with_turn(talk: Conversation, who: str, text: str, *, answer: bool = False) -> Conversation:
    turn = Turn(who=who, text=text, answer=answer)
    return talk.model_copy(update={"turns": (*talk.turns, turn)})


def _with_reply(talk: Conversation, reply: Reply, *, answer: bool = False) -> Step:
    """The conversation with the reply in it; `answer`: it tells one."""
    asked = talk.asked
    if reply.expecting is not None and reply.expecting not in asked:
        asked = (*asked, reply.expecting)
    noted = _with_turn(talk, "compass", reply.text, answer=answer)
    return noted.model_copy(update={"expecting": reply.expecting, "asked": asked}), reply


def _known_columns(reading: Reading, space: Space) -> Reading:
    """The reading without columns that the table does not have."""
    links = [(link, tuple(n for n in link.columns if n in space)) for link in reading.links]
    outcomes = tuple(n for n in reading.outcome_without_goal if n in space)
    return reading.model_copy(
        update={
            "links": tuple(link.model_copy(update={"columns": c}) for link, c in links if c),
            "outcome_without_goal": outcomes,
        }
    )


def _with_note(talk: Conversation, reading: Reading) -> tuple[Conversation, str]:
    """The conversation with the note of a reading, and its text unless it was shown before."""
    note = reading.note
    if not note or note in talk.noted:
        return talk, ""
    text = f"{note} ({reading.note_reason})." if reading.note_reason else f"{note}."
    return talk.model_copy(update={"noted": (*talk.noted, note)}), text


def _react(
    talk: Conversation, reading: Reading, message: str, space: Space, answer: Answer | None
) -> Step:
    if talk.expecting is Slot.WORDS and is_left_out(message):
        return _no(talk, space)
    done = _command(talk, reading, space, answer)
    if done is not None:
        return done
    content = has_content(reading)
    match reading.act:
        case Act.YES if not content:
            return _yes(talk, space)
        case Act.NO | Act.NOTHING if not (content or reading.unknown):
            return _no(talk, space)
        case Act.YES if talk.expecting is Slot.COLUMNS:
            talk = agree(talk)
        case Act.NO:
            reading = reading.model_copy(update={"correction": True})
    return apply_message(talk, reading, message, space, answer)


def _command(
    talk: Conversation, reading: Reading, space: Space, answer: Answer | None
) -> Step | None:
    """What a message asks for that is about the conversation or the data, not the question."""
    match reading.act:
        case Act.HELP:
            return ask_again(talk, space, replies.HELP)
        case Act.UNDO:
            return _undo(talk, space)
        case Act.RESTART:
            fresh = _fresh(talk, Draft()).model_copy(update={"last": None})
            return next_step(fresh, space, "All right, from the beginning.")
        case Act.WHY if not has_content(reading):
            return _why(talk, space, answer)
        case Act.MORE if reading.parts.model_copy(update={"count": None}) == Draft():
            return _more(talk, reading, space, answer)
        case Act.INQUIRE if reading.inquiry is not None:
            return inquire(talk, reading.inquiry, reading, space, answer)
        case Act.RUN_NEXT:
            return _propose(talk, reading, space)
    return None


def _fresh(talk: Conversation, draft: Draft) -> Conversation:
    """A new question in the same conversation."""
    return with_draft(talk, draft, **NEW_QUESTION)


def _undo(talk: Conversation, space: Space) -> Step:
    if not talk.before:
        return ask_again(talk, space, "There is nothing to undo.")
    back = talk.model_copy(
        update={"draft": talk.before[-1], "before": talk.before[:-1], "undirected": ()}
    )
    return next_step(back, space, "I took the last change back.")


def _why(talk: Conversation, space: Space, answer: Answer | None) -> Step:
    if talk.expecting is not None:
        return ask_again(talk, space, replies.WHY_ASKED[talk.expecting])
    if answer is None:
        return ask_again(talk, space, "There is no answer yet that I could explain.")
    after = replies.AFTER if answer.suggestions or answer.answered else replies.AFTER_NOTHING
    return talk, Reply(text=f"{reasons(answer)}\n{after}")


def _answered_query(talk: Conversation, space: Space) -> Query | None:
    """The answered query, when nothing was changed since."""
    if talk.expecting is not None or talk.last is None:
        return None
    try:
        return talk.last if to_query(talk.draft, space) == talk.last else None
    except CompassError:
        return None


def _more(talk: Conversation, reading: Reading, space: Space, answer: Answer | None) -> Step:
    query = _answered_query(talk, space)
    wanted = reading.parts.count
    if query is None:
        if talk.expecting is Slot.CONFIRM:
            count = wanted or min(MOST, 2 * (talk.draft.count or Settings().count))
            return next_step(
                with_draft(talk, talk.draft.model_copy(update={"count": count})), space
            )
        return ask_again(talk, space, "There is no answer yet that could have more options.")
    if query.kind is Kind.WHAT_IF and not query.ask:
        return talk, Reply(text="A what-if tells what happens: there are no other options.")
    shown = len(answer) if answer is not None and len(answer) else 0
    now = max(query.count or Settings().count, shown)
    if now >= MOST:
        return talk, Reply(text=f"There were {now} options already, which is the most I give.")
    further = wanted is None or reading.further
    count = min(MOST, now + (wanted or now) if further else max(wanted or now, now + 1))
    draft = talk.draft.model_copy(update={"count": count})
    again = to_query(draft, space)
    text = f"Looking for {count} options:\n{replies.query_text(again)}"
    return with_draft(talk, draft), Reply(text=text, query=again, run=again)


def _propose(talk: Conversation, reading: Reading, space: Space) -> Step:
    """Runs for the question that is open to be confirmed, else for the one answered last."""
    query = talk.last
    if talk.expecting is Slot.CONFIRM:
        try:
            query = to_query(talk.draft, space)
        except CompassError as error:
            return ask_again(talk, space, error_text(error))
    wanted = NextRuns(query=query)
    if reading.parts.count is not None:
        wanted = NextRuns(query=query, count=reading.parts.count)
    about = "" if query is None else f" for:\n{replies.query_text(query)}"
    text = f"Looking for the runs that would help most{about or '.'}"
    return talk, Reply(text=text, expecting=talk.expecting, propose=wanted)


def _yes(talk: Conversation, space: Space) -> Step:
    match talk.expecting:
        case Slot.CONFIRM:
            after, reply = next_step(talk, space)
            # Only what stands before the person's eyes can be confirmed.
            if reply.query is None or replies.query_text(reply.query) not in last_reply(talk):
                return after, reply
            text = "Looking for the answer."
            return after, Reply(text=text, query=reply.query, run=reply.query)
        case Slot.COLUMNS:
            sure = agree(talk)
            if sure == talk:
                return next_step(talk, space, "Please name one of them.")
            after, reply = next_step(sure, space)
            lead = replies.AGREED if reply.query is None else ""
            return after, with_lead(reply, lead, " ")
        case Slot.CONSTRAINTS:
            return _ask_constraints(talk, space)
        case Slot.WORDS:  # which they are may have scrolled away
            return ask_again(talk, space, not_understood(talk.unclear, (), space))
        case None:
            return ask_again(talk, space, "There is nothing to confirm now.")
        case _:
            return next_step(talk, space, "Please say what you mean:")


def _ask_constraints(talk: Conversation, space: Space) -> Step:
    examples = replies.constraint_examples(space)
    bracket = f" (e.g., {', '.join(examples)})" if examples else ""
    text = f"Which constraints?{bracket}"
    return talk, Reply(text=text, expecting=talk.expecting, choices=("none",))


def _no(talk: Conversation, space: Space) -> Step:
    match talk.expecting:
        case Slot.CONFIRM:
            text = "What should be different? You can name a goal, parameters or limits."
            reply = Reply(text=text, expecting=Slot.CONFIRM, choices=("undo", "start over"))
            return talk, reply
        case Slot.COLUMNS:
            return refuse(talk, space)
        case Slot.CONSTRAINTS:
            return next_step(talk, space)
        case Slot.WORDS:
            return next_step(talk.model_copy(update={"unclear": ()}), space)
        case None:
            return ask_again(talk, space, f"All right. {replies.AFTER}")
        case _:
            return next_step(talk, space, "I cannot go on without this:")
