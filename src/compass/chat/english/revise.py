"""Corrections: words that only make sense with the draft that is known."""

from compass.chat.draft import Draft, Slot
from compass.chat.english.scan import Scan, whole
from compass.chat.english.tags import Tag
from compass.domain.expression import Comparison, Expression, Name, names_in
from compass.domain.expression import Literal as Constant
from compass.domain.goal import Extreme, Within
from compass.domain.query import SetTo
from compass.domain.space import Role
from compass.language import parse_rule

_BOUND = Tag.IS + Tag.SIGNS + Tag.NUMBER + Tag.WORD


def loose_bounds(scan: Scan, before: Draft | None) -> None:
    """A bound without a column belongs to the column that was bounded last."""
    for op, place, quantity in scan.loose:
        name = scan.last or last_column(before)
        if name is None or not scan.bound(name, op, quantity):
            scan.unused_words.append(_phrase(scan, place))


def _phrase(scan: Scan, place: int) -> str:
    """The words of a bound, with the noun that nothing is known about."""
    end = place
    while end + 1 < len(scan.tags) and scan.tags[end + 1] in _BOUND and end < place + 3:
        end += 1
        if scan.tags[end] == Tag.WORD:
            break
    return " ".join(item.words for item in scan.items[place : end + 1])


def last_column(before: Draft | None) -> str | None:
    """The column of the last rule, else of the last goal or change."""
    if before is None:
        return None
    if before.where:
        names = names_in(parse_rule(before.where[-1]))
        return names[0] if names else None
    for part in (before.goals, before.change):
        if part:
            return list(part)[-1]
    return None


def bare_number(
    scan: Scan, expecting: Slot | None, before: Draft | None, *, correction: bool
) -> None:
    """`100` when a row was asked for; `make it 32` for what was bounded last."""
    numbers = [p for p, tag in enumerate(scan.tags) if tag == Tag.NUMBER and p not in scan.used]
    if len(numbers) != 1:
        return
    quantity = scan.quantity(numbers[0])
    if expecting is Slot.BASELINE and quantity.unit is None:
        if quantity.value.is_integer() and 0 <= quantity.value < 1e12:
            scan.row = int(quantity.value)
            scan.used.add(numbers[0])
        return
    name = last_column(before)
    if before is None or name is None or not (correction or expecting is not None):
        return
    value = scan.number(quantity, name)
    if value is None:
        return
    if _revalue(scan, before, name, value):
        scan.used.add(numbers[0])


def _revalue(scan: Scan, before: Draft, name: str, value: float) -> bool:
    """The last rule, goal or change with another number in it."""
    if before.where:
        old = parse_rule(before.where[-1])
        if isinstance(old, Comparison) and isinstance(old.right, Constant):
            scan.rule(Comparison(old.op, old.left, Constant(whole(value))))
            return True
        return False
    goal = before.goals.get(name)
    if isinstance(goal, Within):
        high = goal.high is not None
        scan.goals[name] = Within(high=value) if high else Within(low=value)
        return True
    if name in before.change:
        scan.edits[name] = SetTo(value=whole(value))
        return True
    return False


def swapped(scan: Scan, before: Draft | None) -> None:
    """I meant gpus, not nodes: the rules and goals of the one become those of the other."""
    free = [p for p, tag in enumerate(scan.tags) if tag == Tag.COLUMN]
    taken = scan.used & set(free)
    if before is not None and len(free) == 1 and not taken:
        _other_outcome(scan, before, free[0])
        return
    if before is None or len(free) != 2 or taken or Tag.NOT not in scan.tags:
        return
    first, second = free
    mark = scan.tags.index(Tag.NOT)
    wanted, wrong = (first, second) if first < mark < second else (second, first)
    if not (first < mark < second) and mark > first:
        return
    new, old = scan.column(wanted), scan.column(wrong)
    scan.used.update(free)
    scan.dropped.append(old)
    for text in before.where:
        rule = parse_rule(text)
        if old in names_in(rule):
            scan.rule(_renamed(rule, old, new))
    if old in before.goals:
        scan.goals[new] = before.goals[old]
    if old in before.change:
        scan.edits[new] = before.change[old]
    if old in before.ask:
        scan.asked.append(new)
    if old in before.keep:
        scan.keep.append(new)


def _other_outcome(scan: Scan, before: Draft, place: int) -> None:
    """I meant energy: the one goal that there is was meant for this outcome."""
    name = scan.column(place, Role.OUTCOME)
    extremes = [n for n, goal in before.goals.items() if isinstance(goal, Extreme)]
    if scan.goals or len(extremes) != 1 or name in before.goals or not scan.outcome(name):
        return
    if scan.parameter(name).kind == "number":
        scan.goals[name] = Extreme(direction=scan.better(name))
        scan.dropped.append(extremes[0])
        scan.used.add(place)


def _renamed(node: Expression, old: str, new: str) -> Expression:
    if isinstance(node, Name):
        return Name(new) if node.name == old else node
    if isinstance(node, Comparison):
        return Comparison(node.op, _renamed(node.left, old, new), _renamed(node.right, old, new))
    return node
