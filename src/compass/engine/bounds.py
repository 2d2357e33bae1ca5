"""What past runs show legal in the context of a question: as many cores as a machine has.

A table with several machines says of each what was run there. A search stays inside that; reaching
beyond takes a word from the person, and is marked.

Decision 0032 (docs/decisions).
"""

from collections.abc import Sequence

import numpy as np

from compass.domain.answer import Suggestion
from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.expression import Comparison, Expression, Literal, Membership, Name, names_in
from compass.domain.query import Query
from compass.domain.space import Category, Role
from compass.generate.base import Bools, Floats
from compass.generate.task import SearchTask
from compass.language import format_rule, parse_rule
from compass.learn.features import FeatureView
from compass.prepare.encode import decode_value
from compass.prepare.names import names_person
from compass.prepare.split import configurations
from compass.rules import Rule

# Different configurations of a context below which what was run there is no sign of what can be.
_TELLING = 10
_SHOWN = 3  # limits that a note names


def context_bounds(
    query: Query,
    view: FeatureView,
    contexts: Floats,
    start: Floats | None,
    moving: Sequence[str],
) -> tuple[Rule, ...]:
    """The limits of what may move that past runs of the contexts [c, d] show.

    The values of a baseline [d] are inside. What a condition of the question is about alone is
    bounded by that condition.
    """
    labels = [
        j
        for j, parameter in enumerate(view.features)
        if parameter.role is Role.CONTEXT
        and isinstance(parameter, Category)
        and parameter.name not in moving
        and not names_person(parameter.name)
    ]
    if not labels:
        return ()
    stated = [names_in(parse_rule(rule.text)) for rule in query.where]
    alone = {names[0] for names in stated if len(names) == 1}
    wanted = [view.names.index(name) for name in moving if name not in alone]
    complete = np.isfinite(view.X).all(axis=1) & view.prepared.measured
    sets = [_runs_of(view, context, labels, complete) for context in _distinct(contexts, labels)]
    if not wanted or not all(sets):
        return ()
    found: list[Expression] = []
    for column in wanted:
        found += _limits(view, column, [[view.X[s, column] for s in one] for one in sets], start)
    return tuple(view.rule(format_rule(rule)) for rule in found)


def _distinct(contexts: Floats, labels: list[int]) -> Floats:
    _, first = np.unique(contexts[:, labels], axis=0, return_index=True)
    return contexts[first]


def _runs_of(view: FeatureView, context: Floats, labels: list[int], complete: Bools) -> list[Bools]:
    """The past runs that tell of a context [d], as masks [n]: a value has to be in each of them.

    Those with all of its labels; where they are too few, those with each of them.
    """
    same = [complete & (view.X[:, j] == context[j]) for j in labels]
    together = np.logical_and.reduce(same)
    return [
        mask for mask in ([together] if _telling(view, together) else same) if _telling(view, mask)
    ]


def _telling(view: FeatureView, mask: Bools) -> bool:
    rows = np.flatnonzero(mask)
    return len(rows) >= _TELLING and len(np.unique(configurations(view.X[rows]))) >= _TELLING


def _limits(
    view: FeatureView, column: int, seen: list[list[Floats]], start: Floats | None
) -> list[Expression]:
    """The limits of a column; `seen` has the values per context and set of its runs.

    A recommendation for several contexts has to be possible in each of them, where any value is.
    """
    parameter = view.features.parameters[column]
    name = Name(parameter.name)
    if isinstance(parameter, Category):
        each = [set.intersection(*({*values.tolist()} for values in one)) for one in seen]
        codes = set.intersection(*each) or set.union(*each)
        codes |= set() if start is None else {float(start[column])}
        if not codes or len(codes) == len(parameter.values):
            return []
        labels = tuple(Literal(parameter.values[int(code)]) for code in sorted(codes))
        return [Membership(name, labels)]
    if parameter.optional:
        return []  # whether a value may be left out is not told by numbers
    lows = [max(values.min() for values in one) for one in seen]
    highs = [min(values.max() for values in one) for one in seen]
    low, high = max(lows), min(highs)
    if low > high:  # no value is usual in all contexts
        low, high = min(lows), max(highs)
    own = low if start is None else start[column]
    ends = (
        (">=", min(low, own), low > parameter.low),
        ("<=", max(high, own), high < parameter.high),
    )
    return [
        Comparison(op, name, Literal(decode_value(parameter, float(end))))
        for op, end, cuts in ends
        if cuts
    ]


def bound_doubts(task: SearchTask, x: Floats) -> tuple[Doubt, ...]:
    """A doubt where a configuration x [d] goes beyond what past runs of its context had."""
    broken = [rule.names[0] for rule in task.assumed.bounds if not rule.holds(x[None, :])[0]]
    beyond = tuple(dict.fromkeys(broken))
    return (Doubt(code=DoubtCode.BEYOND_CONTEXT, columns=beyond),) if beyond else ()


def bound_notes(task: SearchTask, suggestions: Sequence[Suggestion], X: Floats) -> tuple[str, ...]:
    """Limits of the context that stand in the way of more: at one of them, or without an answer."""
    bounds = [rule for rule in task.assumed.bounds if rule in task.rules]
    if suggestions and len(X):
        bounds = [rule for rule in bounds if _at_end(task, rule, X[0])]
    if not bounds:
        return ()
    where = "this context" if len(task.contexts) == 1 else "every one of these contexts"
    more = len(bounds) - _SHOWN
    texts = "; ".join(rule.text for rule in bounds[:_SHOWN]) + (
        f"; {more} more" if more > 0 else ""
    )
    farther = "`beyond` in the question goes farther"
    return (f"Past runs of {where} had {texts}; the search stays there ({farther}).",)


def _at_end(task: SearchTask, rule: Rule, x: Floats) -> bool:
    """Whether a configuration x [d] is at an end of a limit: one step on it would be broken."""
    column = task.space.names.index(rule.names[0])
    parameter = task.space.parameters[column]
    if isinstance(parameter, Category) or column not in task.movable:
        return False
    step = parameter.step or 1e-6 * (parameter.high - parameter.low)
    near = np.repeat(x[None, :], 2, axis=0)
    near[:, column] += (-step, step)
    return not rule.holds(near).all()
