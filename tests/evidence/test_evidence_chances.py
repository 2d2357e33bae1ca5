"""Goals that can be reached with the chance asked for, in place of those that cannot."""

import pytest

import compass as cp

MARGIN = 0.01  # contexts that predictions are averaged over differ from question to question


@pytest.mark.parametrize(("goal", "sign"), [("<= 0.001", 1), (">= 1000000000", -1)])
def test_the_reachable_bound_is_met_with_the_chance(
    engine: cp.Compass, goal: str, sign: int
) -> None:
    text = "Recommend X = {{cores: ?, nodes: ?}} to achieve Y = {{runtime: {}}} where app == wrf"
    answer = engine.ask(text.format(goal), prove=0.0)
    assert not answer.suggestions
    bound = answer.reachable["runtime"]
    loose = bound + sign * MARGIN * abs(bound)
    again = engine.ask(text.format(f"{goal[:2]} {loose:.6g}"), prove=0.0)
    assert again.suggestions
    assert not again.reachable
    chance = again[0].outcome("runtime").chance
    assert chance is not None
    assert 0.8 <= chance < 0.95


def test_nothing_is_offered_for_goals_with_two_bounds(engine: cp.Compass) -> None:
    text = "Recommend X = {cores: ?} to achieve Y = {runtime: between 0.001 and 0.002}"
    assert engine.ask(text, where=["app == wrf"], prove=0.0).reachable == {}
