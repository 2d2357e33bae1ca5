"""Messages to and from the process that runs a model."""

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.execute.child import Garbled
from compass.model.files import wire
from property_examples import examples


def message(header: Any, body: bytes = b"") -> bytes:
    head = json.dumps(header).encode()
    return struct.pack(">I", len(head)) + head + body


@examples(30)
@given(st.integers(0, 20), st.integers(0, 5), st.integers(0, 2**31))
def test_arrays_arrive_bit_for_bit(rows: int, columns: int, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    X[X > 2] = np.nan
    sizes = np.arange(rows)
    header, (there, whole) = wire.decode(b"".join(wire.encode({"op": "predict"}, [X, sizes])))
    assert header["op"] == "predict"
    assert there.tobytes() == X.tobytes()
    assert there.shape == X.shape
    assert np.array_equal(whole, sizes)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", wire.HEADER + 1),
        struct.pack(">I", 3) + b"abc",
        message([]),
        message({"arrays": 3}),
        message({"arrays": [{"shape": [1], "type": "|O"}]}, bytes(8)),
        message({"arrays": [{"shape": [1, 1, 1], "type": "<f8"}]}, bytes(8)),
        message({"arrays": [{"shape": [-1], "type": "<f8"}]}),
        message({"arrays": [{"shape": [2**40, 2**40], "type": "<f8"}]}),
        message({"arrays": [{"shape": ["x"], "type": "<f8"}]}),
        message({"arrays": [{"shape": [2], "type": "<f8"}]}, bytes(15)),
        message({"arrays": [{"shape": [2], "type": "<f8"}]}, bytes(17)),
        message({"arrays": []}, bytes(1)),
        message({"arrays": []})[:-1],
        b"",
        bytes(3),
    ],
)
def test_messages_that_follow_no_protocol_are_refused(data: bytes) -> None:
    with pytest.raises(Garbled):
        wire.decode(data)
