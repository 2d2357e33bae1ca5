"""Messages that tell parts of a question, correct them, or go on from an answer."""

import re

from compass.chat import wording
from compass.chat.change import columns_of, merged, renamed, sifted
from compass.chat.columns import confirming, pick
from compass.chat.draft import Conversation, Draft, How, Link, Reading, Slot
from compass.chat.finish import kind_of, missing, to_query, undirected
from compass.chat.steps import Step, changed, onward, problem, repeat, says_something
from compass.domain.answer import Answer
from compass.domain.errors import CompassError
from compass.domain.goal import Observe, maximize, minimize
from compass.domain.query import Given, Kind, Query
from compass.domain.space import Space

_LESS = re.compile(r"\b(minimi[sz]\w*|min|less|low\w*|small\w*|reduc\w*|decreas\w*)\b", re.I)
_GREATER = re.compile(r"\b(maximi[sz]\w*|max|more|high\w*|larg\w*|increas\w*)\b", re.I)
_ADDS = re.compile(r"\s*(and|also|plus|additionally|in addition)\b", re.I)


def say(
    talk: Conversation, reading: Reading, message: str, space: Space, answer: Answer | None
) -> Step:
    """A message that tells parts of a question, or corrects them."""
    if talk.expecting is Slot.COLUMNS:
        picked = pick(talk, reading, message, space)
        if picked is not None:
            return _checked(picked, talk, space, "")
    said, problems = sifted(reading.said, space)
    lead = [problem(error) for error in problems]
    if reading.unknown:
        lead.append(
            f"I did not understand {wording.both([*map(wording.quoted, reading.unknown)])}."
        )
    start, reading, note = _follow_up(talk, reading, said, message, answer)
    named_now = (*columns_of(said), *reading.outcome_without_goal)
    said = _with_direction(start, said, message)
    draft = _meant_instead(start, reading, said) or merged(start.draft, reading, said)
    if kind_of(draft) is Kind.WHAT_IF:
        named = {n: Observe() for n in reading.outcome_without_goal if n not in draft.goals}
        draft = draft.model_copy(update={"goals": draft.goals | named})
        open_goals: tuple[str, ...] = ()
    else:
        open_goals = tuple(dict.fromkeys((*undirected(start), *reading.outcome_without_goal)))
    after = _linked(start, reading, message, named_now)
    after = after.model_copy(update={"undirected": open_goals, "draft": talk.draft})
    after = changed(after, draft)
    if draft == talk.draft and open_goals == talk.undirected and not note:
        if not lead:
            lead = [_nothing_new(reading, message)]
        kept = after if says_something(reading) else talk
        return repeat(kept, space, "\n".join(lead))
    return _checked(after, talk, space, "\n".join([*lead, *filter(None, [note])]))


def _nothing_new(reading: Reading, message: str) -> str:
    if says_something(reading):
        return "That is so already."
    return f"I did not understand {wording.quoted(message) if message else 'that'}."


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
    return onward(after, space, lead)


def _linked(
    talk: Conversation, reading: Reading, message: str, used: tuple[str, ...]
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
        if name.casefold().replace("_", " ") in spoken:
            exact.append(name)
        else:
            unsure.append(Link(words=message, columns=(name,), how=How.FUZZY))
    links = tuple(dict.fromkeys((*talk.links, *unsure)))
    return confirming(talk, exact).model_copy(update={"links": links})


def _with_direction(talk: Conversation, said: Draft, message: str) -> Draft:
    """`minimize` as the answer to whether an outcome should be minimized or maximized."""
    waiting = undirected(talk)
    less, greater = bool(_LESS.search(message)), bool(_GREATER.search(message))
    if talk.expecting is not Slot.GOAL or not waiting or said.goals or less == greater:
        return said
    return said.model_copy(update={"goals": {waiting[0]: minimize if less else maximize}})


def _meant_instead(talk: Conversation, reading: Reading, said: Draft) -> Draft | None:
    """`I meant gpus`: the one column that the last message brought is replaced."""
    only_names = said.model_copy(update={"ask": ()}) == Draft()
    names = said.ask or tuple(link.columns[0] for link in reading.links)
    if not reading.correction or not only_names or len(names) != 1 or not talk.before:
        return None
    old = columns_of(talk.before[-1])
    brought = [name for name in columns_of(talk.draft) if name not in old]
    if len(brought) != 1 or names[0] in columns_of(talk.draft):
        return None
    return renamed(talk.draft, brought[0], names[0])


def _follow_up(
    talk: Conversation, reading: Reading, said: Draft, message: str, answer: Answer | None
) -> tuple[Conversation, Reading, str]:
    """What a message after an answer is about: a new question, or the answered one changed."""
    if talk.expecting is not None or talk.last is None:
        return talk, reading, ""
    what_if = said.kind is Kind.WHAT_IF or (said.kind is None and said.change)
    if what_if:
        base, note = _from_answer(talk.last, said, answer)
    elif said.kind is not None and not reading.correction:
        base, note = Draft(), ""
    else:
        adds = _ADDS.match(message) is not None
        return talk, reading.model_copy(update={"correction": not adds}), ""
    fresh = {"draft": base, "asked": (), "undirected": (), "expecting": Slot.KIND}
    return talk.model_copy(update=fresh), reading, note


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
