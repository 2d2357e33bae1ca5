"""Corners of the query templates that the corpus does not walk into."""

import pytest

from compass.domain.errors import QuerySyntax
from compass.domain.goal import less
from compass.domain.query import Kind, Row
from compass.language import format_query, parse_query


@pytest.mark.parametrize(
    ("opening", "kind"),
    [
        ("Recommend", Kind.RECOMMEND),
        ("recommend the config", Kind.RECOMMEND),
        ("RECOMMEND A CONFIGURATION WHERE", Kind.RECOMMEND),
        ("reconfigure", Kind.RECONFIGURE),
    ],
)
@pytest.mark.parametrize("achieve", ["to achieve", ", to get", "to reach"])
@pytest.mark.parametrize("end", ["", ".", "?"])
def test_ways_to_ask_for_a_goal(opening: str, kind: Kind, achieve: str, end: str) -> None:
    query = parse_query(f"{opening} X = {{n: ?}} {achieve} Y = {{t: 10% less}}{end}")
    assert (query.kind, query.ask, query.goals) == (kind, ("n",), {"t": less(0.1)})


@pytest.mark.parametrize("opening", ["What if", "what-if we change", "What if I just set"])
@pytest.mark.parametrize(
    "affect", ["how would that affect", ", how will it change", "how do they affect"]
)
def test_ways_to_ask_what_happens(opening: str, affect: str) -> None:
    query = parse_query(f"{opening} X_user = {{n: 4}} {affect} Y = {{t}}?")
    assert query == parse_query("What if we change {n: old -> 4}, how would that affect {t}")


def test_one_goal_for_several_outcomes_shares_its_old_value() -> None:
    query = parse_query("Reconfigure X = {} to achieve Y = {a, b: 120 -> reduce by 10%}")
    assert query.goals == {"a": less(0.1), "b": less(0.1)}
    assert query.stated == {"a": 120, "b": 120}


def test_names_are_plain_text() -> None:
    query = parse_query("Reconfigure X = {n: ?, m: 1 -> 2} to achieve Y = {t: min} weights {n: 2}")
    names = (*query.ask, *query.change, *query.goals, *query.stated, *query.weights)
    assert {type(name) for name in names} == {str}


@pytest.mark.parametrize(
    ("clauses", "name"),
    [
        ("top 3 top 3", "top"),
        ("seed 1 top 3 seed 1", "seed"),
        ("from row 1 from {n: 3}", "from"),
        ("weights {n: 1} weights {m: 1}", "weights"),
        ("level 80% level 80%", "level"),
    ],
)
def test_a_clause_is_given_once(clauses: str, name: str) -> None:
    with pytest.raises(QuerySyntax, match=f"'{name}' is given twice"):
        parse_query(f"Reconfigure X = {{n: ?}} to achieve Y = {{t: min}} {clauses}")


@pytest.mark.parametrize("level", ["80%", "80 percent", "0.8", ".8", "8e1%"])
def test_a_level_is_a_share_of_the_runs(level: str) -> None:
    query = parse_query(f"What if we change X = {{n: 1}} from row 1 level {level}")
    assert query.level == 0.8
    assert format_query(query).endswith(" from row 1 level 80%")
    assert parse_query(format_query(query)) == query


@pytest.mark.parametrize("level", ["0%", "100%", "80", "1", "0", "1e999"])
def test_a_level_that_nothing_can_have_is_refused(level: str) -> None:
    with pytest.raises(QuerySyntax, match=r"no interval can hold|too large") as caught:
        parse_query(f"What if we change X = {{n: 1}} level {level}")
    assert caught.value.hint


def test_a_column_may_be_called_level() -> None:
    query = parse_query("What if we change X = {level: 1 -> 2}, how would that affect Y = {t}")
    assert list(query.change) == ["level"]


@pytest.mark.parametrize("row", ["0", "00", "9223372036854775807"])
def test_rows_are_counted_from_zero(row: str) -> None:
    query = parse_query(f"What if we change X = {{n: 1}} from row {row}")
    assert query.baseline == Row(row=int(row))


@pytest.mark.parametrize("row", ["9223372036854775808", "9" * 5000, "1e3", "1.0"])
def test_a_row_that_no_table_has_is_refused(row: str) -> None:
    with pytest.raises(QuerySyntax, match="a row number must be") as caught:
        parse_query(f"What if we change X = {{n: 1}} from row {row}")
    assert caught.value.hint


@pytest.mark.parametrize("reference", ["m", "2", "older"])
def test_a_change_is_relative_to_the_column_itself(reference: str) -> None:
    with pytest.raises(QuerySyntax):
        parse_query(f"What if we change X = {{n: old -> 2*{reference}}}")


@pytest.mark.parametrize("factor", ["1e309*old", "old/1e-320", "old*-1e400"])
def test_a_factor_is_finite(factor: str) -> None:
    with pytest.raises(QuerySyntax, match="too large"):
        parse_query(f"What if we change X = {{n: old -> {factor}}}")
