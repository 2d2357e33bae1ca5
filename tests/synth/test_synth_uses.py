"""Decisions, predictions, and better settings within a limit."""

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.engine.dataset import Dataset
from compass.engine.synthesis import predict_beside
from compass.settings import SynthesisSettings
from compass.synth.base import silent
from compass.synth.cart import SequentialTrees
from compass.synth.tune import RANGES, changed, tune


def runs(n: int = 600, seed: int = 0) -> Dataset:
    """Runtimes of two programs on some nodes; a run is `slow` from 20 s on."""
    rng = np.random.default_rng(seed)
    app, nodes = rng.choice(["amg", "ft"], n), rng.choice([1, 2, 4, 8, 16], n)
    runtime = np.where(app == "amg", 64.0, 32.0) / nodes * rng.lognormal(0, 0.02, n)
    columns: dict[str, Any] = {"app": app.tolist(), "nodes": nodes, "runtime": runtime}
    columns["state"] = np.where(runtime > 20, "slow", "fast").tolist()
    data = cp.read(pa.table(columns))
    return data.roles(context=["app"], knobs=["nodes"], outcomes=["runtime", "state"])


@pytest.fixture(scope="module")
def model() -> Any:
    return cp.synthesizer(runs())


def test_a_decision_tells_how_often_which_values_meet_the_limits(model: Any) -> None:
    found = model.decide(where=["runtime <= 9"], given={"app": "amg"}, count=400)
    assert len(found.rows) == 400
    columns = {one.name: one for one in found.decision.columns}
    assert "app" not in columns  # it was given
    shares = {one.value: one.share for one in columns["nodes"].values}
    assert set(shares) == {8, 16}  # 64 / 8 is 8, 64 / 4 is 16
    assert shares[8] == pytest.approx(0.5, abs=0.15)
    assert sum(shares.values()) == pytest.approx(1)
    runtime = columns["runtime"]
    assert runtime.high is not None
    assert 3.5 < runtime.low < runtime.median < runtime.high <= 9
    for choice in found.decision.choices:
        (own,) = [one for one in choice.outcomes if one.name == "runtime"]
        assert own.median == pytest.approx(64 / choice.config["nodes"], rel=0.1)
    rows = found.rows.table.column("nodes").to_pylist()
    assert rows.count(8) / len(rows) == pytest.approx(shares[8])


def test_a_prediction_is_that_of_the_rows_that_are_alike(model: Any) -> None:
    asked = runs(200, seed=9).table
    found = model.predict(asked, draws=40)
    by_name = {one.outcome: one for one in found.predictions}
    measured = np.array(asked.column("runtime").to_pylist())
    values = np.array(by_name["runtime"].values)
    assert by_name["runtime"].error == pytest.approx(np.abs(values - measured).mean())
    assert by_name["runtime"].squared == pytest.approx(np.square(values - measured).mean())
    assert np.median(np.abs(values / measured - 1)) < 0.05
    low, high = (np.array(side) for side in (by_name["runtime"].low, by_name["runtime"].high))
    assert by_name["runtime"].inside == pytest.approx(
        ((measured >= low) & (measured <= high)).mean()
    )
    assert by_name["runtime"].inside > 0.7
    assert by_name["state"].error < 0.02
    assert by_name["state"].measured == 200


def test_what_is_measured_of_an_outcome_does_not_tell_its_prediction(model: Any) -> None:
    asked = runs(50, seed=9).table.arrow
    lies = asked.set_column(2, "runtime", pa.array(np.full(50, 1.0)))
    both = [
        model.predict(cp.read(one).table, draws=5).predictions[0].values for one in (asked, lies)
    ]
    assert both[0] == both[1]


def test_the_surrogate_of_an_engine_stands_beside_it(model: Any) -> None:
    engine = cp.Compass(runs(), surrogate="forest").fit([])
    asked = runs(100, seed=9).table
    found = predict_beside(model, asked, engine, draws=10)
    shown = [(one.outcome, one.source) for one in found.predictions]
    assert shown == [("runtime", "cart"), ("runtime", "surrogate"), ("state", "cart"),
                     ("state", "surrogate")]  # fmt: skip
    surrogate = found.predictions[1]
    expected = engine.what_if({"app": "ft", "nodes": 2}, change={"nodes": 4}, outcomes=["runtime"])[
        0
    ].outcome("runtime")
    place = next(
        row for row in range(100)
        if (asked.column("app")[row].as_py(), asked.column("nodes")[row].as_py()) == ("ft", 4)
    )  # fmt: skip
    assert surrogate.values[place] == pytest.approx(expected.value)
    ends = (surrogate.low[place], surrogate.high[place])
    for own, known in zip(ends, (expected.low, expected.high), strict=True):
        assert own == (pytest.approx(known) if np.isfinite(known) else None)  # few configurations


def test_tuning_finds_better_leaves_and_goes_on_where_it_ended(tmp_path: Path) -> None:
    data = runs().prepared
    bad = changed(SynthesisSettings(), "cart", {"least": 50})
    kept = tmp_path / "jobs.tuning"
    found = tune(
        data.values, data.space, "cart", 2.0, settings=bad, seed=1, journal=kept, tell=silent
    )
    assert found.before is not None
    assert found.after is not None
    assert found.after <= found.before
    again = tune(data.values, data.space, "cart", 0.01, settings=bad, seed=1, journal=kept)
    assert again.trials >= found.trials
    assert again.after is not None
    assert again.after <= found.after
    kept.write_text("something else\n")
    with pytest.raises(EnvironmentProblem, match="tuning file"):
        tune(data.values, data.space, "cart", 0.01, settings=bad, seed=1, journal=kept)


def test_an_attempt_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(SequentialTrees):
        """It tells how far it is, for ever."""

        name = "endless"

        @staticmethod
        def fit(X: Any, space: Any, *, tell: Any, **options: Any) -> Any:
            for epoch in count():
                tell("training", epoch, 0)

    monkeypatch.setattr("compass.synth.tune.synthesizer", lambda _: Endless)
    data = runs(60).prepared
    found = tune(data.values, data.space, "cart", 0.05, settings=SynthesisSettings(), seed=1)
    assert (found.before, found.after, found.trials) == (None, None, 0)
    assert "defaults stay" in found.words


def test_what_cannot_be_tuned_or_drawn_is_refused(model: Any) -> None:
    data = runs(50).prepared
    with pytest.raises(BadInput, match="nothing to tune"):
        tune(data.values, data.space, "copula", 1.0, settings=SynthesisSettings(), seed=1)
    with pytest.raises(BadInput, match="seconds"):
        tune(data.values, data.space, "cart", -1.0, settings=SynthesisSettings(), seed=1)
    with pytest.raises(BadInput, match="draws"):
        model.predict(runs(5).table, draws=0)
    without = cp.synthesizer(runs(60).roles(knobs=["nodes", "runtime"], context=["app", "state"],
                                            outcomes=[]))  # fmt: skip
    with pytest.raises(BadInput, match="no outcome"):
        without.predict(runs(5).table)


def test_every_range_is_one_of_settings() -> None:
    for name, ranges in RANGES.items():
        for value in (0, 1):
            changed(SynthesisSettings(), name, {key: ends[value] for key, ends in ranges.items()})
