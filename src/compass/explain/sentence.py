"""An explanation in one plain sentence."""

import math
from collections.abc import Sequence

from compass.domain.base import Value
from compass.domain.explanation import Contribution, Scale
from compass.domain.quantity import quantity, setting
from compass.language import listed

_MOSTLY = 0.75  # share of a rise or fall that the parameters named for it make up
_NAMED = 3  # parameters named for it, at most
_WORTH = 0.2  # a parameter this large beside the largest is named when it works against it
_BALANCED = 0.1  # parameters whose sum is this small beside the largest cancel each other
_NEAR = 0.02  # a prediction this close to the usual one is called about the same


def share_text(scale: Scale, amount: float, unit: str | None) -> str:
    """What a parameter does: `x 1.9`, `+90 W`, `odds x 4.1`, `+12 points`."""
    if scale == "factor":
        return f"x {times(amount)}"
    if scale == "log-odds":
        return f"odds x {times(amount)}"
    sign = "+" if amount > 0 else ""
    if scale == "probability":
        return f"{sign}{_digits(100 * amount, 2)} points"
    return sign + quantity(amount, unit)


def contribution_text(
    name: str, value: Value, before: Value, moved: bool, unit: str | None, share: str
) -> str:
    """One parameter and what it does: `nodes = 1 (x 1.9)`, `nodes 1 -> 4 (x 0.5)`."""
    now = setting(value, unit)
    what = f"{name} {setting(before, unit)} -> {now}" if moved else f"{name} = {now}"
    return f"{what} ({share})"


def sentence(*, start: str, beside: str, contributions: Sequence[Contribution], even: bool) -> str:
    """The prediction, how it compares, what pulls it there and what works against it.

    `even`: the prediction is about what it is compared with, so that nothing pulls it away.
    """
    total = sum(c.amount for c in contributions)
    if not contributions:
        return f"{start}, {beside}: no parameter differs."
    moving = [c for c in contributions if c.amount]
    if not moving:
        return f"{start}, {beside}: no parameter makes a difference to the model."
    if even or abs(total) <= _BALANCED * max(abs(c.amount) for c in moving):
        return f"{start}, {beside}{_both_ways(moving)}."
    towards = [c for c in moving if (c.amount > 0) == (total > 0)]
    away = [c for c in moving if (c.amount > 0) != (total > 0)]
    main = _main(towards)
    enough = _size(main) >= _MOSTLY * _size(towards)
    reason = "mostly because" if enough else "among many small reasons because"
    text = f"{start}, {beside}, {reason} {listed([c.text for c in main])}"
    against = [c for c in away if abs(c.amount) >= _WORTH * abs(main[0].amount)][:2]
    if against:
        works = "works" if len(against) == 1 else "work"
        text += f"; {listed([c.text for c in against])} {works} against it"
    return text + "."


def start(target: str, prediction: str, *asides: str) -> str:
    """`runtime is predicted 41.2 s (measured 39.8 s)`; empty asides are left out."""
    asides_text = ", ".join(aside for aside in asides if aside)
    return f"{target} is predicted {prediction}" + (f" ({asides_text})" if asides_text else "")


def number_beside(scale: Scale, reached: float, usual: float, unit: str | None, where: str) -> str:
    """How a number compares: `2.3 times the usual 17.9 s`, `120 W above the usual 692 W`.

    `where` names the one run that is compared with; empty: the usual one.
    """
    other = quantity(usual, unit)
    beside = f"the {other} predicted for {where}" if where else f"the usual {other}"
    if near(reached, usual):
        return f"about {beside}"
    if scale == "factor":
        return f"{times(math.log(reached / usual))} times {beside}"
    size = quantity(abs(reached - usual), unit)
    return f"{size} {'above' if reached > usual else 'below'} {beside}"


def class_beside(scale: Scale, total: float, usual: float, where: str) -> str:
    """How the score of a class compares: `against 35 % on average`, `with 4 times the usual odds`.

    `total` is the difference on the scale, `usual` the share between 0 and 1 compared with.
    """
    about = "about " if level(total) else ""
    if scale == "log-odds":
        odds = f"the odds of {where}" if where else "the usual odds"
        return f"with about {odds}" if about else f"with {times(total)} times {odds}"
    place = f"for {where}" if where else "on average"
    return f"{about or 'against '}{usual:.0%} {place}"


def near(reached: float, usual: float) -> bool:
    """Whether a prediction is about what it is compared with."""
    return abs(reached - usual) <= _NEAR * max(abs(usual), abs(reached))


def level(total: float) -> bool:
    """Whether the score of a class is about what it is compared with."""
    return abs(total) <= _NEAR


def _main(towards: Sequence[Contribution]) -> list[Contribution]:
    found: list[Contribution] = []
    for one in towards[:_NAMED]:
        if _size(found) >= _MOSTLY * _size(towards):
            break
        found.append(one)
    return found


def _size(parts: Sequence[Contribution]) -> float:
    return sum(abs(part.amount) for part in parts)


def _both_ways(moving: Sequence[Contribution]) -> str:
    up = [c.text for c in moving if c.amount > 0][:1]
    down = [c.text for c in moving if c.amount < 0][:1]
    if up and down:
        return f": {up[0]} and {down[0]} work against each other"
    return f"; the largest part has {(up or down)[0]}"


def times(logarithm: float) -> str:
    """A factor with two digits, or with the first that tell it from 1."""
    factor = math.exp(max(min(logarithm, 700.0), -700.0))
    return f"{factor:.2f}" if 0.9 < factor < 1.1 else _digits(factor, 2)


def _digits(value: float, count: int) -> str:
    """At least this many digits, all that stand before the point."""
    return f"{value:.0f}" if 10**count <= abs(value) < 1e9 else f"{value:.{count}g}"
