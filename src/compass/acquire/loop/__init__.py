"""Which runs to make next when runs can be made: a search that learns from each of them."""

from compass.acquire.loop.next_runs import next_runs
from compass.acquire.loop.problem import (
    Condition,
    Expected,
    History,
    LoopProblem,
    LoopProposal,
    NextRuns,
    Reason,
    Seen,
    StopFacts,
    Verdict,
)

__all__ = [
    "Condition",
    "Expected",
    "History",
    "LoopProblem",
    "LoopProposal",
    "NextRuns",
    "Reason",
    "Seen",
    "StopFacts",
    "Verdict",
    "next_runs",
]
