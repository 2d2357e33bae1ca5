"""ONNX, skops, PyTorch and Keras files, run apart: predictions equal the libraries' own."""

import gc
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brought_files import (
    CODED,
    LABELS,
    NEW,
    SPACE,
    kinds,
    law,
    net,
    onnx_model,
    quiet,
    rows,
    sklearn_onnx,
    the_same_in_every_batch,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compass.domain.errors import BadInput, EngineProblem, EnvironmentProblem
from compass.model.base import Task, family
from compass.model.files import Limits, bring, runners
from compass.model.files.model import FittedBrought
from compass.model.recipe import provable

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")


def process_of(model: Any) -> Any:
    return model.opened.sandbox._child.process


@pytest.fixture(scope="module")
def ridge() -> Any:
    X = rows()
    return make_pipeline(StandardScaler(), Ridge()).fit(X, law(X))


@pytest.fixture(scope="module")
def by_onnx(ridge: Any, tmp_path_factory: pytest.TempPathFactory) -> FittedBrought:
    path = sklearn_onnx(tmp_path_factory.mktemp("onnx"), ridge)
    model = bring(path, columns=CODED).fitted(SPACE, "runtime", Task())
    assert isinstance(model, FittedBrought)
    return model


def test_one_onnx_tensor_predicts_as_its_origin(ridge: Any, by_onnx: FittedBrought) -> None:
    np.testing.assert_allclose(by_onnx.predict(NEW)[:, 0], ridge.predict(NEW), rtol=1e-4)
    assert by_onnx.family == "brought"
    assert not provable(by_onnx)
    the_same_in_every_batch(by_onnx)


def test_a_saved_onnx_model_is_restored_bit_for_bit(by_onnx: FittedBrought) -> None:
    arrays = by_onnx.arrays()
    assert all(array.dtype == np.uint8 for array in arrays.values())
    again = family("brought").restore(arrays, Task())
    assert np.array_equal(again.predict(NEW), by_onnx.predict(NEW))
    with pytest.raises(EngineProblem, match="damaged"):
        family("brought").restore(arrays, Task(3))
    for old, new in ((b'"width":3', b'"width":1'), (b'"place":2', b'"place":9')):
        plan = np.frombuffer(arrays["plan"].tobytes().replace(old, new), dtype=np.uint8)
        with pytest.raises(EngineProblem, match="damaged"):
            family("brought").restore({**arrays, "plan": plan}, Task())
    with pytest.raises(BadInput):
        family("brought").restore({**arrays, "file": arrays["file"][:200]}, Task())
    bomb = np.frombuffer(pickle.dumps(print), dtype=np.uint8)
    with pytest.raises(BadInput, match="pickle"):
        family("brought").restore({**arrays, "file": bomb}, Task())


def test_a_process_that_died_is_started_again(by_onnx: FittedBrought) -> None:
    before = by_onnx.predict(NEW)
    first = process_of(by_onnx)
    first.kill()
    first.wait()
    assert np.array_equal(by_onnx.predict(NEW), before)
    assert process_of(by_onnx).pid != first.pid


def test_the_process_knows_nothing_and_ends_with_the_model(
    ridge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    model = bring(sklearn_onnx(tmp_path, ridge), columns=CODED).fitted(SPACE, "t", Task())
    process = process_of(model)
    surroundings = Path(f"/proc/{process.pid}/environ")
    if surroundings.exists():
        assert b"hush" not in surroundings.read_bytes()
        assert Path(f"/proc/{process.pid}/cwd").readlink() == Path("/")
    del model
    gc.collect()
    assert process.poll() is not None


def test_onnx_with_one_input_for_each_column(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    inputs = [
        ("size", TensorProto.FLOAT, [None, 1]),
        ("app", TensorProto.STRING, [None, 1]),
        ("nodes", TensorProto.INT64, [None]),
    ]
    nodes = [
        helper.make_node(
            "LabelEncoder",
            ["app"],
            ["code"],
            domain="ai.onnx.ml",
            keys_strings=["lammps", "wrf", "hpl"],
            values_floats=[10.0, 20.0, 30.0],
        ),
        helper.make_node("Cast", ["nodes"], ["flat"], to=TensorProto.FLOAT),
        helper.make_node("Constant", [], ["one"], value_ints=[1]),
        helper.make_node("Unsqueeze", ["flat", "one"], ["many"]),
        helper.make_node("Sum", ["size", "code", "many"], ["y"]),
    ]
    path = onnx_model(tmp_path, inputs, nodes)
    loaded = onnx.load(path)
    loaded.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    onnx.save(loaded, path)
    model = bring(path).fitted(SPACE, "runtime", Task())
    expected = NEW[:, 0] + np.array([10, 20, 30])[NEW[:, 1].astype(int)] + NEW[:, 2]
    np.testing.assert_allclose(model.predict(NEW)[:, 0], expected, rtol=1e-6)
    again = family("brought").restore(model.arrays(), Task())
    assert np.array_equal(again.predict(NEW), model.predict(NEW))
    with pytest.raises(BadInput, match="nodes is a number, but input app"):
        bring(path, columns={"app": "nodes"}).fitted(SPACE, "runtime", Task())


@pytest.mark.parametrize("zipmap", [True, False])
def test_scores_of_an_onnx_classifier(tmp_path: Path, zipmap: bool) -> None:
    X = rows()
    model = LogisticRegression(max_iter=2000).fit(X, kinds(X))
    path = sklearn_onnx(tmp_path, model, zipmap=zipmap)
    brought = bring(path, columns=CODED)
    with pytest.raises(BadInput, match="which class is which"):
        brought.fitted(SPACE, "state", Task(3), LABELS)
    order = ("high", "low", "middle")
    found = replace(brought, classes=order).fitted(SPACE, "state", Task(3), LABELS)
    scores = model.predict_proba(NEW)
    places = [LABELS.index(label) for label in order]
    np.testing.assert_allclose(found.predict(NEW)[:, places], scores, atol=1e-5)
    np.testing.assert_allclose(found.predict(NEW).sum(axis=1), 1)
    with pytest.raises(BadInput, match="3 columns for 2 classes"):
        replace(brought, classes=LABELS[:2]).fitted(SPACE, "state", Task(3), LABELS)


def test_outputs_that_are_no_prediction_are_told(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    one = [("x", TensorProto.FLOAT, [None, 3])]
    path = onnx_model(tmp_path, one, [helper.make_node("Identity", ["x"], ["y"])])
    with pytest.raises(BadInput, match="predicts 3 columns, not a number"):
        bring(path, columns=CODED).fitted(SPACE, "runtime", Task())
    with pytest.raises(BadInput, match="do not add up to 1"):
        bring(path, columns=CODED, classes=LABELS).fitted(SPACE, "state", Task(3), LABELS)
    nodes = [helper.make_node("ReduceMean", ["x"], ["y"], keepdims=0)]
    with pytest.raises(BadInput, match="one value for 256 rows"):
        bring(onnx_model(tmp_path, one, nodes), columns=CODED).fitted(SPACE, "r", Task())
    nodes = [helper.make_node("Constant", [], ["z"], value_float=0.0)]
    nodes += [helper.make_node("Constant", [], ["axis"], value_ints=[1])]
    nodes += [helper.make_node("Div", ["x", "z"], ["q"])]
    nodes += [helper.make_node("ReduceSum", ["q", "axis"], ["y"])]
    with pytest.raises(BadInput, match="a value that is no number"):
        bring(onnx_model(tmp_path, one, nodes), columns=CODED).fitted(SPACE, "r", Task())


def test_a_model_with_a_fixed_number_of_rows(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    one = [("x", TensorProto.FLOAT, [4, 3])]
    nodes = [helper.make_node("Constant", [], ["axis"], value_ints=[1])]
    nodes += [helper.make_node("ReduceSum", ["x", "axis"], ["y"])]
    model = bring(onnx_model(tmp_path, one, nodes), columns=CODED).fitted(SPACE, "r", Task())
    np.testing.assert_allclose(model.predict(NEW)[:, 0], NEW.sum(axis=1), rtol=1e-6)


def test_torchscript_and_its_limits(tmp_path: Path) -> None:
    path, module = tmp_path / "model.pt", net()
    with quiet():
        torch.jit.script(module).save(path)
    brought = bring(path, columns=CODED)
    with pytest.raises(BadInput, match="no names: which column is which") as told:
        replace(brought, columns=None).fitted(SPACE, "runtime", Task())
    assert "- {column: app, codes: {lammps: 0, wrf: 1, hpl: 2}}" in told.value.hint
    model = brought.fitted(SPACE, "runtime", Task())
    expected = module(torch.from_numpy(NEW).float()).detach().numpy()
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-5)
    the_same_in_every_batch(model)
    wider = replace(brought, columns=[*CODED, "size"])
    with pytest.raises(BadInput, match=r"cannot be used.*shapes cannot be multiplied") as told:
        wider.fitted(SPACE, "runtime", Task())
    assert "expect other inputs" in told.value.hint


def test_torch_export(tmp_path: Path) -> None:
    path, module = tmp_path / "model.pt2", net(3)
    dynamic = ({0: torch.export.Dim("rows")},)
    with quiet():
        program = torch.export.export(module, (torch.zeros(4, 3),), dynamic_shapes=dynamic)
        torch.export.save(program, path)
    brought = bring(path, columns=CODED, classes=LABELS)
    with pytest.raises(BadInput, match="3 inputs, 2 columns"):
        replace(brought, columns=CODED[:2]).fitted(SPACE, "state", Task(3), LABELS)
    model = brought.fitted(SPACE, "state", Task(3), LABELS)
    expected = module(torch.from_numpy(NEW).float()).detach().numpy()
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-6)
    the_same_in_every_batch(model)


def test_an_allowed_pickle_runs_apart_and_is_not_saved(ridge: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(ridge))
    brought = bring(path, columns=CODED, allow_pickle=True)
    model = brought.fitted(SPACE, "runtime", Task())
    np.testing.assert_allclose(model.predict(NEW)[:, 0], ridge.predict(NEW), rtol=1e-12)
    with pytest.raises(EngineProblem, match="never saved"):
        model.arrays()


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(runners._EXTRA, "onnx", ("no_such_package", "onnx"))
    with pytest.raises(EnvironmentProblem, match="no_such_package") as told:
        runners.prepare("onnx")
    assert told.value.hint == "pip install 'compass-hpc[onnx]'"


def test_many_rows_are_sent_in_several_calls(
    by_onnx: FittedBrought, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = by_onnx.predict(NEW)
    monkeypatch.setattr("compass.model.files.sandbox.ROWS", 100)
    assert np.array_equal(by_onnx.predict(NEW), whole)


def test_threads_share_one_process(by_onnx: FittedBrought) -> None:
    from concurrent.futures import ThreadPoolExecutor

    whole = by_onnx.predict(NEW)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: by_onnx.predict(NEW), range(12)))
    assert all(np.array_equal(one, whole) for one in found)


def test_a_copy_made_by_fork_has_a_process_of_its_own(
    by_onnx: FittedBrought, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, mine = by_onnx.predict(NEW), process_of(by_onnx)
    real = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: real + 1)  # as in a forked copy
    assert np.array_equal(by_onnx.predict(NEW), whole)
    assert process_of(by_onnx).pid != mine.pid
    by_onnx.opened.sandbox.close()  # type: ignore[union-attr]
    assert mine.poll() is None
    mine.kill()
    mine.communicate()


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(BadInput, match="more than 512 MiB"):
        bring(path)
    path.write_bytes(b"x" * 100)
    with pytest.raises(BadInput, match="more than 0 MiB"):
        bring(path, limits=Limits(size=50))
    with pytest.raises(BadInput, match="is a folder"):
        bring(tmp_path)
    with pytest.raises(BadInput, match="there is no file"):
        bring(tmp_path / "none.onnx")
