"""What Compass says when it has taken in new runs."""

from pydantic import Field

from compass.domain.answer import Drift
from compass.domain.base import Noun


class Learnt(Noun):
    """How the model of one outcome took in new runs."""

    target: str
    how: str = Field(description="continued, trained anew or chosen anew, and why")
    error_name: str
    error_before: float | None = Field(
        description="of the old model on runs that neither model saw; None: there are none"
    )
    error_after: float = Field(description="of the new model on runs that it did not see")
    drift: Drift | None = None


class Told(Noun):
    """New runs taken in, and what they changed."""

    rows: int = Field(description="runs that arrived")
    used: int = Field(description="those that are complete and legal")
    total: int = Field(description="runs that are known now")
    learnt: tuple[Learnt, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float
