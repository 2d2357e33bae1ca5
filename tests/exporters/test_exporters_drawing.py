"""Drawings: the same shapes as SVG and as pixels."""

import io
import sys
from xml.etree import ElementTree

import pytest
from PIL import Image

from compass.domain.errors import BadInput
from compass.exporters.drawing import Dot, Drawing, Label, Line

SHAPES = (
    Line(10, 10, 90, 10, "#ff0000"),
    Dot(50, 30, 5, "#0000ff", "#00ff00", "<one> & two"),
    Label(50, 45, "a < b", "middle"),
)


def test_svg_is_well_formed_whatever_labels_say() -> None:
    root = ElementTree.fromstring(Drawing(100, 50, "<title>", SHAPES).svg())
    kinds = [child.tag.rpartition("}")[2] for child in root]
    assert kinds == ["title", "rect", "line", "circle", "text"]
    assert [child.text for child in root.iter() if child.text and child.text.strip()] == [
        "<title>",
        "<one> & two",
        "a < b",
    ]


def test_pixels_are_where_the_shapes_are() -> None:
    image = Image.open(io.BytesIO(Drawing(100, 50, "t", SHAPES).png())).convert("RGB")
    assert image.size == (200, 100)
    assert image.getpixel((100, 20)) == (255, 0, 0)
    assert image.getpixel((100, 60)) == (0, 255, 0)
    assert image.getpixel((5, 5)) == (255, 255, 255)
    text = image.crop((60, 74, 140, 94))
    assert text.getextrema() != ((255, 255),) * 3


def test_pixels_without_their_package_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(BadInput) as caught:
        Drawing(10, 10, "t", ()).png()
    assert "compass-hpc[png]" in (caught.value.hint or "")
