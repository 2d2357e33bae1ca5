"""The map is true: every file in it exists, and the walk of a question is what really runs."""

import re
from pathlib import Path

import pytest

import compass as cp
from benchmarks.walk import KNOBS, reconfigure, walked
from compass import embedded
from compass.settings import ForestSettings

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "compass"


def section(title: str) -> str:
    return MAP.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_file_of_the_map_is_there() -> None:
    named = re.findall(r"`([\w/]+(?:\.py|/))`", MAP)
    assert len(named) > 100
    assert [name for name in named if not (PACKAGE / name).exists()] == []


def test_every_folder_is_on_the_map() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    picture = MAP.partition("```")[2].partition("```")[0]
    assert {name for name in folders if not re.search(rf"\b{name}\b", picture)} == set()


def test_a_question_walks_as_the_map_says() -> None:
    data = cp.read(embedded.path(), study=embedded.study())
    settings = cp.Settings(surrogate="forest", forest=ForestSettings(trees=10))
    engine = cp.Compass(data, settings=settings).fit()
    assert set(KNOBS) <= set(engine.space.names)
    reconfigure(engine)
    rows = section("The walk of a question").partition("\n\n")[2].partition("\n\n")[0]
    described = set(re.findall(r"`([\w/]+\.py)`", rows))
    assert described == set(walked(lambda: reconfigure(engine)))


@pytest.mark.parametrize(
    "noun", re.findall(r"^\| ([\w ]+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.M)[1:]
)
def test_every_noun_has_a_place(noun: str) -> None:
    line = next(
        line
        for line in (ROOT / "docs" / "glossary.md").read_text().splitlines()
        if line.startswith(f"| {noun} |")
    )
    place = line.rsplit("`", 2)[1]
    assert (PACKAGE / place).exists(), place
