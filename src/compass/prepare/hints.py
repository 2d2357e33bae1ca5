"""The role that a column's name hints at; what its words mean is listed in `names`."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from compass.domain.space import Role
from compass.domain.units import UNITS, canonical
from compass.prepare import names


@dataclass(frozen=True)
class Hint:
    """The role that a name hints at, and how strongly (log odds)."""

    role: Role
    weight: float


_SHARED = 3  # columns that begin alike
SURE, LIKELY, WEAK = 4.0, 2.0, 1.0


def hints(name: str, *, text: bool, spaces: Collection[str] = ()) -> tuple[Hint, ...]:
    """What the name tells about the role; `text`: whether the column holds labels.

    `spaces` are the beginnings of names that several columns share (see there).
    """
    space, own = names.spaced(names.folded(name), spaces)
    told = _told(own, names.words(own), text=text)
    if space in names.OUTCOME_SPACES:
        return (Hint(Role.OUTCOME, SURE),)
    if space in names.KNOB_SPACES and not (told and told[0] == Hint(Role.CONTEXT, SURE)):
        return (Hint(Role.KNOB, SURE),)
    return tuple(told)


def shared_spaces(known: Iterable[str]) -> frozenset[str]:
    """The first words that three or more names share, as `params` of params_lr, params_depth."""
    firsts = Counter(name.partition("_")[0].lower() for name in known if "_" in name)
    return frozenset(first for first, count in firsts.items() if count >= _SHARED)


def _told(name: str, found: tuple[str, ...], *, text: bool) -> list[Hint]:
    if is_verdict(name):
        return [Hint(Role.OUTCOME, SURE)]
    if len(found) > 1 and found[0] in names.SWITCHES:
        return [Hint(Role.KNOB, SURE)]
    if "price" in found:
        return [Hint(Role.CONTEXT, LIKELY), Hint(Role.OUTCOME, WEAK)]
    if name.startswith("-"):
        return [Hint(Role.KNOB, SURE)]  # an option as it is given to a program
    if names.RATE.search(name) or name in names.TRACE_OUTCOMES:
        return [Hint(Role.OUTCOME, SURE)]
    vocabulary, whole = names.vocabulary_of(name), "".join(found)
    result = vocabulary & names.OUTCOMES or any(map(names.RESULT_ENDS.fullmatch, found))
    if result or whole in names.OUTCOME_NAMES or found[-1:] == ("used",):
        return _of_result(found, vocabulary)
    measured = _of_measurements(name, found, vocabulary)
    last = _last(found)
    if _is_given(whole, vocabulary, text=text):
        if last in names.KNOBS - names.CONTEXT - names.CONTEXT_TEXT:
            return [Hint(Role.KNOB, LIKELY), Hint(Role.CONTEXT, WEAK), *measured]  # queue_depth
        return [Hint(Role.CONTEXT, SURE), *measured]
    if name in names.LETTERS:
        return [Hint(Role.CONTEXT, LIKELY)]
    if "size" in found and names.unit_of(name) is not None and not _is_part(name, vocabulary):
        return [Hint(Role.CONTEXT, LIKELY)]  # size_kib: how much a program is given
    return [*_of_settings(name, found, vocabulary), *measured]


def _is_given(whole: str, vocabulary: frozenset[str], *, text: bool) -> bool:
    known = names.CONTEXT | names.PERSONS | names.SIZES
    known = known | names.CONTEXT_TEXT if text else known
    return whole in names.CONTEXT_NAMES or bool(vocabulary & known)


def is_verdict(name: str) -> bool:
    """Whether the name is that of a result that is a class, or a yes or no: state, converged."""
    found = names.words(name)
    return names.is_class(name) or (len(found) > 1 and found[0] == "was")


def _of_settings(name: str, found: tuple[str, ...], vocabulary: frozenset[str]) -> list[Hint]:
    """Hints of words for what is set."""
    told = []
    ends = any(map(names.KNOB_ENDS.fullmatch, found))
    if vocabulary & names.KNOBS or ends or names.CACHE.search(name):
        told.append(Hint(Role.KNOB, LIKELY))
    elif found[:1] and found[0] in names.COUNTED:
        told.append(Hint(Role.KNOB, WEAK))
    if vocabulary & names.SETTINGS or _last(found) in names.LAST_SETTINGS:
        told.append(Hint(Role.KNOB, SURE))
    elif _dimension(name) == "frequency":
        told.append(Hint(Role.KNOB, WEAK))
    return told


def _of_measurements(name: str, found: tuple[str, ...], vocabulary: frozenset[str]) -> list[Hint]:
    """Hints of statistics, shares and units, which measured columns have."""
    told = []
    if {*found} & names.SHARES or "%" in name:
        told.append(Hint(Role.OUTCOME, LIKELY))
    if {*found[:1], *found[-1:]} & names.OF_MEASUREMENTS or names.PERCENTILE.search(name):
        told.append(Hint(Role.OUTCOME, LIKELY))
    elif vocabulary & names.MAYBE_OUTCOMES:
        told.append(Hint(Role.OUTCOME, WEAK))
    setting = vocabulary & names.SETTINGS or _last(found) in names.LAST_SETTINGS
    if _dimension(name) in ("time", "energy", "power") and not setting:
        told.append(Hint(Role.OUTCOME, LIKELY))
    return told


def _dimension(name: str) -> str | None:
    unit = names.unit_of(name)
    return UNITS[unit][0] if unit in UNITS else None


def _of_result(found: tuple[str, ...], vocabulary: frozenset[str]) -> list[Hint]:
    """A word for a result, unless others turn it into what is set: power_cap, error_bound.

    What it is counted per says nothing: energy_per_request.
    """
    head = found[: found.index("per")] if "per" in found else found
    if (vocabulary if head == found else {*head}) & names.SETTINGS:
        return [Hint(Role.KNOB, SURE)]
    if _last(head) in names.LAST_SETTINGS:
        return [Hint(Role.KNOB, LIKELY), Hint(Role.OUTCOME, WEAK)]
    return [Hint(Role.OUTCOME, SURE)]


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


def is_dotted(name: str) -> bool:
    """Whether the name is written as processors' events are: l2_lines_out.silent."""
    return names.DOTTED.fullmatch(name) is not None


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
