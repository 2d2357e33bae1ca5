"""How much is studied, and how progress is told."""

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Splits, rows and questions of a study."""

    seed: int = 0
    surrogate: str = "forest"
    random: int = 3  # random splits for labels
    regions: int = 4  # regions left out
    learn: int = 8000  # rows learnt from at most
    test: int = 1000  # held-out rows looked at in each split
    splits: int = 20  # random splits for the coverage of intervals
    covered: int = 4000  # rows of these, those held out included
    beside: int = 5  # splits in which an ensemble and a Gaussian process are measured beside
    process: int = 1500  # rows that the Gaussian process learns from
    pairs: int = 25  # what-if questions in each of the first splits
    paired: int = 4  # splits in which they are asked
    shares: tuple[float, ...] = (0.05, 0.1, 0.2)  # of an exhaustive table that an engine learns
    samples: int = 4  # engines per exhaustive space and share
    baselines: int = 4  # runs to improve per engine


def quick(seed: int, surrogate: str) -> Plan:
    """A smoke run: its figures mean nothing."""
    return Plan(
        seed=seed,
        surrogate=surrogate,
        random=1,
        regions=1,
        learn=300,
        test=60,
        splits=2,
        covered=400,
        beside=1,
        process=80,
        pairs=2,
        paired=1,
        shares=(0.1,),
        samples=1,
        baselines=1,
    )


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)
