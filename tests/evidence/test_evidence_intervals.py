"""Intervals in answers: any level, changes, groups, and engines that were saved."""

import math
from pathlib import Path

import numpy as np
import pytest

import compass as cp
from compass.domain.answer import Answer, Prediction
from compass.domain.errors import EngineProblem, QueryProblem
from compass.domain.space import Role
from compass.engine.store import load
from compass.prepare import Study
from compass.settings import ForestSettings, Settings, TrustSettings

WHAT_IF = "What if we change X = {gpus: 1 -> 2}, how would that affect Y = {runtime, power}"


def row_of(engine: cp.Compass) -> int:
    column = engine.data.table.column("gpus").to_pylist()
    return column.index(1)


def outcome(answer: Answer, name: str = "runtime") -> Prediction:
    return answer[0].outcome(name)


def width(prediction: Prediction) -> float:
    assert prediction.low is not None
    assert prediction.high is not None
    return prediction.high - prediction.low


def test_a_question_may_say_the_level(engine: cp.Compass) -> None:
    row = row_of(engine)
    usual = outcome(engine.ask(WHAT_IF, run=row, prove=0))
    narrow = outcome(engine.ask(f"{WHAT_IF} level 50%", run=row, prove=0))
    keyword = engine.what_if(row, {"gpus": 2}, ["runtime", "power"], level=0.5, prove=0)
    assert usual.level == 0.9
    assert narrow.level == 0.5
    assert width(narrow) < width(usual)
    assert outcome(keyword) == narrow
    assert keyword.text.endswith("level 50%")
    with pytest.raises(QueryProblem, match="level"):
        engine.ask(WHAT_IF, run=row, level=1.0)


def test_curves_and_populations_have_the_level_too(engine: cp.Compass) -> None:
    row = row_of(engine)
    wide, narrow = (
        engine.ask(WHAT_IF, run=row, level=level, curve=["gpus"], prove=0).curves[0].points
        for level in (0.9, 0.5)
    )
    for one, other in zip(wide, narrow, strict=True):
        assert one.low < other.low < other.predicted < other.high < one.high  # type: ignore[operator]
    populations = [engine.ask(WHAT_IF, level=level) for level in (0.9, 0.5)]
    known = [answer.population.outcomes[0] for answer in populations if answer.population]
    assert [one.level for one in known] == [0.9, 0.5]
    assert known[0].change_low < known[1].change_low < known[1].change  # type: ignore[operator]
    assert any("model's own error is not in it" in note for note in populations[0].notes)


def test_a_change_has_an_interval_of_its_own(engine: cp.Compass) -> None:
    answer = engine.ask(WHAT_IF, run=row_of(engine), prove=0)
    for name in ("runtime", "power"):
        got = outcome(answer, name)
        assert got.change_low is not None
        assert got.change_high is not None
        assert got.change_low < got.change < got.change_high  # type: ignore[operator]
    got = outcome(answer)
    assert engine.store.trained[tuple(answer[0].config), "runtime"].change.log  # type: ignore[union-attr]
    before, value = float(got.before), float(got.value)  # type: ignore[arg-type]
    up, down = (got.change_high + before) / value, value / (got.change_low + before)
    assert up == pytest.approx(down)  # a ratio may be as much larger as smaller
    recommended = engine.recommend(["gpus"], {"runtime": cp.minimize}, prove=0)
    assert outcome(recommended).change_low is None  # there is nothing to compare with


def test_too_high_a_level_is_unbounded_and_the_answer_says_why(engine: cp.Compass) -> None:
    answer = engine.ask(WHAT_IF, run=row_of(engine), level=0.9999, prove=0)
    got = outcome(answer)
    assert got.high == math.inf
    assert got.change_high == math.inf
    said = [note for note in answer.notes if "unbounded" in note]
    assert any("99.99 %" in note and "9999 runs of different" in note for note in said)


