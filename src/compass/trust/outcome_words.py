"""What is said of outcomes: classes, conditions, goals, measured runs, prices, skill of models."""

import math
from collections.abc import Mapping, Sequence

from compass.domain.answer import Measured, ModelCard, OutcomeCondition, Prediction, Price
from compass.domain.base import Config
from compass.domain.quantity import quantity, setting
from compass.language import listed

Units = Mapping[str, str | None]

_LABELS = 3  # labels of a class that are told, the likeliest first
_LEAST = 0.01  # a label that is less likely is left out
_ROWS = 5  # rows of past runs that are named


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


def goals_in_words(outcomes: Sequence[Prediction], chance: float | None) -> str:
    """The goals in numbers, what they are measured against, and how likely they have to be met.

    Empty where no goal has numbers.
    """
    goals = [f"{one.wanted}{_against(one)}" for one in outcomes if one.wanted is not None]
    if not goals:
        return ""
    head = "Goal" if len(goals) == 1 else "Goals"
    likely = "" if chance is None else f", with a chance of {share(chance)}"
    each = " each" if likely and len(goals) > 1 else ""
    return f"{head}: {'; '.join(goals)}{likely}{each}."


def _against(outcome: Prediction) -> str:
    """What a relative goal is measured against, in brackets."""
    if outcome.against is None:
        return ""
    how = "measured" if outcome.observed == outcome.against else "predicted"
    return f" ({quantity(outcome.against, outcome.unit)} {how} at the baseline)"


def settings_in_words(
    settings: Config, baseline: Config | None = None, units: Units | None = None
) -> str:
    """Settings with their values; against a baseline, moves: `threads 8 -> 6, flags = O3`."""
    old, known = baseline or {}, units or {}
    return ", ".join(
        f"{name} {setting(old[name], known.get(name))} -> {setting(value, known.get(name))}"
        if name in old and old[name] != value
        else f"{name} = {setting(value, known.get(name))}"
        for name, value in settings.items()
    )


def measured_in_words(
    best: Measured, wanted: Sequence[str] = (), units: Units | None = None
) -> str:
    """The best measured run of a context, with its settings and what the question leaves open.

    `wanted` are the outcomes that are told; all, where none of them was measured.
    """
    known = units or {}
    names = [name for name in best.outcomes if name in wanted] or list(best.outcomes)
    values = listed([f"{name} {quantity(best.outcomes[name], known.get(name))}" for name in names])
    settings = f" with {settings_in_words(best.settings, None, known)}" if best.settings else ""
    mean = ", on average," if best.runs > 1 else ":"
    head = f"Best measured run of this context: {_rows(best)}{mean} {values}{settings}."
    if not best.open:
        return head
    are, them = ("is", "it") if len(best.open) == 1 else ("are", "them")
    there = settings_in_words(best.open, None, known)
    return (
        f"{head} {listed(list(best.open))} {are} open ({there} there): "
        f"asking for {them} too gives at least as good a value."
    )


def _rows(best: Measured) -> str:
    rows = [str(row) for row in best.rows[:_ROWS]]
    more = best.runs - len(rows)
    named = f"{', '.join(rows)} and {more} more" if more > 0 else listed(rows)
    return f"{'row' if best.runs == 1 else 'rows'} {named}"


def price_in_words(price: Price, baseline: Config | None = None, units: Units | None = None) -> str:
    """The smallest change that meets the goals with a chance: `threads 8 -> 6 (distance 0.3)`."""
    if not price.reached:
        return "nothing found"
    known = units or {}
    settings = settings_in_words(price.settings, baseline, known) or "no change"
    distance = "" if price.distance is None else f" (distance {price.distance:.2g})"
    outcomes = ", ".join(
        f"{name} {quantity(value, known.get(name))}" for name, value in price.outcomes.items()
    )
    return f"{settings}{distance}: {outcomes}" if outcomes else f"{settings}{distance}"


def prices_in_words(
    prices: Sequence[Price], baseline: Config | None = None, units: Units | None = None
) -> str:
    """What certainty costs, as a sentence; empty where that is not known."""
    parts = [f"{share(price.chance)}: {price_in_words(price, baseline, units)}" for price in prices]
    return f"What certainty costs: {'; '.join(parts)}." if parts else ""


def skill_in_words(card: ModelCard) -> str:
    """How much better than the simplest prediction a model is; empty where that is not known."""
    skill = "" if card.skill is None else f"skill {card.skill:.2f}"
    if card.skilled:
        return skill
    doubt = "does not clearly beat the simplest prediction: nothing it predicts is trusted"
    return f"{skill}, {doubt}" if skill else doubt
