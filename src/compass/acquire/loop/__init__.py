"""Which runs to make next when runs can be made: a search that learns from each of them."""

from compass.acquire.loop.next_runs import next_runs
from compass.acquire.loop.problem import (
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
