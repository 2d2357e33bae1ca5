"""Columns that can be neither set nor learnt from, whatever they mean: ids, time stamps, text."""

from compass.domain.space import Role
from compass.prepare import names
from compass.prepare.facts import SMALL, ColumnFacts
from compass.prepare.hints import SURE, hints

LEVELS = 1000  # labels beyond which text is free text
_FEW_NAMES, _REPEATED = 20, 5  # so few commands or files, each so often, tell what was run
RUNNING = "running index"
# Seconds, milliseconds and nanoseconds from 1990 to 2060 since 1970.
_EPOCHS = tuple((0.63e9 * size, 2.84e9 * size) for size in (1.0, 1e3, 1e6, 1e9))


def why_unusable(facts: ColumnFacts, *, optional: bool = False) -> str | None:
    """Why a column is of no use, or None when it may be; `optional`: missing is a level."""
    if not facts.distinct:
        return "empty"
    if facts.distinct == 1 and not (optional and facts.missing):
        return "constant" if not facts.missing else "constant where it is given"
    if _is_moment(facts):
        return "time stamp"
    if names.is_afterwards(facts.name):
        ask = f"make it an outcome to ask for it (--role {facts.name}=outcome)"
        return f"known only after the job; {ask}"
    if names.is_repetition(facts.name) or (names.is_run(facts.name) and facts.few is not None):
        return "counts repetitions"
    told = hints(facts.name, text=facts.text)
    hinted = {hint.role for hint in told if hint.weight >= SURE}
    if Role.OUTCOME not in hinted and (identifier := _identifier(facts)) is not None:
        return identifier
    return _text_without_levels(facts, given=Role.CONTEXT in hinted) if facts.text else None


def _is_moment(facts: ColumnFacts) -> bool:
    if facts.moment or names.is_date(facts.name):
        return True
    if not facts.mostly_different:
        return False
    if names.is_moment(facts.name):
        return True
    if facts.low is None or facts.high is None or not names.mentions_moment(facts.name):
        return False
    return any(low <= facts.low and facts.high <= high for low, high in _EPOCHS)


def _text_without_levels(facts: ColumnFacts, *, given: bool) -> str | None:
    few = facts.distinct <= _FEW_NAMES and facts.present >= _REPEATED * facts.distinct
    if names.is_file(facts.name) and not (few and names.names_run(facts.name)):
        return "names a file or a command"
    if facts.distinct > LEVELS:
        return f"free text: {facts.distinct} different values"
    if facts.distinct == facts.present > SMALL:
        return "every row has a value of its own"
    if not given and facts.mostly_different:
        return "free text: more than half of the values are different"
    return None


def _identifier(facts: ColumnFacts) -> str | None:
    if not (facts.text or facts.whole):
        return None
    named = names.is_identifier(facts.name) or names.is_unnamed(facts.name)
    named = named or (facts.mostly_different and names.mentions_identifier(facts.name))
    many = facts.distinct > 0.9 * facts.present or (
        facts.distinct > 20 and facts.distinct > 0.1 * facts.present
    )
    if named and many:
        return "looks like an id"
    if facts.running and facts.low in (0, 1) and facts.rows >= 20:
        return RUNNING
    return None
