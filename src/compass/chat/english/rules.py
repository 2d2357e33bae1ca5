"""Patterns that bound parameters: comparisons, ranges, labels, relations between columns."""

import re

from compass.chat.english.bounds import about
from compass.chat.english.link import dimension_of
from compass.chat.english.scan import PARAMETERS, Equal, Scan, whole
from compass.chat.english.synonyms import BAD_ENDINGS, LIMITS
from compass.chat.english.tags import Tag
from compass.chat.english.words import TextQuantity, compact
from compass.domain.base import Value
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role

_GOING = ("go", "went", "us", "try", "run", "mov", "switch")
_LASTING = (" takes", " took", " needs")


def _cue(scan: Scan, match: re.Match[str]) -> str:
    """The word that brought a value in; `with` and `using` try it out."""
    for place in range(max(match.start() - 1, 0), match.end()):
        tag, words_said = scan.tags[place], scan.items[place].words.lower()
        if tag in Tag.SET + Tag.EQUALS + Tag.ONLY or (
            tag == Tag.WITH and words_said.startswith(("with", "using", "via"))
        ):
            return "s" if tag == Tag.WITH else tag
        if tag == Tag.WITH and words_said not in {"if", "when"}:
            return "o"
    return scan.tags[: match.start()][-1:]


def equals(scan: Scan, match: re.Match[str]) -> bool:
    """8 nodes; chunk 4; 4, 8 or 16 threads; not 96; no gpus."""
    span = range(*match.span())
    columns = scan.at(span, Tag.COLUMN)
    name = scan.column(columns[0], *PARAMETERS)
    places = scan.at(span, Tag.VALUES)
    name = scan.fitting(columns[0], places, name)
    found = [scan.value(place, name) for place in places]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return False
    negative = Tag.NOT in match[0] or Tag.FORBIDDEN in match[0]
    cue = _cue(scan, match)
    if scan.outcome(name) and isinstance(scan.parameter(name), Category) and not negative:
        return scan.is_class(name, values[0], cue=cue)
    if scan.outcome(name) and isinstance(scan.parameter(name), Number):
        return about(
            scan, name, scan.quantity(scan.at(span, Tag.NUMBER)[0]), scan.at(span, Tag.NUMBER)
        )
    scan.equals.append(Equal(name, tuple(values), match.start(), cue, negative))
    return True


def counted(scan: Scan, match: re.Match[str]) -> bool:
    """8 V100 gpus: how many, and which."""
    name = scan.column(match.end() - 1, *PARAMETERS)
    value = scan.value(match.end() - 3, name)
    label = scan.label(match.end() - 2)
    if value is None or label is None or scan.outcome(label[0]) or scan.outcome(name):
        return False
    cue = _cue(scan, match)
    scan.equals.append(Equal(name, (value,), match.start(), cue))
    scan.equals.append(Equal(label[0], (label[1],), match.start(), cue))
    return True


def lone(scan: Scan, match: re.Match[str]) -> bool:
    """6 MiB; in 2 hours: the unit tells the column."""
    quantity = scan.quantity(match.end() - 1)
    before = scan.items[match.start() - 1] if match.start() else None
    if (
        before is not None
        and before.tag == Tag.CURRENTLY
        and before.words.lower().endswith(_LASTING)
    ):
        lasting = scan.of_unit(quantity, Role.OUTCOME)
        scan.current = (lasting, quantity) if lasting is not None else None
        return True
    words = scan.items[match.start()].words.lower()
    outcome = scan.of_unit(quantity, Role.OUTCOME)
    if quantity.unit is not None and _is_told(scan, match.start(), quantity):
        return True
    if words.startswith("in") and outcome is not None and scan.kind is not Kind.WHAT_IF:
        scan.note(scan.items[match.end() - 1].words, outcome)
        return scan.bound(outcome, "<=", quantity)
    name = scan.of_unit(quantity, *PARAMETERS)
    if name is not None and outcome is not None and _is_aside(scan, name, match):
        name = None
    if name is None:
        if outcome is None or scan.kind is Kind.WHAT_IF:
            return False
        scan.note(scan.items[match.end() - 1].words, outcome)
        return about(scan, outcome, quantity, [match.end() - 1])
    scan.note(scan.items[match.end() - 1].words, name)
    value = scan.number(quantity, name)
    scan.equals.append(Equal(name, (whole(value),), match.start(), scan.tags[match.start()]))
    return True


