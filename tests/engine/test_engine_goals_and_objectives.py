"""Goals beside what is minimised: neither undoes the other, and claims are about what is shown."""

import numpy as np
import pytest

import compass as cp
from conftest import QUICK

KNOBS = ["threads", "freq", "tile"]


def table(n: int = 400) -> dict[str, list[object]]:
    """More threads and a higher frequency are faster and take more energy."""
    rng = np.random.default_rng(1)
    threads, freq = rng.choice([1, 2, 4, 8, 16, 32], n), rng.choice([1.0, 1.5, 2.0, 2.5, 3.0], n)
    tile, app = rng.choice([8, 16, 32, 64], n), rng.choice(["a", "b"], n)
    time = 100 / threads**0.5 * (3 / freq) * np.where(app == "b", 1.1, 1.0)
    energy = 50 + 5 * threads + 30 * freq**2 + 2 * abs(tile - 32)
    made = {"threads": threads, "freq": freq, "tile": tile, "app": app}
    made |= {
        "time": time * rng.lognormal(0, 0.03, n),
        "energy": energy * rng.lognormal(0, 0.03, n),
    }
    return {name: values.tolist() for name, values in made.items()}


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(table()).roles(knobs=KNOBS, context=["app"], outcomes=["time", "energy"])
    return cp.Compass(data, settings=QUICK).fit()


def row_with(**values: object) -> int:
    made = table()
    return next(
        i for i in range(len(made["app"])) if all(made[n][i] == v for n, v in values.items())
    )


def test_what_is_minimised_is_not_given_up_for_a_smaller_change(engine: cp.Compass) -> None:
    start = row_with(threads=32, freq=3.0, tile=8)
    goals = {"energy": cp.minimize, "time": cp.at_most(100.0)}
    for count in (1, 3):
        answer = engine.reconfigure(start, KNOBS, goals, count=count)
        assert answer.best_measured is not None
        least = float(answer.best_measured.outcomes["energy"])  # type: ignore[arg-type]
        assert float(answer[0].outcome("energy").value) < 1.1 * least  # type: ignore[arg-type]
        assert answer.prices == ()  # the smallest change is not what is asked for


def test_from_the_best_nothing_worse_is_suggested(engine: cp.Compass) -> None:
    for goals in (
        {"time": cp.minimize},
        {"energy": cp.minimize, "time": cp.at_most(60.0)},
    ):
        best = engine.recommend(KNOBS, goals, where=["app == 'a'"]).best_measured
        assert best is not None
        answer = engine.reconfigure(best.rows[0], KNOBS, goals)
        name = next(iter(goals))
        first = answer[0].outcome(name)
        assert float(first.value) <= float(first.before) * (1 + 1e-9)  # type: ignore[arg-type]
        for note in answer.notes:
            if "the first suggestion is that configuration" in note:
                assert {n: answer[0].config[n] for n in KNOBS} == {n: best.config[n] for n in KNOBS}


def test_prices_keep_what_has_to_stay_the_same(engine: cp.Compass) -> None:
    for row in range(6):
        answer = engine.reconfigure(row, KNOBS, {"time": cp.less(0.3), "energy": cp.same})
        for price in answer.prices:
            if price.reached:
                told = next(one for one in (*answer, *answer.ideas)).outcome("energy")
                assert told.against is not None
                energy = float(price.outcomes["energy"])  # type: ignore[arg-type]
                assert abs(energy / told.against - 1) <= 0.05 + 1e-9


def test_what_has_to_stay_the_same_needs_no_chance(engine: cp.Compass) -> None:
    found = 0
    for row in range(12):
        answer = engine.reconfigure(row, KNOBS, {"time": cp.less(0.1), "energy": cp.same})
        for one in answer:
            doubts = [d for d in one.trust.doubts if d.outcome == "energy"]
            assert not any(d.code.value == "goal chance" for d in doubts)
            found += 1
    assert found
