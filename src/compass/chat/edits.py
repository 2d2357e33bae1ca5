"""Patterns that change parameters, name the start, or speak of the question itself."""

import re

from compass.chat import rules
from compass.chat.scan import PARAMETERS, Equal, Scan, whole
from compass.domain.base import Value
from compass.domain.query import Kind
from compass.domain.space import Role


def instead(scan: Scan, match: re.Match[str]) -> bool:
    """8 nodes instead of 4; compact rather than scatter."""
    span = range(*match.span())
    mark = scan.at(span, "I")[0]
    before = scan.at(range(match.start(), mark), "VL")
    after = scan.at(range(mark, match.end()), "VL")
    new_place, old_place = (before or after)[0 if before else -1], after[0]
    columns = scan.at(span, "C")
    if columns:
        name: str | None = scan.column(columns[0], *PARAMETERS)
    elif scan.tags[new_place] == "L":
        found = scan.label(new_place)
        name = found[0] if found is not None else None
    else:
        quantity = scan.quantity(new_place)
        if quantity.unit is None:
            quantity = scan.quantity(old_place)
        name = scan.of_unit(quantity, Role.KNOB)
        if name is not None:
            scan.note(scan.items[new_place].words, name)
    if name is None:
        return False
    new, old = scan.value(new_place, name), scan.old_value([old_place, new_place], name)
    if new is None or old is None or scan.outcome(name):
        return False
    if scan.kind is not Kind.RECOMMEND:
        scan.stated[name] = old
    return scan.change(name, new, match.start())


def replaced(scan: Scan, match: re.Match[str]) -> bool:
    """Replace scatter with compact; switch from scatter to compact."""
    first, second = scan.at(range(*match.span()), "L")
    words = scan.items[match.start()].words.lower()
    if "o" in match[0] and not words.startswith(("replac", "swap", "substitut")):
        return False
    new = scan.label(second)
    old = scan.label(first, of=new[0]) if new is not None else None
    if new is None or old is None:
        return False
    if scan.kind is not Kind.RECOMMEND:
        scan.stated[new[0]] = old[1]
    return scan.change(new[0], new[1], match.start())


def count(scan: Scan, match: re.Match[str]) -> bool:
    """Three options; the top 5; the 5 fastest options."""
    place = scan.at(range(*match.span()), "V")[0]
    quantity = scan.quantity(place)
    if quantity.unit is not None or not quantity.value.is_integer():
        return False
    if not 1 <= quantity.value <= 1000:
        return False
    scan.count = int(quantity.value)
    return True


def everything(scan: Scan, match: re.Match[str]) -> bool:
    """Everything except the queue; everything else stays."""
    if "z" in match[0] or "k" in match[0] or "Z" in match[0]:
        return True
    words = scan.items[scan.at(range(*match.span()), "E")[0]].words.lower()
    if "C" in match[0] and "!" not in match[0] and not words.endswith((" but", " except")):
        return False
    scan.everything = True
    for place in scan.at(range(*match.span()), "C"):
        name = scan.column(place, *PARAMETERS)
        if name not in scan.keep:
            scan.keep.append(name)
    return True


def forgotten(scan: Scan, match: re.Match[str]) -> bool:
    """Forget the power limit; the runtime does not matter."""
    for place in scan.at(range(*match.span()), "C"):
        name = scan.column(place)
        off = rules.off_value(scan.parameter(name))
        if scan.kind is Kind.WHAT_IF and off is not None:
            scan.equals.append(Equal(name, off, match.start(), "s"))
        elif name not in scan.dropped:
            scan.dropped.append(name)
    return True


def replaced_outcome(scan: Scan, match: re.Match[str]) -> bool:
    """Instead of runtime: the goal for it is taken back."""
    name = scan.column(match.end() - 1)
    return scan.outcome(name) and forgotten(scan, match)


def tried(scan: Scan, match: re.Match[str]) -> bool:
    """Set the nodes to 8; chunk becomes 4; the optimizer to adam."""
    span = range(*match.span())
    name = scan.column(scan.at(span, "C")[0], *PARAMETERS)
    value: Value | None = scan.value(scan.at(span, "VL")[-1], name)
    if value is None or scan.outcome(name):
        return False
    scan.equals.append(Equal(name, (whole(value),), match.start(), "s"))
    return True


def nothing(_scan: Scan, _match: re.Match[str]) -> bool:
    """Words that look like more than they say: keep it under that value."""
    return True


def single(scan: Scan, match: re.Match[str]) -> bool:
    """One epoch takes from 60 s to 2 min: the epoch is a noun here, not a number of epochs."""
    after = scan.at(range(match.end(), min(match.end() + 4, len(scan.tags))), "V")
    timed = bool(after) and scan.quantity(after[0]).unit is not None
    return timed and scan.items[match.start()].words.lower() in {"one", "a", "each"}


_VALUE = r"[VL]"
FIRST = (
    (r"V(?=[qaOwDdM]{0,2}(?:F|[mM]C)?[aqOw]?n)", count),
    (r"V(?=F)", count),
    (r"\^V", count),
    (r"[~]?E[oiwsa]*!?C(?:[&,|]+C)*", everything),
    (r"E[wi]*[kZ]?[iz]*z", everything),
    (r"E[wi]*k(?![VLC])", everything),
    (r"E(?!o[VL]|[<>])", everything),
    (r"[dDR]C(?:[&,]+C)*K", nothing),
    (r"v[<io]*C(?:[&,]+C)*[<>]?(?![btfV%])", forgotten),
    (r"IC", replaced_outcome),
    (r"C[<>]?v", forgotten),
    (rf"[so=]*{_VALUE}C?,?I[pC]*{_VALUE}C?", instead),
    (rf"[so=]*C[iso=tp]*{_VALUE},?I[po]*{_VALUE}", instead),
    (rf"[so=]*I{_VALUE}C?,?[so]*{_VALUE}C?", instead),
    (r"sLoL", replaced),
    (r"s*C?fLtL", replaced),
    (r"[k]?@?[<>=]@", nothing),
    (r"VC(?=w?f?[B<>]*V)", single),
)
LAST = (
    (rf"sC[iop]*[t=i]{_VALUE}(?![Ct])", tried),
    (rf"C[is]*[st=]+{_VALUE}(?![Ct])", tried),
    (r"[rRs]tVC", tried),
)