def _is_aside(scan: Scan, name: str, match: re.Match[str]) -> bool:
    """A bare time is about the run, not about a knob that happens to be a time, but a limit."""
    timed = dimension_of(scan.quantity(match.end() - 1).unit) == "time"
    limit = bool(scan.index.stems[name] & LIMITS)
    clause = scan.tags[max(0, match.start() - 3) : match.start()]
    before = match.start() - len(clause) + clause.rfind("C")
    if "C" in clause and not set(clause) & set(",.") and name == scan.column(before, Role.KNOB):
        return False
    return timed and not limit and _cue(scan, match) != "s"


def _is_told(scan: Scan, start: int, quantity: TextQuantity) -> bool:
    """My jobs wait for ages (9 hours): the value that the outcome just before has now."""
    clause = scan.tags[:start].rstrip("wo")
    if not clause.endswith("C") or len(clause) == start or scan.kind is Kind.WHAT_IF:
        return False
    name = scan.column(len(clause) - 1)
    if not scan.outcome(name) or scan.number(quantity, name) is None:
        return False
    scan.current = (name, quantity)
    return True


def labels(scan: Scan, match: re.Match[str]) -> bool:
    """Compact; PMIS or HMIS; neither a nor b; anything but c."""
    span = range(*match.span())
    columns = scan.at(span, Tag.COLUMN)
    places = scan.at(span, Tag.LABEL)
    first = None
    if columns:
        mention = scan.items[columns[0]].mention
        assert mention is not None
        wanted = [n for n in mention.scores if scan.label(places[0], of=n) is not None]
        if not wanted:
            return False
        first = scan.label(places[0], of=wanted[0])
    first = first or scan.label(places[0])
    if first is None:
        return False
    values = [first[1]]
    for place in places[1:]:
        other = scan.label(place, of=first[0])
        if other is None:
            return False
        values.append(other[1])
    negative = Tag.NOT in match[0] or Tag.FORBIDDEN in match[0]
    cue = _cue(scan, match)
    if Tag.UNTOUCHED in match[0]:
        negative = scan.items[match.end() - 1].words.lower().endswith("off limits")
    if set("wRrk") & set(match[0]) and negative and not scan.outcome(first[0]):
        return False
    if scan.outcome(first[0]) and not negative:
        if not columns and scan.kind is not Kind.WHAT_IF and compact(str(first[1])) in BAD_ENDINGS:
            return True
        return scan.is_class(first[0], values[0], cue=cue)
    scan.equals.append(Equal(first[0], tuple(dict.fromkeys(values)), match.start(), cue, negative))
    return True


def switched(scan: Scan, match: re.Match[str]) -> bool:
    """Mixed precision on; without exclusive; no gpus."""
    span = range(*match.span())
    name = scan.column(scan.at(span, Tag.COLUMN)[0], *PARAMETERS)
    parameter = scan.parameter(name)
    off = Tag.NOT in match[0] or Tag.OFF in match[0]
    cue = next((t for t in match[0] if t in "so"), "s" if set(match[0]) & set("yY") else "")
    last = scan.items[match.end() - 1].words.lower()
    if match[0].endswith("o"):
        if last not in {"on", "in"}:
            return False
        cue = "s"
    if isinstance(parameter, Number):
        if off and parameter.optional and Tag.COLUMN + Tag.COLUMN not in match[0]:
            scan.equals.append(Equal(name, (None,), match.start(), cue))
            return True
        if (
            Tag.COLUMN + Tag.COLUMN in match[0]
            or Tag.NOT not in match[0]
            or parameter.low > 0
            or parameter.role is Role.OUTCOME
        ):
            return False
        scan.equals.append(Equal(name, (0,), match.start(), cue))
        return True
    on_value, off_value = sides(parameter)
    value = off_value if off else on_value
    if value is None or (cue == "" and not off):
        return False
    scan.equals.append(Equal(name, (value[0],), match.start(), cue))
    return True


