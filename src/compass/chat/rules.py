"""Patterns that bound parameters: comparisons, ranges, labels, relations between columns."""

import math
import re
from dataclasses import replace

from compass.chat.relations import sign_of
from compass.chat.scan import PARAMETERS, Equal, Scan, whole
from compass.chat.synonyms import BAD_ENDINGS
from compass.chat.words import Form, Quantity, compact
from compass.domain.base import Value
from compass.domain.goal import Same, Within
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role
from compass.prepare.names import words

_GOING = ("go", "went", "us", "try", "run", "mov", "switch")
_LASTING = (" takes", " took", " needs")
_PERCENT = frozenset({"pct", "percent", "percentage", "share"})


def on_scale(scan: Scan, quantity: Quantity, name: str) -> Quantity:
    """A percentage as the column counts it: 0.9 or 90."""
    parameter = scan.parameter(name)
    if quantity.form is not Form.SHARE or not isinstance(parameter, Number):
        return quantity
    if parameter.high > 1.5 and not (_PERCENT & set(words(name)) or parameter.high <= 100):
        return Quantity(math.inf)
    scale = 1.0 if parameter.high <= 1.5 else 100.0
    return Quantity(float(f"{quantity.value * scale:.12g}"))


def between(scan: Scan, match: re.Match[str]) -> bool:
    """Between 4 and 8 nodes; power from 200 to 350 W."""
    span = range(*match.span())
    first, second = (scan.quantity(p) for p in scan.at(span, "V%")[:2])
    if first.unit is None and first.form is Form.NUMBER:
        first = replace(first, unit=second.unit, form=second.form)
        if second.form is Form.SHARE:
            first = replace(first, value=first.value / 100)
    columns = scan.at(span, "C")
    name = scan.column(columns[0]) if columns else scan.of_unit(second)
    if name is not None and not columns:
        scan.note(scan.items[scan.at(span, "V%")[1]].words, name)
    if name is None or not isinstance(scan.parameter(name), Number):
        return False
    low = scan.number(on_scale(scan, first, name), name)
    high = scan.number(on_scale(scan, second, name), name)
    if low is None or high is None:
        return False
    if _is_edit(scan, match, name):
        scan.stated[name] = whole(low)
        return scan.change(name, whole(high))
    low, high = min(low, high), max(low, high)
    if scan.outcome(name) and scan.kind is not Kind.WHAT_IF:
        scan.goal(name, Within(low=low, high=high))
    else:
        scan.compare(name, ">=", low)
        scan.compare(name, "<=", high)
    return True


def _is_edit(scan: Scan, match: re.Match[str], name: str) -> bool:
    tried = scan.kind is Kind.WHAT_IF or (scan.kind is Kind.RECONFIGURE and "f" in match[0])
    return tried and "B" not in match[0] and not scan.outcome(name)


def _is_tolerance(scan: Scan, quantity: Quantity, name: str, sign: int) -> bool:
    """Within 5 % of what it was."""
    share = quantity.form is Form.SHARE and 0 < quantity.value < 1
    told = scan.items[sign].words.lower().endswith("within")
    return share and told and scan.outcome(name) and not (_PERCENT & set(words(name)))


def bounded(scan: Scan, match: re.Match[str]) -> bool:
    """At most 16 nodes; power under 300 W; 8 gpus or more; ppn min 8 max 24."""
    span = range(*match.span())
    numbers = scan.at(span, "V%H")
    signs = scan.at(span, "<>{}dD")
    columns = scan.at(span, "C")
    quantity = scan.quantity(numbers[0])
    if columns:
        name = scan.column(columns[0], *((Role.OUTCOME,) if quantity.unit else ()))
        if _is_tolerance(scan, quantity, name, signs[0]):
            scan.goals[name] = Same(tolerance=quantity.value)
            return True
        fits = scan.number(on_scale(scan, quantity, name), name) is not None
        if not fits and quantity.unit is not None:
            return False
    else:
        found = _named_near(scan, match.start(), quantity)
        if found is None:
            if quantity.unit is not None:
                scan.lost.append(scan.items[numbers[0]].words)
                return False
            if quantity.form is Form.NUMBER:
                op = sign_of(scan, signs[0])
                if scan.last is None or not scan.bound(scan.last, op, quantity):
                    scan.loose.append((op, match.start(), quantity))
            return True
        name = found
        scan.note(scan.items[numbers[0]].words, name)
    done = False
    for sign, number in zip(signs, numbers, strict=False):
        scaled = on_scale(scan, scan.quantity(number), name)
        op = sign_of(scan, sign)
        if scan.items[sign].words.lower() == "or better":
            op = ">=" if scan.better(name) == "maximize" else "<="
        if match[0].startswith("!"):
            op = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
        scan.last_op = op
        done = scan.bound(name, op, scaled) or done
    if done:
        scan.last = name
    return done


