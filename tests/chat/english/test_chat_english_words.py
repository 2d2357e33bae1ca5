"""Quantities as people write them."""

import pytest

from compass.chat.english.words import QuantityForm, TextQuantity, plain, quantity_at, stem, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16", TextQuantity(16)),
        ("1,000", TextQuantity(1000)),
        ("16k", TextQuantity(16_000)),
        ("-3", TextQuantity(-3)),
        ("1e-3", TextQuantity(0.001)),
        ("twenty four", TextQuantity(24)),
        ("two hundred and fifty", TextQuantity(250)),
        ("a dozen", TextQuantity(12)),
        ("5 million", TextQuantity(5_000_000)),
        ("10 %", TextQuantity(0.1, QuantityForm.SHARE)),
        ("ten percent", TextQuantity(0.1, QuantityForm.SHARE)),
        ("half", TextQuantity(0.5, QuantityForm.FRACTION)),
        ("a fifth", TextQuantity(0.2, QuantityForm.FRACTION)),
        ("three quarters", TextQuantity(0.75, QuantityForm.FRACTION)),
        ("3/4", TextQuantity(0.75, QuantityForm.FRACTION)),
        ("2x", TextQuantity(2, QuantityForm.FACTOR)),
        ("three times", TextQuantity(3, QuantityForm.FACTOR)),
        ("300W", TextQuantity(300, unit="W")),
        ("1.5 kilowatts", TextQuantity(1.5, unit="kW")),
        ("64 gigs", TextQuantity(64, unit="GB")),
        ("5 kilowatt hours", TextQuantity(5, unit="kWh")),
        ("half an hour", TextQuantity(0.5, unit="h")),
        ("an hour and a half", TextQuantity(1.5, unit="h")),
        ("two and a half days", TextQuantity(2.5, unit="d")),
        ("1 hour and 30 minutes", TextQuantity(1.5, unit="h")),
        ("1h30", TextQuantity(1.5, unit="h")),
    ],
)
def test_quantities(text: str, expected: TextQuantity) -> None:
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
