"""Messages in the query language are taken as they stand."""

import pytest
from tests.chat.chat_case import FIGURE

from compass.chat.draft import Draft, Options
from compass.chat.formal import formal_draft, is_formal
from compass.domain.errors import BadInput
from compass.domain.goal import minimize
from compass.domain.query import Kind


def test_a_formal_query_is_taken_as_it_stands() -> None:
    text = "Recommend X = {nodes: ?} to achieve Y = {RUNTIME: minimize} where C = {power < 9} top 3"
    assert formal_draft(f"{text} seed 7", FIGURE) == Draft(
        kind=Kind.RECOMMEND,
        ask=("nodes",),
        goals={"runtime": minimize},
        where=("power < 9",),
        count=3,
        options=Options(seed=7),
    )
    kept = formal_draft(f"{text} keep dependencies", FIGURE)
    assert kept is not None
    assert kept.options == Options(dependencies="keep")
    with pytest.raises(BadInput, match="nods"):
        formal_draft("Recommend X = {nods: ?} to achieve Y = {runtime: minimize}", FIGURE)
    assert formal_draft("recommend nodes", FIGURE) is None


def test_braces_open_a_query_only_behind_its_first_words() -> None:
    assert not is_formal("recommend Ünits to minimize power {W}")
    assert is_formal("Recommend {threads: ?} to achieve {runtime_ms: minimize}")
    assert is_formal("what if we change X = {threads: old -> 4}")
    assert is_formal("Recommend X = {threads: ")
