"""Rules that nobody stated: which of them a question keeps, and which a suggestion breaks.

Decision 0033 (docs/decisions).
"""

from collections.abc import Collection, Sequence

from compass.domain.answer import Suggestion
from compass.domain.doubt import Doubt, DoubtCode
from compass.domain.mined import Mined
from compass.domain.query import Kind, Query
from compass.domain.space import Role
from compass.evidence import baseline as base
from compass.generate.task import SearchTask
from compass.learn.dependencies import Dependency
from compass.learn.features import FeatureView, Floats
from compass.learn.store import ModelStore
from compass.rules import Rule
from compass.rules.mine.wording import accident_in_words

# Different configurations below which nothing is kept unasked.
MANY = 16
# To act on a rule unasked, that it is an accident among all that mining tried has to be less likely
# than this; a person is shown what is likely enough to be worth a look (rules/mine).
SURE = 1e-6
_FOLLOWED = ("equality", "ratio")  # what is held follows the parameters that move
_SHOWN = 4  # dependencies that a note names


def kept_dependencies(
    query: Query, store: ModelStore, view: FeatureView, stated: Collection[str]
) -> tuple[tuple[Mined, ...], tuple[str, ...]]:
    """The dependencies that a question keeps as rules, and those that what it gives breaks."""
    asked_to = query.dependencies == "keep"
    if query.dependencies == "ignore" or not (asked_to or query.kind is Kind.RECOMMEND):
        return (), ()
    known = view.dependencies
    if not asked_to and known.configurations < MANY:
        return (), ()
    origin, given = _given(query, store, view)
    moving = _moving(query, view, given)
    wanted = [
        one
        for one in known.found
        if one.rule.text not in stated
        and moving & {*one.rule.names}
        and (asked_to or _beyond_doubt(one, moving | {*given}))
    ]
    dropped = [one for one in wanted if _broken(one, view, origin, given)]
    kept = [one for one in wanted if one not in dropped]
    return tuple(one.mined for one in kept), tuple(one.rule.text for one in dropped)


def _given(
    query: Query, store: ModelStore, view: FeatureView
) -> tuple[Floats | None, dict[str, float]]:
    """The baseline [d], if there is one, and the encoded values that the question sets."""
    from compass.engine.starts import pinned_by  # it needs the scope, which needs this module

    if query.baseline is None:
        origin = None
    else:
        origin, _ = base.encode(query.baseline, store, view)
    if origin is None and query.kind is not Kind.RECOMMEND:
        return None, {}  # about all past runs: each has its own values
    given, _ = base.edited(query, view.features, origin)
    if query.kind is Kind.RECOMMEND:
        given = given | pinned_by(query, view.features)
    return origin, given


def _moving(query: Query, view: FeatureView, given: Collection[str]) -> set[str]:
    """What the question lets move; without a word on it, every knob that is not set."""
    changed = set() if query.kind is Kind.RECOMMEND else {*query.change}
    if query.ask or query.kind is Kind.WHAT_IF:
        return {*query.ask} | changed
    return {name for name in view.features.having(Role.KNOB) if name not in given} | changed


def _beyond_doubt(one: Dependency, settled: set[str]) -> bool:
    """Whether nobody has to be asked: it is no accident, and it decides about no context.

    A column that is held but not given differs among the contexts that are averaged over; a rule
    on it would confine the answer to one of them.
    """
    if one.mined.accident > SURE:
        return False
    return one.mined.kind in _FOLLOWED or {*one.rule.names} <= settled


def _broken(
    one: Dependency, view: FeatureView, origin: Floats | None, given: dict[str, float]
) -> bool:
    """Whether the baseline breaks it, or values that are all given."""
    if origin is not None and not one.rule.holds(origin[None, :])[0]:
        return True
    if not {*one.rule.names} <= {*given}:
        return False
    x = view.X[:1].copy() if origin is None else origin[None, :].copy()
    for name, value in given.items():
        x[0, view.names.index(name)] = value
    return not one.rule.holds(x)[0]


def broken_dependencies(task: SearchTask, view: FeatureView, X: Floats) -> list[tuple[Rule, ...]]:
    """Per configuration of X [n, d] the dependencies that hold on all past runs and not there."""
    broken: list[list[Rule]] = [[] for _ in X]
    for rule in _not_kept(task, view):
        for place, holds in enumerate(rule.holds(X).tolist()):
            if not holds:
                broken[place].append(rule)
    return [tuple(rules) for rules in broken]


def unstated(task: SearchTask, view: FeatureView) -> list[Rule]:
    """Dependencies that a candidate may break and that its baseline, if any, keeps."""
    moving = {task.space.names[j] for j in task.movable}
    found = [rule for rule in _not_kept(task, view) if moving & {*rule.names}]
    return _kept_before(task, found)


def dependency_doubts(task: SearchTask, broken: Sequence[Rule]) -> tuple[Doubt, ...]:
    """A doubt where a configuration breaks what all past runs obey, and its baseline too.

    What no past run did is not known from past runs, however near the numbers are.
    """
    names = dict.fromkeys(name for rule in _kept_before(task, broken) for name in rule.names)
    return (Doubt(code=DoubtCode.BREAKS_DEPENDENCY, columns=tuple(names)),) if names else ()


def _not_kept(task: SearchTask, view: FeatureView) -> list[Rule]:
    """The dependencies that are no rules of the task."""
    obeyed = {rule.text for rule in task.rules}
    return [one.rule for one in view.dependencies.found if one.rule.text not in obeyed]


def _kept_before(task: SearchTask, rules: Sequence[Rule]) -> list[Rule]:
    """Those of the rules that the baseline obeys; all without one."""
    if task.baseline is None:
        return list(rules)
    return [rule for rule in rules if rule.holds(task.origin[None, :])[0]]


def dependency_notes(task: SearchTask, suggestions: Sequence[Suggestion]) -> tuple[str, ...]:
    """What was kept without having been stated, and what the suggestions break."""
    kept, dropped = task.assumed.kept, task.assumed.dropped
    found = []
    if kept:
        found.append(
            f"Held to what all past runs obey, though nobody stated it: {_with_evidence(kept)}"
            " (`ignore dependencies` in the question asks without)."
        )
    if dropped:
        found.append(f"All past runs obey it, but not what is given: {_listed(dropped)}.")
    broken = dict.fromkeys(text for one in suggestions for text in one.breaks)
    if broken and task.query.dependencies is None:
        some = [str(rank) for rank, one in enumerate(suggestions, 1) if one.breaks]
        which = (
            "Every suggestion breaks"
            if len(some) == len(suggestions)
            else (f"Suggestion {', '.join(some)} breaks")
        )
        found.append(
            f"{which} what all past runs obey: {_listed(tuple(broken))}"
            " (`keep dependencies` in the question keeps to it)."
        )
    return tuple(found)


def _with_evidence(kept: Sequence[Mined]) -> str:
    """Rules with the runs that they rest on, and how likely they are an accident."""
    chances = [accident_in_words(one.accident) for one in kept]
    return _listed(
        [
            f"{one.text} ({one.rows:,} runs, chance of an accident {chance})"
            for one, chance in zip(kept, chances, strict=True)
        ]
    )


def given_up(kept: tuple[Mined, ...]) -> str:
    """The note of an answer that exists only without them."""
    return (
        "No configuration obeys the rules and also what all past runs obey, so the latter is not"
        f" kept: {_listed([one.text for one in kept])}."
    )


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _SHOWN
    return "; ".join(texts[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
