"""How outcomes are read, as text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import StudyProblem
from compass.domain.experiment import OutcomeReading, ReadFrom
from compass.experiment.readings import format_reading, json_steps, parse_reading

READ = [
    ("runtime=seconds", {"source": "seconds"}),
    ("runtime=seconds*1000", {"source": "seconds", "scale": 1000}),
    (r"gflops=/GFLOPS: (\S+)/", {"source": "pattern", "text": r"GFLOPS: (\S+)"}),
    ("x=/a/b=(.)*2/", {"source": "pattern", "text": "a/b=(.)*2"}),
    ("x=/a/*0.001", {"source": "pattern", "text": "a", "scale": 1e-3}),
    ("loss=json:metrics.loss", {"source": "json", "text": "metrics.loss"}),
    ('loss=json:"a.b"."*2".0*2', {"source": "json", "text": '"a.b"."*2".0', "scale": 2}),
    ("x=line", {"source": "line"}),
    ("e=file:out.txt", {"source": "line", "file": "out.txt"}),
    ("e=file:d/out.json:json:energy", {"source": "json", "text": "energy", "file": "d/out.json"}),
    ("e=file:o:/E: (.)/*2", {"source": "pattern", "text": "E: (.)", "file": "o", "scale": 2}),
    ('e=file:"a: b*2":json:x', {"source": "json", "text": "x", "file": "a: b*2"}),
]


@pytest.mark.parametrize(("text", "fields"), READ)
def test_texts_and_back(text: str, fields: dict[str, object]) -> None:
    name, reading = parse_reading(text)
    assert reading == OutcomeReading(**fields)
    assert format_reading(name, reading) == text


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="=\0"), min_size=1).filter(
    lambda text: text == text.strip()
)
FILES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(
    lambda text: not text.startswith("/") and ".." not in text and text.strip("./")
)


@given(
    name=NAMES,
    source=st.sampled_from(ReadFrom),
    text=st.text(st.characters(codec="utf-8"), min_size=1),
    keys=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1),
    file=st.none() | FILES,
    scale=st.just(1.0) | st.floats(allow_nan=False, allow_infinity=False).filter(bool),
)
def test_every_reading_can_be_written(
    name: str,
    source: ReadFrom,
    text: str,
    keys: list[str],
    file: str | None,
    scale: float,
) -> None:
    import json

    written = {
        ReadFrom.PATTERN: text,
        ReadFrom.JSON: ".".join(json.dumps(key, ensure_ascii=False) for key in keys),
    }
    reading = OutcomeReading(
        source=source,
        text=written.get(source, ""),
        file=None if source is ReadFrom.SECONDS else file,
        scale=scale,
    )
    assert parse_reading(format_reading(name, reading)) == (name, reading)
    if source is ReadFrom.JSON:
        assert json_steps(reading.text) == tuple(keys)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("runtime", "it is not NAME=HOW"),
        ("=seconds", "it is not NAME=HOW"),
        ("x=", "it is not NAME=HOW"),
        ("x=second", "'second' is not understood"),
        ("x=//", "'//' is not understood"),
        ("x=/a", "'/a' is not understood"),
        ("x=file:", "it names no file"),
        ("x=file:a b", "' b' after"),
        ('x=file:"a', "it names no file"),
        ('x=file:"\\q"', "no quoted name"),
        ("x=file:/etc/passwd", "inside the folder of the run"),
        ("x=file:a/../../b", "inside the folder of the run"),
        ("x=file:a:seconds", "seconds are measured"),
        ("x=json:", "no path inside JSON"),
        ("x=json:a..b", "no path inside JSON"),
        ("x=json:a.", "no path inside JSON"),
        ("x=seconds*0", "times 0"),
        ("x=seconds*1e999", "finite"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, problem: str) -> None:
    with pytest.raises(StudyProblem, match=problem):
        parse_reading(text)
