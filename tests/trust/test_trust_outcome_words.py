"""Probabilities and conditions as a person reads them."""

import pytest

from compass.domain.answer import OutcomeCondition
from compass.trust.outcome_words import classes_in_words, condition_in_words, share, worth_telling


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