def test_intervals_are_saved_and_restored(engine: cp.Compass, tmp_path: Path) -> None:
    again = load(engine.save(tmp_path / "x.compass"))
    for key, trained in engine.store.trained.items():
        restored = again.store.trained[key]
        for one, other in (
            (trained.interval, restored.interval),
            (trained.change, restored.change),
        ):
            if one is None:
                assert other is None
                continue
            assert other is not None
            assert np.array_equal(one.residuals, other.residuals)
            assert np.array_equal(one.weights, other.weights)
            assert (one.unseen, one.usual, one.log, one.units) == (
                other.unseen,
                other.usual,
                other.log,
                other.units,
            )
    row = row_of(engine)
    both = [one.ask(WHAT_IF, run=row, level=0.77, prove=0) for one in (engine, again)]
    assert both[0].suggestions == both[1].suggestions


def test_an_engine_without_intervals_of_changes_is_told_to_be_old(
    engine: cp.Compass, tmp_path: Path
) -> None:
    place = engine.save(tmp_path / "x.compass")
    manifest = next(place.glob("generation-*/engine.json"))
    manifest.write_text(manifest.read_text().replace('"format": 5', '"format": 2', 1))
    with pytest.raises(EngineProblem, match="saved in format 2; this version reads 5"):
        load(place)


SMALL = Settings(
    forest=ForestSettings(trees=12),
    trust=TrustSettings(models=2, trees=4),
    surrogate="forest",
    scale="linear",
)


def jobs(groups: int, seed: int) -> dict[str, list[object]]:
    """Runs of applications that take what they take: an effect that only the size gives away."""
    rng = np.random.default_rng(seed)
    app = np.repeat(np.arange(groups), 8)
    nodes = rng.integers(1, 200, len(app))
    effect, size = rng.normal(0, 10, groups), rng.permutation(10 * groups)[:groups]
    runtime = 100 + nodes / 20 + effect[app] + rng.normal(0, 0.5, len(app))
    return {
        "app": [f"{seed}-{one}" for one in app],
        "nodes": nodes.tolist(),
        "size": (size[app] + rng.random(len(app)) / 100).tolist(),
        "runtime": runtime.tolist(),
    }


def grouped(seed: int, study: Study, groups: int = 80) -> cp.Compass:
    data = cp.read(jobs(groups, seed), study=study)
    data = data.roles(knobs=["nodes"], context=["size"], outcomes=["runtime"], ignored=["app"])
    return cp.Compass(data, settings=SMALL).fit()


def covered(engine: cp.Compass, seed: int) -> float:
    """The share of runs of new applications that the intervals hold."""
    fresh = jobs(80, seed + 1000)
    features = engine.space.having(Role.KNOB, Role.CONTEXT)
    X = np.column_stack([fresh[name] for name in features]).astype(float)
    trained = engine.store.trained[features, "runtime"]
    assert trained.interval is not None
    said = trained.model.predict(X)[:, 0]
    low, high = trained.interval.ends(said, trained.model.spread(X), 0.9)
    y = np.array(fresh["runtime"])
    return float(((low <= y) & (y <= high)).mean())


def test_runs_of_new_groups_are_covered_only_when_the_group_is_named() -> None:
    named = [covered(grouped(seed, Study(group="app")), seed) for seed in range(6)]
    alone = [covered(grouped(seed, Study()), seed) for seed in range(6)]
    error = np.std(named, ddof=1) / math.sqrt(6)
    assert np.mean(named) > 0.9 - 4 * error
    assert np.mean(named) < 0.995  # not by being endless
    assert np.mean(alone) < 0.75


def test_with_few_groups_the_answer_says_how_many_it_takes() -> None:
    engine = grouped(3, Study(group="app"), groups=12)
    answer = engine.what_if(0, {"nodes": 50}, ["runtime"], prove=0)
    assert outcome(answer).high == math.inf
    assert any("at least 9 groups to check with (about 45 in all)" in n for n in answer.notes)
    lower = engine.what_if(0, {"nodes": 50}, ["runtime"], level=0.5, prove=0)
    assert math.isfinite(width(outcome(lower)))
    assert not any("unbounded" in note for note in lower.notes)


