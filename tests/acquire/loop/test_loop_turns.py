"""Members take turns by what they found."""

import numpy as np
import pytest
from loop_cases import kernel_problem

from compass.acquire.loop import Seen
from compass.acquire.loop.ask import Ask
from compass.acquire.loop.members import FOREST, SMOOTH
from compass.acquire.loop.turns import credits_of, turn


def asked(losses, members, **settings):
    problem = kernel_problem(0, **settings)
    X = problem.pool.X[: len(losses)]
    seen = Seen(X, np.array(losses, dtype=float), np.isnan(losses), tuple(members))
    return Ask(problem, seen, np.empty((0, 4)), positive=True)


def test_turns_follow_the_shares():
    made = []
    for _ in range(100):
        made.append(turn({"a": 0.5, "b": 0.3, "c": 0.2}, made))
    assert [made.count(name) for name in "abc"] == [50, 30, 20]
    assert set(made[:3]) == {"a", "b", "c"}


def test_who_finds_better_runs_has_more_turns():
    losses = [5, 6, 7, 8] + [4 - 0.1 * k if k % 2 else 9 + k for k in range(16)]
    members = [""] * 4 + [SMOOTH if k % 2 else FOREST for k in range(16)]
    shares = credits_of(asked(losses, members, credit=True))
    plain = credits_of(asked(losses, members, credit=False))
    assert shares[SMOOTH] > plain[SMOOTH]
    assert shares[FOREST] < plain[FOREST]
    assert sum(shares.values()) == pytest.approx(1.0)


def test_without_credit_what_was_found_does_not_count():
    one = credits_of(asked([3, 2, 1], ["", FOREST, FOREST], credit=False))
    assert one == credits_of(asked([3, 2, 1], ["", SMOOTH, SMOOTH], credit=False))


def test_members_that_are_switched_off_have_no_turn():
    assert set(credits_of(asked([3, 2], ["", ""], stepped=False))) == {SMOOTH, FOREST}
