"""Small line charts with logarithmic axes, written as SVG by hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 220, 180  # of one panel
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 26, 40
COLOURS = ("#0b6e99", "#c2541b", "#4f7f1f", "#7b4397")
STYLE = "font-family:sans-serif;font-size:10px;fill:#333"


@dataclass(frozen=True)
class Panel:
    """One chart: named lines of (x, y) points; every value is above 0, or x may be 0."""

    title: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


def svg(panels: Sequence[Panel], unit: str) -> str:
    """The panels side by side with one y axis, as the text of an SVG file."""
    values = [y for panel in panels for line in panel.lines.values() for _, y in line]
    low = 10 ** math.floor(math.log10(min(values)))
    high = 10 ** math.ceil(math.log10(max(values) * 1.0001))
    width, height = WIDTH * len(panels), HEIGHT + 18
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        parts.append(f'<g transform="translate({number * WIDTH},0)">')
        parts += _panel(panel, low, high, unit if number == 0 else "", names)
        parts.append("</g>")
    for number, name in enumerate(names):
        x = LEFT + 150 * number
        parts.append(_line((x, HEIGHT + 6), (x + 16, HEIGHT + 6), COLOURS[number], 2))
        parts.append(_text(x + 20, HEIGHT + 9, name, "start"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: Panel, low: float, high: float, unit: str, names: Sequence[str]) -> list[str]:
    ticks = sorted({x for line in panel.lines.values() for x, _ in line})
    floor, ceiling = TOP, HEIGHT - BOTTOM

    def across(x: float) -> float:
        # The few measured values of x are the ticks: equal steps, and 0 has a place.
        share = ticks.index(x) / max(len(ticks) - 1, 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return ceiling - math.log(y / low) / math.log(high / low) * (ceiling - floor)

    parts = [_text(WIDTH / 2 + 16, 14, panel.title, "middle", bold=True)]
    power = low
    while power <= high * 1.0001:
        parts.append(_line((LEFT, up(power)), (WIDTH - RIGHT, up(power)), "#ddd", 1))
        parts.append(_text(LEFT - 4, up(power) + 3, f"{power:g}", "end"))
        power *= 10
    parts += [_text(across(x), ceiling + 14, f"{x:,g}", "middle") for x in ticks]
    if unit:
        parts.append(_text(4, 14, unit, "start"))
    for name, line in panel.lines.items():
        colour = COLOURS[names.index(name)]
        points = [(across(x), up(y)) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return parts


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, width: int) -> str:
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{colour}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, bold: bool = False) -> str:
    weight = ";font-weight:bold" if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{STYLE}{weight}">'
        f"{escape(text)}</text>"
    )
