"""Messages that state parts of a question, correct them, or go on from an answer."""

from compass.chat import replies
from compass.chat.columns import pick, with_confirmed
from compass.chat.draft import Conversation, Draft, How, Link, Reading, Slot
from compass.chat.draft_columns import columns_of, with_renamed_column
from compass.chat.merge import bind_draft, merged
from compass.chat.replies import error_text
from compass.chat.slots import (
    contradiction,
    kind_of,
    missing_slot,
    outcomes_without_direction,
    to_query,
)
from compass.chat.steps import (
    NEW_QUESTION,
    Step,
    ask_again,
    has_content,
    last_reply,
    next_step,
    with_draft,
)
from compass.chat.unclear import not_understood
from compass.domain.answer import Answer
from compass.domain.errors import CompassError
from compass.domain.goal import Observe, maximize, minimize
from compass.domain.query import Given, Kind, Query, SetTo
from compass.domain.space import Category, Role, Space
from compass.language import listed


def apply_message(
    talk: Conversation, reading: Reading, message: str, space: Space, answer: Answer | None
) -> Step:
    """The step after a message that states parts of a question, or corrects them."""
    parts, problems = bind_draft(_as_change(reading.parts), space)
    reading = reading.model_copy(update={"parts": parts})
    if talk.expecting is Slot.COLUMNS:
        picked = pick(talk, reading, message, space)
        if picked is not None:
            return _checked(picked, talk, space, "")
    lead = [error_text(error) for error in problems]
    told = not_understood(reading.unknown, reading.misfits, space)
    lead += [told] if told else []
    start, reading, note = _follow_up(talk, reading, parts, answer)
    named_now = (*columns_of(parts), *reading.outcome_without_goal)
    parts = _with_direction(start, parts, reading)
    draft = _replaced_column(start, reading, parts, space) or merged(start.draft, reading, parts)
    if kind_of(draft) is Kind.WHAT_IF:
        named = {n: Observe() for n in reading.outcome_without_goal if n not in draft.goals}
        draft = draft.model_copy(update={"goals": draft.goals | named})
        open_goals: tuple[str, ...] = ()
    else:
        open_goals = tuple(
            dict.fromkeys((*outcomes_without_direction(start), *reading.outcome_without_goal))
        )
    after = _linked(start, reading, message, named_now, space)
    unclear, more = _unclear(talk, reading)
    lead += more
    after = after.model_copy(
        update={"undirected": open_goals, "draft": talk.draft, "unclear": unclear}
    )
    after = with_draft(after, draft)
    same = draft == talk.draft and open_goals == talk.undirected and not note
    if same and after.unclear == talk.unclear:
        if not lead:
            lead = [_nothing_new(reading, message)]
        if talk.expecting is None:
            lead.append(replies.AFTER)
        kept = after if has_content(reading) else talk
        return ask_again(kept, space, "\n".join(lead))
    return _checked(after, talk, space, "\n".join([*lead, *filter(None, [note])]))


def _unclear(talk: Conversation, reading: Reading) -> tuple[tuple[str, ...], list[str]]:
    """The words that are asked about next: those of this message, unless it was the second try.

    A message that states nothing at all leaves the question as it was, so nothing is open then.
    """
    if not reading.unknown:
        return (), []
    if talk.expecting is Slot.WORDS:
        return (), [f"I go on without {listed([*map(replies.quoted, reading.unknown)])}."]
    if not has_content(reading):
        return talk.unclear, []
    return reading.unknown, []


def _as_change(parts: Draft) -> Draft:
    """`What if I use 1 thread`: a what-if is about what is set, so that is the change."""
    start = parts.baseline
    if parts.kind is not Kind.WHAT_IF or parts.change or not isinstance(start, Given):
        return parts
    change = {name: SetTo(value=value) for name, value in start.config.items()}
    return parts.model_copy(update={"change": change, "baseline": None})


def _nothing_new(reading: Reading, message: str) -> str:
    if reading.correction and reading.links:
        names = replies.or_list([link.columns[0] for link in reading.links])
        return f"I am not sure what {names} should replace."
    if has_content(reading):
        return "That is so already."
    return f"I did not understand {replies.quoted(message) if message else 'that'}."


def _checked(after: Conversation, talk: Conversation, space: Space, lead: str) -> Step:
    """The next step; a change that makes the question impossible is reported and left out."""
    draft, problems = bind_draft(after.draft, space)
    lead = "\n".join(filter(None, [lead, *map(error_text, problems)]))
    after = after.model_copy(update={"draft": draft})
    trouble = contradiction(draft, space)
    if trouble is not None and missing_slot(after) is not Slot.CONFIRM:
        talk_now, reply = next_step(
            after, space, "\n".join(filter(None, [lead, error_text(trouble)]))
        )
        return talk_now, reply.model_copy(update={"trouble": error_text(trouble)})
    if missing_slot(after) is Slot.CONFIRM:
        try:
            to_query(draft, space)
        except CompassError as error:
            both = "\n".join(filter(None, [lead, error_text(error)]))
            return ask_again(talk, space, f"{both}\nI left everything as it was.")
    step = next_step(after, space, lead)
    # The same words again would look as if nothing had been heard.
    return next_step(after, space, "Noted.") if step[1].text == last_reply(talk) else step


