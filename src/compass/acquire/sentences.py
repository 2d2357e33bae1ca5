"""What measuring a configuration would settle, in a sentence about that configuration."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire import improvement
from compass.acquire.draws import DrawnCandidates, within
from compass.domain.quantity import quantity
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask

Floats = NDArray[np.float64]


def what_it_settles(
    task: SearchTask, assessor: Assessor, drawn: DrawnCandidates, place: int
) -> str:
    """What a run of the candidate at `place` would settle.

    What is expected is about the candidate as it is proposed, in its own context. Goals of a
    question about several contexts are about the mean over them, and are text so.
    """
    again = assessor.view.all_runs.rows(drawn.X[place])
    itself, incumbent = place == drawn.incumbent.place, drawn.incumbent
    several = len(task.contexts) > 1
    view, at = drawn, place
    if several:
        view, at = within(task, assessor, drawn.X, place, drawn.incumbent.place), 0
    directed = [target for target in task.targets if target.direction is not None]
    single = len(directed) == len(task.targets) == 1 and not task.outcome_rules
    who = f"row {again[0]} again: " if again else ""
    if itself and not again:
        where = " in this context" if several else ""
        who = f"{incumbent.name} itself{where}: "
    if not single:
        text = f"{who}{_about_goals(task, drawn, place)}"
        known = [_expected(assessor, view, at, name) for name in view.centre] if several else []
        return f"{text}; in this context {', '.join(known)}" if known else text
    text = _expected(assessor, view, at, directed[0].name)
    if itself:
        return f"{who}one run tells whether it holds: {text}"
    other = incumbent.described
    if several and incumbent.predicted:
        other = f"{incumbent.name} in this context"
    return f"{who}tells whether it beats {other}: {text}; {view.chance[at]:.0%} likely"


def _expected(assessor: Assessor, drawn: DrawnCandidates, place: int, outcome: str) -> str:
    unit = getattr(assessor.store.prepared.space[outcome], "unit", None)
    centre, around = float(drawn.centre[outcome][place]), float(drawn.deviation[outcome][place])
    give = quantity(float(f"{around:.2g}"), unit)
    return f"{outcome} {quantity(centre, unit)} expected, give or take {give}"


def _about_goals(task: SearchTask, drawn: DrawnCandidates, place: int) -> str:
    """Whether goals are met, and what is better than the decision of today."""
    meets, incumbent = chance_to_meet(task, drawn, place), drawn.incumbent.described
    several = len(task.contexts) > 1
    tells, over = ("helps to tell", " over all contexts") if several else ("tells", "")
    if place == drawn.incumbent.place:
        return f"one run {tells} whether it meets the goals{over} ({meets:.0%} likely)"
    better, met = drawn.losses[:, place] < drawn.incumbent.loss, drawn.result.miss[:, place] <= 0
    if round(100 * meets) == 0:
        likely = f"{better.mean():.0%} likely"
        return f"{tells} whether it comes closer to the goals{over} than {incumbent}; {likely}"
    goals = f"{tells} whether it meets the goals{over} ({meets:.0%} likely)"
    if not drawn.met:
        closer = meets + (1 - meets) * _share(better, ~met)
        return f"{goals} or comes closer to them than {incumbent} ({closer:.0%} likely)"
    if any(target.direction is not None for target in task.targets):
        return (
            f"{goals} and does better than {incumbent} ({meets * _share(better, met):.0%} likely)"
        )
    change = drawn.result.value[0]  # a distance: no run has to tell it
    if task.proximity and change[place] < change[drawn.incumbent.place]:
        return f"{goals}; it is a smaller change than {incumbent}"
    return f"{goals}, should {drawn.incumbent.name} miss them"


def _share(yes: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(yes[among].mean()) if among.any() else 0.0


def chance_to_meet(task: SearchTask, drawn: DrawnCandidates, place: int) -> float:
    """How likely a run of one candidate meets all goals: the chance that an answer tells of it."""
    row = drawn.X[[place]]
    total = 1.0
    if task.chances is not None:
        for chance in task.chances.each(row).values():
            total *= float(chance[0])
    if task.outcome_rules:
        mine = {name: values[:, [place]] for name, values in drawn.drawn.items()}
        alone = improvement.result(replace(task, targets=()), row, mine)
        total *= float((alone.miss <= 0).mean())
    return total
