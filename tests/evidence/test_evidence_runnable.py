"""Suggestions keep to what past runs combine, unless the person says otherwise."""

from itertools import product

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Answer, Label
from compass.domain.doubt import DoubtCode
from conftest import QUICK

SIZES = (1, 2, 4, 8, 16, 32)
QUESTION = "Recommend X = {x: ?, y: ?, z: ?} to achieve Y = {time: minimize}"


def engine(limit: float, rows: int = 60) -> cp.Compass:
    """Larger blocks are faster, and blocks of more than `limit` threads cannot be run."""
    rng = np.random.default_rng(3)
    legal = [(x, y, z) for x, y, z in product(SIZES, SIZES, range(6)) if x * y <= limit]
    some = [legal[i] for i in rng.choice(len(legal), min(rows, len(legal)), replace=False)]
    x, y, z = (list(column) for column in zip(*some, strict=True))
    time = [100 / (a * b) ** 0.5 + c for a, b, c in some]
    data = cp.read({"x": x, "y": y, "z": z, "time": time})
    return cp.Compass(data.roles(knobs=["x", "y", "z"], outcomes=["time"]), settings=QUICK).fit()


@pytest.fixture(scope="module")
def limited() -> cp.Compass:
    return engine(64)


def threads(answer: Answer) -> list[float]:
    return [one.config["x"] * one.config["y"] for one in answer]


def test_suggestions_keep_to_a_rule_that_nobody_wrote(limited: cp.Compass) -> None:
    answer = limited.ask(QUESTION, count=5)
    assert len(answer) == 5
    assert max(threads(answer)) <= 64


def test_whoever_lets_it_leave_past_runs_gets_more(limited: cp.Compass) -> None:
    answer = limited.ask(QUESTION, count=5, beyond=True, dependencies="ignore")
    found = [*answer, *answer.ideas]
    assert max(one.config["x"] * one.config["y"] for one in found) > 64


def test_a_what_if_is_told_that_it_likely_cannot_be_run(limited: cp.Compass) -> None:
    answer = limited.ask(
        "What if we change X = {x: 32, y: 32}, how would that affect Y = {time}",
        run={"x": 8, "y": 8, "z": 0},
    )
    (doubt,) = [d for d in answer[0].trust.doubts if d.code is DoubtCode.NEVER_TOGETHER]
    assert doubt.columns == ("x", "y")
    assert doubt.value > 0.2
    assert answer[0].trust.label is not Label.TRUSTED
    assert "no past run had these values of x and y together" in answer[0].trust.reason


def test_without_a_rule_no_combination_is_held_back() -> None:
    free = engine(10_000, rows=100)
    answer = free.ask(QUESTION, count=3)
    codes = {d.code for one in answer for d in one.trust.doubts}
    assert DoubtCode.NEVER_TOGETHER not in codes
    assert max(threads(answer)) == 1024


def test_what_a_baseline_combines_is_no_doubt(limited: cp.Compass) -> None:
    answer = limited.ask(
        "What if we change X = {z: 1}, how would that affect Y = {time}",
        run={"x": 32, "y": 32, "z": 0},
    )
    codes = {doubt.code for doubt in answer[0].trust.doubts}
    assert DoubtCode.NEVER_TOGETHER not in codes