def test_over_several_contexts_intervals_and_chances_are_those_of_runs_in_them(
    engine: cp.Compass,
) -> None:
    asked = "Recommend X = {{gpus: ?}} to achieve Y = {{runtime: {goal}}} where C = {{app: wrf}}"
    columns = [engine.data.table.column(n).to_pylist() for n in ("app", "gpus", "runtime")]
    rows = list(zip(*columns, strict=True))
    for goal in ("minimize", "<= 30"):
        answer = engine.ask(asked.format(goal=goal), prove=0, chance=0.3)
        assert answer.contexts > 1
        got = outcome(answer)
        gpus = answer[0].settings["gpus"]
        runs = [runtime for app, given, runtime in rows if (app, given) == ("wrf", gpus)]
        # Sizes differ by a factor of four: around their mean, few runs would lie within 10 %.
        assert np.mean([got.low <= one <= got.high for one in runs]) >= 0.9
        if got.chance is not None:
            assert got.chance == pytest.approx(np.mean([one <= 30 for one in runs]), abs=0.2)
    single = engine.ask(f"{asked.format(goal='minimize')[:-1]}, size: 100, nodes: 1, cores: 8}}")
    assert single.contexts == 1


def test_what_is_left_open_is_named_where_it_makes_the_interval_wide(engine: cp.Compass) -> None:
    """Runtime is proportional to size, of which there are 100, 200 and 400; power knows no size."""
    goals = {"runtime": cp.minimize, "power": cp.at_most(1000)}
    open_ = engine.recommend(ask=["gpus"], goals=goals, where=["app == 'wrf'"], prove=0)
    runtime, power = sorted((n for n in open_.notes if "leaves open" in n), reverse=True)
    assert runtime.startswith("runtime depends on size")
    assert power.startswith(("power depends on nodes", "power depends on cores"))
    said = engine.recommend(
        ask=["gpus"], goals=goals, where=["app == 'wrf'", "size == 200"], prove=0
    )

    def width(answer: cp.Answer) -> float:
        same = next(one for one in answer if one.settings == said[0].settings)
        found = same.outcome("runtime")
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    assert width(said) < 0.6 * width(open_)
    assert not any("depends on size" in note for note in said.notes)


def test_nothing_is_left_open_beside_a_baseline(engine: cp.Compass) -> None:
    answer = engine.reconfigure(0, ask=["gpus"], goals={"runtime": cp.minimize}, prove=0)
    assert not any("leaves open" in note for note in answer.notes)


def falling(columns: dict[str, np.ndarray]) -> np.ndarray:
    """A line that leaves what an energy can be."""
    return np.asarray(60.0 - 12.0 * columns["x"])


def line_engine(least: float) -> cp.Compass:
    """An engine whose model of energy is that line; the least energy measured is `least`."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 11, 300).astype(float)
    energy = np.maximum(60.0 - 12.0 * x, 0.0) + rng.uniform(0.0, 20.0, 300)
    energy[0] = least
    table = {"x": x, "y": rng.integers(0, 3, 300), "energy": energy}
    study = {
        "columns": {"x": {"role": "knob"}, "y": {"role": "knob"}, "energy": {"role": "outcome"}}
    }
    return cp.Compass(cp.read(table, study=study), models={"energy": falling})


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_never_negative_is_never_said_to_be(kept: bool) -> None:
    engine = line_engine(0.0 if kept else -1.0)
    start = {"x": 4, "y": 1}
    one = outcome(engine.what_if(start, {"x": 10}, ["energy"], prove=0), "energy")
    (curve,) = engine.curves(start, ["x"], ["energy"])
    many = engine.ask("What if we change X = {x: 9}, how would that affect Y = {energy}")
    assert many.population is not None
    mean = many.population.outcomes[0]
    if not kept:  # what was negative before may be so again
        assert one.value == pytest.approx(-60.0)
        assert float(mean.value) < 0  # type: ignore[arg-type]
        return
    assert one.value == 0.0
    assert one.before == pytest.approx(12.0)
    assert one.change_percent == pytest.approx(-100.0)
    assert 0.0 <= one.low <= one.value <= one.high  # type: ignore[operator]
    assert -12.0 <= one.change_low <= one.change <= one.change_high  # type: ignore[operator]
    for point in curve.points:
        assert 0.0 <= point.low <= point.predicted <= point.high  # type: ignore[operator]
    assert mean.value == 0.0
    assert mean.change_percent >= -100.0  # type: ignore[operator]
    assert mean.change_low >= -mean.before  # type: ignore[operator]
