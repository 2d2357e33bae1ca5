"""Messages that tell parts of a question, correct them, or go on from an answer."""

import re
from typing import Any

from compass.chat import replies
from compass.chat.columns import confirming, pick
from compass.chat.draft import Conversation, Draft, How, Link, Reading, Slot
from compass.chat.merge import columns_of, merged, renamed, sifted
from compass.chat.slots import kind_of, missing, to_query, undirected
from compass.chat.steps import Step, changed, last_said, onward, problem, repeat, says_something
from compass.domain.answer import Answer
from compass.domain.errors import CompassError
from compass.domain.goal import Observe, maximize, minimize
from compass.domain.query import Given, Kind, Query, SetTo
from compass.domain.space import Category, Role, Space
from compass.language.bind import bind_value

_LESS = re.compile(r"\b(minimi[sz]\w*|min|less|low\w*|small\w*|reduc\w*|decreas\w*)\b", re.I)
_GREATER = re.compile(r"\b(maximi[sz]\w*|max|more|high\w*|larg\w*|increas\w*)\b", re.I)
_FRESH: dict[str, Any] = {"asked": (), "undirected": (), "expecting": Slot.KIND}
_ADDS = re.compile(r"\s*(and|also|plus|additionally|in addition)\b", re.I)


def say(
    talk: Conversation, reading: Reading, message: str, space: Space, answer: Answer | None
) -> Step:
    """A message that tells parts of a question, or corrects them."""
    said, problems = sifted(_as_change(reading.said), space)
    reading = reading.model_copy(update={"said": said})
    if talk.expecting is Slot.COLUMNS:
        picked = pick(talk, reading, message, space)
        if picked is not None:
            return _checked(picked, talk, space, "")
    lead = [problem(error) for error in problems]
    if reading.unknown:
        lead.append(
            f"I did not understand {replies.both([*map(replies.quoted, reading.unknown)])}."
        )
    lead += _misfits(reading, space)
    start, reading, note = _follow_up(talk, reading, said, message, answer)
    named_now = (*columns_of(said), *reading.outcome_without_goal)
    said = _with_direction(start, said, message)
    draft = _meant_instead(start, reading, said, space) or merged(start.draft, reading, said)
    if kind_of(draft) is Kind.WHAT_IF:
        named = {n: Observe() for n in reading.outcome_without_goal if n not in draft.goals}
        draft = draft.model_copy(update={"goals": draft.goals | named})
        open_goals: tuple[str, ...] = ()
    else:
        open_goals = tuple(dict.fromkeys((*undirected(start), *reading.outcome_without_goal)))
    after = _linked(start, reading, message, named_now, space)
    after = after.model_copy(update={"undirected": open_goals, "draft": talk.draft})
    after = changed(after, draft)
    if draft == talk.draft and open_goals == talk.undirected and not note:
        if not lead:
            lead = [_nothing_new(reading, message)]
        if talk.expecting is None:
            lead.append(replies.AFTER)
        kept = after if says_something(reading) else talk
        return repeat(kept, space, "\n".join(lead))
    return _checked(after, talk, space, "\n".join([*lead, *filter(None, [note])]))


def _misfits(reading: Reading, space: Space) -> list[str]:
    """Which values a column has, when words were said to be one and are none."""
    told: list[str] = []
    for name, words in reading.misfits:
        try:
            bind_value(words, space[name])
        except CompassError as error:
            told.append(problem(error))
    return told


def _as_change(said: Draft) -> Draft:
    """`What if I use 1 thread`: a what-if is about what is set, so that is the change."""
    start = said.baseline
    if said.kind is not Kind.WHAT_IF or said.change or not isinstance(start, Given):
        return said
    change = {name: SetTo(value=value) for name, value in start.config.items()}
    return said.model_copy(update={"change": change, "baseline": None})


def _nothing_new(reading: Reading, message: str) -> str:
    if reading.correction and reading.links:
        names = replies.either([link.columns[0] for link in reading.links])
        return f"I am not sure what {names} should replace."
    if says_something(reading):
        return "That is so already."
    return f"I did not understand {replies.quoted(message) if message else 'that'}."


def _checked(after: Conversation, talk: Conversation, space: Space, lead: str) -> Step:
    """The next step; a change that makes the question impossible is told and left out."""
    sound, problems = sifted(after.draft, space)
    lead = "\n".join(filter(None, [lead, *map(problem, problems)]))
    after = after.model_copy(update={"draft": sound})
    if missing(after) is Slot.CONFIRM:
        try:
            to_query(sound, space)
        except CompassError as error:
            told_both = "\n".join(filter(None, [lead, problem(error)]))
            return repeat(talk, space, f"{told_both}\nI left everything as it was.")
    step = onward(after, space, lead)
    # The same words again would look as if nothing had been heard.
    return onward(after, space, "Noted.") if step[1].text == last_said(talk) else step


