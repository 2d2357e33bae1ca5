"""Why a prediction is not relied on: one doubt per cause, in fields.

Decision 0031 (docs/decisions).
"""

from enum import StrEnum

from pydantic import Field

from compass.domain.base import Noun


class DoubtCode(StrEnum):
    """What speaks against relying on a prediction."""

    UNSEEN_VALUE = "unseen value"
    OUTSIDE_PAST_RUNS = "outside past runs"
    FAR_FROM_PAST_RUNS = "far from past runs"
    NO_RUN_NEAR = "no run near"
    BEYOND_RANGE = "beyond range"
    UNCERTAIN = "uncertain"
    LARGE_ERROR = "large expected error"
    EFFECT_CONTRADICTED = "effect contradicted"
    EFFECT_NEVER_OBSERVED = "effect never observed"
    EFFECT_NOT_IDENTIFIABLE = "effect not identifiable"
    NOTHING_COMPARABLE = "nothing comparable"
    GOAL_CHANCE = "goal chance"
    GOAL_MISSED = "goal missed"
    NO_SKILL = "no skill"
    BEYOND_CONTEXT = "beyond this context"
    BREAKS_DEPENDENCY = "breaks a dependency"
    NEVER_TOGETHER = "never run together"
    SIMILAR_FAILED = "similar runs failed"
    MEASURED_OTHERWISE = "measured otherwise"


class Doubt(Noun):
    """One thing that speaks against relying on a prediction."""

    code: DoubtCode
    columns: tuple[str, ...] = Field((), description="parameters that it is about")
    runs: tuple[str, ...] | None = Field(
        None, description="past runs that it is about, and what they say"
    )
    outcome: str | None = Field(None, description="the outcome that it is about; None: all")
    value: float | None = Field(
        None,
        description="what was found: the share of past runs that are nearer, more certain or "
        "better predicted; past runs near; pairs of comparable runs, or the share of them that "
        "agrees; the chance to meet the goal; the chance that it cannot be run, or fails",
    )
    limit: float | None = Field(None, description="what it is compared with; beyond is a doubt")
