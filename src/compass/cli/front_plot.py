"""A front drawn with characters: for a terminal of 80 columns."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from compass.domain.front import Front, FrontPoint
from compass.domain.quantity import quantity
from compass.trust.front_words import point_name

WIDTH, HEIGHT = 58, 16  # of the field, in characters
_LABELS = 14  # characters before it
KNEE, MEASURED, UNTRIED, IDEA, STAIR = "◆", "●", "○", "×", "·"


def plotted(front: Front, units: Mapping[str, str]) -> tuple[str, ...]:
    """The lines of a plot of the first two outcomes; none for fewer than two points.

    Under the field stand the numbers of the points, as in the table.
    """
    names = list(front.directions)[:2]
    if len(front.points) < 2:
        return ()
    x, y = ([point.values[name] for point in front.points] for name in names)
    across, up = _axis(x, WIDTH), _axis(y, HEIGHT)
    field = [[" "] * WIDTH for _ in range(HEIGHT)]
    below = [" "] * (WIDTH + 2)
    _stairs(field, front, across, up)
    for place, point in enumerate(front.points):
        column, row = across[place], HEIGHT - 1 - up[place]
        field[row][column] = _mark(point)
        _number(below, column, point_name(point))
    low, high = (_ends(v, units.get(name)) for name, v in zip(names, (x, y), strict=True))
    lines = [f"{names[1]} ({_way(front, names[1])})"]
    for row, cells in enumerate(field):
        label = high[1] if row == 0 else high[0] if row == HEIGHT - 1 else ""
        lines.append(f"{label:>{_LABELS}.{_LABELS}} │{''.join(cells)}".rstrip())
    pad = " " * (_LABELS + 1)
    room = WIDTH - len(low[0])
    lines.append(f"{pad}└{'─' * WIDTH}")
    lines.append(f"{pad} {''.join(below)}".rstrip())
    lines.append(f"{pad} {low[0]}{low[1]:>{room}}")
    lines.append(f"{pad} {names[0]} ({_way(front, names[0])})")
    lines.append(f"{pad} {KNEE} knee  {MEASURED} measured  {UNTRIED} untried  {IDEA} idea")
    return tuple(lines)


def _way(front: Front, name: str) -> str:
    return "smaller is better" if front.directions[name] == "minimize" else "larger is better"


def _ends(values: Sequence[float], unit: str | None) -> tuple[str, str]:
    return quantity(min(values), unit), quantity(max(values), unit)


def _axis(values: Sequence[float], cells: int) -> list[int]:
    """The cell of each value, from 0."""
    low, size = min(values), max(values) - min(values)
    return [round((v - low) / size * (cells - 1)) if size else cells // 2 for v in values]


def _mark(point: FrontPoint) -> str:
    if point.idea:
        return IDEA
    if point.knee:
        return KNEE
    return MEASURED if point.measured else UNTRIED


def _number(line: list[str], column: int, text: str) -> None:
    """Write a number under its column, where no other one stands in the way."""
    around = line[max(column - 1, 0) : column + len(text) + 1]
    if all(cell == " " for cell in around):
        line[column : column + len(text)] = list(text)


def _stairs(field: list[list[str]], front: Front, across: Sequence[int], up: Sequence[int]) -> None:
    """The edge of what two outcomes reach; a projection of three or more has none."""
    directions = tuple(front.directions.values())
    if len(directions) != 2:
        return
    inside = [i for i, p in enumerate(front.points) if not p.idea and not p.dominated]
    points = sorted({(across[i], HEIGHT - 1 - up[i]) for i in inside})
    for (left, here), (right, there) in pairwise(points):
        # The corner is where both outcomes are as bad as at one of the two points.
        row, column = (here, right) if directions[0] == "minimize" else (there, left)
        for place in range(left, right + 1):
            field[row][place] = STAIR
        for place in range(min(here, there), max(here, there) + 1):
            field[place][column] = STAIR
