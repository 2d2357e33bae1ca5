"""Rules are obeyed, by plain arithmetic on what is suggested."""

from dataclasses import replace

import numpy as np
import pytest

import compass as cp
from compass import registry
from compass.domain.answer import CertificateStatus
from compass.generate.base import Candidates
from compass.generate.search import LegalSearch

KNOBS = [f"k{i}" for i in range(6)]


@pytest.fixture(scope="module")
def wide():
    """Six whole-number knobs in -2..6: more configurations than are tried one by one."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 7, size=(300, 6))
    table = {name: X[:, i].tolist() for i, name in enumerate(KNOBS)}
    table["y"] = (10 + X.sum(axis=1) + rng.normal(0, 0.3, 300)).tolist()
    data = cp.read(table).roles(knobs=KNOBS, outcomes=["y"])
    return cp.Compass(data, surrogate="lightgbm").fit()


STRICT = {
    "k0 > 0": lambda c: c["k0"] > 0,
    "not (k0 <= 0)": lambda c: not c["k0"] <= 0,
    "0 < k0": lambda c: c["k0"] > 0,
    "not (k0 + k1 <= 0)": lambda c: c["k0"] + c["k1"] > 0,
    "k0 - k1 > 0": lambda c: c["k0"] - c["k1"] > 0,
    "2 * k0 > k1 + k2": lambda c: 2 * c["k0"] > c["k1"] + c["k2"],
    "k0 + k1 + k2 < 0": lambda c: c["k0"] + c["k1"] + c["k2"] < 0,
    "not (k0 >= 0) or k1 > 0": lambda c: c["k0"] < 0 or c["k1"] > 0,
}


@pytest.mark.parametrize("goal", [cp.minimize, cp.maximize])
@pytest.mark.parametrize("text", STRICT)
def test_a_strict_comparison_excludes_equality(wide, text, goal):
    answer = wide.recommend(KNOBS, {"y": goal}, where=[text], count=5, prove=0)
    assert answer.suggestions
    assert not answer.exhausted  # the search was needed
    for suggestion in answer:
        assert STRICT[text](suggestion.config), suggestion.config


def test_a_strict_comparison_is_obeyed_where_the_solver_proves(wide):
    answer = wide.reconfigure(
        {**dict.fromkeys(KNOBS, 3), "k0": 0},
        KNOBS,
        {"y": cp.at_most(12)},
        where=["k0 > 0", "not (k1 + k2 <= 0)"],
    )
    assert answer.certificate is not None
    for suggestion in answer:
        assert suggestion.config["k0"] > 0
        assert suggestion.config["k1"] + suggestion.config["k2"] > 0


@pytest.fixture
def careless():
    """A generator that errs: what it finds best has a k0 that it must not have."""

    class Careless:
        name = "careless"
        value = 0.0

        @staticmethod
        def generate(task) -> Candidates:
            found = LegalSearch.generate(task)
            wrong = found.X[:1].copy()
            wrong[0, task.space.names.index("k0")] = Careless.value
            first = found.take(np.arange(1))
            return found.after(
                replace(first, X=wrong, meets=np.array([True]), proximity=np.zeros(1))
            )

    registry.add("generator", "careless")(Careless)
    yield Careless
    registry.remove("generator", "careless")


@pytest.mark.parametrize(
    ("value", "why"), [(0.0, "k0 > 0"), (2.5, "the legal values of k0"), (99.0, "k0")]
)
def test_what_breaks_a_rule_does_not_leave_the_engine(wide, careless, value, why):
    careless.value = value
    engine = cp.Compass(wide.data, surrogate="lightgbm", generator="careless")
    answer = engine.recommend(KNOBS, {"y": cp.minimize}, where=["k0 > 0"], count=3)
    assert answer.suggestions
    assert all(s.config["k0"] in range(1, 7) for s in answer)
    assert any("withheld" in note and why in note for note in answer.notes)


def test_nothing_is_claimed_of_what_was_withheld(wide, careless):
    engine = cp.Compass(wide.data, surrogate="lightgbm", generator="careless")
    answer = engine.recommend(KNOBS, {"y": cp.minimize}, where=["k0 > 0"], count=3)
    assert answer.certificate.status is CertificateStatus.NO_PROOF


def test_a_question_may_choose_its_generator(wide, careless):
    engine = cp.Compass(wide.data, surrogate="lightgbm")
    asked = {"ask": KNOBS, "goals": {"y": cp.minimize}, "where": ["k0 > 0"], "count": 3}
    chosen = engine.recommend(**asked, generator="careless")
    assert any("withheld" in note for note in chosen.notes)
    assert not any("withheld" in note for note in engine.recommend(**asked).notes)


def test_decimals_on_a_grid_are_compared_exactly():
    rng = np.random.default_rng(1)
    names = ["a", "b", "c", "d", "e"]
    X = rng.integers(-3, 8, size=(300, 5)) / 10
    table = {name: X[:, i].tolist() for i, name in enumerate(names)}
    table["y"] = (5 + X.sum(axis=1) + rng.normal(0, 0.02, 300)).tolist()
    columns = {n: {"low": -0.3, "high": 0.7, "step": 0.1} for n in names}
    study = {"columns": columns | {"y": {"role": "outcome"}}}
    engine = cp.Compass(cp.read(table, study=study), surrogate="lightgbm")
    rules = ["a + b - c > 0", "d + 0.2 != e", "3 * a == b + c"]
    answer = engine.recommend(names, {"y": cp.minimize}, where=rules, count=5)
    assert answer.suggestions
    for suggestion in answer:
        a, b, c, d, e = (round(10 * suggestion.config[name]) for name in names)
        assert a + b - c > 0
        assert d + 2 != e
        assert 3 * a == b + c
        assert all(str(v) == f"{v:.1f}" for v in suggestion.config.values())
