"""Patterns of goals that are relative to the value an outcome has now, or to another column."""

import re

from compass.chat.english.bounds import about, on_scale
from compass.chat.english.goals import LIST, by, change_by, factor, part
from compass.chat.english.link import dimension_of
from compass.chat.english.relations import sign_of
from compass.chat.english.scan import Direction, Scan
from compass.chat.english.tags import Tag
from compass.chat.english.words import QuantityForm, TextQuantity
from compass.domain.goal import Extreme, Within
from compass.domain.query import Kind
from compass.domain.space import Number, Role


def _measured(scan: Scan, place: int) -> str | None:
    """The outcome with numbers that is named at a place."""
    name = scan.column(place, Role.OUTCOME)
    number = isinstance(scan.parameter(name), Number)
    return name if scan.outcome(name) and number else None


def compared_in(scan: Scan, match: re.Match[str]) -> bool:
    """20 % cheaper in core hours; which one reads faster: the column says what is meant."""
    span = range(*match.span())
    name = _measured(scan, scan.at(span, Tag.COLUMN)[0])
    place = scan.at(span, Tag.COMPARATIVE)[0]
    phrase = scan.items[place].phrase
    if name is None or phrase is None or phrase.concept in {"long", "wait"}:
        return False
    if scan.items[place].words.lower() in {"speed", "quickly"}:
        return False
    prepositions = scan.at(span, Tag.WITH)
    if prepositions and scan.items[prepositions[0]].words.lower() not in {"in", "by", "for"}:
        return False
    worse = phrase.concept == "slow"
    better = scan.better(name)
    direction: Direction = better
    if worse:
        direction = "minimize" if better == "maximize" else "maximize"
    amounts = scan.at(span, Tag.SHARE + Tag.FRACTION + Tag.FACTOR + Tag.MULTIPLY)
    if not amounts:
        if scan.kind is Kind.WHAT_IF:
            scan.observed.append(name)
        else:
            scan.goal(name, Extreme(direction=direction))
        return True
    quantity = scan.quantity(amounts[0])
    if scan.tags[amounts[0]] in Tag.FACTOR + Tag.MULTIPLY:
        if quantity.value <= 1:
            return False
        share = 1 - 1 / quantity.value if direction == "minimize" else quantity.value - 1
        scan.goal(name, change_by(direction, share))
        return True
    return by(scan, name, quantity, 1 if direction == "maximize" else -1)


def extreme_of(scan: Scan, match: re.Match[str]) -> bool:
    """The cheapest in core hours; the fastest reads: the column says what is meant."""
    name = _measured(scan, match.end() - 1)
    phrase = scan.items[scan.at(range(*match.span()), Tag.SUPERLATIVE)[0]].phrase
    if name is None or scan.kind is Kind.WHAT_IF or phrase is None or phrase.concept == "slow":
        return False
    scan.goal(name, Extreme(direction=scan.better(name)))
    return True


def ranked_by(scan: Scan, match: re.Match[str]) -> bool:
    """The top five configurations by throughput."""
    name = _measured(scan, match.end() - 1)
    counted = Tag.SUGGESTIONS in match[0] or scan.count is not None
    if name is None or scan.kind is Kind.WHAT_IF or not counted:
        return False
    scan.goal(name, Extreme(direction=scan.better(name)))
    return True


def signed(scan: Scan, match: re.Match[str]) -> bool:
    """+10 % fom; -15 % energy."""
    span = range(*match.span())
    quantity = scan.quantity(scan.at(span, Tag.SHARE + Tag.FRACTION)[0])
    negative = quantity.value < 0 or Tag.REMOVE in match[0]
    if not (negative or Tag.ADD in match[0]):
        return False
    name = scan.column(scan.at(span, Tag.COLUMN)[0], Role.OUTCOME)
    return by(scan, name, TextQuantity(abs(quantity.value), quantity.form), -1 if negative else 1)


def stated(scan: Scan, match: re.Match[str]) -> bool:
    """It takes 3 hours; the p99 sits at 480 ms: what is measured now, which is no wish."""
    span = range(*match.span())
    place = scan.at(span, Tag.NUMBER)[0]
    quantity = scan.quantity(place)
    columns = scan.at(span, Tag.COLUMN)
    name = _measured(scan, columns[0]) if columns else scan.of_unit(quantity, Role.OUTCOME)
    if name is None or scan.number(quantity, name) is None or scan.kind is Kind.WHAT_IF:
        return False
    scan.current = (name, quantity)
    return True


