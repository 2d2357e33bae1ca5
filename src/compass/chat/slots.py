"""Which part of a question is still missing, and the query once none is."""

from collections.abc import Iterable

from compass.chat.draft import Conversation, Draft, How, Link, Slot
from compass.chat.draft_columns import columns_of
from compass.chat.merge import is_relative
from compass.domain.constraint import Constraint
from compass.domain.errors import ConflictingRules, QueryProblem
from compass.domain.goal import Observe
from compass.domain.query import Kind, Query
from compass.domain.space import Role, Space
from compass.language import bind_query, parse_rule

_ASKED_IN_TURN = {Slot.GOAL, Slot.PARAMETERS, Slot.CHANGE, Slot.BASELINE}


def kind_of(draft: Draft) -> Kind | None:
    """The kind of question that a draft asks; None when it is open."""
    wanted = any(not isinstance(goal, Observe) for goal in draft.goals.values())
    if draft.kind is Kind.WHAT_IF:
        return draft.kind
    if draft.kind is None and draft.change and not wanted:
        return Kind.WHAT_IF
    # A recommendation starts from past runs: what is relative to one run needs that run.
    if wanted and (is_relative(draft) or draft.baseline is not None or draft.stated):
        return Kind.RECONFIGURE
    if draft.kind is None and (wanted or draft.ask or draft.everything):
        return Kind.RECOMMEND
    return draft.kind


def unconfirmed_links(talk: Conversation) -> tuple[Link, ...]:
    """Links to columns that the draft uses and the person has not confirmed."""
    used = columns_of(talk.draft)
    found = {}
    for link in talk.links:
        unsure = link.how is not How.EXACT or len(link.columns) > 1
        meant = used_column(link, talk.draft)
        if unsure and meant in used and meant not in talk.confirmed:
            found[meant] = link
    return tuple(found.values())


def used_column(link: Link, draft: Draft) -> str:
    """The column of a link that the draft speaks of."""
    used = columns_of(draft)
    return next((name for name in link.columns if name in used), link.columns[0])


def missing_slot(talk: Conversation) -> Slot:
    """The part that has to be asked for next; CONFIRM when nothing is missing."""
    if talk.unclear:
        return Slot.WORDS
    draft = talk.draft
    kind = kind_of(draft)
    if kind is None and not talk.undirected:
        return Slot.KIND
    wanted = [goal for goal in draft.goals.values() if not isinstance(goal, Observe)]
    if kind is Kind.WHAT_IF:
        if not draft.change:
            return Slot.CHANGE
        # Over all runs, nothing can give way.
        if draft.baseline is None and (draft.ask or wanted):
            return Slot.BASELINE
    else:
        if not wanted or outcomes_without_direction(talk):
            return Slot.GOAL
        if not draft.ask and not draft.everything:
            return Slot.PARAMETERS
        if kind is Kind.RECONFIGURE and draft.baseline is None:
            return Slot.BASELINE
    if unconfirmed_links(talk):
        return Slot.COLUMNS
    asked = set(talk.asked)
    if not draft.where and Slot.CONSTRAINTS not in asked and asked & _ASKED_IN_TURN:
        return Slot.CONSTRAINTS
    return Slot.CONFIRM


def outcomes_without_direction(talk: Conversation) -> tuple[str, ...]:
    """Outcomes of which it is still open whether less or more is wanted."""
    settled = {n for n, goal in talk.draft.goals.items() if not isinstance(goal, Observe)}
    return tuple(name for name in talk.undirected if name not in settled)


def to_query(draft: Draft, space: Space) -> Query:
    """The question that a draft asks, bound to the table."""
    kind = kind_of(draft)
    if kind is None:
        raise QueryProblem(
            "it is not clear what is asked", hint="recommend, reconfigure, or ask what if"
        )
    goals = dict(draft.goals)
    taken = {*draft.change, *draft.keep, *goals}
    knobs = space.having(Role.KNOB) if draft.everything else ()
    ask = tuple(dict.fromkeys((*draft.ask, *(name for name in knobs if name not in taken))))
    if not ask and kind is not Kind.WHAT_IF:
        raise QueryProblem(
            "there is no parameter left to find values for", hint="name one that may change"
        )
    named = {*ask, *draft.change, *goals}
    query = Query(
        kind=kind,
        ask=ask,
        change=draft.change,
        goals=goals,
        where=tuple(Constraint(text=text) for text in draft.where),
        stated={name: value for name, value in draft.stated.items() if name in named},
        baseline=draft.baseline,
        count=draft.count,
        **dict(draft.options),
    )
    bound = bind_query(query, space)
    _check_rules((rule.text for rule in bound.where), space)
    return bound


def contradiction(draft: Draft, space: Space) -> ConflictingRules | None:
    """Why the rules of a draft cannot hold together, if they cannot."""
    try:
        _check_rules(draft.where, space)
    except ConflictingRules as conflict:
        return conflict
    return None


def _check_rules(texts: Iterable[str], space: Space) -> None:
    """Refuse rules that contradict each other, before anything is learnt."""
    from compass.rules import compile_rule, conflict, domains_of

    rules = [compile_rule(parse_rule(text), space, space.names, text) for text in texts]
    if len(rules) < 2:
        return
    names = {name for rule in rules for name in rule.names}
    found = conflict(rules, domains_of(space, sorted(names)), {})
    if len(found) > 1:
        raise ConflictingRules(
            f"no configuration can obey {' and '.join(found)} together",
            hint="take one of them back, or say undo",
            rules=found,
        )
