"""Predicted classes and conditions on outcomes in words."""

import math
from collections.abc import Mapping

from compass.domain.answer import OutcomeCondition

_LABELS = 3  # labels of a class that are told, the likeliest first
_LEAST = 0.01  # a label that is less likely is left out


def share(value: float) -> str:
    """A probability in percent; what is not certain never reads as 0 % or 100 %."""
    if 0 < value < 0.01:
        return "< 1 %"
    if 0.99 < value < 1:
        return "> 99 %"
    return f"{math.floor(100 * value + 0.5)} %"


def classes_in_words(scores: Mapping[str, float]) -> str:
    """The likeliest labels with their probabilities: `COMPLETED 64 %, FAILED 30 %`."""
    ranked = sorted(scores.items(), key=lambda pair: -pair[1])
    told = [pair for pair in ranked[:_LABELS] if pair[1] >= _LEAST] or ranked[:1]
    return ", ".join(f"{label} {share(score)}" for label, score in told)


def condition_in_words(condition: OutcomeCondition) -> str:
    """That a condition is on a predicted outcome, and how likely it holds, as a sentence."""
    kind = "condition" if condition.asked else "rule"
    what = f"The {kind} {condition.text} is on a predicted outcome"
    if condition.chance is None:
        holds = "is" if condition.holds else "is not"
        return f"{what}: it {holds} met by the predicted values."
    before = "" if condition.before is None else f" ({share(condition.before)} before the change)"
    return f"{what}: it holds with a probability of {share(condition.chance)}{before}."


def worth_telling(condition: OutcomeCondition) -> bool:
    """Whether a person should read of it: it is their own, or a standing rule in doubt."""
    doubtful = condition.chance is not None and condition.chance < 0.9
    return condition.asked or doubtful or not condition.holds
