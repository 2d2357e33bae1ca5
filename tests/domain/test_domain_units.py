"""Units: one spelling each, and conversions that agree with their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import QueryProblem
from compass.domain.units import UNITS, canonical, convert
from property_examples import examples


@pytest.mark.parametrize("symbol", UNITS)
def test_a_symbol_is_its_own_spelling(symbol: str) -> None:
    assert canonical(symbol) == symbol


@pytest.mark.parametrize(
    ("written", "symbol"),
    [
        ("seconds", "s"),
        ("Sec", "s"),
        ("hrs", "h"),
        ("Minutes", "min"),
        ("gb", "GB"),
        ("Gb", "GB"),
        ("kb", "KB"),
        ("gib", "GiB"),
        ("w", "W"),
        ("KW", "kW"),
        ("watts", "W"),
        ("ghz", "GHz"),
        ("kwh", "kWh"),
        ("µs", "us"),
        ("μs", "us"),
        ("mJ", "mJ"),
        ("MJ", "MJ"),
        ("mW", "mW"),
        ("MW", "MW"),
    ],
)
def test_spellings(written: str, symbol: str) -> None:
    assert canonical(written) == symbol


@pytest.mark.parametrize("written", ["mw", "Mw", "mj", "Mj"])
def test_what_only_case_could_tell_is_not_guessed(written: str) -> None:
    assert canonical(written) is None


@pytest.mark.parametrize("written", ["", "parsec", "%", "nodes", "m"])
def test_other_words_are_not_units(written: str) -> None:
    assert canonical(written) is None


@pytest.mark.parametrize(
    ("value", "unit", "to", "expected"),
    [
        (2, "h", "s", 7200),
        (90, "s", "min", 1.5),
        (1, "d", "h", 24),
        (64000, "MB", "GB", 64),
        (1, "GiB", "B", 2**30),
        (1, "MW", "mW", 1e9),
        (1, "kWh", "kJ", 3600),
        (2.4, "GHz", "MHz", 2400),
        (5, "mJ", "J", 0.005),
        (3, "hours", "seconds", 10800),
        (7, "stripes", "stripes", 7),
    ],
)
def test_conversions(value: float, unit: str, to: str, expected: float) -> None:
    assert convert(value, unit, to, column="c") == pytest.approx(expected, rel=1e-15)


@given(st.floats(-1e12, 1e12), st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)))
@examples(100)
def test_there_and_back_is_where_it_started(value: float, unit: str, to: str) -> None:
    if UNITS[unit][0] != UNITS[to][0]:
        with pytest.raises(QueryProblem):
            convert(value, unit, to, column="c")
        return
    there = convert(value, unit, to, column="c")
    assert convert(there, to, unit, column="c") == pytest.approx(value, rel=1e-12, abs=1e-300)
    assert convert(value, unit, unit, column="c") == value


@pytest.mark.parametrize(
    ("unit", "to", "message"),
    [
        ("GB", None, "c has no known unit, so 5 GB cannot be compared with it"),
        ("W", "s", "c is in s (time), but 5 W is power"),
        ("W", "stripes", "c is in stripes, which does not convert from W"),
        ("parsec", "s", "c is in s, which does not convert from parsec"),
        ("mw", "W", "c is in W, which does not convert from mw"),
    ],
)
def test_what_does_not_convert_is_refused(unit: str, to: str | None, message: str) -> None:
    with pytest.raises(QueryProblem) as caught:
        convert(5, unit, to, column="c")
    assert caught.value.message == message
    assert caught.value.hint


def test_a_value_that_overflows_is_refused() -> None:
    with pytest.raises(QueryProblem, match="too large to tell in B"):
        convert(1e300, "PB", "B", column="c")
