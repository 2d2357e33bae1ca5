"""Patterns that bound columns: at most 16 nodes, between 200 and 350 W, 3 percent or better."""

import math
import re
from dataclasses import replace

from compass.chat.english.items import ARROWS
from compass.chat.english.phrases import OR_BETTER
from compass.chat.english.relations import sign_of
from compass.chat.english.scan import Scan, whole
from compass.chat.english.tags import Tag
from compass.chat.english.unmatched import is_unknown
from compass.chat.english.words import QuantityForm, TextQuantity
from compass.domain.goal import Same, Within
from compass.domain.query import Kind
from compass.domain.space import Number, Role
from compass.prepare.names import words

_PERCENT = frozenset({"pct", "percent", "percentage", "share"})


def on_scale(scan: Scan, quantity: TextQuantity, name: str) -> TextQuantity:
    """A percentage as the column counts it: 0.9 or 90."""
    parameter = scan.parameter(name)
    if quantity.form is not QuantityForm.SHARE or not isinstance(parameter, Number):
        return quantity
    if parameter.high > 1.5 and not (_PERCENT & set(words(name)) or parameter.high <= 100):
        return TextQuantity(math.inf)
    scale = 1.0 if parameter.high <= 1.5 else 100.0
    return TextQuantity(float(f"{quantity.value * scale:.12g}"))


def between(scan: Scan, match: re.Match[str]) -> bool:
    """Between 4 and 8 nodes; power from 200 to 350 W."""
    span = range(*match.span())
    first, second = (scan.quantity(p) for p in scan.at(span, Tag.NUMBER_OR_SHARE)[:2])
    if first.unit is None and first.form is QuantityForm.NUMBER:
        first = replace(first, unit=second.unit, form=second.form)
        if second.form is QuantityForm.SHARE:
            first = replace(first, value=first.value / 100)
    columns = scan.at(span, Tag.COLUMN)
    name = scan.column(columns[0]) if columns else scan.of_unit(second)
    if name is None and not columns and Tag.BETWEEN in match[0]:
        name = _last_number(scan, match.start(), second)
    if name is not None and not columns:
        scan.note(scan.items[scan.at(span, Tag.NUMBER_OR_SHARE)[1]].words, name)
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


def _last_number(scan: Scan, start: int, quantity: TextQuantity) -> str | None:
    """What lr should I use? Between 1e-4 and 1e-2: the column that was named last."""
    places = scan.at(range(start), Tag.COLUMN)
    name = scan.column(places[-1]) if places else None
    return name if name is not None and scan.fits(quantity, name) else None


def _is_edit(scan: Scan, match: re.Match[str], name: str) -> bool:
    marks = {scan.items[place].words for place in scan.at(range(*match.span()), Tag.TO)}
    if marks & ARROWS and not scan.outcome(name):
        return True
    tried = scan.kind is Kind.WHAT_IF or (scan.kind is Kind.RECONFIGURE and Tag.FROM in match[0])
    return tried and Tag.BETWEEN not in match[0] and not scan.outcome(name)


def _is_tolerance(scan: Scan, quantity: TextQuantity, name: str, sign: int) -> bool:
    """Within 5 % of what it was."""
    share = quantity.form is QuantityForm.SHARE and 0 < quantity.value < 1
    within = scan.items[sign].words.lower().endswith("within")
    return share and within and scan.outcome(name) and not (_PERCENT & set(words(name)))


def bounded(scan: Scan, match: re.Match[str]) -> bool:
    """At most 16 nodes; power under 300 W; 8 gpus or more; ppn min 8 max 24."""
    span = range(*match.span())
    numbers = scan.at(span, Tag.AMOUNTS)
    signs = scan.at(span, Tag.SIGNS + Tag.LESS + Tag.MORE)
    columns = scan.at(span, Tag.COLUMN)
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
            return _without_column(scan, match, numbers[0], sign_of(scan, signs[0]))
        name = found
        scan.note(scan.items[numbers[0]].words, name)
    done = False
    for sign, number in zip(signs, numbers, strict=False):
        scaled = on_scale(scan, scan.quantity(number), name)
        op = sign_of(scan, sign)
        if scan.items[sign].words.lower() in OR_BETTER:
            op = ">=" if scan.better(name) == "maximize" else "<="
        if match[0].startswith("!"):
            op = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
        scan.last_op = op
        done = _asked(scan, name, sign) or scan.bound(name, op, scaled) or done
    if done:
        scan.last = name
    return done


