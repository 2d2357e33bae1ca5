from pathlib import Path

import numpy as np
import pytest
from machine_law import MACHINES, roofline_runs
from sklearn.linear_model import LinearRegression

from compass.domain.errors import DataProblem, EngineProblem, QueryProblem
from compass.platforms.pairs import MatchedRuns
from compass.platforms.sample_embedding import EMBEDDINGS, SampleEmbedding
from compass.platforms.sample_embedding import restored as restored_embedding
from compass.platforms.xamm import XammModel, XammOptions, load, train

QUICK = XammOptions(embedding="network", epochs=30)


@pytest.fixture(scope="module")
def runs() -> MatchedRuns:
    return roofline_runs(14)


@pytest.fixture(scope="module")
def model(runs: MatchedRuns) -> XammModel:
    kernels = runs.applications < "app06"
    return train(runs.some(~kernels & (runs.applications < "app12")), runs.some(kernels), QUICK)


@pytest.mark.parametrize("kind", EMBEDDINGS)
def test_every_embedding_is_restored_from_arrays(kind: str) -> None:
    if kind not in ("network", "raw"):
        pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    X = rng.normal(3, 5, (60, 4))
    X[2, 1] = np.nan
    made = SampleEmbedding.of(X, X[:, 0] ** 2, kind, width=3, epochs=3, seed=7)
    found = made.transform(X)
    assert found.shape == (60, 4 if kind == "raw" else 3)
    assert np.isfinite(found).all()
    again = restored_embedding(kind, made.arrays())
    assert np.array_equal(again.transform(X), found)
    assert again.fingerprint == made.fingerprint


def test_both_models_predict_every_pair_of_machines(runs: MatchedRuns, model: XammModel) -> None:
    assert set(model.amms) == set(MACHINES)
    assert len(model.pairs) == 12
    train_lines = runs.some((runs.applications >= "app06") & (runs.applications < "app12"))
    for with_amms in (True, False):
        for source in ("quartz", "lassen"):
            for target in ("ruby", "corona"):
                truth = np.exp(train_lines.log_ratio(source)[:, runs.place(target)])
                found = model.predict(train_lines, source, target, with_amms=with_amms)
                assert np.abs(found / truth - 1).mean() < 0.25


def test_a_source_that_was_not_trained_on_is_an_error(model: XammModel) -> None:
    with pytest.raises(QueryProblem, match="not trained on the source machine frontier"):
        model.predict(roofline_runs(1), "frontier", "lassen")


def test_a_machine_enters_by_its_benchmark_alone(runs: MatchedRuns) -> None:
    kernels = runs.some(runs.applications < "app06")
    hide = np.zeros(runs.log_runtime.shape, dtype=bool)
    hide[:, runs.place("corona")] = True
    known = runs.hidden(hide).some((runs.applications >= "app06") & (runs.applications < "app12"))
    names = tuple(name for name in runs.machines if name != "corona")
    places = [runs.place(name) for name in names]
    known = MatchedRuns(
        names,
        known.applications,
        known.configuration,
        known.configuration_names,
        known.log_runtime[:, places],
        known.counters[:, places],
        known.counter_names,
    )
    model = train(known, kernels, QUICK)
    assert "corona" not in model.amms
    asked = runs.of("app12")
    with pytest.raises(QueryProblem, match="nothing is known of the machine corona"):
        model.predict(asked, "quartz", "corona")
    amm = model.amm_of(kernels, "corona", "l2", "weights")
    found = model.predict(asked, "quartz", "corona", target_amm=amm)
    assert (found > 0).all()
    related = model.predict(asked, "quartz", "corona", target_amm=model.amms["lassen"])
    assert np.array_equal(related, model.predict(asked, "quartz", "lassen"))


def test_it_is_saved_without_pickle_and_predicts_the_same(
    runs: MatchedRuns, model: XammModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    asked = runs.of("app13")
    for with_amms in (True, False):
        first = model.predict(asked, "quartz", "lassen", with_amms=with_amms)
        assert np.array_equal(again.predict(asked, "quartz", "lassen", with_amms=with_amms), first)
    (tmp_path / "bad.npz").write_bytes(b"PK")
    with pytest.raises(EngineProblem, match="cannot be read"):
        load(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", about=np.array([{"code": 1}], dtype=object))
    with pytest.raises(EngineProblem, match="cannot be read"):
        load(tmp_path / "bad.npz")


def test_a_machine_model_of_another_embedding_is_refused(
    runs: MatchedRuns, model: XammModel
) -> None:
    amm = model.amms["lassen"].model_copy(update={"embedding": "other"})
    with pytest.raises(EngineProblem, match="belongs to another embedding"):
        model.predict(runs, "quartz", "lassen", target_amm=amm)


def test_ones_own_downstream_model_counts(runs: MatchedRuns) -> None:
    options = XammOptions(embedding="raw", downstream=LinearRegression())
    model = train(runs, None, options)
    assert model.joint is None
    assert np.isfinite(model.predict(runs, "quartz", "ruby")).all()


def test_runs_without_counters_or_pairs_are_refused(runs: MatchedRuns) -> None:
    bare = MatchedRuns(
        runs.machines,
        runs.applications,
        runs.configuration,
        runs.configuration_names,
        runs.log_runtime,
        runs.counters[:, :, :0],
        (),
    )
    with pytest.raises(DataProblem, match="no counters"):
        train(bare, None, QUICK)
    hide = np.zeros(runs.log_runtime.shape, dtype=bool)
    hide[:, 1:] = True
    with pytest.raises(DataProblem, match="no application was run on two machines"):
        train(runs.hidden(hide), None, QUICK)


def test_sequential_attention_is_trained() -> None:
    pytest.importorskip("torch")
    runs = roofline_runs(8)
    model = train(runs, runs, XammOptions(epochs=10))
    assert model.embedding.kind == "attention"
    assert np.isfinite(model.predict(runs, "quartz", "lassen")).all()


def test_ratios_may_be_learnt_from_one_source_only(runs: MatchedRuns) -> None:
    model = train(runs, runs, XammOptions(embedding="raw", sources=("quartz",)))
    assert model.machines == ("quartz",)
    assert set(model.pairs) == {("quartz", name) for name in MACHINES if name != "quartz"}
    assert set(model.amms) == set(MACHINES)
    with pytest.raises(QueryProblem, match="not trained on the source machine ruby"):
        model.predict(runs, "ruby", "quartz")
