"""Plans as people write them: read, refused with a place, and written to read the same."""

import pytest
from tests.experiment.law_case import PLAN, plan

from compass.domain.errors import StudyProblem
from compass.experiment.plan_file import history_of, load_plan, name_of, plain, plan_of

TEXT = r"""
command: ./prog -t {threads} --tile {tile}
columns:
  threads: {allowed: [1, 2, 4, 8], unit: cores}
  tile: {low: 16, high: 256, step: 16}
  flags: {values: [O2, O3]}
rules: [threads * tile <= 1024]
fixed: {app: spmv}
goals: {runtime: minimize, energy: minimize, power: '<= 200', check: valid}
read: {runtime: seconds, power: '/average power: (\S+)/', check: 'json:check'}
weights: {runtime: 2}
budget: 12
runner: local:slots=2
time_limit: 30
"""


def test_a_plan_is_the_same_after_it_was_written(tmp_path):
    path = tmp_path / "plan.yml"
    path.write_text(TEXT)
    first = plan_of(load_plan(path))
    assert first.budget == 12
    assert first.study.rules == ("threads * tile <= 1024",)
    assert plan_of(plain(first)) == first


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"bugdet": 3}, "unknown key 'bugdet'", "budget"),
        ({"goals": {}}, "needs a goal", ""),
        ({"goals": {"runtime": "smallest possible!"}}, "is no goal", "minimize"),
        ({"goals": ["runtime"]}, "must be a mapping", "runtime"),
        ({"budget": 0}, "budget", ""),
        ({"columns": {"threads": {"alowed": [1]}}}, "alowed", ""),
        ({"goals": {"runtime": "minimize, z: maximize"}}, "more than one goal", "of its own"),
        ({"goals": {"runtime": "<= 3, power: minimize"}}, "more than one goal", "of its own"),
        ({"goals": {"": "minimize"}}, "no name", ""),
        ({"goals": {" ": {"kind": "extreme", "direction": "minimize"}}}, "needs a name", ""),
        ({"read": {"": "seconds"}}, "not NAME=HOW", "seconds"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(changes, message, hint):
    with pytest.raises(StudyProblem, match=message) as caught:
        plan_of({**PLAN, **changes})
    assert hint in caught.value.hint


def test_plan_files_that_cannot_be_read(tmp_path):
    (tmp_path / "plan.yml").write_text("goals: {a: [")
    with pytest.raises(StudyProblem, match="not well formed"):
        load_plan(tmp_path / "plan.yml")
    with pytest.raises(StudyProblem, match="no plan") as caught:
        load_plan(tmp_path / "plam.yml")
    assert "plan.yml" in caught.value.hint
    (tmp_path / "list.yml").write_text("[1, 2]")
    with pytest.raises(StudyProblem, match="must be a mapping"):
        load_plan(tmp_path / "list.yml")


def test_the_plan_of_tests_is_whole():
    assert plan_of(plain(plan())) == plan()


def test_past_runs_are_looked_for_beside_the_plan(tmp_path):
    assert history_of({}, tmp_path) is None
    assert history_of({"history": "old/*.csv"}, tmp_path) == str(tmp_path / "old/*.csv")
    assert history_of({"history": str(tmp_path / "a.csv")}, tmp_path / "b") == str(
        tmp_path / "a.csv"
    )
    assert history_of({"history": "dataset:some"}, tmp_path) == "dataset:some"
    with pytest.raises(StudyProblem, match="names no past runs"):
        history_of({"history": 3}, tmp_path)


def test_a_plan_may_name_its_experiment():
    assert name_of({}) is None
    assert name_of({"name": "tune"}) == "tune"
    with pytest.raises(StudyProblem, match="is no name"):
        name_of({"name": " "})
