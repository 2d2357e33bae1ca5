"""A front as a picture: the first two outcomes, intervals, knees, what was measured."""

import math
from collections.abc import Mapping, Sequence

from compass import registry
from compass.domain.answer import Answer
from compass.domain.errors import QueryProblem
from compass.domain.front import Front, FrontPoint
from compass.domain.quantity import quantity
from compass.exporters.drawing import Dot, Drawing, Label, Line, Shape
from compass.trust.front_words import point_name

_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 24, 30, 64
_BLUE, _ORANGE, _GREY, _RED = "#0b6e99", "#c2541b", "#999999", "#b3261e"
_GRID, _WHITE = "#eeeeee", "#ffffff"
_TICKS = 5
_APART = (16, 10)  # between the numbers of points, across and up

Ends = tuple[float, float]


@registry.add("exporter", "svg")
class FrontChart:
    """The trade-offs of an answer with several outcomes, as a picture."""

    name = "svg"

    @staticmethod
    def render(answer: Answer, template: str | None = None) -> str:
        """The front as SVG."""
        if template is not None:
            raise QueryProblem("svg takes no template", hint="templates are for sbatch")
        return answer_drawing(answer).svg()


def answer_drawing(answer: Answer) -> Drawing:
    """The front of an answer."""
    if answer.front is None or not answer.front.points:
        raise QueryProblem(
            "there is no front to draw",
            hint="ask for two outcomes or more to minimise or maximise",
        )
    intervals = []
    for point in answer.front.points:
        suggestion = (answer.ideas if point.idea else answer.suggestions)[point.place]
        found: dict[str, Ends] = {}
        for outcome in suggestion.outcomes:
            if outcome.low is not None and outcome.high is not None:
                found[outcome.name] = (outcome.low, outcome.high)
        intervals.append(found)
    return _drawn(answer.front, answer.units, answer.text, intervals)


def runs_drawing(front: Front, units: Mapping[str, str], title: str) -> Drawing:
    """The front of an experiment, whose points have their intervals themselves."""
    return _drawn(front, units, title, [point.intervals for point in front.points])


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


def _drawn(
    front: Front,
    units: Mapping[str, str],
    title: str,
    intervals: Sequence[Mapping[str, Ends]],
) -> Drawing:
    names = list(front.directions)[:2]
    x = _Scale([p.values[names[0]] for p in front.points], _LEFT, _WIDTH - _RIGHT)
    y = _Scale([p.values[names[1]] for p in front.points], _HEIGHT - _BOTTOM, _TOP)
    shapes: list[Shape] = _axes(front, units, names, x, y)
    for point, own in zip(front.points, intervals, strict=True):
        across, up = x(point.values[names[0]]), y(point.values[names[1]])
        if names[0] in own:
            low, high = own[names[0]]
            shapes.append(Line(x(low), up, x(high), up, _GREY))
        if names[1] in own:
            low, high = own[names[1]]
            shapes.append(Line(across, y(low), across, y(high), _GREY))
    told: list[tuple[float, float]] = []
    for point in front.points:
        across, up = x(point.values[names[0]]), y(point.values[names[1]])
        shapes.append(_point(point, across, up))
        # Numbers on top of each other would be read by nobody.
        if all(abs(across - a) > _APART[0] or abs(up - b) > _APART[1] for a, b in told):
            told.append((across, up))
            shapes.append(Label(across + 8, up - 8, point_name(point), "start"))
    return Drawing(_WIDTH, _HEIGHT, title, [*shapes, *_legend()])


def _axes(
    front: Front, units: Mapping[str, str], names: list[str], x: _Scale, y: _Scale
) -> list[Shape]:
    shapes: list[Shape] = []
    floor = _HEIGHT - _BOTTOM
    for value in x.ticks:
        shapes.append(Line(x(value), _TOP, x(value), floor, _GRID))
        shapes.append(Label(x(value), floor + 18, quantity(value, units.get(names[0])), "middle"))
    for value in y.ticks:
        shapes.append(Line(_LEFT, y(value), _WIDTH - _RIGHT, y(value), _GRID))
        shapes.append(Label(_LEFT - 8, y(value) + 4, quantity(value, units.get(names[1])), "end"))
    way = {"minimize": "smaller is better", "maximize": "larger is better"}
    below, left = (f"{name} ({way[front.directions[name]]})" for name in names)
    shapes.append(Label((_LEFT + _WIDTH - _RIGHT) / 2, floor + 38, below, "middle"))
    shapes.append(Label(_LEFT, _TOP - 12, left, "middle" if len(left) < 20 else "start"))
    return shapes


def _point(point: FrontPoint, across: float, up: float) -> Dot:
    colour = _RED if point.idea else _ORANGE if point.knee else _BLUE
    fill = colour if point.measured else _WHITE
    told = ", ".join(f"{name} {value}" for name, value in point.settings.items())
    size = 6 if point.knee else 4.5
    return Dot(across, up, size, colour, fill, f"{point_name(point)}. {told}")


def _legend() -> list[Shape]:
    kinds = [
        (_BLUE, _BLUE, "measured"),
        (_BLUE, _WHITE, "untried"),
        (_ORANGE, _ORANGE, "knee"),
        (_RED, _WHITE, "idea (unsupported)"),
    ]
    shapes: list[Shape] = []
    for place, (colour, fill, text) in enumerate(kinds):
        across = _LEFT + 110 * place
        shapes.append(Dot(across, _HEIGHT - 12, 4.5, colour, fill))
        shapes.append(Label(across + 10, _HEIGHT - 8, text, "start"))
    return shapes
