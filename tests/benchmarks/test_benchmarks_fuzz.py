"""A few cases of the fuzz, and that it notices what it looks for."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.fuzz.case import case
from benchmarks.fuzz.checks import Question, check
from benchmarks.fuzz.columns import Column, columns
from benchmarks.fuzz.rules import Condition, conditions

# In cases 3, 15 and 52 a strict rule is active where all its terms are 0.
SEEDS = (3, 15, 52, 7, 101, 202)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_claim_is_refuted(seed):
    assert sum(case(seed).values()) > 1


def test_rules_are_judged_by_exact_arithmetic():
    rng = np.random.default_rng(5)
    truths: Counter[bool] = Counter()
    for _ in range(40):
        cols = columns(rng)
        rows = [{c.name: c.draw(rng, 1)[0] for c in cols} for _ in range(20)]
        for rule in conditions(rng, cols, rows[0]):
            for row in rows:
                assert rule.holds(row) or not rule.surely(row)
                truths[rule.holds(row)] += 1
    assert min(truths.values()) > 50


def test_a_broken_rule_and_an_illegal_value_are_noticed():
    import compass as cp

    table = {"a": [0, 1, 2, 3] * 10, "y": [float(v) for v in range(40)]}
    study = {"columns": {"a": {"low": 0, "high": 3, "step": 1}, "y": {"role": "outcome"}}}
    engine = cp.Compass(cp.read(table, study=study), surrogate="forest")
    answer = engine.recommend(["a"], {"y": cp.minimize}, prove=0)
    rows = [{"a": v} for v in table["a"]]
    rng = np.random.default_rng(0)
    never = Condition("never", lambda row, lean: False)
    legal, odd = Column("a", "list", values=(0, 1, 2, 3)), Column("a", "list", values=(9,))
    assert check(Question([legal], [], ("a",), None, rows), answer, engine, rng)
    with pytest.raises(AssertionError, match="breaks never"):
        check(Question([legal], [never], ("a",), None, rows), answer, engine, rng)
    with pytest.raises(AssertionError, match="illegal a"):
        check(Question([odd], [], ("a",), None, rows), answer, engine, rng)
