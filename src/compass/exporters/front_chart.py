"""A front as an SVG file: the first two outcomes, intervals, knees, what was measured."""

import math
from html import escape

from compass import registry
from compass.domain.answer import Answer, Prediction, Suggestion
from compass.domain.errors import QueryProblem
from compass.domain.front import Front, FrontPoint
from compass.domain.quantity import quantity

_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 24, 30, 64
_BLUE, _ORANGE, _GREY, _RED = "#0b6e99", "#c2541b", "#999999", "#b3261e"
_STYLE = "font-family:sans-serif;font-size:12px;fill:#333"
_TICKS = 5


@registry.add("exporter", "svg")
class FrontChart:
    """The trade-offs of an answer with several outcomes, as a picture."""

    name = "svg"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The front as SVG."""
        if template is not None:
            raise QueryProblem("svg takes no template", hint="templates are for sbatch")
        if answer.front is None or not answer.front.points:
            raise QueryProblem(
                "there is no front to draw",
                hint="ask for two outcomes or more to minimise or maximise",
            )
        return _drawn(answer, answer.front)


class _Scale:
    """Values as places of one axis."""

    def __init__(self, values: list[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        room = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
        self.low, self.high = low - room, high + room
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, -0.02), 1.02) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Round values along the axis."""
        raw = (self.high - self.low) / _TICKS
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= raw)
        first = math.ceil(self.low / step)
        return [step * i for i in range(first, math.floor(self.high / step) + 1)]


def _drawn(answer: Answer, front: Front) -> str:
    names = list(front.directions)[:2]
    x = _Scale([p.values[names[0]] for p in front.points], _LEFT, _WIDTH - _RIGHT)
    y = _Scale([p.values[names[1]] for p in front.points], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(answer.text)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        *_axes(answer, front, names, x, y),
    ]
    for point in front.points:
        parts += _intervals(point, _suggestion(answer, point), names, x, y)
    for rank, point in enumerate(front.points, 1):
        parts += _point(rank, point, names, x, y)
    parts += _legend()
    return "\n".join([*parts, "</svg>"]) + "\n"


def _suggestion(answer: Answer, point: FrontPoint) -> Suggestion:
    return (answer.ideas if point.idea else answer.suggestions)[point.place]


def _axes(answer: Answer, front: Front, names: list[str], x: _Scale, y: _Scale) -> list[str]:
    parts = []
    for value in x.ticks:
        parts.append(_line(x(value), _TOP, x(value), _HEIGHT - _BOTTOM, "#eee"))
        label = quantity(value, answer.units.get(names[0]))
        parts.append(_text(x(value), _HEIGHT - _BOTTOM + 18, label, "middle"))
    for value in y.ticks:
        parts.append(_line(_LEFT, y(value), _WIDTH - _RIGHT, y(value), "#eee"))
        label = quantity(value, answer.units.get(names[1]))
        parts.append(_text(_LEFT - 8, y(value) + 4, label, "end"))
    way = {"minimize": "smaller is better", "maximize": "larger is better"}
    below, left = (f"{name} ({way[front.directions[name]]})" for name in names)
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - _BOTTOM + 38, below, "middle"))
    parts.append(_text(_LEFT, _TOP - 12, left, "middle" if len(left) < 20 else "start"))
    return parts


def _intervals(
    point: FrontPoint, suggestion: Suggestion, names: list[str], x: _Scale, y: _Scale
) -> list[str]:
    """The intervals of a new run of a point, cut where the field ends."""
    across, up = x(point.values[names[0]]), y(point.values[names[1]])
    parts = []
    first, second = _ends(suggestion.outcome(names[0])), _ends(suggestion.outcome(names[1]))
    if first is not None:
        parts.append(_line(x(first[0]), up, x(first[1]), up, _GREY))
    if second is not None:
        parts.append(_line(across, y(second[0]), across, y(second[1]), _GREY))
    return parts


def _ends(outcome: Prediction) -> tuple[float, float] | None:
    if outcome.low is None or outcome.high is None:
        return None
    return outcome.low, outcome.high


def _point(rank: int, point: FrontPoint, names: list[str], x: _Scale, y: _Scale) -> list[str]:
    across, up = x(point.values[names[0]]), y(point.values[names[1]])
    colour = _RED if point.idea else _ORANGE if point.knee else _BLUE
    fill = colour if point.measured else "#fff"
    size = 6 if point.knee else 4.5
    told = ", ".join(f"{name} {value}" for name, value in point.settings.items())
    return [
        f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{size}" fill="{fill}" stroke="{colour}" '
        f'stroke-width="2"><title>{escape(f"{rank}. {told}")}</title></circle>',
        _text(across + 8, up - 8, str(rank), "start"),
    ]


def _legend() -> list[str]:
    shown = [
        (_BLUE, _BLUE, "measured"),
        (_BLUE, "#fff", "untried"),
        (_ORANGE, _ORANGE, "knee"),
        (_RED, "#fff", "idea (unsupported)"),
    ]
    parts = []
    for place, (colour, fill, text) in enumerate(shown):
        across = _LEFT + 110 * place
        parts.append(
            f'<circle cx="{across}" cy="{_HEIGHT - 12}" r="4.5" fill="{fill}" stroke="{colour}" '
            f'stroke-width="2"/>'
        )
        parts.append(_text(across + 10, _HEIGHT - 8, text, "start"))
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" style="{_STYLE}">'
        f"{escape(text)}</text>"
    )
