"""What the order of the columns tells: people write what is given, what is set, what was measured.

A table is read as a chain of two states, settings and results, that changes seldom. What the other
columns of the chain say about the state at one column is evidence for that column.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Role
from compass.prepare import names
from compass.prepare.guess import SETTINGS, Guess
from compass.prepare.report import ReasonCode

Floats = NDArray[np.float64]

_STARTS_SET = 0.8  # chance that a table starts with what is given or set
_ENDS_RESULT = 0.9  # chance that it ends with a result, where a name tells of one
# Chances that behind a setting stands a result, and the other way round.
_THEN_RESULT, _THEN_SETTING = 0.2, 0.02
_MOST = 2.0  # log odds that one column may add: none is so sure that it settles the others
_COUNTED = 1.5  # counters stand among results
# An unknown column is a knob or context by this much, before anything is known of it.
_UNKNOWN = float(np.logaddexp(0.5, 0.0))

_AMONG = 1.0  # log odds from which on a column stands among results
# Most that a place tells: that a result stands there, that labels do (they seldom are results),
# that none does.
_RESULT, _LABELS, _NO_RESULT = 4.0, 1.0, 0.7
# Most that a place among results tells against a setting, and against one that is named so.
_BEHIND, _NAMED_BEHIND = 3.0, 1.5
_FIRST_LABELS = 1.5  # the first labels of a table that names nothing that is given
_GIVEN = 2  # columns at the beginning, where what is given stands
_OF_JOBS = 2  # columns that only a trace of people's jobs has, or time stamps


def by_position(guesses: Sequence[Guess]) -> set[str]:
    """Adds to the guesses of a table's columns what their places tell.

    Returns the names of the columns that stand among results. The columns of a trace of people's
    jobs are in the order of its scheduler, which says nothing.
    """
    if is_trace(guesses):
        for guess in guesses:
            if guess.facts.text and not guess.named:
                guess.add(ReasonCode.OF_JOBS, Role.CONTEXT, 1.0)
        return set()
    told = leanings(guesses).tolist()
    first = _first_labels(guesses, told)
    roles = [guess.role for guess in guesses]
    measured = [place for place, role in enumerate(roles) if role is Role.OUTCOME]
    given = [place for place, role in enumerate(roles) if role in SETTINGS]
    for place, (guess, lean) in enumerate(zip(guesses, told, strict=True)):
        if not guess.open:
            continue
        known = measured if lean > 0 else given
        at = bisect_left(known, place)
        near = [*known[max(0, at - 1) : at], *[p for p in known[at : at + 2] if p != place][:1]]
        beside = [guesses[other].facts.name for other in near]
        if lean > 0:
            _among_results(guess, lean, beside)
        else:
            guess.add(ReasonCode.NEIGHBOURS, Role.OUTCOME, max(lean, -_NO_RESULT), beside)
            if guess is first:
                guess.add(ReasonCode.FIRST, Role.CONTEXT, _FIRST_LABELS)
    return {
        guess.facts.name
        for guess, lean in zip(guesses, told, strict=True)
        if guess.open and lean > _AMONG
    }


def is_trace(guesses: Sequence[Guess]) -> bool:
    """Whether the table is a trace of people's jobs, and no experiment."""
    moments = sum(guess.facts.moment for guess in guesses)
    of_jobs = names.PERSONS | names.SCHEDULING
    said = {word for guess in guesses for word in names.words(guess.facts.name) if word in of_jobs}
    return max(moments, len(said)) >= _OF_JOBS


def _among_results(guess: Guess, lean: float, beside: Sequence[str]) -> None:
    labels = guess.facts.text and not guess.facts.truth
    most = _LABELS if labels else _RESULT
    guess.add(ReasonCode.NEIGHBOURS, Role.OUTCOME, min(lean, most), beside)
    if not guess.named:
        for role in SETTINGS:
            guess.add(ReasonCode.BEHIND, role, -min(lean, _BEHIND))
        if guess.facts.text:
            guess.add(ReasonCode.BEHIND, Role.IGNORED, min(lean, _BEHIND))
    elif guess.role is Role.KNOB:
        guess.add(ReasonCode.BEHIND, Role.KNOB, -min(lean, _NAMED_BEHIND))


def _first_labels(guesses: Sequence[Guess], told: Sequence[float]) -> Guess | None:
    """The labels at the beginning of a table in which nothing else says what was run."""
    if any(one.named and one.role is Role.CONTEXT and one.facts.text for one in guesses):
        return None
    for guess, lean in zip(guesses[:_GIVEN], told[:_GIVEN], strict=True):
        labels = guess.facts.text and not guess.facts.truth and guess.facts.distinct > 2
        if guess.open and labels and not guess.named and lean <= 0:
            return guess
        if guess.role in SETTINGS:
            return None
    return None


def leanings(guesses: Sequence[Guess]) -> Floats:
    """The log odds [n] that a result stands in each place, told by the other columns alone."""
    own = np.array([_own(guess) for guess in guesses])
    change = np.log([[1 - _THEN_RESULT, _THEN_RESULT], [_THEN_SETTING, 1 - _THEN_SETTING]])
    seen = np.column_stack([np.zeros(len(own)), own])  # [n, setting or result]
    before = np.zeros((len(own), 2))
    before[:1] = np.log([_STARTS_SET, 1 - _STARTS_SET])
    for place in range(1, len(own)):
        known = before[place - 1] + seen[place - 1]
        before[place] = np.logaddexp(known[0] + change[0], known[1] + change[1])
    after = np.zeros((len(own), 2))
    if any(one.surely_named and one.role is Role.OUTCOME for one in guesses):
        after[-1:] = np.log([1 - _ENDS_RESULT, _ENDS_RESULT])
    for place in range(len(own) - 2, -1, -1):
        known = after[place + 1] + seen[place + 1]
        after[place] = np.logaddexp(known[0] + change[:, 0], known[1] + change[:, 1])
    both = before + after
    told: Floats = both[:, 1] - both[:, 0]
    return told


def _own(guess: Guess) -> float:
    """What a column itself says: log odds that it is a result."""
    if guess.counted:
        return _COUNTED
    if guess.fixed is not None:
        return {Role.OUTCOME: _MOST, Role.IGNORED: 0.0}.get(guess.fixed, -_MOST)
    given = float(np.logaddexp(guess.odds[Role.KNOB], guess.odds[Role.CONTEXT]))
    return float(np.clip(guess.odds[Role.OUTCOME] - given + _UNKNOWN, -_MOST, _MOST))
