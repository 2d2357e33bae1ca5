"""Patterns that say what outcomes should become."""

import re

from compass.chat.scan import PARAMETERS, Direction, Scan, whole
from compass.chat.synonyms import ACCURACY, COST, ENERGY, PERFORMANCE, POWER, TIME
from compass.chat.words import Form, Quantity
from compass.domain.goal import Change, Extreme, Reach, Same, Within
from compass.domain.query import Kind, Plus, Times
from compass.domain.space import Role

# What an adjective speaks of: the outcomes to look for, in this order, and which way is meant.
_ABOUT: dict[str, tuple[tuple[frozenset[str], Direction], ...]] = {
    "fast": ((TIME, "minimize"), (PERFORMANCE, "maximize")),
    "slow": ((TIME, "maximize"), (PERFORMANCE, "minimize")),
    "cheap": ((COST, "minimize"), (ENERGY, "minimize"), (POWER, "minimize"), (TIME, "minimize")),
    "green": ((ENERGY, "minimize"), (POWER, "minimize")),
    "strong": ((PERFORMANCE, "maximize"), (TIME, "minimize")),
    "accurate": ((ACCURACY, "maximize"),),
    "short": ((TIME, "minimize"),),
}


def meant(scan: Scan, concept: str) -> tuple[str, Direction] | None:
    """The outcome that an adjective speaks of on this table, and the direction."""
    for words, direction in _ABOUT[concept]:
        found = scan.index.about(words)
        if found:
            return found[0], direction
    return None


def _concept(scan: Scan, place: int) -> tuple[str, Direction] | None:
    part = scan.items[place].part
    found = meant(scan, part.concept) if part is not None and part.concept else None
    if found is not None:
        scan.note(scan.items[place].words, found[0])
    return found


def _columns(scan: Scan, match: re.Match[str], *roles: Role) -> list[str]:
    return [scan.column(p, *roles) for p in scan.at(range(*match.span()), "C")]


def extreme(scan: Scan, match: re.Match[str]) -> bool:
    """Minimise a and b; the lowest c; d as high as possible."""
    place = scan.at(range(*match.span()), "mMO")[0]
    names = _columns(scan, match, Role.OUTCOME)
    numbers = [name for name in names if scan.parameter(name).kind == "number"]
    if not numbers:
        return False
    if scan.tags[place] == "O" and not any(scan.outcome(name) for name in numbers):
        return False
    for name in numbers:
        direction: Direction = "minimize" if scan.tags[place] == "m" else "maximize"
        scan.goal(
            name,
            Extreme(direction=scan.better(name) if scan.tags[place] == "O" else direction),
        )
    return True


def named_extreme(scan: Scan, match: re.Match[str]) -> bool:
    """The fastest; as cheap as possible."""
    found = _concept(scan, match.start())
    if found is None:
        return False
    scan.goal(found[0], Extreme(direction=found[1]))
    return True


def compared(scan: Scan, match: re.Match[str]) -> bool:
    """20 % faster; twice as fast; faster."""
    place = scan.at(range(*match.span()), "q")[0]
    found = _concept(scan, place)
    if found is None:
        return False
    name, direction = found
    amounts = scan.at(range(*match.span()), "V%HXx")
    if not amounts:
        if scan.kind is Kind.WHAT_IF:
            scan.observed.append(name)
        else:
            scan.goal(name, Extreme(direction=direction))
        return True
    quantity = scan.quantity(amounts[0])
    if scan.tags[amounts[0]] in "Xx":
        factor = quantity.value
        if factor <= 0 or factor == 1:
            return False
        share = 1 - 1 / factor if direction == "minimize" else factor - 1
        scan.goal(name, _change(direction, abs(share)))
        return True
    return _by(scan, name, quantity, 1 if direction == "maximize" else -1)


def _change(direction: Direction, share: float) -> Change:
    way = "reduce" if direction == "minimize" else "increase"
    return Change(direction=way, by=float(f"{share:.12g}"))


