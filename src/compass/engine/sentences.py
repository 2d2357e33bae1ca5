"""What measuring a configuration would settle, in a sentence about that configuration."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.engine import decision
from compass.engine.prospects import Prospects, within
from compass.engine.runnable import Made
from compass.generate.base import Arena
from compass.generate.predict import Averaged

if TYPE_CHECKING:
    from compass.engine.answering import Desk

Floats = NDArray[np.float64]


def promise(desk: "Desk", arena: Arena, hopes: Prospects, place: int) -> str:
    """What a run of the candidate at `place` would settle.

    Everything that is told is about the candidate as it is proposed, in its own context.
    """
    row, itself = hopes.X[place], place == hopes.today.place
    again = Made.of(desk.bench, arena.space.names).rows(row)
    holder, several = hopes.holder, len(desk.plan.contexts) > 1
    if several:
        hopes, place = within(desk, arena, hopes.X, place, hopes.today.place), 0
        holder = holder.replace("as predicted", "as predicted in this context")
    directed = [target for target in arena.targets if target.direction is not None]
    single = len(directed) == len(arena.targets) == 1 and not arena.outcome_rules
    if itself:
        who = f"row {again[0]} again" if again else holder.split(",")[0] + " itself"
        if not single:
            meets = chance_to_meet(desk, arena, hopes, place)
            return f"{who}: one run tells whether it meets the goals ({meets:.0%} likely)"
        told = _expected(desk, hopes, place, directed[0].name)
        return f"{who}: one run tells whether it holds: {told}"
    who = f"row {again[0]} again: " if again else ""
    if single:
        told = _expected(desk, hopes, place, directed[0].name)
        likely = f"{hopes.chance[place]:.0%} likely"
        return f"{who}tells whether it beats {holder}: {told}; {likely}"
    return f"{who}{_about_goals(desk, arena, hopes, place, holder, bool(directed))}"


def _expected(desk: "Desk", hopes: Prospects, place: int, outcome: str) -> str:
    unit = getattr(desk.bench.prepared.space[outcome], "unit", None)
    tail = f" {unit}" if unit else ""
    centre, around = hopes.centre[outcome][place], hopes.deviation[outcome][place]
    return f"{outcome} {centre:.4g}{tail} expected, give or take {around:.2g}{tail}"


def _about_goals(
    desk: "Desk", arena: Arena, hopes: Prospects, place: int, holder: str, directed: bool
) -> str:
    """Whether goals are met, and what is better than the decision of today."""
    meets = chance_to_meet(desk, arena, hopes, place)
    better, met = hopes.losses[:, place] < hopes.today.loss, hopes.result.miss[:, place] <= 0
    if round(100 * meets) == 0:
        likely = f"{better.mean():.0%} likely"
        return f"tells whether it comes closer to the goals than {holder}; {likely}"
    goals = f"tells whether it meets the goals ({meets:.0%} likely)"
    if not hopes.met:
        closer = meets + (1 - meets) * _share(better, ~met)
        return f"{goals} or comes closer to them than {holder} ({closer:.0%} likely)"
    if directed:
        return f"{goals} and does better than {holder} ({meets * _share(better, met):.0%} likely)"
    change = hopes.result.value[0]  # a distance: no run has to tell it
    if arena.proximity and change[place] < change[hopes.today.place]:
        return f"{goals}; it is a smaller change than {holder}"
    return f"{goals}, should {holder} miss them"


def _share(yes: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(yes[among].mean()) if among.any() else 0.0


def chance_to_meet(desk: "Desk", arena: Arena, hopes: Prospects, place: int) -> float:
    """How likely a run of one candidate meets all goals: the chance that an answer tells of it."""
    row = hopes.X[[place]]
    predict = arena.predict
    if len(desk.plan.contexts) > 1 or not isinstance(predict, Averaged):
        models = {name: trained.model for name, trained in desk.judge.trained.items()}
        predict = Averaged(models, row, arena.movable)
    said, spreads = predict(row), predict.spread(row)
    total = 1.0
    for target in arena.targets:
        name = target.name
        interval = desk.judge.trained[name].interval
        if target.is_class:
            scores = said[name][0]
            total *= float(scores[arena.labels[name]] / (scores.sum() or 1.0))
        elif interval is not None and (np.isfinite(target.low) or np.isfinite(target.high)):
            total *= float(
                interval.chance(said[name][:, 0], spreads[name], target.low, target.high)[0]
            )
    if arena.outcome_rules:
        drawn = {name: values[:, [place]] for name, values in hopes.drawn.items()}
        alone = decision.result(replace(arena, targets=()), row, drawn)
        total *= float((alone.miss <= 0).mean())
    return total
