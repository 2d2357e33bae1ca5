"""Draws rows until enough of them obey, and says how many it took."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.synth.base import FittedSynthesizer, Floats, Tell, silent
from compass.synth.conditions import Conditions

_BATCH = 100_000  # rows at most that are drawn at once
_LEAST = 64  # rows at least, so that a rate can be told
_ROUNDS = 40  # that a cell of a file is tried to be filled


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that obey all conditions, and how many were drawn to get them."""

    values: Floats  # [k, d]
    wanted: int
    tried: int  # rows that were drawn
    accepted: int  # of these, rows that obey
    broken: dict[str, int]  # rules, and how many of the rows that were refused break each

    @property
    def acceptance(self) -> float:
        """The share of the drawn rows that obey."""
        return self.accepted / self.tried if self.tried else 1.0


def draw(
    learnt: FittedSynthesizer,
    count: int,
    conditions: Conditions,
    *,
    seed: int,
    effort: int,
    tell: Tell = silent,
) -> Drawn:
    """`count` rows that are legal and obey the conditions.

    There are fewer when `effort` rows drawn for each one wanted were not enough.
    """
    if count < 1:
        raise BadInput(f"{count} rows cannot be drawn", hint="ask for at least one")
    rng = np.random.default_rng(seed)
    kept: list[Floats] = []
    broken: dict[str, int] = {}
    have = tried = accepted = 0
    while have < count and tried < effort * max(count, _LEAST):
        rate = max(accepted / tried, 1.0 / effort) if tried else 1.0
        m = int(np.clip(1.05 * (count - have) / rate, _LEAST, _BATCH))
        given = np.full((m, len(conditions.space)), np.nan)
        X = learnt.sample(given, conditions.domains, rng)
        X = conditions.completed(X, np.isnan(given))
        good = conditions.met(X)
        for text, number in conditions.broken(X[~good]).items():
            broken[text] = broken.get(text, 0) + number
        tried, accepted = tried + m, accepted + int(good.sum())
        kept.append(X[good][: count - have])
        have += len(kept[-1])
        tell("drawing rows", have, count)
    return Drawn(np.concatenate(kept), count, tried, accepted, broken)


@dataclass(frozen=True, eq=False)
class FilledRows:
    """Rows whose open cells were filled, and those that could not be."""

    values: Floats  # [m, d]; NaN stays in rows that could not be filled
    filled: NDArray[np.bool_]  # [m] rows that obey now
    tried: int
    accepted: int

    @property
    def acceptance(self) -> float:
        """The share of the drawn rows that obey."""
        return self.accepted / self.tried if self.tried else 1.0


def fill(
    learnt: FittedSynthesizer,
    X: Floats,
    conditions: Conditions,
    *,
    seed: int,
    tell: Tell = silent,
) -> FilledRows:
    """X [m, d] with its open cells (NaN) drawn so that each row obeys the conditions."""
    rng = np.random.default_rng(seed)
    done = np.array(X)
    waiting = np.arange(len(X))
    tried = accepted = 0
    for number in range(_ROUNDS):
        if not len(waiting):
            break
        tell("filling cells", number, _ROUNDS)
        tried += len(waiting)
        drawn = learnt.sample(X[waiting], conditions.domains, rng)
        drawn = conditions.completed(drawn, np.isnan(X[waiting]))
        good = conditions.met(drawn)
        accepted += int(good.sum())
        done[waiting[good]] = drawn[good]
        waiting = waiting[~good]
    filled = np.ones(len(X), dtype=np.bool_)
    filled[waiting] = False
    return FilledRows(done, filled, tried, accepted)
