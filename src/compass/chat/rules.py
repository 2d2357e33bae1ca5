"""Patterns that bound parameters: comparisons, ranges, labels, relations between columns."""

import re
from dataclasses import replace

from compass.chat.scan import PARAMETERS, Equal, Scan, whole
from compass.chat.words import Form, Quantity
from compass.domain.base import Value
from compass.domain.expression import Arithmetic, Comparison, Expression, Literal, Name
from compass.domain.goal import Within
from compass.domain.query import Kind
from compass.domain.space import Category, Number, Role


def _op(scan: Scan, place: int) -> str:
    tag, part = scan.tags[place], scan.items[place].part
    if tag in "{}":
        return "<=" if tag == "{" else ">="
    if tag in "<>":
        return tag if part is not None and part.strict else f"{tag}="
    return "=="


def per(scan: Scan, match: re.Match[str]) -> bool:
    """At most 4 gpus per node; cores exactly 32 per node."""
    span = range(*match.span())
    first, second = scan.at(span, "C")
    counted = scan.column(first, *PARAMETERS)
    each = scan.column(second, *PARAMETERS)
    number = scan.number(scan.quantity(scan.at(span, "V")[0]), counted)
    if number is None or counted == each or not isinstance(scan.parameter(each), Number):
        return False
    signs = scan.at(span, "<>={}")
    op = _op(scan, signs[0]) if signs else "<="
    scan.rule(Comparison(op, Name(counted), Arithmetic("*", Literal(whole(number)), Name(each))))
    return True


def than(scan: Scan, match: re.Match[str]) -> bool:
    """No more threads than cores; as many ranks as cores."""
    span = range(*match.span())
    first, second = (scan.column(p, *PARAMETERS) for p in scan.at(span, "C"))
    if first == second:
        return False
    if "A" in match[0]:
        signs = scan.at(span, "<>")
        op = _op(scan, signs[0]) if signs else "=="
    else:
        more = "D" in match[0]
        op = {(True, True): "<=", (True, False): ">", (False, True): ">=", (False, False): "<"}[
            more, "!" in match[0]
        ]
    return _related(scan, op, Name(first), Name(second))


def _related(scan: Scan, op: str, left: Expression, right: Expression) -> bool:
    scan.rule(Comparison(op, left, right))
    return True


def compared_columns(scan: Scan, match: re.Match[str]) -> bool:
    """Threads never above half of the cores; gpus = 2x the nodes."""
    span = range(*match.span())
    names = [scan.column(p, *PARAMETERS) for p in scan.at(span, "C")]
    numeric = all(isinstance(scan.parameter(name), Number) for name in names)
    if len(set(names)) != len(names) or not numeric:
        return False
    sign = scan.at(span, "<>=")[0]
    op = _op(scan, sign)
    if "!" in match[0] and op == "==":
        op = "!="
    factors = scan.at(span, "XH")
    right: Expression = Name(names[-1])
    if factors:
        value = whole(float(f"{scan.quantity(factors[0]).value:.12g}"))
        right = Arithmetic("*", Literal(value), right)
    return _related(scan, op, Name(names[0]), right)


def product(scan: Scan, match: re.Match[str]) -> bool:
    """P * Q * R == ppn * nodes; the product of the three equals nodes."""
    span = range(*match.span())
    sign = scan.at(span, "<>=")[0]
    left = [scan.column(p, *PARAMETERS) for p in scan.at(range(match.start(), sign), "C")]
    right = scan.at(range(sign, match.end()), "C")
    if not left:
        count = scan.at(range(match.start(), sign), "V")
        number = int(scan.quantity(count[0]).value) if count else 0
        places = [p for p in range(match.start()) if scan.tags[p] == "C"]
        named = dict.fromkeys(scan.column(p, *PARAMETERS) for p in places)
        left = [name for name in named if not scan.outcome(name)][: number or None]
    names = [scan.column(p, *PARAMETERS) for p in right]
    numbers = scan.at(range(sign, match.end()), "V")
    if not left or not (names or numbers):
        return False
    other: Expression
    if names:
        other = _times([Name(name) for name in names])
    else:
        other = Literal(whole(scan.quantity(numbers[0]).value))
    return _related(scan, _op(scan, sign), _times([Name(name) for name in left]), other)


def _times(factors: list[Name]) -> Expression:
    result: Expression = factors[0]
    for factor in factors[1:]:
        result = Arithmetic("*", result, factor)
    return result


def _on_scale(scan: Scan, quantity: Quantity, name: str) -> Quantity:
    """A percentage as the column counts it: 0.9 or 90."""
    parameter = scan.parameter(name)
    if quantity.form is not Form.SHARE or not isinstance(parameter, Number):
        return quantity
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
    if name is None or not isinstance(scan.parameter(name), Number):
        return False
    low = scan.number(_on_scale(scan, first, name), name)
    high = scan.number(_on_scale(scan, second, name), name)
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