def sides(category: Category) -> tuple[tuple[Value] | None, tuple[Value] | None]:
    """The labels of a switch that mean on and off, if it is a switch."""
    sides: dict[bool, tuple[Value]] = {}
    for value in category.values:
        text = str(value).casefold()
        if text in {"true", "yes", "on", "1", "enabled", "1.0"}:
            sides[True] = (value,)
        elif text in {"false", "no", "off", "0", "disabled", "0.0", "none"}:
            sides[False] = (value,)
    if len(category.values) != 2:  # no quantization: one label of many can mean off
        return None, sides.get(False)
    return sides.get(True), sides.get(False)


def off_value(parameter: Number | Category) -> tuple[Value] | None:
    """The label that means off, if the column is a switch."""
    return sides(parameter)[1] if isinstance(parameter, Category) else None


def gone(scan: Scan, match: re.Match[str]) -> bool:
    """What if we went spot: a switch that is tried out."""
    name = scan.column(match.end() - 1, *PARAMETERS)
    parameter = scan.parameter(name)
    on_value = sides(parameter)[0] if isinstance(parameter, Category) else None
    verb = scan.items[match.start()].words.lower()
    if on_value is None or scan.kind is not Kind.WHAT_IF or not verb.startswith(_GOING):
        return False
    scan.equals.append(Equal(name, on_value, match.start(), "s"))
    return True


_VALUES = r"V(?:[,|&]+V)*[|&]+V"
PATTERNS = (
    (r"[so]*!?~?(?:V[,|&]+)*V[|]V[io]?C", equals),
    (r"C[io=]*[o=]V(?:,V)+(?![CVtLp%])", equals),
    (rf"[!~]?C[io=~s]*!?~?{_VALUES}(?!C)(?:i?N)?", equals),
    (r"C[io=]*V(?:[,|&]+V)*i?N", equals),
    (r"[so=]*VLC", counted),
    (r"[o!]?~?LC[i=]*[NZ]", labels),
    (r"L(?:[,|&]+L)*i?[NZ]", labels),
    (r"L(?:[,|&]+L)*i~C", labels),
    (r"[~]?C[i=w]*~?!~?L(?:[,|&!]+L)*", labels),
    (r"[~]?C[i=o~]*L(?:[,|&~]+L)*", labels),
    (r"[so]*(?:![so]*)?~?L(?:(?:[,|&]+!?|!)L)*C", labels),
    (r"[so]*![sota]*~?L(?:[,|&]*[!|&]L)*", labels),
    (r"![wRrsik]{1,3}L", labels),
    (r"[so]*~?L(?:[,|&]+L)+", labels),
    (r"[so=]*~?L", labels),
    (r"[so!]?[yY]C", switched),
    (r"C[ist=]*[yY]", switched),
    (r"C[is]*o(?=[,.&=]|$)", switched),
    (r"sCC?o(?![CVL])", switched),
    (r"so?C(?=[.,&=]|$)", gone),
    (r"[o!]CC(?=[,&.=]|$)", switched),
    (r"[o!]C(?=[CV,&.h]|$)", switched),
    (r"[!~]?C[ipks]*[=!~]+V(?!C)", equals),
    (r"[so=]*[!~=]?V[io]?C(?![{}]|[<>](?!i?[V%])|[dD](?![TCV%]))", equals),
    (r"C[i]*V(?!C)", equals),
    (r"o?V", lone),
)
