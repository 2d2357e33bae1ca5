"""Questions answered by rows drawn on the condition of their goals."""

import numpy as np
import pyarrow as pa

import compass as cp
from compass.engine.dataset import Dataset
from compass.testing import check


def runs(n: int = 400) -> Dataset:
    rng = np.random.default_rng(2)
    app = rng.choice(["amg", "comd"], n)
    nodes, threads = rng.integers(1, 17, n), rng.choice([4, 8, 16], n)
    slow = np.where(app == "amg", 3.0, 1.0)
    columns = {
        "app": app.tolist(),
        "nodes": nodes,
        "threads": threads,
        "runtime": slow * 100 / (nodes * np.sqrt(threads)) * rng.lognormal(0, 0.05, n),
    }
    data = cp.read(pa.table(columns))
    return data.roles(context=["app"], knobs=["nodes", "threads"], outcomes=["runtime"])


def engine() -> cp.Compass:
    return cp.Compass(runs(), surrogate="forest", rules=["nodes * threads <= 128"]).fit()


def test_it_keeps_the_promises_of_a_generator() -> None:
    check("generator", "synthetic")


def test_a_goal_is_met_by_configurations_that_obey() -> None:
    answer = engine().recommend(
        ask=["nodes", "threads"],
        goals={"runtime": cp.within(5, 10)},
        where=["app == comd"],
        generator="synthetic",
    )
    assert len(answer)
    for one in answer:
        assert one.config["app"] == "comd"
        assert one.config["nodes"] * one.config["threads"] <= 128
        assert 5 <= one.outcome("runtime").value <= 10


def test_a_minimum_is_about_that_of_the_default_search() -> None:
    learnt = engine()
    goals = {"runtime": cp.minimize}
    best, ours = (
        learnt.recommend(ask=["nodes", "threads"], goals=goals, generator=name)
        for name in ("legal-search", "synthetic")
    )
    least, found = (one[0].outcome("runtime").value for one in (best, ours))
    assert found <= 1.3 * least


def test_it_learns_from_synthetic_rows_and_cites_measured_ones_alone() -> None:
    measured = runs()
    kept = len(measured)
    table = measured.table.arrow
    both = pa.concat_tables([table, table])
    made = ["measured"] * kept + ["synthetic"] * kept
    data = cp.read(both.append_column("made", pa.array(made)), study={"origin": "made"})
    data = data.roles(context=["app"], knobs=["nodes", "threads"], outcomes=["runtime"])
    learnt = cp.Compass(data, surrogate="forest", rules=["nodes * threads <= 128"]).fit()
    answer = learnt.recommend(
        ask=["nodes", "threads"],
        goals={"runtime": cp.at_most(8)},
        where=["app == comd"],
        generator="synthetic",
    )
    cited = {run.row for one in answer for run in one.trust.evidence}
    cited |= {row for one in answer for effect in one.trust.effects
              for pair in effect.examples for row in (pair.old, pair.new)}  # fmt: skip
    assert cited
    assert max(cited) < kept
    assert all(one.trust.support <= kept for one in answer)
