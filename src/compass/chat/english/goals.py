"""Patterns that say what outcomes should become."""

import re
from typing import Literal as OneOf

from compass.chat.english.lists import columns_until
from compass.chat.english.scan import PARAMETERS, Direction, Scan, whole
from compass.chat.english.synonyms import ACCURACY, COST, ENERGY, PERFORMANCE, POWER, TIME, WAITING
from compass.chat.english.tags import Tag
from compass.chat.english.words import QuantityForm, TextQuantity
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
    "long": ((TIME, "minimize"),),
    "wait": ((WAITING, "minimize"), (TIME, "minimize")),
}


def meant(scan: Scan, concept: str) -> tuple[str, Direction] | None:
    """The outcome that an adjective speaks of on this table, and the direction."""
    for words, direction in _ABOUT[concept]:
        found = scan.index.about(words)
        if found:
            return found[0], direction
    return None


def concept_at(scan: Scan, place: int) -> tuple[str, Direction] | None:
    """The outcome and direction of the adjective at a place; the mapping is noted."""
    part = scan.items[place].phrase
    found = meant(scan, part.concept) if part is not None and part.concept else None
    if found is not None:
        scan.note(scan.items[place].words, found[0])
    return found


def _alike(scan: Scan, match: re.Match[str], *roles: Role) -> tuple[list[str], int]:
    """The columns of a list up to the first of another kind than the first, and where it ends."""
    places = scan.at(range(*match.span()), Tag.COLUMN)
    names = [scan.column(place, *roles) for place in places]
    for number in range(1, len(names)):
        if scan.outcome(names[number]) != scan.outcome(names[0]):
            trailing = places[-1] == match.end() - 1
            return names[:number], places[number - 1] + 1 if trailing else match.end()
    return names, match.end()


def extreme(scan: Scan, match: re.Match[str]) -> int:
    """Minimise a and b; the lowest c; d as high as possible."""
    place = scan.at(range(*match.span()), Tag.MINIMIZE + Tag.MAXIMIZE + Tag.OPTIMIZE)[0]
    names, end = _alike(scan, match, Role.OUTCOME)
    numbers = [name for name in names if scan.parameter(name).kind == "number"]
    last = scan.at(range(*match.span()), Tag.COLUMN)[-1]
    behind = place > last and scan.outcome(scan.column(last, Role.OUTCOME))
    if not numbers or (behind and not scan.outcome(names[0])):
        return False  # tell me omp, wallclock as low as possible: only the outcome is to be low
    if scan.tags[place] == Tag.OPTIMIZE and not any(scan.outcome(name) for name in numbers):
        return False
    for name in numbers:
        direction: Direction = "minimize" if scan.tags[place] == Tag.MINIMIZE else "maximize"
        scan.goal(
            name,
            Extreme(direction=scan.better(name) if scan.tags[place] == Tag.OPTIMIZE else direction),
        )
    return end


def named_extreme(scan: Scan, match: re.Match[str]) -> bool:
    """The fastest; as cheap as possible."""
    found = concept_at(scan, match.start())
    if found is None:
        return False
    scan.goal(found[0], Extreme(direction=found[1]))
    return True


def compared(scan: Scan, match: re.Match[str]) -> bool:
    """20 % faster; twice as fast; faster."""
    place = scan.at(range(*match.span()), Tag.COMPARATIVE)[0]
    found = concept_at(scan, place)
    if found is None:
        return False
    name, direction = found
    amounts = scan.at(range(*match.span()), Tag.AMOUNTS + Tag.FACTOR + Tag.MULTIPLY)
    part_said = scan.items[place].phrase
    if part_said is not None and part_said.concept == "long":
        if not _times_behind(scan, match.end()):
            scan.observed.append(name)
        return scan.kind is Kind.WHAT_IF
    if not amounts:
        if scan.kind is Kind.WHAT_IF:
            scan.observed.append(name)
        elif part_said is None or part_said.concept != "slow":  # nobody asks for slow runs
            scan.goal(name, Extreme(direction=direction))
        return True
    quantity = scan.quantity(amounts[0])
    if scan.tags[amounts[0]] in Tag.FACTOR + Tag.MULTIPLY:
        factor = quantity.value
        if factor <= 0 or factor == 1:
            return False
        share = 1 - 1 / factor if direction == "minimize" else factor - 1
        scan.goal(name, change_by(direction, abs(share)))
        return True
    sign = 1 if direction == "maximize" else -1
    return _spared(scan, match, name, sign) or by(scan, name, quantity, sign)


