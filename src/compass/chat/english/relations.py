"""Patterns that relate columns: at most 4 gpus per node, no more threads than cores."""

import re

from compass.chat.english.scan import PARAMETERS, Scan, whole
from compass.chat.english.tags import Tag
from compass.chat.english.words import TextQuantity
from compass.domain.expression import Arithmetic, Call, Comparison, Expression, Literal, Name
from compass.domain.space import Number


def sign_of(scan: Scan, place: int) -> str:
    """The comparison that the words at a place mean."""
    tag, part = scan.tags[place], scan.items[place].phrase
    if tag in Tag.OR_LESS + Tag.OR_MORE:
        return "<=" if tag == Tag.OR_LESS else ">="
    if tag in Tag.LESS + Tag.MORE:
        return "<" if tag == Tag.LESS else ">"
    if tag in Tag.BOUNDS:
        return tag if part is not None and part.strict else f"{tag}="
    return "=="


def per(scan: Scan, match: re.Match[str]) -> bool:
    """At most 4 gpus per node; cores exactly 32 per node."""
    span = range(*match.span())
    columns = scan.at(span, Tag.COLUMN)
    quantity = scan.quantity(scan.at(span, Tag.NUMBER)[0])
    each = scan.column(columns[-1], *PARAMETERS)
    if len(columns) > 1:
        counted = scan.column(columns[0], *PARAMETERS)
    else:
        counted = scan.of_unit(quantity, *PARAMETERS) or _named_before(scan, match.start(), each)
    number = scan.number(quantity, counted)
    if number is None or counted == each or not isinstance(scan.parameter(each), Number):
        return False
    signs = scan.at(span, Tag.SIGNS) or scan.at(span, Tag.EQUALS)
    op = sign_of(scan, signs[0]) if signs else "<="
    scan.rule(Comparison(op, Name(counted), Arithmetic("*", Literal(whole(number)), Name(each))))
    return True


def _named_before(scan: Scan, start: int, each: str) -> str:
    """Max 8 gpus and max 2 per node: what was counted last."""
    for place in range(start - 1, -1, -1):
        if scan.tags[place] == Tag.COLUMN:
            name = scan.column(place, *PARAMETERS)
            number = isinstance(scan.parameter(name), Number)
            return name if number and not scan.outcome(name) else each
    return each


def sum_of(scan: Scan, match: re.Match[str]) -> bool:
    """Threads plus 8 may not exceed the cores; cpu power + memory power under 500 W."""
    span = range(*match.span())
    sign = scan.at(span, Tag.BOUNDS + Tag.EQUALS)[-1]
    places = scan.at(range(match.start(), sign), Tag.COLUMN + Tag.NUMBER)
    marks = [
        scan.items[p].words.lower()
        for p in scan.at(range(match.start(), sign), Tag.AND + Tag.ADD + Tag.REMOVE)
    ]
    if not set(marks) <= {"+", "plus", "minus", "-"}:
        return False
    names = [scan.column(p) for p in scan.at(span, Tag.COLUMN)]
    if not all(isinstance(scan.parameter(name), Number) for name in names):
        return False
    terms = [_term(scan, place, names[0]) for place in places]
    last = scan.at(range(sign, match.end()), Tag.COLUMN + Tag.NUMBER)[-1]
    right = _term(scan, last, names[0])
    left = terms[0]
    for mark, term in zip(marks, terms[1:], strict=True):
        if term is None or left is None:
            return False
        left = Arithmetic("-" if mark in {"minus", "-"} else "+", left, term)
    if left is None or right is None:
        return False
    return _related(scan, sign_of(scan, sign), left, right)


def _term(scan: Scan, place: int, unit_of: str) -> Expression | None:
    """A column or a number as a part of a sum, in the unit of a column."""
    if scan.tags[place] == Tag.COLUMN:
        return _in_unit_of(scan, unit_of, scan.column(place))
    number = scan.number(scan.quantity(place), unit_of)
    return None if number is None else Literal(whole(number))


def than(scan: Scan, match: re.Match[str]) -> bool:
    """No more threads than cores; as many ranks as cores."""
    span = range(*match.span())
    first, second = (scan.column(p, *PARAMETERS) for p in scan.at(span, Tag.COLUMN))
    if first == second:
        return False
    if Tag.AS_MANY in match[0]:
        signs = scan.at(span, Tag.BOUNDS)
        op = sign_of(scan, signs[0]) if signs else "=="
    else:
        more = Tag.MORE in match[0]
        op = {(True, True): "<=", (True, False): ">", (False, True): ">=", (False, False): "<"}[
            more, Tag.NOT in match[0]
        ]
    return _related(scan, op, Name(first), _in_unit_of(scan, first, second))


def _related(scan: Scan, op: str, left: Expression, right: Expression) -> bool:
    scan.rule(Comparison(op, left, right))
    return True


def compared_columns(scan: Scan, match: re.Match[str]) -> bool:
    """Threads never above half of the cores; gpus = 2x the nodes."""
    span = range(*match.span())
    names = [scan.column(p, *PARAMETERS) for p in scan.at(span, Tag.COLUMN)]
    numeric = all(isinstance(scan.parameter(name), Number) for name in names)
    if len(set(names)) != len(names) or not numeric:
        return False
    signs = scan.at(span, Tag.SIGNS) or scan.at(span, Tag.EQUALS)
    op = sign_of(scan, signs[0]) if signs else "=="
    if Tag.NOT in match[0] and op == "==":
        op = "!="
    factors = scan.at(span, Tag.FACTOR + Tag.FRACTION)
    parted = scan.at(span, Tag.DIVIDED_BY)
    right: Expression = Name(names[-1])
    if factors:
        value = whole(float(f"{scan.quantity(factors[0]).value:.12g}"))
        right = Arithmetic("*", Literal(value), _in_unit_of(scan, names[0], names[-1]))
    else:
        right = _in_unit_of(scan, names[0], names[-1])
    if parted:
        number = scan.quantity(parted[0] + 1).value
        right = Arithmetic("/", right, Literal(whole(number))) if number > 0 else right
    return _related(scan, op, Name(names[0]), right)


