"""The last check before an answer leaves the engine: rules and legal values, evaluated plainly.

Nothing here is shared with the search, the kernels or the proofs, so that a fault of theirs ends as
a withheld suggestion instead of one that breaks a rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from compass.domain.answer import Certificate, CertificateStatus, Proposal
from compass.domain.base import Value
from compass.domain.space import Category
from compass.generate.base import Candidates, Floats
from compass.generate.task import SearchTask
from compass.prepare.encode import Encoder
from compass.rules import Rule
from compass.rules.definition import is_legal, obeys


def broken_rule(rules: Iterable[Rule], config: Mapping[str, Value]) -> str | None:
    """The first rule that a decoded configuration does not obey; None: it obeys all."""
    return next((r.text for r in rules if not obeys(r.expression, config, r.parameters)), None)


# Of an answer whose first candidate had to be withheld nothing is claimed.
WITHHELD = Certificate(
    status=CertificateStatus.NO_PROOF, reason="What was proved is about a withheld suggestion."
)


def checked(task: SearchTask, found: Candidates) -> tuple[Candidates, tuple[str, ...], bool]:
    """The candidates that obey every rule, notes on the others, and whether the first is one."""
    notes = _withheld_by_search(found)
    why = _wrong(task, found.X)
    wrong = [reason for reason in why if reason is not None]
    if not wrong:
        return found, notes, False
    kept = np.flatnonzero([reason is None for reason in why])
    note = f"{len(wrong)} of {len(why)} suggestions were withheld: they break {wrong[0]}."
    return replace(found.take(kept), exhaustive=False), (*notes, note), why[0] is not None


def _withheld_by_search(found: Candidates) -> tuple[str, ...]:
    """What the search itself left out of its result."""
    if not found.withheld:
        return ()
    does = "breaks a rule and was" if found.withheld == 1 else "break a rule and were"
    return (f"{found.withheld} of the configurations that the search chose {does} withheld.",)


def _wrong(task: SearchTask, X: Floats) -> list[str | None]:
    """Per configuration [n] the rule that it breaks, or the value that it may not have."""
    encoder = Encoder(task.space)
    scores = task.predict(X) if len(X) and task.outcome_rules else {}
    named = {name for rule in task.outcome_rules for name in rule.names} & set(task.outcomes)
    found: list[str | None] = []
    for row, x in enumerate(X):
        config = encoder.decode(x)
        reason = broken_rule(task.rules, config) or _illegal(task, x, config)
        if reason is None:
            predicted = {name: _value(task, name, scores[name][row]) for name in named}
            reason = broken_rule(task.outcome_rules, {**config, **predicted})
        found.append(reason)
    return found


def _illegal(task: SearchTask, x: Floats, config: Mapping[str, Value]) -> str | None:
    """A value that moved to where its column may not go; what does not move may be anything."""
    for column in task.movable:
        parameter = task.space.parameters[column]
        if x[column] != task.start[column] and not is_legal(parameter, config[parameter.name]):
            return f"the legal values of {parameter.name}"
    return None


def _value(task: SearchTask, name: str, scores: Floats) -> Value:
    """A predicted outcome as rules see it: a number, or the likeliest label."""
    if len(scores) == 1:
        return float(scores[0])
    rule = next(rule for rule in task.outcome_rules if name in rule.names)
    parameter = rule.parameters[name]
    assert isinstance(parameter, Category)
    return parameter.values[int(scores.argmax())]


def lawful(rules: Sequence[Rule], proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """The proposed runs that obey every rule."""
    return tuple(one for one in proposals if broken_rule(rules, one.config) is None)