def _named_near(scan: Scan, start: int, quantity: Quantity) -> str | None:
    """The column of a quantity: one of its unit that was just named, else by the unit alone."""
    if quantity.unit is None:
        return None
    for place in range(start - 1, max(start - 6, -1), -1):
        if scan.tags[place] in "V.":
            break
        if scan.tags[place] == "C" and place not in scan.used:
            name = scan.column(place, Role.OUTCOME)
            if scan.outcome(name) and scan.fits(quantity, name, wide=2.0):
                scan.used.add(place)
                return name
    return scan.of_unit(quantity, Role.OUTCOME) or scan.of_unit(quantity)


def _cue(scan: Scan, match: re.Match[str]) -> str:
    """The word that brought a value in; `with` and `using` try it out."""
    for place in range(max(match.start() - 1, 0), match.end()):
        tag, words_said = scan.tags[place], scan.items[place].words.lower()
        if tag in "s=~" or (tag == "o" and words_said.startswith(("with", "using", "via"))):
            return "s" if tag == "o" else tag
        if tag == "o" and words_said not in {"if", "when"}:
            return "o"
    return scan.tags[: match.start()][-1:]


def equals(scan: Scan, match: re.Match[str]) -> bool:
    """8 nodes; chunk 4; 4, 8 or 16 threads; not 96; no gpus."""
    span = range(*match.span())
    columns = scan.at(span, "C")
    name = scan.column(columns[0], *PARAMETERS)
    values: list[Value] = []
    for place in scan.at(span, "VL"):
        value = scan.value(place, name)
        if value is None:
            return False
        values.append(value)
    negative = "!" in match[0] or "N" in match[0]
    cue = _cue(scan, match)
    if scan.outcome(name) and isinstance(scan.parameter(name), Category) and not negative:
        return scan.is_class(name, values[0], cue=cue)
    if scan.outcome(name) and isinstance(scan.parameter(name), Number):
        return about(scan, name, scan.quantity(scan.at(span, "V")[0]), scan.at(span, "V"))
    scan.equals.append(Equal(name, tuple(values), match.start(), cue, negative))
    return True


def about(scan: Scan, name: str, quantity: Quantity, places: list[int]) -> bool:
    """A number for an outcome: a bound like the one before, else on the side that is worse."""
    if scan.kind is Kind.WHAT_IF or len(places) != 1:
        return False
    if scan.tags[: places[0]].endswith("g"):
        scan.current = (name, quantity)
        return True
    scan.told = (name, quantity)
    worse = "<=" if scan.better(name) == "minimize" else ">="
    return scan.bound(name, scan.last_op or worse, quantity)


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
    if before is not None and before.tag == "g" and before.words.lower().endswith(_LASTING):
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
    if name is None:
        if outcome is None or scan.kind is Kind.WHAT_IF:
            return False
        scan.note(scan.items[match.end() - 1].words, outcome)
        return about(scan, outcome, quantity, [match.end() - 1])
    scan.note(scan.items[match.end() - 1].words, name)
    value = scan.number(quantity, name)
    scan.equals.append(Equal(name, (whole(value),), match.start(), scan.tags[match.start()]))
    return True


