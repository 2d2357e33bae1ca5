"""A sample from end to end: an engine speaks of the source, and says where rows were in it."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from scipy import stats

import compass as cp
from compass.cli.render import answer as rendered
from compass.domain.answer import Label
from compass.domain.target import Target
from compass.engine.starts import contexts_of
from compass.evidence.assessor import Assessor
from compass.evidence.effects import effects, with_doubts
from compass.evidence.past_runs import past_runs_of
from compass.explain.importance import _between
from compass.learn.drift import verdict
from compass.prepare.split import configurations
from compass.readers.sample import marked
from compass.settings import ForestSettings, TrustSettings
from compass.trust.change import by_tree, deviation, pairs, spread_of_change
from conftest import ROLES, cluster_columns

N = 300
FEATURES = ("app", "size", "nodes", "cores", "gpus")
QUICK = cp.Settings(
    surrogate="forest",
    scale="linear",
    threads=1,
    forest=ForestSettings(trees=10),
    trust=TrustSettings(trees=4, models=3),
)
HOW = {"method": "guided", "keep": 0.05, "seed": 7, "rows": 6000, "usable": 6000, "kept": N}
WORDS = "a sample of 5 % (guided, seed 7): 300 of 6,000 rows, each counts 1/chance"


def weights(n: int = N) -> np.ndarray:
    """Runs of wrf were sampled less often: each stands for more."""
    app = np.array(cluster_columns(n)["app"])
    return np.random.default_rng(9).integers(1, 4, n) * np.where(app == "wrf", 30.0, 3.0)


def sample(n: int = N, weight: np.ndarray | None = None, mark: bool = True) -> cp.Dataset:
    columns: dict[str, Any] = dict(cluster_columns(n))
    columns["sample_weight"] = weights(n) if weight is None else weight
    columns["sample_file"] = [f"jobs-{i % 2}.parquet" for i in range(n)]
    columns["sample_row"] = np.arange(n) * 20
    table = pa.table(columns)
    if mark:
        table = table.cast(marked(table.schema, HOW))
    return cp.read(table).roles(**ROLES)


@pytest.fixture(scope="module")
def drawn() -> cp.Compass:
    return cp.Compass(sample(), settings=QUICK).fit()


@pytest.fixture(scope="module")
def assessor(drawn: cp.Compass) -> Assessor:
    store = drawn.store
    return Assessor(store, store.view_of(FEATURES), store.train(FEATURES, ("runtime", "power")))


def test_scales_errors_and_cards_are_of_the_source(drawn: cp.Compass, assessor: Assessor) -> None:
    store, view, trained = drawn.store, assessor.view, assessor.trained["runtime"]
    weight = store.prepared.weight
    np.testing.assert_array_equal(weight, weights())
    often = np.repeat(view.train, weight[view.train].astype(int))
    y = store.prepared.column("runtime")
    assert trained.scale == pytest.approx(np.std(y[often]))
    assert trained.scale != pytest.approx(np.std(y[view.train]), rel=1e-3)
    np.testing.assert_allclose(view.scale[1:], np.std(view.X[often][:, 1:], axis=0))
    said = trained.model.predict(view.X[view.valid])[:, 0]
    errors = np.abs(said - y[view.valid]) / np.maximum(np.abs(y[view.valid]), 0.01 * trained.scale)
    assert trained.card.error == pytest.approx(np.average(errors, weights=weight[view.valid]))
    assert trained.card.sample == WORDS
    assert trained.interval is not None
    assert sorted(trained.interval.weights) == sorted(weight[view.valid])


def test_usual_spreads_of_intervals_are_weighted(assessor: Assessor) -> None:
    trained, view, weight = (
        assessor.trained["runtime"],
        assessor.view,
        assessor.store.prepared.weight,
    )
    wide = deviation(by_tree(trained.perturbed.forests[0], view.X[view.train], log=False))
    assert trained.interval is not None
    assert trained.interval.usual == pytest.approx(np.average(wide, weights=weight[view.train]))
    assert trained.interval.usual != pytest.approx(wide.mean(), rel=1e-3)
    both = view.train[pairs(view.X[view.train], view.features)]
    ends = [trained.model.spread(view.X[both[:, side]]) for side in (0, 1)]
    trees = trained.perturbed.forests[0]
    apart = spread_of_change(trees, view.X[both[:, 0]], view.X[both[:, 1]], (ends[0], ends[1]))
    assert trained.change is not None
    counts = np.sqrt(weight[both[:, 0]] * weight[both[:, 1]])
    assert trained.change.usual == pytest.approx(np.average(apart, weights=counts))
    assert trained.change.usual != pytest.approx(apart.mean(), rel=1e-3)


def test_a_change_over_many_runs_is_a_mean_over_the_source(drawn: cp.Compass) -> None:
    text = "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime, power, state}"
    answer = drawn.ask(text)
    population, store = answer.population, drawn.store
    assert population is not None
    view = store.view_of(FEATURES)
    rows = np.flatnonzero(view.X[:, 4] == 0)
    weight, before = store.prepared.weight[rows], view.X[rows]
    after = before.copy()
    after[:, 4] = 4.0
    for outcome in population.outcomes:
        model = store.trained[FEATURES, outcome.name].model
        old, new = model.predict(before), model.predict(after)
        if outcome.name == "state":
            labels = store.prepared.space["state"].values  # type: ignore[union-attr]
            for label, now, was in zip(labels, new.T, old.T, strict=True):
                after_change, before_change = (
                    np.average(one, weights=weight) for one in (now, was)
                )
                assert outcome.scores[str(label)] == pytest.approx(after_change)
                assert outcome.scores_before[str(label)] == pytest.approx(before_change)
            assert outcome.probability == pytest.approx(max(outcome.scores.values()))
            continue
        change = (new - old)[:, 0]
        mean = np.average(change, weights=weight)
        assert outcome.change == pytest.approx(mean)
        assert outcome.change != pytest.approx(change.mean(), rel=1e-3)
        assert outcome.value == pytest.approx(np.average(new[:, 0], weights=weight))
        assert outcome.change_low is not None
        n, worth = len(rows), weight.sum() ** 2 / (weight**2).sum()
        error = np.sqrt(np.sum((weight * (change - mean)) ** 2) * n / (n - 1)) / weight.sum()
        half = stats.t.ppf(0.95, worth - 1) * error
        assert outcome.change_low == pytest.approx(mean - half)
    assert population.stands_for == pytest.approx(weight.sum())
    shown = printed(answer)
    assert f"Mean over {len(rows)} past runs of the sample, which stand for" in shown
    assert f"The data is {WORDS}." in shown


def test_the_share_of_trusted_runs_is_of_the_source(drawn: cp.Compass) -> None:
    store, apart = drawn.store, []
    view = store.view_of(FEATURES)
    rows = np.flatnonzero(view.X[:, 4] == 0)
    weight, before = store.prepared.weight[rows], view.X[rows]
    assessor = Assessor(store, view, store.train(FEATURES, ("runtime",)))
    for gpus in (1, 2, 4):
        after = before.copy()
        after[:, 4] = gpus
        found = effects(assessor.matched, list(before), after)
        fine = np.array(
            [one is Label.TRUSTED for one in with_doubts(assessor.labels(after), found)]
        )
        share = weight[fine].sum() / weight.sum()
        text = f"What if we change X = {{gpus: 0 -> {gpus}}}, how would that affect Y = {{runtime}}"
        population = drawn.ask(text).population
        assert population is not None
        said = f"after the change {share:.0%} of the {len(rows)} runs that change are trusted"
        assert said in population.reason
        apart.append(abs(share - fine.mean()))
    assert max(apart) > 0.01


def printed(answer: cp.Answer) -> str:
    out = io.StringIO()
    rendered(Console(file=out, width=400), answer)
    return out.getvalue()


def test_evidence_names_the_rows_of_the_source(drawn: cp.Compass) -> None:
    answer = drawn.ask(
        "Reconfigure X = {gpus: ?, nodes: ?} to achieve Y = {runtime: reduce by 20%} from row 3"
        " chance 40%"
    )
    found = [run for one in answer for run in one.trust.evidence]
    assert found
    for run in found:
        assert run.source == f"row {run.row * 20} of jobs-{run.row % 2}.parquet"
    pairs = [p for one in answer for effect in one.trust.effects for p in effect.examples]
    assert pairs
    for pair in pairs:
        assert pair.old_source == f"row {pair.old * 20} of jobs-{pair.old % 2}.parquet"
        assert pair.new_source == f"row {pair.new * 20} of jobs-{pair.new % 2}.parquet"
    assert answer.context.startswith("Baseline: row 3 (row 60 of jobs-1.parquet)")
    assert answer.provenance.sample == WORDS
    run = answer[0].trust.evidence[0]
    assert f"Closest rows: {run.row} ({run.source})" in printed(answer)
    similar = drawn.explain(3, outcomes=["runtime"])[0].similar
    assert all(one.source == f"row {one.row * 20} of jobs-{one.row % 2}.parquet" for one in similar)


def test_recommendations_say_that_they_are_of_a_sample(drawn: cp.Compass) -> None:
    answer = drawn.ask(
        "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize} "
        "where C = {app == wrf, size == 100, gpus == 0}"
    )
    assert " of the sample match" in answer.context


def test_contexts_are_drawn_as_often_as_the_source_has_them(drawn: cp.Compass) -> None:
    store, counts = drawn.store, np.zeros(2)
    view, rows = store.view_of(FEATURES), np.arange(N)
    X = view.X
    start = X[0].copy()
    start[0] = 7.0  # no run has it: the first context is that of the start, which is not counted
    for seed in range(300):
        found = contexts_of(view, rows, start, [0], {}, 2, np.random.default_rng(seed))
        counts[int(found[1, 0])] += 1
    share = [store.prepared.weight[X[:, 0] == app].sum() for app in (0, 1)]
    np.testing.assert_allclose(counts / 300, share / np.sum(share), atol=0.05)


def test_importance_and_dependence_are_of_the_source(drawn: cp.Compass) -> None:
    store = drawn.store
    view, weight = store.view_of(FEATURES), store.prepared.weight
    model = store.trained[FEATURES, "runtime"].model
    found = drawn.dependence("runtime", "gpus")
    rows = view.train
    for point in found.points:
        X = view.X[rows].copy()
        X[:, 4] = float(point.value)  # type: ignore[arg-type]
        said = model.predict(X)[:, 0]
        often = np.repeat(said, weight[rows].astype(int))
        assert point.mean == pytest.approx(often.mean())
        assert point.low == np.percentile(often, 10, method="inverted_cdf")
        assert point.high == np.percentile(often, 90, method="inverted_cdf")
        near = view.X[rows, 4] == point.value
        assert point.share == pytest.approx(weight[rows][near].sum() / weight[rows].sum())
    # Half of the runs are small by their weights, so values by factors are tried.
    values, seen = np.arange(1.0, 101.0), np.arange(1.0, 101.0)
    few = np.where(seen <= 10, 100.0, 1.0)
    assert _between(values, seen, np.ones(100), 5).tolist() == [1.0, 25.75, 50.5, 75.25, 100.0]
    np.testing.assert_allclose(_between(values, seen, few, 3), [1.0, 10.0, 100.0])
    # Shuffled values come from the source: the rise is that of all pairs of runs by weight.
    valid = view.valid
    y, mass = store.prepared.column("runtime")[valid], weight[valid]
    least = 0.01 * store.trained[FEATURES, "runtime"].scale
    risen = np.zeros(len(valid))
    for other, share in zip(valid, mass / mass.sum(), strict=True):
        X = view.X[valid].copy()
        X[:, 0] = view.X[other, 0]
        risen += share * np.abs(model.predict(X)[:, 0] - y) / np.maximum(np.abs(y), least)
    truth = np.average(risen, weights=mass) - store.trained[FEATURES, "runtime"].card.error
    told = {column.name: column for column in drawn.importance("runtime", repeats=60).columns}
    assert told["app"].rise == pytest.approx(truth, abs=4 * told["app"].error)


def test_measured_means_and_reliability_are_weighted(assessor: Assessor) -> None:
    store, view = assessor.store, assessor.view
    y, weight = store.prepared.column("runtime"), store.prepared.weight
    held = view.valid
    said = assessor.trained["runtime"].model.predict(view.X[held])[:, 0]
    apart = np.abs(np.log(np.maximum(said, y.min())) - np.log(y[held]))
    often = np.repeat(apart, weight[held].astype(int))
    usual = assessor.learnt("runtime").usual_error
    assert usual == np.percentile(often, 50, method="inverted_cdf")
    squares = ((y[held] - said) / np.maximum(y[held], said)) ** 2
    own = assessor.learnt("runtime").reliability
    assert own.error + own.noise == pytest.approx(np.average(squares, weights=weight[held]))
    # How far runs of one configuration scatter, as often as each of them counts.
    apart, freedom = 0.05**2 * (own.error + own.noise), 1
    for kind in np.unique(key := configurations(view.X)):
        rows = np.flatnonzero(key == kind)
        centre = np.average(y[rows], weights=weight[rows])
        share = (y[rows] - centre) / np.maximum(y[rows], centre)
        apart += float((weight[rows] / weight.mean() * share**2).sum())
        freedom += len(rows) - 1
    assert own.noise == pytest.approx(apart / freedom)
    matched = assessor.matched
    assert matched.outcomes["runtime"].effect().claim == max(min(usual, 0.1), 0.01)


def test_runs_of_one_configuration_count_by_weight(assessor: Assessor) -> None:
    store, view = assessor.store, assessor.view
    key = configurations(view.X)
    kinds, times = np.unique(key, return_counts=True)
    rows = np.flatnonzero(key == kinds[times.argmax()])
    assert len(rows) > 1
    task: Any = SimpleNamespace(
        targets=(Target(name="runtime", direction="minimize"),),
        start=view.X[rows[0]],
        movable=np.array([2, 3, 4]),
    )
    seen: dict[str, Any] = {}

    def ranked_for(self: Any, task: Any) -> Any:
        seen["record"] = self
        return self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compass.generate.past.PastRuns.ranked_for", ranked_for)
        past_runs_of(task, assessor, view.X[rows[:1]], lambda X: {})
    past_runs = seen["record"]
    place = int(np.flatnonzero(past_runs.key == kinds[times.argmax()])[0])
    y, weight = store.prepared.column("runtime")[rows], store.prepared.weight[rows]
    assert past_runs.mean["runtime"][place, 0] == pytest.approx(np.average(y, weights=weight))
    assert past_runs.runs["runtime"][place] == len(rows)


def test_a_saved_engine_keeps_weights_and_provenance(drawn: cp.Compass, tmp_path: Path) -> None:
    again = cp.load(drawn.save(tmp_path / "jobs.compass"))
    assert again.data.table.sampled == drawn.data.table.sampled
    np.testing.assert_array_equal(again.store.prepared.weight, drawn.store.prepared.weight)
    assert again.data.table.source_of(3) == "row 60 of jobs-1.parquet"
    for key, trained in drawn.store.trained.items():
        other = again.store.trained[key]
        assert other.scale == trained.scale
        assert other.card.sample == WORDS
        for one, two in ((trained.interval, other.interval), (trained.change, other.change)):
            if one is not None and two is not None:
                np.testing.assert_array_equal(one.weights, two.weights)
        np.testing.assert_array_equal(trained.perturbed.weight, other.perturbed.weight)
    text = "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime}"
    ours, theirs = drawn.ask(text), again.ask(text)
    assert ours.population == theirs.population
    assert ours.provenance == theirs.provenance


def test_new_runs_count_once_beside_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Any] = []

    def watched(*given: Any, weights: Any, **more: Any) -> Any:
        compared.append(weights)
        return verdict(*given, weights=weights, **more)

    monkeypatch.setattr("compass.engine.tell.verdict", watched)
    roles = ROLES | {"outcomes": ["runtime"], "ignored": ["power", "state"]}
    fresh = {name: values[:40] for name, values in cluster_columns(400, seed=8).items()}
    plain = cp.read(cluster_columns(N)).roles(**roles)
    drifts = []
    for data, counts in ((sample().roles(**roles), weights()), (plain, np.ones(N))):
        engine = cp.Compass(data, settings=QUICK).fit()
        valid, card = engine.store.view_of(FEATURES).valid, engine.cards[0]
        told = engine.tell(fresh)
        np.testing.assert_array_equal(compared[-1][0], counts[valid])
        np.testing.assert_array_equal(compared[-1][1], np.ones(40))
        np.testing.assert_array_equal(engine.store.prepared.weight, [*counts, *np.ones(40)])
        assert engine.data.table.row_label(N + 1) == f"row {N + 1}"
        drift = told.learnt[0].drift
        assert drift is not None
        drifts.append(drift)
        assert drift.error_before == pytest.approx(card.error)
    # Distances of columns and errors before are of the source, those of new runs are alike.
    app = [next(c.distance for c in drift.columns if c.column == "app") for drift in drifts]
    assert app[0] > app[1] + 0.2
    assert drifts[0].error_before != pytest.approx(drifts[1].error_before, rel=1e-3)
    # A sample that is told to an engine of plain runs loses its weights, and that is said.
    said = engine.tell(sample(60).table.arrow)
    assert any("are a sample, the known ones are not" in note for note in said.notes)
    assert (engine.store.prepared.weight == 1).all()


@pytest.mark.parametrize("reducer", ["uniform", "guided", "stratified"])
def test_keeping_a_share_of_a_sample_multiplies_weights(reducer: str) -> None:
    data, total = sample(), weights().sum()
    kept = [data.reduced(0.25, reducer, seed) for seed in range(6)]
    assert {one.sample for one in kept} == {WORDS}
    for one in kept:
        # What a row stood for is multiplied by what it stands for now: at least itself.
        assert (one.weight >= weights()[one.row_id] * 0.8).all()
        assert one.weight.sum() == pytest.approx(total, rel=0.25)
    assert np.mean([one.weight.sum() for one in kept]) == pytest.approx(total, rel=0.1)
    if reducer == "uniform":
        np.testing.assert_allclose(kept[0].weight / weights()[kept[0].row_id], N / kept[0].rows)


def test_equal_weights_change_no_answer() -> None:
    questions = (
        "What if we change X = {gpus: 0 -> 4}, how would that affect Y = {runtime, state}",
        "Reconfigure X = {gpus: ?} to achieve Y = {runtime: reduce by 10%} from row 3",
    )
    answers = []
    for data in (sample(150, np.ones(150)), cp.read(cluster_columns(150)).roles(**ROLES)):
        engine = cp.Compass(data, settings=QUICK)
        found = [engine.ask(text) for text in questions]
        answers.append(
            [
                [one.population and one.population.outcomes, *(s.outcomes for s in one)]
                for one in found
            ]
        )
    assert answers[0] == answers[1]


def test_an_unbounded_interval_says_what_weights_have_to_do_with_it() -> None:
    weight = np.exp(3 * np.random.default_rng(2).normal(size=N))
    engine = cp.Compass(sample(weight=weight), settings=QUICK)
    answer = engine.ask(
        "What if we change X = {gpus: 4}, how would that affect Y = {runtime} from row 3"
    )
    notes = [note for note in answer.notes if "is unbounded" in note]
    assert any("by their weights the" in note and "count like" in note for note in notes)
