"""Probabilities, conditions, goals, measured runs, prices and skill as a person reads them."""

import pytest

from compass.domain.answer import Measured, ModelCard, OutcomeCondition, Prediction, Price
from compass.domain.base import Value
from compass.trust.outcome_words import (
    classes_in_words,
    condition_in_words,
    goals_in_words,
    measured_in_words,
    prices_in_words,
    settings_in_words,
    share,
    skill_in_words,
    worth_telling,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (0.004, "< 1 %"), (0.35, "35 %"), (0.995, "> 99 %"), (1.0, "100 %")],
)
def test_a_share_never_reads_as_certain_when_it_is_not(value: float, text: str) -> None:
    assert share(value) == text


def test_the_likeliest_labels_first() -> None:
    scores = {"FAILED": 0.3, "COMPLETED": 0.64, "TIMEOUT": 0.055, "NODE_FAIL": 0.005}
    assert classes_in_words(scores) == "COMPLETED 64 %, FAILED 30 %, TIMEOUT 6 %"
    assert classes_in_words({"a": 1.0, "b": 0.0}) == "a 100 %"
    assert classes_in_words({"a": 0.35, "b": 0.34, "c": 0.31}).startswith("a 35 %, b 34 %")


def condition(**given: object) -> OutcomeCondition:
    about = {"text": "state == 'OK'", "outcomes": ("state",), "asked": True, "holds": True}
    return OutcomeCondition.model_validate(about | given)


def test_a_condition_says_that_it_is_on_a_prediction() -> None:
    start = "The condition state == 'OK' is on a predicted outcome: it "
    assert condition_in_words(condition(chance=0.6)) == (
        f"{start}holds with a probability of 60 %."
    )
    assert condition_in_words(condition(chance=0.6, before=0.8)) == (
        f"{start}holds with a probability of 60 % (80 % before the change)."
    )
    assert condition_in_words(condition()) == f"{start}is met by the predicted values."
    assert condition_in_words(condition(holds=False)) == (
        f"{start}is not met by the predicted values."
    )
    assert condition_in_words(condition(asked=False, chance=0.6)).startswith("The rule state == ")


def test_standing_rules_are_told_only_in_doubt() -> None:
    assert worth_telling(condition(chance=1.0))
    assert not worth_telling(condition(asked=False, chance=0.95))
    assert worth_telling(condition(asked=False, chance=0.5))
    assert worth_telling(condition(asked=False, holds=False))


def outcome(name: str = "runtime", **fields: object) -> Prediction:
    return Prediction.model_validate({"name": name, "value": 30.0, "unit": "s"} | fields)


def test_a_goal_says_what_it_is_measured_against() -> None:
    relative = {"wanted": "runtime <= 40", "against": 50.0, "before": 48.0}
    measured = outcome(**relative, observed=50.0)
    assert goals_in_words([measured], 0.8) == (
        "Goal: runtime <= 40 (50 s measured at the baseline), with a chance of 80 %."
    )
    predicted = outcome(**relative | {"against": 48.0})
    assert "(48 s predicted at the baseline)" in goals_in_words([predicted], None)


def test_several_goals_have_the_chance_each() -> None:
    both = [outcome(wanted="runtime <= 40"), outcome("power", wanted="power <= 300")]
    text = goals_in_words([*both, outcome("energy")], 0.995)
    assert text == "Goals: runtime <= 40; power <= 300, with a chance of > 99 % each."
    assert goals_in_words(both[:1], None) == "Goal: runtime <= 40."
    assert goals_in_words([outcome()], 0.8) == ""


def test_settings_are_moves_where_they_differ_from_the_baseline() -> None:
    settings: dict[str, Value] = {"threads": 6, "flags": "O3", "cap": None}
    old: dict[str, Value] = {"threads": 8, "flags": "O3"}
    assert settings_in_words(settings, old) == "threads 8 -> 6, flags = O3, cap = none"
    assert settings_in_words(settings) == "threads = 6, flags = O3, cap = none"


_BEST = Measured(
    rows=(12,),
    runs=1,
    config={"tile": 32, "unroll": 4, "flags": "O3"},
    settings={"tile": 32},
    open={"unroll": 4, "flags": "O3"},
    outcomes={"runtime": 0.864, "energy": 5.0},
)


def test_the_best_measured_run_is_told_with_what_is_open() -> None:
    assert measured_in_words(_BEST, ("runtime",), {"runtime": "ms"}) == (
        "Best measured run of this context: row 12: runtime 0.864 ms with tile = 32. unroll and "
        "flags are open (unroll = 4, flags = O3 there): asking for them too gives at least as good "
        "a value."
    )
    one = _BEST.model_copy(update={"open": {"flags": "O3"}, "settings": {}})
    assert measured_in_words(one) == (
        "Best measured run of this context: row 12: runtime 0.864 and energy 5. flags is open "
        "(flags = O3 there): asking for it too gives at least as good a value."
    )


def test_many_runs_of_the_best_configuration_are_counted() -> None:
    many = _BEST.model_copy(update={"rows": tuple(range(3, 10)), "runs": 7, "open": {}})
    assert measured_in_words(many, ("runtime",)) == (
        "Best measured run of this context: rows 3, 4, 5, 6, 7 and 2 more, on average, runtime "
        "0.864 with tile = 32."
    )
    two = _BEST.model_copy(update={"rows": (3, 4), "runs": 2, "open": {}})
    assert "rows 3 and 4, on average, " in measured_in_words(two)


def test_prices_of_certainty() -> None:
    prices = (
        Price(chance=0.5, reached=True, distance=0.3, settings={"threads": 6}),
        Price(chance=0.8, reached=True, distance=0, settings={}, outcomes={"runtime": 31.26}),
        Price(chance=0.95, reached=False),
    )
    assert prices_in_words(prices, {"threads": 8}) == (
        "What certainty costs: 50 %: threads 8 -> 6 (distance 0.3); 80 %: no change (distance 0): "
        "runtime 31.26; 95 %: nothing found."
    )
    assert prices_in_words(()) == ""


@pytest.mark.parametrize(
    ("skill", "skilled", "text"),
    [
        (0.834, True, "skill 0.83"),
        (None, True, ""),
        (
            0.012,
            False,
            "skill 0.01, does not clearly beat the simplest prediction: nothing it predicts is "
            "trusted",
        ),
        (
            None,
            False,
            "does not clearly beat the simplest prediction: nothing it predicts is trusted",
        ),
    ],
)
def test_the_skill_of_a_model(skill: float | None, skilled: bool, text: str) -> None:
    card = ModelCard(
        target="t",
        family="forest",
        rows=9,
        features=("x",),
        error=0.1,
        error_name="MAPE",
        skill=skill,
        skilled=skilled,
        seconds=0.1,
    )
    assert skill_in_words(card) == text