def bounded(scan: Scan, match: re.Match[str]) -> bool:
    """At most 16 nodes; power under 300 W; 8 gpus or more; ppn min 8 max 24."""
    span = range(*match.span())
    numbers = scan.at(span, "V%H")
    signs = scan.at(span, "<>{}")
    columns = scan.at(span, "C")
    quantity = scan.quantity(numbers[0])
    if columns:
        name = scan.column(columns[0], *((Role.OUTCOME,) if quantity.unit else ()))
        fits = scan.number(_on_scale(scan, quantity, name), name) is not None
        if not fits and quantity.unit is not None:
            return False
    else:
        found = scan.of_unit(quantity, Role.OUTCOME) or scan.of_unit(quantity)
        if found is None:
            if quantity.unit is not None:
                scan.lost.append(scan.items[numbers[0]].words)
                return False
            if quantity.form is Form.NUMBER:
                scan.loose.append((_op(scan, signs[0]), match.start(), quantity))
            return True
        name = found
        scan.note(scan.items[numbers[0]].words, name)
    done = False
    for sign, number in zip(signs, numbers, strict=False):
        scaled = _on_scale(scan, scan.quantity(number), name)
        done = scan.bound(name, _op(scan, sign), scaled) or done
    if done:
        scan.last = name
    return done


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
    cue = next((t for t in match[0] if t in "s=~o"), "")
    before = scan.tags[: match.start()][-1:]
    if scan.outcome(name) and isinstance(scan.parameter(name), Category) and not negative:
        return scan.is_class(name, values[0], cue=cue or before)
    if scan.outcome(name) and isinstance(scan.parameter(name), Number):
        return False
    scan.equals.append(Equal(name, tuple(values), match.start(), cue or before, negative))
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
    cue = next((t for t in match[0] if t in "s=~o"), "") or scan.tags[: match.start()][-1:]
    if scan.outcome(first[0]) and not negative:
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
    if isinstance(parameter, Number):
        if "!" not in match[0] or parameter.low > 0 or parameter.role is Role.OUTCOME:
            return False
        scan.equals.append(Equal(name, (0,), match.start(), cue))
        return True
    on_value, off_value = _sides(parameter)
    value = off_value if off else on_value
    if value is None or (cue == "" and not off):
        return False
    scan.equals.append(Equal(name, (value[0],), match.start(), cue))
    return True


def _sides(category: Category) -> tuple[tuple[Value] | None, tuple[Value] | None]:
    """The labels of a switch that mean on and off, if it is a switch."""
    if len(category.values) != 2:
        return None, None
    sides: dict[bool, tuple[Value]] = {}
    for value in category.values:
        text = str(value).casefold()
        if text in {"true", "yes", "on", "1", "enabled", "1.0"}:
            sides[True] = (value,)
        elif text in {"false", "no", "off", "0", "disabled", "0.0", "none"}:
            sides[False] = (value,)
    return sides.get(True), sides.get(False)


_VALUES = r"V(?:[,|&]+V)*[|&]+V"
PATTERNS = (
    (r"[<>=~]?V[io]?CpC", per),
    (r"C[is]*[<>=]?i?V[io]*pC", per),
    (r"!?[Dd]CTC", than),
    (r"[<>]?ACiC", than),
    (r"PC(?:[&,]+C)*[is]*[<>=]i?(?:C(?:\*C)*|V)", product),
    (r"P[io]*V?[is]*[<>=]i?(?:C(?:\*C)*|V)", product),
    (r"C(?:\*C)+[is]*[<>=]i?(?:C(?:\*C)*|V)", product),
    (r"C[is]*[<>=]i?[XH]i?C", compared_columns),
    (r"C[is]*!?[<>]C(?![VL])", compared_columns),
    (r"C[is]*=[XH]?C(?![VL=i])", compared_columns),
    (r"[o=]?BV[&t]VC?(?!p)", between),
    (r"[ko]?C[wisko=f]*B?[V%][t][V%]", between),
    (r"[ko]?C[wisko=]*B[V%][t&][V%]", between),
    (r"f?V[t]V[io]?C", between),
    (r"f?VtV", between),
    (r"C[ikso=]*[<>]i?[V%](?:[&,]?[<>]i?[V%])?(?!C?p)", bounded),
    (r"[<>]i?VC(?!p)", bounded),
    (r"[<>][V%H][io]C", bounded),
    (r"V[io]?C[<>{}]", bounded),
    (r"<C[it=o]*[V]", bounded),
    (r"C[i=]?V[{}<>](?![VC])", bounded),
    (r"[<>]i?V(?!C)", bounded),
    (r"V[{}<>](?!C?V)", bounded),
    (r"[so]*!?~?(?:V[,|&]+)*V[|]V[io]?C", equals),
    (rf"[!~]?C[io=~s]*!?~?{_VALUES}(?!C)", equals),
    (r"[o!]?~?LC[i=]*N", labels),
    (r"L(?:[,|&]+L)*i?N", labels),
    (r"[~]?C[i=w]*~?!~?L(?:[,|&!]+L)*", labels),
    (r"[~]?C[i=o~]*L(?:[,|&~]+L)*", labels),
    (r"[so]*!?~?L(?:[,|&]*[!|]L|[,|&]+L)*C", labels),
    (r"[so]*!~?L(?:[,|&]*[!|&]L)*", labels),
    (r"[so]*~?L(?:[,|&]+L)+", labels),
    (r"[so=]*~?L", labels),
    (r"[so!]?[yY]C", switched),
    (r"C[is]*[yY]", switched),
    (r"[o!]C(?=[CV,&.]|$)", switched),
    (r"[!~]?C[ipks]*[=!~]+V(?!C)", equals),
    (r"[so=]*[!~=]?V[io]?C", equals),
    (r"C[i]*V(?!C)", equals),
)
