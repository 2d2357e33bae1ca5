"""A file of one application: what is said about a column that never varies."""

from pathlib import Path

import acceptance_engines as made
import pytest
from acceptance_questions import TABLE_VI
from acceptance_tables import app_variation, applications

import compass as cp
from compass.domain.errors import QueryProblem, RuleProblem
from compass.domain.goal import less, minimize

RECOMMEND = "Recommend X = {algorithm: ?} to achieve Y = {perf_variation: minimize}"


@pytest.fixture(scope="module")
def ft() -> cp.Compass:
    return made.engines()["FT"]


@pytest.mark.parametrize("written", ["app: FT", "app == 'FT'", "app: ft", "app in {FT}"])
def test_a_condition_that_holds_changes_nothing_but_a_note(ft: cp.Compass, written: str) -> None:
    plain, asked = ft.ask(RECOMMEND), ft.ask(RECOMMEND, where=[written])
    assert asked.suggestions == plain.suggestions
    (bound,) = [rule.text for rule in asked.query.where]
    assert asked.notes[0] == f"The condition {bound} holds: app is 'FT' in every run."
    assert asked.notes[1:] == plain.notes
    assert bound in asked.text


@pytest.mark.parametrize("question", [TABLE_VI[kind, "FT"] for kind in ("recommend", "what-if")])
def test_a_condition_that_cannot_hold_names_the_value_there_is(
    ft: cp.Compass, question: str
) -> None:
    with pytest.raises(QueryProblem) as caught:
        ft.ask(question.replace("app: FT", "app: CG"))
    assert caught.value.message == "app = CG cannot hold: app is 'FT' in every run"
    assert "app: 'FT'" in caught.value.hint


def test_numbers_that_never_vary(ft: cp.Compass) -> None:
    answer = ft.ask(RECOMMEND, where=["node_count == 512", "node_count >= 2"])
    assert len([note for note in answer.notes if "node_count is 512" in note]) == 2
    with pytest.raises(QueryProblem) as caught:
        ft.ask(RECOMMEND, where=["node_count <= 256"])
    assert "node_count is 512 in every run" in caught.value.message
    assert caught.value.hint


def test_what_such_a_column_says_about_others_holds(ft: cp.Compass) -> None:
    where = ["thread_count <= node_count / 64", "app == FT -> bw_level <= 2"]
    answer = ft.ask(
        "Recommend X = {thread_count: ?, bw_level: ?} to achieve Y = {runtime: minimize}",
        where=where,
    )
    for suggestion in answer:
        assert suggestion.config["thread_count"] <= 8
        assert suggestion.config["bw_level"] <= 2


def test_a_given_value_of_such_a_column_is_a_condition(ft: cp.Compass) -> None:
    query = ft.query("Recommend X = {algorithm: ?, app: FT} to achieve Y = {runtime: minimize}")
    assert query.change == {}
    assert [rule.text for rule in query.where] == ["app == 'FT'"]


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("Recommend X = {app: ?} to achieve Y = {runtime: minimize}", "nothing to choose"),
        ("Recommend X = {algorithm: ?} to achieve Y = {node_count: minimize}", "nothing to learn"),
    ],
)
def test_there_is_nothing_to_choose_or_learn(ft: cp.Compass, question: str, part: str) -> None:
    with pytest.raises(QueryProblem, match=part) as caught:
        ft.ask(question)
    assert caught.value.hint


def test_a_baseline_of_another_application_is_refused(ft: cp.Compass) -> None:
    row = dict(ft.data.row(3))
    answer = ft.reconfigure(row, ["algorithm"], {"perf_variation": minimize})
    assert answer.baseline is not None
    with pytest.raises(QueryProblem, match="app = 'CG', but app is 'FT' in every run"):
        ft.reconfigure(row | {"app": "CG"}, ["algorithm"], {"perf_variation": less(0.1)})


def test_standing_rules_on_such_columns() -> None:
    data = cp.read(applications(("FT",), 60)).roles(outcomes=["runtime", "perf_variation"])
    engine = cp.Compass(data, rules=["thread_count <= node_count / 64", "app == FT"])
    assert [rule.text for rule in engine.rules] == ["thread_count <= 512 / 64"]
    with pytest.raises(RuleProblem, match="node_count is 512 in every run"):
        cp.Compass(data, rules=["node_count <= 256"])


def test_the_command_line(tmp_path: Path) -> None:
    from tests.cli.cli_case import compass, refused, write_csv

    file = write_csv(tmp_path / "ft.csv", applications(("FT",), 200))
    words = ("--drop", "avg_runtime", "--surrogate", "forest", "--no-prove")
    result = compass("ask", file, TABLE_VI["what-if", "FT"], *words)
    assert result.code == 0, result.err
    assert "app is 'FT' in every run" in " ".join(result.out.split())
    other = TABLE_VI["what-if", "FT"].replace("app: FT", "app: CoMD")
    refused(compass("ask", file, other, *words), "app is 'FT' in every run", "app: 'FT'")


def test_the_law_behind_these_answers(ft: cp.Compass) -> None:
    best = ft.ask(RECOMMEND, where=["app: FT", "power_cap == 80", "bw_level == 2"])[0].config
    others = [app_variation(best | {"algorithm": one}, "FT") for one in ("rand", "spr", "pak")]
    assert app_variation(best, "FT") <= 1.05 * min(others)
