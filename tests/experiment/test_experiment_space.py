"""The columns of a plan as a space, its rules, and configurations that people name."""

import pytest
from tests.experiment.law_case import PLAN, plan

from compass.domain.errors import BadInput, ConflictingRules, StudyProblem
from compass.experiment.plan_file import plan_of
from compass.experiment.space import OF_TABLE, complete_config, rules_of, space_of


def test_fixed_values_have_one_legal_value_and_take_part_in_rules():
    given = plan(fixed={"app": "spmv", "cores": 8}, rules=["threads <= cores"])
    space = space_of(given)
    assert space["app"].values == ("spmv",)
    assert space["cores"].allowed == (8.0,)
    rules = rules_of(given, space)
    config = complete_config({"threads": 8, "tile": 16, "flags": "O2"}, space, rules)
    assert config["cores"] == 8.0
    with pytest.raises(StudyProblem, match="breaks the rule"):
        complete_config({"threads": 16, "tile": 16, "flags": "O2"}, space, rules)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"threads": 4, "tile": 64}, "does not say flags"),
        ({"threads": 4, "tile": 65, "flags": "O2"}, "tile = 65 is not legal"),
        ({"threads": 4, "tile": 64, "flags": "O2", "colour": 1}, "colour"),
        ({"threads": 4, "tile": 64, "flags": "O9"}, "O9"),
    ],
)
def test_a_configuration_that_cannot_be_says_why(config, message):
    space = space_of(plan())
    with pytest.raises(BadInput, match=message):
        complete_config(config, space, rules_of(plan(), space))


def test_rules_that_leave_nothing_are_named():
    given = plan(rules=["threads * tile <= 1024", "threads >= 16", "tile >= 128"])
    with pytest.raises(ConflictingRules, match="threads"):
        rules_of(given, space_of(given))


def test_a_rule_about_an_outcome_is_a_goal():
    given = plan(rules=["runtime <= 5"])
    with pytest.raises(StudyProblem, match="after a run only"):
        rules_of(given, space_of(given))


def test_columns_without_values_and_plans_without_columns_are_refused():
    with pytest.raises(StudyProblem, match="which values 'threads'"):
        space_of(plan_of({**PLAN, "columns": {"threads": {"low": 1}}}))
    with pytest.raises(StudyProblem, match="nothing to vary"):
        space_of(plan_of({**PLAN, "columns": {}, "rules": []}))


@pytest.mark.parametrize("name", OF_TABLE)
def test_names_of_the_table_of_runs_are_refused(name):
    knob = {"allowed": [1, 2, 4]}
    for given in (
        plan(columns={**PLAN["columns"], name: knob}),
        plan(goals={name: "minimize"}),
        plan(goals={"runtime": "minimize"}, read={name: "seconds"}),
        plan(fixed={name: 1}),
    ):
        with pytest.raises(StudyProblem, match=f"'{name}' is a column of every table") as caught:
            space_of(given)
        assert "another name" in caught.value.hint
