"""Engines with brought models and with every family: saved, and the same in another process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compass as cp
from compass import registry
from compass.domain.errors import DataProblem, EngineProblem, UnknownName
from compass.settings import (
    ForestSettings,
    LightGBMSettings,
    NeuralSettings,
    SelectSettings,
    TrustSettings,
    XGBoostSettings,
)
from conftest import cluster_columns

QUICK = cp.Settings(
    surrogate="forest",
    forest=ForestSettings(trees=5),
    lightgbm=LightGBMSettings(rounds=10),
    xgboost=XGBoostSettings(rounds=10),
    neural=NeuralSettings(epochs=5, units=8, layers=2),
    trust=TrustSettings(trees=3),
    select=SelectSettings(folds=3),
)
# As if there were too many configurations to try: only a proof tells that none is better.
SEARCHED = QUICK.model_copy(update={"search": QUICK.search.model_copy(update={"enumerate": 1})})
ROLES = {
    "knobs": ["nodes", "cores", "gpus"],
    "context": ["size"],
    "outcomes": ["runtime"],
    "ignored": ["app", "power", "state"],
}
FEATURES = ("size", "nodes", "cores", "gpus")
QUESTIONS = (
    "Recommend X = {nodes: ?, cores: ?} to achieve Y = {runtime: minimize} where C = {size: 200}",
    "Reconfigure X = {gpus: ?, cores: ?} to achieve Y = {runtime: reduce by 10%} from row 3",
)
ANSWERING = (
    "import sys, json, compass as cp\n"
    "places, questions = json.loads(sys.argv[1]), json.loads(sys.argv[2])\n"
    "engines = {name: cp.load(place) for name, place in places.items()}\n"
    "print(json.dumps({name: [e.ask(q, prove=0.0).model_dump_json(exclude={'seconds'})\n"
    "                         for q in questions] for name, e in engines.items()}))\n"
)


def jobs(n: int = 120) -> cp.Dataset:
    return cp.read(cluster_columns(n)).roles(**ROLES)


def in_another_process(places: dict[str, Path]) -> dict[str, list[str]]:
    given = json.dumps({name: str(place) for name, place in places.items()})
    done = subprocess.run(
        [sys.executable, "-c", ANSWERING, given, json.dumps(QUESTIONS)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stderr == ""
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def answers(engine: cp.Compass) -> list[str]:
    return [engine.ask(q, prove=0.0).model_dump_json(exclude={"seconds"}) for q in QUESTIONS]


def known() -> list[str]:
    found = registry.everything("surrogate").items()
    return [name for name, kind in found if getattr(kind, "selectable", True)]


def matrix() -> tuple[np.ndarray, np.ndarray]:
    columns = cluster_columns(400, seed=1)
    X = np.column_stack([columns[name] for name in FEATURES]).astype(np.float64)
    return X, np.array(columns["runtime"], dtype=np.float64)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    import lightgbm

    X, y = matrix()
    parameters = {"objective": "regression", "verbosity": -1, "num_leaves": 8, "num_threads": 1}
    named = lightgbm.Dataset(X, y, feature_name=list(FEATURES), params=parameters)
    booster = lightgbm.train(parameters, named, 15)
    path = tmp_path_factory.mktemp("brought") / "model.txt"
    booster.save_model(path)
    return path, booster


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """An ONNX file with one input of four columns: a sum of them."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, proto = onnx.helper, onnx.TensorProto
    weights = helper.make_tensor("w", proto.FLOAT, [4, 1], [0.1, -1.0, -0.05, -5.0])
    offset = helper.make_tensor("b", proto.FLOAT, [1], [60.0])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["X", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])],
        "model",
        [helper.make_tensor_value_info("X", proto.FLOAT, [None, 4])],
        [helper.make_tensor_value_info("y", proto.FLOAT, [None, 1])],
        [weights, offset],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path_factory.mktemp("brought") / "model.onnx"
    onnx.save(model, path)

    def predict(X: np.ndarray) -> np.ndarray:
        return X @ np.array([0.1, -1.0, -0.05, -5.0]) + 60

    return path, predict


def with_model(path: Path, settings: cp.Settings = QUICK, **more: Any) -> cp.Compass:
    return cp.Compass(jobs(), models={"runtime": cp.bring(path, **more)}, settings=settings).fit()


def predicted(engine: cp.Compass) -> tuple[np.ndarray, np.ndarray]:
    (trained,) = engine.store.trained.values()
    (field,) = engine.store.views.values()
    places = [field.features.names.index(name) for name in FEATURES]
    return field.X[:, places], trained.model.predict(field.X)[:, 0]


