"""Patterns that change parameters, name the start, or speak of the question itself."""

import re

from compass.chat.english import rules
from compass.chat.english.items import ARROWS
from compass.chat.english.scan import PARAMETERS, Equal, Scan, set_to, whole
from compass.chat.english.tags import Tag
from compass.domain.base import Value
from compass.domain.query import Kind
from compass.domain.space import Role

_EXCHANGE = ("replac", "swap", "substitut", "exchang")


def instead(scan: Scan, match: re.Match[str]) -> bool:
    """8 nodes instead of 4; compact rather than scatter."""
    span = range(*match.span())
    mark = scan.at(span, Tag.INSTEAD + Tag.THAN)[0]
    before = scan.at(range(match.start(), mark), Tag.VALUES)
    after = scan.at(range(mark, match.end()), Tag.VALUES)
    new_place, old_place = (before or after)[0 if before else -1], after[0]
    columns = scan.at(span, Tag.COLUMN)
    if columns:
        name: str | None = scan.column(columns[0], *PARAMETERS)
    elif scan.tags[new_place] == Tag.LABEL:
        found = scan.label(new_place)
        name = found[0] if found is not None else None
    else:
        quantity = scan.quantity(new_place)
        if quantity.unit is None:
            quantity = scan.quantity(old_place)
        name = scan.of_unit(quantity, Role.KNOB)
        if name is not None:
            scan.note(scan.items[new_place].words, name)
        elif quantity.unit is None:
            named = scan.at(range(match.start()), Tag.COLUMN)
            knobs = [n for n in (scan.column(p) for p in named) if not scan.outcome(n)]
            name = next((n for n in reversed(knobs) if scan.fits(quantity, n)), None)
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
    first, second = scan.at(range(*match.span()), Tag.LABEL)
    verbs = [scan.items[p].words.lower() for p in scan.at(range(*match.span()), Tag.SET)]
    arrow = any(scan.items[p].words in ARROWS for p in scan.at(range(*match.span()), Tag.TO))
    exchanged = arrow or Tag.FROM in match[0] or any(word.startswith(_EXCHANGE) for word in verbs)
    if not exchanged and not (Tag.TO in match[0] and scan.kind is Kind.WHAT_IF):
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
    place = scan.at(range(*match.span()), Tag.NUMBER)[0]
    quantity = scan.quantity(place)
    if quantity.unit is not None or not quantity.value.is_integer():
        return False
    if not 1 <= quantity.value <= 1000:
        return False
    if scan.tags[match.end() : match.end() + 1] == "a":
        what = scan.items[match.end()].words.lower()
        if not what.startswith(("setting", "value")):
            return False
    scan.count = int(quantity.value)
    listed = re.compile("C(?:[&,|]+C)*").match(scan.tags, match.end())
    for column in scan.at(range(*listed.span()), Tag.COLUMN) if listed else ():
        name = scan.column(column, *PARAMETERS)
        if scan.parameter(name).role is Role.KNOB and name not in scan.asked:
            scan.asked.append(name)
            scan.used.add(column)
    return True


def everything(scan: Scan, match: re.Match[str]) -> bool:
    """Everything except the queue; everything else stays."""
    if Tag.SAME in match[0] or Tag.KEEP in match[0] or Tag.UNTOUCHED in match[0]:
        return True
    words = scan.items[scan.at(range(*match.span()), Tag.EVERYTHING)[0]].words.lower()
    if (
        Tag.COLUMN in match[0]
        and Tag.NOT not in match[0]
        and not words.endswith((" but", " except"))
    ):
        return False
    scan.everything = True
    for place in scan.at(range(*match.span()), Tag.COLUMN):
        name = scan.column(place, *PARAMETERS)
        if name not in scan.keep:
            scan.keep.append(name)
    return True


def all_kept_but(scan: Scan, match: re.Match[str]) -> bool:
    """Keep everything but the layout: only that may change."""
    span = range(*match.span())
    words = scan.items[scan.at(span, Tag.EVERYTHING)[0]].words.lower()
    if Tag.NOT not in match[0] and not words.endswith((" but", " except")):
        return False
    for place in scan.at(span, Tag.COLUMN):
        name = scan.column(place, *PARAMETERS)
        if not scan.outcome(name) and name not in scan.asked:
            scan.asked.append(name)
    return True


def forgotten(scan: Scan, match: re.Match[str]) -> bool:
    """Forget the power limit; the runtime does not matter."""
    for place in scan.at(range(*match.span()), Tag.COLUMN):
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
    name = scan.column(scan.at(span, Tag.COLUMN)[0], *PARAMETERS)
    value: Value | None = scan.value(scan.at(span, Tag.VALUES)[-1], name)
    if value is None or scan.outcome(name):
        return False
    scan.equals.append(Equal(name, (whole(value),), match.start(), "s"))
    return True


def tried_before(scan: Scan, match: re.Match[str]) -> bool:
    """If the memory goes to 64 GiB will the latency change: the column behind is another."""
    behind = scan.column(match.end(), Role.OUTCOME)
    measured = scan.quantity(match.end() - 1).unit is not None or scan.outcome(behind)
    return measured and tried(scan, match)


def nothing(_scan: Scan, _match: re.Match[str]) -> bool:
    """Words that look like more than they say: keep it under that value."""
    return True


