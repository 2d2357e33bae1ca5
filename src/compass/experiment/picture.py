"""The learning curve of an experiment as a picture: SVG, and characters for a terminal."""

import math
from collections.abc import Sequence
from html import escape

from compass.domain.experiment import LearningPoint
from compass.domain.quantity import quantity

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 14, 14, 34
_BEST, _RUN, _FAILED = "#0b6e99", "#9aa5ad", "#c2541b"
_FONT = "font-family:sans-serif;font-size:11px;fill:#333"
# The eight dots of a braille character, [column][row], as bits.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


class _Axis:
    """Values on a line from 0 to 1; in orders of magnitude where they span many."""

    def __init__(self, values: Sequence[float]) -> None:
        low, high = min(values), max(values)
        self.log = low > 0 and high / low > 20
        low, high = (math.log(low), math.log(high)) if self.log else (low, high)
        if low == high:
            low, high = low - (abs(low) or 1) * 0.05, high + (abs(high) or 1) * 0.05
        self.low, self.high = low, high

    def place(self, value: float) -> float:
        at = math.log(value) if self.log else value
        return (at - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        at = self.low + share * (self.high - self.low)
        return math.exp(at) if self.log else at


def svg(curve: Sequence[LearningPoint], name: str, unit: str | None = None) -> str:
    """Best so far against runs, with every run as a dot and failed ones on the axis."""
    values = [v for p in curve for v in (p.best, p.measured) if v is not None]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(name)} against the number of runs">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    if not values:
        parts.append(_text(_WIDTH / 2, _HEIGHT / 2, "no run has a result yet", "middle"))
        return "\n".join([*parts, "</svg>"]) + "\n"
    axis, last = _Axis(values), max(len(curve), 2)
    floor, wide = _HEIGHT - _BOTTOM, _WIDTH - _LEFT - _RIGHT

    def across(runs: float) -> float:
        return _LEFT + (runs - 1) / (last - 1) * wide

    def up(value: float) -> float:
        return floor - axis.place(value) * (floor - _TOP)

    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = floor - share * (floor - _TOP)
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        )
        parts.append(_text(_LEFT - 6, y + 4, _short(axis.value(share), unit), "end"))
    ticks = sorted({1, *(round(1 + (last - 1) * step / 4) for step in range(1, 5))})
    parts += [_text(across(runs), floor + 16, str(runs), "middle") for runs in ticks]
    parts.append(_text(_LEFT + wide / 2, _HEIGHT - 4, f"runs ({name})", "middle"))
    for point in curve:
        if point.measured is not None:
            parts.append(_dot(across(point.runs), up(point.measured), _RUN))
        elif point.failed:
            parts.append(_dot(across(point.runs), floor, _FAILED))
    steps, before = [], None
    for point in curve:
        if point.best is None:
            continue
        if before is not None:
            steps.append(f"{across(point.runs):.1f},{up(before):.1f}")
        steps.append(f"{across(point.runs):.1f},{up(point.best):.1f}")
        before = point.best
    line = " ".join(steps)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{_BEST}" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def braille(
    curve: Sequence[LearningPoint], unit: str | None = None, *, width: int = 60, height: int = 8
) -> list[str]:
    """The same in lines of characters: the best so far as a line, with the values of its ends."""
    known = [(point.runs, point.best) for point in curve if point.best is not None]
    if len({best for _, best in known}) < 2:
        return []  # there is no curve to draw
    axis, last = _Axis([best for _, best in known]), curve[-1].runs
    cells = [[0] * width for _ in range(height)]

    def mark(x: int, y: int) -> None:
        cells[y // 4][x // 2] |= _DOTS[x % 2][y % 4]

    before: int | None = None
    place, best = 0, known[0][1]
    for x in range(2 * width):
        runs = 1 + x / (2 * width - 1) * (last - 1)
        if runs < known[0][0]:
            continue
        while place < len(known) and known[place][0] <= runs:
            best, place = known[place][1], place + 1
        y = round((1 - axis.place(best)) * (4 * height - 1))
        for step in range(min(y, y if before is None else before), max(y, before or y) + 1):
            mark(x, step)
        before = y
    names = {0: _short(axis.value(1), unit), height - 1: _short(axis.value(0), unit)}
    wide = max(map(len, names.values()))
    lines = [
        f"{names.get(row, ''):>{wide}} {''.join(chr(0x2800 + cell) for cell in cells[row])}".rstrip(
            "\u2800"
        )
        for row in range(height)
    ]
    ends = f"1{last:>{width - 1}}"
    return [*lines, f"{'':>{wide}} {ends} runs"]


def _short(value: float, unit: str | None) -> str:
    return quantity(float(f"{value:.4g}"), unit)


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    at = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{_FONT}"'
    return f"<text {at}>{escape(text)}</text>"
