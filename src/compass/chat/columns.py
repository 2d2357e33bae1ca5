"""Confirming the columns that words were taken for: ask, agree, refuse, choose another."""

import re

from compass.chat import replies
from compass.chat.draft import Conversation, Draft, How, Link, Reading, Reply, Slot
from compass.chat.draft_columns import columns_of, with_renamed_column
from compass.chat.merge import with_copied_column
from compass.chat.slots import unconfirmed_links, used_column
from compass.domain.space import Role, Space

_BARE = " .,;:!?'\"`"
_ALL = re.compile(r"(?:both|all|either|each)(?: of (?:them|those|these))?", re.IGNORECASE)


def ask_columns(talk: Conversation) -> Reply:
    """The question whether the words mean these columns, or which of several they mean."""
    waiting = unconfirmed_links(talk)
    clear = [link for link in waiting if len(link.columns) == 1]
    if clear:
        names = [link.columns[0] for link in clear]
        text = replies.confirm_columns(names, talk.draft)
        return Reply(text=text, expecting=Slot.COLUMNS, choices=("yes", "no"), links=waiting)
    return _ask_which(waiting[0], waiting[0].columns, waiting)


def _ask_which(link: Link, offered: tuple[str, ...], waiting: tuple[Link, ...]) -> Reply:
    text = replies.which_column(link, offered)
    several = ("both",) if len(offered) == 2 else ("all of them",) if len(offered) > 2 else ()
    choices = (*offered[:20], *several)
    return Reply(text=text, expecting=Slot.COLUMNS, choices=choices, links=waiting)


def agree(talk: Conversation) -> Conversation:
    """Yes: the columns that were named are meant; of several, yes chooses none."""
    clear = [link.columns[0] for link in unconfirmed_links(talk) if len(link.columns) == 1]
    return with_confirmed(talk, clear)


def with_confirmed(talk: Conversation, names: list[str]) -> Conversation:
    """The conversation in which these columns are confirmed."""
    known = tuple(dict.fromkeys((*talk.confirmed, *names)))
    return talk.model_copy(update={"confirmed": known})


def refuse(talk: Conversation, space: Space) -> tuple[Conversation, Reply]:
    """No: other columns are offered for each of the words, one after the other."""
    waiting = unconfirmed_links(talk)
    refused = [link for link in waiting if len(link.columns) == 1] or list(waiting[:1])
    widened = {}
    for link in refused:
        current = used_column(link, talk.draft)
        others = [n for n in _alike(current, talk.draft, space) if n != current]
        widened[link] = link.model_copy(update={"columns": (current, *others)})
    links = tuple(widened.get(link, link) for link in talk.links)
    after = talk.model_copy(update={"links": links})
    if not unconfirmed_links(after):
        return after, ask_columns(talk)
    first = unconfirmed_links(after)[0]
    # Of one refused column the others are left; of several, some may have been right.
    offered = first.columns[1:] if len(refused) == 1 else first.columns
    return after, _ask_which(first, offered or first.columns, unconfirmed_links(after))


def _alike(name: str, draft: Draft, space: Space) -> tuple[str, ...]:
    """Columns that could stand where this one stands."""
    if name in draft.goals:
        return space.having(Role.OUTCOME)
    if name in draft.ask or name in draft.change:
        return space.having(Role.KNOB, Role.CONTEXT)
    return space.names


def pick(talk: Conversation, reading: Reading, message: str, space: Space) -> Conversation | None:
    """The conversation with the columns that the person chose instead; None: not a choice."""
    waiting = unconfirmed_links(talk)
    if not waiting:
        return None
    clear = [link for link in waiting if len(link.columns) == 1]
    asked = clear or [waiting[0]]
    if not clear and _ALL.fullmatch(message.strip(_BARE)):
        return _with_all(talk, asked[0])
    named = _named(asked[0].columns if not clear else (), reading, message, space)
    if len(named) != len(asked) or reading.adds:
        return None
    pairs = zip(asked, named, strict=True)
    if any(
        new not in (*link.columns, *_alike(used_column(link, talk.draft), talk.draft, space))
        for link, new in pairs
    ):
        return None  # a run time is no solver: that is said as well
    draft, links, sure = talk.draft, talk.links, list(talk.confirmed)
    for link, new in zip(asked, named, strict=True):
        draft = with_renamed_column(draft, used_column(link, draft), new)
        how = next((other for other in reading.links if new in other.columns), None)
        if how is None or how.how is How.EXACT or new in link.columns:
            sure.append(new)
        else:
            links = (*links, how)
    before = talk.before if draft == talk.draft else (*talk.before, talk.draft)
    return talk.model_copy(
        update={
            "draft": draft,
            "before": before,
            "links": links,
            "confirmed": tuple(dict.fromkeys(sure)),
        }
    )


def _with_all(talk: Conversation, link: Link) -> Conversation:
    """Both: what is said of the one column is said of each that the words can mean."""
    draft, used = talk.draft, used_column(link, talk.draft)
    for other in link.columns:
        draft = with_copied_column(draft, used, other)
    before = talk.before if draft == talk.draft else (*talk.before, talk.draft)
    sure = tuple(dict.fromkeys((*talk.confirmed, *link.columns)))
    return talk.model_copy(update={"draft": draft, "before": before, "confirmed": sure})


def _named(
    offered: tuple[str, ...], reading: Reading, message: str, space: Space
) -> tuple[str, ...]:
    """The columns that a message names and nothing else."""
    bare = message.strip(_BARE).casefold()
    exact = [name for name in space.names if name.casefold() == bare]
    if exact:
        return (exact[0],)
    if reading.ordinal is not None and len(offered) > abs(reading.ordinal):
        return (offered[reading.ordinal],)
    more = reading.parts.model_copy(update={"ask": ()})
    if more != Draft() or reading.dropped or reading.unknown:
        return ()  # it states something else
    stated = columns_of(reading.parts)
    return stated or tuple(dict.fromkeys(link.columns[0] for link in reading.links))