def _linked(
    talk: Conversation, reading: Reading, message: str, used: tuple[str, ...], space: Space
) -> Conversation:
    """The conversation with the words of a message and the columns that they were taken for."""
    exact = [n.columns[0] for n in reading.links if n.how is How.EXACT and len(n.columns) == 1]
    unsure = [link for link in reading.links if link.how is not How.EXACT or len(link.columns) > 1]
    linked = {name for link in reading.links for name in link.columns}
    # Whoever read the message must not have to be trusted with the names that it found.
    text = message.casefold().replace("_", " ")
    for name in used:
        if name in linked or name in talk.confirmed or name in columns_of(talk.draft):
            continue
        if any(word.casefold().replace("_", " ") in text for word in _calls(name, space)):
            exact.append(name)
        else:
            unsure.append(Link(words=message, columns=(name,), how=How.FUZZY))
    links = tuple(dict.fromkeys((*talk.links, *unsure)))
    return with_confirmed(talk, exact).model_copy(update={"links": links})


def _calls(name: str, space: Space) -> tuple[str, ...]:
    """What names a column exactly: its name, and labels that no other column has."""
    column = space[name]
    if not isinstance(column, Category):
        return (name,)
    others = [p.values for p in space if isinstance(p, Category) and p.name != name]
    unique = [v for v in column.values if not any(v in values for values in others)]
    return (name, *(v for v in unique if isinstance(v, str) and v))


def _with_direction(talk: Conversation, parts: Draft, reading: Reading) -> Draft:
    """`minimize` as the answer to whether an outcome should be minimized or maximized."""
    waiting = outcomes_without_direction(talk)
    way = reading.direction
    if talk.expecting is not Slot.GOAL or not waiting or parts.goals or way is None:
        return parts
    goal = minimize if way == "minimize" else maximize
    return parts.model_copy(update={"goals": {waiting[0]: goal}})


def _replaced_column(
    talk: Conversation, reading: Reading, parts: Draft, space: Space
) -> Draft | None:
    """`I meant gpus`: the one column that the last message brought is replaced."""
    only_names = parts.model_copy(update={"ask": ()}) == Draft()
    names = parts.ask or tuple(link.columns[0] for link in reading.links)
    if not reading.correction or not only_names or len(names) != 1 or not talk.before:
        return None
    old, now = columns_of(talk.before[-1]), columns_of(talk.draft)
    measured = space[names[0]].role is Role.OUTCOME
    alike = [name for name in now if (space[name].role is Role.OUTCOME) == measured]
    brought = [name for name in alike if name not in old] or alike
    if len(brought) != 1 or names[0] in now:
        return None
    return with_renamed_column(talk.draft, brought[0], names[0])


def _follow_up(
    talk: Conversation, reading: Reading, parts: Draft, answer: Answer | None
) -> tuple[Conversation, Reading, str]:
    """What a message after an answer is about: a new question, or the answered one changed."""
    if is_another_question(talk, reading):
        return talk.model_copy(update=NEW_QUESTION | {"draft": Draft()}), reading, ""
    if talk.expecting is not None or talk.last is None:
        return talk, reading, ""
    what_if = parts.kind is Kind.WHAT_IF or (parts.kind is None and parts.change)
    if what_if:
        base, note = _from_answer(talk.last, parts, answer)
    elif not reading.correction and _is_new_question(parts, talk.last):
        base, note = Draft(), ""
    else:
        return talk, reading.model_copy(update={"correction": not reading.adds}), ""
    return talk.model_copy(update=NEW_QUESTION | {"draft": base}), reading, note


def is_another_question(talk: Conversation, reading: Reading) -> bool:
    """Whether a whole question of another kind comes instead of the one to be confirmed."""
    parts = reading.parts
    return (
        talk.expecting is Slot.CONFIRM
        and not reading.correction
        and parts.kind not in (None, Kind.WHAT_IF, kind_of(talk.draft))
        and bool(parts.goals)
    )


def _is_new_question(parts: Draft, last: Query) -> bool:
    """Whether a message asks a question of its own; goals and limits alone change the last one."""
    if parts.kind is None:
        return False
    bare = parts == Draft(kind=parts.kind)
    return bool(parts.kind is not last.kind or parts.ask or parts.everything or bare)


def _from_answer(last: Query, parts: Draft, answer: Answer | None) -> tuple[Draft, str]:
    """A what-if that goes on from an answer: from its first suggestion, where it has one."""
    observed = {n: Observe() for n in last.goals if n not in parts.change and not parts.goals}
    base = Draft(kind=Kind.WHAT_IF, goals=observed)
    if answer is not None and answer.suggestions and parts.baseline is None:
        start = Given(config=dict(answer.suggestions[0].config))
        return base.model_copy(update={"baseline": start}), "Starting from the first suggestion."
    if last.kind is not Kind.WHAT_IF:
        return base, ""
    rules = tuple(rule.text for rule in last.where)
    return base.model_copy(update={"baseline": last.baseline, "where": rules}), ""