def _without_column(scan: Scan, match: re.Match[str], number: int, op: str) -> bool:
    """A bound on what was bounded last; not if an unknown noun follows: at most 4 widgets."""
    quantity, item = scan.quantity(number), scan.items[number]
    if quantity.unit is not None:
        scan.unused_words.append(item.words)
        return False
    after = scan.items[match.end()] if match.end() < len(scan.items) else None
    noun = after is not None and after.tag == Tag.WORD and after.start == item.end
    subject = len(scan.tags[: match.start()].rstrip("i")) - 1
    if subject >= 0 and scan.tags[subject] == Tag.WORD and is_unknown(scan, subject):
        # Colour < 3 says nothing about the column that was bounded last.
        scan.unused_words.append(scan.verbatim(subject, match.end()))
        return True
    if quantity.form is QuantityForm.NUMBER:
        last = None if noun else scan.last
        if noun and scan.last is not None and after is not None:
            scan.unused_words.append(f"{item.words} {after.words}")
        elif last is None or not scan.bound(last, op, quantity):
            scan.loose.append((op, match.start(), quantity))
    return True


def _asked(scan: Scan, name: str, sign: int) -> bool:
    """Will the power exceed 3 kW?: a question about the power, not a bound on it."""
    question = scan.is_question(sign)
    verb = scan.items[sign].words.lower().startswith(("exceed", "go "))
    if not (question and verb and scan.kind is Kind.WHAT_IF and scan.outcome(name)):
        return False
    scan.observed.append(name)
    return True


def _named_near(scan: Scan, start: int, quantity: TextQuantity) -> str | None:
    """The column of a quantity: one of its unit that was just named, else by the unit alone."""
    if quantity.unit is None:
        return None
    for place in range(start - 1, max(start - 6, -1), -1):
        if scan.tags[place] in Tag.NUMBER + Tag.END:
            break
        if scan.tags[place] == Tag.COLUMN and place not in scan.used:
            name = scan.column(place, Role.OUTCOME)
            if scan.outcome(name) and scan.fits(quantity, name, wide=2.0):
                scan.used.add(place)
                return name
    return scan.of_unit(quantity, Role.OUTCOME) or scan.of_unit(quantity)


def about(scan: Scan, name: str, quantity: TextQuantity, places: list[int]) -> bool:
    """A number for an outcome: a bound like the one before, else on the side that is worse."""
    if scan.kind is Kind.WHAT_IF or len(places) != 1:
        return False
    if scan.tags[: places[0]].endswith("g"):
        scan.current = (name, quantity)
        return True
    scan.ambiguous = (name, quantity)
    before = scan.items[places[0] - 1].words.lower() if places[0] else ""
    if before in {"was", "were"}:
        scan.current = scan.ambiguous
        return True
    worse = "<=" if scan.better(name) == "minimize" else ">="
    return scan.bound(name, scan.last_op or worse, quantity)


def not_beyond(scan: Scan, match: re.Match[str]) -> bool:
    """Without raising the power above 140 W: at most that."""
    span = range(*match.span())
    name = scan.column(scan.at(span, Tag.COLUMN)[0], Role.OUTCOME)
    sign = scan.at(span, Tag.BOUNDS)[0]
    quantity = on_scale(scan, scan.quantity(scan.at(span, Tag.NUMBER_OR_SHARE)[0]), name)
    return scan.bound(name, "<=" if scan.tags[sign] == Tag.AT_LEAST else ">=", quantity)


FIRST = (
    (r"!?[dD]CTV", bounded),
    (r"[Z!][is]*C[ikso=]*[<>]i?[V%]", not_beyond),
)
PATTERNS = (
    (r"[o=]?BV[&t]VC?(?!p)", between),
    (r"[ko]?C[wisko=f]*E?[fB]?[V%][t][V%]", between),
    (r"[ko]?C[wisko=]*B[V%][t&][V%]", between),
    (r"f?V[t]V[io]?C", between),
    (r"f?VtV", between),
    (r"!?C[iksot=]*[<>]i?[V%](?:[&,]?[<>]i?[V%](?!i?C))?(?!C?p)", bounded),
    (r"[<>]i?[V%]C(?!p)", bounded),
    (r"[<>][V%H][io]C", bounded),
    (r"V[io]?Ci?(?:[{}]|[<>](?!i?[V%]))", bounded),
    (r"<C[it=o]*[V]", bounded),
    (r"C[i=]*[V%]i?[{}<>](?![VC])", bounded),
    (r"[<>]i?V(?!C)", bounded),
    (r"V[{}<>](?!C?V)", bounded),
)
