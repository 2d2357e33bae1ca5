"""Questions about what is known already: what the answer at hand tells, and what is to look up.

An inquiry never changes the question that is being put together.
"""

from collections.abc import Mapping
from typing import Literal

from compass.chat.about_answer import certainty, comparison
from compass.chat.draft import Conversation, Inquiry, Reading, Reply, Topic
from compass.chat.steps import Step, ask_again
from compass.domain.answer import Answer
from compass.domain.goal import Change, Extreme, Goal, Same, Within
from compass.domain.space import Number, Role, Space

Direction = Literal["minimize", "maximize"]

LOOKING = "Looking it up."
_NOTHING_TO_COMPARE = "There is no answer yet whose suggestions I could compare."


def inquire(
    talk: Conversation, inquiry: Inquiry, reading: Reading, space: Space, answer: Answer | None
) -> Step:
    """What the last answer tells, or that it has to be looked up in the engine."""
    last = answer if talk.last is not None else None  # not the answer of before a restart
    told = None
    if inquiry.topic is Topic.COMPARE and not inquiry.rows:
        told = _NOTHING_TO_COMPARE if last is None else comparison(last, inquiry.places)
    elif inquiry.topic is Topic.CERTAINTY and last is not None:
        told = certainty(last, inquiry.outcome)
    if told is not None:
        return ask_again(talk, space, told)
    goals = talk.draft.goals or (talk.last.goals if talk.last is not None else {})
    wanted = _with_goals(inquiry, reading, goals, space)
    return talk, Reply(text=LOOKING, expecting=talk.expecting, inquiry=wanted)


def _with_goals(
    inquiry: Inquiry, reading: Reading, goals: Mapping[str, Goal], space: Space
) -> Inquiry:
    """The inquiry with the outcome that the question is about, and which way of it is best."""
    if inquiry.topic not in (Topic.BEST_RUN, Topic.IMPORTANCE):
        return inquiry
    name = inquiry.outcome
    if name is None:
        ordered = inquiry.topic is Topic.BEST_RUN  # of labels none is best
        name = next((n for n in goals if _is_outcome(n, space, ordered=ordered)), None)
    direction = None
    if inquiry.topic is Topic.BEST_RUN:
        goal = None if name is None else goals.get(name)
        wanted = None if goal is None else _direction(goal)
        direction = inquiry.direction or reading.direction or wanted
    return inquiry.model_copy(update={"outcome": name, "direction": direction})


def _is_outcome(name: str, space: Space, *, ordered: bool) -> bool:
    if name not in space or space[name].role is not Role.OUTCOME:
        return False
    return isinstance(space[name], Number) or not ordered


def _direction(goal: Goal) -> Direction | None:
    """Which way of an outcome a goal wants; None: neither."""
    match goal:
        case Extreme(direction=direction):
            return direction
        case Change(direction=change):
            return "minimize" if change == "reduce" else "maximize"
        case Within(low=None) | Same(beyond="less"):
            return "minimize"
        case Within(high=None) | Same(beyond="more"):
            return "maximize"
        case _:
            return None
