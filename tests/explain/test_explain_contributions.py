"""Explanations of runs, configurations and suggestions: sums, comparisons, similar runs, errors."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.domain.errors import BaselineProblem, QueryProblem, UnknownName
from compass.domain.explanation import Explanation
from compass.domain.quantity import quantity
from compass.domain.space import Role
from compass.explain.shapley import trees
from compass.settings import ForestSettings, LightGBMSettings, TrustSettings
from conftest import ROLES, cluster_columns

QUICK = cp.Settings(
    surrogate="forest",
    forest=ForestSettings(trees=12),
    lightgbm=LightGBMSettings(rounds=20),
    trust=TrustSettings(trees=3),
)


@pytest.fixture(scope="module")
def jobs() -> cp.Compass:
    return cp.Compass(cp.read(pa.table(cluster_columns(400))).roles(**ROLES), settings=QUICK)


@pytest.fixture(scope="module")
def wide() -> cp.Compass:
    """Twelve knobs and a law that is given as a function."""
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {f"k{i}": rng.integers(1, 9, 300).tolist() for i in range(12)}
    columns["y"] = (2.0 * np.array(columns["k0"]) * np.array(columns["k1"])).tolist()
    knobs = [name for name in columns if name != "y"]

    def law(c: Any) -> Any:
        return 2.0 * c["k0"] * c["k1"] + 5.0 * c["k2"]

    data = cp.read(pa.table(columns)).roles(knobs=knobs, outcomes=["y"])
    return cp.Compass(data, settings=QUICK, models={"y": law})


def features(engine: cp.Compass) -> tuple[str, ...]:
    return engine.space.having(Role.KNOB, Role.CONTEXT)


def combined(one: Explanation) -> float:
    """What it is compared with and all contributions together."""
    total = sum(c.amount for c in one.contributions)
    return one.usual * np.exp(total) if one.scale == "factor" else one.usual + total


def test_contributions_sum_to_the_difference(jobs: cp.Compass) -> None:
    found = jobs.explain(3)
    assert [one.target for one in found] == ["runtime", "power", "state"]
    here = jobs.store.view_of(features(jobs))
    for one in found:
        assert combined(one) == pytest.approx(one.reached, rel=1e-9)
        factors = [c.factor for c in one.contributions]
        if one.scale == "factor":
            assert np.prod(factors) == pytest.approx(one.reached / one.usual, rel=1e-9)
        else:
            assert factors == [None] * len(factors)
        sizes = [abs(c.amount) for c in one.contributions]
        assert sizes == sorted(sizes, reverse=True)
        assert {c.name for c in one.contributions} == {*features(jobs)}
        assert one.against == "100 past runs"
        assert one.orders == 0
        assert one.config == {n: jobs.data.row(3)[n] for n in features(jobs)}
        model = jobs.store.train(features(jobs), (one.target,))[one.target].model
        score = model.predict(here.X[[jobs.store.everything.position(3)]])[0]
        assert one.reached == pytest.approx(score.max() if one.label else score[0])


def test_what_is_measured_and_predicted_is_in_the_sentence(jobs: cp.Compass) -> None:
    one = jobs.explain(3, ["runtime"])[0]
    assert one.measured == pytest.approx(jobs.data.row(3)["runtime"])
    assert one.sentence.startswith(f"runtime is predicted {quantity(one.predicted)} (measured ")
    assert one.contributions[0].text in one.sentence
    assert one.row == 3
    given = jobs.explain(dict(one.config), ["runtime"])[0]
    assert given.row is None
    assert given.measured is None
    assert "measured" not in given.sentence
    assert given.contributions == one.contributions


def test_against_a_run_only_what_differs_contributes(jobs: cp.Compass) -> None:
    here, there = jobs.data.row(3), jobs.data.row(10)
    one = jobs.explain(3, ["runtime"], against=10)[0]
    assert {c.name for c in one.contributions} == {n for n in features(jobs) if here[n] != there[n]}
    for c in one.contributions:
        assert (c.before, c.value) == (there[c.name], here[c.name])
    assert combined(one) == pytest.approx(one.reached, rel=1e-9)
    assert one.usual == pytest.approx(jobs.explain(10, ["runtime"])[0].reached)
    assert "predicted for row 10" in one.sentence
    assert one.baseline == {n: there[n] for n in features(jobs)}
    assert jobs.explain(3, ["runtime"])[0].baseline is None
    same = jobs.explain(3, ["runtime"], against=here)[0]
    assert same.contributions == ()
    assert same.against == "the given configuration"
    assert same.sentence.endswith("no parameter differs.")


def test_a_law_that_is_known_is_split_as_it_is(wide: cp.Compass) -> None:
    high = {f"k{i}": 3 for i in range(12)} | {"k0": 5, "k2": 4, "k11": 8}
    one = wide.explain(high, against={f"k{i}": 3 for i in range(12)})[0]
    amounts = {c.name: c.amount for c in one.contributions}
    assert amounts == pytest.approx({"k0": 12.0, "k2": 5.0, "k11": 0.0})
    assert one.contributions[0].text == "k0 3 -> 5 (+12)"
    assert one.orders == 0


def test_many_columns_are_sampled_with_intervals(wide: cp.Compass) -> None:
    one = wide.explain(0)[0]
    assert one.orders == 800
    assert "800 orders" in one.notes[0]
    assert sum(c.amount for c in one.contributions) == pytest.approx(one.reached - one.usual)
    by_name = {c.name: c for c in one.contributions}
    assert by_name["k7"].amount == 0
    for c in one.contributions:
        assert c.low is not None
        assert c.high is not None
        assert c.low <= c.amount <= c.high
    again = wide.explain(0)[0]
    assert again == one


def test_boosted_classes_are_told_in_odds() -> None:
    columns = cluster_columns(400)
    runtime = np.array(columns["runtime"])
    for labels in (2, 3):
        names = np.array(["fast", "middle", "slow"])
        edges = [12.0, 30.0][: labels - 1]
        columns["state"] = names[np.digitize(runtime, edges)].tolist()
        data = cp.read(pa.table(columns)).roles(**ROLES)
        engine = cp.Compass(data, settings=QUICK.model_copy(update={"surrogate": "lightgbm"}))
        one = engine.explain(3, ["state"])[0]
        assert one.scale == "log-odds"
        odds = [share / (1 - share) for share in (one.reached, one.usual)]
        product = np.prod([c.factor for c in one.contributions])
        assert product == pytest.approx(odds[0] / odds[1], rel=1e-6)
        model = engine.store.train(features(engine), ("state",))["state"].model
        x = engine.store.view_of(features(engine)).X[[3]]
        ranked = np.sort(model.predict(x)[0])[::-1]
        assert odds[0] == pytest.approx(ranked[0] / ranked[1], rel=1e-6)
        assert one.label == one.predicted
        assert (one.rival is None) == (labels == 2)


@pytest.mark.parametrize("family", ["extra-trees", "xgboost", "linear", "neighbours", "svm"])
def test_every_family_is_explained(family: str) -> None:
    data = cp.read(pa.table(cluster_columns(120))).roles(**ROLES)
    engine = cp.Compass(data, settings=QUICK.model_copy(update={"surrogate": family}))
    number, label = engine.explain(3, ["power", "state"])
    assert combined(number) == pytest.approx(number.reached, rel=1e-9)
    assert number.family == family
    assert number.contributions[0].name in {"nodes", "gpus", "cores"}
    if label.scale == "probability":
        assert combined(label) == pytest.approx(label.reached, abs=1e-9)
    assert label.label in {"COMPLETED", "TIMEOUT"}


def test_similar_runs_are_the_nearest_others(jobs: cp.Compass) -> None:
    one = jobs.explain(3, ["power"])[0]
    here = jobs.store.view_of(features(jobs))
    X, prepared = here.X, jobs.store.prepared
    position = prepared.position(3)
    numbers = [i for i, n in enumerate(features(jobs)) if n != "app"]
    scaled = X[:, numbers] / X[here.train][:, numbers].std(axis=0)
    app = features(jobs).index("app")
    square = ((scaled - scaled[position]) ** 2).sum(axis=1) + (X[:, app] != X[position, app])
    others = [i for i in here.train if i != position]
    expected = np.sort(np.sqrt(square[others]))[:5]
    np.testing.assert_allclose([run.distance for run in one.similar], expected, atol=1e-9)
    assert 3 not in [run.row for run in one.similar]
    for run in one.similar:
        assert run.outcomes == {"power": pytest.approx(jobs.data.row(run.row)["power"])}


def test_a_suggestion_is_explained_with_what_its_question_knew(jobs: cp.Compass) -> None:
    answer = jobs.reconfigure(1, ask=["gpus", "cores"], goals={"runtime": cp.less(0.3)}, prove=0.0)
    one = jobs.explain(answer[0], against=answer.baseline)[0]
    assert one.target == "runtime"
    assert {c.name for c in one.contributions} == {edit.name for edit in answer[0].edits}
    assert one.reached == pytest.approx(answer[0].outcome("runtime").value)
    assert one.usual == pytest.approx(answer[0].outcome("runtime").before)
    assert one.notes == ()


def test_a_recommendation_that_averages_over_contexts_says_so(jobs: cp.Compass) -> None:
    answer = jobs.recommend(["gpus"], {"runtime": cp.minimize}, prove=0.0)
    one = jobs.explain(answer[0])[0]
    assert one.config == answer[0].config
    assert abs(one.reached / answer[0].outcome("runtime").value - 1) > 0.005
    assert "averages over the contexts" in one.notes[0]


def test_the_background_is_a_sample_of_runs_that_were_learnt_from(jobs: cp.Compass) -> None:
    one = jobs.explain(3, ["power"])[0]
    here = jobs.store.view_of(features(jobs))
    rows = np.sort(np.random.default_rng(7).choice(here.train, 100, replace=False))
    model: Any = jobs.store.train(features(jobs), ("power",))["power"].model
    share = trees(model.forest, here.X[jobs.store.prepared.position(3)], here.X[rows])[:, 0]
    by_name = {c.name: c.amount for c in one.contributions}
    assert [by_name[n] for n in features(jobs)] == pytest.approx(share.tolist(), abs=1e-12)


def test_what_cannot_be_explained_is_said(jobs: cp.Compass) -> None:
    with pytest.raises(BaselineProblem, match="no row 4000"):
        jobs.explain(4000)
    with pytest.raises(UnknownName, match="no outcome named 'runtme'") as problem:
        jobs.explain(3, ["runtme"])
    assert "runtime" in problem.value.hint
    with pytest.raises(QueryProblem, match="nodes is not an outcome"):
        jobs.explain(3, ["nodes"])
    with pytest.raises(BaselineProblem, match="no value for"):
        jobs.explain({"nodes": 1})
    assert jobs.explain(3, ["RUNTIME"])[0].target == "runtime"


def test_the_level_none_is_a_value_like_others() -> None:
    columns = cluster_columns(150)
    columns["gpus"] = [gpus or None for gpus in columns["gpus"]]
    study = {"columns": {"gpus": {"missing": "none"}}}
    data = cp.read(pa.table(columns), study=study).roles(**ROLES)
    engine = cp.Compass(data, settings=QUICK)
    row = columns["gpus"].index(None)
    start = engine.explain(row, ["power"])[0].config
    one = engine.explain(start | {"gpus": 4}, ["power"], against=row)[0]
    assert [c.text.split(" (")[0] for c in one.contributions] == ["gpus none -> 4"]
    assert one.contributions[0].amount > 0


def test_weights_of_runs_count() -> None:
    columns = cluster_columns(90)
    columns["weight"] = [1.0 + 50.0 * (app == "wrf") for app in columns["app"]]
    heavy = cp.read(pa.table(columns), study={"weight": "weight"}).roles(**ROLES)
    engine = cp.Compass(heavy, settings=QUICK)
    one = engine.explain(3, ["runtime"])[0]
    here = engine.store.view_of(features(engine))
    model = engine.store.train(features(engine), ("runtime",))["runtime"].model
    weight = engine.store.prepared.weight[here.train]
    said = model.predict(here.X[here.train])[:, 0]
    assert len(set(weight)) == 2
    expected = np.average(said, weights=weight)
    if one.scale == "factor":
        expected = np.exp(np.average(np.log(said), weights=weight))
    assert one.usual == pytest.approx(expected)


def test_a_row_that_was_left_out_says_why() -> None:
    columns = cluster_columns(120)
    columns["gpus"][7] = None
    data = cp.read(pa.table(columns)).roles(**ROLES)
    with pytest.raises(BaselineProblem, match="row 7 was left out"):
        cp.Compass(data, settings=QUICK).explain(7)
