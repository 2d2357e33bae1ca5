"""LightGBM and XGBoost files become trees over the columns: equal predictions, proofs possible."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_file_cases import CODED, NAMES, SPACE, lightgbm_model, rows, xgboost_model

from compass.domain.errors import BadInput, CompassError
from compass.domain.space import Category, Number, Space
from compass.model.base import Task, family
from compass.model.files import bring, bring_bytes, ubjson
from compass.model.files.columns import Feed, fed
from compass.model.files.model import FittedModelFile
from compass.model.files.recode import over_columns
from compass.model.trees import flat
from compass.model.trees.fitted import FittedTrees
from compass.model.trees.flat import FlatForest
from compass.settings import Settings
from property_examples import examples

NEW = rows(200, seed=9)


def test_lightgbm_with_names_needs_only_the_codes_of_labels(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path, NAMES)
    with pytest.raises(BadInput, match="app has labels") as told:
        bring(path).fitted(SPACE, "runtime", Task())
    assert "codes: {lammps: 0, wrf: 1, hpl: 2}" in told.value.hint
    model = bring(path, columns={"app": CODED[1]}).fitted(SPACE, "runtime", Task())
    assert isinstance(model, FittedTrees)
    assert model.trees() is not None
    assert model.family == "brought"
    np.testing.assert_allclose(model.predict(NEW)[:, 0], booster.predict(NEW), rtol=1e-12)
    assert (model.spread(NEW) >= 0).all()


@pytest.mark.parametrize("file", ["model.json", "model.ubj", "misnamed.onnx"])
def test_xgboost_without_names_needs_the_order(tmp_path: Path, file: str) -> None:
    saved = "model.json" if file == "misnamed.onnx" else file
    path, predict = xgboost_model(tmp_path, None, saved)
    path = path.rename(tmp_path / file)
    with pytest.raises(BadInput, match="no names for its 3 inputs") as told:
        bring(path).fitted(SPACE, "runtime", Task())
    copied = told.value.hint.partition("\n")[2]
    columns = tmp_path / "columns.yaml"
    columns.write_text(copied, encoding="utf-8")
    model = bring(path, columns=columns).fitted(SPACE, "runtime", Task())
    np.testing.assert_allclose(model.predict(NEW)[:, 0], predict(NEW), rtol=3e-6)


def test_the_order_and_number_of_the_features_do_not_matter(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path, NAMES)
    other = Space(
        parameters=(
            SPACE["size"],
            Number(name="power", low=0, high=9),
            SPACE["app"],
            SPACE["nodes"],
        )
    )
    model = bring(path, columns={"app": CODED[1]}).fitted(other, "runtime", Task())
    moved = np.column_stack([NEW[:, 2], np.full(len(NEW), 5.0), NEW[:, 1], NEW[:, 0]])
    np.testing.assert_allclose(model.predict(moved)[:, 0], booster.predict(NEW), rtol=1e-12)


@pytest.mark.parametrize(
    ("columns", "message", "hint"),
    [
        (["nodes", "size"], "has 3 inputs, 2 columns were given", "nodes: nodes"),
        (["size", CODED[1], "nodes"], "another order", "leave them out"),
        ({"node": "nodes"}, "no input of the model named 'node'", "did you mean nodes"),
        ({"app": "apps"}, "no column named 'apps'", "did you mean app"),
        ({"app": {"column": "app", "codes": {"lamps": 0}}}, "no label named 'lamps'", "lammps"),
        ({"app": {"column": "app", "codes": {"wrf": 0}}}, "no code is given", "every label"),
        ({"app": {"column": "app", "label": "wfr"}}, "no label named 'wfr'", "did you mean wrf"),
        ({"nodes": {"column": "nodes", "label": "a"}}, "nodes is a number", "nodes: nodes"),
        ({"nodes": {"kolumn": "nodes"}}, "cannot be understood", "write a column"),
        ({"nodes": {"column": "nodes", "value": 3}}, "not clear", "give a column"),
        ({"nodes": {"value": float("nan")}}, "no finite number", ""),
        ({"nodes": 7}, "cannot be understood", "write a column"),
    ],
)
def test_mappings_that_do_not_fit_are_told(
    tmp_path: Path, columns: Any, message: str, hint: str
) -> None:
    path, _ = lightgbm_model(tmp_path, NAMES)
    if isinstance(columns, dict):
        columns = {"app": CODED[1]} | columns
    with pytest.raises(CompassError, match=message) as told:
        bring(path, columns=columns).fitted(SPACE, "runtime", Task())
    assert hint in told.value.hint


def test_an_input_that_is_no_feature_is_told(tmp_path: Path) -> None:
    path, _ = lightgbm_model(tmp_path, ["nodes", "Size", "app_wrf"])
    with pytest.raises(BadInput, match="'Size' among the features") as told:
        bring(path).fitted(SPACE, "runtime", Task())
    assert "did you mean size?" in told.value.hint
    with pytest.raises(BadInput, match="'app_wrf' among the features") as told:
        bring(path, columns={"Size": "size"}).fitted(SPACE, "runtime", Task())
    assert "app_wrf: {column: app, label: wrf}" in told.value.hint


def test_a_number_that_can_be_none_needs_a_number_for_that(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path, ["cap", "app", "size"])
    cap = Number(name="cap", low=1, high=16, optional=True)
    space = Space(parameters=(cap, SPACE["app"], SPACE["size"]))
    with pytest.raises(BadInput, match="cap can be none") as told:
        bring(path, columns={"app": CODED[1]}).fitted(space, "runtime", Task())
    assert "cap: {column: cap, none: -1}" in told.value.hint
    columns = {"app": CODED[1], "cap": {"column": "cap", "none": 3.0}}
    model = bring(path, columns=columns).fitted(space, "runtime", Task())
    assert isinstance(model, FittedTrees)
    there, meant = NEW.copy(), NEW.copy()
    there[::2, 0], meant[::2, 0] = cap.none_code, 3.0
    np.testing.assert_allclose(model.predict(there)[:, 0], booster.predict(meant), rtol=1e-12)


def test_constants_and_one_hot_columns(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path)
    columns = [{"value": 4.0}, {"column": "app", "label": "hpl"}, "size"]
    model = bring(path, columns=columns).fitted(SPACE, "runtime", Task())
    assert isinstance(model, FittedTrees)
    meant = np.column_stack([np.full(len(NEW), 4.0), NEW[:, 1] == 2, NEW[:, 2]])
    np.testing.assert_allclose(model.predict(NEW)[:, 0], booster.predict(meant), rtol=1e-12)


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "a", "b")])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_classes_are_put_into_the_order_of_the_outcome(
    tmp_path: Path, order: tuple[str, ...], library: str
) -> None:
    if library == "lightgbm":
        path, booster = lightgbm_model(tmp_path, objective="multiclass", num_class=3)
        scores = booster.predict(NEW)
    else:
        path, predict = xgboost_model(tmp_path, objective="multi:softprob", num_class=3)
        scores = predict(NEW)
    labels = ("a", "b", "c", "never")
    with pytest.raises(BadInput, match="which class is which"):
        bring(path, columns=CODED).fitted(SPACE, "state", Task(4), labels)
    model = bring(path, columns=CODED, classes=order).fitted(SPACE, "state", Task(4), labels)
    found = model.predict(NEW)
    for place, label in enumerate(order):
        np.testing.assert_allclose(found[:, labels.index(label)], scores[:, place], atol=3e-6)
    assert (found[:, 3] == 0).all()


@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "no"), ("no", "unknown", "yes")])
def test_two_classes(tmp_path: Path, labels: tuple[str, ...]) -> None:
    path, booster = lightgbm_model(tmp_path, objective="binary")
    brought = bring(path, columns=CODED, classes=["no", "yes"])
    model = brought.fitted(SPACE, "state", Task(len(labels)), labels)
    found, yes = model.predict(NEW), booster.predict(NEW)
    np.testing.assert_allclose(found[:, labels.index("yes")], yes, rtol=1e-10)
    np.testing.assert_allclose(found[:, labels.index("no")], 1 - yes, rtol=1e-8)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_classes_that_do_not_fit_are_told(tmp_path: Path) -> None:
    path, _ = lightgbm_model(tmp_path, objective="binary")
    labels = ("no", "yes")
    with pytest.raises(BadInput, match="2 classes, 3 were named"):
        bring(path, columns=CODED, classes=["a", "b", "c"]).fitted(SPACE, "s", Task(2), labels)
    with pytest.raises(CompassError, match="no label of the outcome named 'yess'") as told:
        bring(path, columns=CODED, classes=["no", "yess"]).fitted(SPACE, "s", Task(2), labels)
    assert "did you mean yes" in told.value.hint
    with pytest.raises(BadInput, match="named twice"):
        bring(path, columns=CODED, classes=["no", "no"]).fitted(SPACE, "s", Task(2), labels)
    with pytest.raises(BadInput, match="predicts classes, but runtime is a number"):
        bring(path, columns=CODED).fitted(SPACE, "runtime", Task())
    with pytest.raises(BadInput, match="which is a number"):
        bring(path, columns=CODED, classes=labels).fitted(SPACE, "runtime", Task())
    path, _ = lightgbm_model(tmp_path)
    with pytest.raises(BadInput, match="predicts a number, but s has classes"):
        bring(path, columns=CODED, classes=labels).fitted(SPACE, "s", Task(2), labels)


def test_a_model_of_the_logarithm(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path)
    model = bring(path, columns=CODED, log=True).fitted(SPACE, "runtime", Task())
    np.testing.assert_allclose(model.predict(NEW)[:, 0], np.exp(booster.predict(NEW)), rtol=1e-12)
    assert model.trees() is not None
    path, _ = lightgbm_model(tmp_path, objective="poisson")
    with pytest.raises(BadInput, match="by itself"):
        bring(path, columns=CODED, log=True).fitted(SPACE, "runtime", Task())


def test_saved_trees_are_restored_bit_for_bit(tmp_path: Path) -> None:
    path, _ = xgboost_model(tmp_path, NAMES)
    brought = bring(path, columns={"app": CODED[1]}).about(SPACE, "runtime")
    assert brought.name == "brought"
    y = np.zeros(len(NEW))
    model = brought.fit(NEW, y, task=Task(), weight=None, seed=1, settings=Settings())
    again = family("brought").restore(model.arrays(), Task())
    assert np.array_equal(again.predict(NEW), model.predict(NEW))
    assert again.family == "brought"
    with pytest.raises(BadInput, match="not something to train"):
        family("brought").fit(NEW, y, task=Task(), weight=None, seed=1, settings=Settings())


def test_trees_that_would_grow_too_much_are_asked_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, booster = lightgbm_model(tmp_path)
    codes = {"column": "app", "codes": {"lammps": 2, "wrf": 0, "hpl": 1}}
    monkeypatch.setattr("compass.model.files.recode.NODES", 10)
    model = bring(path, columns=["nodes", codes, "size"]).fitted(SPACE, "runtime", Task())
    assert isinstance(model, FittedModelFile)
    assert model.trees() is None
    meant = NEW.copy()
    meant[:, 1] = np.array([2, 0, 1])[NEW[:, 1].astype(int)]
    np.testing.assert_allclose(model.predict(NEW)[:, 0], booster.predict(meant), rtol=1e-12)
    assert (model.spread(NEW) >= 0).all()
    again = family("brought").restore(model.arrays(), Task())
    assert np.array_equal(again.predict(NEW), model.predict(NEW))


def random_forest(rng: np.random.Generator, single: bool) -> FlatForest:
    """Complete trees of depth 4 over three inputs, with thresholds among the codes."""
    inner, leaves, trees = 15, 16, 5
    size = inner + leaves
    child = np.arange(inner)
    left = np.concatenate([2 * child + 1, np.full(leaves, -1)])
    right = np.concatenate([2 * child + 2, np.full(leaves, -1)])
    shift = np.repeat(np.arange(trees) * size, size)
    feature = np.concatenate([rng.integers(0, 3, (trees, inner)), np.full((trees, leaves), -1)], 1)
    return FlatForest(
        feature=feature.ravel().astype(np.int32),
        threshold=rng.choice([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 7.0], trees * size),
        left=np.where(np.tile(left, trees) < 0, -1, np.tile(left, trees) + shift),
        right=np.where(np.tile(right, trees) < 0, -1, np.tile(right, trees) + shift),
        value=rng.normal(size=(trees * size, 1)),
        roots=np.arange(trees) * size,
        width=3,
        single=single,
    )


@examples(40)
@given(st.integers(0, 2**31), st.booleans())
def test_recoded_trees_predict_what_they_did(seed: int, single: bool) -> None:
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, single)
    table = tuple(rng.choice([-1.0, 0.0, 1.0, 1.5, 2.0, 3.0], 5))
    hot = tuple(float(place == rng.integers(5)) for place in range(5))
    parts = (
        Feed(kind="table", place=1, table=table),
        Feed(kind="table", place=1, table=hot),
        Feed(kind="number", place=0, beyond=10.0, none=float(rng.choice([-2.0, 1.0, 9.0]))),
    )
    X = np.column_stack([rng.choice([0.0, 0.5, 1.2, 2.0, 6.5, 16.0], 300), rng.integers(0, 5, 300)])
    moved = over_columns(forest, parts, 2)
    assert moved is not None
    assert np.array_equal(flat.mean(moved, X), flat.mean(forest, fed(parts, X)))
    flat.restore(moved.arrays())


def test_ubjson_reads_what_json_says(tmp_path: Path) -> None:
    json_path, _ = xgboost_model(tmp_path, NAMES)
    ubj_path, _ = xgboost_model(tmp_path, NAMES, "model.ubj")
    said, binary = json.loads(json_path.read_bytes()), ubjson.loads(ubj_path.read_bytes())
    assert said.keys() == binary.keys()
    trees = [d["learner"]["gradient_booster"]["model"]["trees"] for d in (said, binary)]
    for one, other in zip(*trees, strict=True):
        assert one["split_indices"] == other["split_indices"]
        np.testing.assert_allclose(one["split_conditions"], other["split_conditions"], rtol=1e-6)


@examples(60)
@given(st.binary(max_size=60))
def test_ubjson_refuses_noise_in_one_way(noise: bytes) -> None:
    with suppress(ValueError):
        ubjson.loads(b"{" + noise)


def edited(document: Any, change: Any) -> bytes:
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    change(document["learner"], tree)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda learner, tree: tree["split_conditions"].__setitem__(0, float("nan")),
        lambda learner, tree: tree["split_conditions"].__setitem__(-1, float("nan")),
        lambda learner, tree: tree["split_conditions"].__setitem__(-1, 1e300),
        lambda learner, tree: tree["split_indices"].__setitem__(0, 10**30),
        lambda learner, tree: tree["split_indices"].__setitem__(0, 2**31 + 1),
        lambda learner, tree: tree["split_indices"].__setitem__(0, -5),
        lambda learner, tree: tree["left_children"].__setitem__(0, 10**9),
        lambda learner, tree: tree["left_children"].__setitem__(0, 0),
        lambda learner, tree: tree["left_children"].__setitem__(1, 0),
        lambda learner, tree: tree["right_children"].__setitem__(0, tree["left_children"][0]),
        lambda learner, tree: tree["left_children"].pop(),
        lambda learner, tree: tree.clear(),
        lambda learner, tree: learner.update(learner_model_param=None),
        lambda learner, tree: learner["learner_model_param"].update(num_feature="99999999999"),
        lambda learner, tree: learner["learner_model_param"].update(num_class="99999999999"),
        lambda learner, tree: learner["learner_model_param"].update(base_score="nan"),
        lambda learner, tree: learner.update(gradient_booster=7),
        lambda learner, tree: grown(learner)["tree_info"].__setitem__(0, 2**63 - 1),
        lambda learner, tree: grown(learner)["tree_info"].__setitem__(0, -1),
        lambda learner, tree: grown(learner)["tree_info"].clear(),
        lambda learner, tree: grown(learner).update(tree_info=[0.0] * 10),
        lambda learner, tree: grown(learner)["trees"].clear(),
        lambda learner, tree: grown(learner)["trees"].pop(),
        lambda learner, tree: [grown(learner)[part].clear() for part in ("trees", "tree_info")],
        lambda learner, tree: tree["split_indices"].__setitem__(0, 2**32),
        lambda learner, tree: tree["split_indices"].__setitem__(0, 0.5),
        lambda learner, tree: tree["split_conditions"].__setitem__(0, "1.5"),
        lambda learner, tree: learner["learner_model_param"].update(num_class="3"),
        lambda learner, tree: learner.update(feature_names=["nodes", "app"]),
        lambda learner, tree: learner.update(feature_names=["nodes", "app", "app"]),
    ],
)
def test_damaged_xgboost_documents_are_refused(tmp_path: Path, change: Any) -> None:
    path, _ = xgboost_model(tmp_path)
    content = edited(json.loads(path.read_bytes()), change)
    with np.errstate(over="ignore"), pytest.raises(CompassError) as told:
        bring_bytes(content, "model.json", columns=CODED).fitted(SPACE, "runtime", Task())
    assert told.value.hint


def grown(learner: Any) -> Any:
    return learner["gradient_booster"]["model"]


def test_the_nodes_of_one_tree_do_not_make_up_for_those_of_another(tmp_path: Path) -> None:
    path, _ = xgboost_model(tmp_path)
    document = json.loads(path.read_bytes())
    one, other = grown(document["learner"])["trees"][:2]
    one["split_conditions"].append(other["split_conditions"].pop(0))
    with pytest.raises(BadInput, match="is damaged: it has a tree with another number of nodes"):
        bring_bytes(json.dumps(document).encode(), "model.json", columns=CODED)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("feature_names=nodes app size", "feature_names=nodes app", "names 2 of its 3 inputs"),
        ("feature_names=nodes app size", "feature_names=nodes app app", "names an input twice"),
        ("max_feature_idx=2", "max_feature_idx=1", "names 3 of its 2|not among its 2"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2", "number of classes"),
        ("num_class=1", "num_class=3", "number of classes"),
        ("Tree=3", "Tree=4", "not in order"),
        ("num_leaves=", "num_leaves=1", "number of leaves"),
        ("tree_sizes=", "tree_sizes=7 ", "number of trees"),
        ("split_feature=", "split_feature=4294967296 ", "lack a part"),
        ("left_child=", "left_child=9223372036854775807 ", "leads nowhere"),
        ("left_child=", "left_child=-9223372036854775808 ", "leads nowhere"),
    ],
)
def test_lightgbm_texts_whose_parts_disagree_are_refused(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    content = lightgbm_model(tmp_path, NAMES)[0].read_text()
    assert old in content
    with pytest.raises(BadInput, match=f"m.txt is damaged: .*({why})") as told:
        bring_bytes(content.replace(old, new, 1).encode(), "m.txt", columns=CODED)
    assert told.value.hint


def test_a_lightgbm_text_without_trees_is_refused(tmp_path: Path) -> None:
    content = lightgbm_model(tmp_path, NAMES)[0].read_text()
    head, _, rest = content.partition("\nTree=0")
    none = head + "\nend of trees" + rest.partition("end of trees")[2]
    with pytest.raises(BadInput, match="it holds no trees"):
        bring_bytes(none.encode(), "m.txt", columns=CODED)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return lightgbm_model(tmp_path_factory.mktemp("lightgbm"))[0].read_bytes()


@examples(30)
@given(data=st.data())
def test_damaged_lightgbm_texts_are_refused_or_read(text: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(start + 40, len(text))))
    broken = text[:start] + data.draw(st.binary(max_size=8)) + text[end:]
    with suppress(CompassError):  # anything else would be a crash
        model = bring_bytes(broken, "m.txt", columns=CODED).fitted(SPACE, "runtime", Task())
        assert model.predict(NEW).shape == (len(NEW), 1)


def test_columns_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    path, _ = lightgbm_model(tmp_path)
    columns = tmp_path / "columns.yaml"
    for text, message in (
        ("[a, {b", "neither YAML nor JSON"),
        ("3", "must hold a list"),
        ("!!python/object/apply:os.system ['true']", "neither YAML nor JSON"),
    ):
        columns.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=message):
            bring(path, columns=columns)
    with pytest.raises(BadInput, match="cannot read"):
        bring(path, columns=tmp_path / "none.yaml")
    with pytest.raises(BadInput, match="not the name of a file"):
        bring_bytes(path.read_bytes(), "m.txt", columns=str(columns))  # type: ignore[arg-type]


def test_a_columns_file_may_say_everything(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path, objective="binary")
    sheet = tmp_path / "columns.yaml"
    sheet.write_text(json.dumps({"columns": CODED, "classes": ["no", "yes"]}), encoding="utf-8")
    model = bring(path, columns=sheet).fitted(SPACE, "state", Task(2), ("yes", "no"))
    np.testing.assert_allclose(model.predict(NEW)[:, 0], booster.predict(NEW), rtol=1e-10)
    path, booster = lightgbm_model(tmp_path)
    sheet.write_text(json.dumps({"columns": CODED, "log": True}), encoding="utf-8")
    model = bring(path, columns=sheet).fitted(SPACE, "runtime", Task())
    np.testing.assert_allclose(model.predict(NEW)[:, 0], np.exp(booster.predict(NEW)))
    sheet.write_text("classes: 3", encoding="utf-8")
    with pytest.raises(BadInput, match="classes: Input should be"):
        bring(path, columns=sheet)


def test_labels_that_are_not_text_are_found(tmp_path: Path) -> None:
    path, booster = lightgbm_model(tmp_path, NAMES)
    flag = Category(name="app", values=(False, True))
    space = Space(parameters=(SPACE["nodes"], flag, SPACE["size"]))
    columns = {"app": {"column": "app", "codes": {True: 1, "False": 0}}}
    model = bring(path, columns=columns).fitted(space, "runtime", Task())
    new = NEW[NEW[:, 1] < 2]
    np.testing.assert_allclose(model.predict(new)[:, 0], booster.predict(new), rtol=1e-12)
