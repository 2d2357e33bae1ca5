"""Quantities as people write them."""

import pytest

from compass.chat.english.words import Form, Quantity, plain, quantity_at, stem, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16", Quantity(16)),
        ("1,000", Quantity(1000)),
        ("16k", Quantity(16_000)),
        ("-3", Quantity(-3)),
        ("1e-3", Quantity(0.001)),
        ("twenty four", Quantity(24)),
        ("two hundred and fifty", Quantity(250)),
        ("a dozen", Quantity(12)),
        ("5 million", Quantity(5_000_000)),
        ("10 %", Quantity(0.1, Form.SHARE)),
        ("ten percent", Quantity(0.1, Form.SHARE)),
        ("half", Quantity(0.5, Form.FRACTION)),
        ("a fifth", Quantity(0.2, Form.FRACTION)),
        ("three quarters", Quantity(0.75, Form.FRACTION)),
        ("3/4", Quantity(0.75, Form.FRACTION)),
        ("2x", Quantity(2, Form.FACTOR)),
        ("three times", Quantity(3, Form.FACTOR)),
        ("300W", Quantity(300, unit="W")),
        ("1.5 kilowatts", Quantity(1.5, unit="kW")),
        ("64 gigs", Quantity(64, unit="GB")),
        ("5 kilowatt hours", Quantity(5, unit="kWh")),
        ("half an hour", Quantity(0.5, unit="h")),
        ("an hour and a half", Quantity(1.5, unit="h")),
        ("two and a half days", Quantity(2.5, unit="d")),
        ("1 hour and 30 minutes", Quantity(1.5, unit="h")),
        ("1h30", Quantity(1.5, unit="h")),
    ],
)
def test_quantities(text: str, expected: Quantity) -> None:
    found = tokens(plain(text))
    assert quantity_at(found, 0) == (expected, len(found))


@pytest.mark.parametrize("text", ["a", "an apple", "a gpu", "nodes", "-", "1e999", "%"])
def test_words_that_are_no_quantity(text: str) -> None:
    assert quantity_at(tokens(text), 0) is None


def test_short_forms_are_written_out() -> None:
    assert plain("I don’t, can't and won't") == "I do not, cannot and will not"
    assert plain("what's elena's job") == "what is elena job"


def test_words_are_cut_at_hyphens_but_ranges_are_not() -> None:
    assert [token.text for token in tokens("what-if 4-8 O3-native ft.C.")] == [
        "what", "if", "4", "-", "8", "O3", "native", "ft", "C", ".",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [("nodes", "node"), ("processes", "process"), ("tiling", "tile"), ("energies", "energy"),
     ("optimiser", "optimizer"), ("caches", "cache"), ("pinning", "pin")],
)  # fmt: skip
def test_stems(one: str, other: str) -> None:
    assert stem(one) == stem(other)
