"""What became of each answer, and shares with their intervals. Pure functions."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

NORMAL = 1.959963984540054  # 95 % of a normal variable lie within so many standard deviations


@dataclass(frozen=True)
class Share:
    """A share of so many, with its 95 % Wilson interval."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        """The share; nan of nothing."""
        return self.hits / self.of if self.of else math.nan

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; all of [0, 1] without a case."""
        if not self.of:
            return 0.0, 1.0
        square = NORMAL**2 / self.of
        centre = (self.value + square / 2) / (1 + square)
        spread = self.value * (1 - self.value) / self.of + square / (4 * self.of)
        half = NORMAL * math.sqrt(spread) / (1 + square)
        # At the ends rounding would leave a little that is not there.
        low = max(centre - half, 0.0) if self.hits else 0.0
        high = min(centre + half, 1.0) if self.hits < self.of else 1.0
        return low, high

    def __str__(self) -> str:
        if not self.of:
            return "-"
        low, high = self.ends
        return f"{self.value:.1%} [{low:.0%}, {high:.0%}]"


def share(cases: Iterable[bool]) -> Share:
    """How many of the cases are true."""
    known = list(cases)
    return Share(sum(known), len(known))


@dataclass(frozen=True)
class Outcome:
    """One question at one stated chance, and what is true of the answer."""

    subject: str  # law or table
    kind: str
    question: str
    number: int
    chance: float  # that was asked for
    answered: bool
    label: str | None = None  # of the first suggestion
    stated: float | None = None  # the chance that the answer states for it
    distance: float | None = None  # of the first suggestion from the baseline
    limit: float | None = None  # the largest value that meets the goal
    value: float | None = None  # a new run of the first suggestion
    truth: float | None = None  # the law there, without noise
    met: bool | None = None  # None: no answer, or nothing is known of the suggestion
    met_by_law: bool | None = None
    any_met: bool | None = None
    suggestions: int = 0
    violations: int = 0
    forced: bool = False  # a rule moved what was not asked for in the first, and the answer says so
    unknown: bool = False  # the table does not hold the suggestion
    seconds: float = 0.0

    def with_facts(self, **facts: Any) -> "Outcome":
        """The same question, with what was found out."""
        return replace(self, **facts)


@dataclass(frozen=True)
class Summary:
    """The answers to some questions at one stated chance."""

    subject: str
    chance: float
    asked: int
    answered: int
    unknown: int  # answered with something that nothing is known of
    met: Share  # of those answered and known: the first suggestion truly meets the goal
    by_law: Share
    any_met: Share
    stated: float  # mean chance that answers state
    distance: float  # median, from a baseline
    forced: int
    violations: int
    seconds: float  # median


def summary(subject: str, chance: float, outcomes: Sequence[Outcome]) -> Summary:
    """One line of the report."""
    own = [one for one in outcomes if one.chance == chance]
    answered = [one for one in own if one.answered]
    distances = [one.distance for one in answered if one.distance is not None]
    stated = [one.stated for one in answered if one.stated is not None]
    return Summary(
        subject=subject,
        chance=chance,
        asked=len(own),
        answered=len(answered),
        unknown=sum(one.unknown for one in answered),
        met=share(one.met for one in answered if one.met is not None),
        by_law=share(one.met_by_law for one in answered if one.met_by_law is not None),
        any_met=share(one.any_met for one in answered if one.any_met is not None),
        stated=float(np.mean(stated)) if stated else math.nan,
        distance=float(np.median(distances)) if distances else math.nan,
        forced=sum(one.forced for one in answered),
        violations=sum(one.violations for one in own),
        seconds=float(np.median([one.seconds for one in own])) if own else math.nan,
    )


@dataclass(frozen=True)
class Check:
    """A target, and whether it is reached."""

    passed: bool
    text: str

    def __str__(self) -> str:
        return f"{'PASS' if self.passed else 'MISS'} {self.text}"
