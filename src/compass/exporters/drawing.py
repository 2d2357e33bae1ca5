"""Lines, dots and texts as an SVG file or a PNG picture: the same places in both."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Literal

from compass.domain.errors import BadInput

Anchor = Literal["start", "middle", "end"]

_SIZE = 12  # of letters
_INK = "#333333"
_SCALE = 2  # pixels of a PNG for each unit, after smoothing
_SMOOTH = 2  # times finer that it is drawn before
_ASCENT = 0.8  # of the size of letters that is above their line


@dataclass(frozen=True)
class Line:
    """From one place to another."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str


@dataclass(frozen=True)
class Dot:
    """A circle; what `title` says shows up where a mouse is above it."""

    x: float
    y: float
    size: float
    colour: str
    fill: str
    title: str = ""


@dataclass(frozen=True)
class Label:
    """A text beside a place."""

    x: float
    y: float
    text: str
    anchor: Anchor


Shape = Line | Dot | Label


@dataclass(frozen=True)
class Drawing:
    """Shapes on a white ground."""

    width: int
    height: int
    title: str
    shapes: Sequence[Shape]

    def svg(self) -> str:
        """As SVG."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img">'
        )
        ground = f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>'
        parts = [head, f"<title>{escape(self.title)}</title>", ground, *map(_svg, self.shapes)]
        return "\n".join([*parts, "</svg>"]) + "\n"

    def png(self) -> bytes:
        """As PNG; needs Pillow."""
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError:
            raise BadInput(
                "a PNG picture needs the package pillow",
                hint="pip install 'compass-hpc[png]', or write SVG, which needs nothing",
            ) from None
        fine = _SCALE * _SMOOTH
        image = Image.new("RGB", (self.width * fine, self.height * fine), "#ffffff")
        draw = ImageDraw.Draw(image)
        font = ImageFont.load_default(_SIZE * fine)
        for shape in self.shapes:
            match shape:
                case Line():
                    ends = [(shape.x1 * fine, shape.y1 * fine), (shape.x2 * fine, shape.y2 * fine)]
                    draw.line(ends, fill=shape.colour, width=fine)
                case Dot():
                    x, y, size = shape.x * fine, shape.y * fine, (shape.size + 1) * fine
                    box = (x - size, y - size, x + size, y + size)
                    draw.ellipse(box, fill=shape.fill, outline=shape.colour, width=2 * fine)
                case Label():
                    wide = draw.textlength(shape.text, font=font)
                    left = (
                        shape.x * fine - wide * {"start": 0, "middle": 0.5, "end": 1}[shape.anchor]
                    )
                    top = (shape.y - _ASCENT * _SIZE) * fine
                    draw.text((left, top), shape.text, fill=_INK, font=font)
        out = BytesIO()
        pixels = (self.width * _SCALE, self.height * _SCALE)
        image.resize(pixels, Image.Resampling.BOX).save(out, "PNG", optimize=True)
        return out.getvalue()


def _svg(shape: Shape) -> str:
    match shape:
        case Line():
            return (
                f'<line x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" '
                f'y2="{shape.y2:.1f}" stroke="{shape.colour}"/>'
            )
        case Dot():
            about = f"<title>{escape(shape.title)}</title>" if shape.title else ""
            return (
                f'<circle cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.size:g}" '
                f'fill="{shape.fill}" stroke="{shape.colour}" stroke-width="2">{about}</circle>'
            )
        case Label():
            style = f"font-family:sans-serif;font-size:{_SIZE}px;fill:{_INK}"
            return (
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}" '
                f'style="{style}">{escape(shape.text)}</text>'
            )
