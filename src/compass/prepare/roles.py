"""Guesses the roles of all columns of a table, from names, values and how columns depend on others.

Each piece of evidence speaks for one role with some weight (log odds). The weights of a column are
added up; the role with the most is its role, and what the others have tells how sure that is.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from compass.domain.space import Role
from compass.prepare import names
from compass.prepare.dependence import by_relations
from compass.prepare.facts import ColumnFacts
from compass.prepare.guess import SETTINGS, Guess
from compass.prepare.hints import (
    SURE,
    hints,
    is_counter,
    is_dotted,
    is_event,
    is_headline,
    shared_spaces,
)
from compass.prepare.report import ReasonCode

LABELS = 7  # labels of settings seldom are more
COUNTERS = 8  # from so many on, a table is one of counters

# How runs end, as labels say it.
_ENDS = re.compile(
    r"(?i)(?:ok|pass|fail|success|error|crash|killed|time[d_ ]*out|oom|out[ _]of[ _]mem|complete"
    r"|finish|cancel|abort|node_fail|invalid|valid|correct|wrong|incorrect|done|running|preempt"
    r"|terminated)"
)
_SWITCH = frozenset({"on", "off", "yes", "no", "true", "false", "enabled", "disabled", "auto"})
_PROBLEMS = frozenset("SWABCDEF")  # the classes of the NAS Parallel Benchmarks
_SIGNALS = frozenset({134, 137, 139, 143})  # what a shell reports of a program that was killed
_HARDWARE = re.compile(
    r"(?i)\b(?:[avhbp]100|a[34]0|l40s?|t4|k[248]0|mi\d{3}\w?|rtx|gtx|geforce|tesla|radeon|xeon|epyc|"
    r"ryzen|core i\d|graviton|power[89]|titan|quadro|nvidia|amd|intel)\b"
)


def guess_roles(
    facts: Sequence[ColumnFacts], table: pa.Table, fixed: Mapping[str, Role]
) -> dict[str, Guess]:
    """What every column is likely for; `fixed` are the roles that are known."""
    guesses = [Guess(one, fixed=fixed.get(one.name)) for one in facts]
    spaces = shared_spaces([one.name for one in facts])
    for guess in guesses:
        if guess.fixed is None:
            _by_name(guess, spaces)
            _by_values(guess)
    open_ones = [guess for guess in guesses if guess.fixed is None]
    if open_ones:
        _of_counters(open_ones)
        by_relations(guesses, table)
        _with_settings(guesses)
    return {guess.facts.name: guess for guess in guesses}


def _by_name(guess: Guess, spaces: Collection[str]) -> None:
    if names.is_run(guess.facts.name):  # not few values: no count of repetitions
        guess.add(ReasonCode.NAME, Role.OUTCOME, SURE)
    for hint in hints(guess.facts.name, text=guess.facts.text, spaces=spaces):
        guess.add(ReasonCode.NAME, hint.role, hint.weight)


def _by_values(guess: Guess) -> None:
    facts = guess.facts
    if names.is_class(facts.name):
        if facts.text and all(label in _PROBLEMS for label, _ in facts.labels):
            guess.add(ReasonCode.PROBLEM_CLASSES, Role.CONTEXT, 6.0)
        return
    if facts.text:
        _by_labels(guess)
    elif facts.few is not None and 0 in facts.few and _SIGNALS & {*facts.few}:
        guess.add(ReasonCode.CLASSES, Role.OUTCOME, 4.0)
    elif names.is_key(facts.name):
        guess.add(ReasonCode.NAME, Role.IGNORED, SURE)
    elif facts.choice:
        rare = 2 < facts.distinct <= 12 and facts.present >= 20 * facts.distinct
        # A clock does not show the same few plain times in hundreds of runs, whatever its name.
        against = -3.5 if rare and guess.surely_named else -2.5 if rare else -1.5
        guess.add(ReasonCode.FEW_VALUES, Role.OUTCOME, against, value=facts.distinct)
        guess.add(ReasonCode.FEW_VALUES, Role.KNOB, 1.5 if rare else 0.5, value=facts.distinct)
    elif facts.few is None or facts.mostly_different:
        if facts.mostly_different:  # what is given is given to several runs
            guess.add(ReasonCode.MANY_VALUES, Role.CONTEXT, -1.5, value=facts.distinct)
        weight = 2.5 if facts.mostly_different or not facts.whole else 0.5
        guess.add(ReasonCode.MANY_VALUES, Role.OUTCOME, weight, value=facts.distinct)
    else:  # what people choose is plain; properties of what is given seldom are
        guess.add(ReasonCode.UNEVEN, Role.KNOB, -1.0, value=facts.distinct)
        guess.add(ReasonCode.UNEVEN, Role.CONTEXT, 1.0, value=facts.distinct)


def _by_labels(guess: Guess) -> None:
    facts = guess.facts
    labels = [str(label) for label, _ in facts.labels[:50]]
    if facts.truth or {label.lower() for label in labels} & _SWITCH:
        guess.add(ReasonCode.SWITCH, Role.KNOB, 2.5)
        guess.add(ReasonCode.SWITCH, Role.OUTCOME, -1.0)
        return
    if sum(bool(_ENDS.match(label)) for label in labels) > max(1, len(labels) / 2):
        guess.add(ReasonCode.CLASSES, Role.OUTCOME, 4.0)
        return
    if labels and sum(bool(_HARDWARE.search(label)) for label in labels) > len(labels) / 2:
        guess.add(ReasonCode.HARDWARE, Role.CONTEXT, 5.0)
    elif facts.distinct > LABELS:
        guess.add(ReasonCode.MANY_LABELS, Role.CONTEXT, 2.0, value=facts.distinct)
    # Labels are no measurements, whatever the name; what went wrong may be told in words.
    against = -2.0 if names.tells_errors(facts.name) else -4.0
    guess.add(ReasonCode.FEW_VALUES, Role.OUTCOME, against, value=facts.distinct)


def _of_counters(guesses: Sequence[Guess]) -> None:
    """Counters of hardware and system are measured, and ignored unless somebody asks for them."""
    found = [guess for guess in guesses if _is_counter(guess.facts)]
    many = len(found) >= COUNTERS
    for guess in found:
        if is_headline(guess.facts.name) and not many:
            guess.add(ReasonCode.NAME, Role.OUTCOME, SURE)
        else:
            guess.counted = True
            guess.add(ReasonCode.COUNTER, Role.IGNORED, 12.0)
    if not many:
        return
    block = _block(guesses, found)
    for guess in guesses:
        if guess not in found and _is_among(guess, inside=guess in block):
            guess.counted = True
            guess.add(ReasonCode.AMONG_COUNTERS, Role.IGNORED, 12.0, value=len(found))


def _block(guesses: Sequence[Guess], found: Sequence[Guess]) -> Sequence[Guess]:
    """The columns from the first counter to the last, where most of them are counters."""
    places = [guesses.index(guess) for guess in (found[0], found[-1])]
    block = guesses[places[0] : places[1] + 1]
    named = sum(is_event(one.facts.name) or is_counter(one.facts.name) for one in block)
    return block if 2 * named >= len(block) else ()


def _is_among(guess: Guess, *, inside: bool) -> bool:
    """Whether a column of a table with many counters is one that its name does not tell."""
    if guess.facts.text:
        return False
    if inside:
        return not (guess.surely_named and guess.role is Role.OUTCOME)
    told = guess.surely_named if is_dotted(guess.facts.name) else guess.named
    return not (told or guess.facts.choice)


def _with_settings(guesses: Sequence[Guess]) -> None:
    """Where nothing is left to set, what no name surely says was measured is what was set."""
    if any(guess.role in SETTINGS for guess in guesses):
        return
    for guess in guesses:
        if guess.role is Role.OUTCOME and not guess.surely_named:
            lead = guess.odds[Role.OUTCOME] - guess.odds[Role.KNOB]
            guess.add(ReasonCode.NOTHING_ELSE, Role.KNOB, lead + 1.0)


def _is_counter(facts: ColumnFacts) -> bool:
    if facts.text:
        return False
    return is_event(facts.name) or (is_counter(facts.name) and not facts.choice)
