"""Columns as people write them in running text."""

import pytest
from language_case import what_if

from compass.domain.errors import UnknownName
from compass.domain.goal import Observe, observe
from compass.domain.query import times
from compass.domain.space import Number, Role, Space
from compass.language import bind_query
from compass.language.bind import column
from compass.language.phrases import letters, outcomes_described, words

SPACE = Space(
    parameters=(
        Number(name="coord_X", low=0, high=9),
        Number(name="X+_LINK_INQ_STALL", low=0, high=9, role=Role.OUTCOME),
        Number(name="Y+_LINK_CREDIT_STALL", low=0, high=9, role=Role.OUTCOME),
        Number(name="LINK_USED_BW", low=0, high=9, role=Role.OUTCOME),
        Number(name="perf_variation", low=0, high=9, role=Role.OUTCOME),
        Number(name="runtime", low=0, high=9, role=Role.OUTCOME),
        Number(name="a_b", low=0, high=9),
        Number(name="ab", low=0, high=9),
    )
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("perf variation", "perf_variation"),
        ("Perf-Variation", "perf_variation"),
        ("run_time", "runtime"),
        ("a_b", "a_b"),
        ("AB", "ab"),
    ],
)
def test_separators_do_not_matter(written: str, name: str) -> None:
    assert column(written, SPACE) == name


def test_but_never_decide_between_two_columns() -> None:
    with pytest.raises(UnknownName):
        column("a b", SPACE)


def test_letters_and_words() -> None:
    assert letters("Perf_Var iation-2") == "perfvariation2"
    assert words("X+_LINK_STALLS") == {"x", "link", "stall"}


def test_a_phrase_means_all_outcomes_that_have_its_words() -> None:
    stalls = ("X+_LINK_INQ_STALL", "Y+_LINK_CREDIT_STALL")
    assert outcomes_described("link stalls", SPACE) == stalls
    assert outcomes_described("perf variation", SPACE) == ()  # that is a column
    assert outcomes_described("link", SPACE) == ()  # one word may be a misspelt name
    assert outcomes_described("link loss", SPACE) == ()


def test_what_x_names_is_not_meant() -> None:
    asked = what_if(change={"Y+_LINK_CREDIT_STALL": times(0.5)}, goals={"link stalls": observe})
    assert bind_query(asked, SPACE).goals == {"X+_LINK_INQ_STALL": Observe()}
    starred = what_if(change={"Y+_LINK_CREDIT_STALL": times(0.5)}, goals={"*STALL": observe})
    assert bind_query(starred, SPACE).goals == {"X+_LINK_INQ_STALL": Observe()}


def test_a_phrase_that_fits_nothing_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="link loss"):
        bind_query(what_if(change={"coord_X": times(2)}, goals={"link loss": observe}), SPACE)