def _times_behind(scan: Scan, end: int) -> bool:
    """How long would bob wait: the time that is meant is named behind."""
    stop = scan.tags.find(Tag.END, end)
    places = scan.at(range(end, stop if stop >= 0 else len(scan.tags)), Tag.COLUMN)
    names = [scan.column(place, Role.OUTCOME) for place in places]
    return any(scan.index.stems[n] & (TIME | WAITING) for n in names if scan.outcome(n))


def change_by(direction: Direction, share: float) -> Change:
    """An outcome less or more by a share of what it is."""
    way = "reduce" if direction == "minimize" else "increase"
    return Change(direction=way, by=float(f"{share:.4g}"))


def by(scan: Scan, name: str, quantity: TextQuantity, sign: int) -> bool:
    """A column less or more by an amount: a goal for an outcome, an edit for a parameter."""
    if quantity.form is QuantityForm.FACTOR:
        return False
    relative = quantity.form in {QuantityForm.SHARE, QuantityForm.FRACTION}
    amount: float | None = quantity.value if relative else scan.number(quantity, name)
    if amount is None or amount <= 0 or scan.parameter(name).kind != "number":
        return False
    scan.sign = sign
    if scan.outcome(name):
        way = "reduce" if sign < 0 else "increase"
        scan.goal(name, Change(direction=way, by=amount, relative=relative))
        return True
    if relative:
        return scan.edit(name, Times(factor=float(f"{1 + sign * amount:.12g}")))
    return scan.edit(name, Plus(amount=whole(sign * amount)))


def by_amount(scan: Scan, match: re.Match[str]) -> int:
    """Reduce a by 10 %; 20 % less b; c down by 5; two more nodes."""
    span = range(*match.span())
    verb = scan.at(span, Tag.MOVES + Tag.ADD + Tag.REMOVE + Tag.OPTIMIZE)[0]
    amounts = scan.at(span, Tag.AMOUNTS)
    roles = (Role.OUTCOME,) if scan.kind is not Kind.WHAT_IF else PARAMETERS
    if scan.tags[verb] in Tag.ADD + Tag.REMOVE:
        roles = PARAMETERS
    names, end = _alike(scan, match, *roles) if Tag.COLUMN in match[0] else ([], match.end())
    if not names:
        names = _named_before(scan, match.start())
    done = False
    for name in names:
        if scan.tags[verb] == Tag.OPTIMIZE:
            sign = 1 if scan.better(name) == "maximize" else -1
        else:
            sign = 1 if scan.tags[verb] in Tag.UP + Tag.ADD else -1
        if _spared(scan, match, name, sign):
            done = True
            continue
        done = by(scan, name, scan.quantity(amounts[0]), sign) or done
    return end if done else 0


def _spared(scan: Scan, match: re.Match[str], name: str, sign: int) -> bool:
    """At most 10 % above row 8; lose no more than 1 % accuracy: better is as welcome."""
    span = range(*match.span())
    shares, bounds = scan.at(span, Tag.SHARE), scan.at(span, Tag.AT_MOST)
    worse = sign > 0 if scan.better(name) == "minimize" else sign < 0
    if not (shares and bounds and worse and scan.outcome(name)):
        return False
    tolerance = scan.quantity(shares[0]).value
    if not 0 < tolerance < 1:
        return False
    beyond: OneOf["less", "more"] = "more" if sign < 0 else "less"
    scan.goals[name] = Same(tolerance=tolerance, beyond=beyond)
    return True


def _named_before(scan: Scan, place: int) -> list[str]:
    """The outcome that `it` means: the last one that was named."""
    for before in range(place - 1, -1, -1):
        if scan.tags[before] == Tag.COLUMN:
            name = scan.column(before, Role.OUTCOME)
            if scan.outcome(name):
                scan.used.add(before)
                return [name]
    return []


