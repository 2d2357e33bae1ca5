"""Whether a suggestion can be relied on to meet its goals."""

from collections.abc import Sequence

from compass.domain.answer import Label, Prediction, Trust
from compass.language import listed


def with_promise(trust: Trust, outcomes: Sequence[Prediction], least: float) -> Trust:
    """Trust of a suggestion with these outcomes: a goal that is not likely met is at most caution.

    A suggestion that just reaches its goal misses it about every other time; who reads `trusted`
    expects more than that.
    """
    unsure = [o for o in outcomes if o.chance is not None and o.meets and o.chance < least]
    if not unsure:
        return trust
    told = listed([f"{o.name} meets its goal with a chance of {o.chance:.0%} only" for o in unsure])
    if trust.label is Label.TRUSTED:
        apart = trust.reason.removeprefix("Trusted: ")
        reason = f"Caution: {told}. Apart from that, {apart}"
        return trust.model_copy(update={"label": Label.CAUTION, "reason": reason})
    return trust.model_copy(update={"reason": f"{trust.reason} Besides, {told}."})
