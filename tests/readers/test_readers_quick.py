"""Some columns of plain text, against Python's own reading of every cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.readers.columnar import MISSING
from compass.readers.quick import ROWS, Lines, NotPlain, chosen, lines_of
from property_examples import examples

NAMES = ("app", "nodes", "free", "time")


def read(
    text: str, numbers: tuple[str, ...] = ("nodes", "time"), labels: tuple[str, ...] = ("app",)
) -> list[Lines]:
    return list(lines_of(text.encode(), NAMES, ",", numbers, labels, MISSING))


def column(found: list[Lines], name: str) -> list[float]:
    return [float(value) for lines in found for value in lines.numbers[name]]


def labels(found: list[Lines], name: str) -> list[str | None]:
    return [
        None if code < 0 else lines.labels[name][code]
        for lines in found
        for code in lines.codes[name]
    ]


_numbers = st.one_of(
    st.integers(-(10**15), 10**15).map(str),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6).map(repr),
    st.floats(min_value=1e-6, max_value=1e15).map(repr),
    st.decimals(-1000, 1000, places=12, allow_nan=False).map(str),
)
_cells = st.one_of(_numbers, st.sampled_from(MISSING))
_words = st.text("abcdefg-_/é0123456789", max_size=20).filter(lambda word: word not in MISSING)


@given(
    rows=st.lists(st.tuples(_words, _cells, _words, _cells), min_size=1, max_size=30),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
)
@examples(150)
def test_every_cell_is_what_python_reads(
    rows: list[tuple[str, str, str, str]], end: str, last: bool
) -> None:
    text = end.join(",".join(row) for row in rows) + (end if last else "")
    found = read(text)
    expected = [row[0] or None for row in rows]
    assert labels(found, "app") == expected
    for name, place in (("nodes", 1), ("time", 3)):
        for value, row in zip(column(found, name), rows, strict=True):
            if row[place] in MISSING:
                assert math.isnan(value)
            elif "e-" in row[place]:  # more than 22 decimals: nearly
                assert value == pytest.approx(float(row[place]), rel=1e-15)
            else:
                assert value == float(row[place])


def test_many_lines_come_in_several_pieces_and_labels_keep_their_numbers() -> None:
    count = 2 * ROWS + 7
    rng = np.random.default_rng(1)
    apps = rng.integers(0, 300, count)
    found = read("".join(f"app{a},{i},x,{i / 7!r}\n" for i, a in enumerate(apps)))
    assert [len(lines.begin) for lines in found] == [ROWS, ROWS, 7]
    assert labels(found, "app") == [f"app{a}" for a in apps]
    assert column(found, "time") == [i / 7 for i in range(count)]


def test_labels_that_begin_alike_are_told_apart() -> None:
    words = ["partition-a", "partition-b", "partition", "partition-a-long", "partition-a-lonG", ""]
    found = read("".join(f"{word},1,,2\n" for word in words * 3))
    assert labels(found, "app") == [word or None for word in words] * 3


@pytest.mark.parametrize(
    "line",
    [
        "a,1,x",  # too few cells
        "a,1,x,2,3",  # too many
        "a,one,x,2",
        "a,1 ,x,2",
        "a,0x10,x,2",
        "a,inf,x,2",
        "a,1e,x,2",
        "a,--1,x,2",
        "a,12345678901234567890,x,2",
        "a,1,x\ry,2",
        "a\rb1,x,2",  # a carriage return ends no cell
    ],
)
def test_what_is_not_plain_is_not_guessed_at(line: str) -> None:
    with pytest.raises(NotPlain):
        read(f"a,1,x,2\n{line}\nb,3,y,4\n")


def test_too_many_labels_are_left_to_the_careful_way() -> None:
    with pytest.raises(NotPlain):
        read("".join(f"user{n},1,x,2\n" for n in range(5000)))


def test_labels_that_are_not_utf8_are_left_to_the_careful_way() -> None:
    with pytest.raises(NotPlain):
        list(lines_of(b"a\xff,1,x,2\n", NAMES, ",", (), ("app",), MISSING))


def test_chosen_lines_are_the_bytes_of_the_text() -> None:
    text = b"a,1,x,2\n\nb,2,y,3\r\nc,3,z,4"
    (lines,) = lines_of(text, NAMES, ",", (), (), MISSING)
    assert len(lines.begin) == 3
    assert chosen(text, lines, np.array([0, 2])) == b"a,1,x,2\nc,3,z,4\n"
    assert chosen(text, lines, np.array([1])) == b"b,2,y,3\r\n"
