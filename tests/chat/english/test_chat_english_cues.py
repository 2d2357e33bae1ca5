"""Single words that tell how a message is meant."""

import pytest

from compass.chat.english import cues


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("minimise it", "minimize"),
        ("the lower the better", "minimize"),
        ("as much as possible, more!", "maximize"),
        ("less power, more speed", None),
        ("runtime", None),
    ],
)
def test_a_direction_is_less_or_more_and_never_both(text: str, way: str | None) -> None:
    assert cues.direction(text) == way


def test_an_addition_begins_with_and() -> None:
    assert cues.adds(" also under 8 nodes")
    assert not cues.adds("under 8 nodes and 4 gpus")


def test_further_options_are_others_than_those_there_are() -> None:
    assert cues.asks_further("10 more")
    assert not cues.asks_further("give me 10 options")


@pytest.mark.parametrize(
    ("text", "place"),
    [("the second one", 1), ("First.", 0), ("last column", -1), ("4", 3), ("the first two", None)],
)
def test_a_place_in_a_list(text: str, place: int | None) -> None:
    assert cues.ordinal(text) == place