def wanted(scan: Scan, match: re.Match[str]) -> bool:
    """... I want 2; make it 300: the outcome whose value stands just before."""
    base = scan.current or scan.ambiguous
    before = scan.tags[: match.start()][-1:]
    if base is None or scan.kind is Kind.WHAT_IF or (before and before not in ",.&"):
        return False
    name, now = base
    span = range(*match.span())
    quantity = on_scale(scan, scan.quantity(scan.at(span, Tag.NUMBER_OR_SHARE)[0]), name)
    if quantity.unit is None:
        quantity = TextQuantity(quantity.value, QuantityForm.NUMBER, now.unit)
    value, old = scan.number(quantity, name), scan.number(now, name)
    if value is not None and not scan.fits(quantity, name, wide=3.0):
        share = on_scale(scan, TextQuantity(value / 100, QuantityForm.SHARE), name)
        if scan.fits(share, name):  # 71 % now, aim for 75
            quantity, value = share, share.value
    if value is None or old is None or dimension_of(quantity.unit) != dimension_of(now.unit):
        return False
    if scan.current is None:
        scan.goals.pop(name, None)  # our ttft is at 900 ms, I need 300: the first was no wish
    scan.relative = True
    signs = scan.at(span, Tag.SIGNS)
    if signs:
        return scan.bound(name, sign_of(scan, signs[0]), quantity)
    scan.goal(name, Within(high=value) if value < old else Within(low=value))
    return True


def only(scan: Scan, match: re.Match[str]) -> bool:
    """The walltime only: the one outcome that counts."""
    name = _measured(scan, scan.at(range(*match.span()), Tag.COLUMN)[0])
    if name is None or scan.kind is Kind.WHAT_IF or name in scan.goals:
        return False
    scan.goal(name, Extreme(direction=scan.better(name)))
    return True


def aimed(scan: Scan, match: re.Match[str]) -> bool:
    """Get the runtime to 600 s."""
    span = range(*match.span())
    name = _measured(scan, match.start())
    if name is None or scan.kind is Kind.WHAT_IF:
        return False
    good = ">=" if scan.better(name) == "maximize" else "<="
    return scan.bound(name, good, scan.quantity(scan.at(span, Tag.NUMBER)[0]))


def reached(scan: Scan, match: re.Match[str]) -> bool:
    """Hit 80 % accuracy; an accuracy of 80 %: at least that, or at most where less is better."""
    span = range(*match.span())
    places = scan.at(span, Tag.NUMBER_OR_SHARE)
    name = _measured(scan, scan.at(span, Tag.COLUMN)[0])
    if name is None or (scan.tags[places[0]] == Tag.NUMBER and Tag.REACH not in match[0]):
        return False
    quantity = on_scale(scan, scan.quantity(places[0]), name)
    if scan.number(quantity, name) is None or quantity.value < 0:
        return False
    if Tag.REACH in match[0] and scan.kind is not Kind.WHAT_IF:
        signs = scan.at(span, Tag.BOUNDS)
        good = ">=" if scan.better(name) == "maximize" else "<="
        return scan.bound(name, sign_of(scan, signs[0]) if signs else good, quantity)
    return about(scan, name, quantity, places)


FIRST = (
    (r"(?:[<>]?[%HXx]i?)?qoC", compared_in),
    (r"C[XxH%]i?q|Cq|qC", compared_in),
    (r"o?FC(?![CVL])", extreme_of),
    (r"nboC|nbC|bC(?=[.,&]|$)", ranked_by),
    (r"[+-]?[%H]C", signed),
    (rf"(?:{LIST})[is=t]*[%HX][io]*[zg@]", part),
    (rf"(?:{LIST})[iso=t]*X[<>dDrR](?![VC%])", factor),
    (rf"(?:{LIST})[is=]*X[io]*(?=[.,&]|$)", factor),
    (r"C[io]*tV(?![tC])", aimed),
    (r"C~(?=[.,&]|$)|~C(?=[.]|$)", only),
    (r"C[wiog]*Si?V(?![CdD])|SVC(?![dD])|Si?V(?![CdD])", stated),
    (r"[st@Gi=wo~g]*[<>]?[V%][{}]?(?=[.,&wK]|i+[.,&w]|$)", wanted),
    (r"GG?[<>]?[V%][io]*C|C[ti]*G[V%]", reached),
    (r"C[i=ko]*%(?=[.,&o]|$)|%C(?=[.,&o]|$)", reached),
)
