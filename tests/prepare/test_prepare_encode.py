"""Configurations become vectors and come back unchanged."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.base import Value
from compass.domain.errors import BaselineProblem, UnknownName
from compass.domain.space import Category, Number, Space
from compass.prepare import Encoder
from compass.prepare.legal import legal, legal_values
from compass.readers import Table
from property_examples import examples

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="cap", low=100, high=200, allowed=(100, 150, 200), optional=True),
        Number(name="freq", low=1.2, high=2.4),
        Category(name="app", values=("amg", "CoMD", None)),
        Category(name="flag", values=(False, True)),
        Category(name="class", values=(0, 1)),
    )
)
ENCODER = Encoder(SPACE)
CONFIG: dict[str, Value] = {
    "nodes": 8, "cap": None, "freq": 2.0, "app": "CoMD", "flag": True, "class": 1,
}  # fmt: skip


def test_encoding_and_decoding() -> None:
    vector = ENCODER.encode(CONFIG)
    np.testing.assert_array_equal(vector, [8, 300, 2, 1, 1, 1])
    assert vector.dtype == np.float64
    back = ENCODER.decode(vector)
    assert back == CONFIG
    assert [type(v) for v in back.values()] == [int, type(None), float, str, bool, int]


def test_part_of_a_configuration() -> None:
    vector = ENCODER.encode({"freq": 2, "app": None}, partial=True)
    np.testing.assert_array_equal(vector, [np.nan, np.nan, 2, 2, np.nan, np.nan])
    assert ENCODER.decode(vector) == {"freq": 2.0, "app": None}
    with pytest.raises(BaselineProblem, match="nodes, cap, flag, class"):
        ENCODER.encode({"freq": 2, "app": None})


def test_labels_are_found_in_any_case() -> None:
    def code(name: str, value: Any) -> float:
        return float(ENCODER.encode({name: value}, partial=True)[SPACE.names.index(name)])

    assert code("app", "AMG") == 0
    assert code("flag", "TRUE") == 1
    assert code("class", 1.0) == 1
    assert code("class", np.int64(0)) == 0
    assert code("nodes", np.float32(4)) == 4
    twins = Encoder(Space(parameters=(Category(name="x", values=("a", "A", "b")),)))
    assert twins.encode({"x": "A"}).tolist() == [1]
    with pytest.raises(UnknownName):
        Encoder(Space(parameters=(Category(name="x", values=("aB", "Ab")),))).encode({"x": "ab"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", "eight"),
        ("nodes", "8"),
        ("nodes", True),
        ("nodes", None),
        ("nodes", math.nan),
        ("nodes", math.inf),
        ("nodes", [1]),
        ("cap", 300),  # the number that stands for none
        ("app", math.nan),
        ("app", ["amg"]),
        ("flag", None),
    ],
)
def test_values_that_cannot_be_meant(name: str, value: Value) -> None:
    with pytest.raises(BaselineProblem) as caught:
        ENCODER.encode({**CONFIG, name: value})
    assert name in caught.value.message
    assert caught.value.hint


def test_unknown_labels_and_columns_offer_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        ENCODER.encode({**CONFIG, "app": "comb"})
    assert "CoMD" in caught.value.hint
    with pytest.raises(UnknownName) as caught:
        ENCODER.encode({**CONFIG, "nods": 1})
    assert "nodes" in caught.value.hint


def test_a_table_is_encoded_as_its_rows_are() -> None:
    rows: list[dict[str, Value]] = [
        CONFIG,
        {**CONFIG, "app": "amg", "cap": 150.0, "flag": False},
        {**CONFIG, "app": None, "freq": 1.25, "class": 0},
    ]
    arrow = pa.Table.from_pylist(rows)
    table = Table.of(arrow)
    expected = np.array([ENCODER.encode(row) for row in rows])
    np.testing.assert_array_equal(ENCODER.encode_table(table), expected)
    some = np.array([2, 0])
    np.testing.assert_array_equal(ENCODER.encode_table(table, some), expected[some])


def test_cells_that_are_missing_or_unlisted_are_nan() -> None:
    space = Space(parameters=(Number(name="n", low=0, high=9), Category(name="c", values=("a",))))
    table = Table.of(pa.table({"n": [1.0, None, math.inf], "c": ["b", None, "a"]}))
    np.testing.assert_array_equal(
        Encoder(space).encode_table(table), [[1, np.nan], [np.nan, np.nan], [np.nan, 0]]
    )


def test_text_and_truth_can_be_read_as_numbers() -> None:
    space = Space(parameters=(Number(name="n", low=0, high=9), Number(name="b", low=0, high=1)))
    table = Table.of(pa.table({"n": ["3", "x", None, " 4.5"], "b": [True, False, None, True]}))
    np.testing.assert_array_equal(
        Encoder(space).encode_table(table), [[3, 1], [np.nan, 0], [np.nan, np.nan], [4.5, 1]]
    )


LABEL = st.one_of(st.text(max_size=4), st.booleans(), st.integers(-9, 9), st.none())


@st.composite
def parameters(draw: st.DrawFn, name: str) -> Number | Category:
    if draw(st.booleans()):
        keys = st.lists(LABEL, min_size=1, max_size=5, unique_by=lambda v: (type(v), v))
        return Category(name=name, values=tuple(draw(keys)))
    low = draw(st.integers(-50, 50)) / draw(st.sampled_from([1, 4, 10]))
    optional = draw(st.booleans())
    if draw(st.booleans()):
        values = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique=True))
        allowed = tuple(sorted({v + 0.0 for v in values}))
        return Number(
            name=name, low=allowed[0], high=allowed[-1], allowed=allowed, optional=optional
        )
    step = draw(st.sampled_from([1.0, 0.5, 0.1, None]))
    high = low + draw(st.integers(0, 20))
    return Number(name=name, low=low, high=high, step=step, optional=optional)


@examples(80)
@given(st.data())
def test_nothing_is_lost_either_way(data: st.DataObject) -> None:
    space = Space(parameters=tuple(data.draw(parameters(f"p{i}")) for i in range(3)))
    encoder = Encoder(space)
    vector = []
    for parameter in space:
        every = legal_values(parameter, 1000)
        if every is None:
            assert isinstance(parameter, Number)
            vector.append(data.draw(st.floats(parameter.low, parameter.high)) + 0.0)
        else:
            vector.append(float(data.draw(st.sampled_from(every.tolist()))))
    config = encoder.decode(vector)
    np.testing.assert_array_equal(encoder.encode(config), vector)
    assert encoder.decode(encoder.encode(config)) == config
    for parameter in space:
        assert legal(parameter, config[parameter.name])
        if isinstance(parameter, Number) and parameter.whole:
            assert isinstance(config[parameter.name], int | None)
