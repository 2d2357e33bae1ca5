"""Corners of the query templates that the corpus does not walk into."""

import pytest
from pydantic import ValidationError

from compass.domain.errors import QuerySyntax
from compass.domain.goal import less
from compass.domain.query import Kind, Query, Row
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
        ("loss {valid: 1} loss {diversity: 1}", "loss"),
        ("keep dependencies ignore dependencies", "dependencies"),
        ("chance 80% top 1 chance 80%", "chance"),
        ("beyond beyond", "beyond"),
    ],
)
def test_a_clause_is_given_once(clauses: str, name: str) -> None:
    with pytest.raises(QuerySyntax, match=f"'{name}' is given twice"):
        parse_query(f"Reconfigure X = {{n: ?}} to achieve Y = {{t: min}} {clauses}")


ASKED = "Reconfigure X = {n: ?} to achieve Y = {t: min}"


def test_the_weights_of_the_loss_are_named() -> None:
    query = parse_query(f"{ASKED} loss {{valid = 2, proximity: 0.50, constraint: 0}} generator c3g")
    assert query.loss == {"valid": 2.0, "proximity": 0.5, "constraint": 0.0}
    text = format_query(query)
    assert text.endswith(" loss {valid: 2, proximity: 0.5, constraint: 0} generator c3g")
    assert parse_query(text) == query
    assert parse_query(f"{ASKED} loss {{}}") == parse_query(ASKED)


@pytest.mark.parametrize(
    ("clause", "message", "hint"),
    [
        ("loss {proximty: 1}", "no term of the loss named 'proximty'", "did you mean proximity?"),
        ("loss {n: 1}", "no term of the loss named 'n'", "there are: valid, proximity, "),
        ("loss {valid: 1001}", "the weight of valid must be from 0 to 1000", "write e.g. 5"),
        ("loss {valid: -1}", "the weight of valid must be from 0 to 1000", "write e.g. 5"),
        ("loss {valid: 1, valid: 2}", "'valid' is named twice in loss", "name it once"),
        ("diversity 2 loss {diversity: 2}", "diversity is given twice", "write diversity, or loss"),
    ],
)
def test_weights_that_the_loss_has_not_are_refused(clause: str, message: str, hint: str) -> None:
    with pytest.raises(QuerySyntax, match=message) as caught:
        parse_query(f"{ASKED} {clause}")
    assert caught.value.hint.startswith(hint)


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


@pytest.mark.parametrize("name", ["level", "chance", "beyond"])
def test_a_column_may_be_called_like_an_option(name: str) -> None:
    query = parse_query(
        f"Reconfigure X = {{{name}: 1 -> 2}} to get Y = {{t: min}} where {name} < 3 from row 2"
    )
    assert list(query.change) == [name]
    assert query.where[0].text == f"{name} < 3"
    assert (query.chance, query.beyond, query.level) == (None, False, None)


@pytest.mark.parametrize("chance", ["95%", "95 percent", "0.95", ".95", "9.5e1%"])
def test_a_chance_is_a_share(chance: str) -> None:
    query = parse_query(f"Recommend X = {{n: ?}} to get Y = {{t: <= 4}} chance {chance} beyond")
    assert (query.chance, query.beyond) == (0.95, True)
    assert format_query(query).endswith(" chance 95% beyond")
    assert parse_query(format_query(query)) == query


@pytest.mark.parametrize("chance", ["0%", "100%", "95", "1", "0", "1e999"])
def test_a_chance_that_no_goal_can_have_is_refused(chance: str) -> None:
    text = f"Recommend X = {{n: ?}} to get Y = {{t: <= 4}} chance {chance}"
    with pytest.raises(QuerySyntax, match="no goal can be met with a chance of") as caught:
        parse_query(text)
    assert "e.g. chance 95%" in caught.value.hint
    assert caught.value.text[caught.value.column :] == f"chance {chance}"


@pytest.mark.parametrize("chance", [0, 1, 1.5, -0.1, "most"])
def test_a_chance_in_json_has_the_same_limits(chance: object) -> None:
    with pytest.raises(ValidationError) as caught:
        Query.model_validate({"kind": "recommend", "chance": chance})
    assert [one["loc"] for one in caught.value.errors()] == [("chance",)]


@pytest.mark.parametrize(
    ("clause", "wanted"),
    [
        ("keep dependencies", "keep"),
        (", keeping the dependencies", "keep"),
        ("Ignore  Dependencies", "ignore"),
        ("ignoring the dependencies", "ignore"),
    ],
)
@pytest.mark.parametrize(
    "question",
    [
        "Recommend X = {n: ?} to achieve Y = {t: min}",
        "What if we change X = {n: 1}",
        "What if we change X = {n: 1}, how would that affect Y = {t} from row 1",
        "What if we change X = {n: 1} but I want to keep Y = {t} the same from row 1",
    ],
)
def test_dependencies_are_kept_or_ignored(question: str, clause: str, wanted: str) -> None:
    query = parse_query(f"{question} {clause}")
    assert query.dependencies == wanted
    assert format_query(query).endswith(f" {wanted} dependencies")
    assert parse_query(format_query(query)) == query
    assert parse_query(question).dependencies is None


def test_a_column_may_be_called_dependencies() -> None:
    query = parse_query("Recommend X = {dependencies: ?, keep: ?} to achieve Y = {t: min}")
    assert query.ask == ("dependencies", "keep")


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
