"""The same configuration has the same key, however it is written."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.base import Config, Value
from compass.experiment.key import configuration_key
from property_examples import examples

VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.none()
)
CONFIGS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def same_value(one: Value, other: Value) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


@given(CONFIGS, CONFIGS, st.randoms())
@examples(200)
def test_keys_are_equal_where_values_are(one: Config, other: Config, order: random.Random) -> None:
    same = one.keys() == other.keys() and all(same_value(one[n], other[n]) for n in one)
    assert (configuration_key(one) == configuration_key(other)) == same
    names = order.sample(sorted(one), len(one))
    assert configuration_key({name: one[name] for name in names}) == configuration_key(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0.0, -0.0),
        (2**53, 2.0**53),
        (1e300, int(1e300)),
        (np.int64(3), 3.0),
        (np.float32(0.5), 0.5),
        (np.True_, True),
        (float("nan"), float("nan")),
    ],
)
def test_one_value_has_one_key(one: Value, other: Value) -> None:
    assert configuration_key({"x": one}) == configuration_key({"x": other})


def test_unlike_values_have_unlike_keys() -> None:
    values: list[Value] = [1, "1", True, "true", None, "null", 0, False, "", "nan", float("nan")]
    values += [float("inf"), -float("inf"), 2**53 + 1, 2**53, 0.1, 0.1 + 2**-56]
    assert len({configuration_key({"x": value}) for value in values}) == len(values)
    assert configuration_key({"x": 1}) != configuration_key({"y": 1})


def test_what_is_read_back_from_json_has_the_same_key() -> None:
    config: Config = {"é": 0.1, "b": float("inf"), "a": True, "c": 10**25}
    assert configuration_key(json.loads(json.dumps(config))) == configuration_key(config)