def _in_unit_of(scan: Scan, first: str, second: str) -> Expression:
    """The second column in the unit of the first: a limit in minutes, a time in seconds."""
    one_column, other = scan.parameter(first), scan.parameter(second)
    if not isinstance(one_column, Number) or not isinstance(other, Number):
        return Name(second)
    if one_column.unit is None or other.unit is None or one_column.unit == other.unit:
        return Name(second)
    one = scan.number(TextQuantity(1.0, unit=other.unit), first)
    if one is None:
        return Name(second)
    if one < 1:
        return Arithmetic("/", Name(second), Literal(whole(float(f"{1 / one:.9g}"))))
    return Arithmetic("*", Literal(whole(one)), Name(second))


def product(scan: Scan, match: re.Match[str]) -> bool:
    """P * Q * R == ppn * nodes; the product of the three equals nodes."""
    span = range(*match.span())
    sign = (scan.at(span, Tag.BOUNDS) or scan.at(span, Tag.EQUALS))[0]
    start = match.start() + match[0].startswith("CC")  # the processes (nodes x ranks): a name
    left = [scan.column(p, *PARAMETERS) for p in scan.at(range(start, sign), Tag.COLUMN)]
    right = scan.at(range(sign, match.end()), Tag.COLUMN)
    if not left:
        count = scan.at(range(match.start(), sign), Tag.NUMBER)
        number = int(scan.quantity(count[0]).value) if count else 0
        places = [p for p in range(match.start()) if scan.tags[p] == Tag.COLUMN]
        named = dict.fromkeys(scan.column(p, *PARAMETERS) for p in places)
        left = [name for name in named if not scan.outcome(name)][: number or None]
    names = [scan.column(p, *PARAMETERS) for p in right]
    numbers = scan.at(range(sign, match.end()), Tag.NUMBER)
    if not left or not (names or numbers):
        return False
    other: Expression
    if names:
        other = _times([Name(name) for name in names])
    else:
        other = Literal(whole(scan.quantity(numbers[0]).value))
    return _related(scan, sign_of(scan, sign), _times([Name(name) for name in left]), other)


def _times(factors: list[Name]) -> Expression:
    result: Expression = factors[0]
    for factor in factors[1:]:
        result = Arithmetic("*", result, factor)
    return result


def multiple(scan: Scan, match: re.Match[str]) -> bool:
    """Threads must be a multiple of 4."""
    span = range(*match.span())
    columns, numbers = scan.at(span, Tag.COLUMN), scan.at(span, Tag.NUMBER)
    name = scan.column(columns[0], *PARAMETERS)
    divisor: Expression
    if numbers:
        number = scan.number(scan.quantity(numbers[0]), name)
        if not number or number <= 0:
            return False
        divisor = Literal(whole(number))
    else:
        other = scan.column(columns[1], *PARAMETERS)
        numeric = all(isinstance(scan.parameter(each), Number) for each in (name, other))
        if other == name or not numeric:
            return False
        divisor = Name(other)
    rest = Arithmetic("%", Name(name), divisor)
    return _related(scan, "!=" if Tag.NOT in match[0] else "==", rest, Literal(0))


def power_of_two(scan: Scan, match: re.Match[str]) -> bool:
    """Threads must be a power of two."""
    name = scan.column(match.start(), *PARAMETERS)
    parameter = scan.parameter(name)
    if not isinstance(parameter, Number) or parameter.low <= 0:
        return False
    exponent = Call("log2", (Name(name),))
    return _related(scan, "==", exponent, Call("floor", (exponent,)))


PATTERNS = (
    (r"[so]*[<>=~]?V[io]?CpC(?:[{}]|[<>](?!i?[V%]))?", per),
    (r"C[is=]*(?:[<>][i=]*)?V[io]*pC", per),
    (r"[so]*[<>=~]?VpC", per),
    (r"CpC[is=]*(?:[<>][i=]*)?V", per),
    (r"!?[Dd]CTC", than),
    (r"[<>]?ACiC", than),
    (r"PC(?:[&,]+C)*[is]*[<>=]i?(?:C(?:\*C)*|V)", product),
    (r"P[io]*(?:[Vs][is]*)?[<>=]i?(?:C(?:\*C)*|V)", product),
    (r"C?C(?:\*C)+[is=t]*[<>=]i?(?:C(?:\*C)*|V)", product),
    (r"C[is=]*[<>=]i?C(?:\*C)+", product),
    (r"C(?:[&+-][CV])+[is=t]*[<>=]i?[CV]", sum_of),
    (r"C[is=]*(?:[<>][i=]*)?[XH]i?C[{}]?", compared_columns),
    (r"C[is=]*[<>=]CuV", compared_columns),
    (r"C[is=]*!?[<>]C(?![VL])", compared_columns),
    (r"C[is]*=[XH]?C(?![VL=i])", compared_columns),
    (r"C[iks=]*!?/[VC]", multiple),
    (r"C[iks=]*2", power_of_two),
)