def again(scan: Scan, match: re.Match[str]) -> bool:
    """... and power by 5 %: as the one before."""
    if not scan.sign:
        return False
    span = range(*match.span())
    name = scan.column(scan.at(span, Tag.COLUMN)[0], Role.OUTCOME)
    return by(
        scan,
        name,
        scan.quantity(scan.at(span, Tag.AMOUNTS)[0]),
        scan.sign,
    )


def by_unit(scan: Scan, match: re.Match[str]) -> bool:
    """Save 20 kJ: the unit tells the outcome."""
    span = range(*match.span())
    quantity = scan.quantity(scan.at(span, Tag.NUMBER)[0])
    name = scan.of_unit(quantity, Role.OUTCOME)
    verb = scan.tags[scan.at(span, Tag.MOVES)[0]]
    return name is not None and by(scan, name, quantity, 1 if verb in "RD" else -1)


def factor(scan: Scan, match: re.Match[str]) -> int:
    """Double the nodes; half the runtime; three times as many threads."""
    span = range(*match.span())
    value = scan.quantity(scan.at(span, Tag.MULTIPLY + Tag.FACTOR + Tag.FRACTION)[0]).value
    if value > 1 and set("dr<") & set(match[0]):
        value = 1 / value
    names, end = _alike(scan, match, *PARAMETERS)
    done = False
    for name in names:
        if value <= 0 or value == 1 or scan.parameter(name).kind != "number":
            continue
        if scan.outcome(name):
            scan.goal(name, change_by("maximize" if value > 1 else "minimize", abs(value - 1)))
            done = True
        else:
            done = scan.edit(name, Times(factor=float(f"{value:.12g}"))) or done
    return end if done else 0


def part(scan: Scan, match: re.Match[str]) -> bool:
    """Cut the variation to a half: by the other half."""
    span = range(*match.span())
    value = scan.quantity(scan.at(span, Tag.SHARE + Tag.FRACTION + Tag.FACTOR)[0]).value
    done = False
    for place in scan.at(span, Tag.COLUMN):
        name = scan.column(place, Role.OUTCOME)
        if not 0 < value < 1 or scan.parameter(name).kind != "number":
            continue
        if scan.outcome(name):
            scan.goal(name, change_by("minimize", 1 - value))
            done = True
        else:
            done = scan.edit(name, Times(factor=value)) or done
    return done


def moved(scan: Scan, match: re.Match[str]) -> bool:
    """Get a down to 100 s; reduce nodes to 4; raise b from 10 to 20."""
    span = range(*match.span())
    verbs = scan.at(span, Tag.MOVES)
    values = scan.at(span, Tag.VALUES)
    columns = scan.at(span, Tag.COLUMN)
    if columns:
        name = scan.column(columns[0], *(() if verbs else PARAMETERS))
    else:
        meant_by_unit = scan.of_unit(scan.quantity(values[-1]), Role.OUTCOME)
        if meant_by_unit is None:
            return False
        name = meant_by_unit
        scan.note(scan.items[values[-1]].words, name)
    brought = any(scan.items[p].words.lower().startswith("br") for p in scan.at(span, Tag.SET))
    if scan.outcome(name) and Tag.FROM in match[0] and not verbs and not brought:
        return False
    if (
        Tag.FROM in match[0]
        and not set("rRs") & set(match[0])
        and scan.kind in {None, Kind.RECOMMEND}
    ):
        return False
    new = scan.value(values[-1], name)
    old = scan.old_value(values, name)
    if new is None:
        return False
    if old is not None:
        scan.stated[name] = old
    if not scan.outcome(name):
        return scan.change(name, new)
    if isinstance(new, str | bool) or scan.parameter(name).kind != "number":
        return scan.is_class(name, new)
    if scan.kind is Kind.WHAT_IF:
        scan.observed.append(name)
        return True
    if len(values) > 1 or not verbs:
        scan.goal(name, Reach(value=float(new)))
        return True
    down = scan.tags[verbs[0]] in Tag.DOWN
    scan.goal(name, Within(high=float(new)) if down else Within(low=float(new)))
    return True


