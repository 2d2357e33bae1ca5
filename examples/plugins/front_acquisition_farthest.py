"""An acquisition of fronts: run what is farthest from every run so far, whatever it may give."""

import math

import numpy as np

from compass import registry
from compass.pareto.acquisition import FrontChoice, FrontRequest


@registry.add("front_acquisition", "farthest")
class Farthest:
    """Runs far from everything that was run; what is expected is that of the nearest run."""

    name = "farthest"
    models = "the nearest run"

    @staticmethod
    def prepare() -> None:
        """Nothing has to be installed."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        """One candidate after the other, each far from those before it."""
        inputs, fine = request.problem.inputs, request.seen.fine
        candidates = inputs(request.candidates).Z
        made = np.concatenate([inputs(request.seen.X).Z, inputs(request.pending).Z])
        known, losses = inputs(request.seen.X[fine]).Z, request.seen.losses[fine]
        low, high = losses.min(axis=0), losses.max(axis=0)
        chosen: list[FrontChoice] = []
        away = np.linalg.norm(candidates[:, None] - made, axis=2).min(axis=1)
        for _ in range(min(request.count, len(candidates))):
            place = int(np.argmax(away))
            nearest = int(np.argmin(np.linalg.norm(known - candidates[place], axis=1)))
            chosen.append(
                FrontChoice(
                    place, losses[nearest], low, high, failure=0.0, meets=1.0, gain=math.nan
                )
            )
            away = np.minimum(away, np.linalg.norm(candidates - candidates[place], axis=1))
            away[[one.place for one in chosen]] = -1.0
        return tuple(chosen)