def _by(scan: Scan, name: str, quantity: Quantity, sign: int) -> bool:
    """A column less or more by an amount: a goal for an outcome, an edit for a parameter."""
    if quantity.form is Form.FACTOR:
        return False
    relative = quantity.form in {Form.SHARE, Form.FRACTION}
    amount: float | None = quantity.value if relative else scan.number(quantity, name)
    if amount is None or amount <= 0 or scan.parameter(name).kind != "number":
        return False
    if scan.outcome(name):
        way = "reduce" if sign < 0 else "increase"
        scan.goal(name, Change(direction=way, by=amount, relative=relative))
        return True
    if relative:
        return scan.edit(name, Times(factor=float(f"{1 + sign * amount:.12g}")))
    return scan.edit(name, Plus(amount=whole(sign * amount)))


def by_amount(scan: Scan, match: re.Match[str]) -> bool:
    """Reduce a by 10 %; 20 % less b; c down by 5; two more nodes."""
    span = range(*match.span())
    verb = scan.at(span, "rRdD+-O")[0]
    amounts = scan.at(span, "V%H")
    roles = (Role.OUTCOME,) if scan.kind is not Kind.WHAT_IF else PARAMETERS
    if scan.tags[verb] in "+-":
        roles = PARAMETERS
    names = [scan.column(p, *roles) for p in scan.at(span, "C")]
    done = False
    for name in names:
        if scan.tags[verb] == "O":
            sign = 1 if scan.better(name) == "maximize" else -1
        else:
            sign = 1 if scan.tags[verb] in "RD+" else -1
        done = _by(scan, name, scan.quantity(amounts[0]), sign) or done
    return done


def by_unit(scan: Scan, match: re.Match[str]) -> bool:
    """Save 20 kJ: the unit tells the outcome."""
    span = range(*match.span())
    quantity = scan.quantity(scan.at(span, "V")[0])
    name = scan.of_unit(quantity, Role.OUTCOME)
    verb = scan.tags[scan.at(span, "rRdD")[0]]
    return name is not None and _by(scan, name, quantity, 1 if verb in "RD" else -1)


def factor(scan: Scan, match: re.Match[str]) -> bool:
    """Double the nodes; half the runtime; three times as many threads."""
    span = range(*match.span())
    value = scan.quantity(scan.at(span, "xXH")[0]).value
    names = [scan.column(p, *PARAMETERS) for p in scan.at(span, "C")]
    done = False
    for name in names:
        if value <= 0 or value == 1 or scan.parameter(name).kind != "number":
            continue
        if scan.outcome(name):
            scan.goal(name, _change("maximize" if value > 1 else "minimize", abs(value - 1)))
            done = True
        else:
            done = scan.edit(name, Times(factor=float(f"{value:.12g}"))) or done
    return done


def moved(scan: Scan, match: re.Match[str]) -> bool:
    """Get a down to 100 s; reduce nodes to 4; raise b from 10 to 20."""
    span = range(*match.span())
    verbs = scan.at(span, "rRdD")
    name = scan.column(scan.at(span, "C")[0], *(() if verbs else PARAMETERS))
    values = scan.at(span, "VL")
    if scan.outcome(name) and "f" in match[0] and not verbs:
        return False
    new = scan.value(values[-1], name)
    old = scan.value(values[0], name) if len(values) > 1 else None
    if new is None:
        return False
    if old is not None:
        scan.stated[name] = old
    if not scan.outcome(name):
        return scan.change(name, new)
    if isinstance(new, str | bool) or scan.parameter(name).kind != "number":
        return scan.is_class(name, new)
    if len(values) > 1 or not verbs:
        scan.goal(name, Reach(value=float(new)))
        return True
    down = scan.tags[verbs[0]] in "rd"
    scan.goal(name, Within(high=float(new)) if down else Within(low=float(new)))
    return True