def reduced(scan: Scan, match: re.Match[str]) -> bool:
    """Reduce the power, without saying by how much."""
    span = range(*match.span())
    verb = scan.tags[scan.at(span, Tag.MOVES)[0]]
    names = [scan.column(p, Role.OUTCOME) for p in scan.at(span, Tag.COLUMN)]
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
    shares = scan.at(span, Tag.SHARE)
    signs = scan.at(span, Tag.AT_MOST)
    if signs and not scan.items[signs[0]].words.lower().endswith("within"):
        return False
    for place in scan.at(span, Tag.COLUMN):
        name = scan.column(place)
        if scan.outcome(name):
            tolerance = scan.quantity(shares[0]).value if shares else None
            scan.goals[name] = Same(tolerance=tolerance if tolerance else None)
        elif name not in scan.keep:
            scan.keep.append(name)
    return True


# Columns that share what is said of them; one with a value of its own is not among them.
LIST = columns_until(r"[ikso=]*[V<>=BL!~%XHxQ]", r"[is]*[Q!]")
PATTERNS = (
    (r"[kO]?o?F", named_extreme),
    (rf"k?(?:{LIST})i?k?i?z(?:<%)?", unchanged),
    (rf"(?:k|Z)z?(?:{LIST})z?(?:[o]?z|i?<%)", unchanged),
    (rf"z(?:{LIST})", unchanged),
    (rf"Z(?:{LIST})", unchanged),
    (rf"(?:{LIST})i?Z", unchanged),
    (rf"k(?:{LIST})(?![i=<>~!oBVLtmM])", unchanged),
    (rf"(?:{LIST})k(?=[,.&]|$)", unchanged),
    (r"[b<>]*[%HVX]i?q", compared),
    (r"xi?q|Xi?q", compared),
    (r"q@?C?b[<>]?[%H]", compared),
    (r"[<>]?[%H]D?q", compared),
    (rf"[rRO+-]i?(?:{LIST})[rR]?b[<>]?[V%H]", by_amount),
    (rf"[rRO]i?(?:{LIST})[<>o]?[%H]", by_amount),
    (r"[rRO]b[<>]?[%H]", by_amount),
    (rf"[rR](?:{LIST})t[%H]", part),
    (rf"(?:{LIST})[ist]*[rRdDO]b?[<>]?[%H]", by_amount),
    (rf"(?:{LIST})[ist]*[rRdDO]b[<>]?V", by_amount),
    (rf"[<>]?[V%H][rRdDO][io]*(?:{LIST})", by_amount),
    (rf"[<>]?[%H]i?(?:{LIST})[rRdO]", by_amount),
    (rf"(?:{LIST})i?b?[<>]?[V%H][dDrR]", by_amount),
    (r"VC[dD](?![TCV%])", by_amount),
    (r"[%H][dDrR](?!C)", by_amount),
    (rf"[rR-][<>]?[V%H][oiwr]*(?:{LIST})", by_amount),
    (rf"[+-]D?VD?(?:{LIST})", by_amount),
    (r"[rR]b?V(?!C)|[rR]b[<>]V(?!C)|V[dD]", by_unit),
    (rf"x(?:{LIST})", factor),
    (rf"(?:{LIST})[is]*x", factor),
    (rf"X[Ddi]*(?:{LIST})", factor),
    (rf"[rR](?:{LIST})b?X", factor),
    (rf"(?:{LIST})[is]*[<>]?X[dD]", factor),
    (rf"Hi?o?(?:{LIST})", factor),
    (r"[rRs]*C[rRs]*f[VL]C?t[VL]", moved),
    (r"[rRsdD]C[rRs]*t[<>]?[VL](?!t)", moved),
    (r"C[ist]*[rR](?:t[<>]?|[<>])V(?!C)", moved),
    (r"[rR]fVtV(?!C)", moved),
    (r"[rRs]tVC", moved),
    (r"s*f[VL]t[VL]C", moved),
    (r"s*f[VL]Ct[VL]C?", moved),
    (rf"[mMO](?:[io]|{'w'})?(?:{LIST})", extreme),
    (rf"(?:{LIST})[iks=t]*[mMO](?![io]*C)", extreme),
    (rf"[rRdD](?:{LIST})", reduced),
    (rf"(?:{LIST})[is]*[rRdD]", reduced),
    (r"q", compared),
    (r"Cb[<>]?[V%H]", again),
)
