"""The role that a column's name hints at; what its words mean is listed in `names`."""

from dataclasses import dataclass

from compass.domain.space import Role
from compass.domain.units import UNITS, canonical
from compass.prepare import names


@dataclass(frozen=True)
class Hint:
    """The role that a name hints at, and how strongly (log odds)."""

    role: Role
    weight: float


SURE, LIKELY, WEAK = 4.0, 2.0, 1.0


def hints(name: str, *, text: bool) -> tuple[Hint, ...]:
    """What the name tells about the role; `text`: whether the column holds labels."""
    space, own = names.spaced(names.folded(name))
    found = names.words(own)
    told = _told(own, found, text=text)
    if {*found} & names.SHARES or "%" in own:
        told.append(Hint(Role.OUTCOME, LIKELY))
    if space in names.OUTCOME_SPACES:
        return (Hint(Role.OUTCOME, SURE),)
    if space in names.KNOB_SPACES and not (told and told[0] == Hint(Role.CONTEXT, SURE)):
        return (Hint(Role.KNOB, SURE),)
    return tuple(told)


def _told(name: str, found: tuple[str, ...], *, text: bool) -> list[Hint]:
    if names.is_class(name):
        return [Hint(Role.OUTCOME, SURE)]
    if len(found) > 1 and found[0] in names.SWITCHES:
        return [Hint(Role.KNOB, SURE)]
    if names.RATE.search(name) or name in names.TRACE_OUTCOMES:
        return [Hint(Role.OUTCOME, SURE)]
    vocabulary, whole = names.vocabulary_of(name), "".join(found)
    if vocabulary & names.OUTCOMES or whole in names.OUTCOME_NAMES or found[-1:] == ("used",):
        return [Hint(Role.KNOB if _is_setting(found, vocabulary) else Role.OUTCOME, SURE)]
    last = _last(found)
    given = vocabulary & names.CONTEXT or whole in names.CONTEXT_NAMES or vocabulary & names.SIZES
    if given or (text and vocabulary & names.CONTEXT_TEXT):
        if last in names.KNOBS and last not in names.CONTEXT | names.CONTEXT_TEXT:
            return [Hint(Role.KNOB, LIKELY), Hint(Role.CONTEXT, WEAK)]  # queue_depth
        return [Hint(Role.CONTEXT, SURE)]
    if name in names.LETTERS:
        return [Hint(Role.CONTEXT, LIKELY)]
    if "size" in found and names.unit_of(name) is not None and not _is_part(name, vocabulary):
        return [Hint(Role.CONTEXT, LIKELY)]  # size_kib: how much a program is given
    return _weaker(name, found, vocabulary)


def _weaker(name: str, found: tuple[str, ...], vocabulary: frozenset[str]) -> list[Hint]:
    """Hints of words that mean one thing or another, and of units."""
    told = []
    if vocabulary & names.KNOBS or names.CACHE.search(name):
        told.append(Hint(Role.KNOB, LIKELY))
    elif found[:1] and found[0] in names.COUNTED:
        told.append(Hint(Role.KNOB, WEAK))
    if {*found[:1], *found[-1:]} & names.OF_MEASUREMENTS or names.PERCENTILE.search(name):
        told.append(Hint(Role.OUTCOME, LIKELY))
    elif vocabulary & names.MAYBE_OUTCOMES:
        told.append(Hint(Role.OUTCOME, WEAK))
    unit = names.unit_of(name)
    dimension = UNITS[unit][0] if unit in UNITS else None
    if vocabulary & names.SETTINGS or _last(found) in names.LAST_SETTINGS:
        told.append(Hint(Role.KNOB, SURE))
    elif dimension in ("time", "energy", "power"):
        told.append(Hint(Role.OUTCOME, LIKELY))
    elif dimension == "frequency":
        told.append(Hint(Role.KNOB, WEAK))
    return told


def _is_setting(found: tuple[str, ...], vocabulary: frozenset[str]) -> bool:
    """Whether words turn a result into what is set; what it is counted per says nothing."""
    head = found[: found.index("per")] if "per" in found else found
    asked = vocabulary & names.SETTINGS if head == found else {*head} & names.SETTINGS
    return bool(asked) or _last(head) in names.LAST_SETTINGS


def _last(found: tuple[str, ...]) -> str:
    """The word that says what it is: the last one that is no unit, place or statistic."""
    kept = [word for word in found if word not in names.PLACES | names.STATISTICS and len(word) > 1]
    while len(kept) > 1 and canonical(kept[-1]) is not None:
        kept.pop()
    return kept[-1] if kept else ""


def _is_part(name: str, vocabulary: frozenset[str]) -> bool:
    """Whether it speaks of a part of a program or of a processor: block_size, L1DSizeKB."""
    return bool(vocabulary & names.NOT_WORK) or bool(names.CACHE.search(name))


def is_total(name: str) -> bool:
    """Whether the name is that of a sum or product of others: total_ranks, aggregateFileSize."""
    return bool({*names.words(name)} & names.TOTALS)


def is_event(name: str) -> bool:
    """Whether the name is that of an event as tools for counters write it."""
    return names.EVENT.fullmatch(name) is not None


def is_counter(name: str) -> bool:
    """Whether the name is that of a counter of hardware or system: cache-misses, IPC."""
    found = names.words(name)
    vocabulary = names.vocabulary_of(name)
    if found and found[-1] in names.TIMES:
        return False
    return bool(vocabulary & (names.COUNTERS | names.COUNTER_PHRASES))


def is_headline(name: str) -> bool:
    """Whether it is a counter that people ask for: cycles, IPC."""
    found = {*names.words(name)}
    return (
        bool(found & names.HEADLINES)
        and found <= names.HEADLINES | names.STATISTICS | names.OF_THE_WHOLE
    )


def stem(name: str) -> str:
    """The name without statistics, percentiles, units and numbers: what a family shares.

    ttft_p50_ms and ttft_p99_ms have one stem, and so have energy_per_token_j and
    energy_per_request_j.
    """
    found = list(names.words(names.PERCENTILE.sub(" ", names.folded(name))))
    if "per" in found[1:]:
        found = found[: found.index("per", 1)]
    kept = [word for word in found if word not in names.STATISTICS and canonical(word) is None]
    return " ".join(kept or found)
