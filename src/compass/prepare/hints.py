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
# What a namespace or a word such as `limit` says, no value contradicts.
CERTAIN, SURE, LIKELY, WEAK = 8.0, 4.0, 2.0, 1.0


def hints(name: str, *, text: bool, spaces: Collection[str] = ()) -> tuple[Hint, ...]:
    """What the name tells about the role; `text`: whether the column holds labels.

    `spaces` are the beginnings of names that several columns share (see there).
    """
    space, own = names.spaced(names.folded(name), spaces)
    told = _told(own, names.words(own), text=text)
    if space in names.OUTCOME_SPACES:
        return (Hint(Role.OUTCOME, CERTAIN),)
    if space in names.KNOB_SPACES and not (told and told[0] == Hint(Role.CONTEXT, SURE)):
        return (Hint(Role.KNOB, CERTAIN),)
    if space in names.CONTEXT_SPACES and text:
        return (Hint(Role.CONTEXT, SURE),)
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
    if result or whole in names.OUTCOME_NAMES or _was_used(name, found):
        return _of_result(name, found, vocabulary)
    measured = _of_measurements(name, found, vocabulary)
    last = _last(found)
    if (text and names.names_run(name)) or _is_given(whole, vocabulary, text=text):
        if last in names.KNOBS - names.CONTEXT - names.CONTEXT_TEXT:
            return [Hint(Role.KNOB, LIKELY), Hint(Role.CONTEXT, WEAK), *measured]  # queue_depth
        sure = (text and names.names_run(name)) or _is_head(found, text=text)
        return [Hint(Role.CONTEXT, SURE if sure else LIKELY), *measured]
    if name in names.LETTERS:
        return [Hint(Role.CONTEXT, LIKELY)]
    if "size" in found and names.unit_of(name) is not None and not _is_part(name, vocabulary):
        return [Hint(Role.CONTEXT, LIKELY)]  # size_kib: how much a program is given
    return [*_of_settings(name, found, vocabulary), *measured]


def _was_used(name: str, found: tuple[str, ...]) -> bool:
    """Whether it was used up: mem_used, resources_used.vmem."""
    space, dot, _ = name.partition(".")
    return "used" in (found[-1:] or ("",)) or bool(dot and names.words(space)[-1:] == ("used",))


def _is_head(found: tuple[str, ...], *, text: bool) -> bool:
    """Whether the word that says what a column is, its last, is one for what is given."""
    known = _known(text=text)
    kept = list(found)
    while len(kept) > 1 and (kept[-1] in names.CARRIERS or canonical(kept[-1]) is not None):
        if {kept[-1], "".join(kept[-2:])} & known:
            return True
        kept.pop()
    return bool({*kept[-1:], "".join(kept[-2:]), "".join(found)} & (known | names.CONTEXT_NAMES))


def _known(*, text: bool) -> frozenset[str]:
    known = names.CONTEXT | names.PERSONS | names.SIZES
    return known | names.CONTEXT_TEXT if text else known


def _is_given(whole: str, vocabulary: frozenset[str], *, text: bool) -> bool:
    return whole in names.CONTEXT_NAMES or bool(vocabulary & _known(text=text))


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
    if _sets(found, vocabulary) or _last(found) in names.LAST_SETTINGS:
        told.append(Hint(Role.KNOB, LIKELY if is_statistic(name) else SURE))
    elif _dimension(name) == "frequency":
        told.append(Hint(Role.KNOB, WEAK))
    return told


def _of_measurements(name: str, found: tuple[str, ...], vocabulary: frozenset[str]) -> list[Hint]:
    """Hints of statistics, shares and units, which measured columns have."""
    told = []
    if {*found} & names.SHARES or "%" in name:
        told.append(Hint(Role.OUTCOME, LIKELY))
    if is_statistic(name):
        told.append(Hint(Role.OUTCOME, LIKELY))
    elif vocabulary & names.MAYBE_OUTCOMES:
        told.append(Hint(Role.OUTCOME, WEAK))
    setting = _sets(found, vocabulary) or _last(found) in names.LAST_SETTINGS
    if _dimension(name) in ("time", "energy", "power") and not setting:
        told.append(Hint(Role.OUTCOME, LIKELY))
    return told


def _dimension(name: str) -> str | None:
    unit = names.unit_of(name)
    return UNITS[unit][0] if unit in UNITS else None


def _of_result(name: str, found: tuple[str, ...], vocabulary: frozenset[str]) -> list[Hint]:
    """A word for a result, unless others turn it into what is set: power_cap, error_bound.

    What it is counted per says nothing: energy_per_request.
    """
    head = found[: found.index("per")] if "per" in found else found
    if is_statistic(name):
        return [Hint(Role.OUTCOME, SURE)]
    if _sets(head, vocabulary if head == found else {*head}):
        return [Hint(Role.KNOB, SURE if {*head} & names.REQUESTS else CERTAIN)]
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


def _sets(found: tuple[str, ...], vocabulary: Collection[str]) -> bool:
    """Whether a word says that it was set; `req` in the middle of a name is a request."""
    said = names.SETTINGS & {*vocabulary}
    return bool(said - names.REQUESTS or said & {*found[:1], _last(found)})


def is_statistic(name: str) -> bool:
    """Whether the name is that of a statistic of something measured: latency_avg, p99."""
    found = names.words(name)
    ends = {*found[:1], *found[-1:]}
    return bool(ends & names.OF_MEASUREMENTS or names.PERCENTILE.search(name))


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
    if found and (found[-1] in names.TIMES or {*found} & names.SHARES):
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