def _is_told(scan: Scan, start: int, quantity: Quantity) -> bool:
    """My jobs wait for ages (9 hours): how it is, said of the outcome just before."""
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
    columns = scan.at(span, "C")
    places = scan.at(span, "L")
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
    negative = "!" in match[0] or "N" in match[0]
    cue = _cue(scan, match)
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
    name = scan.column(scan.at(span, "C")[0], *PARAMETERS)
    parameter = scan.parameter(name)
    off = "!" in match[0] or "Y" in match[0]
    cue = next((t for t in match[0] if t in "so"), "s" if set(match[0]) & set("yY") else "")
    last = scan.items[match.end() - 1].words.lower()
    if match[0].startswith("C") and match[0].endswith("o"):
        if last not in {"on", "in"}:
            return False
        cue = "s"
    if isinstance(parameter, Number):
        if off and parameter.optional and "CC" not in match[0]:
            scan.equals.append(Equal(name, (None,), match.start(), cue))
            return True
        if (
            "CC" in match[0]
            or "!" not in match[0]
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


def not_beyond(scan: Scan, match: re.Match[str]) -> bool:
    """Without raising the power above 140 W: at most that."""
    span = range(*match.span())
    name = scan.column(scan.at(span, "C")[0], Role.OUTCOME)
    sign = scan.at(span, "<>")[0]
    quantity = on_scale(scan, scan.quantity(scan.at(span, "V%")[0]), name)
    return scan.bound(name, "<=" if scan.tags[sign] == ">" else ">=", quantity)


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
FIRST = (
    (r"!?[dD]CTV", bounded),
    (r"[Z!][is]*C[ikso=]*[<>]i?[V%]", not_beyond),
)
PATTERNS = (
    (r"[o=]?BV[&t]VC?(?!p)", between),
    (r"[ko]?C[wisko=f]*B?[V%][t][V%]", between),
    (r"[ko]?C[wisko=]*B[V%][t&][V%]", between),
    (r"f?V[t]V[io]?C", between),
    (r"f?VtV", between),
    (r"!?C[iksot=]*[<>]i?[V%](?:[&,]?[<>]i?[V%](?!i?C))?(?!C?p)", bounded),
    (r"[<>]i?[V%]C(?!p)", bounded),
    (r"[<>][V%H][io]C", bounded),
    (r"V[io]?C(?:[{}]|[<>](?!i?[V%]))", bounded),
    (r"<C[it=o]*[V]", bounded),
    (r"C[i=]*[V%]i?[{}<>](?![VC])", bounded),
    (r"[<>]i?V(?!C)", bounded),
    (r"V[{}<>](?!C?V)", bounded),
    (r"[so]*!?~?(?:V[,|&]+)*V[|]V[io]?C", equals),
    (rf"[!~]?C[io=~s]*!?~?{_VALUES}(?!C)(?:i?N)?", equals),
    (r"C[io=]*V(?:[,|&]+V)*i?N", equals),
    (r"[so=]*VLC", counted),
    (r"[o!]?~?LC[i=]*N", labels),
    (r"L(?:[,|&]+L)*i?N", labels),
    (r"L(?:[,|&]+L)*i~C", labels),
    (r"[~]?C[i=w]*~?!~?L(?:[,|&!]+L)*", labels),
    (r"[~]?C[i=o~]*L(?:[,|&~]+L)*", labels),
    (r"[so]*!?[so]*~?L(?:[,|&]*[!|]L|[,|&]+L)*C", labels),
    (r"[so]*![sot]*~?L(?:[,|&]*[!|&]L)*", labels),
    (r"![wRrsik]{1,3}L", labels),
    (r"[so]*~?L(?:[,|&]+L)+", labels),
    (r"[so=]*~?L", labels),
    (r"[so!]?[yY]C", switched),
    (r"C[ist=]*[yY]", switched),
    (r"C[is]*o(?=[,.&=]|$)", switched),
    (r"so?C(?=[.,&=]|$)", gone),
    (r"[o!]CC(?=[,&.=]|$)", switched),
    (r"[o!]C(?=[CV,&.h]|$)", switched),
    (r"[!~]?C[ipks]*[=!~]+V(?!C)", equals),
    (r"[so=]*[!~=]?V[io]?C(?![{}]|[<>](?!i?[V%])|[dD](?![TCV%]))", equals),
    (r"C[i]*V(?!C)", equals),
    (r"o?V", lone),
)
