"""Whether a suggestion can be relied on to meet its goals."""

from collections.abc import Sequence

from compass.domain.answer import Prediction
from compass.domain.doubt import Doubt, DoubtCode


def goal_doubts(outcomes: Sequence[Prediction], least: float) -> tuple[Doubt, ...]:
    """A doubt for every goal that is predicted to be met, but with a chance below `least`.

    A suggestion that just reaches its goal misses it about every other time; who reads `trusted`
    expects more than that.
    """
    return tuple(
        Doubt(code=DoubtCode.GOAL_CHANCE, outcome=one.name, value=one.chance, limit=least)
        for one in outcomes
        if one.chance is not None and one.meets and one.chance < least
    )