def test_brought_trees_answer_with_a_proof(trees: tuple[Path, Any]) -> None:
    path, booster = trees
    engine = with_model(path)
    X, said = predicted(engine)
    np.testing.assert_allclose(said, booster.predict(X), rtol=1e-9)
    card = engine.cards[0]
    assert (card.family, card.provable) == ("brought", True)
    answer = with_model(path, settings=SEARCHED).ask(f"{QUESTIONS[0]} top 1", prove=20.0)
    assert answer.certificate is not None
    # The proof is closed; the best under the model may be less supported than the suggestion.
    assert answer.certificate.status.value in ("optimal", "best found")
    assert answer.certificate.gap == pytest.approx(0, abs=1e-6)
    assert answer.models[0].family == "brought"


def test_a_brought_graph_answers_without_a_proof_and_says_so(graph: tuple[Path, Any]) -> None:
    path, function = graph
    engine = with_model(path, columns=list(FEATURES))
    X, said = predicted(engine)
    np.testing.assert_allclose(said, function(X), rtol=1e-5)
    assert (engine.cards[0].family, engine.cards[0].provable) == ("brought", False)
    engine = with_model(path, settings=SEARCHED, columns=list(FEATURES))
    answer = engine.ask(QUESTIONS[0])
    assert answer.suggestions
    assert answer.certificate is not None
    assert answer.certificate.status.value == "no proof"
    assert "not made of trees" in answer.certificate.reason


def test_every_model_answers_the_same_in_another_process(
    trees: tuple[Path, Any], graph: tuple[Path, Any], tmp_path: Path
) -> None:
    data = jobs()
    engines = {name: cp.Compass(data, surrogate=name, settings=QUICK).fit() for name in known()}
    assert {name: one.cards[0].family for name, one in engines.items()} == {n: n for n in known()}
    engines["trees"] = with_model(trees[0])
    engines["graph"] = with_model(graph[0], columns=list(FEATURES))
    places = {name: one.save(tmp_path / f"{name}.compass") for name, one in engines.items()}
    expected = {name: answers(one) for name, one in engines.items()}
    assert in_another_process(places) == expected
    assert len({found[0] for found in expected.values()}) > 1  # they are different models


def test_new_runs_leave_a_brought_model_as_it_is(trees: tuple[Path, Any], tmp_path: Path) -> None:
    engine = with_model(trees[0])
    again = cp.load(engine.save(tmp_path / "e"))
    for one in (engine, again):
        told = one.tell(cluster_columns(30, seed=9))
        assert told.learnt[0].how == "kept: it was brought, not learnt here"
        assert told.total == 150
        X, said = predicted(one)
        np.testing.assert_allclose(said, trees[1].predict(X), rtol=1e-9)


def test_new_labels_ask_for_the_brought_model_again(
    trees: tuple[Path, Any], tmp_path: Path
) -> None:
    """Whoever loads an engine has no file to ask about labels that came later."""
    roles = {**ROLES, "context": ["size", "app"], "ignored": ["power", "state"]}
    data = cp.read(cluster_columns(120)).roles(**roles)
    engine = cp.Compass(data, models={"runtime": cp.bring(trees[0])}, settings=QUICK).fit()
    again = cp.load(engine.save(tmp_path / "e"))
    added = cluster_columns(20, seed=9) | {"app": ["hpl"] * 20}
    with pytest.raises(DataProblem, match="brought model of runtime") as problem:
        again.tell(added)
    assert "--model" in problem.value.hint
    assert len(again.data) == 120
    assert engine.tell(added).learnt[0].how.startswith("kept")


def test_a_pickle_is_used_only_if_allowed_and_never_saved(tmp_path: Path) -> None:
    import pickle

    from sklearn.linear_model import LinearRegression

    X, y = matrix()
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(LinearRegression().fit(X, y)))
    with pytest.raises(cp.CompassError, match="pickle"):
        cp.bring(path)
    engine = with_model(path, columns=list(FEATURES), allow_pickle=True)
    assert engine.ask(QUESTIONS[0]).suggestions
    with pytest.raises(EngineProblem, match="pickle"):
        engine.save(tmp_path / "e")


def test_a_model_of_no_column_offers_the_nearest(trees: tuple[Path, Any]) -> None:
    with pytest.raises(UnknownName, match="runtme") as problem:
        cp.Compass(jobs(), models={"runtme": cp.bring(trees[0])})
    assert "runtime" in problem.value.hint