def single(scan: Scan, match: re.Match[str]) -> bool:
    """One epoch takes from 60 s to 2 min: the epoch is a noun here, not a number of epochs."""
    after = scan.at(range(match.end(), min(match.end() + 4, len(scan.tags))), Tag.NUMBER)
    timed = bool(after) and scan.quantity(after[0]).unit is not None
    return timed and scan.items[match.start()].words.lower() in {"one", "a", "each"}


def exchanged(scan: Scan, match: re.Match[str]) -> bool:
    """Replace 4 gpus by 8."""
    span = range(*match.span())
    verb = scan.items[scan.at(span, Tag.SET)[0]].words.lower()
    name = scan.column(scan.at(span, Tag.COLUMN)[0], *PARAMETERS)
    old, new = (scan.value(place, name) for place in scan.at(span, Tag.NUMBER))
    if old is None or new is None or scan.outcome(name) or not verb.startswith(_EXCHANGE):
        return False
    scan.stated[name] = old
    return scan.change(name, new, match.start())


def left_free(scan: Scan, match: re.Match[str]) -> bool:
    """Batch size and replicas are up to you: these are to be found."""
    if scan.items[match.end() - 1].words.lower() not in {"up to you", "you decide"}:
        return False
    names = [scan.column(p, *PARAMETERS) for p in scan.at(range(*match.span()), Tag.COLUMN)]
    if any(scan.outcome(name) for name in names):
        return False
    scan.asked.extend(name for name in names if name not in scan.asked)
    return True


def capped(scan: Scan, match: re.Match[str]) -> bool:
    """If I cap the clock at 1.8 GHz: a limit that is tried out is a value."""
    if scan.items[match.start()].words.lower() not in {"if", "when"}:
        return False
    span = range(*match.span())
    name = scan.column(scan.at(span, Tag.COLUMN)[0], *PARAMETERS)
    value = scan.value(match.end() - 1, name)
    verb = scan.items[match.start() + 1].words.lower()
    if value is None or scan.outcome(name) or not verb.startswith(("cap", "limit")):
        return False
    return scan.edit(name, set_to(value))


def another_value(scan: Scan, match: re.Match[str]) -> bool:
    """I tried 8 nodes. 16 should be quicker: another value of the column before."""
    asked = scan.items[match.start()].words.lower()
    if scan.tags[match.start()] == Tag.WHICH and asked not in {"what about", "how about", "what"}:
        return False
    end = scan.items[match.end()].words if match.end() < len(scan.items) else ""
    opens = scan.tags[: match.start()][-1:] in {".", ","}
    if not ("q" in scan.tags[match.end() : match.end() + 1] or (end == "?" and opens)):
        return False
    quantity = scan.quantity(scan.at(range(*match.span()), Tag.NUMBER)[0])
    fitting = [e for e in scan.equals if scan.number(quantity, e.column) is not None]
    if not fitting:
        return False
    last = fitting[-1]
    number = scan.number(quantity, last.column)
    if number is None or len(last.values) != 1 or last.negative:
        return False
    scan.equals.remove(last)
    scan.stated[last.column] = last.values[0]
    return scan.edit(last.column, set_to(number))


_VALUE = r"[VL]"
FIRST = (
    (r"V(?=[qaOwDdM]{0,2}(?:F|[mM]C)?[aqOw]?n)", count),
    (r"V(?=F)", count),
    (r"[so=]*V(?=C(?:[&,|]+C)*n)", count),
    (r"V(?=a[LCo])", count),
    (r"\^V", count),
    (r"kE[oiw]*!?C(?:[&,|]+C)*", all_kept_but),
    (r"[~]?E[oiwsa]*!?C(?:[&,|]+C)*", everything),
    (r"E[wi]*(?:[kZ][iz]*z|z[iz]*z|z)", everything),
    (r"kE(?![!CVL])", everything),
    (r"E[wi]*k(?![VLC])", everything),
    (r"E(?![ofB]+[VL]|[<>])", everything),
    (r"[dDR]C(?:[&,]+C)*K", nothing),
    (r"v[<io]*C(?:[&,]+C(?!~))*[<>]?(?![btfV%])", forgotten),
    (r"IC", replaced_outcome),
    (r"C(?:[&,|]+C)*[<>]?v", forgotten),
    (rf"[so=]*{_VALUE}C?,?I[pC]*{_VALUE}C?", instead),
    (rf"[so]*{_VALUE}CTo*{_VALUE}(?!C)", instead),
    (r"[so=]*<V,?I<?V", instead),
    (rf"[so=]*C[iso=tp]*{_VALUE},?I[po]*{_VALUE}", instead),
    (rf"[so=]*I{_VALUE}C?,?[so]*{_VALUE}C?", instead),
    (r"o?sLoL", replaced),
    (r"o?s*[CE@w]?fLtL", replaced),
    (r"o?LC?i*s[ob]L", replaced),
    (r"o?sVC[obt]V(?!C)", exchanged),
    (r"C(?:[&,|]+C)*i?E", left_free),
    (r"C?LtL", replaced),
    (r"o<C[itso=]*V", capped),
    (r"V[=is]*(?=q)|a?o?V(?=\.)", another_value),
    (r"[k]?@?[<>=]@", nothing),
    (r"VC(?=w?f?[B<>]*V)", single),
)
LAST = (
    (rf"sC[iop]*[t=i]{_VALUE}(?![Ct])", tried),
    (rf"C[is]*(?:[t=][st=]*|(?<=s)){_VALUE}(?![Ct])", tried),
    (r"[rRs]tVC", tried),
    (rf"C[is]*st{_VALUE}(?=C)", tried_before),
)