def reduced(scan: Scan, match: re.Match[str]) -> bool:
    """Reduce the power, without saying by how much."""
    span = range(*match.span())
    verb = scan.tags[scan.at(span, "rRdD")[0]]
    names = [scan.column(p, Role.OUTCOME) for p in scan.at(span, "C")]
    done = False
    for name in names:
        if scan.outcome(name) and scan.parameter(name).kind == "number":
            if scan.kind is Kind.WHAT_IF:
                scan.observed.append(name)
            else:
                scan.goal(name, Extreme(direction="minimize" if verb in "rd" else "maximize"))
            done = True
    return done


def unchanged(scan: Scan, match: re.Match[str]) -> bool:
    """Keep a and b the same; without touching c; the same d."""
    span = range(*match.span())
    shares = scan.at(span, "%")
    for place in scan.at(span, "C"):
        name = scan.column(place)
        if scan.outcome(name):
            tolerance = scan.quantity(shares[0]).value if shares else None
            scan.goals[name] = Same(tolerance=tolerance if tolerance else None)
        elif name not in scan.keep:
            scan.keep.append(name)
    return True


_LIST = r"C(?:[&,|]+C)*"
PATTERNS = (
    (r"[kO]?o?F", named_extreme),
    (rf"k?(?:{_LIST})i?k?i?z(?:<%)?", unchanged),
    (rf"(?:k|Z)z?(?:{_LIST})z?(?:[o]?z|i?<%)", unchanged),
    (rf"z(?:{_LIST})", unchanged),
    (rf"Z(?:{_LIST})", unchanged),
    (rf"(?:{_LIST})i?Z", unchanged),
    (rf"k(?:{_LIST})(?![i=<>~!oBVLtmM])", unchanged),
    (rf"(?:{_LIST})k(?=[,.&]|$)", unchanged),
    (r"[b<>]*[%HVX]i?q", compared),
    (r"xi?q|Xi?q", compared),
    (r"q@?C?b[<>]?[%H]", compared),
    (r"[<>]?[%H]D?q", compared),
    (rf"[rRO+-]i?(?:{_LIST})[rR]?b[<>]?[V%H]", by_amount),
    (rf"[rRO]i?(?:{_LIST})[<>]?[%H]", by_amount),
    (rf"(?:{_LIST})[is]?[rRdDO]b?[<>]?[%H]", by_amount),
    (rf"(?:{_LIST})[is]?[rRdDO]b[<>]?V", by_amount),
    (rf"[<>]?[V%H][rRdDO][io]*(?:{_LIST})", by_amount),
    (rf"[<>]?[%H]i?(?:{_LIST})[rRdO]", by_amount),
    (rf"(?:{_LIST})i?b?[V%H][dDrR]", by_amount),
    (rf"[rR][<>]?[V%H][oiwr]*(?:{_LIST})", by_amount),
    (rf"[+-]D?VD?(?:{_LIST})", by_amount),
    (r"[rR]b?[<>]?V(?!C)|V[dD]", by_unit),
    (rf"x(?:{_LIST})", factor),
    (rf"(?:{_LIST})[is]*x", factor),
    (rf"X[Ddi]*(?:{_LIST})", factor),
    (rf"Hi?o?(?:{_LIST})", factor),
    (r"[rRs]*C[rRs]*f[VL]C?t[VL]", moved),
    (r"[rRsdD]C[rRs]*t[<>]?[VL](?!t)", moved),
    (r"C[rR]t[<>]?V", moved),
    (r"[rRs]tVC", moved),
    (r"s*f[VL]t[VL]C", moved),
    (r"s*f[VL]Ct[VL]C?", moved),
    (rf"[mMO](?:[io]|{'w'})?(?:{_LIST})", extreme),
    (rf"(?:{_LIST})[iks=]*[mM](?![io]*C)", extreme),
    (rf"[rRdD](?:{_LIST})", reduced),
    (rf"(?:{_LIST})[is]*[rRdD]", reduced),
    (r"q", compared),
)