def _linked(
    talk: Conversation, reading: Reading, message: str, used: tuple[str, ...], space: Space
) -> Conversation:
    """The conversation with the words of a message and the columns that they were taken for."""
    exact = [n.columns[0] for n in reading.links if n.how is How.EXACT and len(n.columns) == 1]
    unsure = [link for link in reading.links if link.how is not How.EXACT or len(link.columns) > 1]
    linked = {name for link in reading.links for name in link.columns}
    # Whoever read the message must not have to be trusted with the names that it found.
    spoken = message.casefold().replace("_", " ")
    for name in used:
        if name in linked or name in talk.confirmed or name in columns_of(talk.draft):
            continue
        if any(word.casefold().replace("_", " ") in spoken for word in _calls(name, space)):
            exact.append(name)
        else:
            unsure.append(Link(words=message, columns=(name,), how=How.FUZZY))
    links = tuple(dict.fromkeys((*talk.links, *unsure)))
    return confirming(talk, exact).model_copy(update={"links": links})


def _calls(name: str, space: Space) -> tuple[str, ...]:
    """What names a column exactly: its name, and labels that no other column has."""
    column = space[name]
    if not isinstance(column, Category):
        return (name,)
    others = [p.values for p in space if isinstance(p, Category) and p.name != name]
    alone = [v for v in column.values if not any(v in values for values in others)]
    return (name, *(v for v in alone if isinstance(v, str) and v))


def _with_direction(talk: Conversation, said: Draft, message: str) -> Draft:
    """`minimize` as the answer to whether an outcome should be minimized or maximized."""
    waiting = undirected(talk)
    less, greater = bool(_LESS.search(message)), bool(_GREATER.search(message))
    if talk.expecting is not Slot.GOAL or not waiting or said.goals or less == greater:
        return said
    return said.model_copy(update={"goals": {waiting[0]: minimize if less else maximize}})


def _meant_instead(talk: Conversation, reading: Reading, said: Draft, space: Space) -> Draft | None:
    """`I meant gpus`: the one column that the last message brought is replaced."""
    only_names = said.model_copy(update={"ask": ()}) == Draft()
    names = said.ask or tuple(link.columns[0] for link in reading.links)
    if not reading.correction or not only_names or len(names) != 1 or not talk.before:
        return None
    old, now = columns_of(talk.before[-1]), columns_of(talk.draft)
    measured = space[names[0]].role is Role.OUTCOME
    alike = [name for name in now if (space[name].role is Role.OUTCOME) == measured]
    brought = [name for name in alike if name not in old] or alike
    if len(brought) != 1 or names[0] in now:
        return None
    return renamed(talk.draft, brought[0], names[0])


def _follow_up(
    talk: Conversation, reading: Reading, said: Draft, message: str, answer: Answer | None
) -> tuple[Conversation, Reading, str]:
    """What a message after an answer is about: a new question, or the answered one changed."""
    if another(talk, reading):
        return talk.model_copy(update=_FRESH | {"draft": Draft()}), reading, ""
    if talk.expecting is not None or talk.last is None:
        return talk, reading, ""
    what_if = said.kind is Kind.WHAT_IF or (said.kind is None and said.change)
    if what_if:
        base, note = _from_answer(talk.last, said, answer)
    elif not reading.correction and _anew(said, talk.last):
        base, note = Draft(), ""
    else:
        adds = _ADDS.match(message) is not None
        return talk, reading.model_copy(update={"correction": not adds}), ""
    return talk.model_copy(update=_FRESH | {"draft": base}), reading, note


def another(talk: Conversation, reading: Reading) -> bool:
    """Whether a whole question of another kind comes instead of the one to be confirmed."""
    said = reading.said
    return (
        talk.expecting is Slot.CONFIRM
        and not reading.correction
        and said.kind not in (None, Kind.WHAT_IF, kind_of(talk.draft))
        and bool(said.goals)
    )


def _anew(said: Draft, last: Query) -> bool:
    """Whether a message asks a question of its own; goals and limits alone change the last one."""
    if said.kind is None:
        return False
    bare = said == Draft(kind=said.kind)
    return bool(said.kind is not last.kind or said.ask or said.everything or bare)


def _from_answer(last: Query, said: Draft, answer: Answer | None) -> tuple[Draft, str]:
    """A what-if that goes on from an answer: from its first suggestion, where it has one."""
    observed = {n: Observe() for n in last.goals if n not in said.change and not said.goals}
    base = Draft(kind=Kind.WHAT_IF, goals=observed)
    if answer is not None and answer.suggestions and said.baseline is None:
        start = Given(config=dict(answer.suggestions[0].config))
        return base.model_copy(update={"baseline": start}), "Starting from the first suggestion."
    if last.kind is not Kind.WHAT_IF:
        return base, ""
    rules = tuple(rule.text for rule in last.where)
    return base.model_copy(update={"baseline": last.baseline, "where": rules}), ""
